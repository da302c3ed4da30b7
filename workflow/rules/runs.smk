rule run:
    input:
        features=lambda wildcards: layout.feature_file(
            wildcards.variant, wildcards.dataset
        ),
        splits=lambda wildcards: layout.split_file(wildcards.variant, wildcards.dataset),
        shared=lambda wildcards: layout.shared_file(
            wildcards.variant, wildcards.dataset, wildcards.method, wildcards.k
        ),
    output:
        record="results/{variant}{dataset}/{method}_k{k}.json",
        scores="results/{variant}{dataset}/{method}_k{k}.scores.parquet",
    log:
        "logs/runs/{variant}{dataset}/{method}_k{k}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/{method}_k{k}.tsv"
    wildcard_constraints:
        method="|".join(known_methods()),
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
    script:
        "../scripts/run.py"
