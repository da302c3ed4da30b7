"""Encode the WiDS Datathon 2020 table to 241 columns, and write the cohort flow."""

from deepcac.job import job

with job(snakemake):
    from deepcac.features.matrix import write_features
    from deepcac.features.wid import wid_mortality
    from deepcac.storage import write_json

    features, flow = wid_mortality(snakemake.input.table)
    write_features(snakemake.output.features, features)
    write_json(snakemake.output.cohort, {"flow": flow})
