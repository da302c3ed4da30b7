"""`deepcac add`: this study's own command, which the library's command finds as declared."""

from pathlib import Path
from typing import Annotated

import typer

from deepcac.table.command_help import OUTPUT, GroupedCommand
from deepcac.table.command_options import (
    Above,
    Categories,
    Decimal,
    Drop,
    Group,
    Id,
    KeepWord,
    Label,
    Missing,
    Numbers,
    Positive,
    Sheet,
    Table,
    option,
)
from deepcac.table.commands import cell_rules, say

app = typer.Typer()


@app.command(
    cls=GroupedCommand,
    epilog="Example:  deepcac add patients.csv --label died --name mine  "
    "&&  snakemake --cores 2 results/mine/cac_lr_k3.json",
)
def add(
    table: Table,
    label: Label,
    name: Annotated[str, option(OUTPUT, help="The id of the data set in the workflow.")],
    id_column: Id = None,
    group: Group = None,
    drop: Drop = None,
    positive: Positive = None,
    above: Above = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    keep_word: KeepWord = None,
    missing: Missing = None,
    category: Categories = None,
    number: Numbers = None,
    project: Annotated[Path, option(OUTPUT, help="The folder of the workflow.")] = Path("."),
) -> None:
    """Make a table a data set of the workflow, privately: untracked, and never shared."""
    from deepcac.table.reading.roles import Roles
    from deepcac_study.private_data_set import add_table, added_before

    cells = cell_rules(keep_word, missing, category, number, sheet)
    roles = Roles(label, id_column, group, drop or (), positive, above, decimal, cells=cells)
    before = added_before(name, project)
    features, entry, read = add_table(table, roles, name, project)
    read.tell(say)
    if before:
        say(f"replaced: {before}, which was {name!r} until now; runs of it are out of date")
    say(f"features: {features}")
    say(f"registry entry: {entry}")
    if group is not None:
        say(f"rows of one {group!r} stay in one part of each split")
    typer.echo(f"snakemake --cores 2 results/{name}/cac_lr_k2.json")
