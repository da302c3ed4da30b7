"""Claims of DeepCAC about the weights of its loss terms (section 8, ablation)."""

import pandas as pd

from deepcac_study.papers.rules import Rule
from deepcac_study.papers.sweep_rules import Checked, Tables, sweep_rules

_LITTLE = 0.02  # a range that counts as "varies little"


def weight_rules(tables: Tables) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return sweep_rules(
        tables,
        {
            "DCAC-19": _falls_and_recovers,
            "DCAC-20": _little_by_beta,
            "DCAC-21": _both_terms_help,
        },
        "results/sweeps/weights_cic_los_k3.parquet",
    )


def _means(table: pd.DataFrame, parameter: str) -> pd.DataFrame:
    own = table[table["parameter"] == parameter]
    return own.groupby("value")[["auroc", "auprc"]].mean()


def _falls_and_recovers(table: pd.DataFrame) -> Checked:
    """Check that both scores fall near alpha = 0, then recover and stay (Figure 3a)."""
    curves = _means(table, "alpha")
    (one, text), (other, more) = (_falls_and_recovers_by(curves[m]) for m in ("auroc", "auprc"))
    return one and other, f"{text}, {more}"


def _falls_and_recovers_by(curve: pd.Series) -> Checked:
    near, late = curve[(curve.index > 0) & (curve.index < 5)].min(), curve[curve.index >= 5]
    flat = late.max() - late.min() <= _LITTLE
    right = near < curve.iloc[0] - _LITTLE and late.mean() > near and flat
    parts = f"{curve.name} {curve.iloc[0]:.3f} at 0, least {near:.3f} below 5"
    return bool(right), f"{parts}, {late.min():.3f} to {late.max():.3f} from 5 on"


def _little_by_beta(table: pd.DataFrame) -> Checked:
    """Check that neither score varies much with beta (Figure 3b)."""
    curves = _means(table, "beta")
    spread = (curves.max() - curves.min()).to_dict()
    figures = ", ".join(f"{name} range {value:.3f}" for name, value in spread.items())
    widest = max(spread.values())
    answer = True if widest <= _LITTLE else None if widest <= 2 * _LITTLE else False
    return answer, f"{figures}; the limit of {_LITTLE:g} is ours, up to twice it is open"


def _both_terms_help(table: pd.DataFrame) -> Checked:
    """Check that the default weights beat 0."""
    gains = {}
    for parameter, default in (("alpha", 5.0), ("beta", 20.0)):
        curve = _means(table, parameter)
        for metric in ("auroc", "auprc"):
            gains[f"{parameter} {metric}"] = float(curve[metric][default] - curve[metric].iloc[0])
    figures = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
    return all(gain > 0 for gain in gains.values()), figures
