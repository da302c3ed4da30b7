"""Pre-train one autoencoder a split of one data set, for all deep methods and every k."""

from pathlib import Path

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.experiments.deep_methods import pretrain_tasks
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.splits import read_splits

    features = read_features(snakemake.input.features)
    protocol = Protocol.from_folder(snakemake.wildcards.variant)
    setting = Setting(snakemake.wildcards.dataset, 1, protocol, "deep")
    pretrain_tasks(
        (
            make_task(features, split, setting)
            for split in read_splits(snakemake.input.splits, features.row_id)
        ),
        setting,
        Path(snakemake.output.autoencoders),
    )
