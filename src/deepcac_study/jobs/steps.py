"""Execution of the catalogue's steps: raw to tidy, tidy to features, and generated raw files."""

import inspect
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.atomic import atomic_path
from deepcac.files.declared import resolve
from deepcac.files.storage import read_table
from deepcac_study.catalogue.entries import Files, Step
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.catalogue.registry import DEMO
from deepcac_study.cohort import write_cohort
from deepcac_study.features.pairwise import PairwiseData, write_pairwise

NO_ARGUMENTS = ("call", "code")  # parameters of rules that are no arguments of their functions


def transform(
    step: Step,
    raw: Path,
    tidy: Path,
    *,
    threads: int = 1,
    scratch: str | os.PathLike[str] | None = None,
    n: int | None = None,
) -> None:
    """Run a step between two folders (`Source.extract`, `Source.simulate`).

    Files declared as a mapping are passed as arguments; else the function gets the folders.
    `threads`, a folder for `scratch` files and the number `n` of generated rows are passed to
    functions with a parameter of that name.
    """
    tidy.mkdir(parents=True, exist_ok=True)
    given = _named(step.reads, raw) | _named(step.writes, tidy) | step.arguments
    folders = {"raw": raw, "tidy": tidy, "folder": tidy}
    call(_function(step), given, {**folders, "threads": threads, "scratch": scratch, "n": n})


def build_features(
    step: Step,
    tables: Path,
    features: str | os.PathLike[str],
    cohort: str | os.PathLike[str],
    *,
    dataset: str,
    protocol: Protocol,
    options: Mapping[str, Any],
    unit: str = "",
) -> None:
    """Make the feature file of a data set and its cohort flow.

    A parameter annotated as a table gets the table in the folder `tables`, any other its path; a
    `protocol` is passed to functions that have this parameter. `options` are the step's, with
    values from the configuration. `unit` is what a row of the cohort is, if the step selects the
    rows; else the cohort flow of the extraction is copied.
    """
    function = _function(step)
    given = _named(step.reads, tables)
    kinds = inspect.get_annotations(function)
    for name in given:
        if kinds.get(name) is pa.Table:
            given[name] = read_table(given[name])
    given |= {**step.arguments, **options}
    made = call(function, given, {"tidy": tables, "protocol": protocol})
    matrix, flow = made if isinstance(made, tuple) else (made, [])
    if isinstance(matrix, PairwiseData):
        write_pairwise(features, matrix)
    else:
        write_features(features, matrix)
    if step.reads and not unit:
        with atomic_path(cohort) as partial:
            shutil.copyfile(tables / f"cohort_{dataset.removeprefix(DEMO)}.json", partial)
    else:
        details = flow if isinstance(flow, Mapping) else {"flow": flow}
        label = matrix.label if isinstance(matrix, FeatureMatrix) else None
        write_cohort(cohort, unit=unit, label=label, **details)


def _function(step: Step) -> Callable[..., Any]:
    return resolve(f"deepcac_study.{step.function}")


def _named(files: Files, folder: Path) -> dict[str, Any]:
    """Return the paths of files that are arguments, by argument; empty for a list of files."""
    if not isinstance(files, Mapping):
        return {}
    return {
        name: {key: folder / file for key, file in part.items()}
        if isinstance(part, Mapping)
        else folder / part
        for name, part in files.items()
    }


def rule_arguments(job: Any) -> dict[str, Any]:
    """Return the arguments of a rule's function: the rule's named inputs, outputs and parameters.

    The function itself (``call``) and the digest of its code (``code``) are left out. `job` is the
    ``snakemake`` object of scripts.
    """
    files = {**dict(job.input.items()), **dict(job.output.items())}
    given: dict[str, Any] = {
        name: file if isinstance(file, str) else list(file) for name, file in files.items()
    }
    given |= {name: value for name, value in job.params.items() if name not in NO_ARGUMENTS}
    if "effort" in given:
        from deepcac.judging.trials import Effort

        given["effort"] = Effort(**given["effort"])
    return given


def call(function: Callable[..., Any], given: dict[str, Any], offered: Mapping[str, Any]) -> Any:
    """Call a function with all `given` arguments, and those `offered` that it has parameters for.

    Raises
    ------
    ConfigError
        The function lacks a parameter that is given, or a required one is neither given nor
        offered.
    """
    parameters = inspect.signature(function).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    unknown = [] if inspect.Parameter.VAR_KEYWORD in kinds else sorted(given.keys() - parameters)
    if unknown:
        raise ConfigError(
            f"{function.__module__}.{function.__qualname__} has no argument {unknown[0]!r}; it has "
            f"{', '.join(parameters)}"
        )
    filled = {**{name: offered[name] for name in parameters.keys() & offered.keys()}, **given}
    for name, parameter in parameters.items():
        several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and name not in filled and not several:
            raise ConfigError(
                f"{function.__module__}.{function.__qualname__} asks for {name!r}, which no step "
                f"gives; offered are {', '.join(sorted(offered))}"
            )
    return function(**filled)
