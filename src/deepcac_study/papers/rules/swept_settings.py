"""Checks of claims on sweeps: how CAC and DeepCAC react to a setting."""

from collections.abc import Callable
from functools import wraps

import pandas as pd
from scipy.stats import spearmanr

from deepcac.scoring.equivalence import LEVEL
from deepcac_study.papers.claim_verdicts import UNDECIDED, Answer, Outcome, settled, unanimous
from deepcac_study.papers.rules.rule import ClaimRule
from deepcac_study.records.sweep_tables import (
    AM_SOFTMAX,
    CENTROIDS,
    NONE,
    by_split,
    final_pass,
)

OfSplit = Callable[[pd.DataFrame], Answer]

_HEAVY = 0.05  # a range of F1 that counts as "depends heavily"
_LITTLE = 0.02  # a range that counts as "varies little"
_RAISED = 2.0  # by which factor a share must be above that of training without a term
_FEWEST = 2  # alphas of a rank correlation
_BEST_ALPHA, _SAME_LOSS = 0.02, 0.001  # CAC v1; log-losses that no split tells apart


def on_every_split(check: OfSplit) -> Callable[[pd.DataFrame, ClaimRule], Answer]:
    """Apply a check to each split of a sweep; open if splits disagree, or for a single one."""

    @wraps(check)
    def of_sweep(sweep: pd.DataFrame, rule: ClaimRule) -> Answer:
        checked = [check(part) for part in by_split(sweep)]
        right = [answer for answer, _ in checked]
        first = "on the first " if len(checked) > 1 else ""
        text = (
            f"{sweep['dataset'].iloc[0]} k = {sweep['k'].iloc[0]:g}: true for {right.count(True)} "
            f"of {len(checked)} splits, {first}{checked[0][1]}"
        )
        return unanimous(right), text

    return of_sweep


@on_every_split
def faster(table: pd.DataFrame) -> Answer:
    """Check that a larger alpha takes fewer passes, among alphas at which rows move.

    Open if the rank correlation may be due to chance, as in `larger_separation`.
    """
    passes = table[table["moving"]].groupby("alpha").size()
    if len(passes) < _FEWEST:
        return None, f"something moves at {len(passes)} alphas"
    if passes.nunique() < 2:
        return False, f"{passes.iloc[0]} passes at {len(passes)} alphas at which something moves"
    rho, p = spearmanr(passes.index, passes)
    text = f"Spearman of alpha and passes {rho:+.2f} over the {len(passes)} at which something"
    return bool(rho < 0) if p < LEVEL else None, f"{text} moves"


@on_every_split
def larger_separation(table: pd.DataFrame) -> Answer:
    """Check that a larger alpha ends with more separation, by rank correlation."""
    ends = final_pass(table)["separation"]
    varies = ends.nunique() > 1
    rho, p = spearmanr(range(len(ends)), ends) if varies else (0.0, 1.0)
    text = f"S from {ends.iloc[0]:.4g} to {ends.iloc[-1]:.4g}, Spearman {rho:+.2f}"
    return (bool(rho > 0) if p < LEVEL else None if varies else False), text


@on_every_split
def steeper(table: pd.DataFrame) -> Answer:
    """Check that the first pass adds more separation with a larger alpha."""
    gains = table.groupby("alpha")["separation"].apply(
        lambda curve: curve.iloc[min(1, len(curve) - 1)] - curve.iloc[0]
    )
    rho = float(spearmanr(gains.index, gains).statistic) if gains.nunique() > 1 else 0.0
    return rho > 0.999, f"Spearman of alpha and the first pass's gain {rho:+.2f}"


@on_every_split
def depends_heavily(table: pd.DataFrame) -> Answer:
    """Check that F1 at convergence moves by more than 0.05."""
    f1 = final_pass(table)["f1"]
    return bool(f1.max() - f1.min() > _HEAVY), f"F1 from {f1.min():.3f} to {f1.max():.3f}"


