"""A parameter that nobody fills would silently keep its default: each is given, offered or named."""

import inspect
from pathlib import Path

import pytest

from deepcac.errors import ConfigError
from deepcac.files.declared import resolve
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.steps import call

ROOT = Path(__file__).parents[3]
REGISTRY = load_registry(ROOT / "config" / "registry")
# What `transform`, `build_features` and `workflow/scripts/experiment.py` offer.
OF_STEPS = {"raw", "tidy", "folder", "threads", "scratch", "n"}
OF_FEATURES = {"tidy", "protocol"}
# Smaller or other generated tables; what not every clinical table has.
FOR_TESTS = {"seed", "region", "noise", "group", "rows"}


def steps():
    for source in REGISTRY.sources.values():
        for step in (source.extract, source.simulate):
            if step is not None:
                yield step, OF_STEPS
    for dataset in REGISTRY.datasets.values():
        if dataset.features is not None:
            yield dataset.features, OF_FEATURES


def named(step):
    files = [part for part in (step.reads, step.writes) if hasattr(part, "keys")]
    return {*step.arguments, *step.options, *(name for part in files for name in part)}


def unfilled(filled):
    """Return the optional parameters of each function that nothing fills."""
    return {
        f"{name}: {parameter}"
        for name, names in filled.items()
        for parameter, what in inspect.signature(resolve(name)).parameters.items()
        if what.default is not what.empty and parameter not in names
    }


def test_every_optional_parameter_of_a_step_is_filled_by_someone():
    filled: dict[str, set[str]] = {}
    for step, offered in steps():
        filled.setdefault(f"deepcac_study.{step.function}", set(offered)).update(named(step))
    rest = {name.partition(": ")[2] for name in unfilled(filled)}
    assert rest <= FOR_TESTS, "a renamed parameter silently keeps its default"


def test_a_parameter_without_default_that_nobody_fills_is_refused_by_name():
    def step(tidy, threads_of_mine):
        return tidy

    with pytest.raises(ConfigError, match="threads_of_mine"):
        call(step, {}, {"tidy": 1, "threads": 2})


def test_an_argument_that_the_function_does_not_have_is_refused_by_name():
    def step(tidy, noise=0.0):
        return tidy

    with pytest.raises(ConfigError, match="nois'"):
        call(step, {"tidy": 1, "nois": 2.0}, {"threads": 2})


def test_a_step_may_take_files_of_any_name():
    def step(folder, **archives):
        return folder, archives

    assert call(step, {"a": 1, "b": 2}, {"folder": 0, "n": 3}) == (0, {"a": 1, "b": 2})
