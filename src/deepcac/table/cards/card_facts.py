"""What a card knows of a table, of a comparison and its software, and what a page fills of it."""

import json
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from deepcac import __version__
from deepcac.judging.questions import HELP
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.scoring.resampled_scores import ICI, INTERCEPT, RATIO, SLOPE
from deepcac.scoring.small_cells import NOTE, Count, OfSome, Share, Text
from deepcac.table.answer import Answer, arm_name, contender_name, with_interval
from deepcac.table.budgeted_trials import TableRun, Trials
from deepcac.table.cards.model_card import Facts, TableLine, joined, table_lines, write_card
from deepcac.table.cluster_answer import rows_of, tuned_auroc
from deepcac.table.columns.description import ROLES
from deepcac.table.findings.label_leaks import HEAD as LEAKS_HEAD
from deepcac.table.found_subtypes import STABILITY_RESAMPLES, FoundClustering
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.output_files import StrPath
from deepcac.table.pages.column_tables import HEAD, column_lines
from deepcac.table.pages.compare_page import how_judged
from deepcac.table.pages.comparison_tables import Line
from deepcac.table.pages.page_sections import Page, page_lines, quotable, write_page
from deepcac.table.pages.score_tables import NAMES
from deepcac.table.reading.table_encoder import LEFT_OUT

_SOFTWARE = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "lightgbm", "torch")
_USUAL = {
    "handling": [
        "Numbers: as they are, standardised by mean and standard deviation of the training rows. "
        "Categories: one column per level; levels of fewer than 8 rows, and the rarest beyond 20, "
        "are one level."
    ],
    "updating": ["None was done."],
    "evaluation": ["Both are parts of this table; no other place or time was tried."],
    "evaluation_data": ["The test rows are rows of the same table."],
    "unusable_input": [
        "deepcac predict replaces a missing value by the training median and flags it. It refuses "
        "a table without a column, or with rows that are mostly unlike those of the fit."
    ],
}
_SEEN = (
    "Scores are of rows that neither a fit nor a choice of settings has seen; how the rows are "
    "parted is in 12a. No other place or time was tried."
)


def table_facts(
    source: StrPath,
    table: LabelledTable,
    command: str,
) -> dict[str, list[str]]:
    """Return the lines of a card that hold for any model of a table; `command` is as typed."""
    n, d = table.features.X.shape
    sizes = Count(n), Count(table.rarest)
    # Other columns that were left out are among the remarks.
    out = [column for column in table.columns if column.kind == LEFT_OUT and column.note in ROLES]
    return {
        "data": [
            f"{Path(source).name}, read on {date.today().isoformat()}.",
            Text("{} rows, {} columns.", Count(table.total), len(table.columns)),
            NOTE,
        ],
        "preparation": [
            *page_lines(table.remarks, _names(table)),
            *(f"Column {column.name!r} is not used: {column.note}." for column in out),
        ],
        "outcome": [f"Column {table.label!r}: {' or '.join(table.classes)}."],
        "predictors": [
            f"{len(table.encoder.used)} columns, from which {d} features are made. No column was "
            "chosen by its relation to the outcome."
        ],
        "coding": _coding(table),
        "sample_size": [
            Text("{} rows, {} of the rarest class, {} features.", *sizes, d),
        ],
        "missing": _missing(table),
        **_USUAL,
        **bias_facts(table),
        "flow": [
            Text("{} rows in the file, {} rows used.", Count(table.total), Count(n)),
            *class_lines(table),
        ],
        "characteristics": table_lines(HEAD, column_lines(table.rows, table.columns)),
        "limitations": [LEAKS_HEAD, *page_lines(table.leaks, _names(table))]
        if table.leaks
        else ["No column predicts the label or the row almost perfectly."],
        "code": [f"Command: {command}", software()],
    }


def _names(table: LabelledTable) -> frozenset[str]:
    return quotable(table.columns, (*table.classes, table.label))


def _coding(table: LabelledTable) -> list[str]:
    used = [
        f"{column.name!r}: {', '.join(column.levels)}."
        for column in table.encoder.used
        if column.levels
    ]
    return [*used, "All other columns are numbers."]


def _missing(table: LabelledTable) -> list[str]:
    holes = [column for column in table.encoder.used if column.missing]
    return [
        f"{len(holes)} of {len(table.encoder.used)} columns miss values (see 20b).",
        "A missing number is replaced by the median of the training rows, with a column that says "
        "so. A missing category is a level of its own. No row was left out for it.",
    ]


def class_lines(table: LabelledTable) -> list[str]:
    """Return a table of the rows of each class."""
    counts = np.bincount(table.features.label, minlength=len(table.classes)).tolist()
    rows = [(name, Count(count)) for name, count in zip(table.classes, counts, strict=True)]
    return table_lines(("class", "rows"), rows)


def software() -> str:
    """Return the versions of what a result depends on."""
    versions = [f"deepcac {__version__}", f"Python {platform.python_version()}"]
    for name in _SOFTWARE:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Software: {', '.join(versions)}."


