"""CAC v1: clustering-aware classification of classical classifiers and of DMNN."""
