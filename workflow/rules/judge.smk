rule judge_trials:
    """Tune a contender on a data set, and store all of its trials."""
    input:
        features=judged_feature_file,
    output:
        records=["results/judge/{dataset}/{contender}.json"],
        answers=["results/judge/{dataset}/{contender}.parquet"],
    log:
        "logs/judge/{dataset}/{contender}.log",
    benchmark:
        "logs/benchmarks/judge/{dataset}/{contender}.tsv"
    wildcard_constraints:
        dataset=judged_datasets(),
        contender=rf"(?!({'|'.join(SUBTYPES)})\.)[a-z0-9_]+",
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=trial_code,
        effort=study.effort,
        synthetic=is_synthetic,
        grouped=entry_value("grouped"),
    script:
        "../scripts/judge_trials.py"


use rule judge_trials as judge_subtypes with:
    """Tune models on subtypes, with and without boosted trees: the same networks, fitted once."""
    output:
        records=collect("results/judge/{{dataset}}/{name}.json", name=SUBTYPES),
        answers=collect("results/judge/{{dataset}}/{name}.parquet", name=SUBTYPES),
    log:
        "logs/judge/{dataset}/subtypes.log",
    benchmark:
        "logs/benchmarks/judge/{dataset}/subtypes.tsv"
    wildcard_constraints:
        dataset=judged_datasets(),


use rule judge_trials as judge_clinical with:
    """Tune a contender on a clinical task, with a grid of k and alpha."""
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
        effort=clinical_effort,


use rule judge_clinical as judge_known_then with:
    """Tune a contender without the columns that may not be known when the prediction is due."""
    input:
        features="data/features/known_then/{dataset}.parquet",
    output:
        records=["results/judge/clinical/known_then/{dataset}/{contender}.json"],
        answers=["results/judge/clinical/known_then/{dataset}/{contender}.parquet"],
    log:
        "logs/judge/clinical/known_then/{dataset}/{contender}.log",
    benchmark:
        "logs/benchmarks/judge/clinical/known_then/{dataset}/{contender}.tsv"


use rule judge_clinical as judge_by_place with:
    """Tune a contender with whole groups of rows, such as regions, held out."""
    output:
        records=["results/judge/clinical/by_place/{dataset}/{contender}.json"],
        answers=["results/judge/clinical/by_place/{dataset}/{contender}.parquet"],
    log:
        "logs/judge/clinical/by_place/{dataset}/{contender}.log",
    benchmark:
        "logs/benchmarks/judge/clinical/by_place/{dataset}/{contender}.tsv"
    params:
        effort=clinical_effort,
        grouped=True,


rule judge_on_splines:
    """Judge clusters on top of splines (docs/archive/judge-plan-evidence.md)."""
    input:
        to_make(study.on_splines),
    output:
        verdicts="results/judge/clinical/added/on_splines.csv",
        pooled_path="results/judge/clinical/added/on_splines_pooled.csv",
    log:
        "logs/judge/on_splines.log",
    benchmark:
        "logs/benchmarks/judge/on_splines.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.judge.added_models.write_on_splines",
        code=code_digest("deepcac_study.judge.added_models"),
        trial_paths=study.on_splines,
        clinical=config["judge"]["clinical"],
        strict=config["judge"]["strict_margin"],
    script:
        "../scripts/call.py"


use rule judge_on_splines as judge_cohorts with:
    """Judge further cohorts, and pool them with the clinical tasks of the plan."""
    input:
        to_make([*study.clinical, *study.cohorts_added]),
    output:
        verdicts="results/judge/clinical/added/cohorts.csv",
        pooled_path="results/judge/clinical/added/cohorts_pooled.csv",
    log:
        "logs/judge/cohorts.log",
    benchmark:
        "logs/benchmarks/judge/cohorts.tsv"
    params:
        call="deepcac_study.judge.added_models.write_cohorts",
        code=code_digest("deepcac_study.judge.added_models"),
        trial_paths=[*study.clinical, *study.cohorts_added],
        clinical=config["judge"]["clinical"],
        strict=config["judge"]["strict_margin"],


