"""Point to finished files and push them to the DVC remote."""

from pathlib import Path

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.registry import load_registry
    from deepcac.sharing import share

    registry = load_registry(Path(snakemake.scriptdir).resolve().parents[1] / "config" / "registry")
    share(Path.cwd(), list(snakemake.input), registry)
