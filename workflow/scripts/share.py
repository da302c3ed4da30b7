"""Point to finished files and push them to the DVC remote."""

from pathlib import Path

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.registry import load_registry, registry_folder
    from deepcac.sharing import share

    registry = load_registry(registry_folder(Path(snakemake.scriptdir).resolve().parents[1]))
    share(Path.cwd(), list(snakemake.input), registry)
