"""The rules: the same names whatever is configured, one maker a file, arguments that fit."""

import ast
import inspect
import re
from pathlib import Path

import pytest
import yaml
from checkouts import ROOT
from workflow_rules import CONFIGURATIONS, workflow_rules

from deepcac.files.declared import resolve
from deepcac_study.catalogue.config import check_config
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.layout import Layout
from deepcac_study.jobs.sharing import shared_files
from deepcac_study.jobs.steps import NO_ARGUMENTS

SCRIPTS = ROOT / "workflow" / "scripts"
OFFERED = {"threads"}  # by call.py, beside the wildcards
# By experiment.py, to the function that a rule names.
OF_EXPERIMENTS = set(
    re.findall(r'^        "(\w+)": ', (SCRIPTS / "experiment.py").read_text(), re.MULTILINE)
)


def with_script(name: str) -> dict[str, object]:
    rules = workflow_rules()
    return {key: rule for key, rule in rules.items() if str(rule.script).endswith(f"/{name}")}


def test_names_do_not_depend_on_the_configuration():
    names = [list(workflow_rules(name)) for name in CONFIGURATIONS]
    assert names[0] == names[1]
    assert len(names[0]) <= 52


def test_every_rule_is_described():
    described = {name: rule.docstring for name, rule in workflow_rules().items()}
    assert all(text and len(text) < 110 for text in described.values()), described


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_file_has_one_maker(configuration):
    registry = load_registry(ROOT / "config" / "registry", private=False)
    content = yaml.safe_load((ROOT / "config" / f"{configuration}.yaml").read_text())
    layout = Layout(registry, check_config(content, registry))
    files = [*shared_files(layout), "results/report/index.html"]
    files += ["data/raw/demo_wids", "data/tidy/titanic", "data/raw/titanic/titanic3.csv"]
    rules = workflow_rules(configuration)
    makers = {
        file: [name for name, rule in rules.items() if rule.is_producer(file)] for file in files
    }
    assert {file: names for file, names in makers.items() if len(names) != 1} == {}


def test_what_a_rule_names_are_the_arguments_of_its_function():
    rules = with_script("call.py")
    assert len(rules) > 10
    for name, rule in rules.items():
        parts = (rule.input, rule.output, rule.params)
        given = {key for part in parts for key, _ in part.items()} - {*NO_ARGUMENTS}
        signature = inspect.signature(resolve(rule.params.call))
        offered = (OFFERED | rule.wildcard_names) & signature.parameters.keys()
        signature.bind(**dict.fromkeys(given | offered)), name


def test_what_an_experiment_asks_for_is_offered():
    rules = with_script("experiment.py")
    assert len(rules) > 5
    for name, rule in rules.items():
        parameters = inspect.signature(resolve(rule.params.call)).parameters
        needed = {key for key, what in parameters.items() if what.default is what.empty}
        assert needed <= OF_EXPERIMENTS, name
        inputs = dict(rule.input.items())
        assert {"features", "splits"} <= inputs.keys(), name
        assert ("pretrained" in parameters) == ("pretrained" in inputs), name


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_script_passes_are_the_arguments_of_the_function(script: Path):
    tree = ast.parse(script.read_text())
    imported = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("deepcac")
        for alias in node.names
    }
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in imported
    ]
    assert calls
    for call in calls:
        if any(isinstance(part, ast.Starred) for part in call.args) or any(
            keyword.arg is None for keyword in call.keywords
        ):
            continue
        keywords = {keyword.arg: None for keyword in call.keywords}
        function = resolve(imported[call.func.id])
        if inspect.isfunction(function):
            inspect.signature(function).bind(*call.args, **keywords)


def test_profiles_name_rules_that_there_are():
    rules = workflow_rules()
    for path in (ROOT / "workflow" / "profiles").glob("*/*.yaml"):
        profile = yaml.safe_load(path.read_text())
        named = {*profile.get("set-resources", {}), *profile.get("set-threads", {})}
        named |= {entry.split("=")[0] for entry in profile.get("groups", [])}
        assert named <= rules.keys(), path


def test_a_rule_reads_no_command_line_and_is_made_in_no_loop():
    for path in (ROOT / "workflow").rglob("*.smk"):
        text = path.read_text()
        assert not re.search(r"sys\.argv|^ +(use )?rule\b", text, re.MULTILINE), path
        if path.name not in ("common.smk", "project.smk", "resources.smk"):
            assert not re.search(r"\blambda\b|^def |^for |^if ", text, re.MULTILINE), path
