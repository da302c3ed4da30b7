"""What is refused before anything starts: one line that names the place and the way out."""

import os
import shutil
import socket
import subprocess
import sys

import pytest
from checkouts import ROOT, checkout, environment, python, snakemake

from deepcac.errors import ConfigError
from deepcac_study.jobs import starting
from deepcac_study.jobs.starting import check_bucket, check_folders, check_restricted


@pytest.mark.parametrize("name", ["results", "data", "data/tidy", "logs", "results/cic"])
def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch, name):
    """Rights do not stop the root user, so that a stand-in refuses."""
    (tmp_path / name).mkdir(parents=True)
    check_folders(tmp_path)

    def refuse(folder):
        if folder == tmp_path / name:
            raise ConfigError(f"{folder}: cannot be written")

    monkeypatch.setattr(starting, "check_writable", refuse)
    with pytest.raises(ConfigError, match=f"{name}: cannot be written"):
        check_folders(tmp_path)


# The root user without the right to pass by rights.
BOUND = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override")


@pytest.mark.parametrize("name", ["results", "data/raw"])
def test_rights_alone_are_enough(tmp_path, name):
    if shutil.which("setpriv") is None or os.getuid() != 0:
        pytest.skip("needs root and setpriv")
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / name).chmod(0o555)
    code = "from deepcac_study.jobs.starting import check_folders as check; check('.')"
    done = subprocess.run(
        [*BOUND, sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(ROOT),
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{name}: cannot be written (Permission denied)" in done.stderr


def test_the_folder_of_a_restricted_source_must_exist(tmp_path):
    check_restricted({"mimic3": str(tmp_path), "wids": None})
    with pytest.raises(ConfigError, match=r"restricted: mimic3: folder /nowhere"):
        check_restricted({"wids": None, "mimic3": "/nowhere"})


def test_a_bucket_where_nobody_answers_is_refused(monkeypatch):
    monkeypatch.setattr(starting, "getproxies", dict)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"bucket: no answer from {address}"):
            check_bucket(address)
        server.listen()
        check_bucket(None, {"AWS_ENDPOINT_URL": address})
    monkeypatch.setattr(starting, "_PATIENCE", 0.2)
    with pytest.raises(ConfigError, match="--storage-s3-endpoint-url"):
        check_bucket("https://192.0.2.1")  # an address that is nobody's (RFC 5737)


def planned(folder, *words: str, code: int) -> str:
    said = snakemake(folder, "-n", *words, code=code)
    assert "Traceback" not in said
    return said


@pytest.mark.slow
def test_a_workflow_says_in_one_line_what_it_cannot_start_with(tmp_path):
    folder = checkout(tmp_path / "clone")
    said = planned(folder, "--config", "restricted={mimic3: /nowhere}", "--", "features", code=1)
    assert "restricted: mimic3: folder /nowhere" in said


@pytest.mark.long
@pytest.mark.slow
def test_a_workflow_starts_elsewhere_and_deletes_no_raw_file_that_was_put_there(tmp_path):
    folder, elsewhere = checkout(tmp_path / "clone"), tmp_path / "elsewhere"
    (folder / "data/raw/wids").mkdir(parents=True)
    (folder / "data/raw/wids/training_v2.csv").touch()  # nothing may fetch it, or delete it
    here = (
        "--config",
        "restricted={wids: data/raw/wids}",
        "--",
        "data/features/wid_mortality.parquet",
    )
    assert "build_features" in planned(folder, *here, code=0)
    deleted = planned(folder, "--delete-all-output", *here, code=0)
    assert "training_v2.csv" not in deleted
    elsewhere.mkdir()
    said = planned(
        folder,
        "--directory",
        str(elsewhere),
        "--",
        "results/cic/lr_k1.json",
        code=0,
    )
    assert "fetch" in said
    private = folder / "config/registry/private"
    private.mkdir()
    (private / "mimic3.yaml").write_text("restricted: false\n")
    assert "public source 'mimic3'" in planned(folder, "--", "features", code=1)


@pytest.mark.slow
def test_a_damaged_archive_of_records_is_one_line(tmp_path):
    records = shutil.copytree(ROOT / "docs/results/records", tmp_path / "records")
    lines = (records / "manifest.csv").read_text().splitlines(keepends=True)
    (records / "manifest.csv").write_text("".join([*lines[:5], *lines[6:]]))
    module = "deepcac_study.records.record_archive"
    said = python(tmp_path, "-m", module, "lay", "records", "results", code=1, home=ROOT)
    assert "Traceback" not in said
    assert "manifest.csv" in said.splitlines()[-1]
