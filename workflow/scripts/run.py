"""Fit and score methods with some numbers of clusters on every split of one data set."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.methods import parse_method
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.experiments.run import RunFiles, list_runs, run

    inputs, names = snakemake.input, snakemake.wildcards
    runs = snakemake.params.get("runs")  # of a table, which one job makes
    records = [Path(name) for name in runs or snakemake.output[:1]]
    asked = [record.stem.rpartition("_k") for record in records]
    run(
        RunFiles(
            features=Path(inputs.features),
            splits=Path(inputs.splits),
            shared=Path(str(inputs.shared)) if inputs.shared else None,
        ),
        {
            record: (parse_method(method), int(k))
            for record, (method, _, k) in zip(records, asked, strict=True)
        },
        dataset=names.dataset,
        protocol=Protocol.from_folder(names.variant),
        synthetic=names.dataset.startswith("demo_"),
        threads=snakemake.threads,
    )
    if runs:
        list_runs(snakemake.output.runs, records, inputs.features)
