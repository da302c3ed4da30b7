"""Describe the clusters of DeepCAC: members, features that set them apart, risk models."""

from pathlib import Path

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.experiments.case_study import write_case_study
    from deepcac_study.experiments.prepare import Setting
    from deepcac_study.splits import read_splits

    wildcards = snakemake.wildcards
    protocol = Protocol.from_folder(wildcards.variant)
    features = read_features(snakemake.input.features)
    write_case_study(
        Path(snakemake.output.summary),
        features,
        read_splits(snakemake.input.splits, features.row_id),
        Setting(wildcards.dataset, int(wildcards.k), protocol, "deep"),
        pretrained=Path(str(snakemake.input.pretrained)),
        run_scores=Path(snakemake.input.scores),
        synthetic=snakemake.params.synthetic,
    )
