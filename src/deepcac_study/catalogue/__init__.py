"""What there is, described once: sources, data sets, methods, switches, printed facts."""
