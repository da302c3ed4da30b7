"""Subcommands of ``deepcac``; each reads arguments, calls one function and says what it wrote."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from deepcac.owntable.labelled_table import Roles
from deepcac.owntable.row_sample import MOST_ROWS

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Does clustering help on your patients? Tables: CSV, parquet, Excel.",
)

Table = Annotated[Path, typer.Argument(help="CSV, parquet or Excel; one row a patient.")]
Label = Annotated[str, typer.Option(help="Column with the outcome: two to ten classes.")]
Id = Annotated[str | None, typer.Option("--id", help="Column of row ids; none may stand twice.")]
Group = Annotated[
    str | None, typer.Option(help="Column of the patient, where a patient has several rows.")
]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
Positive = Annotated[str | None, typer.Option(help="The positive one of two classes.")]
Above = Annotated[float | None, typer.Option(help="Positive where a number is above this.")]
RowLimit = Annotated[int, typer.Option("--rows", min=100, help="Of more rows a sample is used.")]
Seed = Annotated[int, typer.Option(min=0, help="Of samples, resamples and models.")]


@app.callback()
def commands() -> None:
    """Judge, describe and model a table of your own."""


def say(line: str) -> None:
    """Tell the user how far it is, on standard error."""
    typer.echo(line, err=True)


@app.command(
    epilog="Examples:  deepcac compare patients.csv --label died   |   deepcac compare "
    "visits.parquet --label readmitted --group patient --budget 10 --out visits.html"
)
def compare(
    table: Table,
    label: Label,
    id_column: Id = None,
    group: Group = None,
    drop: Drop = None,
    positive: Positive = None,
    above: Above = None,
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("compare.html"),
    budget: Annotated[float, typer.Option(min=0.1, help="Minutes for the comparison.")] = 3.0,
    margin: Annotated[
        float, typer.Option(min=0.0001, max=0.2, help="AUROC differences of no account.")
    ] = 0.01,
    rows: RowLimit = MOST_ROWS,
    seed: Seed = 0,
) -> None:
    """Answer on one page whether clusters help a tuned risk model on this table."""
    from deepcac.owntable.comparing import compare_table

    roles = Roles(label, id_column, group, drop or (), positive, above)
    answer = compare_table(
        table, roles, out, minutes=budget, margin=margin, most=rows, seed=seed,
        say=say, command=_typed(),
    )  # fmt: skip
    typer.echo(answer)
    say(f"page: {out}")


def _typed() -> str:
    return shlex.join(["deepcac", *sys.argv[1:]])
