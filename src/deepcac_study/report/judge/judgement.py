"""The judge's verdicts as a sentence, tables and figures."""

import math
import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac.judging.contenders import CAC, CELLS
from deepcac.judging.questions import ANY, FORCED, HELP
from deepcac.judging.resample_scores import METRICS, clustered_scores
from deepcac.judging.spaces import of_kind
from deepcac.judging.verdicts import half_detect
from deepcac.pages.figures import Figure, verdicts_in
from deepcac.pages.tables import Table, text_row
from deepcac.pages.wording import four, three
from deepcac.scoring.equivalence import (
    BETTER,
    EQUIVALENT,
    LEVEL,
    NEVER,
    NOT_TESTED,
    TIED,
    UNDECIDED,
    WORSE,
)
from deepcac.scoring.statistics import holm
from deepcac_study.judge.clinical_tasks import FINISHED
from deepcac_study.papers.ledger import number
from deepcac_study.papers.names import paper_datasets
from deepcac_study.records.record import file_digest
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.judge.clinical_forest import ClinicalJudgement
from deepcac_study.report.judge.judge_figures import (
    contender_label,
    power_figure,
    spoken,
    verdict_forest,
)

GENERATED = " (generated)"
_TABLE, _SUMMARY = "verdicts.csv", "summary.json"
_HEADLINE = ("help", "auroc")  # the question and metric of the sentence
_METRICS = {"auroc": "AUROC", "auprc": "AUPRC"}
_TREES, _LINE = of_kind("boosting")[0], of_kind("plain")[0]
# What follows "clusters"; the number comes last.
_SPOKEN = {
    BETTER: "improved the model in",
    WORSE: "made it worse in",
    EQUIVALENT: "made no difference in",
    NEVER: "were offered and never chosen in",
    TIED: "were chosen and changed no score in",
    UNDECIDED: "left it open in",
}


@dataclass(frozen=True)
class Judgement:
    """Verdicts and summary that the judge wrote."""

    # A comparison a row (`deepcac.judging.verdicts.verdicts`), of real data or of generated.
    rows: pd.DataFrame
    summary: dict[str, Any]  # counts a question, over data sets, and the power curve

    @property
    def real(self) -> pd.DataFrame:
        """The comparisons on the papers' data."""
        return self.rows[self.rows["dataset"].isin(paper_datasets())]

    @property
    def unpublished(self) -> pd.DataFrame:
        """The comparisons on real data that no paper has."""
        made = self.rows["dataset"].str.endswith(GENERATED)
        return self.rows[~made & ~self.rows["dataset"].isin(paper_datasets())]


def load_judgement(paths: Iterable[str | os.PathLike[str]]) -> Judgement | None:
    """Read ``verdicts.csv`` and ``summary.json`` among other files; None without them.

    Raises
    ------
    DataError
        They were not written together, or one is damaged.
    """
    files = {Path(path).name: Path(path) for path in paths}
    if not files.keys() >= {_TABLE, _SUMMARY}:
        return None
    summary = read_json(files[_SUMMARY])
    if file_digest(files[_TABLE]) != summary.get("verdicts"):
        raise DataError(
            f"{files[_TABLE]}: not the verdicts that {_SUMMARY} counts; delete both and run the "
            "judge again"
        )
    rows = pd.read_csv(files[_TABLE])
    generated = rows["dataset"].isin(summary["synthetic"])
    rows.loc[generated, "dataset"] += GENERATED
    return Judgement(rows, summary)


