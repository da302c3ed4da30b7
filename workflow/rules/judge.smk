# The fair judge: trials of each contender, planted cohorts, verdicts.
from deepcac_study.judge.study_files import APART, StudyFiles, answers_path

study = StudyFiles(config["judge"], layout.reachable)
judged = [
    *study.verdicts,
    *study.divisions,
    *study.ablations,
    *to_make(study.tables),
    *to_make(study.shapes),
    *collect("results/factorial/{name}.parquet", name=config["factorial"]),
]
_SUBTYPES = ["subtypes", "subtypes_gbm"]
_DATASET = rf"(?!({'|'.join(APART)})/)\w+"


def given_table(wildcards, input, output):
    """Return what the jobs of a whole table are given."""
    return {
        "features": input.features,
        "record": output[0],
        "dataset": wildcards.dataset,
        "synthetic": wildcards.dataset.startswith("demo_"),
        "grouped": registry.dataset(wildcards.dataset).grouped,
    }


rule judge_trials:
    input:
        features="data/features/{dataset}.parquet",
    output:
        records=["results/judge/{dataset}/{contender}.json"],
        answers=["results/judge/{dataset}/{contender}.parquet"],
    log:
        "logs/judge/{dataset}/{contender}.log",
    benchmark:
        "logs/benchmarks/judge/{dataset}/{contender}.tsv"
    wildcard_constraints:
        dataset=_DATASET,
        contender=rf"(?!({'|'.join(_SUBTYPES)})\.)[a-z0-9_]+",
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.judge.trial_files"),
        effort=study.effort,
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
        grouped=lambda wildcards: registry.dataset(wildcards.dataset).grouped,
    script:
        "../scripts/judge_trials.py"


# With and without boosted trees: the same networks, fitted once.
use rule judge_trials as judge_subtypes with:
    output:
        records=collect("results/judge/{{dataset}}/{name}.json", name=_SUBTYPES),
        answers=collect("results/judge/{{dataset}}/{name}.parquet", name=_SUBTYPES),
    log:
        "logs/judge/{dataset}/subtypes.log",
    benchmark:
        "logs/benchmarks/judge/{dataset}/subtypes.tsv"
    wildcard_constraints:
        dataset=_DATASET,


rule judge_planted:
    output:
        "results/judge/planted/{part}_{strength}.json",
    log:
        "logs/judge/planted/{part}_{strength}.log",
    benchmark:
        "logs/benchmarks/judge/planted/{part}_{strength}.tsv"
    wildcard_constraints:
        part="[a-z0-9_]+",
        strength=r"[0-9.]+",
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac_study.judge.power"),
        call="deepcac_study.judge.power.run_planted",
        effort=study.effort,
        given=lambda wildcards, output: {
            "path": output[0],
            "strength": float(wildcards.strength),
            **study.cohorts(wildcards.part),
            "margin": config["judge"]["margin"],
        },
    script:
        "../scripts/call.py"


# A division that others published results on: learn from some groups, test on another.
rule judge_public:
    input:
        features=lambda wildcards: f"data/features/{study.division(wildcards.division)['dataset']}.parquet",
    output:
        record="results/judge/public/{division}/{contender}.json",
        answers="results/judge/public/{division}/{contender}.parquet",
    log:
        "logs/judge/public/{division}/{contender}.log",
    benchmark:
        "logs/benchmarks/judge/public/{division}/{contender}.tsv"
    wildcard_constraints:
        contender="[a-z0-9_]+",
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.judge.public_protocols"),
        division=lambda wildcards: study.division(wildcards.division),
        draws=config["judge"]["public"]["draws"],
        effort=study.effort,
    script:
        "../scripts/judge_public.py"


# All contenders of a division on its one test part, and ours less each.
rule judge_division:
    input:
        records=lambda wildcards: study.records(wildcards.division),
        answers=lambda wildcards: [
            answers_path(record) for record in study.records(wildcards.division)
        ],
    output:
        "results/judge/public/{division}.json",
    log:
        "logs/judge/public/{division}.log",
    benchmark:
        "logs/benchmarks/judge/public/{division}.tsv"
    wildcard_constraints:
        division="[a-z0-9_]+",
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(2000),
    params:
        code=code_digest("deepcac_study.judge.division_scores"),
        call="deepcac_study.judge.division_scores.write_division",
        given=lambda wildcards, input, output: {
            "path": output[0],
            "records": list(input.records),
        },
    script:
        "../scripts/call.py"


# What is each part of the classifier with subtypes worth, and are its subtypes stable?
rule judge_ablations:
    input:
        features="data/features/{dataset}.parquet",
    output:
        "results/judge/ablations/{dataset}.json",
    log:
        "logs/judge/ablations/{dataset}.log",
    benchmark:
        "logs/benchmarks/judge/ablations/{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.judge.subtype_ablation"),
        call="deepcac_study.judge.subtype_ablation.run_ablation",
        effort=study.effort,
        given=lambda wildcards, input, output: {
            "features": input.features,
            "record": output[0],
            "dataset": wildcards.dataset,
            "grouped": registry.dataset(wildcards.dataset).grouped,
        },
    script:
        "../scripts/call.py"


# All contenders on one table, with less effort: most of these jobs would be shorter than a start.
rule judge_table:
    input:
        features="data/features/{dataset}.parquet",
    output:
        "results/judge/tables/{dataset}.json",
    log:
        "logs/judge/tables/{dataset}.log",
    benchmark:
        "logs/benchmarks/judge/tables/{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("deepcac_study.judge.table_trials"),
        call="deepcac_study.judge.table_trials.run_table",
        effort=lambda wildcards: study.table_effort(wildcards.dataset),
        given=lambda wildcards, input, output: {
            **given_table(wildcards, input, output),
            "contenders": config["judge"]["tables"]["contenders"],
        },
    script:
        "../scripts/call.py"


# What is cheap to know of a table: does it look as if clusters would help?
rule judge_shape:
    input:
        features="data/features/{dataset}.parquet",
    output:
        "results/judge/shapes/{dataset}.json",
    log:
        "logs/judge/shapes/{dataset}.log",
    benchmark:
        "logs/benchmarks/judge/shapes/{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
    params:
        code=code_digest("deepcac_study.judge.table_shape"),
        call="deepcac_study.judge.table_shape.run_shape",
        effort=lambda wildcards: study.table_effort(wildcards.dataset, resamples=2),
        given=lambda wildcards, input, output: given_table(wildcards, input, output),
    script:
        "../scripts/call.py"


rule judge_verdicts:
    input:
        trials=study.trials,
        planted=study.planted,
    output:
        verdicts="results/judge/verdicts.csv",
        summary="results/judge/summary.json",
    log:
        "logs/judge/verdicts.log",
    benchmark:
        "logs/benchmarks/judge/verdicts.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac_study.judge.judgement_files"),
        call="deepcac_study.judge.judgement_files.write_judgement",
        given=lambda wildcards, input, output: {
            "csv_path": output.verdicts,
            "summary_path": output.summary,
            "trial_paths": list(input.trials),
            "planted_paths": list(input.planted),
            "margin": config["judge"]["margin"],
            "strict": config["judge"]["strict_margin"],
        },
    script:
        "../scripts/call.py"
