"""Options of the subcommands of ``deepcac``, each named once, and how their help is laid out.

Options that several commands share are fields of one class. A command with a parameter of this
class is `with_options`. An option is never given twice without a word.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from deepcac.errors import ConfigError

TABLE, QUESTION, EFFORT, OUTPUT = PANELS = ("The table", "The question", "The effort", "The output")
_OTHER = "Other"
# Options that the description of a table has replaced, and its lines.
_DESCRIBED = {
    "--decimal": "decimalChar of the field",
    "--sheet": "sheetName of the dialect",
    "--keep-word": "missingValues",
    "--missing": "missingValues",
    "--category": "type: string of the field",
    "--number": "type: number of the field",
    "--drop": "leave_out",
    "--id": "id",
    "--group": "patient",
    "--positive": "event of the outcome",
    "--above": "above of the outcome",
    "--time": "time of the outcome",
    "--horizon": "horizon of the outcome",
    "--competing": "competing of the outcome",
}
# Options that went without one.
_GONE = {
    "--margin": "differences in AUROC of up to 0.01 count as negligible",
    "--rows": "of more than 20,000 rows a sample is used",
    "--train-rows": "models learn from at most 10,000 rows at a time",
    "--card": "the card is written next to the page or the model",
    "--accept-unseen": "leave the column out in the description",
}
RETIRED = {
    name: f"is now {line} in the description of the table, which deepcac profile writes"
    for name, line in _DESCRIBED.items()
} | {name: f"is no option any more: {line}" for name, line in _GONE.items()}


class GroupedCommand(TyperCommand):
    """A command whose help has a heading for each kind of option (`rich_help_panel`).

    An option that takes one value is refused if it is given twice; the last would count silently.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed."""
        wrong_use: Any = typer.BadParameter.__base__
        names = {name for param in self.get_params(ctx) for name in param.opts}
        for word in args:
            name = word.partition("=")[0]
            if name in RETIRED.keys() - names:
                raise wrong_use(f"{name} {RETIRED[name]}", ctx)
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param, times in Counter(order).items():
            if times > 1 and param.param_type_name == "option" and not param.multiple:
                more = ", its columns joined by commas" * (param.name == "by")
                raise wrong_use(f"{param.opts[0]} is given {times} times; give it once{more}", ctx)
        return super().parse_args(ctx, args)

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first paragraph of the help, whole; a list of commands breaks its lines."""
        return " ".join((self.short_help or self.help or "").strip().split("\n\n")[0].split())

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options under their headings, in the order of `PANELS`."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in (*PANELS, _OTHER)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            argument = param.param_type_name == "argument"
            panel = getattr(param, "rich_help_panel", None) or (TABLE if argument else _OTHER)
            sections.setdefault(panel, []).append(record)
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


if TYPE_CHECKING:
    from deepcac.table.columns.described_rows import DescribedTable
    from deepcac.table.columns.description import TableDescription


def option(panel: str, *names: str, help: str, **limits: Any) -> Any:
    """Return an option whose help is under a heading."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **limits)


def argument(help: str) -> Any:
    """Return an argument, which is a file to read."""
    return typer.Argument(help=help, rich_help_panel=TABLE)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the fields of a command's classes of options to its own options."""
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
AcceptUnseen = Annotated[
    bool,
    option(
        QUESTION, "--accept-unseen",
        help="Go on even if most rows of a column are unlike those that the model learnt from.",
    ),
]  # fmt: skip
Budget = Annotated[float, option(EFFORT, min=0.1, help="How many minutes the run may take.")]
BudgetInPlace = Annotated[
    float | None,
    option(
        EFFORT, "--budget", min=0.1,
        help="How many minutes the run may take. The default is 3.",
    ),
]  # fmt: skip
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
        "--budget or --resamples.",
    ),
]
External = Annotated[
    list[Path] | None,
    option(
        QUESTION,
        help="A table of another hospital, on which models of the first table are tested. Repeat "
        "the option for several hospitals. It does not go with --budget or --resamples.",
    ),
]
ModelOut = Annotated[
    Path | None,
    option(
        OUTPUT, help="The model to write. The default is model.json, for subtypes model.deepcac."
    ),
]
Learner = Annotated[
    str,
    option(
        QUESTION,
        help="What the model is: lr (logistic regression), spline (with splines), boosted (trees), "
        "or auto, which takes the simplest that is about as good as the best. With a named "
        "--method, auto is lr.",
    ),
]
Method = Annotated[
    str,
    option(
        QUESTION,
        help="Whether the model has clusters: auto, plain (none), k-means or CAC (a model in each "
        "cluster), or subtypes (groups by what raises the risk).",
    ),
]
Exact = Annotated[
    bool,
    option(
        OUTPUT, "--exact",
        help="Write page and card for your own eyes, with true counts. They must not leave your "
        "hands.",
    ),
]  # fmt: skip
Seed = Annotated[
    int, option(EFFORT, min=0, max=30_000, help="The seed of samples, resamples and models.")
]


@dataclass(frozen=True)
class RunOptions:
    """How a command works on a table, and for whose eyes."""

    jobs: Jobs = None
    seed: Seed = 0
    exact: Exact = False


@dataclass(frozen=True)
class TableOptions:
    """How a table is read, and its outcome, where its description does not say."""

    label: Label = None
    description: Description = None

    def read(
        self,
        table: Path,
        *,
        site: str | None = None,
        like: "TableDescription | None" = None,
        fitted: bool = True,
    ) -> "DescribedTable":
        """Return the table with its description, found out if it has none, and an outcome.

        Parameters
        ----------
        table : Path
        site : str, optional
            Column of the hospital, in place of that of the description.
        like : TableDescription, optional
            Of the table that a model was fitted on: its outcome is that of a table for which
            nobody names another.
        fitted : bool
            Whether a model is fitted, so that its predictors are looked at.
        """
        from deepcac.table.columns.cell_texts import uniform
        from deepcac.table.columns.described_rows import DescribedTable, find_description
        from deepcac.table.columns.description import Outcome, Use
        from deepcac.table.inference.labelled_table import described_table

        usual = None if like is None else like.use.outcome
        description = None if table.is_dir() else find_description(table, self.description)
        if description is not None:
            description = description.with_roles(self.label, site)
            outcome = description.use.outcome
            if outcome is None:
                description = description.with_use(outcome=usual)
            elif usual is not None and outcome.time is None and outcome.field == usual.field:
                description = description.with_use(outcome=outcome.followed_as(usual))
            if description.use.outcome is None:
                file = description.file
                raise ConfigError(f"{file}: names no outcome; add it, or say --label COLUMN")
            description.refuse_open()
            return DescribedTable(table, description)
        if self.label is not None and (usual is None or self.label != usual.field):
            usual = Outcome(field=self.label)
        if usual is None:
            raise ConfigError(f"say which column is the outcome of {table}: --label COLUMN")
        use = Use(outcome=usual).changed(site=site and uniform(site))
        return described_table(table, use, like=like, fitted=fitted)
