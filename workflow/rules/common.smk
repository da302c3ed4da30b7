from functools import cache


# What a job asks for. Memory and minutes grow with the attempt; a GPU is asked for by profiles/gpu.
def grows(amount):
    """Return the function that asks for `amount` at the first attempt, twice that at the second."""

    def asked(wildcards, attempt):
        return amount * attempt

    return asked


# What many wait for starts first, then what takes longest, so that nothing waits for it alone.
FIRST, LONG = 20, 10


# What is left for this folder to do.
def to_make(files):
    """Return those files for which no shipped record stands."""
    return [file for file in files if file not in standing]


# For what may leave: any file is followed back through the jobs that could write it.
def jobs_of(file):
    """Yield every job that could write a file: the name of its rule and its inputs."""
    for each in workflow.rules:
        if each.is_producer(file):
            try:
                yield each.name, list(each.expand_input(each.get_wildcards(file))[0])
            except WorkflowError:
                continue  # a job that cannot be planned writes nothing


def step_code(source, step):
    """Return what a step is made by: its code, and the lists of columns that it may read.

    These are its source's and those that its arguments name.
    """
    place = f"deepcac_study.{step.function}".rpartition(".")[0]
    named = f"{source.id} {step.model_dump()}"
    lists = (project / "src/deepcac_study/catalogue/columns").glob("*.csv")
    return [
        code_digest(place, "deepcac_study.jobs.steps"),
        *(file_digest(path) for path in sorted(lists) if path.stem in named),
    ]


@cache
def planned_tables():
    """Return the runs of the CAC family by table and protocol, whether shipped ones stand or not."""
    return tables_together(layout.all_runs())


def learners_of(wildcards, folder, stems):
    """Return how the methods of runs are computed, from what the catalogue names.

    Those of the whole table, even for a run that is asked for by its name: else it would differ from
    the same run that came together with others, and either would make the other one again.
    """
    place = f"{folder}/".format(**wildcards)
    asked = [stem.format(**wildcards) for stem in stems]
    together = with_those_beside(planned_tables(), place, asked)
    return method_code(end.rpartition("_k")[0] for end in together)


def drawn(variant, dataset):
    """Return how a split is drawn: the variant, the published share, whether rows are grouped."""
    entry = registry.dataset(dataset)
    return variant, entry.published_share, entry.grouped


# Snakemake records parameters, and makes again what has others. It leaves out those that come from
# paths or threads: so `settings` holds what decides a result, and `given` holds only the rest.
def decomposed(wildcards):
    """Return whose rows are decomposed."""
    return {
        "dataset": wildcards.dataset,
        "synthetic": wildcards.dataset.startswith("demo_"),
    }


def classes_of(wildcards):
    """Return the column of the classes that are decomposed."""
    return layout.rows_of(wildcards.dataset)[1]


def decomposition_paths(wildcards, input, output, threads):
    """Return the rows that both experiments read, the record that they write, and the threads."""
    rows = (input.table, classes_of(wildcards))
    return {"out": output.record, "rows": rows, "threads": threads}


def judged_rows(wildcards):
    """Return which rows a job judges."""
    return {
        "dataset": wildcards.dataset,
        "synthetic": wildcards.dataset.startswith("demo_"),
        "grouped": registry.dataset(wildcards.dataset).grouped,
    }


def inputs_of(wildcards, folder, stem):
    """Return what a run reads, and those beside it; folder and name may hold wildcards."""
    variant, slash, dataset = folder.format(**wildcards).rpartition("/")
    method, _, k = stem.format(**wildcards).rpartition("_k")
    return layout.run_inputs(variant + slash, dataset, method, k)


# Here unknown names are refused, when a job is planned: an error lists the names that are near.
def features_of(wildcards):
    """Return the sound features of a data set."""
    return layout.feature_file("", wildcards.dataset)


def judged_features(wildcards):
    """Return the features that a model is judged on."""
    parse_contender(wildcards.get("contender", "lr"))
    return features_of(wildcards)


def first_starts(wildcards):
    """Return the runs that a sweep over starts need not make again."""
    planned = {*report_runs, *to_make(runs_beside)}
    return sorted(planned.intersection(started_runs(**wildcards)))


def with_scores(run):
    """Return the record of a run and the file of its scores."""
    return [run, run.removesuffix(".json") + ".scores.parquet"]


def is_here(file):
    """Say whether a file is here, a run with its scores; those of shipped records do not ship."""
    return all(
        map(os.path.exists, with_scores(file) if file in runs_beside else [file])
    )


# No input of the report: where only that is asked for, nothing of the judge is made.
def judged_before():
    """Return what of the judge and beside the papers is here from other calls."""
    files = (*study_files, *sweeps_beside, *runs_beside)
    return [file for file in files if file not in _JUDGED and is_here(file)]
