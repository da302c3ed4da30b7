"""One page per run for its subtypes: description, differences and reliability."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from deepcac.feature_matrix import FeatureMatrix, read_features
from deepcac.pages.figures import Figure
from deepcac.pages.sections import Remarks, Section, Statement, titled
from deepcac.pages.tables import Cell, Table
from deepcac_study.catalogue.entries import DataSet
from deepcac_study.catalogue.methods import LR, parse_method
from deepcac_study.catalogue.registry import DEMO, load_registry
from deepcac_study.papers.ledger import number
from deepcac_study.papers.names import paper_datasets
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.data.restricted_counts import published_count
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.report_page import ReportPage
from deepcac_study.report.runs.runtables import stability
from deepcac_study.report.subtypes.subtype_figures import subtype_figure
from deepcac_study.report.subtypes.subtype_numbers import (
    RiskFactors,
    UnseenRows,
    explained,
    first_split_test_rows,
    mean_differences,
    risk_factors,
)
from deepcac_study.report.subtypes.subtype_tables import (
    CERTAIN,
    differing,
    factors_table,
    medians_table,
    page_id,
    risk_table,
    who_table,
)

# The page that lists those of a kind, whose id is that of the menu.
KINDS = {"real": "subtypes", "own": "own", "synthetic": "synthetic"}
_DIFFERENCES = (
    "The mean of a subtype minus that of all other rows, in standard deviations; 0.2 is small, 0.8 "
    "large. Empty: the variable was hardly measured in that subtype."
)
_SHOWN = 15  # variables in the picture
_CLEAR, _STRONG = 0.5, 0.25  # shares of variance explained
_ENOUGH, _FAR = 50, 0.1  # least rows of a subtype to compare mean risk with outcomes, and the gap


@dataclass(frozen=True)
class SubtypePage:
    """Content of the page of one run."""

    id: str
    dataset: str
    k: int
    title: str
    data: str
    synthetic: bool
    # Size and outcome of each subtype; medians; what goes with its outcome and its risk.
    who: Table
    medians: Table
    risk: Table
    factors: Table
    profile: pd.DataFrame  # the picture: differences by variable and subtype
    reading: list[str]  # what the clusters are, how stable, in sentences
    warnings: list[str]
    figure: Figure | None = None  # the same drawn; none among the files that ship

    @property
    def kind(self) -> str:
        """The kind of its data: the papers' ("real"), other real data ("own") or "synthetic"."""
        if self.synthetic:
            return "synthetic"
        return "real" if self.dataset in paper_datasets() else "own"

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables of the page."""
        return self.who, self.medians, self.risk, self.factors


def subtype_sections(page: SubtypePage, latents: Figure | None) -> ReportPage:
    """Return the page; `latents` is the map of a network's latents."""
    sections = [
        *titled([page.who]),
        Section("apart", "What sets them apart", [_DIFFERENCES, *filter(None, [page.figure])]),
        *([Section("network", "Where the network puts them", [latents])] if latents else []),
        *titled(t for t in (page.medians, page.risk, page.factors) if t.rows),
    ]
    generated = "Generated data, no real patients."
    return ReportPage(
        id=page.id,
        heading=page.title,
        blocks=sections,
        first=[
            *[page.data, *[generated] * page.synthetic],
            *(Remarks([text], "Take care.", warning=True) for text in page.warnings),
            *map(Statement, page.reading),
        ],
        name=f"{page.title}, {page.dataset}",
        written=frozenset(table.id for table in page.tables),
        back=KINDS[page.kind],
        of=page.dataset,
        synthetic=page.synthetic,
    )


def subtype_pages(
    runs: Runs, registry_dir: Path, features_dir: Path | None, *, public: bool = False
) -> Iterator[SubtypePage]:
    """Yield the pages of the sound runs with clusters whose feature file exists.

    The clusters of k-means are the same for every classifier, so there is one page for them. On
    `public` pages, small cells of open data are withheld too.
    """
    if features_dir is None:
        return
    registry = load_registry(registry_dir)
    wanted = [run for run in runs.where(protocol="sound", status="ok") if _has_page(run)]
    for dataset, group in groupby(wanted, key=lambda run: run.dataset):
        file = features_dir / f"{dataset}.parquet"
        if not file.is_file():
            continue
        features, entry = read_features(file), registry.dataset(dataset)
        closed = registry.source(entry.source).closed
        hidden = public or (closed and not dataset.startswith(DEMO))
        for run in group:
            page = _page(run, features, entry, hidden=hidden)
            if page:
                yield page


def pages_table(pages: Sequence[SubtypePage], name: str) -> Table:
    """Return the list of pages as a table, one row per run."""
    rows = [
        [
            Cell(page.dataset),
            Cell(page.title, link=f"results/report/pages/{page.id}.html"),
            Cell("; ".join(row[1].text for row in page.who.rows)),
            Cell("warning" if page.warnings else ""),
            Cell(page.reading[0]),
        ]
        for page in pages
    ]
    return declared_table("subtype_pages", rows, name=name)


def _has_page(run: Run) -> bool:
    """Return whether the run is a network or logistic regression on clusters."""
    method = parse_method(run.method)
    of_rows = method.family == "deep" or (method.arm in ("km", "cac") and method.classifier == LR)
    return run.k > 1 and bool(run.splits) and of_rows


