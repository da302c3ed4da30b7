rule split:
    input:
        features=lambda wildcards: [
            layout.feature_file(wildcards.variant, wildcards.dataset)
        ],
    output:
        splits=["data/splits/{variant}{dataset}.parquet"],
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
        drawn=lambda wildcards: [drawn(wildcards.variant, wildcards.dataset)],
    script:
        "../scripts/split.py"


# Drawing takes less than a job's start. So those of generated cohorts, which are small, come
# together, but for a run that is asked for by its name before they are there.
generated = {
    layout.split_file(variant, dataset): (variant, dataset)
    for variant in ("as_published/", "")
    for dataset in layout.datasets()
    if dataset.startswith(DEMO)
}
_generated_features = [layout.feature_file(*part) for part in generated.values()]

if generated and (
    not any(runs_among(asked.names))
    or all(map(os.path.exists, [*_generated_features, *generated]))
):

    use rule split as generated_splits with:
        input:
            features=_generated_features,
        output:
            splits=list(generated),
        log:
            "logs/splits/generated.log",
        benchmark:
            "logs/benchmarks/splits/generated.tsv"
        params:
            code=code_digest("deepcac_study.splits"),
            seeds=config["seeds"],
            drawn=[drawn(*part) for part in generated.values()],

    ruleorder: generated_splits > split
