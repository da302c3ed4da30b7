"""Shipped records stand for their runs: those that were laid, are as they shipped, and are asked for."""

import subprocess

import pytest

from deepcac.errors import DataError
from deepcac.files.storage import write_json
from deepcac_study import sourcecode
from deepcac_study.jobs import laid_records
from deepcac_study.jobs.laid_records import standing_records
from deepcac_study.records import commits
from deepcac_study.records.record_archive import MANIFEST, find_records, lay, pack

SHIPPED = [
    "cic/lr_k1.json",
    "as_published/decomposition/uci_vote.json",
    "judge/public/ab_c/lr.json",
    "theory/cic_k2.json",
]


@pytest.fixture
def archive(tmp_path):
    for n, path in enumerate(SHIPPED):
        made = {"git_commit": f"{n}" * 40, "processor": "one", "device": "cpu", "seconds": {}}
        write_json(tmp_path / "made" / path, {"value": n, "machine": made})
    pack(find_records(tmp_path / "made"), tmp_path / "archive", lambda path, content: True)
    return tmp_path / "archive"


def test_a_record_stands_once_it_is_laid_and_until_it_is_another(archive, tmp_path):
    results = tmp_path / "results"
    assert standing_records(archive, results, "all") == frozenset()
    lay(archive, results)
    assert standing_records(archive, results, "all") == {f"results/{path}" for path in SHIPPED}
    assert standing_records(archive, results, "none") == frozenset()
    (results / SHIPPED[0]).unlink()
    write_json(results / SHIPPED[1], {"value": 5, "machine": {}})
    assert standing_records(archive, results, "all") == {f"results/{path}" for path in SHIPPED[2:]}


def test_unchanged_asks_for_the_code_that_made_each(archive, tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        laid_records,
        "unchanged_since",
        lambda commit, name: asked.setdefault(name, commit) == "3" * 40,
    )
    lay(archive, tmp_path / "results")
    found = standing_records(archive, tmp_path / "results", "unchanged")
    assert found == {"results/theory/cic_k2.json"}
    assert asked == {
        "deepcac_study.experiments.run": "0" * 40,
        "deepcac_study.experiments.relatives.decomposition_runs": "1" * 40,
        "deepcac_study.judge.public_protocols": "2" * 40,
        "deepcac_study.experiments.theory.theorems": "3" * 40,
    }


@pytest.mark.parametrize("module", sorted(set(laid_records._MAKERS.values())))
def test_what_makes_a_record_is_code_of_the_study(module):
    assert sourcecode.code_digest(f"deepcac_study.{module}")


def test_a_damaged_manifest_is_refused(archive, tmp_path):
    (archive / MANIFEST).write_text("path\n../x\n", encoding="utf-8")
    with pytest.raises(DataError, match="not a manifest"):
        standing_records(archive, tmp_path, "all")


def test_code_is_that_of_a_commit_until_a_module_below_it_is_edited(tmp_path, monkeypatch):
    names = {"a.one": "from a.two import x\n", "a.two": "x = 1\n", "a.three": "y = 1\n"}
    files = {name: tmp_path / "src" / f"{name.replace('.', '/')}.py" for name in names}
    for name, text in names.items():
        files[name].parent.mkdir(parents=True, exist_ok=True)
        files[name].write_text(text, encoding="utf-8")
    run = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*run, *words], check=True)
    made = subprocess.run([*run, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    for module in (sourcecode, commits):
        monkeypatch.setattr(module, "_ROOT", tmp_path / "src")
    monkeypatch.setattr(sourcecode, "_modules", lambda: files)
    monkeypatch.setattr(sourcecode, "_text", lambda name: names[name])
    first = made.stdout.strip()
    assert sourcecode.unchanged_since(first, "a.one")
    assert commits.code_commit.__wrapped__() == first
    commits.check_commits({"a.json": first})
    with pytest.raises(DataError, match=r"c\.json: of commit \(none\)"):
        commits.check_commits({"a.json": first, "c.json": ""})
    files["a.two"].write_text('"""Words."""\nx = 1  # and more\n', encoding="utf-8")
    assert sourcecode.unchanged_since(first, "a.one")  # words compute nothing
    files["a.three"].write_text("y = 2\n", encoding="utf-8")
    assert sourcecode.unchanged_since(first, "a.one")
    assert not sourcecode.unchanged_since(first, "a.three")
    assert commits.code_commit.__wrapped__() is None  # edited since
    files["a.two"].write_text("x = 2\n", encoding="utf-8")
    assert not sourcecode.unchanged_since(first, "a.one")
    assert not sourcecode.unchanged_since("f" * 40, "a.one")
    assert not sourcecode.unchanged_since("", "a.one")
