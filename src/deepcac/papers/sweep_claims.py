"""Claims about how CAC and DeepCAC react to a setting, decided on the sweeps."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from deepcac.papers.evidence import FAILS, HOLDS, NOT_RUN, PARTLY, Decision, Evidence
from deepcac.papers.rules import Rule, graded
from deepcac.report.sweep_curves import Sweeps, final_pass

_HEAVY = 0.05  # a range of F1 that counts as "depends heavily"
_LITTLE = 0.02  # a range that counts as "varies little"


def sweep_rules(sweeps: Sweeps) -> dict[str, Rule]:
    """Return the rules by claim id; sweeps are made in the sound protocol only."""
    real = {key: table for key, table in sweeps.alpha.items() if not key[0].startswith("demo_")}
    alpha = {
        "CAC1-08": _each(real, _faster),
        "CAC1-12": _each(real, lambda table: _both(_larger_separation(table), _steeper(table))),
        "CAC1-20": _credit_minimum(real),
        "CAC1-21": _each(real, _depends_heavily),
        "CAC1-22": _each(real, _small_is_slow),
        "CAC1-23": _each(real, _large_overfits),
        "CAC2-11": _each(real, lambda table: _both(_depends_heavily(table), _small_is_slow(table))),
        "DCAC-16": _each(real, _silhouette_decreases),
        "CAC2-12": _each(real, lambda table: _both(_large_overfits(table), _spread_out(table))),
        "DCAC-27": _each(real, _faster),
    }
    weights = {key: t for key, t in sweeps.weights.items() if not key[0].startswith("demo_")}
    deep = {
        "DCAC-19": _each(weights, _falls_and_recovers),
        "DCAC-20": _each(weights, _little_by_beta),
        "DCAC-21": _each(weights, _both_terms_help),
    }
    return {name: _sound_only(rule) for name, rule in {**alpha, **deep, **_grid(sweeps)}.items()}


def _sound_only(rule: Rule) -> Rule:
    def checked(evidence: Evidence) -> Decision:
        if evidence.protocol != "sound":
            return Decision(NOT_RUN, "sweeps are made in the sound protocol only")
        return rule(evidence)

    return checked


Check = Callable[[pd.DataFrame], tuple[bool, str]]


def _each(tables: Mapping[tuple[str, int], pd.DataFrame], check: Check) -> Rule:
    """Return the rule that something is true of every sweep (of most: partly)."""

    def rule(evidence: Evidence) -> Decision:
        if not tables:
            return Decision(NOT_RUN, "no sweep of this kind yet")
        found = {f"{name} k = {k}": check(table) for (name, k), table in tables.items()}
        true = sum(right for right, _ in found.values())
        figures = "; ".join(f"{name}: {text}" for name, (_, text) in found.items())
        return Decision(graded(true / len(found), 1.0), figures, _files(tables))

    return rule


def _files(tables: Mapping[tuple[str, int], pd.DataFrame]) -> tuple[str, ...]:
    kinds = {
        name: "weights" if "parameter" in table.columns else "alpha"
        for name, table in tables.items()
    }
    return tuple(f"results/sweeps/{kinds[n, k]}_{n}_k{k}.parquet" for n, k in tables)


def _faster(table: pd.DataFrame) -> tuple[bool, str]:
    passes = table.groupby("alpha").size()
    passes = passes[passes.index > 0]
    if passes.nunique() < 2:
        return False, f"{passes.iloc[0]} passes whatever alpha is"
    rho = float(spearmanr(passes.index, passes).statistic)
    return rho < 0, f"Spearman of alpha and passes {rho:+.2f}"


def _larger_separation(table: pd.DataFrame) -> tuple[bool, str]:
    ends = final_pass(table)["separation"].to_numpy()
    rises = bool((np.diff(ends) >= -1e-6 * np.abs(ends[:-1])).all())
    return rises, f"S from {ends[0]:.4g} to {ends[-1]:.4g}"


def _steeper(table: pd.DataFrame) -> tuple[bool, str]:
    """Check that the first pass adds more separation the larger alpha is."""
    gains = table.groupby("alpha")["separation"].apply(
        lambda curve: curve.iloc[min(1, len(curve) - 1)] - curve.iloc[0]
    )
    rho = float(spearmanr(gains.index, gains).statistic) if gains.nunique() > 1 else 0.0
    return rho > 0.999, f"Spearman of alpha and the first pass's gain {rho:+.2f}"


def _credit_minimum(tables: Mapping[tuple[str, int], pd.DataFrame]) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        table = tables.get(("credit", 3))
        if table is None:
            return Decision(NOT_RUN, "no sweep over alpha on credit with k = 3 yet")
        last = final_pass(table).set_index("alpha")["test_log_loss"]
        best = float(last.index.to_numpy()[last.argmin()])
        lowest = f"lowest test log-loss {last.min():.4f} at alpha = {best:g}"
        figures = f"{lowest}, {last[0.02]:.4f} at 0.02"
        verdict = HOLDS if best == 0.02 else FAILS
        return Decision(verdict, figures, ("results/sweeps/alpha_credit_k3.parquet",))

    return rule


def _depends_heavily(table: pd.DataFrame) -> tuple[bool, str]:
    f1 = final_pass(table)["f1"]
    return bool(f1.max() - f1.min() > _HEAVY), f"F1 from {f1.min():.3f} to {f1.max():.3f}"


def _small_is_slow(table: pd.DataFrame) -> tuple[bool, str]:
    """Check that the smallest alpha above 0 takes more passes than most and separates least."""
    positive = table[table["alpha"] > 0]
    passes, ends = positive.groupby("alpha").size(), final_pass(positive)["separation"]
    slow = bool(passes.iloc[0] > passes.iloc[1:].median())
    little = bool(ends.iloc[0] < ends.iloc[1:].min())
    return slow and little, f"{passes.iloc[0]} passes, {passes.iloc[1:].median():g} in the middle"


def _both(one: tuple[bool, str], other: tuple[bool, str]) -> tuple[bool, str]:
    return one[0] and other[0], f"{one[1]}, {other[1]}"


def _silhouette_decreases(table: pd.DataFrame) -> tuple[bool, str]:
    """Check that for every alpha above 0 the silhouette ends below that of the k-means start."""
    curves = table[table["alpha"] > 0].groupby("alpha")["silhouette"]
    start, end = curves.first(), curves.last()
    lower = int((end < start).sum())
    return lower == len(
        start
    ), f"from {start.iloc[0]:.3f}, lower at the end for {lower} of {len(start)} alphas"


def _large_overfits(table: pd.DataFrame) -> tuple[bool, str]:
    """Check that the largest alpha has a tenth of the training loss, and more test loss."""
    last = final_pass(table)
    first, large = last.iloc[0], last.iloc[-1]
    right = large["train_log_loss"] < 0.1 * first["train_log_loss"]
    right &= large["test_log_loss"] > first["test_log_loss"]
    train = f"training log-loss {first['train_log_loss']:.3f} to {large['train_log_loss']:.3f}"
    test = f"test {first['test_log_loss']:.3f} to {large['test_log_loss']:.3f}"
    return bool(right), f"{train}, {test}"


def _spread_out(table: pd.DataFrame) -> tuple[bool, str]:
    """Check that the largest alpha leaves a lower silhouette than the smallest."""
    last = final_pass(table)["silhouette"]
    return bool(
        last.iloc[-1] < last.iloc[0]
    ), f"silhouette {last.iloc[0]:.3f} to {last.iloc[-1]:.3f}"


def _means(table: pd.DataFrame, parameter: str) -> pd.DataFrame:
    own = table[table["parameter"] == parameter]
    return own.groupby("value")[["auroc", "auprc"]].mean()


def _falls_and_recovers(table: pd.DataFrame) -> tuple[bool, str]:
    curves = _means(table, "alpha")
    return _both(*(_falls_and_recovers_by(curves[metric]) for metric in ("auroc", "auprc")))


def _falls_and_recovers_by(curve: pd.Series) -> tuple[bool, str]:
    near, late = curve[(curve.index > 0) & (curve.index < 5)].min(), curve[curve.index >= 5]
    flat = late.max() - late.min() <= _LITTLE
    right = near < curve.iloc[0] - _LITTLE and late.mean() > near and flat
    parts = f"{curve.name} {curve.iloc[0]:.3f} at 0, least {near:.3f} below 5"
    return bool(right), f"{parts}, {late.min():.3f} to {late.max():.3f} from 5 on"


def _little_by_beta(table: pd.DataFrame) -> tuple[bool, str]:
    curves = _means(table, "beta")
    spread = (curves.max() - curves.min()).to_dict()
    figures = ", ".join(f"{name} range {value:.3f}" for name, value in spread.items())
    return all(value <= _LITTLE for value in spread.values()), figures


def _both_terms_help(table: pd.DataFrame) -> tuple[bool, str]:
    gains = {}
    for parameter, default in (("alpha", 5.0), ("beta", 20.0)):
        curve = _means(table, parameter)
        for metric in ("auroc", "auprc"):
            gains[f"{parameter} {metric}"] = float(curve[metric][default] - curve[metric].iloc[0])
    figures = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
    return all(gain > 0 for gain in gains.values()), figures


def _grid(sweeps: Sweeps) -> dict[str, Rule]:
    """Return the claims about the synthetic grid: v1 and DeepCAC balanced, v2 one to ten."""
    checks = (_rises_with_ics, _little_by_ocs, _falls_with_clusters, _enough)
    names = {
        False: (("CAC1-16", "CAC1-17", "CAC1-18", "CAC1-19"), ("f1",)),
        True: (("CAC2-07", "CAC2-08", "CAC2-09"), ("f1", "auroc")),
    }
    rules = {
        claim: _on_grid(sweeps.grid, rare, metrics, check)
        for rare, (claims, metrics) in names.items()
        for claim, check in zip(claims, checks, strict=False)
    }
    for number, claim in enumerate(names[False][0]):
        rules[f"DCAC-{31 + number}"] = rules[claim]
    rules["CAC2-10"] = _on_grid(sweeps.grid, True, ("auroc",), _enough)
    rules["DCAC-01"] = _on_grid(sweeps.grid, False, ("f1",), _clustering_helps)
    return rules


GridCheck = Callable[[pd.DataFrame, str], tuple[str, str]]


def _on_grid(
    table: pd.DataFrame | None, rare: bool, metrics: tuple[str, ...], check: GridCheck
) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        if table is None:
            return Decision(NOT_RUN, "the synthetic grid has not been run yet")
        own = table[table["imbalanced"] == rare]
        found = {metric: check(own, metric) for metric in metrics}
        verdicts = {verdict for verdict, _ in found.values()}
        figures = " | ".join(f"{metric}: {text}" for metric, (_, text) in found.items())
        verdict = verdicts.pop() if len(verdicts) == 1 else PARTLY
        return Decision(verdict, figures, ("results/sweeps/grid.parquet",))

    return rule


def _cac(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["method"] == "cac_lr"]


def _monotone(means: "pd.Series[float]", sign: int) -> tuple[str, str]:
    rho = sign * float(spearmanr(means.index, means).statistic)
    text = ", ".join(f"{place:g}: {value:.3f}" for place, value in means.items())
    return (HOLDS if rho > 0.999 else PARTLY if rho > 0.5 else FAILS), text


def _rises_with_ics(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    return _monotone(_cac(table).groupby("ics")[metric].mean(), 1)


def _falls_with_clusters(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    return _monotone(_cac(table).groupby("clusters")[metric].mean(), -1)


def _little_by_ocs(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Hold the range over OCS against the range over ICS: below a quarter holds, half partly."""
    ranges = {}
    for column in ("ocs", "ics"):
        means = _cac(table).groupby(column)[metric].mean()
        ranges[column] = float(means.max() - means.min())
    share = ranges["ocs"] / ranges["ics"] if ranges["ics"] else np.inf
    verdict = HOLDS if share < 0.25 else PARTLY if share < 0.5 else FAILS
    return verdict, f"range over OCS {ranges['ocs']:.3f}, over ICS {ranges['ics']:.3f}"


