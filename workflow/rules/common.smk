# What the rules ask for: inputs, parameters and resources, each function named after what it returns.
# A name that is not known is refused here, when a job is planned, with the names that are near it.
from functools import cache, partial

# What many wait for starts first, then what takes longest, so that nothing waits for it alone.
FIRST, LONG = 20, 10
SUBTYPES = ["subtypes", "subtypes_gbm"]
RUN_TABLES = layout.run_tables()
TABLE_OF_RUN = {run: table for table, runs in RUN_TABLES.items() for run in runs}

runs_beside = layout.runs_beside()
study = StudyFiles(config["judge"], layout.reachable)
study_files = [*study.verdicts, *study.tables, *study.clinical_results]
sweeps_beside = collect("results/sweeps/{sweep}.parquet", sweep=config["sweeps_beside"])
report_records = [
    *collect("results/sweeps/{sweep}.parquet", sweep=config["sweeps"]),
    *collect("results/case_study/{case}.json", case=config["case_studies"]),
    *collect("results/theory/{name}.json", name=config["theory"]),
    *layout.skmeans_files(),
    *layout.decomposition_files(),
]


def of(*names, method):
    """Return the function that passes some wildcards of a job to a method."""

    def value(wildcards):
        return method(*(wildcards.get(name, "") for name in names))

    return value


raw_files = of("source", method=layout.raw_files)
simulation_step = of("source", method=layout.simulation)
extraction_step = of("source", method=layout.extraction)
tidy_folder = of("variant", "dataset", method=layout.tidy_folder)
feature_step = of("dataset", method=layout.feature_step)
feature_file = of("variant", "dataset", method=layout.feature_file)
sound_feature_file = of("dataset", method=partial(layout.feature_file, ""))
split_file = of("variant", "dataset", method=layout.split_file)
run_inputs = of("variant", "dataset", "method", "k", method=layout.run_inputs)
pairwise_inputs = of("dataset", method=layout.skmeans_inputs)
skmeans_budget = of("dataset", method=layout.skmeans_budget)
labelled_table = of("dataset", method=layout.rows_of)
decomposition_runs = of("dataset", "variant", method=layout.decomposition_runs)
table_effort = of("dataset", method=study.table_effort)
planted_cohorts = of("part", method=study.cohorts)


def extraction_threads(wildcards):
    return extraction_step(wildcards)["threads"]


# Which names a rule is for.
def open_sources():
    sources = registry.sources.values()
    return "|".join(source.id for source in sources if not source.restricted)


def pairwise_datasets():
    return "|".join(name for name, entry in registry.datasets.items() if entry.pairwise)


def made_datasets():
    """Return a pattern of all names but those of pairwise, brought and gridded feature files."""
    others = [f"({pairwise_datasets()})(_nodes|_columns|_pairs)?"]
    others += [name for name, entry in registry.datasets.items() if not entry.features]
    return rf"(?!({'|'.join(others)})\.)(?!synthetic_cac_)[a-z0-9_]+"


def judged_datasets():
    return rf"(?!({'|'.join(JUDGE_FOLDERS)})/)\w+"


def tasks_known_then():
    return "|".join(config["judge"]["clinical"]["added"]["known_then"]) or "none"


def known_then(wildcards):
    return config["judge"]["clinical"]["added"]["known_then"][wildcards.dataset]


def networks():
    return "|".join(sorted(m.id for m in methods().values() if m.family == "deep"))


# Data sets.
def raw_digest(wildcards):
    return registry.file(wildcards.source, wildcards.file).digest


def feature_options(wildcards):
    options = feature_step(wildcards)["options"]
    return {name: config[key] for name, key in options.items()}


def entry_value(key):
    """Return the function that looks a value up in the registry's entry of the data set."""

    def value(wildcards):
        return getattr(registry.dataset(wildcards.dataset), key)

    return value


def is_synthetic(wildcards):
    return wildcards.dataset.startswith(DEMO)


def whole_rows(wildcards):
    table, _ = labelled_table(wildcards)
    return os.path.dirname(table) if table.startswith("data/tidy/") else table


# Runs and experiments.
def to_make(files):
    """Return those files that have no shipped record."""
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
    return layout.run_inputs(**next(runs_among(planned_runs(wildcards))))


def first_starts(wildcards):
    """Return the runs that a sweep over starts need not make again."""
    planned = {*to_make(layout.all_runs()), *to_make(runs_beside)}
    return sorted(planned.intersection(started_runs(**wildcards)))


def case_autoencoders(wildcards):
    return layout.shared_file(wildcards.variant, wildcards.dataset, "deepcac")


def runs_against_rest(wildcards):
    return wildcards.dataset in config["decomposition_against_rest"]


# The judge.
def judged_feature_file(wildcards):
    parse_contender(wildcards.get("contender", "lr"))
    return sound_feature_file(wildcards)


def planted(key):
    """Return the function that looks a setting of planted cohorts up."""

    def setting(wildcards):
        return planted_cohorts(wildcards)[key]

    return setting


def planted_strength(wildcards):
    return float(wildcards.strength)


def size_rows(wildcards):
    return int(wildcards.rows)


def size_setting(key):
    """Return the function that looks a setting of one size of clinic up."""

    def setting(wildcards):
        return study.size_effort(int(wildcards.rows))[key]

    return setting


def clinical_effort(wildcards):
    return study.clinical_effort(wildcards.dataset, wildcards.contender)


# What jobs compute with: a change of it makes them again, one of a comment does not.
def code_of(step):
    """Return the function of what a step is made by: its code, and the lists of columns it may read."""

    def code(wildcards):
        entry = step(wildcards)
        made_by = f"deepcac_study.{entry['function']}".rpartition(".")[0]
        source = wildcards.get("source") or registry.dataset(wildcards.dataset).source
        lists = sorted((project / "src/deepcac_study/catalogue/columns").glob("*.csv"))
        named = [path for path in lists if path.stem in f"{source} {entry}"]
        return [
            code_digest(made_by, "deepcac_study.jobs.steps"),
            *map(file_digest, named),
        ]

    return code


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
    named = planted_cohorts(wildcards)["contenders"]
    return [code_digest("deepcac_study.judge.power"), contender_code(named)]


def size_code(wildcards):
    named = ["lr", "km_lr", "cac_lr", "cells_lr", "spline_lr"]
    return [code_digest("deepcac_study.judge.by_size"), contender_code(named)]


def judged_table_code():
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
    files = (*study_files, *study.added_results, *sweeps_beside)
    shown = {file: [file] for file in files}
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
    asked_for = [f for f in files if f not in of_tables or not os.path.exists(f)]
    return [file for file in to_make(asked_for) if not origins().closed(file)]


def closed_origins(wildcards):
    files = (*shared_outputs(wildcards), *pointed_files("."))
    return {file: origins().closed(file) for file in files}
