# From raw clinical data to every table and figure of the papers on clustering-aware classification.
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version

from deepcac.catalogue.config import check_config
from deepcac.catalogue.methods import CENTROID_RULE, classifiers
from deepcac.catalogue.protocol import folder_pattern
from deepcac.catalogue.registry import load_registry
from deepcac.dryrun import Summary
from deepcac.errors import ConfigError
from deepcac.layout import Layout, dataset_pattern
from deepcac.sourcecode import code_digest

min_version("9.20")

# `snakemake -n` is a summary; with `-p` it lists every job.
if workflow.output_settings.dryrun and not workflow.output_settings.printshellcmds:
    logger.addFilter(Summary())


configfile: "config/config.yaml"


try:
    registry = load_registry(Path(workflow.basedir) / "config" / "registry")
    config |= check_config(config, registry)
    layout = Layout(registry, config)
    layout.check_targets(sys.argv[1:])
    report_runs = layout.all_runs()
except ConfigError as error:
    raise WorkflowError(str(error)) from None


wildcard_constraints:
    variant=folder_pattern(),
    # Any name: one that is not known is refused with near names, not with a missing rule.
    dataset=dataset_pattern(),
    method="[a-z0-9_]+",
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
include: "workflow/rules/skmeans.smk"
include: "workflow/rules/decomposition.smk"
include: "workflow/rules/report.smk"


localrules:
    fetch,
    all,
    features,
    splits,
    cac,
    deep,
    skmeans,


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
        script = Path(workflow.basedir) / "workflow" / "scripts" / "pointers.py"
        subprocess.run([sys.executable, str(script)], check=False)
