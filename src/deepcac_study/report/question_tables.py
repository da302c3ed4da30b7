"""Tables that answer the questions of ``catalogue/questions.yaml``, each by a group-by."""

import pandas as pd

from deepcac.pages.tables import Table, text_row
from deepcac.pages.wording import three
from deepcac_study.catalogue.study_questions import Question, questions
from deepcac_study.records.sweep_tables import Sweeps, Tables


def question_tables(sweeps: Sweeps) -> list[Table]:
    """Return a table for each question that has been measured."""
    tables = {name: sweeps.of(name) for name in questions()}
    return [_answer(name, questions()[name], tables) for name, tables in tables.items() if tables]


def _answer(name: str, question: Question, tables: Tables) -> Table:
    """Return a table with mean and standard deviation of the scores in each group."""
    labels = ["dataset", "k", *question.by]
    scores = pd.concat([table.assign(dataset=of, k=k) for (of, k), table in tables.items()])
    groups = scores.groupby(labels, sort=False, dropna=False)[question.scores]
    means, spreads = groups.mean().to_numpy(), groups.std().to_numpy()
    rows = [
        text_row(*group, n, *map(_value, means[place], spreads[place]))
        for place, (*group, n) in enumerate(groups.size().reset_index().itertuples(index=False))
    ]
    head = ("data set", *labels[1:], "measured", *question.scores)
    return Table(
        f"question_{name}", question.title, question.note, head, rows, n_labels=len(labels)
    )


def _value(mean: float, spread: float) -> str:
    return three(mean) + (f" ± {three(spread)}" if spread == spread else "")
