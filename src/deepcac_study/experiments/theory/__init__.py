"""Measured values of both sides of the theorems in the CAC papers."""
