# Supervised k-means: losses on example clusterings, training times, checks of its theory.
rule skmeans_run:
    input:
        unpack(lambda wildcards: layout.skmeans_inputs(wildcards.dataset)),
    output:
        "results/skmeans/{dataset}/{method}.json",
    log:
        "logs/skmeans/{dataset}/{method}.log",
    benchmark:
        "logs/benchmarks/skmeans/{dataset}/{method}.tsv"
    wildcard_constraints:
        method="none|pair|iterative|spectral",
    priority: LONG
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.experiments.relatives.example_clusterings"),
        budget=lambda wildcards: layout.skmeans_budget(wildcards.dataset),
    script:
        "../scripts/skmeans.py"


# How long training takes, and what the theory says of it.
_MEASURED = {
    "times": (
        "relatives.learning_times",
        {"n_sets": config["skmeans_training_sets"]},
        240,
    ),
    "checks": ("relatives.oracle_checks", {}, 30),
}
for measured, (module, settings, minutes) in _MEASURED.items():

    rule:
        name:
            f"skmeans_{measured}"
        output:
            path=f"results/skmeans/{measured}.json",
        log:
            f"logs/skmeans/{measured}.log",
        benchmark:
            f"logs/benchmarks/skmeans/{measured}.tsv"
        conda:
            "../../envs/deepcac.yaml"
        resources:
            runtime=grows(minutes),
        params:
            code=code_digest(f"deepcac_study.experiments.{module}"),
            call=f"deepcac_study.experiments.{module}.write_{measured}",
            settings=settings,
            given=lambda wildcards, output: dict(output.items()),
        script:
            "../scripts/call.py"
