"""`deepcac add`: a subcommand of the study, which the library finds as an entry point."""

from pathlib import Path
from typing import Annotated

import typer

from deepcac.table.command_line.command_options import (
    OUTPUT,
    GroupedCommand,
    Table,
    TableOptions,
    option,
    with_options,
)
from deepcac.table.commands import say

app = typer.Typer()


@app.command(
    cls=GroupedCommand,
    epilog="Example:  deepcac add patients.csv --label died --name mine  "
    "&&  snakemake --cores 2 results/mine/cac_lr_k3.json",
)
@with_options
def add(
    *,
    table: Table,
    name: Annotated[str, option(OUTPUT, help="The id of the data set in the workflow.")],
    columns: TableOptions,
    project: Annotated[Path, option(OUTPUT, help="The folder of the workflow.")] = Path("."),
) -> None:
    """Make a table a data set of the workflow, privately: untracked, and never shared."""
    from deepcac_study.private_data_set import add_table, added_before

    before = added_before(name, project)
    source = columns.read(table)
    features, entry, read = add_table(source, name, project)
    read.tell(say)
    if before:
        say(f"replaced: {before}, which was {name!r} until now; runs of it are out of date")
    say(f"features: {features}")
    say(f"registry entry: {entry}")
    if (patient := source.description.use.patient) is not None:
        say(f"rows of one {patient!r} stay in one part of each split")
    typer.echo(f"snakemake --cores 2 results/{name}/cac_lr_k2.json")
