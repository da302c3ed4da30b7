"""The catalogue: sources, data sets, methods, switches and printed facts, each declared once."""
