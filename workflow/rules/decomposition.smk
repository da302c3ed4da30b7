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
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=4000,
    params:
        code=code_digest("experiments.decomposition_runs"),
        label=lambda wildcards: layout.rows_of(wildcards.dataset)[1],
        runs=config["decomposition_runs"],
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
    script:
        "../scripts/decomposition.py"


# The whole paper on class decomposition: twenty data sets, sound and as published.
rule class_decomposition:
    input:
        layout.decomposition_files(),


localrules:
    class_decomposition,
