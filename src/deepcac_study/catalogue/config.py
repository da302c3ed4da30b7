"""The configuration of the workflow, as typed models; ``config/README.md`` is made from them."""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from deepcac.errors import ConfigError
from deepcac.files.declared import Entry, checked
from deepcac_study.catalogue.entries import Id
from deepcac_study.catalogue.judge_plan import Judge
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.catalogue.protocol import Protocol, protocol_folder
from deepcac_study.catalogue.registry import Registry
from deepcac_study.catalogue.retired import refuse_retired
from deepcac_study.catalogue.study_questions import questions

Clusters = Annotated[int, Field(ge=1)]
SeveralClusters = Annotated[list[Clusters], Field(min_length=1)]
Experiment = Annotated[str, Field(pattern="^[a-z0-9_]+_k[1-9][0-9]*$")]
GRID = "grid"  # the sweep of no data set
Sweep = Annotated[str, Field(pattern=f"^({GRID}|[a-z]+_[a-z0-9_]+_k[1-9][0-9]*)$")]
Case = Annotated[str, Field(pattern="^(as_published/)?[a-z0-9_]+_k[1-9][0-9]*$")]


# Methods of supervised k-means' experiment: two baselines, and training with each oracle.
NONE, PAIR, ITERATIVE, SPECTRAL = LEARNERS = ("none", "pair", "iterative", "spectral")


class Restricted(Entry):
    """Folders with the files of restricted sources, which are not fetched."""

    mimic3: str | None = None
    wids: str | None = None
    webkb_authors: str | None = None


class Plan(Entry):
    """One entry of `runs`: the product of its lists is run."""

    part: Literal["cac", "deep"] = Field(description="the target that makes these runs")
    protocols: list[str] = Field(
        [],
        description="`sound` (results in `results/{dataset}/`), `as_published` "
        "(`results/as_published/{dataset}/`), `as_published_cv5` (the same with five-fold "
        "cross-validation in place of the one hold-out) and `as_published_v2` (that, with the "
        "alphas that CAC v2 prints)",
    )
    switches: list[str] = Field(
        [],
        description="in place of `protocols`: labels of differences between a paper's text and "
        "its program, measured one at a time; results in `results/switches/{label}/{dataset}/`",
    )
    datasets: list[str] = Field(min_length=1, description="data sets of these runs")
    methods: list[str] = Field(
        min_length=1,
        description="methods of these runs; sequence methods (`*_ts`) meet sequence data sets only",
    )
    k: SeveralClusters | dict[str, SeveralClusters] = Field(
        description="numbers of clusters: a list, or a list a data set with a `default`; methods "
        "without clusters run once, as `k1`"
    )

    @property
    def folders(self) -> list[str]:
        """The results folders of the entry's protocols or switches."""
        alone = [f"switches/{label}/" for label in self.switches]
        return [protocol_folder(name) for name in self.protocols] + alone

    def clusters(self, dataset: str) -> list[int]:
        """Return the numbers of clusters for a data set."""
        return self.k.get(dataset, self.k["default"]) if isinstance(self.k, dict) else self.k

    @model_validator(mode="after")
    def _consistent(self) -> "Plan":
        if bool(self.protocols) == bool(self.switches):
            raise ValueError("name either protocols or switches")
        if isinstance(self.k, dict) and "default" not in self.k:
            raise ValueError("k given a data set needs a `default`")
        for folder in self.folders:
            Protocol.from_folder(folder)
        for method in self.methods:
            parse_method(method)
        return self


class Budget(Entry):
    """How far supervised k-means goes on a data set of example clusterings."""

    dataset: Id = Field(description="a data set with given clusterings (`pairwise`)")
    C: tuple[int, int] = Field(description="first and last power of ten that is tried for C")
    epsilon: float = Field(
        gt=0, description="precision of training, in the unit of the loss (0 to 100)"
    )
    max_iter: int = Field(ge=1, description="largest number of passes over the clusterings")
    n_restarts: int = Field(10, ge=1, description="random starts of iterative clustering")
    seeds: int = Field(
        1, ge=1, description="random states of the methods whose training or clusters are random"
    )

    @model_validator(mode="after")
    def _upwards(self) -> "Budget":
        if self.C[0] > self.C[1]:
            raise ValueError("C goes from the smaller power of ten to the larger one")
        return self


