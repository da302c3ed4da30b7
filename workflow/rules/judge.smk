# The fair judge: trials of each contender, planted cohorts, verdicts.
from deepcac_study.catalogue.record_kinds import JUDGE_FOLDERS
from deepcac_study.judge.study_files import StudyFiles

study = StudyFiles(config["judge"], layout.reachable)
study_files = [
    *study.verdicts,
    *study.tables,
    *study.clinical_results,
]
judged = to_make(study_files)
# What the target `everything` makes beside the papers: the judge, and what decides no claim.
sweeps_beside = collect("results/sweeps/{sweep}.parquet", sweep=config["sweeps_beside"])
beside = to_make([*study_files, *sweeps_beside, *runs_beside])
_SUBTYPES = ["subtypes", "subtypes_gbm"]
_DATASET = rf"(?!({'|'.join(JUDGE_FOLDERS)})/)\w+"


rule judge_trials:
    input:
        features=judged_features,
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
        fits=lambda wildcards: contender_code(
            [wildcards.contender] if "contender" in wildcards.keys() else _SUBTYPES
        ),
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


use rule judge_trials as judge_clinical with:
    output:
        records=["results/judge/clinical/{dataset}/{contender}.json"],
        answers=["results/judge/clinical/{dataset}/{contender}.parquet"],
    log:
        "logs/judge/clinical/{dataset}/{contender}.log",
    benchmark:
        "logs/benchmarks/judge/clinical/{dataset}/{contender}.tsv"
    wildcard_constraints:
        dataset="[a-z0-9_]+",
        contender="[a-z0-9_]+",
    params:
        code=code_digest("deepcac_study.judge.trial_files"),
        fits=lambda wildcards: contender_code([wildcards.contender]),
        effort=lambda wildcards: study.clinical_effort(**wildcards),
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
        grouped=lambda wildcards: registry.dataset(wildcards.dataset).grouped,


# What meets after the plan: docs/archive/judge-plan-evidence.md. No other target asks for it.
rule judge_added:
    input:
        trials=to_make([*study.clinical, *study.added]),
    output:
        on_splines="results/judge/clinical/added/on_splines.csv",
        cohorts="results/judge/clinical/added/cohorts.csv",
        pooled="results/judge/clinical/added/pooled.csv",
    log:
        "logs/judge/added.log",
    benchmark:
        "logs/benchmarks/judge/added.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac_study.judge.added_models"),
        call="deepcac_study.judge.added_models.write_added",
        settings={
            "trial_paths": [*study.clinical, *study.added],
            "clinical": config["judge"]["clinical"],
            "strict": config["judge"]["strict_margin"],
        },
        given=lambda wildcards, output: {"paths": dict(output.items())},
    script:
        "../scripts/call.py"


# Small families, what decides, and estimates pooled over cohorts: docs/archive/judge-plan.md.
rule judge_clinical_tasks:
    input:
        trials=to_make(study.clinical),
    output:
        tasks="results/judge/clinical/tasks.csv",
        verdicts="results/judge/clinical/verdicts.csv",
        decisions="results/judge/clinical/decisions.csv",
        pooled="results/judge/clinical/pooled.csv",
    log:
        "logs/judge/clinical.log",
    benchmark:
        "logs/benchmarks/judge/clinical.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac_study.judge.clinical_tasks"),
        call="deepcac_study.judge.clinical_tasks.write_clinical",
        settings={
            "trial_paths": study.clinical,
            "clinical": config["judge"]["clinical"],
            "strict": config["judge"]["strict_margin"],
        },
        given=lambda wildcards, output: {"paths": dict(output.items())},
    script:
        "../scripts/call.py"


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
        fits=lambda wildcards: contender_code(
            study.cohorts(wildcards.part)["contenders"]
        ),
        call="deepcac_study.judge.power.run_planted",
        effort=study.effort,
        settings=lambda wildcards: {
            "strength": float(wildcards.strength),
            **study.cohorts(wildcards.part),
            "margin": config["judge"]["margin"],
        },
        given=lambda wildcards, output: {"path": output[0]},
    script:
        "../scripts/call.py"


# All contenders on one table, with less effort: most of these jobs would be shorter than a start.
rule judge_table:
    input:
        features=features_of,
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
        code=code_digest("deepcac_study.judge.tables.table_trials"),
        fits=lambda wildcards: contender_code(config["judge"]["tables"]["contenders"]),
        call="deepcac_study.judge.tables.table_trials.run_table",
        effort=lambda wildcards: study.table_effort(wildcards.dataset),
        settings=lambda wildcards: {
            **judged_rows(wildcards),
            "contenders": config["judge"]["tables"]["contenders"],
        },
        given=lambda wildcards, input, output: {
            "features": input.features,
            "path": output[0],
        },
    script:
        "../scripts/call.py"


rule judge_verdicts:
    input:
        trials=to_make(study.trials),
        planted=to_make(study.planted),
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
        settings={
            "trial_paths": study.trials,
            "planted_paths": study.planted,
            "margin": config["judge"]["margin"],
            "strict": config["judge"]["strict_margin"],
        },
        given=lambda wildcards, output: {
            "csv_path": output.verdicts,
            "summary_path": output.summary,
        },
    script:
        "../scripts/call.py"
