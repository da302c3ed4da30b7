"""Shipped records that stand for their runs, so that the workflow makes only what is missing."""

from functools import cache
from pathlib import Path

from deepcac_study.records.record import file_digest
from deepcac_study.records.record_archive import Row, manifest
from deepcac_study.sourcecode import unchanged_since

# What made a record, by the beginning of its path; the first that fits counts.
_MAKERS = {
    "judge/planted/": "judge.power",
    "judge/public/": "judge.public_protocols",
    "judge/ablations/": "judge.subtype_ablation",
    "judge/tables/": "judge.tables.table_trials",
    "judge/shapes/": "judge.tables.table_shape",
    "judge/transfer/planted_": "judge.further.planted_moves",
    "judge/transfer/": "judge.further.transfer",
    "judge/scorecards/": "judge.further.scorecards",
    "judge/richer_labels/": "judge.further.richer_labels",
    "judge/": "judge.trial_files",
    "theory/": "experiments.theory.theorems",
    "skmeans/": "experiments.relatives",
    "bias_variance/": "experiments.relatives.decomposition_runs",
    "decomposition/": "experiments.relatives.decomposition_runs",
    "as_published/decomposition/": "experiments.relatives.decomposition_runs",
    "case_study/": "experiments.case_study",
    "": "experiments.run",
}


def standing_records(archive: Path, results: Path, which: str) -> frozenset[str]:
    """Return the shipped records that stand for their runs, as paths that begin with ``results/``.

    Of an archive, these are ``none``; ``all``; or ``unchanged``, those whose code is as it was when
    they were made. A record that is not among the results, or is another by now, does not count.
    """
    if which == "none":
        return frozenset()
    same = cache(unchanged_since)  # a few commits made a thousand records
    return frozenset(
        f"results/{row.path}"
        for row in manifest(archive)
        if _is_laid(results / row.path, row)
        and (which == "all" or same(row.commit, f"deepcac_study.{_maker(row.path)}"))
    )


def _is_laid(path: Path, row: Row) -> bool:
    return path.exists() and file_digest(path) == row.sha256


def _maker(path: str) -> str:
    return next(module for start, module in _MAKERS.items() if path.startswith(start))
