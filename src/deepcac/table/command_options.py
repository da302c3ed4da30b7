"""What the subcommands of ``deepcac`` are given: arguments and options, each named once."""

from pathlib import Path
from typing import Annotated

import typer

Table = Annotated[Path, typer.Argument(help="CSV, parquet or Excel; one row a patient.")]
Label = Annotated[str, typer.Option(help="Column with the outcome: two to ten classes.")]
TableOrMeds = Annotated[
    Path, typer.Argument(help="CSV, parquet or Excel, one row a patient; or a MEDS folder.")
]
LabelOfTable = Annotated[
    str | None,
    typer.Option("--label", help="Column with the outcome; of MEDS labels boolean_value."),
]
MedsLabels = Annotated[
    Path | None,
    typer.Option(
        "--labels", help="Of a MEDS folder: subjects, prediction times, labels (parquet)."
    ),
]
Id = Annotated[str | None, typer.Option("--id", help="Column of row ids; none may stand twice.")]
Group = Annotated[
    str | None, typer.Option(help="Column of the patient, where a patient has several rows.")
]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
Positive = Annotated[str | None, typer.Option(help="The positive one of two classes.")]
Above = Annotated[float | None, typer.Option(help="Positive where a number is above this.")]
Card = Annotated[
    Path | None,
    typer.Option(help="Model card to write (markdown). Default: beside the output, as .card.md."),
]
Decimal = Annotated[
    str | None, typer.Option(help="Sign before decimals, . or , (the other is for thousands).")
]
Time = Annotated[
    str | None, typer.Option(help="Column of the follow-up time; the label is then the event.")
]
Horizon = Annotated[
    float | None, typer.Option(min=0, help="With --time: events up to this time count.")
]
RowLimit = Annotated[int, typer.Option("--rows", min=100, help="Of more rows a sample is used.")]
Budget = Annotated[float, typer.Option(min=0.1, help="Minutes for the comparison.")]
Margin = Annotated[
    float, typer.Option(min=0.0001, max=0.2, help="Differences in AUROC up to this are negligible.")
]
Resamples = Annotated[
    int | None, typer.Option(min=5, help="Exactly so many resamples, whatever the time.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, help="Resamples judged at once; each says the same. Default: the cores, at most 8."
    ),
]
TrainRows = Annotated[
    int, typer.Option(min=100, help="Of more training rows a part is drawn; no budget changes it.")
]
Thresholds = Annotated[
    str | None,
    typer.Option(help="Lowest and highest risk from which a patient is treated: 0.05,0.3."),
]
By = Annotated[str | None, typer.Option(help="Columns of subgroups, joined by commas.")]
Site = Annotated[
    str | None,
    typer.Option(help="Column of the hospital; each is left out once, without --budget."),
]
External = Annotated[
    Path | None,
    typer.Option(help="Table of another hospital; models of this one are judged on it once."),
]
ModelOut = Annotated[
    Path | None,
    typer.Option(help="Model to write. Default: model.json, of subtypes model.deepcac."),
]
Method = Annotated[
    str,
    typer.Option(
        help="auto, plain, k-means or CAC (a logistic regression in each cluster); or subtypes "
        "(SubtypeClassifier: groups by what raises the risk)."
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=30_000, help="Of samples, resamples and models.")]
