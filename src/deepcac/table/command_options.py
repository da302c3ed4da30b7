"""What the subcommands of ``deepcac`` are given: arguments and options, each named once."""

from pathlib import Path
from typing import Annotated, Any

import typer

from deepcac.table.command_help import EFFORT, OUTPUT, QUESTION, TABLE


def option(panel: str, *names: str, help: str, **limits: Any) -> Any:
    """Return an option whose help stands under a heading."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **limits)


def argument(help: str) -> Any:
    """Return an argument, which is a file to read."""
    return typer.Argument(help=help, rich_help_panel=TABLE)


Table = Annotated[Path, argument("A CSV, parquet or Excel file with one row per patient.")]
TableOrMeds = Annotated[
    Path, argument("A CSV, parquet or Excel file with one row per patient, or a MEDS folder.")
]
Label = Annotated[
    str, option(TABLE, help="The column with the outcome. It has two to ten classes.")
]
LabelOfTable = Annotated[
    str | None,
    option(
        TABLE, "--label",
        help="The column with the outcome. MEDS labels need it only if they have several.",
    ),
]  # fmt: skip
MedsLabels = Annotated[
    Path | None,
    option(
        TABLE, "--labels",
        help="The labels of a MEDS folder: subjects, prediction times and outcomes (parquet).",
    ),
]  # fmt: skip
Id = Annotated[
    str | None,
    option(TABLE, "--id", help="The column of row ids. No id may stand twice."),
]
Group = Annotated[
    str | None,
    option(TABLE, help="The column that names the patient, if a patient has several rows."),
]
Drop = Annotated[
    list[str] | None,
    option(TABLE, help="A column to leave out. Repeat the option for several columns."),
]
Positive = Annotated[
    str | None, option(TABLE, help="The class that counts as the event, if there are two.")
]
Above = Annotated[
    float | None, option(TABLE, help="A label that is a number counts as an event above this.")
]
Decimal = Annotated[
    str | None,
    option(TABLE, help="The sign before decimals, . or , (the other one marks thousands)."),
]
Sheet = Annotated[str | None, option(TABLE, help="The sheet of a spreadsheet that has several.")]
KeepWord = Annotated[
    list[str] | None,
    option(
        TABLE, "--keep-word",
        help="A word such as None or NA that is a value. Repeat the option for several.",
    ),
]  # fmt: skip
Missing = Annotated[
    list[str] | None,
    option(
        TABLE, "--missing",
        help="A number or text that means no value, such as -9, or crp=-9 for one column. "
        "Repeat the option for several.",
    ),
]  # fmt: skip
Categories = Annotated[
    list[str] | None,
    option(
        TABLE, "--category",
        help="A column whose numbers are names. Repeat the option for several.",
    ),
]  # fmt: skip
Numbers = Annotated[
    list[str] | None,
    option(
        TABLE, "--number",
        help="A column in which 1E2 is a number, not a name. Repeat the option for several.",
    ),
]  # fmt: skip
AcceptUnseen = Annotated[
    bool,
    option(
        QUESTION, "--accept-unseen",
        help="Go on although most rows of a column are unlike those that the model learnt from.",
    ),
]  # fmt: skip
Time = Annotated[
    str | None,
    option(
        QUESTION, help="The column of the follow-up time. The label then says if the event came."
    ),
]
Horizon = Annotated[
    float | None,
    option(QUESTION, min=0, help="The time up to which an event counts. It goes with --time."),
]
RowLimit = Annotated[
    int, option(EFFORT, "--rows", min=100, help="A table with more rows is sampled.")
]
Budget = Annotated[float, option(EFFORT, min=0.1, help="How many minutes the run may take.")]
Margin = Annotated[
    float,
    option(
        QUESTION, min=0.0001, max=0.2, help="Differences in AUROC up to this count as negligible."
    ),
]
Resamples = Annotated[
    int | None,
    option(EFFORT, min=5, help="Make exactly this many resamples, however long they take."),
]
Jobs = Annotated[
    int | None,
    option(
        EFFORT, min=1,
        help="How many parts are worked on at once. It changes no number. "
        "The default is the number of cores, at most 8.",
    ),
]  # fmt: skip
TrainRows = Annotated[
    int,
    option(EFFORT, min=100, help="Models learn from at most this many rows at a time."),
]
Thresholds = Annotated[
    str | None,
    option(
        QUESTION,
        help="The lowest and the highest risk from which you would treat, such as 0.05,0.3.",
    ),
]
By = Annotated[
    str | None,
    option(
        QUESTION,
        help="Columns that make subgroups, joined by commas, such as sex,age. A name with a comma "
        "goes in quotation marks.",
    ),
]
Site = Annotated[
    str | None,
    option(
        QUESTION,
        help="The column of the hospital. Each hospital is left out once; --budget has no effect.",
    ),
]
External = Annotated[
    list[Path] | None,
    option(
        QUESTION,
        help="A table of another hospital, on which models of the first table are judged. Repeat "
        "the option for several hospitals.",
    ),
]
Competing = Annotated[
    list[str] | None,
    option(
        QUESTION,
        help="A value of the label that is another event, after which the event can no longer "
        "come. It goes with --time, and may be repeated.",
    ),
]
Card = Annotated[
    Path | None,
    option(
        OUTPUT, help="The model card to write (markdown). By default it stands beside the output."
    ),
]
ModelOut = Annotated[
    Path | None,
    option(
        OUTPUT, help="The model to write. The default is model.json, for subtypes model.deepcac."
    ),
]
Method = Annotated[
    str,
    option(
        QUESTION,
        help="How the model is made: auto, plain, k-means or CAC (a logistic regression in each "
        "cluster), or subtypes (groups by what raises the risk).",
    ),
]
Seed = Annotated[
    int, option(EFFORT, min=0, max=30_000, help="The seed of samples, resamples and models.")
]
