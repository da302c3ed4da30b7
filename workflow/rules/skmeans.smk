# Supervised k-means: losses on example clusterings, training times, checks of its theory.
rule skmeans_run:
    input:
        features="data/features/{dataset}.parquet",
        parts=expand(
            "data/features/{{dataset}}_{part}.parquet",
            part=["nodes", "columns", "pairs"],
        ),
    output:
        "results/skmeans/{dataset}/{method}.json",
    log:
        "logs/skmeans/{dataset}/{method}.log",
    benchmark:
        "logs/benchmarks/skmeans/{dataset}/{method}.tsv"
    wildcard_constraints:
        method="none|pair|iterative|spectral",
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.experiments.example_clusterings"),
        budget=lambda wildcards: layout.skmeans_budget(wildcards.dataset),
    script:
        "../scripts/skmeans.py"


rule skmeans_times:
    output:
        "results/skmeans/times.json",
    log:
        "logs/skmeans/times.log",
    benchmark:
        "logs/benchmarks/skmeans/times.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.experiments.learning_times"),
        sets=config["skmeans_training_sets"],
    script:
        "../scripts/skmeans_times.py"


rule skmeans_checks:
    output:
        "results/skmeans/checks.json",
    log:
        "logs/skmeans/checks.log",
    benchmark:
        "logs/benchmarks/skmeans/checks.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac_study.experiments.oracle_checks"),
    script:
        "../scripts/skmeans_checks.py"


rule skmeans:
    input:
        layout.skmeans_files(),
    localrule: True
