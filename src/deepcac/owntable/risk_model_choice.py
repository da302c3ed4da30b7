"""How a risk model is made: without clusters or with, how many, and how strong the penalty is."""

from typing import Any

import numpy as np

from deepcac.errors import ConfigError
from deepcac.judge.contenders import CAC, KM, Contender
from deepcac.judge.resamples import resamples
from deepcac.judge.trials import run_resample
from deepcac.owntable.answer import arm_name
from deepcac.owntable.budgeted_trials import MOST_TRAIN, Say, linear, validation_scores
from deepcac.owntable.labelled_table import LabelledTable

AUTO, PLAIN = "auto", "plain"
METHODS = {AUTO: "", PLAIN: "", "k-means": KM, "CAC": CAC}
RESAMPLES, TRIALS = 5, 12


def given_method(name: str, clusters: int, alpha: float) -> dict[str, Any]:
    """Return what a named method stands for, with the usual penalty."""
    if name not in METHODS:
        raise ConfigError(f"method {name!r}; use {', '.join(METHODS)}")
    arm = METHODS[name]
    return {
        "arm": arm,
        "n_clusters": clusters if arm else 1,
        "alpha": alpha if arm == CAC else 0.0,
        "C": 1.0,
        "clip": None,
        "chosen": "as asked for",
    }


def chosen_method(table: LabelledTable, seed: int, say: Say) -> dict[str, Any]:
    """Choose among trials of logistic regression alone, in k-means and in CAC clusters.

    Class weights are not tried: they would change the risks. Of the trials within one standard
    error of the best mean validation AUROC over five resamples, the one with the fewest clusters
    is taken.
    """
    found: list[tuple[dict[str, Any], np.ndarray]] = []
    for arm in ("", KM, CAC):
        one = Contender(linear(), arm)
        drawn = [values for values in one.trials(2 * TRIALS) if values["class_weight"] is None]
        drawn = drawn[:TRIALS]
        where = f"in {arm_name(arm)} clusters" if arm else "without clusters"
        say(f"choosing: {len(drawn)} trials of logistic regression {where}")
        samples = resamples(table.features, RESAMPLES, MOST_TRAIN, first=seed, unit=table.group)
        entries = [run_resample(sample, one, drawn)[0] for sample in samples]
        scores = validation_scores({"resamples": entries})
        found += [({"arm": arm} | values, scores[:, t]) for t, values in enumerate(drawn)]
    best = max(found, key=lambda pair: pair[1].mean())[1]
    least = best.mean() - best.std(ddof=1) / np.sqrt(len(best))
    good = [pair for pair in found if pair[1].mean() >= least]
    values, scores = min(good, key=lambda p: (p[0].get("n_clusters", 1), -p[1].mean()))
    return {
        "arm": values["arm"],
        "n_clusters": values.get("n_clusters", 1),
        "alpha": values.get("alpha", 0.0),
        "C": values["C"],
        "clip": values["clip"],
        "chosen": f"by validation AUROC, {scores.mean():.3f} over {RESAMPLES} resamples; the "
        "fewest clusters within one standard error of the best",
    }
