"""Numbers and tables as the documentation writes them."""

import re
from collections.abc import Iterable, Sequence


def three(value: float, style: str = "{}", *, signed: bool = False) -> str:
    """Write a number with three decimals, in a style such as ``**{}**``."""
    return style.format(_bare(f"{value:+.3f}" if signed else f"{value:.3f}"))


def four(value: float, style: str = "{}", *, signed: bool = False) -> str:
    """Write a number with four decimals."""
    return style.format(_bare(f"{value:+.4f}" if signed else f"{value:.4f}"))


def _bare(text: str) -> str:
    """Leave out the zero before the point, and a sign before nothing."""
    return re.sub(r"^([-+]?)0\.", r"\1.", re.sub(r"^[-+](0\.0+)$", r"\1", text))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], n_labels: int = 1) -> str:
    """Return a table whose first `n_labels` columns are text."""
    rule = ["---"] * n_labels + ["---:"] * (len(head) - n_labels)
    lines = (f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))
    return "\n".join(lines) + "\n"