def headline(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons behind the answer on the first page."""
    question, metric = _HEADLINE
    return rows[(rows["question"] == question) & (rows["metric"] == metric)]


def sentence(judgement: Judgement | None, *, unpublished: bool = False) -> str:
    """Return the answer in one sentence; empty without such data.

    With `unpublished` it is about real data that no paper has, which never count for the papers.
    """
    rows = _asked(judgement, unpublished)
    if rows.empty:
        return ""
    counts = rows["verdict"].value_counts()
    many = len(rows) > 1
    phrases = [
        f"{words} {counts[name] if many else 'the one comparison'}"
        for name, words in _SPOKEN.items()
        if counts.get(name, 0)
    ]
    listed = " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)
    return f"{_verdict(rows)}: {f'of {len(rows)} comparisons, ' * many}clusters {listed}."


def whole_answer(judgement: Judgement | None, clinical: ClinicalJudgement | None) -> str:
    """Return the answer of the whole study; empty if comparisons are missing."""
    answers = overall_answer(judgement.real, clinical) if judgement else pd.DataFrame()
    return "" if answers.empty else str(answers["sentence"].iloc[0])


def overall_answer(rows: pd.DataFrame, clinical: ClinicalJudgement | None) -> pd.DataFrame:
    """Return one row with the numbers of the answer and its ``sentence``; empty without them.

    The clinical tasks come first. The answer is that clusters help on none of them; else it is
    empty. `rows` are comparisons of `deepcac.judging.verdicts.verdicts` on the nine data sets: of
    logistic regression with clusters that could be chosen, and of random partitions.
    """
    if clinical is None or rows.empty:
        return pd.DataFrame()
    tasks = clinical.tasks[~clinical.tasks["apart"].astype(bool)]
    tasks = tasks[tasks["status"] == FINISHED]
    forced = forced_gains(clinical.verdicts, tasks)
    helped = _helped(rows[rows["metric"] == METRICS[0]])
    helps = clinical.decisions["dataset"].isin(tasks["dataset"]) & (
        clinical.decisions["helps"] == "true"
    )
    added = clinical.added.get("cohorts")
    if added is not None and added["helps"].astype(bool).any():
        return pd.DataFrame()
    if forced.empty or helped.empty or helps.any():
        return pd.DataFrame()
    trees = forced["reference"] == _TREES
    excluded = forced["excluded_together"] == "yes"
    numbers: dict[str, Any] = {
        "tasks": len(tasks),
        "cohorts": tasks["cohort"].nunique(),
        "margin": float(forced["margin"].iloc[0]),
        "comparisons": len(forced),
        "excluded": int(excluded.sum()),
        "comparisons_trees": int(trees.sum()),
        "excluded_trees": int((excluded & trees).sum()),
        "helped": " ".join(helped.index),
        "gains": " ".join(four(value) for value in helped["mean"]),
        "random_gains": " ".join(four(value) for value in helped["random"]),
        **_added_numbers(added),
    }
    return pd.DataFrame([{**numbers, "sentence": _answer_sentence(numbers)}])


def _added_numbers(verdicts: pd.DataFrame | None) -> dict[str, int]:
    """Count cohorts added after the plan, their comparisons, and those that rule out a gain.

    One correction is over all of these comparisons, as over those of the plan.
    """
    if verdicts is None:
        return {"added": 0, "added_comparisons": 0, "added_excluded": 0}
    forced = verdicts[(verdicts["question"] == FORCED.id) & (verdicts["metric"] == METRICS[0])]
    return {
        "added": forced["dataset"].nunique(),
        "added_comparisons": len(forced),
        "added_excluded": int((holm(forced["better"].to_numpy(float)) < LEVEL).sum()),
    }


def forced_gains(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons, on some tasks, of the learner with clusters that had to be used."""
    asked = (verdicts["question"] == FORCED.id) & (verdicts["metric"] == METRICS[0])
    return verdicts[asked & (verdicts["alpha"] == "") & verdicts["dataset"].isin(tasks["dataset"])]


def _helped(auroc: pd.DataFrame) -> pd.DataFrame:
    """Return the data sets on which CAC's clusters are better for logistic regression.

    Columns are the gain, that of a random partition, the score with clusters, and the score of
    boosted trees without clusters.
    """
    pair = (auroc["contender"] == f"{CAC}_{_LINE}") & (auroc["reference"] == _LINE)
    line = auroc[pair & (auroc["question"] == HELP.id)].set_index("dataset")
    cells = auroc[(auroc["question"] == ANY.id) & (auroc["reference"] == f"{CELLS}_{_LINE}")]
    random = cells.groupby("dataset")["reference_score"].first()
    trees = auroc[auroc["reference"] == _TREES].groupby("dataset")["reference_score"].first()
    line = line.assign(random=random - line["reference_score"], trees=trees)
    return line[line["verdict"] == BETTER].dropna(subset=["random", "trees"])


def _answer_sentence(numbers: dict[str, Any]) -> str:
    """Return the text of the answer; its first sentence has at most 25 words."""
    answer = (
        f"We found no benefit: on none of {numbers['tasks']} clinical tasks ({numbers['cohorts']} "
        "independent cohorts) did clusters beat the same model without them, random groups and "
        f"splines. We could rule out a gain of {three(numbers['margin'])} AUROC or more in "
        f"{numbers['excluded']} of {numbers['comparisons']} comparisons after correction "
        f"({numbers['excluded_trees']} of {numbers['comparisons_trees']} with boosted trees); "
        "elsewhere it remains possible."
    )
    if not numbers["added"]:
        return answer
    return answer + (
        f" In {numbers['added']} more cohorts they did not help either: "
        f"{numbers['added_excluded']} of {numbers['added_comparisons']} comparisons rule out such "
        "a gain."
    )


def basis(judgement: Judgement | None, *, unpublished: bool = False) -> str:
    """Return a text on the basis of the answer: data, metric, margin and power."""
    rows = _asked(judgement, unpublished)
    if judgement is None or rows.empty:
        return ""
    names = rows["dataset"].unique()
    where = f"{len(names)} data sets" if len(names) > 1 else names[0]
    where += ", real data of no paper" * unpublished
    half = half_detect(rows)
    seen = f" The median detectable difference is {number(half)}."
    return (
        f"We compare the AUROC of tuned models on {where}. A difference of up to "
        f"{number(judgement.summary['margin'])} counts as negligible.{seen * (half == half)}"
    )


def _asked(judgement: Judgement | None, unpublished: bool) -> pd.DataFrame:
    """Return the headline rows, empty without a judgement."""
    if judgement is None:
        return pd.DataFrame()
    return headline(judgement.unpublished if unpublished else judgement.real)


def _verdict(rows: pd.DataFrame) -> str:
    """Return the answer in a few words, from the verdicts of comparisons with clusters."""
    counts = rows["verdict"].value_counts()
    helped, open_ = counts.get(BETTER, 0), counts.get(UNDECIDED, 0)
    if 2 * helped >= len(rows):
        return "Yes"
    if not helped:
        return "Not decided" if 2 * open_ > len(rows) else "Probably not"
    better = rows[rows["verdict"] == BETTER]
    models = [spoken(str(name)) for name in better["reference"].unique()]
    where = f"on {better['dataset'].nunique()} of {rows['dataset'].nunique()} data sets"
    return f"Only for {models[0]}, {where}" if len(models) == 1 else f"For some models, {where}"


def judgement_tables(judgement: Judgement | None) -> list[Table]:
    """Return the counts by question, the scores of all contenders, and every comparison."""
    if judgement is None or judgement.rows.empty:
        return []
    scored = [_leaderboard(judgement)] if judgement.summary.get("scores") else []
    return [_counts(judgement), *scored, _comparisons(judgement)]


def _counts(judgement: Judgement) -> Table:
    """Return a row per question and metric with its counts of verdicts."""
    texts = {entry["question"]: entry["text"] for entry in judgement.summary["questions"]}
    shown = verdicts_in(judgement.rows["verdict"])
    rows = [
        text_row(
            texts[str(question)],
            _METRICS[str(metric)],
            len(group),
            *(int((group["verdict"] == name).sum()) for name in shown),
            int((group["verdict_strict"] == EQUIVALENT).sum()),
            number(float(group["mean"].mean()), signed=True),
            "" if math.isnan(half := half_detect(group)) else number(half),
        )
        for (question, metric), group in judgement.rows.groupby(["question", "metric"], sort=False)
    ]
    made = int(judgement.rows["dataset"].str.endswith(GENERATED).sum())
    margins = {key: number(judgement.summary[key]) for key in ("margin", "strict_margin")}
    warning = f" Generated data: {made} of {len(judgement.rows)} comparisons." if made else ""
    return declared_table("judge_counts", rows, warning=warning, verdicts=shown, **margins)


def _leaderboard(judgement: Judgement) -> Table:
    """Return the AUROC of every contender on every data set, by its mean rank."""
    table = pd.DataFrame(judgement.summary["scores"])
    generated = table["dataset"].isin(judgement.summary["synthetic"])
    table.loc[generated, "dataset"] += GENERATED
    table["shown"] = clustered_scores(table, "auroc")
    scores = table.pivot(index="contender", columns="dataset", values="shown")
    ranks = scores.rank(ascending=False)
    rows = [
        text_row(
            contender_label(str(name)),
            *("" if pd.isna(score) else f"{score:.4f}" for score in scores.loc[name]),
            f"{ranks.loc[name].mean():.1f}",
        )
        for name in ranks.mean(axis=1).sort_values().index
    ]
    return declared_table("judge_scores", rows, datasets=scores.columns)


def _comparisons(judgement: Judgement) -> Table:
    """Return a row per comparison: scores, difference and tests."""
    texts = {entry["question"]: entry["text"] for entry in judgement.summary["questions"]}
    rows = [
        text_row(
            *(texts[row["question"]], row["dataset"]),
            *(contender_label(row[name]) for name in ("contender", "reference")),
            _METRICS[row["metric"]],
            row["verdict"],
            number(row["score"]),
            number(row["reference_score"]),
            number(row["mean"], signed=True),
            *_tested(row),
        )
        for row in judgement.rows.to_dict("records")
    ]
    return declared_table("judge_comparisons", rows)


def _tested(row: Mapping[Hashable, Any]) -> tuple[str, ...]:
    """Return the cells with the test of a comparison; empty ones if nothing was tested."""
    names = ("p_holm", "detectable", "worse", "same", "better")
    if row["verdict"] in NOT_TESTED:
        return ("",) * (1 + len(names))
    span = f"{number(row['low'], signed=True)} to {number(row['high'], signed=True)}"
    return (span, *(number(row[name]) for name in names))


def judgement_figures(judgement: Judgement | None) -> list[Figure]:
    """Return the forest plot of the answer and the power curve."""
    if judgement is None or judgement.rows.empty:
        return []
    rows = headline(judgement.rows if judgement.real.empty else judgement.real)
    figures = [verdict_forest(rows, judgement.summary["margin"])] if len(rows) else []
    return figures + (
        [power_figure(judgement.summary["power"])] if judgement.summary["power"] else []
    )
