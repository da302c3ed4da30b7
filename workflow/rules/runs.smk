# Runs: methods with k clusters on a table, under a protocol. Most take a second or two, no more than
# a job's start, and reading and scaling take half of the time of a network. So those of a table that
# have things in common come together, but for a run that is asked for by its name. By rule: the
# runs, the name of the log, the run whose inputs they share, and what the rule is for.
_DEEP = "|".join(sorted(m.id for m in methods().values() if m.family == "deep"))
_X, _ANY_CV = list(classifiers()), "(as_published(_cv5)?/)?"
_ONE = (["{method}_k{k}"], "{method}_k{k}", ("{method}", "{k}"))
_EVERY_K, _NETWORK_PLACES = layout.networks_of_every_k()
_RUNS = {
    "run": (*_ONE, {"method": rf"(?!({_DEEP})_k\d)[a-z0-9_]+"}),
    # Networks, apart so that a profile can give them a GPU.
    "deep_run": (*_ONE, {"method": _DEEP}),
}
_TOGETHER = {
    "deep_arm": (
        [f"{{method}}_k{k}" for k in _EVERY_K],
        "every_k_{method}",
        ("{method}", _EVERY_K[0]),
        {
            "variant": "(as_published/)?",
            "dataset": _NETWORK_PLACES,
            "method": _DEEP,
        },
    ),
    "base_arm": (
        [f"{x}_k{{k}}" for x in (*_X, CENTROID_RULE)],
        "base_arm_k{k}",
        ("lr", "{k}"),
        {"variant": _ANY_CV, "k": "1"},
    ),
    # Every KM+X and CAC+X, where the configuration plans them all.
    "clustered_arms": (
        [f"{arm}_{x}_k{{k}}" for arm in ("km", "cac") for x in _X],
        "clustered_arms_k{k}",
        ("km_lr", "{k}"),
        {"variant": _ANY_CV, "dataset": layout.whole_arms()},
    ),
    "switched_pair": (
        [f"{arm}_{{x}}_k{{k}}" for arm in ("km", "cac")],
        "pair_{x}_k{k}",
        ("km_{x}", "{k}"),
        {"variant": "switches/[A-Z]+[0-9]+/", "x": "|".join(_X)},
    ),
}
if not any(runs_among(sys.argv[1:])):
    _RUNS |= _TOGETHER

    ruleorder: deep_arm > base_arm > clustered_arms > switched_pair > deep_run > run


for kind, (stems, log_stem, first, places) in _RUNS.items():

    rule:
        name:
            kind
        input:
            unpack(lambda wildcards, first=first: inputs_of_one(wildcards, first)),
        output:
            records=[f"results/{{variant}}{{dataset}}/{s}.json" for s in stems],
            scores=[f"results/{{variant}}{{dataset}}/{s}.scores.parquet" for s in stems],
        log:
            f"logs/runs/{{variant}}{{dataset}}/{log_stem}.log",
        benchmark:
            f"logs/benchmarks/runs/{{variant}}{{dataset}}/{log_stem}.tsv"
        wildcard_constraints:
            **places,
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
