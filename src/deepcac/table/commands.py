"""Subcommands of ``deepcac``; each reads arguments, calls one function and says what it wrote."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepcac import __version__
from deepcac.table.command_line.command_options import (
    EFFORT,
    OUTPUT,
    QUESTION,
    TABLE,
    AcceptUnseen,
    Budget,
    BudgetInPlace,
    By,
    Description,
    Exact,
    External,
    GroupedCommand,
    Learner,
    Method,
    ModelOut,
    Resamples,
    RunOptions,
    Seed,
    Site,
    Table,
    TableOptions,
    Thresholds,
    argument,
    option,
    with_options,
)

if TYPE_CHECKING:
    from deepcac.table.budgeted_trials import TableRun

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Does clustering help on your patients? Tables: CSV, parquet, Excel.",
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"deepcac {__version__}")
        raise typer.Exit


@app.callback()
def commands(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Compare, describe and model your own table."""


_CLEAR = "\r\x1b[2K"


def say(line: str) -> None:
    """Print a message to standard error."""
    typer.echo(f"{_CLEAR * sys.stderr.isatty()}{line}", err=True)


def progress(line: str) -> None:
    """Print a progress line that replaces the previous one, on a terminal only."""
    if sys.stderr.isatty():
        typer.echo(f"{_CLEAR}{line}", err=True, nl=False)


def _run(options: RunOptions, **more: Any) -> "TableRun":
    """Return how a command works, which tells the user how far it is."""
    from deepcac.table.budgeted_trials import TableRun

    typed = shlex.join(["deepcac", *sys.argv[1:]])
    asked = {"say": say, "strict": True, **vars(options), **more}
    return TableRun(command=typed, progress=progress, **asked)


def _show(answer: str, page: Path) -> None:
    """Print an answer, and say where its page is."""
    typer.echo(answer)
    say(f"page: {page}")


@app.command(
    cls=GroupedCommand,
    epilog="Examples:  deepcac compare patients.csv --label died   |   deepcac compare "
    "visits.parquet --label readmitted --budget 10 --out visits.html",
)
@with_options
def compare(
    *,
    table: Table,
    columns: TableOptions,
    out: Annotated[Path, option(OUTPUT, help="The page to write.")] = Path("compare.html"),
    budget: BudgetInPlace = None,
    resamples: Resamples = None,
    options: RunOptions,
    thresholds: Thresholds = None,
    by: By = None,
    site: Site = None,
    external: External = None,
) -> None:
    """Answer on one page whether clusters help a tuned risk model on this table."""
    from deepcac.table.command_line.option_pairs import given, refuse_pairs
    from deepcac.table.pages.risk_section import risk_questions

    refuse_pairs(given(site=site, external=external, budget=budget, resamples=resamples))
    source = columns.read(table, site=site)
    minutes = {} if budget is None else {"budget": budget}
    run = _run(options, resamples=resamples, **minutes)
    asked = risk_questions(thresholds, by)
    if site is None and not external:
        from deepcac.table.comparing import compare_table

        answer = compare_table(source, out, run, asked=asked)
    else:
        from deepcac.table.elsewhere.comparing_places import compare_places

        answer = compare_places(source, out, run, external=external or (), asked=asked)
    _show(answer, out)


@app.command(
    cls=GroupedCommand,
    epilog="Example:  deepcac audit patients.csv --label died --groups phenotype",
)
@with_options
def audit(
    *,
    table: Table,
    groups: Annotated[str, option(QUESTION, help="The column with the groups.")],
    columns: TableOptions,
    out: Annotated[Path, option(OUTPUT, help="The page to write.")] = Path("audit.html"),
    budget: Budget = 3.0,
    resamples: Resamples = None,
    options: RunOptions,
) -> None:
    """Answer on one page whether groups of patients, made by any program, are useful."""
    from deepcac.table.audit.auditing import audit_table

    run = _run(options, budget=budget, resamples=resamples)
    answer = audit_table(columns.read(table), groups, out, run)
    _show(answer, out)


@app.command(cls=GroupedCommand, epilog="Example:  deepcac power patients.csv --label died")
@with_options
def power(
    *,
    table: Table,
    columns: TableOptions,
    out: Annotated[Path, option(OUTPUT, help="The page to write.")] = Path("power.html"),
    budget: Budget = 2.0,
    r2: Annotated[
        float | None,
        option(
            QUESTION,
            "--r2",
            help="The Cox-Snell R2 that you expect of the model. "
            "The default is 15 % of the largest possible one.",
        ),
    ] = None,
    options: RunOptions,
) -> None:
    """Estimate on one page how large a gain by clusters must be for this table to show it."""
    from deepcac.table.detection_power import power_table

    answer = power_table(columns.read(table), out, _run(options, budget=budget), r2=r2)
    _show(answer, out)


