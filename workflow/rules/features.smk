# Tidy tables to features, one rule a data set: which files it reads, the registry says.
for known in registry.sources.values():
    for source in layout.with_demo(known):
        for dataset in filter(lambda entry: entry.features, known.datasets.values()):
            outputs = layout.feature_outputs(source, dataset)
            name = (
                outputs["features"]
                .removeprefix("data/features/")
                .removesuffix(".parquet")
            )

            rule:
                name:
                    f"features_{name.removeprefix('{variant}')}"
                input:
                    layout.feature_inputs(source, dataset.features),
                output:
                    **outputs,
                log:
                    f"logs/features/{name}.log",
                benchmark:
                    f"logs/benchmarks/features/{name}.tsv"
                priority: FIRST
                conda:
                    "../../envs/deepcac.yaml"
                resources:
                    mem_mb=grows(dataset.features.mem_mb),
                params:
                    code=step_code(known, dataset.features),
                    step=dataset.features.model_dump(),
                    unit=dataset.unit,
                    options={
                        name: config[key]
                        for name, key in dataset.features.options.items()
                    },
                script:
                    "../scripts/features.py"


# All in one job: starting Python takes longer than counting.
rule profiles:
    input:
        features=layout.feature_files(),
    output:
        profiles=layout.profile_files(),
    log:
        "logs/profiles.log",
    benchmark:
        "logs/benchmarks/profiles.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(1500),
        runtime=grows(10),
    params:
        code=code_digest("deepcac_study.report.data.profiling"),
        call="deepcac_study.report.data.profiling.build_all",
        settings={"options": {n: layout.profile_options(n) for n in layout.datasets()}},
        given=lambda wildcards, input, output: {
            "features_paths": list(input.features),
            "profile_paths": list(output.profiles),
        },
    script:
        "../scripts/call.py"
