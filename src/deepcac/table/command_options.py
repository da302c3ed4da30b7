"""What the subcommands of ``deepcac`` are given: arguments and options, each named once.

Options that several commands share are fields of one class. A command with a parameter of this
class is `with_options`.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepcac.errors import ConfigError
from deepcac.table.command_help import EFFORT, OUTPUT, QUESTION, TABLE
from deepcac.table.limits import MOST_ROWS

if TYPE_CHECKING:
    from deepcac.table.columns.roles import Roles
    from deepcac.table.output_files import StrPath


def option(panel: str, *names: str, help: str, **limits: Any) -> Any:
    """Return an option whose help stands under a heading."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **limits)


def argument(help: str) -> Any:
    """Return an argument, which is a file to read."""
    return typer.Argument(help=help, rich_help_panel=TABLE)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its classes of options as options of its own."""
    parameters = list(signature(command).parameters.values())
    groups: dict[str, Any] = {
        p.name: p.annotation for p in parameters if is_dataclass(p.annotation)
    }
    options = {
        option.name: option.replace(kind=Parameter.KEYWORD_ONLY)
        for p in parameters
        for option in (signature(groups[p.name]).parameters.values() if p.name in groups else [p])
    }

    @wraps(command)
    def with_fields(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        command(**values)

    with_fields.__signature__ = Signature(list(options.values()))  # type: ignore[attr-defined]
    with_fields.__annotations__ = {name: p.annotation for name, p in options.items()}
    return with_fields


Table = Annotated[Path, argument("A CSV, parquet or Excel file with one row per patient.")]
Label = Annotated[
    str | None,
    option(
        TABLE,
        help="The column with the outcome, of two to ten classes. The description can name it.",
    ),
]
Description = Annotated[
    Path | None,
    option(
        TABLE,
        help="How the table is read, as `deepcac profile` wrote it. The default is the file of its "
        "name that ends in .yaml.",
    ),
]
Group = Annotated[
    str | None,
    option(TABLE, help="The column that names the patient, if a patient has several rows."),
]
AcceptElsewhere = Annotated[
    bool,
    option(
        QUESTION, "--accept-unseen",
        help="Go on although most rows of a column are unlike those that the model learnt from. "
        "It goes with --site or --external.",
    ),
]  # fmt: skip
AcceptUnseen = Annotated[
    bool,
    option(
        QUESTION, "--accept-unseen",
        help="Go on even if most rows of a column are unlike those that the model learnt from.",
    ),
]  # fmt: skip
Time = Annotated[
    str | None,
    option(
        QUESTION,
        help="The column of the follow-up time. The label then says whether the event happened.",
    ),
]
Horizon = Annotated[
    float | None,
    option(QUESTION, min=0, help="The time up to which an event counts. It needs --time."),
]
RowLimit = Annotated[
    int, option(EFFORT, "--rows", min=100, help="A table with more rows is sampled.")
]
Budget = Annotated[float, option(EFFORT, min=0.1, help="How many minutes the run may take.")]
BudgetInPlace = Annotated[
    float | None,
    option(
        EFFORT, "--budget", min=0.1,
        help="How many minutes the run may take. The default is 3.",
    ),
]  # fmt: skip
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
        help="How many processes run at once. It does not change the results. "
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
        help="The column of the hospital. Each hospital is left out once. It does not go with "
        "--budget, --resamples or --card.",
    ),
]
External = Annotated[
    list[Path] | None,
    option(
        QUESTION,
        help="A table of another hospital, on which models of the first table are judged. Repeat "
        "the option for several hospitals. It does not go with --budget, --resamples or --card.",
    ),
]
Competing = Annotated[
    list[str] | None,
    option(
        QUESTION,
        help="A value of the label for a competing event, after which yours can no longer "
        "happen. It needs --time. Repeat the option for several.",
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


@dataclass(frozen=True)
class FollowUpOptions:
    """How long patients were followed."""

    time: Time = None
    horizon: Horizon = None
    competing: Competing = None


@dataclass(frozen=True)
class SampleOptions:
    """Which rows of a large table are used."""

    rows: RowLimit = MOST_ROWS
    seed: Seed = 0


@dataclass(frozen=True)
class TableOptions(FollowUpOptions):
    """What the columns of a table are for, where its description does not say."""

    label: Label = None
    group: Group = None
    description: Description = None

    def read(
        self, table: Path, label: str | None = None, horizon: float | None = None
    ) -> "tuple[StrPath, Roles]":
        """Return the table, with its description if it has one, and the roles of its columns.

        `label` and `horizon` are those of a model, where nobody names others.
        """
        from deepcac.table.columns.described_rows import DescribedTable
        from deepcac.table.columns.description import find_description
        from deepcac.table.columns.roles import Roles

        description = None if table.is_dir() else find_description(table, self.description)
        if description is None:
            label = self.label or label
            if label is None:
                raise ConfigError(f"say which column is the outcome of {table}: --label COLUMN")
            return table, Roles(
                label, group=self.group, time=self.time,
                horizon=self.horizon or (horizon if self.time else None),
                competing=self.competing or (),
            )  # fmt: skip
        named = description.resource.use.outcome
        roles = description.roles(self.label or (label if named is None else None))
        return DescribedTable(table, description), replace(
            roles,
            group=self.group or roles.group,
            time=self.time or roles.time,
            horizon=self.horizon or roles.horizon or (horizon if self.time else None),
            competing=self.competing or roles.competing,
        )
