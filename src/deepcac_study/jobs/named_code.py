"""Digests of code that the catalogue names, without an import: for methods and contenders."""

from collections.abc import Iterable
from typing import Any

from deepcac.judging.contenders import parse_contender
from deepcac.judging.spaces import learners
from deepcac_study.catalogue.methods import Method, parse_method
from deepcac_study.sourcecode import code_digest

NETWORKS = "deepcac_study.experiments.networks"  # which no run of the CAC family enters


def method_code(names: Iterable[str]) -> dict[str, list[Any]]:
    """Return the catalogue entry and code digest of each method."""
    methods = {name: parse_method(name) for name in sorted(set(names))}
    return {
        name: [method.learner.computing, code_digest(_computes(method))]
        for name, method in methods.items()
    }


def contender_code(names: Iterable[str]) -> dict[str, str]:
    """Return digests of the code that fits the judge's contenders, by module."""
    contenders = [parse_contender(name) for name in names]
    parts = {part for each in contenders for part in (each.learner, each.arm)}
    modules = {_fits(part) for part in parts & learners().keys()}
    return {module: code_digest(module) for module in sorted(modules)}


def _computes(method: Method) -> str:
    """Return the module of the library that defines a method's estimator."""
    return f"deepcac.{method.learner.estimator}".rpartition(".")[0]


def _fits(learner: str) -> str:
    """Return the module of deepcac.judging that fits a learner."""
    return f"deepcac.judging.{learners()[learner].fit}".rpartition(".")[0]
