"""Compiled passes of CAC over rows, and what spares rows in them."""
