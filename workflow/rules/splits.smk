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


# Drawing takes less than a job's start. So those of generated cohorts, which are small, come
# together, but for a run that is asked for by its name.
generated = {
    layout.split_file(variant, dataset): (variant, dataset)
    for variant in ("as_published/", "")
    for dataset in layout.datasets()
    if dataset.startswith(DEMO)
}

if generated and not any(runs_among(sys.argv[1:])):

    rule generated_splits:
        input:
            features=[layout.feature_file(*part) for part in generated.values()],
        output:
            splits=list(generated),
        log:
            "logs/splits/generated.log",
        benchmark:
            "logs/benchmarks/splits/generated.tsv"
        conda:
            "../../envs/deepcac.yaml"
        resources:
            runtime=grows(10),
        params:
            seeds=config["seeds"],
            variants=[variant for variant, _ in generated.values()],
            published_shares=[
                registry.dataset(dataset).published_share
                for _, dataset in generated.values()
            ],
            grouped=[
                registry.dataset(dataset).grouped for _, dataset in generated.values()
            ],
        script:
            "../scripts/generated_splits.py"

    ruleorder: generated_splits > split
