"""Whatever way a call comes in, a wrong name ends it with the nearest names."""

import re

import pytest
from checkouts import ROOT, checkout, snakemake

from deepcac_study.catalogue.near_names import near_names


def test_names_are_near_whatever_their_case_and_few_are_listed_otherwise():
    assert near_names("CIC", ["cic", "adult"]) == "near names: cic"
    assert near_names("zzz", ["cic", "adult"]) == "known: cic, adult"
    many = near_names("zzz", [f"table_{i}" for i in range(100)])
    assert re.match("none of the 100 .*: table_0, ", many)
    assert len(many) < 400


def answer(folder, *words: str) -> str:
    """Return what a call that is refused prints."""
    return snakemake(folder, *words, code=1, home=ROOT)


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


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "file", "near"),
    [
        ('"datasets": ["ciic"]', RUN, "near names: cic"),
        ("", "results/demo_diabtes/lr_k1.json", "demo_diabetes"),
    ],
)
def test_a_module_says_the_same(tmp_path, key, file, near):
    (tmp_path / "Snakefile").write_text(MODULE.format(root=ROOT, key=key, file=file))
    assert near in answer(tmp_path, "-n")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return checkout(tmp_path_factory.mktemp("refused"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "near"),
    [
        ("results/cicc/deepcac_k3.scores.parquet", "cic"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("results/decomposition/uci_votes.json", "uci_vote"),
                ("results/judge/clinical/cicc/lr.json", "cic"),
                ("results/judge/tables/wdbcc.json", "wdbc"),
                ("results/judge/cic/cac_lgr.json", "cac_lr"),
                ("results/skmeans/webkb/pair.json", "webkb"),
            )
        ),
    ],
)
def test_wrong_names_in_targets_of_every_kind_are_refused(clone, target, near):
    assert f"near names: {near}" in answer(clone, "-n", "--", target)
    assert not (clone / "data" / "raw").exists()
