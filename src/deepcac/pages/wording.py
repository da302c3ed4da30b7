"""Words and numbers as people read them: metrics by name, marks, signs, decimals, p values."""

import re
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

Row = Mapping[Hashable, Any]
METRIC_NAMES = {
    "f1": "F1",
    "f1_macro": "F1, mean over classes",
    "auroc": "AUROC",
    "auroc_macro": "AUROC, mean over classes",
    "auprc": "AUPRC",
    "auprc_macro": "AUPRC, mean over classes",
    "min_se_pp": "min(Se, +P)",
    "brier": "Brier score",
    "ece": "calibration error",
    "silhouette": "silhouette",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "nmi": "NMI",
    "ari": "ARI",
}
# Columns of printed tables.
_COLUMN_NAMES = {
    "dataset": "data set",
    "n_instances": "rows",
    "n_features": "features",
    "maj": "share of the largest class",
}
_GOOD = (*("agree", "holds", "better", "the same", "the same scores", "within the tolerance"),)
_BAD = (
    "differ",
    "fails",
    "cannot hold",
    "worse",
    "diverged",
    "timeout",
    "collapsed",
    "different",
    "not made",
)
_MIXED = ("partly",)
_MARKS = {
    **{"the same": "✓", "the same scores": "✓", "within the tolerance": "✓"},
    **{"different": "✗", "not made": "✗"},
    **{"agree": "✓", "holds": "✓", "differ": "✗", "fails": "✗", "partly": "◐"},
    **{"better": "▲", "worse": "▼", "equivalent": "=", "undecided": "?", "collapsed": "!"},
    **{"timeout": "✗", "diverged": "✗", "cannot hold": "✗"},
}
_MINUS = re.compile(r"(?<![\w.)\-])-(?=\.?\d)")
_DECIMAL = re.compile(r"[+-]?\d+(\.\d+)?")
_SIGNED_ZERO = re.compile(r"(?<![\w.)\-])[+-](?=0(?:\.0+)?(?![\w.]))")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{3,}")


def people(name: str) -> str:
    """Return the name of a field or metric as people write it; an unknown one as it is."""
    return METRIC_NAMES.get(name) or _COLUMN_NAMES.get(name, name)


def tone(verdict: str) -> str:
    """Return the CSS class of a verdict."""
    if verdict in _GOOD:
        return "good"
    if verdict in _BAD:
        return "bad"
    return "mixed" if verdict in _MIXED else "quiet"


def mark(verdict: str) -> str:
    """Return the sign that goes with a verdict's colour."""
    return _MARKS.get(verdict, "·")


def minus(text: object) -> str:
    """Return text with a real minus sign before each negative number, and no sign before zero."""
    return _MINUS.sub("−", _SIGNED_ZERO.sub("", str(text)))


def thousands(texts: list[str]) -> list[str]:
    """Return a column of whole numbers with separators from 1,000 on; other columns stay."""
    if not all(text.lstrip("+-").isdecimal() for text in texts if text):
        return texts
    return [f"{int(text):,}" if _THOUSANDS.fullmatch(text) else text for text in texts]


def even_decimals(texts: list[str]) -> list[str]:
    """Return a column of plain numbers with as many decimals in each; other texts stay."""
    decimals = [len(text.partition(".")[2]) for text in texts if _DECIMAL.fullmatch(text)]
    most = max(decimals, default=0)
    if not most:
        return texts
    return [_padded(text, most) if _DECIMAL.fullmatch(text) else text for text in texts]


def _padded(text: str, decimals: int) -> str:
    whole, _, rest = text.partition(".")
    return f"{whole}.{rest:0<{decimals}}"


def p_text(value: float) -> str:
    """Return a p value as people write it; empty for NaN."""
    if np.isnan(value):
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def p_beside(value: float) -> str:
    """Return a p value that goes with a verdict by 0.05, rounded to its side of it."""
    text = p_text(value)
    if text != "0.050":
        return text
    rounded = (f"{value:.{digits}f}" for digits in (4, 5, 6))
    return next((text for text in rounded if (float(text) < 0.05) == (value < 0.05)), "< 0.05")


def three(value: float, style: str = "{}", *, signed: bool = False) -> str:
    """Write a number with three decimals, in a style such as ``**{}**``; empty for NaN."""
    return _decimals(value, 3, style, signed)


def four(value: float, style: str = "{}", *, signed: bool = False) -> str:
    """Write a number with four decimals; empty for NaN."""
    return _decimals(value, 4, style, signed)


def interval_text(low: float, high: float) -> str:
    """Write the ends of an interval with four decimals; empty for NaN."""
    return "" if np.isnan(low) else f"{four(low, signed=True)} to {four(high, signed=True)}"


def _decimals(value: float, digits: int, style: str, signed: bool) -> str:
    """Leave out a sign before nothing."""
    if np.isnan(value):
        return ""
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return style.format(re.sub(r"^[-+](0\.0+)$", r"\1", text))
