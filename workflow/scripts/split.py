"""Draw the splits of data sets."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.splits import make_splits, write_splits

    params = snakemake.params
    files = zip(snakemake.input.features, snakemake.output.splits, params.drawn, strict=True)
    for source, target, (variant, share, grouped) in files:
        features, protocol = read_features(source), Protocol.from_folder(variant)
        unit = features.group if grouped else None
        table = make_splits(features.row_id, features.label, params.seeds, protocol, share, unit)
        write_splits(target, table)
