"""Decompose the rows, or the classes? Classifiers on clusters of either, beside each other."""

from collections.abc import Iterator

from deepcac.pages.tables import Table, text_row
from deepcac_study.catalogue.methods import ARM_NAMES, ROWS, bases, classifiers
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.experiments.finished import Run, Runs
from deepcac_study.papers.ledger import number
from deepcac_study.report.comparisons import METRICS, Bootstraps, Difference, family_effects, usable
from deepcac_study.report.effecttables import effects_table

_TITLE = "Decompose the rows, or the classes?"
_NOTE = (
    "The same classifier alone (plain), in clusters of rows by k-means (KM), by CAC and by k-means "
    "in a metric that supervised k-means learns from the classes (SKM), and on clusters of each "
    "class by EM (CD: at most k a class, their number by cross-validated likelihood) and by "
    "k-means (CD-KM: k a class), merged by class decomposition's greedy search on a third of the "
    "training rows. Equal features, class weights and splits (sound protocol); a class weighs the "
    "same however many clusters it has."
)
_SHOWN = ("f1", "auroc")
# First less second; None stands for the classifier alone.
_PAIRS: tuple[tuple[str, str | None], ...] = (
    ("skm", None),
    ("cd", None),
    ("cdk", None),
    ("skm", "km"),
    ("cd", "km"),
    ("cdk", "km"),
    ("cd", "cac"),
    ("cdk", "cac"),
)


def rows_or_classes_tables(runs: Runs, bootstraps: Bootstraps) -> list[Table]:
    """Return the scores of all arms and their comparisons; [] without an arm of these papers."""
    effects = family_effects(_pairs(runs), bootstraps)
    if not effects:
        return []
    shown = [metric for metric in METRICS if metric in _SHOWN]
    tables = [effects_table(effects, metric, "rows_or_classes", _TITLE, _NOTE) for metric in shown]
    return [_scores(runs, effects), *tables]


def _arms(runs: Runs, base: str, dataset: str, k: int) -> dict[str | None, Run]:
    """Return the usable sound runs of a classifier by arm."""
    found: dict[str | None, Run] = {}
    known = usable(runs, "sound")
    plain = runs.find("sound", dataset, base, 1)
    if plain in known and plain:
        found[None] = plain
    for arm in ARM_NAMES:
        run = runs.find("sound", dataset, f"{arm}_{base}", k)
        if run in known and run:
            found[arm] = run
    return found


def _places(runs: Runs) -> Iterator[tuple[str, str, int]]:
    """Yield data set, classifier and k wherever an arm beside KM and CAC was run."""
    usual = set(ROWS) - {"skm"}
    for dataset in dict.fromkeys(run.dataset for run in usable(runs, "sound")):
        for base in bases():
            wanted = {f"{arm}_{base}" for arm in ARM_NAMES if arm not in usual}
            own = runs.where(protocol="sound", dataset=dataset)
            yield from (
                (dataset, base, k) for k in sorted({r.k for r in own if r.method in wanted})
            )


def _pairs(runs: Runs) -> Iterator[tuple[Run, Run, str]]:
    for dataset, base, k in _places(runs):
        arms = _arms(runs, base, dataset, k)
        # Naive Bayes is no base classifier of the CAC papers, whose own table leaves it out.
        also = () if base in classifiers() else (("km", None), ("cac", None), ("cac", "km"))
        for first, second in (*also, *_PAIRS):
            if first in arms and second in arms:
                yield arms[first], arms[second], f"{ARM_NAMES[str(first)]} − {_name(second)}"


def _name(arm: str | None) -> str:
    return "plain" if arm is None else ARM_NAMES[arm]


def _scores(runs: Runs, effects: list[Difference]) -> Table:
    names: list[str | None] = [None, *ARM_NAMES]
    rows = []
    for dataset, base, k in _places(runs):
        arms = _arms(runs, base, dataset, k)
        for metric in _SHOWN:
            scores = [_score(arms.get(arm), metric) for arm in names]
            rows.append(text_row(dataset, method_label(base), k, metric.upper(), *scores))
    return Table(
        id="rows_or_classes",
        title=_TITLE,
        note=_NOTE + " Mean ± standard deviation over the splits.",
        head=("data set", "learner", "k", "metric", *map(_name, names)),
        rows=rows,
        n_labels=4,
    )


def _score(run: Run | None, metric: str) -> str:
    if run is None:
        return "–"
    found = run.score(run.reported(metric, ""))
    return f"{number(found[0])} ± {number(found[1])}" if found else "–"
