"""What DeepCAC's clusters are worth: clusters, their weight and the head on the same latents."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure as Canvas

from deepcac.judging.draws import SHARE
from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.tables import Table, text_row
from deepcac.scoring.equivalence import Difference, difference
from deepcac.scoring.margins import MARGIN
from deepcac_study.papers.ledger import number
from deepcac_study.records.sweep_tables import read_measured
from deepcac_study.report.declarations import declared_figure, declared_table

_DEEPCAC, _FNN, _KM_Z = "DeepCACClassifier", "FNNClassifier", "KMZClassifier"
_OWN = "local"  # the method's own head
HEADS = {
    _OWN: "one predictor per cluster (DeepCAC)",
    "soft": "the same, mixed softly",
    "one": "one predictor for all rows",
    "permuted": "one per cluster, clusters permuted",
}
_MARKS = dict(zip(HEADS, "osD^", strict=True))
_COLOURS = dict(zip(HEADS, (PALETTE[0], PALETTE[5], PALETTE[2], PALETTE[1]), strict=True))


@dataclass(frozen=True)
class Factorial:
    """The table of `deepcac_study.experiments.networks.factorial` of one data set."""

    dataset: str
    table: pd.DataFrame

    def scores(
        self, estimator: str, k: int = 1, beta: float | None = None, head: str = _OWN
    ) -> pd.Series:
        """Return the AUROC of each split; empty where there is no such fit."""
        fits = self.table[
            (self.table["estimator"] == estimator)
            & (self.table["k"] == k)
            & (self.table["head"] == head)
            & (self.table["beta"].isna() if beta is None else self.table["beta"] == beta)
        ]
        return fits.set_index("seed")["auroc"].sort_index()

    @property
    def cells(self) -> list[tuple[int, float]]:
        """Every number of clusters with every weight."""
        fits = self.table[self.table["estimator"] == _DEEPCAC]
        return sorted(set(zip(fits["k"].tolist(), fits["beta"].tolist(), strict=True)))

    @property
    def fits(self) -> list[tuple[int, float, str, pd.Series]]:
        """The scores of every head in every cell, as far as it was fitted."""
        every = ((k, beta, head) for k, beta in self.cells for head in HEADS)
        scored = ((*place, self.scores(_DEEPCAC, *place)) for place in every)
        return [fit for fit in scored if len(fit[-1])]

    @property
    def sizes(self) -> pd.Series:
        """The mean size of the smallest cluster of every cell."""
        fits = self.table[self.table["estimator"] == _DEEPCAC]
        return fits.groupby(["k", "beta"])["smallest"].mean()

    @property
    def yardsticks(self) -> dict[str, float]:
        """The mean AUROC of the networks without DeepCAC's clusters."""
        named = {"FNN, trained end to end": _FNN, "latents that saw no label (KM-Z, k = 1)": _KM_Z}
        scores = {label: self.scores(estimator) for label, estimator in named.items()}
        return {label: float(auroc.mean()) for label, auroc in scores.items() if len(auroc)}

    def from_fnn(self, k: int, beta: float) -> Difference | None:
        """Compare DeepCAC with the network without clusters; None for fewer than two splits."""
        gaps = (self.scores(_DEEPCAC, k, beta) - self.scores(_FNN)).dropna()
        if len(gaps) < 2:
            return None
        return difference(gaps.tolist(), test_share=SHARE, margin=MARGIN)


def load_factorials(paths: Iterable[str | os.PathLike[str]]) -> list[Factorial]:
    """Read ``results/factorial/{dataset}.parquet`` or CSV files, in order of their data sets."""
    files = sorted(Path(path) for path in paths)
    return [Factorial(path.stem, read_measured(path)) for path in files]


def factorial_means(factorial: Factorial) -> pd.DataFrame:
    """Return the mean AUROC over the splits: a row a cell and head, and the yardsticks below."""
    sizes = factorial.sizes
    rows = [
        (k, f"{beta:g}", head, scores.mean(), round(sizes[k, beta]))
        for k, beta, head, scores in factorial.fits
    ]
    rows += [(1, "", label, mean, pd.NA) for label, mean in factorial.yardsticks.items()]
    return pd.DataFrame(rows, columns=["k", "beta", "arm", "auroc", "smallest_cluster"])


