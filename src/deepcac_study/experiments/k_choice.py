"""The k that cross-validation inside a split asks for, from finished runs with several k."""

from collections.abc import Iterator, Mapping

from deepcac_study.experiments.finished import Run, Runs

Candidates = Mapping[int, Run]


def k_candidates(runs: Runs) -> Iterator[Candidates]:
    """Yield the runs of one data set and method by k, where there are several to choose from."""
    found: dict[tuple[str, str], dict[int, Run]] = {}
    for run in runs.where(protocol="sound", status="ok"):
        if run.splits and all("alpha_f1" in s["hyperparameters"] for s in run.splits):
            found.setdefault((run.dataset, run.method), {})[run.k] = run
    for candidates in found.values():
        if len(candidates) > 2:
            yield dict(sorted(candidates.items()))


def fold_scores(run: Run) -> list[float]:
    """Return the cross-validated F1 of each split, at its best alpha."""
    return [max(split["hyperparameters"]["alpha_f1"].values()) for split in run.splits]
