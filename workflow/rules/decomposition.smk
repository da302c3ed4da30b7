# Class decomposition: gains over repeated runs, and the error split into bias and variance.
rule decomposition:
    input:
        table=lambda wildcards: layout.rows_of(wildcards.dataset)[0],
    output:
        record="results/{variant}decomposition/{dataset}.json",
    log:
        "logs/decomposition/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/decomposition/{variant}{dataset}.tsv"
    wildcard_constraints:
        variant="(as_published/)?",
    priority: LONG
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.experiments.relatives.decomposition_runs"),
        call="deepcac_study.experiments.relatives.decomposition_runs.write_decomposition",
        classes=classes_of,
        settings=lambda wildcards: {
            **decomposed(wildcards),
            "variant": wildcards.variant,
            "runs": layout.decomposition_runs(wildcards.dataset, wildcards.variant),
            "against_rest": wildcards.dataset in config["decomposition_against_rest"],
        },
        given=decomposition_paths,
    script:
        "../scripts/call.py"


rule bias_variance:
    input:
        table=lambda wildcards: layout.rows_of(wildcards.dataset)[0],
    output:
        record="results/bias_variance/{dataset}.json",
    log:
        "logs/bias_variance/{dataset}.log",
    benchmark:
        "logs/benchmarks/bias_variance/{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
    params:
        code=code_digest("deepcac_study.experiments.relatives.decomposition_runs"),
        call="deepcac_study.experiments.relatives.decomposition_runs.write_bias_variance",
        classes=classes_of,
        settings=lambda wildcards: {
            **decomposed(wildcards),
            "samples": config["bias_variance_samples"],
        },
        given=decomposition_paths,
    script:
        "../scripts/call.py"