def bias_facts(table: LabelledTable) -> dict[str, list[str]]:
    """Return the lines of a card about bias that hold for any model of a table."""
    time = table.outcome.time
    return {
        "bias_rows": [
            Text(
                "{} of {} rows of the file are used (see 20a). No row was left out because a "
                "predictor is missing.",
                *(Count(len(table.features.label)), Count(table.total)),
            )
        ],
        "bias_leaks": [
            "Columns predict the label or the row almost perfectly, or may be a follow-up: see 26."
            if table.leaks
            else "No column predicts the label or the row almost perfectly. This finds copies of "
            "the outcome, not values that were written with knowledge of it."
        ],
        "bias_label": [
            f"The label {table.label!r} is no predictor."
            + (f" Nor is the follow-up time {time!r}." if time is not None else "")
        ],
        "bias_time": [
            "The table has no times, so the tool cannot tell."
            if table.follow is None
            else f"The horizon is {table.follow.horizon:g}, in the unit of {time!r}."
        ],
        "bias_selection": ["No column was chosen by its relation to the outcome."],
        "bias_structure": [_rows(table), _censoring(table)],
        "bias_optimism": [_SEEN],
    }


def _rows(table: LabelledTable) -> str:
    if table.group is None:
        return "Every row is taken for another patient."
    return "The rows of a patient stay in one part of every resample."


def _censoring(table: LabelledTable) -> str:
    if table.follow is None:
        return "The outcome of every row is taken as known; nobody is taken as censored."
    lost = int((~table.follow.outcome_known).sum())
    rival = (
        "Competing events are no censoring: the risk is the cumulative incidence."
        if table.follow.other is not None
        else "No competing event was named."
    )
    share = Text("{} of the patients", Share(lost, len(table.follow.time)))
    few = Text("{} patients", Count(lost))
    return Text(
        "Censoring: {} have an unknown outcome at the horizon; fits and scores are weighted by the "
        "inverse chance of being followed. {}",
        *(OfSome(share, lost, instead=few), rival),
    )


# Table or section of a page, and the item of the checklist that it fills.
_ITEMS = {
    "scores": "performance",
    "mean-scores": "performance",
    "benefits": "net_benefit",
    "subgroups": "subgroups",
    "subgroup-differences": "subgroups",
    "places": "heterogeneity",
    "places-scores": "heterogeneity",
    "updates": "updating",
    "sizes": "sample_size",
    "study-size": "sample_size",
    "subtypes-km": "cluster_sizes",
    "subtypes-cac": "cluster_sizes",
}
_PLACES = (
    "Every place is scored by itself (see 23b). From five places on, scores are pooled by random "
    "effects, with an interval of the mean and one of a new place."
)
_CALIBRATION = [NAMES[score] for score in (RATIO, INTERCEPT, SLOPE, ICI)]


def write_page_and_card(
    out: StrPath, card: StrPath, page: Page, facts: Facts, run: TableRun
) -> None:
    """Write a page, and a card of some facts and of what the page shows."""
    shown = write_page(out, page, exact=run.exact)
    write_card(card, joined(facts, page_facts(shown)), exact=run.exact)
    run.say(f"card: {card}")


def page_facts(page: Page) -> dict[str, list[str]]:
    """Return what a page answers and shows, by the item of the checklist."""
    answer = page.answer
    facts: dict[str, list[str]] = {
        "answer": [answer.sentence, *answer.also, *answer.details],
        "limitations": list(answer.warnings),
    }
    for section in page.sections:
        _fill(facts, section)
    if "subgroups" in facts:
        facts["fairness"] = ["The scores of each subgroup and their differences are in 23a."]
    if "heterogeneity" in facts:
        facts["heterogeneity_method"] = [_PLACES]
    return {item: lines for item, lines in facts.items() if lines}


def _fill(facts: dict[str, list[str]], section: Section) -> None:
    """Add the notes of a section that fills an item, and the tables in it, in order."""
    item = _ITEMS.get(section.id)
    for block in section.blocks:
        if isinstance(block, Section):
            _fill(facts, block)
        elif isinstance(block, str) and item is not None:
            facts.setdefault(item, []).append(block)
        elif isinstance(block, Table) and block.id == "scores":
            _split_scores(facts, block)
        elif isinstance(block, Table) and block.id in _ITEMS and block.rows:
            lines = facts.setdefault(_ITEMS[block.id], [])
            # Two tables without a line between them are one table of markdown.
            after_table = bool(lines) and isinstance(lines[-1], TableLine)
            lines += [f"{block.title}:"] * after_table + table_lines(block.head, block.texts)


def _split_scores(facts: dict[str, list[str]], table: Table) -> None:
    for item, wanted in (("performance", False), ("calibration", True)):
        rows = [row for row in table.texts if (row[0] in _CALIBRATION) == wanted]
        facts.setdefault(item, []).extend(table_lines(table.head, rows))


