# What the rules ask for: inputs, parameters and resources, each function named after what it returns.
# A name that is not known is refused here, when a job is planned, with the names that are near it.
from functools import cache

# What many wait for starts first, then what takes longest, so that nothing waits for it alone.
FIRST, LONG = 20, 10
SUBTYPES = ["subtypes", "subtypes_gbm"]
RUN_TABLES = layout.run_tables()
TABLE_OF_RUN = {run: table for table, runs in RUN_TABLES.items() for run in runs}

study = StudyFiles(config["judge"], layout.reachable)
study_files = [*study.verdicts, *study.tables, *study.clinical_results]
sweep_files = collect("results/sweeps/{sweep}.parquet", sweep=config["sweeps"])
sweeps_beside = collect("results/sweeps/{sweep}.parquet", sweep=config["sweeps_beside"])
report_records = [
    *layout.profile_files(),
    *sweep_files,
    *collect("results/case_study/{case}.json", case=config["case_studies"]),
    *collect("results/theory/{name}.json", name=config["theory"]),
    *layout.skmeans_files(),
    *layout.decomposition_files(),
]


# Resources. Memory and minutes grow with the attempt; a GPU is asked for by a profile.
def grows(amount):
    """Return the function that asks for `amount` at the first attempt, twice that at the second."""

    def request(wildcards, attempt):
        return amount * attempt

    return request


def simulation_memory(wildcards, attempt):
    return layout.simulation(wildcards.source)["mem_mb"] * attempt


def extraction_memory(wildcards, attempt):
    return layout.extraction(wildcards.source)["mem_mb"] * attempt


def extraction_threads(wildcards):
    return layout.extraction(wildcards.source)["threads"]


def feature_memory(wildcards, attempt):
    return layout.feature_step(wildcards.dataset)["mem_mb"] * attempt


# Which names a rule is for.
def open_sources():
    sources = registry.sources.values()
    return "|".join(source.id for source in sources if not source.restricted)


def pairwise_datasets():
    return "|".join(name for name, entry in registry.datasets.items() if entry.pairwise)


def pair_patterns():
    return layout.pair_files("{dataset}")


def made_datasets():
    """Return a pattern of all names but those of pairwise, brought and gridded feature files."""
    others = [f"({pairwise_datasets()})(_nodes|_columns|_pairs)?"]
    others += [name for name, entry in registry.datasets.items() if not entry.features]
    return rf"(?!({'|'.join(others)})\.)(?!synthetic_cac_)[a-z0-9_]+"


def judged_datasets():
    return rf"(?!({'|'.join(JUDGE_FOLDERS)})/)\w+"


def networks():
    return "|".join(sorted(m.id for m in methods().values() if m.family == "deep"))


# Raw files to splits.
def raw_digest(wildcards):
    return registry.file(wildcards.source, wildcards.file).digest


def raw_files(wildcards):
    return layout.raw_files(wildcards.source)


def simulation_step(wildcards):
    return layout.simulation(wildcards.source)


def extraction_step(wildcards):
    return layout.extraction(wildcards.source)


def tidy_folder(wildcards):
    variant = wildcards.get("variant", "")
    asked_for = f"data/features/{variant}{wildcards.dataset}.parquet"
    made = layout.feature_file(variant, wildcards.dataset)
    if made != asked_for:
        raise ConfigError(
            f"{wildcards.dataset} has the same features there; ask for {made}"
        )
    return layout.tidy_folder(wildcards.dataset)


def feature_step(wildcards):
    return layout.feature_step(wildcards.dataset)


def feature_options(wildcards):
    options = layout.feature_step(wildcards.dataset)["options"]
    return {name: config[key] for name, key in options.items()}


def row_unit(wildcards):
    return registry.dataset(wildcards.dataset).unit


def feature_file(wildcards):
    return layout.feature_file(wildcards.variant, wildcards.dataset)


def sound_feature_file(wildcards):
    return layout.feature_file("", wildcards.dataset)


def judged_feature_file(wildcards):
    parse_contender(wildcards.get("contender", "lr"))
    return sound_feature_file(wildcards)


def split_file(wildcards):
    return layout.split_file(wildcards.variant, wildcards.dataset)


def case_autoencoders(wildcards):
    return layout.shared_file(wildcards.variant, wildcards.dataset, "deepcac")


def published_share(wildcards):
    return registry.dataset(wildcards.dataset).published_share


def has_groups(wildcards):
    return registry.dataset(wildcards.dataset).grouped


def is_synthetic(wildcards):
    return wildcards.dataset.startswith(DEMO)


# Runs and experiments.
def to_make(files):
    """Return those files for which no shipped record stands."""
    return [file for file in files if file not in standing]


def scores_of(run):
    return run.removesuffix(".json") + ".scores.parquet"


def run_files(runs):
    """Return what to ask for to have runs: the lists of tables, and single runs with their scores.

    A run of a table that was deleted since is asked for by itself, as are all in a bucket, to which
    Snakemake brings only what a rule names.
    """
    files = []
    for run in to_make(runs):
        table = None if bucket else TABLE_OF_RUN.get(run)
        if table:
            files.append(table)
        if not table or (os.path.exists(table) and not os.path.exists(run)):
            files += [run, scores_of(run)]
    return list(dict.fromkeys(files))


def planned_runs(wildcards):
    table = f"results/{wildcards.variant}{wildcards.dataset}/runs.csv"
    if table not in RUN_TABLES:
        raise ConfigError(f"{table}: the configuration plans no classical runs there")
    return to_make(RUN_TABLES[table])


def table_inputs(wildcards):
    run = next(runs_among(planned_runs(wildcards)))
    return layout.run_inputs(**run)


