"""Five aggregates of each variable of the ARDS cohort, and the cohort flow."""

from deepcac.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.cohort import write_cohort
    from deepcac.features.ards import ards
    from deepcac.features.matrix import write_features
    from deepcac.protocol import Protocol

    protocol = Protocol.from_folder(snakemake.wildcards.variant)
    features, flow = ards(Path(snakemake.input.stays).parent, protocol)
    write_features(snakemake.output.features, features)
    write_cohort(snakemake.output.cohort, flow, unit="ICU stay", label=features.label)
