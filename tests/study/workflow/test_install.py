"""The wheel alone, in empty environments: the light core, the command, the deep methods."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from checkouts import ROOT

pytestmark = pytest.mark.long

MOST_MEGABYTES = 450  # measured 408 (docs/install.md), llvmlite alone 179
NOT_CORE = ("pandas", "pyarrow", "pydantic", "jsonschema", "torch", "matplotlib", "snakemake")

FIT = """
import warnings
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
import deepcac
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
for name in ("CACClassifier", "KMClassifier", "ClassDecompositionClassifier"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(deepcac, name)(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9, name
for name, extra in (("DeepCACClassifier", "nn"), ("SupervisedKMeans", "similarity")):
    try:
        getattr(deepcac, name)
    except ModuleNotFoundError as error:
        assert f"deepcac[{extra}]" in str(error), error
    else:
        raise AssertionError(name)
"""


def call(*command: str, cwd: Path, code: int = 0) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build it from a copy, so that nothing is left in the checkout."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("dist")
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    options = [
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--quiet",
        "--wheel-dir",
        str(out),
    ]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(copy)], check=True)
    return next(out.glob("*.whl"))


def environment(folder: Path, wheel: Path, extra: str = "") -> Path:
    """Make an empty environment and install the wheel in it, with our versions."""
    venv.create(folder, with_pip=True)
    asked = f"deepcac{extra} @ {wheel.as_uri()}"
    python = str(folder / "bin" / "python")
    # Isolated: a checkout on the path would count as installed.
    pip = [python, "-I", "-m", "pip", "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), asked], check=True)
    return folder / "bin"


def test_the_core_is_light_and_works_alone(wheel, tmp_path):
    bin_ = environment(tmp_path / "core", wheel)
    packages = next((tmp_path / "core" / "lib").glob("python*/site-packages"))
    assert [name for name in NOT_CORE if (packages / name).exists()] == []
    left_out = ("pip", "setuptools", "pkg_resources")  # a venv's own
    size = sum(
        path.stat().st_size
        for path in packages.rglob("*")
        if path.is_file() and not path.relative_to(packages).parts[0].startswith(left_out)
    )
    assert size / 1e6 < MOST_MEGABYTES
    call(str(bin_ / "python"), "-c", FIT, cwd=tmp_path)
    assert (packages / "deepcac" / "py.typed").exists()
    assert not (packages / "workflow").exists()
    said = call(str(bin_ / "deepcac"), "--help", cwd=tmp_path, code=2)
    assert "pip install 'deepcac[tables]'" in said


def test_the_command_needs_no_more_than_its_extra(wheel, tmp_path):
    bin_ = environment(tmp_path / "tables", wheel, "[tables]")
    save = (
        "from sklearn.datasets import load_breast_cancer as load; "
        "load(as_frame=True).frame.iloc[::3, [1, 4, 8, 9, -1]].to_csv('t.csv', index=False)"
    )
    call(str(bin_ / "python"), "-c", save, cwd=tmp_path)
    options = ("--label", "target", "--resamples", "5")
    said = call(str(bin_ / "deepcac"), "compare", "t.csv", *options, cwd=tmp_path)
    assert "logistic regression" in said
    assert (tmp_path / "compare.html").stat().st_size > 100_000


def test_the_deep_methods_need_no_more_than_their_extra(wheel, tmp_path):
    bin_ = environment(tmp_path / "nn", wheel, "[nn]")
    fit = (
        "import numpy as np, deepcac; X = np.random.default_rng(0).normal(size=(200, 5)); "
        "m = deepcac.DeepCACClassifier(max_epochs=2, random_state=0).fit(X, X[:, 0] > 0); "
        "print(m.predict_proba(X).shape)"
    )
    assert "(200, 2)" in call(str(bin_ / "python"), "-c", fit, cwd=tmp_path)
