"""Shipped records stand for their runs: those that were laid, are as they shipped, and are asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from deepcac.errors import DataError
from deepcac.files.storage import write_json
from deepcac_study import sourcecode
from deepcac_study.jobs import laid_records
from deepcac_study.jobs.laid_records import LaidRecords
from deepcac_study.jobs.named_code import NETWORKS
from deepcac_study.records import commits
from deepcac_study.records.record_archive import LAID, MANIFEST, find_records, lay, pack

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
    assert before.why.endswith(f"4 do not lie in {results}/ as they shipped (`make lay`)")
    lay(archive, results)
    laid = LaidRecords(archive, results, "all")
    assert laid.standing == {f"results/{path}" for path in SHIPPED}
    assert laid.why == "shipped=all: 4 of 4 shipped records stand for their runs"
    assert LaidRecords(archive, results, "none").standing == frozenset()
    assert LaidRecords(archive, results, "none").why == ""
    (results / SHIPPED[0]).unlink()
    write_json(results / SHIPPED[1], {"value": 5, "machine": {}})
    standing = LaidRecords(archive, results, "all").standing
    assert standing == {f"results/{path}" for path in SHIPPED[2:]}


@pytest.mark.parametrize("which", ["none", "unchanged", "all"])
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
    for targets in ([asked], ["all"]):
        with pytest.raises(DataError, match=rf"^{asked}: edited or damaged.*delete it") as caught:
            LaidRecords(archive, results, which).check(targets, [])
        assert "\n" not in str(caught.value)
    LaidRecords(archive, results, which).check([], [asked])  # made again


def test_an_edited_record_that_was_made_here_is_refused_where_it_is_planned(archive, tmp_path):
    results, planned = tmp_path / "results", "results/demo_cic/lr_k1.json"
    write_json(results / "demo_cic/lr_k1.json", {"value": 1, "machine": {}})
    LaidRecords(archive, results, "none").check(["all"], [], [planned])
    (results / "demo_cic/lr_k1.json").write_text('{"value": 2}')
    with pytest.raises(DataError, match=f"^{planned}: edited"):
        LaidRecords(archive, results, "none").check(["all"], [], [planned])


def test_a_record_that_was_made_here_is_served(archive, tmp_path):
    results = tmp_path / "results"
    lay(archive, results)
    write_json(results / "cic/lr_k1.json", {"value": 0, "machine": {"processor": "another"}})
    (results / "cic/lr_k1.scores.parquet").write_bytes(b"rows")
    records = LaidRecords(archive, results, "all")
    records.check(["results/cic/lr_k1.json"], [])
    assert "results/cic/lr_k1.json" not in records.standing


def test_every_edited_record_is_named(archive, tmp_path):
    results = tmp_path / "results"
    lay(archive, results)
    for path in SHIPPED:
        (results / path).write_text("{}")
    with pytest.raises(DataError) as caught:
        LaidRecords(archive, results, "none").check(["all"], [])
    assert all(path in str(caught.value) for path in SHIPPED)


def test_a_record_of_other_code_is_not_served_by_its_name(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(laid_records, "unchanged_since", lambda commit, *names, without: False)
    monkeypatch.setattr(laid_records, "missing_history", lambda: "")
    results, asked = tmp_path / "results", "results/theory/cic_k2.json"
    lay(archive, results)
    laid = LaidRecords(archive, results, "unchanged")
    assert laid.why.endswith(
        "0 of 4 shipped records stand for their runs; 4 were made by other code"
    )
    with pytest.raises(DataError, match=rf"{asked}: a shipped record .*made by other code"):
        laid.check([asked], [])
    laid.check([], [asked])
    LaidRecords(archive, results, "all").check([asked], [])


def test_what_does_not_stand_is_older_than_all_code_and_what_is_asked_for_by_name_is_not(
    archive, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        laid_records, "unchanged_since", lambda commit, *names, without: commit[0] == "3"
    )
    results = tmp_path / "results"
    lay(archive, results)
    names = [f"results/{path}" for path in SHIPPED]
    LaidRecords(archive, results, "none").renew(names)
    times = [(results / path).stat().st_mtime for path in SHIPPED]
    assert times == [LAID] * 4
    LaidRecords(archive, results, "unchanged").renew(["all", *names])
    times = [(results / path).stat().st_mtime for path in SHIPPED]
    assert times[:3] == [LAID] * 3
    assert times[3] > Path(laid_records.__file__).stat().st_mtime


def test_a_record_that_stood_in_one_call_is_old_for_the_next(archive, tmp_path):
    results = tmp_path / "results"
    lay(archive, results)
    call = (
        "import os, sys; from deepcac_study.jobs.laid_records import LaidRecords;"
        "archive, results, *names = sys.argv[1:];"
        "LaidRecords(archive, results, 'all').renew(names);"
        "os.utime(names[1], (5, 5)); print([os.stat(name).st_mtime > 1 for name in names])"
    )
    names = [f"results/{path}" for path in SHIPPED[:2]]
    done = subprocess.run(
        [sys.executable, "-c", call, str(archive), "results", *names],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[True, True]\n"
    # The second one was made anew meanwhile.
    assert [(tmp_path / name).stat().st_mtime for name in names] == [LAID, 5]


def test_a_clone_without_its_history_says_so(archive, tmp_path, monkeypatch):
    shallow = subprocess.CompletedProcess([], 0, "true\n", "")
    none = subprocess.CompletedProcess([], 128, "", "not a git repository")
    lay(archive, tmp_path / "results")
    monkeypatch.setattr(laid_records, "unchanged_since", lambda commit, *names, without: False)
    for answer, said in ((shallow, "git fetch --unshallow"), (none, "git has no clone")):
        monkeypatch.setattr(commits, "_git", lambda *words, answer=answer: answer)
        assert said in LaidRecords(archive, tmp_path / "results", "unchanged").why


def test_an_image_without_the_archive_needs_none(tmp_path):
    laid = LaidRecords(tmp_path / "nowhere", tmp_path / "results", "none")
    laid.check(["all"], [])
    assert laid.standing == frozenset()
    with pytest.raises(DataError, match="not a manifest"):
        LaidRecords(tmp_path / "nowhere", tmp_path / "results", "all")


def test_unchanged_asks_for_the_code_that_made_each(archive, tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        laid_records,
        "unchanged_since",
        lambda commit, *names, without: asked.setdefault((*names, without), commit) == "3" * 40,
    )
    lay(archive, tmp_path / "results")
    found = LaidRecords(archive, tmp_path / "results", "unchanged")
    assert found.standing == {"results/theory/cic_k2.json"}
    assert asked == {
        ("deepcac_study.experiments.run", "deepcac.linear.base_classifiers", NETWORKS): "0" * 40,
        ("deepcac_study.experiments.relatives.decomposition_runs", ""): "1" * 40,
        ("deepcac_study.judge.trial_files", "deepcac.judging.learners", ""): "2" * 40,
        ("deepcac_study.experiments.theory.theorems", ""): "3" * 40,
    }


@pytest.mark.parametrize("module", sorted(set(laid_records._MAKERS.values())))
def test_what_makes_a_record_is_code_of_the_study(module):
    assert sourcecode.code_digest(f"deepcac_study.{module}")


def test_a_damaged_manifest_is_refused(archive, tmp_path):
    (archive / MANIFEST).write_text("path\n../x\n", encoding="utf-8")
    with pytest.raises(DataError, match="not a manifest"):
        LaidRecords(archive, tmp_path, "all")


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
