"""Code that a catalogue names, and no import: what computes a method, or fits a contender."""

from collections.abc import Iterable
from typing import Any

from deepcac.errors import ConfigError
from deepcac.judging.contenders import parse_contender
from deepcac.judging.spaces import PARTITION, learners
from deepcac_study.catalogue.methods import Method, parse_method
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.sourcecode import code_digest

NETWORKS = "deepcac_study.experiments.networks"  # which no run of the CAC family enters
_OF_SEVERAL = ("judge/planted/", "judge/tables/")  # records of several contenders


def method_code(names: Iterable[str]) -> dict[str, list[Any]]:
    """Return how each method is computed: its entry in the catalogue, and a digest of its code."""
    methods = {name: parse_method(name) for name in sorted(set(names))}
    return {
        name: [method.learner.computing, code_digest(_computes(method))]
        for name, method in methods.items()
    }


def contender_code(names: Iterable[str]) -> dict[str, str]:
    """Return digests of the code that fits contenders of the judge, by its module."""
    modules = {_fits(parse_contender(name).learner) for name in names}
    return {module: code_digest(module) for module in sorted(modules)}


def modules_of_record(path: str) -> list[str]:
    """Return the modules that tables name for a record at `path`, relative to ``results``.

    A run names its method, and trials of the judge name their contender; records of planted cohorts
    and of whole tables may be of any. What others fit, they import.
    """
    for run in runs_among([f"results/{path}"]):
        return [_computes(parse_method(run["method"]))]
    if not path.startswith("judge/"):
        return []
    try:
        return [_fits(parse_contender(path.rpartition("/")[2].removesuffix(".json")).learner)]
    except ConfigError:
        names = learners() if path.startswith(_OF_SEVERAL) else ()
        return sorted({_fits(name) for name in names if name != PARTITION})


def never_entered(path: str) -> str:
    """Return the package that the run of the record at `path` never enters; empty if none."""
    runs = runs_among([f"results/{path}"])
    of_cac = any(parse_method(run["method"]).family == "cac" for run in runs)
    return NETWORKS if of_cac else ""


def _computes(method: Method) -> str:
    return f"deepcac.{method.learner.estimator}".rpartition(".")[0]


def _fits(learner: str) -> str:
    return f"deepcac.judging.{learners()[learner].fit}".rpartition(".")[0]
