# From raw clinical data to every table and figure of the papers on clustering-aware classification.
import sys
from pathlib import Path

from snakemake.utils import min_version, validate

from deepcac.catalogue.methods import CLASSIFIERS, known_methods
from deepcac.layout import Layout
from deepcac.catalogue.registry import load_registry

min_version("9.20")


configfile: "config/config.yaml"


validate(config, "workflow/schemas/config.schema.yaml")

registry = load_registry(Path(workflow.basedir) / "config" / "registry")
layout = Layout(registry, config)
report_runs = layout.all_runs()


wildcard_constraints:
    demo="(demo_)?",
    variant="(as_published(_cv5|_v2)?/|switches/[A-Z]+[0-9]+/)?",
    dataset="(demo_)?(" + "|".join(registry.datasets) + ")",
    k="[1-9][0-9]*",


report: "workflow/report/workflow.rst"


include: "workflow/rules/fetch.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/extract.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/splits.smk"
include: "workflow/rules/shared.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/report.smk"


localrules:
    fetch,
    all,
    features,
    splits,
    cac,
    deep,


rule all:
    default_target: True
    input:
        "results/report/index.html",
        layout.feature_files(),
        layout.split_files(),


rule features:
    input:
        layout.feature_files(),


rule splits:
    input:
        layout.split_files(),


rule cac:
    input:
        layout.runs("cac"),


rule deep:
    input:
        layout.runs("deep"),


# Rebuilt files that equal their DVC pointers enter the local cache, so that `dvc status` is clean.
onsuccess:
    if Path(".dvc").is_dir():
        shell(
            f"{sys.executable} {workflow.basedir}/workflow/scripts/pointers.py || true"
        )
