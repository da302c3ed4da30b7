"""CAC v2: the same framework against EC3 and DMNN."""
