"""What the catalogue describes, carried out: steps of the registry, learners of the methods."""

from pathlib import Path

from deepcac.files.declared import resolve
from deepcac_study.catalogue.methods import learners
from deepcac_study.catalogue.registry import load_registry

REGISTRY = load_registry(Path(__file__).parents[2] / "config" / "registry")


def extracted(source, raw, tidy, cohort):
    step = REGISTRY.source(source).extract
    resolve(f"deepcac_study.{step.function}")(raw, tidy, cohort, **step.arguments)


def made(dataset, table):
    step = REGISTRY.dataset(dataset).features
    return resolve(f"deepcac_study.{step.function}")(table, **step.arguments)


def networks():
    return {name: learner.load() for name, learner in learners().networks.items()}


def make_base(name, *, seed=0):
    known = learners()
    return (known.classifiers | known.alone)[name].load()(seed)