@on_every_split
def small_is_slow(table: pd.DataFrame) -> Answer:
    """Check that the smallest alpha at which rows move takes more passes than most."""
    passes = table[table["moving"]].groupby("alpha").size()
    if len(passes) < _FEWEST:
        return None, f"something moves at {len(passes)} alphas"
    middle, least = passes.iloc[1:].median(), float(passes.index.to_numpy()[0])
    text = f"{passes.iloc[0]} passes at {least:g}, from which on something moves"
    return bool(passes.iloc[0] > middle), f"{text}, {middle:g} in the middle above"


@on_every_split
def small_separates_least(table: pd.DataFrame) -> Answer:
    """Check that the smallest alpha above 0 ends with the least separation."""
    ends = final_pass(table[table["alpha"] > 0])["separation"]
    least = float(ends.iloc[1:].min())
    return bool(ends.iloc[0] < least), f"S {ends.iloc[0]:.4g}, at least {least:.4g} above"


def silhouette_decreases(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check that each alpha at which rows move ends with a silhouette below that of the start."""
    answers, texts = [], []
    for _, sweep in rows.groupby(["dataset", "k"], sort=False):
        moving = sweep.groupby(["alpha", "seed"])["moving"].first().groupby("alpha").all()
        for alpha in moving.index[moving]:
            answer, text = _ends_lower(sweep[sweep["alpha"] == alpha], rule)
            answers.append(answer)
            texts.append(text)
    if not answers:
        return Outcome(UNDECIDED, "nothing moves at any alpha")
    return Outcome(settled(answers, rule.share(len(answers))), "; ".join(texts))


@on_every_split
def _ends_lower(table: pd.DataFrame) -> Answer:
    """Return whether the silhouette ends below its start, and the figures."""
    alpha, curve = table["alpha"].iloc[0], table["silhouette"]
    start, end = float(curve.iloc[0]), float(curve.iloc[-1])
    return end < start, f"alpha {alpha:g} {start:.3f} to {end:.3f}"


@on_every_split
def large_overfits(table: pd.DataFrame) -> Answer:
    """Check that the largest alpha has a tenth of the training loss, and more test loss."""
    last = final_pass(table)
    first, large = last.iloc[0], last.iloc[-1]
    right = large["train_log_loss"] < 0.1 * first["train_log_loss"]
    right &= large["test_log_loss"] > first["test_log_loss"]
    train = f"training log-loss {first['train_log_loss']:.3f} to {large['train_log_loss']:.3f}"
    test = f"test {first['test_log_loss']:.3f} to {large['test_log_loss']:.3f}"
    return bool(right), f"{train}, {test}"


@on_every_split
def spread_out(table: pd.DataFrame) -> Answer:
    """Check that the largest alpha leaves a lower silhouette than the smallest."""
    last = final_pass(table)["silhouette"]
    first, large = float(last.iloc[0]), float(last.iloc[-1])
    return large < first, f"silhouette {first:.3f} to {large:.3f}"


@on_every_split
def lowest_as_printed(table: pd.DataFrame) -> Answer:
    """Check that the test log-loss is lowest at the printed alpha; open if it is nearly so."""
    last = final_pass(table).set_index("alpha")["test_log_loss"]
    best = float(last.index.to_numpy()[last.argmin()])
    text = f"lowest test log-loss {last.min():.4f} at alpha = {best:g}"
    tied = last[_BEST_ALPHA] - last.min() < _SAME_LOSS
    answer = best == _BEST_ALPHA or (None if tied else False)
    return answer, f"{text}, {last[_BEST_ALPHA]:.4f} at {_BEST_ALPHA:g}"


def _means(table: pd.DataFrame, parameter: str) -> pd.DataFrame:
    rows = table[table["parameter"] == parameter]
    return rows.groupby("value")[["auroc", "auprc"]].mean()


@on_every_split
def falls_from_zero(table: pd.DataFrame) -> Answer:
    """Check that both scores fall as alpha leaves 0 (Figure 3a)."""
    return _of_both(table, _falls)


@on_every_split
def recovers_and_stays(table: pd.DataFrame) -> Answer:
    """Check that both scores are higher from alpha = 5 on than before, and stay (Figure 3a)."""
    return _of_both(table, _stays)


def _of_both(table: pd.DataFrame, check: Callable[[pd.Series], Answer]) -> Answer:
    """Return whether both AUROC and AUPRC pass, and their figures."""
    curves = _means(table, "alpha")
    (first, text), (other, more) = (check(curves[m]) for m in ("auroc", "auprc"))
    return bool(first and other), f"{text}, {more}"


def _falls(curve: pd.Series) -> Answer:
    """Return whether the score drops below that at 0 for an alpha under 5."""
    near = curve[(curve.index > 0) & (curve.index < 5)].min()
    text = f"{curve.name} {curve.iloc[0]:.3f} at 0, least {near:.3f} below 5"
    return bool(near < curve.iloc[0] - _LITTLE), text


def _stays(curve: pd.Series) -> Answer:
    """Return whether the score is flat from 5 on and above its least under 5."""
    near, late = curve[(curve.index > 0) & (curve.index < 5)].min(), curve[curve.index >= 5]
    right = late.mean() > near and late.max() - late.min() <= _LITTLE
    return bool(right), f"{curve.name} {late.min():.3f} to {late.max():.3f} from 5 on"


@on_every_split
def little_by_beta(table: pd.DataFrame) -> Answer:
    """Check that neither score varies much with beta (Figure 3b)."""
    curves = _means(table, "beta")
    spread = (curves.max() - curves.min()).to_dict()
    figures = ", ".join(f"{name} range {value:.3f}" for name, value in spread.items())
    widest = max(spread.values())
    answer = True if widest <= _LITTLE else None if widest <= 2 * _LITTLE else False
    return answer, f"{figures}; the limit of {_LITTLE:g} is ours, up to twice it is open"


@on_every_split
def alpha_helps(table: pd.DataFrame) -> Answer:
    """Check that the default weight of the separation beats 0."""
    return _beats_zero(table, "alpha", 5.0)


@on_every_split
def beta_helps(table: pd.DataFrame) -> Answer:
    """Check that the default weight of the clustering loss beats 0."""
    return _beats_zero(table, "beta", 20.0)


def _beats_zero(table: pd.DataFrame, parameter: str, default: float) -> Answer:
    """Return whether both scores at the default exceed those at 0."""
    curves = _means(table, parameter)
    gains = (curves.loc[default] - curves.iloc[0]).to_dict()
    figures = ", ".join(f"{parameter} {name} {gain:+.3f}" for name, gain in gains.items())
    return all(gain > 0 for gain in gains.values()), figures


@on_every_split
def not_by_distance(table: pd.DataFrame) -> Answer:
    """Check that no weight of the distance of means doubles its share of the scatter."""
    raised, text = _raises(table, CENTROIDS, "share")
    return not raised, f"distance of means: {text}"


@on_every_split
def by_margin(table: pd.DataFrame) -> Answer:
    """Check that some weight of AM-softmax doubles the share among the latents' directions."""
    raised, text = _raises(table, AM_SOFTMAX, "direction_share")
    return raised, f"AM-softmax, by directions: {text}"


def _raises(table: pd.DataFrame, term: str, column: str) -> Answer:
    """Check whether any weight of a term doubles a share."""
    without = float(table.loc[table["term"] == NONE, column].iloc[0])
    trained = table[(table["term"] == term) & (table["status"] == "ok")]
    if trained.empty:
        return False, f"{without:.4f} without, every training with it diverges"
    share, alpha = max(zip(trained[column], trained["alpha"], strict=True))
    text = f"{without:.4f} without, at most {share:.4f} (alpha = {alpha:g})"
    return bool(share >= _RAISED * without), text
