"""Archives of records: the same bytes, a union, and nothing read that is not as it was written."""

import csv
import io
import json
import lzma
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from deepcac.errors import DataError
from deepcac.files.storage import read_json, write_json
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.records import record_archive
from deepcac_study.records.commits import check_commits
from deepcac_study.records.record_archive import (
    LAID,
    MANIFEST,
    find_records,
    lay,
    main,
    manifest,
    may_leave,
    pack,
    part_of,
    read,
)
from deepcac_study.report.measured import MEASURED
from deepcac_study.report.site import shipped

REGISTRY = Path(__file__).parents[3] / "config" / "registry"


def everything(path, content):
    return True


def put(results, path, value=1, **more):
    made = {
        "git_commit": "a" * 40,
        "processor": "one",
        "device": "cpu",
        "seconds": {"fit": 2.5, "fit.trees": 2.0},
    }
    write_json(results / path, {"dataset": "cic", "value": value, "machine": made, **more})


@pytest.fixture
def results(tmp_path):
    found = tmp_path / "results"
    put(found, "cic/lr_k1.json")
    put(found, "as_published/cic/cac_lr_k2.json", 2)
    put(found, "judge/cic/lr.json", 3)
    return found


def test_same_records_give_the_same_bytes_and_come_back(results, tmp_path):
    rows = pack(find_records(results), tmp_path / "a", everything)
    pack(dict(reversed(find_records(results).items())), tmp_path / "b", everything)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["judge.tar.xz", MANIFEST, "papers.tar.xz"]
    assert all(
        (tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in names
    )
    assert read(tmp_path / "a") == find_records(results)
    assert [row.path for row in rows] == sorted(find_records(results))
    assert rows == manifest(tmp_path / "a")
    assert (rows[0].seconds, rows[0].processor, rows[0].commit) == (2.5, "one", "a" * 40)
    assert [part_of(row.path) for row in rows] == ["papers", "papers", "judge"]


def test_the_newer_record_of_a_path_wins_and_all_others_stay(results, tmp_path):
    pack(find_records(results), tmp_path / "a", everything)
    other = tmp_path / "elsewhere"
    put(other, "cic/lr_k1.json", 7)
    put(other, "cic/rf_k1.json", 8)
    pack(find_records(other), tmp_path / "a", everything)
    union = read(tmp_path / "a")
    assert set(union) == set(find_records(results)) | {"cic/rf_k1.json"}
    assert union["cic/lr_k1.json"] == (other / "cic/lr_k1.json").read_bytes()
    assert union["judge/cic/lr.json"] == (results / "judge/cic/lr.json").read_bytes()


def test_records_are_laid_where_none_is(results, tmp_path):
    pack(find_records(results), tmp_path / "a", everything)
    here = tmp_path / "here"
    put(here, "cic/lr_k1.json", 9)
    (here / "cic/lr_k1.scores.parquet").write_bytes(b"rows")
    assert lay(tmp_path / "a", here) == (2, 1, ["cic/lr_k1.json"])
    assert read_json(here / "cic/lr_k1.json")["value"] == 9
    assert read_json(here / "judge/cic/lr.json")["value"] == 3
    # Before all code, so that Snakemake makes again what does not stand for its run.
    assert (here / "judge/cic/lr.json").stat().st_mtime == LAID
    assert (here / "cic/lr_k1.json").stat().st_mtime > LAID
    assert lay(tmp_path / "a", here, replace=True) == (1, 2, [])
    assert read_json(here / "cic/lr_k1.json")["value"] == 1
    assert lay(tmp_path / "a", here) == (0, 3, [])


def test_those_that_are_not_as_they_shipped_are_named(results, tmp_path, monkeypatch, capsys):
    pack(find_records(results), tmp_path / "a", everything)
    put(tmp_path / "here", "cic/lr_k1.json", 9)
    (tmp_path / "here" / "cic/lr_k1.scores.parquet").write_bytes(b"rows")
    monkeypatch.setattr(record_archive, "check_commits", lambda commits: None)
    monkeypatch.setattr("sys.argv", ["lay", "lay", str(tmp_path / "a"), str(tmp_path / "here")])
    main()
    said = capsys.readouterr().out
    assert re.match(r"2 records written, 1 .*; 1 ", said)
    assert "cic/lr_k1.json" in said


def test_a_run_as_an_earlier_release_shipped_it_is_replaced(results, tmp_path):
    pack(find_records(results), tmp_path / "a", everything)
    here = tmp_path / "here"
    for path in find_records(results):
        put(here, path, 9)
    laid = lay(tmp_path / "a", here)
    runs = [path for path in find_records(results) if "_k" in path]
    assert laid.written == len(runs) > 0  # others may have been made here
    assert laid.other == sorted(find_records(results).keys() - runs) != []
    damaged = here / runs[0]
    damaged.write_text(damaged.read_text().replace('"cic"', '"adult"'))
    assert runs[0] in lay(tmp_path / "a", here).other


def test_a_run_that_two_releases_ship_is_older_than_all_code(results, tmp_path):
    pack(find_records(results), tmp_path / "a", everything)
    here = tmp_path / "here"
    lay(tmp_path / "a", here)
    laid, made = [path for path in find_records(results) if "_k" in path][:2]
    (here / made).with_suffix(".scores.parquet").write_bytes(b"rows")
    for path in (laid, made):
        os.utime(here / path)  # as earlier releases laid them
    lay(tmp_path / "a", here)
    assert (here / laid).stat().st_mtime == LAID
    assert (here / made).stat().st_mtime > LAID


def test_the_report_of_shipped_records_shows_those_of_today(results, tmp_path, monkeypatch):
    """Its folder still holds the records of an earlier release."""
    archive = tmp_path / "docs" / "results"
    pack(find_records(results), archive / "records", everything)
    (archive / MEASURED).mkdir()
    put(tmp_path / "study" / "results", "cic/lr_k1.json", 9)
    monkeypatch.setattr(shipped, "check_commits", lambda commits: None)
    monkeypatch.setattr(shipped, "_judge", lambda *_: [])
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("judge: {}\n")
    values = {}

    def build(records, *rest, **more):
        values.update({path: read_json(path)["value"] for path in map(str, records)})

    monkeypatch.setattr(shipped, "build", build)
    shipped.report_shipped(tmp_path / "study", tmp_path)
    assert sorted(values.values()) == [1, 2, 3]


def test_derived_files_and_the_report_are_no_records(results, tmp_path):
    write_json(results / "judge" / "summary.json", {"dataset": "cic"})
    put(results, "report/made.json")
    assert len(find_records(results)) == 3


@pytest.mark.parametrize(
    ("path", "content", "leaves"),
    [
        ("cic/lr_k1.json", {"dataset": "cic"}, True),
        ("cic/lr_k1.json", {"dataset": "ards"}, False),  # MIMIC-III under the name of another
        ("ards/lr_k1.json", {"dataset": "cic"}, False),
        ("decomposition/ards.json", {"dataset": "cic"}, False),
        ("ards_demo/lr_k1.json", {"dataset": "ards_demo"}, True),
        ("wid_mortality/lr_k1.json", {"dataset": "wid_mortality"}, False),
        ("judge/by_size/gusto_30d_400.json", {"dataset": "gusto_30d"}, False),  # no stated terms
        ("ours/lr_k1.json", {"dataset": "ours"}, False),
        ("demo_cic/lr_k1.json", {"dataset": "demo_cic", "synthetic": True}, False),
        ("judge/planted/lr_0.1.json", {"synthetic": True}, True),
        ("judge/planted/lr_0.1.json", {"synthetic": True, "dataset": "ards"}, False),
        ("judge/planted/lr_0.1.json", {}, False),
    ],
)
def test_only_open_data_leave(path, content, leaves):
    assert may_leave(load_registry(REGISTRY, private=False), path, content) is leaves


def test_an_edited_record_is_not_packed(results, tmp_path):
    path = results / "cic/lr_k1.json"
    path.write_text(path.read_text().replace('"value": 1', '"value": 5'))
    with pytest.raises(DataError, match="lr_k1.json: edited or damaged"):
        find_records(results)
    with pytest.raises(DataError, match="lr_k1.json.: not a record"):
        pack({"cic/lr_k1.json": path.read_bytes()}, tmp_path / "a", everything)


def _tar(members):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for member, data in members:
            tar.addfile(member, io.BytesIO(data))
    return lzma.compress(plain.getvalue())


def _manifest_row(folder, old, new):
    path = folder / MANIFEST
    path.write_text(path.read_text().replace(old, new))


def test_what_the_manifest_does_not_say_is_refused(results, tmp_path):
    folder = tmp_path / "a"
    pack(find_records(results), folder, everything)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}

    def refused(change, match):
        for name, data in whole.items():
            (folder / name).write_bytes(data)
        change()
        with pytest.raises(DataError, match=match):
            read(folder)
        assert not (tmp_path / "escaped.json").exists()

    data = (results / "cic/lr_k1.json").read_bytes()
    stranger = tarfile.TarInfo("../escaped.json")
    stranger.size = len(data)
    link = tarfile.TarInfo("cic/lr_k1.json")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    papers = folder / "papers.tar.xz"
    refused(
        lambda: papers.write_bytes(_tar([(stranger, data)])), "escaped.json. is not in manifest"
    )
    refused(lambda: papers.write_bytes(_tar([(link, b"")])), "manifest.csv alone|not a readable")
    refused(lambda: papers.write_bytes(_tar([])), "is in manifest.csv alone")
    refused(lambda: papers.write_bytes(whole["papers.tar.xz"][:-9]), "not a readable archive")
    refused(lambda: papers.write_bytes(whole["papers.tar.xz"] + b"x"), "not a readable archive")
    refused(
        lambda: papers.write_bytes(whole["judge.tar.xz"]), "judge/cic/lr.json. is not in manifest"
    )
    refused(papers.unlink, "not a readable archive")
    refused(lambda: _manifest_row(folder, "a" * 40, "b" * 40), "not as in manifest.csv")
    refused(lambda: _manifest_row(folder, "2.5", "2.4"), "not as in manifest.csv")
    refused(lambda: _manifest_row(folder, "cic/lr_k1", "../lr_k1"), "no place of a record")
    refused(lambda: _manifest_row(folder, "sha256", "sha"), "not a manifest")
    refused((folder / MANIFEST).unlink, "not a manifest")


