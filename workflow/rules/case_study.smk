rule case_study:
    input:
        features=lambda wildcards: layout.feature_file(
            wildcards.variant, wildcards.dataset
        ),
        splits=lambda wildcards: layout.split_file(wildcards.variant, wildcards.dataset),
        pretrained=lambda wildcards: layout.shared_file(
            wildcards.variant, wildcards.dataset, "deepcac", wildcards.k
        ),
        scores="results/{variant}{dataset}/deepcac_k{k}.scores.parquet",
    output:
        summary="results/case_study/{variant}{dataset}_k{k}.json",
        features="results/case_study/{variant}{dataset}_k{k}.features.parquet",
    log:
        "logs/case_study/{variant}{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/case_study/{variant}{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
    script:
        "../scripts/case_study.py"
