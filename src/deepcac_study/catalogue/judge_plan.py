"""The judge's part of the configuration: which contenders on which data, and tuning effort."""

import os
from typing import Annotated

from pydantic import AfterValidator, Field

from deepcac.files.declared import Entry, checked, read_yaml
from deepcac.judging.contenders import parse_contender
from deepcac.scoring.margins import MARGIN, STRICT
from deepcac_study.catalogue.entries import Id

FAMILY, LARGER, SMALLER, COUNTY, COHORT = POOLINGS = (
    *("family", "larger", "smaller", "county", "cohort"),
)


def _contender(name: str) -> str:
    return parse_contender(name).id


ContenderId = Annotated[str, AfterValidator(_contender)]


class Match(Entry):
    """Data sets and the contenders that are compared on each of them."""

    datasets: list[Id] = Field(
        description="data sets; models read a summary of each variable of hourly sequences"
    )
    contenders: list[ContenderId] = Field(
        description="learners of `src/deepcac/judging/spaces.yaml`, without clusters (`lgbm`) or "
        "with: `km_`, `cac_` (a model in each cluster), `dist_` (distances to the centres as "
        "features), `cells_`, `hash_` (partitions that mean nothing)"
    )


class Planted(Entry):
    """Generated cohorts with subtypes of reversed risks, which measure the study's power."""

    name: Id = Field(description="of its files, `results/judge/planted/{name}_{strength}.json`")
    strengths: list[float] = Field([], description="log odds ratios of the reversed factors")
    cohorts: int = Field(10, ge=1, description="cohorts of each strength")
    rows: int = Field(3000, ge=200, description="patients in a cohort")
    contenders: list[ContenderId] = Field([], description="as in `matches`")


class Tables(Entry):
    """Tables that are compared in one job each, with less effort, in separate families."""

    datasets: list[Id] = Field([], description="as `results/judge/tables/{dataset}.json`")
    contenders: list[ContenderId] = Field([], description="as in `matches`")
    resamples: int = Field(10, ge=2, description="as of the judge")
    resamples_small: int = Field(20, ge=2, description="as of the judge")
    resamples_of: dict[str, Annotated[int, Field(ge=2)]] = Field(
        {}, description="data sets that have another number, because they take long"
    )
    small_rows: int = Field(2000, ge=0, description="as of the judge")
    train_rows: int = Field(2000, ge=100, description="as of the judge")
    trials: int = Field(6, ge=1, description="as of the judge")
    network_trials: int = Field(1, ge=1, description="as of the judge")


class KnownThen(Entry):
    """What a task leaves out because nobody may have known it when the prediction was due."""

    without: list[str] = Field([], description="columns, with all levels of a category")
    missing: dict[str, float] = Field({}, description="by column, the number that means no value")
    filled: list[str] = Field(
        [], description="columns whose gaps become their median, so that no model sees the gaps"
    )


class Added(Entry):
    """Contenders added after the plan: docs/archive/judge-plan-evidence.md, part 2."""

    datasets: list[Id] = Field(
        [], description="cohorts: random groups choose a trial in each partition"
    )
    contenders: list[ContenderId] = Field(
        [], description="models on these cohorts, in addition to the plan"
    )
    on_splines: list[ContenderId] = Field([], description="models on every clinical task")
    known_then: dict[Id, KnownThen] = Field(
        {}, description="a second run of tasks, `results/judge/clinical/known_then/`"
    )
    by_place: list[Match] = Field(
        [], description="a second run, whole groups held out: `results/judge/clinical/by_place/`"
    )
    families: list[list[str]] = Field(
        [], description="as of the clinical tasks, with these cohorts"
    )


class BySize(Entry):
    """Clinics of growing size from real tables (docs/archive/judge-plan-evidence.md, part 2)."""

    sizes: dict[Id, list[Annotated[int, Field(ge=200)]]] = Field(
        {},
        description="patients of a clinic, by table: `results/judge/by_size/{table}_{size}.json`",
    )
    strengths: list[Annotated[float, Field(ge=0)]] = Field(
        [0.0], description="of the planted part; 0 plants nothing, 1 changes signs"
    )
    draws: int = Field(5, ge=1, description="clinics of each size and strength")
    draws_large: int = Field(3, ge=1, description="the same of `large_rows` patients or more")
    large_rows: int = Field(12_800, ge=0, description="from how many patients on a clinic is large")
    resamples: int = Field(10, ge=2, description="as of the judge")
    train_rows: int = Field(10_000, ge=100, description="as of the judge")
    trials: int = Field(10, ge=1, description="as of the judge")


