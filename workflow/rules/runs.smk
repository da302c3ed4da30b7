# Runs: methods with k clusters on a table, under a protocol. Most take a second or two, no more than
# a job's start, and reading and scaling take half of the time of a network. So those of a table that
# have things in common come together, but for a run that is asked for by its name. By rule: the
# folder, the runs, the name of the log, and what the rule is for.
_DEEP = "|".join(sorted(m.id for m in methods().values() if m.family == "deep"))
_tables, _networks = [], []
if not any(runs_among(asked.names)):
    _tables, _networks = tables_together(report_runs), networks_together(report_runs)
_single = nowhere_in([*_tables, *_networks]) if _tables or _networks else ""
_RUNS = {
    kind: (
        "{variant}{dataset}",
        ["{method}_k{k}"],
        "{method}_k{k}",
        {"variant": _single + folder_pattern(), "method": constraint},
    )
    for kind, constraint in (
        ("run", rf"(?!({_DEEP})_k\d)[a-z0-9_]+"),
        # Networks, apart so that a profile can give them a GPU.
        ("deep_run", _DEEP),
    )
}
for n, group in enumerate(_tables, start=1):
    if len(group.places) > len(group.ends):
        _RUNS[f"table_runs_{n}"] = (
            "{variant}{dataset}",
            group.ends,
            "table",
            {"variant": group.only_here + folder_pattern()},
        )
        continue
    # Snakemake tries a file with every pattern of a rule that might make it: dozens of runs have names
    # instead of patterns.
    for place in group.places:
        folder = Path(place)
        _RUNS[f"table_runs_{'_'.join(folder.parts)}"] = (
            str(folder),
            group.ends,
            "table",
            {},
        )
for group in _networks:
    _RUNS[f"deep_runs_{joined(group.ends)}"] = (
        "{variant}{dataset}",
        [f"{{method}}_k{k}" for k in group.ends],
        "every_k_{method}",
        {"variant": group.only_here + folder_pattern(), "method": _DEEP},
    )


for kind, (folder, stems, log_stem, constraints) in _RUNS.items():

    rule:
        name:
            kind
        input:
            unpack(
                lambda wildcards, folder=folder, stem=stems[-1]: inputs_of(
                    wildcards, folder, stem
                )
            ),
        output:
            records=[f"results/{folder}/{s}.json" for s in stems],
            scores=[f"results/{folder}/{s}.scores.parquet" for s in stems],
        log:
            f"logs/runs/{folder}/{log_stem}.log",
        benchmark:
            f"logs/benchmarks/runs/{folder}/{log_stem}.tsv"
        wildcard_constraints:
            **constraints,
        # Of a table's classifiers, and of networks on sequences, a job takes minutes.
        priority: LONG if kind.startswith("table") or kind == "deep_run" else 0
        conda:
            "../../envs/deepcac.yaml"
        resources:
            mem_mb=grows(4000),
            runtime=grows(120),
        params:
            code=code_digest(
                "deepcac_study.experiments.run",
                without="" if kind.startswith("deep") else NETWORKS,
            ),
            folder=folder,
            learners=lambda wildcards, folder=folder, stems=stems: learners_of(
                wildcards, folder, stems
            ),
        script:
            "../scripts/run.py"
