"""What a user meets first: the import, `help`, and the lines of README."""

import doctest
import pydoc
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

import deepcac

ROOT = Path(__file__).parents[2]
SCREEN = 55  # lines


def test_importing_the_package_imports_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "numba", "pandas", "torch", "matplotlib", "skops")
    code = f"import sys, deepcac; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_estimators_need_neither_torch_nor_the_workflow(tmp_path):
    code = f"""
import sys

class Light:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "pandas", "pyarrow", "pydantic", "yaml", "jsonschema"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Light())
import deepcac
import numpy as np
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
for kind in (deepcac.CACClassifier, deepcac.CACClassifierCV, deepcac.KMClassifier):
    model = kind(random_state=0).fit(X, y)
    deepcac.save(model, {str(tmp_path / "model")!r})
    assert (deepcac.load({str(tmp_path / "model")!r}).predict(X) == model.predict(X)).all()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_there():
    for name in deepcac.__all__:
        assert getattr(deepcac, name) is not None
    assert set(deepcac.__all__) <= set(dir(deepcac))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = deepcac.Nothing


@pytest.mark.parametrize("name", ["CACClassifier", "CACClassifierCV", "KMClassifier"])
def test_help_tells_the_class_and_its_fit_on_two_screens(name):
    text = pydoc.plain(pydoc.render_doc(getattr(deepcac, name)))
    first = text.split("_request(self")[0].split("inherited from")[0]  # then scikit-learn's own
    assert "fit(self, X: 'ArrayLike'" in first
    assert len(first.splitlines()) <= 2 * SCREEN
    assert not re.search(r"_SupportsArray|_NestedSequence|_Buffer", text)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("CACClassifier", set()),
        ("CACClassifierCV", set()),
        ("KMClassifier", set()),
        ("ClassDecompositionClassifier", set()),
        ("DeepCACClassifier", {"embed", "load", "save", "budget", "logits", "loss"}),
    ],
)
def test_the_classifiers_have_one_face(name, own):
    """Fit, ask, assign, transform; else what scikit-learn brings."""
    brought = dir(type("Bare", (TransformerMixin, ClassifierMixin, BaseEstimator), {}))
    kind = getattr(deepcac, name)
    shown = {one for one in set(dir(kind)) - set(brought) if callable(getattr(kind, one))}
    shown = {one for one in shown if not one.startswith("_") and not one.endswith("_request")}
    face = {"fit", "predict", "predict_proba", "decision_function", "assign", "transform"}
    assert shown - {"get_feature_names_out"} >= face
    assert shown - {"get_feature_names_out"} - face <= own, shown


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in deepcac.__all__
        if isinstance(getattr(deepcac, name), type)
        and issubclass(getattr(deepcac, name), BaseEstimator)
    ],
)
def test_every_estimator_shows_how_it_is_used(name):
    documentation = getattr(deepcac, name).__doc__
    for section in ("Parameters\n", "Attributes\n", "Examples\n", ">>> "):
        assert section in documentation or (name == "KMClassifier" and section == "Attributes\n")


MODULES = [
    "cac.cross_validated",
    "cac.estimator",
    "cac.km",
    "decomposition.classifier",
    "decomposition.mixtures.naive_bayes",
    "nn.deepcac",
    "preprocess",
    "similarity.supervised",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name):
    module = import_module(f"deepcac.{name}")
    done = doctest.testmod(module)
    assert done.failed == 0
    assert done.attempted > 0


def test_the_python_blocks_of_readme_and_of_the_page_on_python_run():
    X = np.random.default_rng(0).normal(size=(300, 5))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    names = {"X_train": X[:200], "y_train": y[:200], "X_test": X[200:]}
    pages = (ROOT / "README.md", ROOT / "docs" / "python.md")
    text = "".join(page.read_text(encoding="utf-8").split("\n## Pictures")[0] for page in pages)
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        exec(block, names)
    assert names["risk"].shape == names["subtype"].shape == names["y_test"].shape
    assert names["training_subtypes"].shape == names["y_train"].shape
    assert set(names["best"]) == {"n_clusters", "alpha"}
    assert names["result"].n_iter > 0
