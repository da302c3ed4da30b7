rule theory:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
    output:
        "results/theory/{dataset}_k{k}.json",
    log:
        "logs/theory/{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/theory/{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
    script:
        "../scripts/theory.py"