def factorial_table(factorial: Factorial) -> Table:
    """Return every cell beside the networks without DeepCAC's clusters."""
    empty = [""] * (len(HEADS) + 2)
    rows = [text_row(label, "", f"{x:.4f}", *empty) for label, x in factorial.yardsticks.items()]
    sizes = factorial.sizes
    for k, beta in factorial.cells:
        means = (factorial.scores(_DEEPCAC, k, beta, head) for head in HEADS)
        gap = factorial.from_fnn(k, beta)
        rows.append(
            text_row(
                f"DeepCAC, k = {k}",
                f"{beta:g}",
                *(f"{scores.mean():.4f}" if len(scores) else "" for scores in means),
                f"{sizes[k, beta]:,.0f}",
                number(gap.mean, signed=True) if gap else "",
                f"{gap.low:+.3f} to {gap.high:+.3f}" if gap else "",
            )
        )
    return declared_table(
        "factorial",
        rows,
        dataset=factorial.dataset,
        splits=factorial.table["seed"].nunique(),
        heads=HEADS.values(),
    )


def factorial_figure(factorial: Factorial) -> Figure | None:
    """Return the scores by weight, a panel for each number of clusters; None without a fit."""
    if not factorial.cells:
        return None
    data = [
        (k, beta, head, float(scores.mean()), float(scores.min()), float(scores.max()))
        for k, beta, head, scores in factorial.fits
    ]
    return declared_figure(
        "factorial",
        size=(9.2, 3.9),
        draw=lambda canvas: _draw(canvas, factorial, data),
        data=data,
        seen=_seen(factorial, data),
        dataset=factorial.dataset,
    )


def _seen(factorial: Factorial, data: Sequence[tuple[int, float, str, float, float, float]]) -> str:
    highest = max(data, key=lambda row: row[3])
    sentences = [
        f"DeepCAC's highest mean is {highest[3]:.3f}, with k = {highest[0]} and beta {highest[1]:g}"
    ]
    means = {row[:3]: row[3] for row in data}
    for head in ("one", "permuted"):
        pairs = [(means[k, b, _OWN], means[k, b, head]) for k, b, h in means if h == head]
        if pairs:
            above = sum(other > ours for ours, other in pairs)
            sentences.append(f"{HEADS[head]}: above DeepCAC's in {above} of {len(pairs)}")
    sentences += [f"{label} {mean:.3f}" for label, mean in factorial.yardsticks.items()]
    return "; ".join(sentences)


def _draw(
    canvas: Canvas,
    factorial: Factorial,
    data: Sequence[tuple[int, float, str, float, float, float]],
) -> None:
    counts = sorted({k for k, _ in factorial.cells})
    betas = sorted({beta for _, beta in factorial.cells})
    axes = canvas.subplots(1, len(counts), sharey=True, squeeze=False)[0]
    for axis, k in zip(axes, counts, strict=True):
        for dash, (label, mean) in zip(("-", ":"), factorial.yardsticks.items(), strict=False):
            axis.axhline(mean, color="#555555", linewidth=1, linestyle=dash, label=label)
        for place, head in enumerate(HEADS):
            rows = [row for row in data if row[0] == k and row[2] == head]
            # Set beside each other, so that marks do not hide each other.
            x = [betas.index(row[1]) + 0.09 * (place - 1.5) for row in rows]
            look = {"color": _COLOURS[head], "marker": _MARKS[head], "markersize": 4}
            axis.plot(x, [row[3] for row in rows], linewidth=0.9, label=HEADS[head], **look)
        axis.set_xticks(range(len(betas)), [f"{beta:g}" for beta in betas])
        axis.set(title=f"k = {k}", xlabel="beta", xlim=(-0.4, len(betas) - 0.6))
    axes[0].set(ylabel="AUROC, mean over splits")
    canvas.legend(*axes[-1].get_legend_handles_labels(), loc="outside upper center", ncols=3)