def test_a_bomb_is_not_unpacked(results, tmp_path):
    pack(find_records(results), tmp_path / "a", everything)
    packer = lzma.LZMACompressor(preset=1)
    parts = [packer.compress(bytes(1 << 24)) for _ in range(20)] + [packer.flush()]
    (tmp_path / "a" / "papers.tar.xz").write_bytes(b"".join(parts))
    with pytest.raises(DataError, match="above 256 MB"):
        read(tmp_path / "a")


def test_the_manifest_is_a_plain_table(results, tmp_path):
    pack(find_records(results), tmp_path / "a", everything)
    with (tmp_path / "a" / MANIFEST).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["path"] for row in rows] == sorted(find_records(results))
    assert {row["device"] for row in rows} == {"cpu"}


@pytest.mark.long
def test_the_records_that_ship_are_whole_and_of_open_data():
    shipped = REGISTRY.parents[1] / "docs" / "results" / "records"
    records, registry = read(shipped), load_registry(REGISTRY, private=False)
    check_commits({row.path: row.commit for row in manifest(shipped)})
    assert len(records) > 600
    assert sum(path.stat().st_size for path in shipped.glob("*.xz")) < 15_000_000
    closed = [
        path for path, data in records.items() if not may_leave(registry, path, json.loads(data))
    ]
    assert closed == []


