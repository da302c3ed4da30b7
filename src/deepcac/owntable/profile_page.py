"""`deepcac profile`: a page on the columns of a table, with or without a label."""

import os

import numpy as np
import pyarrow as pa

from deepcac import __version__
from deepcac.owntable.class_labels import class_labels
from deepcac.owntable.column_lines import HEAD, column_lines
from deepcac.owntable.own_figures import missingness
from deepcac.owntable.own_pages import write_page
from deepcac.owntable.row_sample import MOST_ROWS, SampledTable, sample_rows
from deepcac.owntable.table_encoder import LEFT_OUT, EncodedColumn, TableEncoder, learn_encoder
from deepcac.owntable.table_files import read_blocks
from deepcac.report.profiles import WITHHELD
from deepcac.report.profiling import SMALL

_RATES_HEAD = ("column", "level or quarter", "rows")


def write_profile_page(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    command: str,
    label: str | None = None,
    most: int = MOST_ROWS,
    seed: int = 0,
) -> TableEncoder:
    """Describe a table on a page.

    Parameters
    ----------
    path, out : path-like
        Table to read, page to write.
    command : str
        What the page says it was made by.
    label : str, optional
        Column whose rates are shown for each level and each quarter of the others.
    most : int
        Of more rows than this a sample is used.
    seed : int
    """
    keys = [label] if label else []
    sample = sample_rows(read_blocks(path), keys, most=most, seed=seed)
    skip = {label: "the label"} if label else {}
    encoder = learn_encoder(sample.rows, sample.number, skip)
    content = {
        "version": __version__,
        "command": command,
        "name": os.path.basename(path),
        "rows": len(sample.number),
        "total": sample.total,
        "columns": {"head": HEAD, "rows": column_lines(sample.rows, encoder.columns)},
        "missing": missingness(encoder.columns, len(sample.number)),
        "rates": _rates(sample, encoder, label) if label else None,
        "label": label,
    }
    write_page(out, "profile.html", content)
    return encoder


def _rates(sample: SampledTable, encoder: TableEncoder, label: str) -> dict[str, object]:
    """Return the class shares in each level of a category and each quarter of a number."""
    labels = class_labels(sample.keys[label], label)
    codes = labels.codes[sample.number - 1]
    X, _ = encoder.encode(sample.rows, sample.number)
    lines: list[tuple[str, ...]] = []
    for column in encoder.columns:
        if column.kind == LEFT_OUT:
            continue
        for part, rows in _parts(column, sample.rows, X, encoder.names):
            counts = np.bincount(codes[rows], minlength=len(labels.classes))
            n = int(counts.sum())
            shares = [f"{100 * c / n:.1f} %" if n >= SMALL else WITHHELD for c in counts]
            lines.append((column.name, part, f"{n:,}" if n >= SMALL else f"under {SMALL}", *shares))
    return {"head": (*_RATES_HEAD, *labels.classes), "rows": lines}


def _parts(
    column: EncodedColumn, rows: pa.Table, X: np.ndarray, names: tuple[str, ...]
) -> list[tuple[str, np.ndarray]]:
    if column.levels:
        shown = [level for level in column.levels if f"{column.name}={level}" in names]
        found = [(level, X[:, names.index(f"{column.name}={level}")] == 1) for level in shown]
        rest = ~np.any([member for _, member in found], axis=0)
        others = [level for level in column.levels if level not in shown]
        return [(level, rest) for level in others] + found
    values = X[:, names.index(column.name)]
    cuts = np.unique(np.nanquantile(values, (0.25, 0.5, 0.75)))
    quarter = np.digitize(values, cuts, right=True)
    ends = ["lowest", *(f"above {cut:,.4g}" for cut in cuts)]
    parts = [(text, (quarter == q) & ~np.isnan(values)) for q, text in enumerate(ends)]
    absent = np.isnan(values)
    return parts + ([("missing", absent)] if absent.any() else [])
