"""Five aggregates of each variable of the ARDS cohort, and the cohort flow."""

from deepcac.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.catalogue.protocol import Protocol
    from deepcac.cohort import write_cohort
    from deepcac.features.ards import ards, cohort, positives
    from deepcac.features.matrix import write_features

    protocol = Protocol.from_folder(snakemake.wildcards.variant)
    tidy = Path(snakemake.input.stays).parent
    features, flow = ards(tidy, protocol)
    write_features(snakemake.output.features, features)
    write_cohort(
        snakemake.output.cohort,
        flow,
        unit="ICU stay",
        label=features.label,
        positives=positives(cohort(tidy)[0]),
    )
