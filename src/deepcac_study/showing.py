"""`deepcac show`: a finished run in a few lines and on a page."""

from pathlib import Path
from typing import Annotated

import typer

from deepcac.table.command_line.command_options import OUTPUT, TABLE, GroupedCommand, option

app = typer.Typer()


@app.command(cls=GroupedCommand, epilog="Example:  deepcac show results/cic/deepcac_k3.json")
def show(
    records: Annotated[
        list[Path], typer.Argument(help="Records of runs below results/.", rich_help_panel=TABLE)
    ],
    project: Annotated[Path, option(OUTPUT, help="The folder of the workflow.")] = Path("."),
) -> None:
    """Show the scores of finished runs next to the published ones, and write a page for each."""
    from deepcac_study.catalogue.registry import load_registry, registry_folder
    from deepcac_study.report.runs.run_page import write_run_page

    registry = load_registry(registry_folder(project))
    for record in records:
        page = write_run_page(record, registry, project)
        for line in page.lines:
            typer.echo(line)
        typer.echo(f"page: {page.path}")