def _page(run: Run, features: FeatureMatrix, entry: DataSet, *, hidden: bool) -> SubtypePage | None:
    """Return the page of a run; None without unseen rows of two subtypes."""
    rows = first_split_test_rows(run, features, entry)
    if rows is None or len(np.unique(rows.cluster)) < 2:
        return None
    shares = explained(rows.values, rows.cluster).sort_values(ascending=False, kind="stable")
    title = f"Subtypes by {parse_method(run.method).label}, k = {run.k}"
    shown = rows.about.loc[shares.index[:_SHOWN]]
    units = shown["unit"].map(lambda unit: f" [{unit}]" if unit else "")
    profile = mean_differences(rows).loc[shown.index].set_axis(shown["name"] + units)
    factors = risk_factors(rows)
    if entry.task != "binary":
        factors = RiskFactors(factors.effect[:0], factors.error[:0], factors.p[:0])
    return SubtypePage(
        id=page_id(run),
        dataset=run.dataset,
        k=run.k,
        title=title,
        data=entry.title,
        synthetic=run.synthetic,
        who=who_table(run, rows, entry, hidden=hidden),
        medians=medians_table(run, rows, list(shares.index)),
        risk=risk_table(run, rows, entry.positive or "of class 2", factors),
        factors=factors_table(run, rows),
        profile=profile,
        reading=[
            *_reading(run, rows, shares, hidden=hidden),
            differing(factors.p),
        ],
        warnings=_warnings(run, rows, hidden=hidden),
        figure=subtype_figure(
            page_id(run), f"{title}, {run.dataset}", profile, synthetic=run.synthetic
        ),
    )


def _reading(run: Run, rows: UnseenRows, shares: "pd.Series[float]", *, hidden: bool) -> list[str]:
    """Return sentences: what explains the subtypes, and how stable they are."""
    best, share = str(shares.index[0]), shares.iloc[0]
    measured = explained(rows.values.notna().astype(float), rows.cluster)
    missing, absent = str(measured.idxmax()), measured.max()
    name, _, yes_or_no = rows.known_of(best)
    sentences = []
    if absent >= max(share, _STRONG):
        sentences.append(
            "What tells the subtypes apart most is whether "
            f"{rows.known_of(missing)[0].partition(', ')[0]} was measured at all: "
            f"it explains {100 * absent:.0f} % of the difference. "
            f"{_shares(rows, rows.values[missing], hidden=hidden)}"
        )
    elif share >= _STRONG:
        word = "mostly" if share >= _CLEAR else "in part"
        what = f"rows with and without “{name}”" if yes_or_no else f"different values of {name}"
        sentences.append(
            f"The subtypes are {word} {what}, which explains {100 * share:.0f} % of the difference."
        )
    else:
        sentences.append(
            "No single variable tells the subtypes apart: the strongest, "
            f"{name}, explains {100 * share:.0f} % of the difference."
        )
    agreement = stability(run)
    if agreement is not None:
        word = (
            "unstable" if agreement < 0.6 else "moderately stable" * (agreement < 0.8) or "stable"
        )
        sentences.append(
            f"Fitted again on other training rows, the subtypes are {word}: adjusted Rand index "
            f"{number(round(agreement, 2))} (1 the same, 0 chance)."
        )
    return sentences


def _shares(rows: UnseenRows, values: "pd.Series[float]", *, hidden: bool) -> str:
    """Return a sentence on the shares of measured values; `hidden` withholds small ones."""
    held = [values[rows.cluster == j].notna() for j in range(rows.k)]
    parts = [
        f"{100 * seen.mean():.0f} % in {name}"
        for seen, name in zip(held, rows.names, strict=True)
        if len(seen) and not (hidden and _few(int(seen.sum()), len(seen)))
    ]
    return f"It was measured in {', '.join(parts)}." if parts else ""


def _few(count: int, total: int) -> bool:
    """Return whether a share would reveal few rows."""
    return published_count(total) is None or published_count(count, total) is None


def _warnings(run: Run, rows: UnseenRows, *, hidden: bool) -> list[str]:
    """Return warnings on groups by outcome, certain risks, calibration and size."""
    warnings = []
    clusters: Mapping[str, object] = run.splits[0].get("clusters") or {}
    if (
        clusters.get("collapsed")
        or explained(pd.DataFrame({0: rows.label}), rows.cluster)[0] >= _CLEAR
    ):
        warnings.append(
            "The outcome itself makes these groups: each holds nearly one class of the training "
            "rows. They are a prediction, not subtypes of patients."
        )
    if any(risk is not None and risk > CERTAIN for risk in rows.medians):
        warnings.append(
            "The model is all but certain about most rows of a subtype, which happens where its "
            "training rows can be separated without an error. Such a risk orders patients; it is "
            "no probability to act on."
        )
    if off := _badly_calibrated(rows, hidden=hidden):
        warnings.append(off)
    sizes = np.bincount(rows.cluster, minlength=rows.k)
    if (least := sizes.min()) < 0.05 * sizes.sum():
        size = f"{least:,}" if least >= 10 else "fewer than 10"
        warnings.append(
            f"One subtype has under 5 % of the rows ({size}): what is said about it is uncertain."
        )
    return warnings


def _badly_calibrated(rows: UnseenRows, *, hidden: bool) -> str:
    """Return a sentence on the subtype whose mean risk is farthest from its outcomes, if far.

    `hidden` leaves out subtypes in which that share would reveal few rows.
    """
    if not rows.gives_probabilities:
        return ""
    gaps = {}
    for j, name in enumerate(rows.names):
        inside = rows.cluster == j
        n, events = int(inside.sum()), int((rows.label[inside] == 1).sum())
        if n >= _ENOUGH and not (hidden and _few(events, n)):
            gaps[name] = (float(rows.risk[inside].mean()), events / n)
    name, (mean, share) = max(
        gaps.items(), key=lambda pair: abs(pair[1][0] - pair[1][1]), default=("", (0.0, 0.0))
    )
    if abs(mean - share) < _FAR:
        return ""
    return (
        f"The predicted risks are not those of these rows: in {name} their mean is "
        f"{100 * mean:.0f} %, and {100 * share:.0f} % have the outcome."
    )