class Config(Entry):
    """One configuration file."""

    mirrors: list[str] = Field(
        [],
        description="folders or base URLs that hold the raw files, tried in order before the "
        "official addresses. The environment variable `DEEPCAC_MIRROR` is tried after them",
    )
    restricted: Restricted = Field(
        Restricted(),
        description="for each source that is not fetched (`mimic3`, `wids`, `webkb_authors`) the "
        "folder with its files, "
        "or `null`. Without a folder its data sets are left out and the report says so",
    )
    optional: list[Id] = Field(
        [],
        description="open sources whose data sets are left out, in one line, while their raw files "
        "are not here; the target `optional` fetches them",
    )
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [0, 1, 2, 3, 4], min_length=1, description="one split and one random state each"
    )
    shipped: Literal["none", "all"] = Field(
        "none",
        description="whether the shipped records, copied into `results/` by `make lay`, count as "
        "finished runs: `none` or `all`",
    )
    demo_records: int = Field(
        900, ge=100, description="records in each generated demo cohort (`demo_*` data sets)"
    )
    signature_backend: Literal["iisignature", "numba"] = Field(
        "iisignature",
        description="`iisignature` (needs a C++ compiler to install) or `numba` "
        "(needs nothing); the same numbers to 1e-10",
    )
    datasets: list[Id] = Field([], description="data sets whose features `all` builds")
    sweeps: list[Sweep] = Field(
        [],
        description="experiments behind the papers' curves, as `results/sweeps/{name}.parquet`: "
        "`alpha_{dataset}_k{k}` (CAC by pass for several alphas), `weights_{dataset}_k{k}` "
        "(DeepCAC's loss weights), `separation_{dataset}_k{k}` (what its classes are separated "
        "by), `starts_{dataset}_k{k}` (what switches do to networks, from several starts), `grid` "
        "(the synthetic grid), and any question of `src/deepcac_study/catalogue/questions.yaml`",
    )
    sweeps_beside: list[Sweep] = Field(
        [],
        description="sweeps that decide no claim: `everything` makes them, `all` does not",
    )
    case_studies: list[Case] = Field(
        [],
        description="clusters of DeepCAC that are described in full (Tables 7 and 8 of its "
        "paper), as `results/case_study/{name}.json`: `{dataset}_k{k}` or "
        "`as_published/{dataset}_k{k}`",
    )
    theory: list[Experiment] = Field(
        [],
        description="data sets of two classes on which both sides of the CAC papers' theorems "
        "are evaluated, as `results/theory/{name}.json`: `{dataset}_k{k}` (first split, sound)",
    )
    skmeans: list[Budget] = Field(
        [],
        description="supervised k-means: the data sets that its experiment runs on, as "
        "`results/skmeans/{dataset}/{method}.json`, each with its budget",
    )
    skmeans_training_sets: int = Field(
        0,
        ge=0,
        description="training sets at each point of supervised k-means' Figures 1 to 4; "
        "neither these nor the checks of its theory if 0",
    )
    decomposition: list[Id] = Field(
        [],
        description="data sets of the experiment on class decomposition, as "
        "`results/decomposition/{dataset}.json` and `results/as_published/decomposition/"
        "{dataset}.json`; the target `class_decomposition` makes them all",
    )
    decomposition_runs: int = Field(
        10, ge=1, description="runs of that experiment, each with parts drawn anew"
    )
    decomposition_runs_of: dict[str, Annotated[int, Field(ge=2)]] = Field(
        {}, description="data sets that have fewer corrected runs of it, because they take long"
    )
    decomposition_against_rest: list[Id] = Field(
        [],
        description="data sets on which that experiment also runs linear machines one against "
        "rest, which WEKA's are not",
    )
    bias_variance: list[Id] = Field(
        [],
        description="data sets on which the error of class decomposition is split into bias and "
        "variance, as `results/bias_variance/{dataset}.json`",
    )
    bias_variance_samples: int = Field(10, ge=2, description="training samples of that experiment")
    judge: Judge = Field(
        Judge.model_validate({}), description="the study `snakemake judge`; see docs/judge.md"
    )
    draws: int = Field(20, ge=1, description="`snakemake spotcheck`: how many records are drawn")
    seed: int = Field(0, description="`snakemake spotcheck`: of the draw; choose your own")
    minutes: float | None = Field(
        None,
        gt=0,
        description="`snakemake spotcheck`: CPU time that the drawn records may take on "
        "average; the longest records are then left out of the draw",
    )
    runs: list[Plan] = Field(
        [],
        description="what is run: a list of entries, each of the part `cac` or `deep`, which are "
        "also targets. A list, so that another configuration file replaces it whole",
    )
    runs_beside: list[Plan] = Field(
        [],
        description="runs that decide no claim, in entries like those of `runs`: `everything` "
        "makes them, `all` does not",
    )

    @model_validator(mode="after")
    def _without_repeats(self) -> "Config":
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("a seed is listed twice")
        return self


