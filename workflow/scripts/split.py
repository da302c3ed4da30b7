"""Draw the splits of a data set."""

import sys

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.splits import make_splits, write_splits

    features, params = read_features(snakemake.input.features), snakemake.params
    table = make_splits(
        features.row_id,
        features.label,
        params.seeds,
        Protocol.from_folder(snakemake.wildcards.variant),
        params.published_share,
        features.group if params.grouped else None,
    )
    write_splits(snakemake.output.splits, table)
