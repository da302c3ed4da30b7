"""Hourly values of the first 24 hours of the ARDS cohort, and the cohort flow."""

from deepcac.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.cohort import write_cohort
    from deepcac.features.ards import ards_ts, cohort, positives
    from deepcac.features.matrix import write_features

    tidy = Path(snakemake.input.stays).parent
    features, flow = ards_ts(tidy)
    write_features(snakemake.output.features, features)
    write_cohort(
        snakemake.output.cohort,
        flow,
        unit="ICU stay",
        label=features.label,
        positives=positives(cohort(tidy)[0]),
    )
