"""Steps as the registry describes them, for tests that read files in a source's own format."""

from pathlib import Path

from deepcac.catalogue.registry import load_registry
from deepcac.steps import resolve

REGISTRY = load_registry(Path(__file__).parents[2] / "config" / "registry")


def extracted(source, raw, tidy, cohort):
    step = REGISTRY.source(source).extract
    resolve(step)(raw, tidy, cohort, **step.arguments)


def made(dataset, table):
    step = REGISTRY.dataset(dataset).features
    return resolve(step)(table, **step.arguments)
