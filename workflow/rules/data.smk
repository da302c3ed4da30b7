rule fetch:
    """Fetch a raw file from a mirror or its official address, and check its digest."""
    output:
        raw="data/raw/{source}/{file}",
    log:
        "logs/fetch/{source}/{file}.log",
    wildcard_constraints:
        # Other folders there are people's own: restricted files may lie in data/raw as well.
        source=open_sources(),
        file="[^/]+",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    params:
        digest=raw_digest,
    script:
        "../scripts/fetch.py"


rule simulate:
    """Generate a small cohort, in the raw format of the source that it imitates."""
    output:
        directory("data/raw/demo_{source}"),
    log:
        "logs/simulate/{source}.log",
    benchmark:
        "logs/benchmarks/simulate/{source}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=memory_of(simulation_step),
    params:
        code=code_of(simulation_step),
        step=simulation_step,
        n=config["demo_records"],
    script:
        "../scripts/transform.py"


rule extract:
    """Make tidy tables of a source's raw files; restricted ones are read where the user keeps them."""
    input:
        raw_files,
    output:
        directory("data/tidy/{source}"),
    log:
        "logs/tidy/{source}.log",
    benchmark:
        "logs/benchmarks/tidy/{source}.tsv"
    priority: FIRST
    conda:
        "../../envs/deepcac.yaml"
    threads: extraction_threads
    resources:
        mem_mb=memory_of(extraction_step),
    params:
        code=code_of(extraction_step),
        step=extraction_step,
    script:
        "../scripts/transform.py"


rule build_features:
    """Make the features of a data set from tidy tables, and count its rows step by step."""
    input:
        tidy_folder,
    output:
        features="data/features/{variant}{dataset}.parquet",
        cohort="data/cohorts/{variant}{dataset}.json",
    log:
        "logs/features/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/features/{variant}{dataset}.tsv"
    wildcard_constraints:
        dataset=made_datasets(),
    priority: FIRST
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=memory_of(feature_step),
    params:
        code=code_of(feature_step),
        step=feature_step,
        unit=entry_value("unit"),
        options=feature_options,
    script:
        "../scripts/features.py"


use rule build_features as build_pair_features with:
    """Make the features of a data set of example clusterings: of rows, and of pairs of rows."""
    output:
        features="data/features/{dataset}.parquet",
        parts=layout.pair_files("{dataset}"),
        cohort="data/cohorts/{dataset}.json",
    log:
        "logs/features/{dataset}.log",
    benchmark:
        "logs/benchmarks/features/{dataset}.tsv"
    wildcard_constraints:
        dataset=pairwise_datasets(),


rule known_features:
    """Leave out of a task's features what may not be known when the prediction is due."""
    input:
        features=sound_feature_file,
    output:
        available="data/features/known_then/{dataset}.parquet",
    log:
        "logs/features/known_then/{dataset}.log",
    benchmark:
        "logs/benchmarks/features/known_then/{dataset}.tsv"
    wildcard_constraints:
        dataset=tasks_known_then(),
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.features.available_columns.write_available",
        code=code_digest("deepcac_study.features.available_columns"),
        known_then=known_then,
    script:
        "../scripts/call.py"


rule synthetic_grid:
    """Generate the synthetic grid of the CAC papers, all of its cells in one job."""
    output:
        paths=expand(
            "data/features/synthetic_cac_i{ics}_o{ocs}_c{clusters}{ratio}.parquet",
            ics=["000", "020", "050", "100", "150", "200"],
            ocs=["100", "150", "200"],
            clusters=[2, 3, 5, 10, 15, 20, 30],
            ratio=["", "_1to10"],
        ),
    log:
        "logs/features/synthetic_grid.log",
    benchmark:
        "logs/benchmarks/features/synthetic_grid.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.simulate.synthetic_cac.write_cells",
        code=code_digest("deepcac_study.simulate.synthetic_cac"),
    script:
        "../scripts/call.py"


rule split:
    """Draw training, validation and test rows, for every seed."""
    input:
        features=feature_file,
    output:
        splits="data/splits/{variant}{dataset}.parquet",
    log:
        "logs/splits/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/splits/{variant}{dataset}.tsv"
    priority: FIRST
    conda:
        "../../envs/deepcac.yaml"
    resources:
        runtime=grows(10),
    params:
        code=code_digest("deepcac_study.splits"),
        seeds=config["seeds"],
        published_share=entry_value("published_share"),
        grouped=entry_value("grouped"),
    script:
        "../scripts/split.py"


rule pretrain:
    """Train the autoencoders that the networks on a table start from, one a split."""
    input:
        features=feature_file,
        splits=split_file,
    output:
        "data/pretrained/{variant}{dataset}.safetensors",
    log:
        "logs/pretrain/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/pretrain/{variant}{dataset}.tsv"
    priority: FIRST
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
    params:
        call="deepcac_study.experiments.networks.deep_methods.pretrain_tasks",
        code=code_digest("deepcac_study.experiments.networks.deep_methods"),
        family="deep",
    script:
        "../scripts/experiment.py"
