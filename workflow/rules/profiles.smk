rule profile:
    input:
        features="data/features/{variant}{dataset}.parquet",
    output:
        profile="results/profiles/{variant}{dataset}.json",
    log:
        "logs/profiles/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/profiles/{variant}{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1500,
    params:
        options=lambda wildcards: layout.profile_options(wildcards.dataset),
    script:
        "../scripts/profile.py"
