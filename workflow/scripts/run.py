"""Fit and score methods with k clusters on every split of one data set."""

from pathlib import Path

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.methods import parse_method
    from deepcac.catalogue.protocol import Protocol
    from deepcac.experiments.run import RunFiles, run

    shared = snakemake.input.get("shared")
    run(
        RunFiles(
            features=Path(snakemake.input.features),
            splits=Path(snakemake.input.splits),
            shared=Path(str(shared)) if shared else None,
        ),
        {
            record: parse_method(record.stem.rpartition("_k")[0])
            for record in map(Path, snakemake.output.records)
        },
        dataset=snakemake.wildcards.dataset,
        k=int(snakemake.wildcards.k),
        protocol=Protocol.from_folder(snakemake.wildcards.variant),
        synthetic=snakemake.params.synthetic,
        threads=snakemake.threads,
    )