_OF_COMPARISONS = {
    "measures": [
        "AUROC and AUPRC on the test rows; corrected intervals, Holm-adjusted.",
        "With two classes calibration, Brier score, log loss and net benefit.",
    ],
    "calculation": [
        "By the models of each resample, on test rows that no choice has seen. Calibration and net "
        "benefit are those of the trial with the best validation log loss."
    ],
    "imbalance": ["Class weights are among the settings tried (12c)."],
    "output": ["Probabilities; no threshold is set. The comparison keeps no model for use."],
    "specification": ["None: deepcac fit makes a model, with a card of its own."],
}


def compare_facts(
    table: LabelledTable,
    run: TableRun,
    trials: Trials,
    result: Answer,
    clusterings: list[FoundClustering],
) -> dict[str, list[str]]:
    """Return the lines of a card that hold for a comparison; see `compare_page`."""
    method = how_judged(table, run, trials)
    return {
        **_OF_COMPARISONS,
        "title": [f"Do clusters help a tuned risk model of {table.label!r} on {table.name!r}?"],
        "objective": [
            "To judge whether risk models with clusters predict better than the same models "
            "without, on rows held out inside the table."
        ],
        "partition": [
            f"{len(trials.seeds)} resamples, seeds {trials.seeds[0]} to {trials.seeds[-1]}; how "
            "they are drawn is in 12c."
        ],
        "model": [*method, "Settings tried:", *_draws(trials)],
        "development": [
            Text(
                "At most {:,} training rows per resample, of {} rows with {} of the rarest class.",
                *(trials.train_rows, Count(len(table.features.label)), Count(table.rarest)),
            )
        ],
        "performance": [*_scores(trials), *_differences(result)],
        **_clusters(clusterings),
    }


def place_facts(table: LabelledTable, page: Page) -> dict[str, list[str]]:
    """Return the lines of a card that hold for a comparison in other places."""
    how, *rest = map(str, page.sections[-1].blocks)
    return {
        **_OF_COMPARISONS,
        "title": [f"Do clusters help a risk model of {table.label!r} in another place?"],
        "objective": [
            "To judge whether risk models with clusters predict better than models without, on "
            "patients of places that no model has seen."
        ],
        "partition": [how],
        "model": rest,
        "evaluation": ["Models are judged on patients of places that they were not fitted on."],
        "evaluation_data": [how],
        "bias_optimism": ["No model, and no choice of one, has seen the patients it is judged on."],
    }


def _draws(trials: Trials) -> list[str]:
    rows = [
        (contender_name(name), str(t), json.dumps(values, sort_keys=True))
        for name, record in trials.records.items()
        for t, values in enumerate(record.values)
    ]
    return table_lines(("model", "trial", "values"), rows)


def _scores(trials: Trials) -> list[str]:
    rows = [
        (contender_name(name), with_interval(tuned_auroc(trials, name), 3))
        for name in trials.records
    ]
    return table_lines(("model, tuned", "AUROC (95 % interval)"), rows)


def _differences(result: Answer) -> list[str]:
    rows = [
        (
            contender_name(row["contender"]),
            contender_name(row["reference"]),
            *Line.of("", row).cells,
            row["verdict"],
        )
        for row in rows_of(result.table, HELP).to_dict("records")
    ]
    head = ("with clusters", "without", "difference in AUROC", "95 % interval", "verdict")
    return ["Differences:", *table_lines(head, rows)]


def _clusters(clusterings: list[FoundClustering]) -> dict[str, list[str]]:
    return {
        "cluster_variables": ["All used columns."],
        "cluster_outcome": [
            "k-means: no. CAC: yes, it looks at the outcome when it forms clusters."
        ],
        "cluster_scaling": ["Standardised on the training rows; values beyond 5 SD are cut."],
        "cluster_algorithm": [_named(clustering) for clustering in clusterings],
        "cluster_number": [
            "The fewest clusters over which the best does not lead, by mean AUROC on validation "
            "rows: the best leads where a paired t-test at 5 %, corrected for training rows in "
            "common, shows a difference (Nadeau and Bengio 2003)."
        ],
        "cluster_stability": [
            f"{arm_name(clustering.arm)}: adjusted Rand index {clustering.stability:z.2f} between "
            "these clusters and those of the training rows of resamples "
            f"(at most {STABILITY_RESAMPLES})."
            for clustering in clusterings
        ],
        "cluster_assignment": ["The centre that is nearest to the standardised row, cut at 5 SD."],
        "cluster_controls": [
            "Random groups (each row goes to the nearest of some rows picked at random), and a "
            "hash of the row number, each with as many groups."
        ],
        "cluster_limits": [
            "That these groups exist in other patients, or that they have a cause. Rates of the "
            "outcome in them are those of the rows they were made from."
        ],
    }


def _named(clustering: FoundClustering) -> str:
    alpha = f", alpha {clustering.alpha:g}" if clustering.alpha else ""
    arm = arm_name(clustering.arm)
    return f"{arm}: {clustering.k} clusters asked for{alpha}; ten starts of k-means."
