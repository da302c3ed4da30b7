"""Make the features of cic or cic_los from tidy events, and describe the cohort."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.protocol import Protocol
    from deepcac.features import cic

    cic.build(
        snakemake.wildcards.target,
        events_path=snakemake.input.events,
        outcomes_path=snakemake.input.outcomes,
        protocol=Protocol.from_folder(snakemake.wildcards.variant),
        features_path=snakemake.output.features,
        cohort_path=snakemake.output.cohort,
    )
