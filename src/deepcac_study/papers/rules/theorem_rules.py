"""Claims that are theorems, decided on both sides of their inequalities."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deepcac_study.catalogue.methods import label
from deepcac_study.papers.evidence import FAILS, HOLDS, PARTLY, UNDECIDED
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.decisions import Found, Rule, by_name, of_records
from deepcac_study.papers.rules.truth import Truth, by_share, settled
from deepcac_study.records.theorem_checks import (
    AM_SOFTMAX,
    AM_SOFTMAX_PRINTED,
    COST,
    GROWTH,
    LOG_LOSS,
    RISK,
    Check,
    TheoryRecord,
    checks,
)

_SAME_LOSS = 0.001  # two mean losses that differ by no more are the same
_SEPARABLE = 0.01  # below this mean loss a fit has no optimum: it ends wherever it is stopped

Records = Sequence[TheoryRecord]


def theorem_rule(records: Records, name: str) -> Rule:
    """Return the rule of a judge of the records, which are of real data and sound."""
    needs = "a record of the theorems, such as results/theory/cic_k2.json"
    return of_records(records, JUDGES[name], needs=needs, what="theorems are evaluated")


def _of(records: Records, bound: str) -> list[Check]:
    return [check for record in records for check in checks(record) if check.bound == bound]


def _rows(records: Records, table: str) -> list[dict[str, Any]]:
    return [row for record in records for row in record.record[table]]


def _count(inequalities: Sequence[Check]) -> Found:
    true = sum(check.holds for check in inequalities)
    return by_share(true / len(inequalities), 1.0), f"true for {true} of {len(inequalities)}"


def cost(records: Records) -> Found:
    """Look for a rise of the cost under row by row moves."""
    verdict, text = _count(_of(records, COST))
    return verdict, f"{text} data sets, with {len(_rows(records, 'cost'))} alphas in all"


def risk(records: Records) -> Found:
    """Compare the test loss with the bound; one above ln 2 says less than a constant does."""
    risk_checks = _of(records, RISK)
    verdict, text = _count(risk_checks)
    bounds = [check.right for check in risk_checks if check.right is not None]
    telling = sum(bound < np.log(2) for bound in bounds)
    figures = f"{text} models; {telling} bounds are below ln 2, the least is {min(bounds):.3g}"
    return (UNDECIDED if verdict == HOLDS and not telling else verdict), figures


def trade(records: Records) -> Found:
    """Ask whether clustering lowers the training loss and raises the other two terms."""
    verdict, bounded = risk(records)
    right, texts = [], []
    for record in records:
        arms = {row["arm"]: row for row in record.record["risk"]}
        for arm in ("km_lr", "cac_lr"):
            ours, plain = arms[arm], arms["lr"]
            right.append(
                ours["training"] < plain["training"]
                and ours["total"] - ours["training"] > plain["total"] - plain["training"]
            )
            change = ", ".join(
                f"{key} {ours[key] - plain[key]:+.3f}" for key in ("training", "test")
            )
            texts.append(f"{record.name}, {label(arm)}: {change}")
    traded = by_share(float(np.mean(right)), 1.0)
    figures = "; ".join([bounded, *texts])
    if traded == FAILS or verdict in (UNDECIDED, traded):
        return (FAILS if traded == FAILS else verdict), figures
    return PARTLY, figures


def lower_but_wider(records: Records) -> Found:
    """Ask whether clustering lowers the training loss and widens the gap to the test loss.

    What else the claim says, that complexity stays low, is not measured.
    """
    answers: list[Truth] = []
    texts = []
    for record in records:
        arms = {row["arm"]: row for row in record.record["risk"]}
        for arm in ("km_lr", "cac_lr"):
            lower, wider = (_gap(arms["lr"], arms[arm], key) for key in ("training", "test"))
            wider += lower
            sure = min(abs(lower), abs(wider)) > _SAME_LOSS
            answers.append(lower > 0 and wider > 0 if sure else None)
            texts.append(f"{record.name}, {label(arm)}: training {-lower:+.3f}, gap {wider:+.3f}")
    verdict = settled(answers, asked("CAC1-04")(len(answers)))
    texts.append("complexity is not measured")
    return (PARTLY if verdict == HOLDS else verdict), "; ".join(texts)


def _gap(plain: dict[str, float], ours: dict[str, float], key: str) -> float:
    """Return by how much a training loss falls, or a test loss rises."""
    change = ours[key] - plain[key]
    return -change if key == "training" else change


def growth_and_training(records: Records) -> Found:
    """Compare the exponents with 1; the time of the training, T, is not measured."""
    verdict, text = growth(records)
    note = "T is not measured, as our rounds train no classifier"
    return (PARTLY if verdict == HOLDS else verdict), f"{text}; {note}"


def growth(records: Records) -> Found:
    """Compare the exponents of the time in n, d and k with 1."""
    verdict, _ = _count(_of(records, GROWTH))
    texts = [
        f"{record.name}: " + ", ".join(f"{x}^{record.record['growth'][x]:.2f}" for x in "ndk")
        for record in records
    ]
    return verdict, "; ".join(texts)


def log_loss(records: Records) -> Found:
    """Compare the log loss of each model with both bounds."""
    verdict, text = _count(_of(records, LOG_LOSS))
    return verdict, f"{text} fitted models"


def same_signs(records: Records) -> Found:
    """Look for models that meet Lemma 1's premise; without one nothing tests its conclusion."""
    fitted = [row for row in _rows(records, "log_loss") if row["same_sign"] is not None]
    met = [row for row in fitted if row["same_sign"] == 1.0]
    apart = sum(row["projection"] > 0 for row in fitted)
    falls = all(row["projection"] > 0 for row in met)
    shares = [row["same_sign"] for row in fitted]
    figures = (
        f"beta_i u_i > 0 for every i in {len(met)} of {len(fitted)} models (for {min(shares):.0%} "
        f"to {max(shares):.0%} of the features); beta.u > 0, which is enough, in {apart}"
    )
    if not met:
        return UNDECIDED, figures
    return (HOLDS if falls else FAILS), figures


