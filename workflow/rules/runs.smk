# The classical runs of a table share their clusterings, which take most of the time. So the
# configured ones come from one job, which writes all of their records and the list that names them.
rule table_runs:
    """Make the configured classical runs on one table, under one protocol."""
    input:
        unpack(table_inputs),
    output:
        runs="results/{variant}{dataset}/runs.csv",
    log:
        "logs/runs/{variant}{dataset}/table.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/table.tsv"
    priority: LONG
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=table_code,
        runs=planned_runs,
    script:
        "../scripts/run.py"


rule run:
    """Make one classical run: a method with k clusters on a table, under a protocol."""
    input:
        unpack(run_inputs),
    output:
        record="results/{variant}{dataset}/{method}_k{k}.json",
        scores="results/{variant}{dataset}/{method}_k{k}.scores.parquet",
    log:
        "logs/runs/{variant}{dataset}/{method}_k{k}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/{method}_k{k}.tsv"
    wildcard_constraints:
        method=rf"(?!({networks()})_k\d)[a-z0-9_]+",
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=run_code,
    script:
        "../scripts/run.py"


use rule run as deep_run with:
    """Make one run of a network; by its name a profile gives it a GPU."""
    wildcard_constraints:
        method=networks(),
    priority: LONG
    params:
        code=deep_run_code,
