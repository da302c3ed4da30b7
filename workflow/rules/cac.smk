rule clusterings:
    input:
        features=lambda wildcards: layout.feature_file(
            wildcards.variant, wildcards.dataset
        ),
        splits=lambda wildcards: layout.split_file(wildcards.variant, wildcards.dataset),
    output:
        clusterings="data/clusterings/{variant}{dataset}_k{k}.parquet",
    log:
        "logs/clusterings/{variant}{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/clusterings/{variant}{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/clusterings.py"
