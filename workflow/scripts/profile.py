"""Profile one feature file: sizes, classes, gaps and ranges, without its rows."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.protocol import Protocol
    from deepcac.report.profiling import build

    build(
        snakemake.input.features,
        snakemake.output.profile,
        dataset=snakemake.wildcards.dataset,
        protocol=Protocol.from_folder(snakemake.wildcards.variant).name,
        **snakemake.params.options,
    )
