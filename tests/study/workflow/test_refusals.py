"""Whatever way a call comes in, a wrong name ends it with one line that names the nearest."""

import logging
import subprocess
import sys
from types import SimpleNamespace

import pytest
from checkouts import ROOT, checkout, environment
from snakemake.exceptions import (
    InputFunctionException,
    MissingInputException,
    MissingRuleException,
    WorkflowError,
)

from deepcac.errors import ConfigError, DataError
from deepcac_study.catalogue.near_names import near_names
from deepcac_study.jobs.refusals import Refusals

RULE = SimpleNamespace(
    name="run", lineno=1, snakefile="runs.smk", workflow=SimpleNamespace(linemaps={})
)

JUDGE = SimpleNamespace(name="judge", output=["results/{dataset}/{k,[0-9]+}.json"])


def refused(cause: Exception) -> Exception:
    """Return what Snakemake makes of an error in the function of a rule's inputs."""
    return InputFunctionException(cause, wildcards={"dataset": "cci"}, rule=RULE)


def printed(error: Exception, level: int = logging.ERROR) -> str:
    """Return what is printed on an error while it is handled."""
    record = logging.LogRecord("snakemake", level, "", 0, "Traceback and more", None, None)
    try:
        raise error
    except Exception:
        assert Refusals(lambda: [JUDGE]).filter(record)
    return record.getMessage()


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("no data set 'cci';\nnear names: cic"),
        refused(ConfigError("no data set 'cci'; near names: cic")),
        WorkflowError(
            WorkflowError("other"), refused(DataError("no data set 'cci'; near names: cic"))
        ),
    ],
)
def test_an_error_of_ours_is_its_reason_in_one_line(error):
    assert printed(error) == "error: no data set 'cci'; near names: cic"


def test_a_target_that_no_rule_makes_has_its_near_names():
    assert printed(MissingRuleException("jugde")) == "error: nothing makes jugde; near names: judge"
    assert "near names: results/{dataset}/{k}.json" in printed(
        MissingRuleException("results/cic.json")
    )
    assert "snakemake --list" in printed(MissingRuleException("zzz"))


def test_an_input_that_no_rule_makes_has_its_near_names():
    rule = SimpleNamespace(rule=RULE, output=[], wildcards=None)
    error = MissingInputException(rule, ["results/cic.json", "results/b.json"])
    near = "near names: results/{dataset}/{k}.json"
    assert printed(error) == f"error: nothing makes results/cic.json; {near}"


def test_other_errors_and_other_lines_stay_as_they_are():
    for error in (KeyError("cci"), WorkflowError("cores"), refused(KeyError("cci"))):
        assert printed(error) == "Traceback and more"
    assert printed(ConfigError("no"), level=logging.INFO) == "Traceback and more"


def test_names_are_near_whatever_their_case_and_few_are_listed_otherwise():
    assert near_names("CIC", ["cic", "adult"]) == "near names: cic"
    assert near_names("zzz", ["cic", "adult"]) == "known: cic, adult"
    many = near_names("zzz", [f"table_{i}" for i in range(100)])
    assert many.startswith("none of the 100 known is near it: table_0, ")
    assert len(many) < 400


GREETING = ("Using workflow specific", "Assuming unrestricted", "Building DAG")


def answer(folder, *words: str) -> str:
    """Return the one line by which a call is refused."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words],
        cwd=folder,
        env=environment(ROOT),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    (line,) = (each for each in lines if not each.startswith(GREETING))
    return line


MODULE = """
module deepcac:
    snakefile: "{root}/workflow/Snakefile"
    config: {{"seeds": [0], "signature_backend": "numba", {key}}}

use rule * from deepcac as deepcac_*

rule mine:
    default_target: True
    input: "{file}"
    output: "mine.txt"
    shell: "touch {{output}}"
"""
RUN = "results/demo_diabetes/lr_k1.json"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "file", "near"),
    [
        ('"datasets": ["ciic"]', RUN, "near names: cic"),
        ('"judge": {{"tables": {{"contenders": ["cac_lgr"]}}}}', RUN, "near names: cac_lr"),
        ("", "results/demo_diabtes/lr_k1.json", "near names: diabetes"),
        ("", "data/features/demo_diabtes.parquet", "near names: data/features/"),
        ("", "results/judge/demo_cic/cac_lgr.json", "near names: cac_lr"),
    ],
)
def test_a_module_says_the_same(tmp_path, key, file, near):
    text = MODULE.format(root=ROOT, key=key.format(), file=file)
    (tmp_path / "Snakefile").write_text(text)
    assert near in answer(tmp_path, "-n")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return checkout(tmp_path_factory.mktemp("refused"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "near"),
    [
        ("jud", "judge"),
        ("results/report/indx.html", "results/report/index.html"),
        ("results/CIC/cac_lr_k2.json", "cic"),
        ("results/cicc/deepcac_k3.scores.parquet", "cic"),
        ("results/judge/clinical/cicc/lr.json", "cic"),
        ("results/judge/tables/wdbcc.json", "wdbc"),
        ("results/judge/cic/cac_lgr.json", "cac_lr"),
        ("results/skmeans/webkb/pair.json", "webkb"),
        ("results/decomposition/uci_votes.json", "uci_vote"),
    ],
)
def test_wrong_names_in_targets_of_every_kind_are_refused(clone, target, near):
    assert f"near names: {near}" in answer(clone, "-n", "--", target)
    assert not (clone / "data" / "raw").exists()
