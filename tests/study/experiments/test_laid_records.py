"""Shipped records stand for their runs: those that were laid, are as they shipped, and are asked for."""

import re
import subprocess

import pytest

from deepcac.errors import DataError
from deepcac.files.storage import write_json
from deepcac_study.jobs.laid_records import LaidRecords
from deepcac_study.records import commits
from deepcac_study.records.record_archive import MANIFEST, find_records, lay, pack

SHIPPED = [
    "cic/lr_k1.json",
    "as_published/decomposition/uci_vote.json",
    "judge/clinical/rhc/lr.json",
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
    before = LaidRecords(archive, results, "all")
    assert before.standing == frozenset()
    assert re.search(f"4 .* {results}/ .*`make lay`", before.why)
    lay(archive, results)
    laid = LaidRecords(archive, results, "all")
    assert laid.standing == {f"results/{path}" for path in SHIPPED}
    assert laid.why.startswith("shipped=all: 4 of 4 ")
    assert LaidRecords(archive, results, "none").standing == frozenset()
    assert LaidRecords(archive, results, "none").why == ""
    (results / SHIPPED[0]).unlink()
    write_json(results / SHIPPED[1], {"value": 5, "machine": {}})
    standing = LaidRecords(archive, results, "all").standing
    assert standing == {f"results/{path}" for path in SHIPPED[2:]}


@pytest.mark.parametrize("which", ["none", "all"])
@pytest.mark.parametrize("how", ["cut", "edited", "edited, with a digest made anew"])
def test_an_edited_record_is_never_served(archive, tmp_path, which, how):
    results = tmp_path / "results"
    lay(archive, results)
    path, asked = results / "cic/lr_k1.json", "results/cic/lr_k1.json"
    text = path.read_text(encoding="utf-8")
    if how == "edited, with a digest made anew":
        write_json(path, {"value": 9, "machine": {}})
    else:
        path.write_text(text[:-9] if how == "cut" else text.replace('"value": 0', '"value": 1'))
    with pytest.raises(DataError, match=rf"^{asked}: edited or damaged.*delete it") as caught:
        LaidRecords(archive, results, which).check([])
    assert "\n" not in str(caught.value)


def test_an_edited_record_that_was_made_here_is_refused_where_it_is_planned(archive, tmp_path):
    results, planned = tmp_path / "results", "results/demo_cic/lr_k1.json"
    write_json(results / "demo_cic/lr_k1.json", {"value": 1, "machine": {}})
    LaidRecords(archive, results, "none").check([planned])
    (results / "demo_cic/lr_k1.json").write_text('{"value": 2}')
    with pytest.raises(DataError, match=f"^{planned}: edited"):
        LaidRecords(archive, results, "none").check([planned])


def test_a_record_that_was_made_here_is_served(archive, tmp_path):
    results = tmp_path / "results"
    lay(archive, results)
    write_json(results / "cic/lr_k1.json", {"value": 0, "machine": {"processor": "another"}})
    (results / "cic/lr_k1.scores.parquet").write_bytes(b"rows")
    records = LaidRecords(archive, results, "all")
    records.check(["results/cic/lr_k1.json"])
    assert "results/cic/lr_k1.json" not in records.standing


def test_every_edited_record_is_named(archive, tmp_path):
    results = tmp_path / "results"
    lay(archive, results)
    for path in SHIPPED:
        (results / path).write_text("{}")
    with pytest.raises(DataError) as caught:
        LaidRecords(archive, results, "none").check([])
    assert all(path in str(caught.value) for path in SHIPPED)


def test_an_image_without_the_archive_needs_none(tmp_path):
    laid = LaidRecords(tmp_path / "nowhere", tmp_path / "results", "none")
    laid.check([])
    assert laid.standing == frozenset()
    with pytest.raises(DataError, match="not a manifest"):
        LaidRecords(tmp_path / "nowhere", tmp_path / "results", "all")


def test_a_damaged_manifest_is_refused(archive, tmp_path):
    (archive / MANIFEST).write_text("path\n../x\n", encoding="utf-8")
    with pytest.raises(DataError, match="not a manifest"):
        LaidRecords(archive, tmp_path, "all")


def test_a_commit_is_that_of_the_code_until_a_file_is_edited(tmp_path, monkeypatch):
    source = tmp_path / "src" / "one.py"
    source.parent.mkdir()
    source.write_text("x = 1\n", encoding="utf-8")
    run = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*run, *words], check=True)
    made = subprocess.run([*run, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    first = made.stdout.strip()
    monkeypatch.setattr(commits, "_ROOT", source.parent)
    assert commits.code_commit.__wrapped__() == first
    commits.check_commits({"a.json": first})
    with pytest.raises(DataError, match=r"c\.json: of commit \(none\)"):
        commits.check_commits({"a.json": first, "c.json": ""})
    source.write_text("x = 2\n", encoding="utf-8")
    assert commits.code_commit.__wrapped__() is None
