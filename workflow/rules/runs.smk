# Runs: methods with k clusters on a table, under a protocol. Most take a second or two, no more than
# a job's start, and reading and scaling take half of the time of a network. So those of a table that
# have things in common come together, but for a run that is asked for by its name. By rule: the
# runs, the name of the log, and what the rule is for.
_DEEP = "|".join(sorted(m.id for m in methods().values() if m.family == "deep"))
_RUNS = {
    "run": (
        ["{method}_k{k}"],
        "{method}_k{k}",
        {"method": rf"(?!({_DEEP})_k\d)[a-z0-9_]+"},
    ),
    # Networks, apart so that a profile can give them a GPU.
    "deep_run": (["{method}_k{k}"], "{method}_k{k}", {"method": _DEEP}),
}
if not any(runs_among(asked.names)):
    for n, (stems, places) in enumerate(tables_together(report_runs), start=1):
        _RUNS[f"table_runs_{n}"] = (
            stems,
            "table",
            {"variant": places + folder_pattern()},
        )
    for stems, places in networks_together(report_runs):
        ks = "".join(stem.rpartition("_k")[2] for stem in stems)
        _RUNS[f"deep_runs_{ks}"] = (
            stems,
            "every_k_{method}",
            {"variant": places + folder_pattern(), "method": _DEEP},
        )
    workflow.ruleorder(*reversed(_RUNS))


for kind, (stems, log_stem, places) in _RUNS.items():

    rule:
        name:
            kind
        input:
            unpack(lambda wildcards, stem=stems[-1]: inputs_of(wildcards, stem)),
        output:
            records=[f"results/{{variant}}{{dataset}}/{s}.json" for s in stems],
            scores=[f"results/{{variant}}{{dataset}}/{s}.scores.parquet" for s in stems],
        log:
            f"logs/runs/{{variant}}{{dataset}}/{log_stem}.log",
        benchmark:
            f"logs/benchmarks/runs/{{variant}}{{dataset}}/{log_stem}.tsv"
        wildcard_constraints:
            **places,
        # Of a table's classifiers, and of networks on sequences, a job takes minutes.
        priority: LONG if kind.startswith("table") or kind == "deep_run" else 0
        conda:
            "../../envs/deepcac.yaml"
        resources:
            mem_mb=grows(4000),
            runtime=grows(120),
        params:
            code=code_digest("deepcac_study.experiments.run"),
            synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
        script:
            "../scripts/run.py"
