"""Fetch one raw file from a mirror or its official address, and check its digest."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.registry import load_registry, registry_folder
    from deepcac_study.raw.fetch import configured_mirrors, fetch

    registry = load_registry(registry_folder(Path(snakemake.config["project"])))
    fetch(
        registry.file(snakemake.wildcards.source, snakemake.wildcards.file),
        snakemake.output.raw,
        mirrors=configured_mirrors(snakemake.config),
    )
