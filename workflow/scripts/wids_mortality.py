"""Encode the WiDS Datathon 2020 table to 241 columns, and write the cohort flow."""

from deepcac.job import job

with job(snakemake):
    from deepcac.cohort import write_cohort
    from deepcac.features.matrix import write_features
    from deepcac.features.wid import wid_mortality

    features, flow = wid_mortality(snakemake.input.tidy)
    write_features(snakemake.output.features, features)
    write_cohort(snakemake.output.cohort, flow, unit="encounter", label=features.label)
