"""The rules of the workflow, as Snakemake reads them under a configuration."""

from functools import cache
from pathlib import Path
from typing import Any

from checkouts import ROOT
from snakemake.api import ConfigSettings, OutputSettings, ResourceSettings, SnakemakeApi
from snakemake.settings.enums import Quietness

CONFIGURATIONS = ("config", "demo")


@cache
def workflow_rules(configuration: str = "config") -> dict[str, Any]:
    """Return every rule by its name; nothing is planned."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[ROOT / f"config/{configuration}.yaml"]),
            snakefile=Path(ROOT / "Snakefile"),
            workdir=ROOT,
        )
        return {rule.name: rule for rule in workflow._workflow.rules}
