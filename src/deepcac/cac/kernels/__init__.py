"""Compiled passes of CAC over rows, and the bounds that let a pass skip rows."""
