"""Differences of scores that are negligible, unless a run says others."""

MARGINS = {"auroc": 0.01, "auprc": 0.01, "log_loss": 0.005, "brier": 0.002}
MARGIN = MARGINS["auroc"]
STRICT = MARGIN / 2  # half of each is the stricter choice