def lloyd(records: Records) -> Found:
    """Look for a rise of the cost by Lloyd's moves; without one it is undecided."""
    rows = _rows(records, "cost")
    rises = sum(row["lloyd_rise"] > 1e-9 * abs(row["first"]) for row in rows)
    verdict = HOLDS if rises else UNDECIDED
    return verdict, f"the cost rises for {rises} of {len(rows)} alphas"


def tighter(records: Records) -> Found:
    """Count the clusters tighter than all rows together whose gap, a row, is smaller as well."""
    right = []
    for record in records:
        rows = [row for row in record.record["log_loss"] if row["loss"] > _SEPARABLE * row["rows"]]
        gaps = [(row["upper"] - row["lower"]) / row["rows"] for row in rows]
        whole = [
            (row["radius"], gap) for row, gap in zip(rows, gaps, strict=True) if row["arm"] == "lr"
        ]
        for radius, limit in whole:
            right += [
                gap < limit for row, gap in zip(rows, gaps, strict=True) if row["radius"] < radius
            ]
    if not right:
        return UNDECIDED, "no cluster is tighter than the whole"
    figures = (
        f"{sum(right)} of {len(right)} clusters tighter than the whole have a smaller gap a row"
    )
    return by_share(float(np.mean(right)), 1.0), figures


def am_softmax(records: Records) -> Found:
    """Compare the loss with both versions of the bounds; only the printed ones are the claim."""
    mended, mended_text = _count(_of(records, AM_SOFTMAX))
    printed, text = _count(_of(records, AM_SOFTMAX_PRINTED))
    figures = f"with the constants put right {mended_text}; as printed {text}"
    if printed == HOLDS:
        return HOLDS, figures
    return (PARTLY if mended == HOLDS else FAILS), figures


JUDGES = by_name(
    cost,
    risk,
    trade,
    lower_but_wider,
    growth,
    growth_and_training,
    log_loss,
    same_signs,
    lloyd,
    tighter,
    am_softmax,
)
