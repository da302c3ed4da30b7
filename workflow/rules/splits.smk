rule split:
    input:
        features=lambda wildcards: layout.feature_file(
            wildcards.variant, wildcards.dataset
        ),
    output:
        splits="data/splits/{variant}{dataset}.parquet",
    log:
        "logs/splits/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/splits/{variant}{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        runtime=grows(10),
    params:
        seeds=config["seeds"],
        published_share=lambda wildcards: registry.dataset(
            wildcards.dataset
        ).published_share,
        grouped=lambda wildcards: registry.dataset(wildcards.dataset).grouped,
    script:
        "../scripts/split.py"
