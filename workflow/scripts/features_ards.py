"""Five aggregates of each variable of the ARDS cohort, and the cohort flow."""

from deepcac.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.features.ards import ards
    from deepcac.features.matrix import write_features
    from deepcac.protocol import Protocol
    from deepcac.storage import write_json

    protocol = Protocol.from_folder(snakemake.wildcards.variant)
    features, flow = ards(Path(snakemake.input.stays).parent, protocol)
    write_features(snakemake.output.features, features)
    write_json(snakemake.output.cohort, {"flow": flow})
