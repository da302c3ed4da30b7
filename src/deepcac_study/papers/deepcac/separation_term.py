"""DeepCAC's claim on what its latents can be trained with (section 7)."""

import pandas as pd

from deepcac_study.experiments.finished_sweeps import AM_SOFTMAX, CENTROIDS, NONE
from deepcac_study.papers.rules import Rule, every
from deepcac_study.papers.sweep_rules import Checked, Tables, of_sweeps

_RAISED = 2.0  # by which factor a share must be above that of training without a term
_FILE = "results/sweeps/separation_cic_k3.parquet"


def trainable(tables: Tables) -> Rule:
    """Return the rule that CAC's separation term cannot be trained, and AM-softmax can.

    A term can be trained if with one of its weights training ends with at least twice the share
    of the scatter between the classes of a cluster that it ends with without a term. Each is asked
    by what it is about: the distance between means, or the latents' directions.
    """
    return every(of_sweeps(tables, _not_by_distance, _FILE), of_sweeps(tables, _by_margin, _FILE))


def _not_by_distance(table: pd.DataFrame) -> Checked:
    raised, text = _raises(table, CENTROIDS, "share")
    return not raised, f"distance of means: {text}"


def _by_margin(table: pd.DataFrame) -> Checked:
    raised, text = _raises(table, AM_SOFTMAX, "direction_share")
    return raised, f"AM-softmax, by directions: {text}"


def _raises(table: pd.DataFrame, term: str, column: str) -> Checked:
    """Say whether any weight of a term raises a share."""
    without = float(table.loc[table["term"] == NONE, column].iloc[0])
    own = table[(table["term"] == term) & (table["status"] == "ok")]
    if own.empty:
        return False, f"{without:.4f} without, every training with it diverges"
    share, alpha = max(zip(own[column], own["alpha"], strict=True))
    text = f"{without:.4f} without, at most {share:.4f} (alpha = {alpha:g})"
    return bool(share >= _RAISED * without), text
