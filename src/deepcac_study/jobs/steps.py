"""The catalogue's steps, carried out: raw to tidy, tidy to features, and generated raw files."""

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
    """Carry out a step between two folders (`Source.extract`, `Source.simulate`).

    Its files as a mapping are arguments; else the function is given the folders. `threads`, a
    folder for `scratch` files and the number `n` of generated rows are given to a function that has
    a parameter of that name.
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

    A function that asks for a table of the folder `tables` is given the table, else the path; one
    that asks for a protocol gets it. `options` are the step's, with their values from the
    configuration. `unit` is what a row of the cohort is, if the features choose the rows; else the
    extraction has counted them.
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
    """Return the paths of files that are arguments, by argument."""
    if not isinstance(files, Mapping):
        return {}
    return {
        name: {key: folder / file for key, file in part.items()}
        if isinstance(part, Mapping)
        else folder / part
        for name, part in files.items()
    }


def rule_arguments(job: Any) -> dict[str, Any]:
    """Return the arguments that a rule gives to its function: all that it names.

    These are its inputs, outputs and parameters, but for the function itself (``call``) and the
    digest of its code (``code``). `job` is what Snakemake gives to scripts.
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
    """Call with everything that is given, and with what is offered and asked for.

    Raises
    ------
    ConfigError
        The function has no parameter of a given name, or one without a default is neither given
        nor offered.
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