def _enough(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Compare k >= K with k < K at the same K, where both occur."""
    cac = _cac(table)
    gains = {}
    for clusters, own in cac.groupby("clusters"):
        reached = own["k"] >= own["clusters"]
        if reached.any() and not reached.all():
            gains[clusters] = float(own[metric][reached].mean() - own[metric][~reached].mean())
    share = np.mean([gain > 0 for gain in gains.values()])
    text = ", ".join(f"K = {clusters}: {gain:+.3f}" for clusters, gain in gains.items())
    return graded(float(share), 1.0), text


def _clustering_helps(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Compare the arms cell by cell: KM+LR over LR, and CAC+LR over KM+LR."""
    place = ["ics", "ocs", "clusters"]
    wide = table.pivot_table(index=[*place, "k"], columns="method", values=metric)
    plain = wide["lr"].groupby(place).transform("first")
    first = (wide["km_lr"] - plain).dropna()
    second = (wide["cac_lr"] - wide["km_lr"]).dropna()
    texts, right = [], []
    for name, gain in (("KM+LR over LR", first), ("CAC+LR over KM+LR", second)):
        share = float((gain > 0).mean())
        right.append(gain.mean() > 0 and share > 0.5)
        texts.append(f"{name} {gain.mean():+.4f}, up in {100 * share:.0f} % of cells")
    return (HOLDS if all(right) else PARTLY if any(right) else FAILS), "; ".join(texts)
