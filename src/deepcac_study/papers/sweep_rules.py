"""Rules on how CAC and DeepCAC react to a setting, decided on the sweeps."""

from collections.abc import Callable, Mapping

import pandas as pd
from scipy.stats import spearmanr

from deepcac.scoring.equivalence import LEVEL
from deepcac_study.experiments.finished_sweeps import by_split, final_pass
from deepcac_study.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac_study.papers.rules import Rule, every
from deepcac_study.papers.truth import Truth, settled, unanimous

Tables = Mapping[tuple[str, int], pd.DataFrame]
Checked = tuple[Truth, str]
Check = Callable[[pd.DataFrame], Checked]
Checks = dict[str, Check | tuple[Check, ...]]

_HEAVY = 0.05  # a range of F1 that counts as "depends heavily"


def sweep_rules(tables: Tables, checks: Checks, needs: str) -> dict[str, Rule]:
    """Return the rules that something is true of every sweep (of most: partly), by claim id.

    Of several checks each is a part of the claim. A sweep is true or false of a data set if all its
    splits agree; a single split leaves it open.
    """
    parts = {
        name: check if isinstance(check, tuple) else (check,) for name, check in checks.items()
    }
    return {
        name: every(*(of_sweeps(tables, check, needs) for check in own))
        for name, own in parts.items()
    }


def sound_only(rule: Rule) -> Rule:
    """Return a rule for the sound protocol, the only one that sweeps are made in."""

    def checked(evidence: Evidence) -> Decision:
        if evidence.protocol != "sound":
            return Decision(NOT_RUN, "sweeps are made in the sound protocol only")
        return rule(evidence)

    return checked


def of_sweeps(tables: Tables, check: Check, needs: str, *, each: str = "") -> Rule:
    """Return the rule that something is true of every sweep; `needs` is what to run for one.

    With `each` it is asked of each value of a setting above 0, apart.
    """

    def rule(evidence: Evidence) -> Decision:
        if not tables:
            return Decision(NOT_RUN, f"needs {needs}")
        answers, texts = [], []
        for (name, k), table in tables.items():
            for point in _points(table, each):
                found = [check(part) for part in by_split(point)]
                right = [answer for answer, _ in found]
                answers.append(unanimous(right))
                texts.append(
                    f"{name} k = {k}: true of {right.count(True)} of {len(found)} splits, "
                    f"{found[0][1]}"
                )
        return Decision(settled(answers), "; ".join(texts), _files(tables))

    return sound_only(rule)


def _points(table: pd.DataFrame, each: str) -> list[pd.DataFrame]:
    return [own for _, own in table[table[each] > 0].groupby(each)] if each else [table]


def _files(tables: Tables) -> tuple[str, ...]:
    return tuple(
        f"results/sweeps/{_kind(table)}_{n}_k{k}.parquet" for (n, k), table in tables.items()
    )


def _kind(table: pd.DataFrame) -> str:
    """Return what the file of a sweep is called after, by what was moved."""
    kinds = {"parameter": "weights", "term": "separation"}
    return next((kind for column, kind in kinds.items() if column in table.columns), "alpha")


def faster(table: pd.DataFrame) -> Checked:
    """Check that a larger alpha takes fewer passes."""
    passes = table.groupby("alpha").size()
    passes = passes[passes.index > 0]
    if passes.nunique() < 2:
        return False, f"{passes.iloc[0]} passes whatever alpha is"
    rho = float(spearmanr(passes.index, passes).statistic)
    return rho < 0, f"Spearman of alpha and passes {rho:+.2f}"


def larger_separation(table: pd.DataFrame) -> Checked:
    """Check that a larger alpha ends with more separation, by rank."""
    ends = final_pass(table)["separation"]
    varies = ends.nunique() > 1
    rho, p = spearmanr(range(len(ends)), ends) if varies else (0.0, 1.0)
    text = f"S from {ends.iloc[0]:.4g} to {ends.iloc[-1]:.4g}, Spearman {rho:+.2f}"
    return bool(rho > 0 and p < LEVEL), text


def steeper(table: pd.DataFrame) -> Checked:
    """Check that the first pass adds more separation the larger alpha is."""
    gains = table.groupby("alpha")["separation"].apply(
        lambda curve: curve.iloc[min(1, len(curve) - 1)] - curve.iloc[0]
    )
    rho = float(spearmanr(gains.index, gains).statistic) if gains.nunique() > 1 else 0.0
    return rho > 0.999, f"Spearman of alpha and the first pass's gain {rho:+.2f}"


def depends_heavily(table: pd.DataFrame) -> Checked:
    """Check that F1 at convergence moves by more than 0.05."""
    f1 = final_pass(table)["f1"]
    return bool(f1.max() - f1.min() > _HEAVY), f"F1 from {f1.min():.3f} to {f1.max():.3f}"


def small_is_slow(table: pd.DataFrame) -> Checked:
    """Check that the smallest alpha above 0 takes more passes than most and separates least."""
    positive = table[table["alpha"] > 0]
    passes, ends = positive.groupby("alpha").size(), final_pass(positive)["separation"]
    slow = bool(passes.iloc[0] > passes.iloc[1:].median())
    little = bool(ends.iloc[0] < ends.iloc[1:].min())
    return slow and little, f"{passes.iloc[0]} passes, {passes.iloc[1:].median():g} in the middle"


def silhouette_decreases(table: pd.DataFrame) -> Checked:
    """Check that at one alpha the silhouette ends below that of the k-means start."""
    alpha, curve = table["alpha"].iloc[0], table["silhouette"]
    start, end = float(curve.iloc[0]), float(curve.iloc[-1])
    return end < start, f"alpha {alpha:g} {start:.3f} to {end:.3f}"


def large_overfits(table: pd.DataFrame) -> Checked:
    """Check that the largest alpha has a tenth of the training loss, and more test loss."""
    last = final_pass(table)
    first, large = last.iloc[0], last.iloc[-1]
    right = large["train_log_loss"] < 0.1 * first["train_log_loss"]
    right &= large["test_log_loss"] > first["test_log_loss"]
    train = f"training log-loss {first['train_log_loss']:.3f} to {large['train_log_loss']:.3f}"
    test = f"test {first['test_log_loss']:.3f} to {large['test_log_loss']:.3f}"
    return bool(right), f"{train}, {test}"


def spread_out(table: pd.DataFrame) -> Checked:
    """Check that the largest alpha leaves a lower silhouette than the smallest."""
    last = final_pass(table)["silhouette"]
    return bool(
        last.iloc[-1] < last.iloc[0]
    ), f"silhouette {last.iloc[0]:.3f} to {last.iloc[-1]:.3f}"
