"""How a risk model is made, and how well models made so do on rows that they have not seen."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.errors import ConfigError, DataError
from deepcac.judging.contenders import CAC, KM, Contender
from deepcac.judging.spaces import Values
from deepcac.judging.trials import TEST, run_resample
from deepcac.scoring.calibration import calibration_intercept, calibration_slope
from deepcac.scoring.statistics import corrected_error
from deepcac.table.budgeted_trials import MOST_TRAIN, Say, linear, table_resamples
from deepcac.table.reading.labelled_table import LabelledTable
from deepcac.task import Array

AUTO, PLAIN = "auto", "plain"
SUBTYPES = "subtypes"
METHODS = {AUTO: "", PLAIN: "", "k-means": KM, "CAC": CAC, SUBTYPES: ""}
RESAMPLES, TRIALS = 5, 12
EVENTS_A_CLUSTER = 20  # rows of the rarest class; with fewer a model of its own is noise

Answer = tuple[npt.NDArray[Any], float, Array]  # labels, AUROC and risks of the test rows


class Candidate(NamedTuple):
    """One way to make a model.

    Attributes
    ----------
    arm : str
        Partition, or nothing.
    values : dict
        Of a trial of logistic regression in it.
    """

    arm: str
    values: Values

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.values.get("n_clusters", 1))


def chosen_method(
    table: LabelledTable, name: str, clusters: int, alpha: float, seed: int, say: Say
) -> dict[str, Any]:
    """Choose how a model is made, and say how it does on rows that are held out.

    Among trials of logistic regression alone, in k-means and in CAC clusters, of those within one
    standard error of the best mean validation AUROC over five resamples the one with the fewest
    clusters is taken, of several the one with the best log loss: ranks say nothing of how large a
    risk is. Class weights are not tried: they would change the risks. There are at most
    as many clusters as have twenty rows of the rarest class each.

    Parameters
    ----------
    table : LabelledTable
    name : str
        Of `METHODS`; all but ``auto`` leave nothing to choose.
    clusters, alpha : int, float
        Of a method with clusters.
    seed : int
        Of the first resample.
    say : callable
        Is told how far it is.

    Returns
    -------
    dict
        ``arm``, ``n_clusters``, ``alpha``, ``C``, ``clip``; ``chosen``, in words; ``rarest``, rows
        of the rarest class; ``held_out`` (`held_out`).

    Raises
    ------
    DataError
        More clusters are asked for than there are rows for.
    """
    found = candidates(name, clusters, alpha, table.rarest)
    say(f"choosing among {len(found)} ways" if len(found) > 1 else "judging on held-out rows")
    validation, log_loss, answers, ratio = _run(table, found, seed)
    taken = fewest_clusters(validation, [one.k for one in found], log_loss)
    values = found[taken].values
    return {
        "arm": found[taken].arm,
        "n_clusters": found[taken].k,
        "alpha": values.get("alpha", 0.0),
        "C": values["C"],
        "clip": values["clip"],
        "chosen": f"the fewest clusters within one standard error of the best of {len(found)} "
        f"trials, by validation AUROC over {RESAMPLES} resamples; of these the best log loss"
        if len(found) > 1
        else "as asked for",
        "rarest": table.rarest,
        "held_out": held_out(log_loss, answers, ratio),
    }


def fewest_clusters(scores: Array, clusters: Sequence[int], then: Array | None = None) -> int:
    """Return the trial with the fewest clusters of those within one standard error of the best.

    `scores` are of shape (resamples, trials), as those `then` by which several with as many
    clusters are told apart; None takes the same. This is the rule of Breiman et al. 1984, section
    3.4.3.
    """
    means = scores.mean(axis=0)
    error = scores[:, means.argmax()].std(ddof=1) / np.sqrt(len(scores))
    good = np.flatnonzero(means >= means.max() - error).tolist()
    last = means if then is None else then.mean(axis=0)
    return min(good, key=lambda t: (clusters[t], -last[t]))


def check_method(name: str) -> None:
    """Refuse a method that is not one of `METHODS`."""
    if name not in METHODS:
        raise ConfigError(f"method {name!r}; use {', '.join(METHODS)}")


def check_events(clusters: int, rarest: int) -> None:
    """Refuse more clusters than the rows of the rarest class allow."""
    most = _most_clusters(rarest)
    if clusters > most:
        raise DataError(
            f"--clusters {clusters}: the rarest class has rows for {most} ({EVENTS_A_CLUSTER} a "
            "cluster); ask for fewer, or for --method plain"
        )


def _most_clusters(rarest: int) -> int:
    return max(1, rarest // EVENTS_A_CLUSTER)


def candidates(name: str, clusters: int, alpha: float, rarest: int) -> list[Candidate]:
    """Return the ways that a model is chosen from; `chosen_method` says which it takes."""
    if name == SUBTYPES:
        return [Candidate(SUBTYPES, {"n_clusters": clusters})]
    if name == AUTO:
        return [
            Candidate(arm, values)
            for arm in ("", KM, CAC)
            for values in _unweighted(Contender(linear(), arm))
            if values.get("n_clusters", 1) <= _most_clusters(rarest)
        ]
    arm = METHODS[name]
    if arm:
        check_events(clusters, rarest)
    own = {"n_clusters": clusters} | ({"alpha": alpha} if arm == CAC else {}) if arm else {}
    return [Candidate(arm, {"C": 1.0, "clip": None, "class_weight": None} | own)]


def _unweighted(contender: Contender) -> list[Values]:
    drawn = contender.trials(2 * TRIALS)
    return [values for values in drawn if values["class_weight"] is None][:TRIALS]


def _run(
    table: LabelledTable, found: list[Candidate], seed: int
) -> tuple[Array, Array, list[list[Answer]], float]:
    """Run every candidate on every resample.

    Returns validation AUROC and log loss (resamples, candidates), more is better; labels, AUROC
    and risks (n_test, n_classes - 1) of the test rows, by resample and candidate; and test rows
    by training rows.
    """
    validation, answers, ratio = [], [], 1.0
    for sample in table_resamples(
        table.features, RESAMPLES, MOST_TRAIN, first=seed, unit=table.group
    ):
        scores, own = [], []
        for arm in dict.fromkeys(one.arm for one in found):
            drawn = [one.values for one in found if one.arm == arm]
            entry, rows = run_resample(sample, Contender(linear(), arm), drawn)
            test = rows["part"].to_numpy() == TEST
            label = rows["label"].to_numpy()[test]
            for t, trial in enumerate(entry["trials"]):
                columns = [rows[f"t{t}_{c}"].to_numpy()[test] for c in range(1, sample.n_classes)]
                own.append((label, trial["test"]["auroc"], np.column_stack(columns)))
                scores.append([trial["validation"][name] for name in ("auroc", "log_loss")])
        validation.append(scores)
        answers.append(own)
        ratio = len(sample.test) / len(sample.train)
    auroc, log_loss = np.moveaxis(np.array(validation), 2, 0)
    return auroc, log_loss, answers, ratio


def held_out(validation: Array, answers: list[list[Answer]], ratio: float) -> dict[str, Any]:
    """Say how models do on test rows; in each resample its own validation rows choose.

    Returns
    -------
    dict
        ``auroc``, ``low`` and ``high`` (Nadeau and Bengio 2003), ``rows`` tested in a resample;
        with two classes ``calibration_intercept`` (of the risks as they are), ``calibration_slope``
        and ``observed_by_expected``.
    """
    chosen = [own[t] for own, t in zip(answers, validation.argmax(axis=1), strict=True)]
    auroc = np.array([score for _, score, _ in chosen])
    half = stats.t.ppf(0.975, len(auroc) - 1) * corrected_error(auroc, ratio)
    labels = [label for label, _, _ in chosen]
    told: dict[str, Any] = {
        "auroc": auroc.mean(),
        "low": max(auroc.mean() - half, 0.0),
        "high": min(auroc.mean() + half, 1.0),
        "rows": float(np.mean([len(label) for label in labels])),
    }
    risks = [risk for *_, risk in chosen]
    if risks[0].shape[1] == 1:
        pairs = [(y, risk[:, 0].astype(float)) for y, risk in zip(labels, risks, strict=True)]
        told["calibration_intercept"] = np.mean([calibration_intercept(*pair) for pair in pairs])
        told["calibration_slope"] = np.mean([calibration_slope(y, risk) for y, risk in pairs])
        told["observed_by_expected"] = np.mean([y.mean() / risk.mean() for y, risk in pairs])
    return {name: round(float(value), 4) for name, value in told.items()}


def told(method: dict[str, Any]) -> list[str]:
    """Return what a user should know of a chosen method, a line each; warnings last."""
    out, rarest = method["held_out"], method["rarest"]
    span = f"{out['auroc']:.3f} ({out['low']:.3f} to {out['high']:.3f})"
    lines = [f"held-out AUROC {span}, {RESAMPLES} times on {out['rows']:.0f} rows not learnt from"]
    if "calibration_slope" in out:
        lines[0] += (
            f"; calibration intercept {out['calibration_intercept']:z.2f} (0 is right), slope "
            f"{out['calibration_slope']:z.2f}, observed / expected events "
            f"{out['observed_by_expected']:.2f} (1 is right)"
        )
    lines.append(f"{rarest:,} rows of the rarest class")
    if rarest < EVENTS_A_CLUSTER:
        lines.append(
            f"warning: {rarest} rows of the rarest class are too few to fit a risk model or "
            "to tell how good it is"
        )
    if out["low"] <= 0.5:
        lines.append("warning: this model is not shown to rank rows better than chance")
    return lines
