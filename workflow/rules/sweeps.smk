rule alpha_sweep:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
    output:
        "results/sweeps/alpha_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/alpha_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/alpha_{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    script:
        "../scripts/sweep_alpha.py"


rule weight_sweep:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
        pretrained="data/pretrained/{dataset}.safetensors",
    output:
        "results/sweeps/weights_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/weights_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/weights_{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    script:
        "../scripts/sweep_weights.py"


rule grid_sweep:
    input:
        rules.synthetic_cac.output.features,
    output:
        "results/sweeps/grid.parquet",
    log:
        "logs/sweeps/grid.log",
    benchmark:
        "logs/benchmarks/sweeps/grid.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/sweep_grid.py"
