"""The card of a comparison of models with and without clusters."""

import json

import numpy as np

from deepcac.judging.questions import HELP
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.answer import Answer, arm_name, contender_name, signed, with_interval
from deepcac.table.budgeted_trials import TableRun, Trials
from deepcac.table.cards.model_card import table_lines
from deepcac.table.cluster_answer import rows_of, tuned_auroc
from deepcac.table.found_subtypes import STABILITY_RESAMPLES, FoundClustering
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.compare_page import how_judged
from deepcac.table.pages.page_sections import Page

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
            signed(row["mean"], 4),
            "" if np.isnan(row["low"]) else f"{signed(row['low'], 4)} to {signed(row['high'], 4)}",
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