def test_a_record_of_a_commit_that_does_not_exist_is_named(results, tmp_path, monkeypatch):
    head = ["git", "-C", str(REGISTRY), "rev-parse", "HEAD"]
    made = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    check_commits({"cic/lr_k1.json": made})
    for commit in ("b" * 40, ""):
        with pytest.raises(DataError, match=r"cic/rf_k1\.json: of commit (bbbbbbb|\(none\))"):
            check_commits({"cic/lr_k1.json": made, "cic/rf_k1.json": commit})
    monkeypatch.setattr("sys.argv", ["", "pack", str(results), str(tmp_path / "a")])
    with pytest.raises(DataError, match="of commit aaaaaaa"):
        main()
    assert not (tmp_path / "a").exists()


def test_what_a_job_took_counts_once(tmp_path):
    """Two runs of a table share 6 seconds; of a total nothing else counts; twins share all."""
    results = tmp_path / "results"
    stages = {
        "cic/lr_k1.json": {"fit": 1.0, "fit.trees": 0.5, "shared": 6.0},
        "cic/km_lr_k2.json": {"fit": 2.0, "shared": 6.0},
        "credit/lr_k1.json": {"fit": 2.0, "shared": 6.0},
        "skmeans/a/pair.json": {"total": 10.0, "training": 9.0, "longest_training": 4.0},
        "judge/cic/subtypes.json": {"total": 8.0},
        "judge/cic/subtypes_gbm.json": {"total": 8.0},
    }
    for path, seconds in stages.items():
        made = {"git_commit": "a" * 40, "processor": "one", "device": "cpu", "seconds": seconds}
        write_json(results / path, {"dataset": "cic", "machine": made})
    found = {
        row.path: row.seconds for row in pack(find_records(results), tmp_path / "a", everything)
    }
    assert found == {
        **{"cic/lr_k1.json": 4.0, "cic/km_lr_k2.json": 5.0, "credit/lr_k1.json": 8.0},
        **{"skmeans/a/pair.json": 10.0},
        **{"judge/cic/subtypes.json": 4.0, "judge/cic/subtypes_gbm.json": 4.0},
    }
    # A manifest of before, which counted every stage of every record, is still read.
    text = (tmp_path / "a" / MANIFEST).read_text()
    older = text.replace(",cpu,5.0\n", ",cpu,8.0\n").replace(",cpu,10.0\n", ",cpu,23.0\n")
    assert older != text
    (tmp_path / "a" / MANIFEST).write_text(older)
    assert read(tmp_path / "a") == find_records(results)
    (tmp_path / "a" / MANIFEST).write_text(text.replace(",cpu,5.0\n", ",cpu,1.0\n"))
    with pytest.raises(DataError, match="not as in"):
        read(tmp_path / "a")


def test_what_made_a_record_is_inside_a_digest(tmp_path):
    put(tmp_path, "cic/lr_k1.json")
    path = tmp_path / "cic/lr_k1.json"
    content = json.loads(path.read_text())
    for name, value in (("processor", "two"), ("seconds", {"fit": 9.0}), ("git_commit", "b" * 40)):
        path.write_text(json.dumps({**content, "machine": {**content["machine"], name: value}}))
        with pytest.raises(DataError, match="digest"):
            read_json(path)
    # What another record was made with is no part of this one.
    put(tmp_path, "cic/lr_k2.json", 5)
    other = json.loads((tmp_path / "cic/lr_k2.json").read_text())
    path.write_text(json.dumps({**content, "machine": other["machine"]}))
    with pytest.raises(DataError, match="digest"):
        read_json(path)
    # Older records have none.
    older = {name: value for name, value in content["machine"].items() if name != "digest"}
    path.write_text(json.dumps({**content, "machine": older}))
    assert read_json(path)["value"] == 1
