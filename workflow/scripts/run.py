"""Fit and score methods with some numbers of clusters on every split of one data set."""

from pathlib import Path

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.methods import parse_method
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.experiments.run import RunFiles, run

    records = [Path(record) for record in snakemake.output.records]
    asked = [record.stem.rpartition("_k") for record in records]
    variant, _, dataset = snakemake.params.folder.rpartition("/")
    shared = snakemake.input.get("shared")
    run(
        RunFiles(
            features=Path(snakemake.input.features),
            splits=Path(snakemake.input.splits),
            shared=Path(str(shared)) if shared else None,
        ),
        {
            record: (parse_method(method), int(k))
            for record, (method, _, k) in zip(records, asked, strict=True)
        },
        dataset=dataset,
        protocol=Protocol.from_folder(variant),
        synthetic=dataset.startswith("demo_"),
        threads=snakemake.threads,
    )
