"""Hourly values of the first 24 hours of the ARDS cohort, and the cohort flow."""

from deepcac.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.features.ards import ards_ts
    from deepcac.features.matrix import write_features
    from deepcac.storage import write_json

    features, flow = ards_ts(Path(snakemake.input.stays).parent)
    write_features(snakemake.output.features, features)
    write_json(snakemake.output.cohort, {"flow": flow})
