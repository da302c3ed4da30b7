"""Paths of the study's files, from its part of the configuration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepcac.errors import ConfigError
from deepcac.judging.contenders import parse_contender
from deepcac_study.catalogue.record_kinds import BY_PLACE, KNOWN_THEN
from deepcac_study.records.record import answers_path

FOLDER = "results/judge"
PLANTED = "planted"
TABLES, CLINICAL, BY_SIZE = "tables", "clinical", "by_size"
_EFFORT = ["resamples", "resamples_small", "small_rows", "train_rows", "trials", "network_trials"]


@dataclass(frozen=True)
class StudyFiles:
    """Paths of the study.

    `judge` is the validated part of the configuration; `reachable` returns whether a data set is
    available.
    """

    judge: Mapping[str, Any]
    reachable: Callable[[str], bool]

    @property
    def effort(self) -> dict[str, int]:
        """Trials and resamples of every contender (`deepcac.judging.trials.Effort`)."""
        return {name: self.judge[name] for name in _EFFORT}

    @property
    def trials(self) -> list[str]:
        """The stored trials of every contender on each of its data sets."""
        return list(
            dict.fromkeys(
                f"{FOLDER}/{dataset}/{parse_contender(name).id}.json"
                for match in self.judge["matches"]
                for dataset in filter(self.reachable, match["datasets"])
                for name in match["contenders"]
            )
        )

    @property
    def files(self) -> list[str]:
        """All files that the study writes."""
        several = (*self.trials, *self.clinical, *self.added)
        stored = [str(answers_path(record)) for record in several]
        return [
            *self.trials,
            *self.clinical,
            *self.added,
            *self.by_size,
            *self.clinical_results,
            *stored,
            *self.planted,
            *self.tables,
            *self.verdicts,
        ]

    @property
    def planted(self) -> list[str]:
        """The records of the planted cohorts, one per strength."""
        return [
            f"{FOLDER}/{PLANTED}/{entry['name']}_{strength:g}.json"
            for entry in self.judge["planted"]
            for strength in entry["strengths"]
        ]

    def cohorts(self, name: str) -> dict[str, Any]:
        """Return the arguments of `run_planted` for a part of the positive control."""
        part = _named("planted part", name, self.judge["planted"])
        return {key: part[key] for key in ("cohorts", "rows", "contenders")}

    def table_effort(self, dataset: str) -> dict[str, int]:
        """Return the effort on a table that is run in one job."""
        settings = self.judge["tables"]
        effort = {name: settings[name] for name in _EFFORT}
        n = settings["resamples_of"].get(dataset)
        return effort | dict.fromkeys(("resamples", "resamples_small"), n) if n else effort

    @property
    def tables(self) -> list[str]:
        """The records of tables that are run in one job each."""
        asked = filter(self.reachable, self.judge["tables"]["datasets"])
        return [f"{FOLDER}/{TABLES}/{dataset}.json" for dataset in asked]

    def clinical_effort(self, dataset: str, contender: str) -> dict[str, Any]:
        """Return the effort of a contender on a clinical task.

        On added cohorts, the best trial is chosen for every random partition separately; with
        splines, random groups are a single contender, chosen as clusters are.
        """
        settings = self.judge["clinical"]
        once = contender in settings["added"]["on_splines"]
        partitions = 1 if once else settings["partitions"]
        each = dataset in settings["added"]["datasets"] and not once
        return self.effort | {"partitions": partitions, "choose_in_each": each, "grid": True}

    @property
    def by_size(self) -> list[str]:
        """The records of clinics, one per table and size."""
        sizes = self.judge["by_size"]["sizes"]
        return [
            f"{FOLDER}/{BY_SIZE}/{dataset}_{rows}.json"
            for dataset in filter(self.reachable, sizes)
            for rows in sizes[dataset]
        ]

    def size_effort(self, rows: int) -> dict[str, Any]:
        """Return strengths, draws and effort for one size of clinic."""
        settings = self.judge["by_size"]
        draws = settings["draws_large" if rows >= settings["large_rows"] else "draws"]
        once = {"resamples_small": settings["resamples"], "small_rows": 0, "network_trials": 1}
        effort = {name: settings[name] for name in ("resamples", "train_rows", "trials")}
        return {
            "strengths": settings["strengths"],
            "draws": draws,
            "effort": effort | once | {"grid": True},
        }

    @property
    def added(self) -> list[str]:
        """The stored trials added to the clinical tasks after the plan."""
        on_splines = self.judge["clinical"]["added"]["on_splines"]
        new = [path for path in self.on_splines if Path(path).stem in on_splines]
        second_runs = (*self.second_run, *self.by_place)
        return list(dict.fromkeys([*new, *self.cohorts_added, *second_runs]))

    @property
    def on_splines(self) -> list[str]:
        """The stored trials of splines with clusters, and of splines, on every clinical task."""
        settings = self.judge["clinical"]
        added = settings["added"]
        return [
            f"{FOLDER}/{CLINICAL}/{dataset}/{name}.json"
            for dataset in filter(self.reachable, [*settings["datasets"], *added["datasets"]])
            for name in ("spline_lr", *added["on_splines"])
        ]

    @property
    def cohorts_added(self) -> list[str]:
        """The stored trials of every contender without splines in clusters on added cohorts."""
        settings = self.judge["clinical"]
        added = settings["added"]
        return [
            f"{FOLDER}/{CLINICAL}/{dataset}/{name}.json"
            for dataset in filter(self.reachable, added["datasets"])
            for name in (*settings["contenders"], *added["contenders"])
        ]

    @property
    def second_run(self) -> list[str]:
        """The stored trials of tasks without what may not be known when they predict."""
        settings = self.judge["clinical"]
        return [
            f"{FOLDER}/{CLINICAL}/{KNOWN_THEN}/{dataset}/{name}.json"
            for dataset in filter(self.reachable, settings["added"]["known_then"])
            for name in settings["contenders"]
        ]

    @property
    def by_place(self) -> list[str]:
        """The stored trials of tasks whose groups are held out whole."""
        return [
            f"{FOLDER}/{CLINICAL}/{BY_PLACE}/{dataset}/{name}.json"
            for match in self.judge["clinical"]["added"]["by_place"]
            for dataset in filter(self.reachable, match["datasets"])
            for name in match["contenders"]
        ]

    @property
    def clinical(self) -> list[str]:
        """The stored trials of every contender on every clinical task."""
        settings = self.judge["clinical"]
        matches = [settings, *settings["also"]]
        return [
            f"{FOLDER}/{CLINICAL}/{dataset}/{parse_contender(name).id}.json"
            for match in matches
            for dataset in filter(self.reachable, match["datasets"])
            for name in match["contenders"]
        ]

    @property
    def clinical_results(self) -> list[str]:
        """The joint tables of the clinical tasks, if there are any."""
        names = ("tasks", "verdicts", "decisions", "pooled") if self.clinical else ()
        return [f"{FOLDER}/{CLINICAL}/{name}.csv" for name in names]

    @property
    def added_results(self) -> list[str]:
        """The tables that the report shows of what was added after the plan."""
        names = ("cohorts", "on_splines") if self.clinical else ()
        return [f"{FOLDER}/{CLINICAL}/added/{name}.csv" for name in names]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts and their summary, if there are any comparisons."""
        names = ("verdicts.csv", "summary.json") if self.judge["matches"] else ()
        return [f"{FOLDER}/{name}" for name in names]


def _named(kind: str, name: str, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the entry of this name; ConfigError lists those known."""
    by_name = {entry["name"]: entry for entry in entries}
    if name not in by_name:
        raise ConfigError(
            f"no {kind} {name!r} in the configuration; known: {', '.join(by_name) or 'none'}"
        )
    return by_name[name]