@app.command(cls=GroupedCommand, epilog="Example:  deepcac profile patients.csv --label died")
@with_options
def profile(
    *,
    table: Table,
    label: Annotated[
        str | None, option(TABLE, help="The column with the outcome, whose rates are shown.")
    ] = None,
    sheet: Annotated[
        str | None, option(TABLE, help="The sheet of a spreadsheet that has several.")
    ] = None,
    description: Annotated[
        Path | None,
        option(
            OUTPUT,
            help="The description to write: how each column is read, with questions that you "
            "answer. The default is the file of the table's name that ends in .yaml.",
        ),
    ] = None,
    out: Annotated[Path, option(OUTPUT, help="The page to write.")] = Path("profile.html"),
    seed: Seed = 0,
    exact: Exact = False,
) -> None:
    """Describe a table: a page on its columns, and a file that says how they are read."""
    from deepcac.table.columns.described_rows import description_path
    from deepcac.table.pages.profile_page import write_profile_page

    path = description or description_path(table)
    existing = path.read_bytes() if path.is_file() else b""
    encoder, faults = write_profile_page(
        table, out, _run(RunOptions(seed=seed, exact=exact), say=typer.echo),
        label=label, sheet=sheet, description=path,
    )  # fmt: skip
    typer.echo(f"{len(encoder.columns)} columns, {len(encoder.used)} used")
    for fault in faults:
        typer.echo(f"look at: {fault}")
    say(f"page: {out}")
    note = " (kept)" if path.read_bytes() == existing else " (kept; new questions are added to it)"
    say(f"description: {path}{note if existing else ''}")


@app.command(
    cls=GroupedCommand,
    epilog="Example:  deepcac fit patients.csv --label died --out model.json  "
    "&&  deepcac predict model.json new.csv --out risk.csv",
)
@with_options
def fit(
    *,
    table: Table,
    out: ModelOut = None,
    columns: TableOptions,
    learner: Learner = "auto",
    method: Method = "auto",
    clusters: Annotated[
        int | None,
        option(
            QUESTION,
            min=2,
            max=50,
            help="How many clusters k-means, CAC or subtypes make. The default is 2.",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        option(
            QUESTION, min=0, help="How strongly CAC separates the classes. The default is 0.03."
        ),
    ] = None,
    bootstrap: Annotated[
        int,
        option(
            EFFORT,
            min=0,
            max=2000,
            help="How often the whole choice is made again on patients drawn with replacement, "
            "for optimism and instability; 200 is usual.",
        ),
    ] = 0,
    options: RunOptions,
) -> None:
    """Fit a risk model on a table and save it with all it needs to read another table."""
    from deepcac.table.risk_model_choice import method_lines
    from deepcac.table.risk_tables import fit_table

    source = columns.read(table)
    path = out or Path("model.deepcac" if method == "subtypes" else "model.json")
    model = fit_table(
        source, path, _run(options, bootstrap=bootstrap),
        method=method, learner=learner, clusters=clusters, alpha=alpha,
    )  # fmt: skip
    typer.echo(model.name)
    for line in method_lines(model.method):
        typer.echo(line)
    say(f"model: {path}")


@app.command(
    cls=GroupedCommand, epilog="Example:  deepcac predict model.json new.csv --out risk.csv"
)
@with_options
def predict(
    *,
    model: Annotated[Path, argument("A model that `deepcac fit` or deepcac.save wrote.")],
    table: Annotated[Path, argument("A table with the columns of the model.")],
    out: Annotated[Path, option(OUTPUT, help="The file of risks to write (CSV).")] = Path(
        "risk.csv"
    ),
    description: Description = None,
    accept_unseen: AcceptUnseen = False,
) -> None:
    """Write the risk, and the subtype, of every row of a table."""
    from deepcac.table.risk_tables import predict_table

    n = predict_table(model, table, out, say=say, description=description, accept=accept_unseen)
    typer.echo(f"{n:,} row{'s' * (n != 1)}")
    say(f"risks: {out}")


@app.command(
    cls=GroupedCommand,
    epilog="Examples:  deepcac validate model.json other.csv   |   deepcac validate --risk score "
    "patients.csv --label died",
)
@with_options
def validate(
    *,
    model: Annotated[
        Path,
        argument("A model that `deepcac fit` or deepcac.save wrote; with --risk only the table."),
    ],
    table: Annotated[Path | None, argument("A table with outcomes.")] = None,
    risk: Annotated[
        str | None,
        option(QUESTION, help="The column with the risks to validate, in place of a model."),
    ] = None,
    columns: TableOptions,
    out: Annotated[Path, option(OUTPUT, help="The page to write.")] = Path("validate.html"),
    thresholds: Thresholds = None,
    by: By = None,
    accept_unseen: AcceptUnseen = False,
    exact: Exact = False,
) -> None:
    """Measure how good a saved model, or a column of risks, is on a table with outcomes.

    Without --label the outcome is the column of the description, or else that of the model.
    """
    from deepcac.table.pages.risk_section import risk_questions
    from deepcac.table.validation.validated_risks import RiskSource
    from deepcac.table.validation.validating import validate_table

    *models, path = filter(None, (model, table))
    source = RiskSource.named(models, risk)
    described = columns.read(path, like=source.reader.encoder.description, fitted=False)
    answer = validate_table(
        described, source, out, _run(RunOptions(exact=exact)),
        asked=risk_questions(thresholds, by), accept=accept_unseen,
    )  # fmt: skip
    _show(answer, out)
