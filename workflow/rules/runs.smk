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
        code=code_digest("experiments.run"),
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
    script:
        "../scripts/run.py"


# Networks, apart so that a profile can give them a GPU.
use rule run as deep_run with:
    wildcard_constraints:
        method="|".join(sorted(m.id for m in methods().values() if m.family == "deep")),


# Without alpha nothing is tuned: most runs take a second or two, no more than a job's start, and
# those of one arm have features, splits and clusters in common.
use rule run as untuned_arm with:
    input:
        unpack(
            lambda wildcards: layout.run_inputs(
                wildcards.variant, wildcards.dataset, f"{wildcards.arm}lr", wildcards.k
            )
        ),
    output:
        records=expand(
            "results/{{variant}}{{dataset}}/{{arm}}{x}_k{{k}}.json", x=classifiers()
        ),
        scores=expand(
            "results/{{variant}}{{dataset}}/{{arm}}{x}_k{{k}}.scores.parquet",
            x=classifiers(),
        ),
    log:
        "logs/runs/{variant}{dataset}/{arm}all_k{k}.log",
    benchmark:
        "logs/benchmarks/runs/{variant}{dataset}/{arm}all_k{k}.tsv"
    wildcard_constraints:
        variant="(as_published(_cv5)?/)?",
        arm="(km_)?",
    resources:
        runtime=grows(60),


# As published alpha is given.
use rule untuned_arm as published_cac with:
    wildcard_constraints:
        variant="as_published(_cv5)?/",
        arm="cac_",


ruleorder: deep_run > run
ruleorder: untuned_arm > run
ruleorder: published_cac > run
