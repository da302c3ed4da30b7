"""Digests of the code: an edit anywhere below a stage is seen, a comment is not."""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from snakemake.iocontainers import Wildcards
from workflow_rules import workflow_rules

import deepcac
from deepcac.errors import ConfigError
from deepcac.judging.spaces import PARTITION, learners
from deepcac_study import sourcecode
from deepcac_study.catalogue.methods import methods
from deepcac_study.jobs.named_code import (
    NETWORKS,
    contender_code,
    method_code,
)
from deepcac_study.sourcecode import LIBRARIES, code_digest, files_digest, folder_digest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
CAC, RUN, RAW = "deepcac.cac", "deepcac_study.experiments.run", "deepcac_study.raw"
JUDGE = "deepcac_study.judge.trial_files"
COMPILE = """
from deepcac_study.sourcecode import compiled_cache
compiled_cache()
from deepcac.cac.cluster import cluster
import numpy as np
X = np.arange(12.0).reshape(6, 2) % 5
print(cluster(X, [0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1], 0.1).moves.tolist())
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SOURCES, tmp_path / "src"))


def said(copy: Path, code: str, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment | variables, capture_output=True, text=True, check=True
    ).stdout.strip()


def edit(copy: Path, name: str, old: str, new: str) -> None:
    path = copy / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def digest_of(copy: Path, *names: str) -> str:
    call = f"from deepcac_study.sourcecode import code_digest; print(code_digest(*{names}))"
    return said(copy, call)


def cache_of(copy: Path, **variables: str) -> str:
    call = "from deepcac_study.sourcecode import compiled_cache; print(compiled_cache())"
    return said(copy, call, **variables)


def test_the_digest_of_a_stage_sees_what_it_imports_and_no_more(copy):
    before = {name: digest_of(copy, name) for name in (CAC, RUN, RAW)}
    assert before[CAC] == code_digest(CAC)
    edit(copy, "deepcac/cac/kernels/state.py", "total += a[f] * b[f]", "total += 2.0 * a[f] * b[f]")
    after = {name: digest_of(copy, name) for name in before}
    assert after[CAC] != before[CAC]
    assert after[RUN] != before[RUN]
    assert after[RAW] == before[RAW]


@pytest.mark.parametrize("library", LIBRARIES)
def test_another_version_of_a_library_that_computes_is_other_software(monkeypatch, library):
    before = code_digest(CAC)
    found = metadata.version
    monkeypatch.setattr(metadata, "version", lambda n: "99.0" if n == library else found(n))
    sourcecode._libraries.cache_clear()
    code_digest.cache_clear()
    assert code_digest(CAC) != before
    monkeypatch.undo()
    sourcecode._libraries.cache_clear()
    code_digest.cache_clear()
    assert code_digest(CAC) == before


def test_every_job_that_computes_records_its_software():
    rules = workflow_rules().values()
    computing = {rule.name: [*dict(rule.params.items())] for rule in rules if rule.script}
    assert len(computing) >= 20
    # These compute nothing: they fetch, copy or compare.
    without = {name for name, given in computing.items() if "code" not in given}
    assert without == {"fetch", "share", "spotcheck"}


def test_what_a_table_names_is_code_of_the_jobs_that_use_it_and_of_no_others():
    """Editing a network that only a table names makes its runs again, and no others."""
    computes = {
        m.id: f"deepcac.{m.learner.estimator}".rpartition(".")[0] for m in methods().values()
    }
    assert len(set(computes.values())) > 10
    made = method_code(methods())
    assert {name: digest for name, (_, digest) in made.items()} == {
        name: code_digest(module) for name, module in computes.items()
    }
    assert "deepcac.nn.grasp" not in sourcecode._closure([RUN])
    assert contender_code(["lr", "km_lgbm"]).keys() == {"deepcac.judging.learners"}
    assert contender_code(["lr", "deepcac"]).keys() == {
        "deepcac.judging.deep_learners",
        "deepcac.judging.learners",
    }
    assert "deepcac.judging.deep_learners" not in sourcecode._closure([JUDGE])
    fits = {
        f"deepcac.judging.{entry.fit}".rpartition(".")[0]
        for name, entry in learners().items()
        if name != PARTITION
    }
    assert contender_code(name for name in learners() if name != PARTITION).keys() == fits


def test_an_edit_of_a_network_is_seen_by_its_runs_and_trials(copy):
    ask = (
        "from deepcac_study.jobs.named_code import contender_code as fits, method_code as computes\n"
        "for name in ('grasp', 'lr'): print(computes([name])); print(fits([name]))"
    )
    before = said(copy, ask).splitlines()
    edit(copy, "deepcac/nn/grasp.py", "\n\n\ndef means(", "\n\n\nMORE = 1\n\n\ndef means(")
    after = said(copy, ask).splitlines()
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True, True]


def test_an_edit_of_a_network_is_none_of_the_classifiers_of_cac(copy):
    ask = f"code_digest('{RUN}', without='{NETWORKS}'), code_digest('{RUN}')"
    ask = f"from deepcac_study.sourcecode import code_digest; print({ask})"
    before = said(copy, ask).split()
    edit(copy, "deepcac/nn/deepcac.py", "\n\n\n@dataclass", "\n\n\nMORE = 1\n\n\n@dataclass")
    after = said(copy, ask).split()
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False]
    # No run of these methods could enter it.
    reached = sourcecode._closure([RUN], NETWORKS)
    cac = {
        f"deepcac.{m.learner.estimator}".rpartition(".")[0]
        for m in methods().values()
        if m.family == "cac"
    }
    assert not any(name.startswith(("deepcac.nn.deepcac", NETWORKS)) for name in reached | cac)


def test_another_method_of_the_catalogue_is_no_other_code(copy):
    edit(
        copy,
        "deepcac_study/catalogue/methods.yaml",
        "networks:\n",
        'networks:\n  more: {label: More, colour: "#000001", estimator: nn.fnn.More}\n',
    )
    assert digest_of(copy, RUN) == code_digest(RUN)
    ask = "from deepcac_study.jobs.named_code import method_code; print(method_code(['grasp']))"
    assert said(copy, ask) == str(method_code(["grasp"]))


SOUND_CIC = {"variant": "", "dataset": "cic"}


@pytest.mark.parametrize(
    ("rule", "wildcards", "named"),
    [
        ("run", {**SOUND_CIC, "method": "cac_xgb", "k": "2"}, method_code(["cac_xgb"])),
        ("deep_run", {**SOUND_CIC, "method": "grasp", "k": "2"}, method_code(["grasp"])),
        ("table_runs", {"variant": "switches/A1/", "dataset": "cic"}, method_code(["lr", "km_lr", "cac_lr"])),
        ("judge_trials", {"dataset": "cic", "contender": "deepcac"}, contender_code(["deepcac"])),
        ("judge_clinical", {"dataset": "cic", "contender": "lr"}, contender_code(["lr"])),
        ("judge_subtypes", {"dataset": "cic"}, contender_code(["subtypes", "subtypes_gbm"])),
        ("judge_planted", {"part": "lr", "strength": "0"}, contender_code(["lr", "cac_lr"])),
        ("judge_table", {"dataset": "cic_ts"}, contender_code(["lr", "subtypes"])),
    ],
)  # fmt: skip
def test_rules_of_runs_and_trials_record_the_code_that_tables_name(rule, wildcards, named):
    rules = workflow_rules()
    code = rules[rule].params.code
    code = code(Wildcards(fromdict=wildcards)) if callable(code) else code
    assert code[1] == named
    without_networks = code_digest(RUN, without=NETWORKS)
    assert (code[0] == without_networks) == (rule in ("run", "table_runs"))


def test_what_judges_without_such_code_imports_what_it_fits():
    rules = workflow_rules()
    calls = {rules[name].params.call for name in ("judge_clinical_tasks", "judge_verdicts")}
    for module in {call.rpartition(".")[0] for call in calls}:
        reached = sourcecode._closure([module])
        assert {"deepcac.judging.learners", "deepcac.judging.spaces"} & reached, module


def test_the_report_records_what_it_reads_beside_its_inputs():
    given = dict(workflow_rules()["report"].params.items())
    assert {"code", "registry", "catalogue", "tables", "records", "judged", "judgements"} <= {
        *given
    }
    catalogue = SOURCES / "deepcac_study" / "catalogue"
    assert given["catalogue"] == [folder_digest(catalogue, kind) for kind in ("*.yaml", "*.csv")]
    assert given["tables"] == folder_digest(ROOT / "docs" / "results", "*.csv")


def test_every_call_by_name_from_a_table_is_listed():
    """What else calls `resolve` is told the name by a rule, which names the module beside it."""
    callers = {
        name
        for name in sourcecode._modules()
        if re.search(r"\bresolve\(f?\"", sourcecode._text(name))
    }
    assert callers == {
        "deepcac.judging.fitting",
        "deepcac.judging.partitions",
        "deepcac_study.catalogue.methods",
        "deepcac_study.jobs.steps",
    }


def test_comments_docstrings_layout_and_version_are_no_difference(copy):
    before = digest_of(copy, CAC)
    edit(copy, "deepcac/cac/kernels/state.py", "def allocate(", "# a comment\ndef  allocate(")
    edit(
        copy,
        "deepcac/cac/kernels/state.py",
        '"""Dot product of two vectors."""',
        '"""The dot product."""',
    )
    number = deepcac.__version__
    edit(copy, "deepcac/__init__.py", f'__version__ = "{number}"', '__version__ = "9.9"')
    assert digest_of(copy, CAC) == before


def test_what_is_kept_of_the_code_is_never_out_of_date(copy, tmp_path):
    place = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    kept = tmp_path / "cache" / "deepcac" / "code.json"
    call = "from deepcac_study.sourcecode import code_digest; print(code_digest('deepcac.cac'))"
    first = said(copy, call, **place)
    assert len(json.loads(kept.read_text())) > 10
    parsed = f"import ast; ast.parse = None; {call}"  # nothing is parsed again
    assert said(copy, parsed, **place) == first
    edit(copy, "deepcac/cac/kernels/state.py", "total += a[f] * b[f]", "total += 2.0 * a[f] * b[f]")
    changed = said(copy, call, **place)
    assert changed != first
    edit(copy, "deepcac/cac/kernels/state.py", "total += 2.0 * a[f] * b[f]", "total += a[f] * b[f]")
    assert said(copy, parsed, **place) == first
    for damaged in ("", "[]", '{"a'):
        kept.write_text(damaged)
        assert said(copy, call, **place) == first
    nowhere = {"XDG_CACHE_HOME": str(kept)}  # a file, where a folder cannot be made
    assert said(copy, call, **nowhere) == first


def test_a_table_of_the_package_counts(copy):
    before = digest_of(copy, "deepcac_study.features"), digest_of(copy, "deepcac.nn")
    edit(
        copy, "deepcac_study/features/physionet2019_ranges.csv", "HR,1/min,0,350", "HR,1/min,0,300"
    )
    assert digest_of(copy, "deepcac_study.features") != before[0]
    assert digest_of(copy, "deepcac.nn") == before[1]


def test_a_comment_in_a_table_is_no_difference_and_a_value_is(copy):
    before = digest_of(copy, JUDGE)
    edit(
        copy, "deepcac/judging/spaces.yaml", "lr:\n  kind: plain", "# a comment\nlr:\n  kind: plain"
    )
    assert digest_of(copy, JUDGE) == before
    edit(copy, "deepcac/judging/spaces.yaml", "knots: {default: 5,", "knots: {default: 6,")
    assert digest_of(copy, JUDGE) != before


def test_imports_read_from_the_text_are_those_of_a_parser():
    known = sourcecode._modules()
    for name, path in known.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        assert sourcecode._imports(name) == found & known.keys(), name


def test_a_file_that_is_made_again_is_another(tmp_path):
    name = str(tmp_path / "lr.json")
    Path(name).write_text("1")
    first = files_digest([name])
    assert files_digest([name]) == first
    Path(name).write_text("2")
    assert files_digest([name]) != first
    assert files_digest([]) != files_digest([name])


# Snakemake compares the parameters of a job with those that were recorded, but for what it makes from
# paths or threads: a setting there could be edited, and nothing would run again.
DERIVED = {"input", "output", "threads", "resources"}


def test_every_parameter_of_a_rule_is_recorded():
    functions = [
        (rule.name, name, value)
        for rule in workflow_rules().values()
        for name, value in rule.params.items()
        if callable(value)
    ]
    assert len(functions) > 20
    assert [
        (rule, name)
        for rule, name, value in functions
        if DERIVED & inspect.signature(value).parameters.keys()
    ] == []


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match=r"deepcac\.clusters"):
        code_digest("deepcac.clusters")


@pytest.mark.long
def test_an_edit_of_a_called_function_is_compiled(copy, tmp_path):
    """Numba alone looks only at the file of the caller, here of the dot products."""
    place = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    first = said(copy, COMPILE, **place)
    assert said(copy, COMPILE, **place) == first
    edit(copy, "deepcac/cac/kernels/state.py", "total += a[f] * b[f]", "total -= 1e6 * a[f] * b[f]")
    assert said(copy, COMPILE, **place) != first
    assert len(list((tmp_path / "cache" / "deepcac" / "numba").iterdir())) == 2


def test_the_cache_goes_where_it_may(copy, tmp_path):
    cache = cache_of(copy, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert Path(cache).parent == tmp_path / "cache" / "deepcac" / "numba"
    given = cache_of(copy, NUMBA_CACHE_DIR=str(tmp_path / "own"))
    assert Path(given) == tmp_path / "own" / Path(cache).name
    assert cache_of(copy, NUMBA_CACHE_DIR=given) == given
    (tmp_path / "file").touch()
    fallback = cache_of(copy, XDG_CACHE_HOME=str(tmp_path / "file"), TMPDIR=str(tmp_path))
    assert Path(fallback).parent == tmp_path
    assert not Path(fallback).exists()


@pytest.mark.long
def test_nothing_is_changed_once_numba_is_there(copy):
    code = """
import os, numba
from deepcac_study.sourcecode import compiled_cache
print(compiled_cache(), os.environ.get("NUMBA_CACHE_DIR"))
"""
    assert said(copy, code) == "None None"