class Clinical(Entry):
    """Clinical tasks, in small families and pooled over cohorts (docs/archive/judge-plan.md)."""

    datasets: list[Id] = Field(
        [], description="tasks, as `results/judge/clinical/{dataset}/{contender}.json`"
    )
    contenders: list[ContenderId] = Field([], description="as in `matches`")
    cohorts: dict[str, str] = Field({}, description="the cohort of tasks that share one")
    families: list[list[str]] = Field(
        [], description="cohorts that share patients, the larger first: they count as one"
    )
    county: list[Id] = Field(
        [],
        description="tasks whose patients may be the same, which nobody can tell: the pooled "
        "estimate is also given with them as one",
    )
    apart: list[Id] = Field(
        [], description="tasks of no documented origin: tested, but in no pooled estimate"
    )
    partitions: int = Field(20, ge=1, description="random partitions of the control")
    also: list[Match] = Field([], description="further models on some of the tasks")
    added: Added = Field(
        Added.model_validate({}),
        description="what meets after the plan, and enters none of its comparisons",
    )

    def wanted(self) -> dict[str, list[str]]:
        """Return the contenders of each task."""
        also = [(name, match.contenders) for match in self.also for name in match.datasets]
        both = [*((name, self.contenders) for name in self.datasets), *also]
        tasks: dict[str, list[str]] = {}
        for name, contenders in both:
            tasks.setdefault(name, []).extend(contenders)
        return tasks

    def poolings(self, *, added: bool = False) -> dict[str, dict[str, str]]:
        """Return, for each way to count cohorts, the cohort of every task that counts.

        `FAMILY`: tables that share patients are one cohort. `LARGER` and `SMALLER`: only the first
        or the last of these counts. `COUNTY`: as `FAMILY`, and the tasks of a county are one.
        `COHORT`: as if no patients were shared. `added` includes the cohorts added after the plan.
        """
        tasks = [*self.wanted(), *(self.added.datasets if added else ())]
        families = [*self.families, *(self.added.families if added else ())]
        cohorts = {name: self.cohorts.get(name, name) for name in tasks}
        first = {name: family[0] for family in families for name in family}
        last = {name: family[-1] for family in families for name in family}
        family = {task: first.get(name, name) for task, name in cohorts.items()}
        return {
            FAMILY: family,
            LARGER: {task: name for task, name in cohorts.items() if first.get(name, name) == name},
            SMALLER: {task: name for task, name in cohorts.items() if last.get(name, name) == name},
            COUNTY: {**family, **dict.fromkeys(self.county, "county")},
            COHORT: cohorts,
        }


class Judge(Entry):
    """The study that asks whether clusters help: equal tuning, controls, margins."""

    matches: list[Match] = Field([], description="who meets on which data")
    planted: list[Planted] = Field([], description="the positive control, by learner")
    tables: Tables = Field(Tables.model_validate({}), description="more tables, one job each")
    clinical: Clinical = Field(
        Clinical.model_validate({}), description="clinical tasks, with a grid of k and alpha"
    )
    by_size: BySize = Field(BySize.model_validate({}), description="what clinics could have seen")
    resamples: int = Field(10, ge=2, description="draws of training, validation and test rows")
    resamples_small: int = Field(30, ge=2, description="the same for small data sets")
    small_rows: int = Field(2500, ge=0, description="a data set with fewer rows is small")
    train_rows: int = Field(
        10_000, ge=100, description="largest number of training rows; of more a part is drawn"
    )
    trials: int = Field(20, ge=1, description="trials of each model; the first is the default")
    network_trials: int = Field(8, ge=1, description="trials of each network")
    margin: float = Field(MARGIN, gt=0, description="differences up to this are negligible")
    strict_margin: float = Field(STRICT, gt=0, description="a stricter margin, shown next to it")


def read_judge(path: str | os.PathLike[str]) -> Judge:
    """Read the judge's part of a configuration file."""
    content = read_yaml(path)
    return checked(Judge, content.get("judge", {}), f"{path}: judge")
