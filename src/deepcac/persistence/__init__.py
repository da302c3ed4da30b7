"""Fitted models as files without pickle."""