def _kinds() -> tuple[str, ...]:
    """Return the kinds of sweeps over one data set."""
    return ("alpha", "weights", *questions())


def _dataset_of(name: str) -> str:
    """Return the data set in the name of a sweep, a case study or a check of a theorem."""
    stem = name.removeprefix("as_published/").rpartition("_k")[0]
    return re.sub(f"^({'|'.join(_kinds())})_", "", stem)


def _judged(judge: Judge) -> Iterator[Iterable[str]]:
    """Yield the data sets of each part of the judge's configuration."""
    tables, clinical = judge.tables, judge.clinical
    yield from (match.datasets for match in (*judge.matches, *clinical.also))
    yield from (tables.datasets, tables.resamples_of)
    yield from (clinical.datasets, clinical.apart, clinical.cohorts, clinical.county)
    yield clinical.added.datasets


def _named(settings: Config) -> Iterator[Iterable[str]]:
    """Yield the data sets of each key of the configuration."""
    yield settings.datasets
    yield [budget.dataset for budget in settings.skmeans]
    yield from (settings.decomposition, settings.decomposition_against_rest)
    yield from (settings.decomposition_runs_of, settings.bias_variance)
    for plan in (*settings.runs, *settings.runs_beside):
        yield from (plan.datasets, set(plan.k) - {"default"} if isinstance(plan.k, dict) else ())
    sweeps = [*settings.sweeps, *settings.sweeps_beside]
    single = [name for name in sweeps if name != GRID]
    yield map(_dataset_of, [*single, *settings.case_studies, *settings.theory])
    yield from _judged(settings.judge)


def _check_sweeps(names: Iterable[str]) -> None:
    """Raise `ConfigError` for the name of a sweep that no experiment makes."""
    for name in names:
        kind = name.partition("_")[0]
        if kind not in (GRID, *_kinds()):
            raise ConfigError(
                f"sweeps: {name}: no sweep {kind!r}; known: {', '.join((GRID, *_kinds()))} "
                "(a new one has an entry in src/deepcac_study/catalogue/questions.yaml)"
            )


def _check_binary(settings: Config, registry: Registry) -> None:
    """Raise `ConfigError` for data sets of more than two classes where an experiment needs two."""
    named = [("theory", _dataset_of(name)) for name in settings.theory]
    for key, name in named:
        if registry.dataset(name).task != "binary":
            raise ConfigError(f"{key}: {name} has several classes; name a data set of two")


def _check_plans(settings: Config, registry: Registry) -> None:
    """Raise `ConfigError` for an entry of `runs` that plans no run."""
    plans = {"runs": settings.runs, "runs_beside": settings.runs_beside}
    for place, plan in ((f"{key}.{n}", plan) for key in plans for n, plan in enumerate(plans[key])):
        reads = {parse_method(name).sequence for name in plan.methods}
        if reads.isdisjoint(registry.dataset(name).sequence for name in plan.datasets):
            raise ConfigError(
                f"{place}: nothing is run, because {', '.join(plan.methods)} and "
                f"{', '.join(plan.datasets)} do not fit; methods that end in _ts run on hourly "
                "sequences, and only these do"
            )


def check_config(config: dict[str, Any], registry: Registry) -> dict[str, Any]:
    """Return a configuration with its defaults; its first fault is a one-line `ConfigError`.

    Every data set that it names must be in the registry and of a kind that its key can compute, and
    every entry of `runs` must plan a run.
    """
    refuse_retired(config)
    settings = checked(Config, config, "configuration")
    _check_sweeps([*settings.sweeps, *settings.sweeps_beside])
    for names in _named(settings):
        for name in names:
            registry.dataset(name)
    _check_binary(settings, registry)
    _check_plans(settings, registry)
    for name in settings.optional:
        if not registry.source(name).files:
            raise ConfigError(f"optional: {name} has no raw file that could be fetched")
    return settings.model_dump(exclude_defaults=False)
