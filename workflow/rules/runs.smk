rule run:
    input:
        unpack(lambda wildcards: layout.run_inputs(**wildcards)),
    output:
        records=["results/{variant}{dataset}/{method}_k{k}.json"],
        scores=["results/{variant}{dataset}/{method}_k{k}.scores.parquet"],
    log:
        "logs/runs/{variant}{dataset}/{method}_k{k}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/{method}_k{k}.tsv"
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


# Networks, apart so that a profile can give them a GPU.
use rule run as deep_run with:
    wildcard_constraints:
        method="|".join(sorted(m.id for m in methods().values() if m.family == "deep")),


# All k of a network on a table share a job: starting it, reading and scaling take half of the time of one k.
ALL_K, NETWORK_PLACES = layout.networks_of_every_k()


use rule deep_run as deep_arm with:
    input:
        unpack(lambda wildcards: layout.run_inputs(**wildcards, k=ALL_K[0])),
    output:
        records=expand("results/{{variant}}{{dataset}}/{{method}}_k{k}.json", k=ALL_K),
        scores=expand(
            "results/{{variant}}{{dataset}}/{{method}}_k{k}.scores.parquet", k=ALL_K
        ),
    log:
        "logs/runs/{variant}{dataset}/every_k_{method}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/every_k_{method}.tsv"
    wildcard_constraints:
        variant="(as_published/)?",
        dataset=NETWORK_PLACES,
        method="|".join(sorted(m.id for m in methods().values() if m.family == "deep")),


# Most runs take a second or two, no more than a job's start. So those that share features, splits
# and clusters come together: every X alone,
use rule run as base_arm with:
    input:
        unpack(lambda wildcards: layout.run_inputs(**wildcards, method="lr")),
    output:
        records=expand(
            "results/{{variant}}{{dataset}}/{x}_k{{k}}.json",
            x=[*classifiers(), CENTROID_RULE],
        ),
        scores=expand(
            "results/{{variant}}{{dataset}}/{x}_k{{k}}.scores.parquet",
            x=[*classifiers(), CENTROID_RULE],
        ),
    log:
        "logs/runs/{variant}{dataset}/base_arm_k{k}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/base_arm_k{k}.tsv"
    wildcard_constraints:
        variant="(as_published(_cv5)?/)?",
        k="1",


# every KM+X and CAC+X, where the configuration plans them all,
use rule run as clustered_arms with:
    input:
        unpack(lambda wildcards: layout.run_inputs(**wildcards, method="km_lr")),
    output:
        records=expand(
            "results/{{variant}}{{dataset}}/{arm}_{x}_k{{k}}.json",
            arm=["km", "cac"],
            x=classifiers(),
        ),
        scores=expand(
            "results/{{variant}}{{dataset}}/{arm}_{x}_k{{k}}.scores.parquet",
            arm=["km", "cac"],
            x=classifiers(),
        ),
    log:
        "logs/runs/{variant}{dataset}/clustered_arms_k{k}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/clustered_arms_k{k}.tsv"
    wildcard_constraints:
        variant="(as_published(_cv5)?/)?",
        dataset=layout.whole_arms(),


# and KM+X with CAC+X of one switch.
use rule run as switched_pair with:
    input:
        unpack(
            lambda wildcards: layout.run_inputs(
                wildcards.variant, wildcards.dataset, f"km_{wildcards.x}", wildcards.k
            )
        ),
    output:
        records=expand(
            "results/{{variant}}{{dataset}}/{arm}_{{x}}_k{{k}}.json", arm=["km", "cac"]
        ),
        scores=expand(
            "results/{{variant}}{{dataset}}/{arm}_{{x}}_k{{k}}.scores.parquet",
            arm=["km", "cac"],
        ),
    log:
        "logs/runs/{variant}{dataset}/pair_{x}_k{k}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/pair_{x}_k{k}.tsv"
    wildcard_constraints:
        variant="switches/[A-Z]+[0-9]+/",
        x="|".join(classifiers()),


ruleorder: deep_run > run


# A run that is asked for by its name is made alone.
if any(runs_among(sys.argv[1:])):

    ruleorder: deep_run > deep_arm
    ruleorder: run > base_arm
    ruleorder: run > clustered_arms
    ruleorder: run > switched_pair

else:

    ruleorder: deep_arm > deep_run
    ruleorder: deep_arm > run
    ruleorder: base_arm > run
    ruleorder: clustered_arms > run
    ruleorder: switched_pair > run