def run_inputs(wildcards):
    return layout.run_inputs(**wildcards)


def first_starts(wildcards):
    """Return the runs that a sweep over starts need not make again."""
    planned = {*to_make(layout.all_runs()), *to_make(runs_beside)}
    return sorted(planned.intersection(started_runs(**wildcards)))


def pairwise_inputs(wildcards):
    return layout.skmeans_inputs(wildcards.dataset)


def skmeans_budget(wildcards):
    return layout.skmeans_budget(wildcards.dataset)


def labelled_table(wildcards):
    return layout.rows_of(wildcards.dataset)


def whole_rows(wildcards):
    table, _ = labelled_table(wildcards)
    return os.path.dirname(table) if table.startswith("data/tidy/") else table


def decomposition_runs(wildcards):
    return layout.decomposition_runs(wildcards.dataset, wildcards.variant)


def runs_against_rest(wildcards):
    return wildcards.dataset in config["decomposition_against_rest"]


# The judge.
def table_effort(wildcards):
    return study.table_effort(wildcards.dataset)


def planted(key):
    """Return the function that returns a setting of planted cohorts."""

    def setting(wildcards):
        return study.cohorts(wildcards.part)[key]

    return setting


def planted_strength(wildcards):
    return float(wildcards.strength)


# What jobs compute with: a change of it makes them again, one of a comment does not.
def step_code(source, step):
    """Return what a step of the registry is made by: its code, and the lists of columns it may read."""
    made_by = f"deepcac_study.{step['function']}".rpartition(".")[0]
    named = f"{source} {step}"
    lists = (project / "src/deepcac_study/catalogue/columns").glob("*.csv")
    return [
        code_digest(made_by, "deepcac_study.jobs.steps"),
        *(file_digest(path) for path in sorted(lists) if path.stem in named),
    ]


def simulation_code(wildcards):
    return step_code(wildcards.source, layout.simulation(wildcards.source))


def extraction_code(wildcards):
    return step_code(wildcards.source, layout.extraction(wildcards.source))


def feature_code(wildcards):
    source = registry.dataset(wildcards.dataset).source
    return step_code(source, layout.feature_step(wildcards.dataset))


def classical_code(names):
    return [
        code_digest("deepcac_study.experiments.run", without=NETWORKS),
        method_code(names),
    ]


def table_code(wildcards):
    return classical_code(run["method"] for run in runs_among(planned_runs(wildcards)))


def run_code(wildcards):
    return classical_code([wildcards.method])


def deep_run_code(wildcards):
    return [
        code_digest("deepcac_study.experiments.run"),
        method_code([wildcards.method]),
    ]


def trial_code(wildcards):
    named = [wildcards.contender] if "contender" in wildcards.keys() else SUBTYPES
    return [code_digest("deepcac_study.judge.trial_files"), contender_code(named)]


def planted_code(wildcards):
    named = study.cohorts(wildcards.part)["contenders"]
    return [code_digest("deepcac_study.judge.power"), contender_code(named)]


def judged_table_code(wildcards):
    named = config["judge"]["tables"]["contenders"]
    return [
        code_digest("deepcac_study.judge.tables.table_trials"),
        contender_code(named),
    ]


# The report. It waits for the judge where `everything` is asked for, and else shows what is here of it.
def beside_the_papers():
    return [*to_make([*study_files, *sweeps_beside]), *run_files(runs_beside)]


def judge_asked_for(wildcards):
    return beside_the_papers() if "everything" in workflow.dag_settings.targets else []


def judge_files_here(wildcards):
    asked_for = set(judge_asked_for(wildcards))
    shown = {file: [file] for file in (*study_files, *sweeps_beside)}
    shown |= {run: [run, scores_of(run)] for run in runs_beside}
    return [
        file
        for file, needed in shown.items()
        if file in asked_for or all(map(os.path.exists, needed))
    ]


def judge_digest(wildcards):
    asked_for = judge_asked_for(wildcards)
    return files_digest(f for f in judge_files_here(wildcards) if f not in asked_for)


def unscored_runs():
    """Return the shipped records that stand; their scores do not ship."""
    return [run for run in (*layout.all_runs(), *runs_beside) if run in standing]


# What may leave the machine: every file is followed back through the jobs that could write it.
def jobs_of(file):
    """Yield every job that could write a file: the name of its rule and its inputs."""
    for each in workflow.rules:
        if each.is_producer(file):
            try:
                yield each.name, list(each.expand_input(each.get_wildcards(file))[0])
            except WorkflowError:
                continue  # a job that cannot be planned writes nothing


@cache
def origins():
    # They read nothing, so that no value of a data set can be in what they write.
    generators = ["simulate", "build_pair_features", "synthetic_grid"]
    generators += ["skmeans_times", "skmeans_checks", *GENERATED_RULES]
    return Origins(layout, jobs_of, generators)


def shared_outputs(wildcards):
    files = [file for file in shared_files(layout) if not origins().closed(file)]
    unscored = {scores_of(run) for run in unscored_runs()}
    return [file for file in files if file not in unscored]


def shared_inputs(wildcards):
    """Return what to ask for to have all that is shared: lists in place of the runs of tables."""
    of_tables = {file for run in TABLE_OF_RUN for file in (run, scores_of(run))}
    files = [*shared_outputs(wildcards), *run_files(TABLE_OF_RUN)]
    asked_for = [
        file for file in files if file not in of_tables or not os.path.exists(file)
    ]
    return [file for file in to_make(asked_for) if not origins().closed(file)]


def closed_origins(wildcards):
    files = (*shared_outputs(wildcards), *pointed_files("."))
    return {file: origins().closed(file) for file in files}
