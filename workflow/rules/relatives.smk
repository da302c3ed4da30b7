rule skmeans_run:
    """Learn the similarity of k-means on example clusterings, and test it on those left out."""
    input:
        unpack(pairwise_inputs),
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
        budget=skmeans_budget,
    script:
        "../scripts/skmeans.py"


rule skmeans_times:
    """Measure how long supervised k-means trains."""
    output:
        path="results/skmeans/times.json",
    log:
        "logs/skmeans/times.log",
    benchmark:
        "logs/benchmarks/skmeans/times.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        runtime=grows(240),
    params:
        call="deepcac_study.experiments.relatives.learning_times.write_times",
        code=code_digest("deepcac_study.experiments.relatives.learning_times"),
        n_sets=config["skmeans_training_sets"],
    script:
        "../scripts/call.py"


rule skmeans_checks:
    """Check the theory of supervised k-means."""
    output:
        path="results/skmeans/checks.json",
    log:
        "logs/skmeans/checks.log",
    benchmark:
        "logs/benchmarks/skmeans/checks.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.experiments.relatives.oracle_checks.write_checks",
        code=code_digest("deepcac_study.experiments.relatives.oracle_checks"),
    script:
        "../scripts/call.py"


rule decomposition:
    """Decompose the classes of a data set over repeated runs."""
    input:
        whole_rows,
    output:
        out="results/{variant}decomposition/{dataset}.json",
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
        call="deepcac_study.experiments.relatives.decomposition_runs.write_decomposition",
        code=code_digest("deepcac_study.experiments.relatives.decomposition_runs"),
        rows=labelled_table,
        runs=decomposition_runs,
        against_rest=runs_against_rest,
        synthetic=is_synthetic,
    script:
        "../scripts/call.py"


rule bias_variance:
    """Split the error of class decomposition into bias and variance."""
    input:
        whole_rows,
    output:
        out="results/bias_variance/{dataset}.json",
    log:
        "logs/bias_variance/{dataset}.log",
    benchmark:
        "logs/benchmarks/bias_variance/{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
    params:
        call="deepcac_study.experiments.relatives.decomposition_runs.write_bias_variance",
        code=code_digest("deepcac_study.experiments.relatives.decomposition_runs"),
        rows=labelled_table,
        samples=config["bias_variance_samples"],
        synthetic=is_synthetic,
    script:
        "../scripts/call.py"