use rule judge_on_splines as judge_second_run with:
    """Judge tasks without what may not be known when they predict, in addition to the planned run."""
    input:
        to_make([*study.clinical, *study.second_run]),
    output:
        path="results/judge/clinical/added/known_then.csv",
    log:
        "logs/judge/known_then.log",
    benchmark:
        "logs/benchmarks/judge/known_then.tsv"
    params:
        call="deepcac_study.judge.added_models.write_second_run",
        trial_paths=study.clinical,
        again_paths=study.second_run,


use rule judge_on_splines as judge_places with:
    """Judge tasks whose groups of rows were held out whole."""
    input:
        to_make(study.by_place),
    output:
        path="results/judge/clinical/added/by_place.csv",
    log:
        "logs/judge/by_place.log",
    benchmark:
        "logs/benchmarks/judge/by_place.tsv"
    params:
        call="deepcac_study.judge.added_models.write_by_place",
        trial_paths=study.by_place,


rule judge_added:
    """Make the tables of what was added to the clinical tasks."""
    input:
        rules.judge_on_splines.output,
        rules.judge_cohorts.output,
        rules.judge_second_run.output,
        rules.judge_places.output,


rule judge_clinical_tasks:
    """Give the verdicts on clinical tasks, and pool them over cohorts (docs/archive/judge-plan.md)."""
    input:
        to_make(study.clinical),
    output:
        paths=collect(
            "results/judge/clinical/{table}.csv",
            table=["tasks", "verdicts", "decisions", "pooled"],
        ),
    log:
        "logs/judge/clinical.log",
    benchmark:
        "logs/benchmarks/judge/clinical.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.judge.clinical_tasks.write_clinical",
        code=code_digest("deepcac_study.judge.clinical_tasks"),
        trial_paths=study.clinical,
        clinical=config["judge"]["clinical"],
        strict=config["judge"]["strict_margin"],
    script:
        "../scripts/call.py"


rule judge_planted:
    """Judge cohorts with planted subtypes, which tell how large an effect could have been seen."""
    output:
        path="results/judge/planted/{part}_{strength}.json",
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
        call="deepcac_study.judge.power.run_planted",
        code=planted_code,
        strength=planted_strength,
        cohorts=planted("cohorts"),
        rows=planted("rows"),
        contenders=planted("contenders"),
        effort=study.effort,
        margin=config["judge"]["margin"],
    script:
        "../scripts/call.py"


rule judge_size:
    """Judge clinics of one size from a real table, with outcomes that are drawn anew."""
    input:
        features=sound_feature_file,
    output:
        path="results/judge/by_size/{dataset}_{rows}.json",
    log:
        "logs/judge/by_size/{dataset}_{rows}.log",
    benchmark:
        "logs/benchmarks/judge/by_size/{dataset}_{rows}.tsv"
    wildcard_constraints:
        rows=r"\d+",
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.judge.by_size.run_cell",
        code=size_code,
        rows=size_rows,
        strengths=size_setting("strengths"),
        draws=size_setting("draws"),
        effort=size_setting("effort"),
    script:
        "../scripts/call.py"


rule judge_table:
    """Tune all contenders on one table, with less effort: most jobs would be shorter than a start."""
    input:
        features=sound_feature_file,
    output:
        path="results/judge/tables/{dataset}.json",
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
        call="deepcac_study.judge.tables.table_trials.run_table",
        code=judged_table_code(),
        contenders=config["judge"]["tables"]["contenders"],
        effort=table_effort,
        synthetic=is_synthetic,
        grouped=entry_value("grouped"),
    script:
        "../scripts/call.py"


rule judge_verdicts:
    """Say whether clusters help: the verdicts of our study."""
    input:
        to_make([*study.trials, *study.planted]),
    output:
        csv_path="results/judge/verdicts.csv",
        summary_path="results/judge/summary.json",
    log:
        "logs/judge/verdicts.log",
    benchmark:
        "logs/benchmarks/judge/verdicts.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.judge.judgement_files.write_judgement",
        code=code_digest("deepcac_study.judge.judgement_files"),
        trial_paths=study.trials,
        planted_paths=study.planted,
        margin=config["judge"]["margin"],
        strict=config["judge"]["strict_margin"],
    script:
        "../scripts/call.py"
