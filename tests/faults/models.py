"""Seeded mutants of model files, each with a digest that holds: refused, the same, or possible.

A mutant is impossible if no fit can have written it: a part is gone, stands twice, or has another
type or shape; a number is not finite, far beyond any table, or a spread of 0. Such a mutant must be
refused, or answer as before (what it lost says nothing of rows). A number moved to another number,
places exchanged, a text changed: what loads is another possible model, and need only answer.
"""

import copy
import hashlib
import io
import json
import random
import resource
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from children import DEATH, REFUSED, TRACEBACK, Trial, last_lines, trials
from project import Row

import deepcac
from deepcac.errors import DeepCACError
from deepcac.files.storage import content_digest, read_json
from deepcac.persistence import model_files

IMPOSSIBLE, POSSIBLE = "impossible", "possible"
SAME, OTHER, WRONG = "same", "another possible model", "different without a word"
BASES = (
    *("GaussianNB", "LinearDiscriminantAnalysis", "NearestCentroid", "NearestClassMean"),
    *("NewtonSVC", "Perceptron", "RidgeClassifier", "SGDClassifier"),
)
NETWORKS = ("ac_tpc", "cac_dmnn", "dcn_z", "dmnn", "fnn", "grasp", "idec_z", "km_z")
_TREES = {"max_iter": 3, "max_leaf_nodes": 4, "min_samples_leaf": 20}
_NULL_MEANS = ("clip", "id")  # none of it, which is possible
_SPREADS = ("scale", "sd", "reach", "widths", "var_")


class Form(NamedTuple):
    """A kind of file: how its parts are read, and written with a digest that holds."""

    read: Callable[[Path], Any]
    write: Callable[[Path, Any], None]


class Kind(NamedTuple):
    """A kind of model: its form, and what fits it."""

    form: Form
    make: Callable[[Path], None]


def table(n: int = 160) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of two groups, and classes."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4)) + 4.0 * group[:, None] * [1, 0, 0, 1]
    names = ["sodium", "urea", "lactate", "albumin"]
    died = X[:, 1] * np.where(group, 1, -1) + rng.normal(size=n) > 0
    return pd.DataFrame(X, columns=names), np.where(died, "died", "lived")


def _read_json(path: Path) -> Any:
    return {name: each for name, each in read_json(path).items() if name != "digest"}


def _write_json(path: Path, parts: Any) -> None:
    path.write_text(json.dumps(parts | {"digest": content_digest(parts)}))


def _read_zip(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        return {name: _member(name, archive.read(name)) for name in archive.namelist()}


def _member(name: str, content: bytes) -> Any:
    if name.endswith(".safetensors"):
        return content
    return json.loads(content) if name.endswith(".json") else np.load(io.BytesIO(content))


def _write_zip(path: Path, parts: Any) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in parts.items():
            if name != model_files.HEADER:
                archive.writestr(name, _bytes(value))
        header = parts.get(model_files.HEADER, {})
        header = header | {"digest": model_files._digest(archive)} if header else header
        archive.writestr(model_files.HEADER, json.dumps(header))


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, np.ndarray):
        return json.dumps(value).encode()
    content = io.BytesIO()
    np.save(content, value)
    return content.getvalue()


def _read_tensors(path: Path) -> Any:
    from deepcac.nn.persistence import read_tensors

    header, tensors = read_tensors(path)
    return {"header": header, "tensors": {name: each.numpy() for name, each in tensors.items()}}


def _write_tensors(path: Path, parts: Any) -> None:
    import torch

    from deepcac.nn.persistence import write_tensors

    tensors = {name: torch.as_tensor(np.array(each)) for name, each in parts["tensors"].items()}
    write_tensors(path, tensors, parts["header"])


JSON, ZIP = Form(_read_json, _write_json), Form(_read_zip, _write_zip)
TENSORS = Form(_read_tensors, _write_tensors)


def _labelled(path: Path, classes: int) -> Any:
    """Return a table with every kind of column."""
    from deepcac.table.columns.description import Outcome, Use
    from deepcac.table.inference.labelled_table import described_table, read_labelled

    X, y = table()
    X["ward"] = np.resize(["icu", "floor", "er"], len(X))
    X["sex"] = np.resize(["f", "m", "m", "f", "m"], len(X))
    X.iloc[::9, 2] = np.nan
    X["outcome"] = y if classes == 2 else np.resize(["a", "b", "c", "c"], len(X))
    csv = path.with_suffix(".csv")
    X.to_csv(csv, index=False)
    return read_labelled(described_table(csv, Use(outcome=Outcome(field="outcome"))))


def _command(
    method: str, classes: int = 2, learner: str = "lr", **own: Any
) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        from deepcac.table.risk_model import fit_risk_model
        from deepcac.table.risk_model_file import write_risk_model

        how = {"learner": learner, "alpha": 0.03, "C": 1.0, "clip": None, "chosen": "as asked for"}
        how |= {"arm": method, "n_clusters": 3 if method else 1} | own
        write_risk_model(path, fit_risk_model(_labelled(path, classes), how, 0))

    return make


def _command_subtypes(path: Path) -> None:
    from deepcac.preprocess import TableScaler
    from deepcac.table.subtype_model import SubtypeRiskModel, write_subtype_model

    own = _labelled(path, 2)
    X = pd.DataFrame(own.features.X, columns=list(own.encoder.names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = _subtypes(False).fit(X, own.features.label)
    how = {"arm": "subtypes", "n_clusters": 2, "chosen": "as asked for"}
    scaler = TableScaler().fit(own.features.X)
    write_subtype_model(
        path, SubtypeRiskModel(own.encoder, scaler, own.classes, own.label, None, how, fitted)
    )


def _estimator(build: Callable[[], Any]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            deepcac.save(build().fit(*table()), path, trusted=True)

    return make


def _cac() -> Any:
    return deepcac.CACClassifier(n_clusters=2, alpha=0.01, random_state=0)


def _km() -> Any:
    from sklearn.svm import LinearSVC

    return deepcac.KMClassifier(LinearSVC(), n_clusters=3, random_state=0)


def _cac_cv() -> Any:
    return deepcac.CACClassifierCV(n_clusters=(1, 2), alphas=(0.0, 0.1), cv=2, random_state=0)


def _metric() -> Any:
    from deepcac.cac import MetricKMClassifier
    from deepcac.similarity import ClassMetric

    return MetricKMClassifier(ClassMetric(n_sets=3, set_size=20, random_state=0), random_state=0)


def _pipeline() -> Any:
    from sklearn.pipeline import make_pipeline

    from deepcac.preprocess import TableScaler

    return make_pipeline(TableScaler(), _cac())


def _decomposed() -> Any:
    return deepcac.ClassDecompositionClassifier(random_state=0)


def _pairwise() -> Any:
    from deepcac.decomposition import PairwiseLinearSVC

    return deepcac.ClassDecompositionClassifier(PairwiseLinearSVC(), random_state=0)


def _deep() -> Any:
    return deepcac.DeepCACClassifier(
        n_clusters=2, max_epochs=2, latent=3, hidden=4, local_hidden=3, device="cpu", random_state=0
    )


def _subtypes(boosting: bool) -> Any:
    return deepcac.SubtypeClassifier(
        n_clusters=2, members=2, folds=2, hidden=3, max_epochs=5, heads=10.0, boosting=boosting,
        device="cpu", random_state=0,
    )  # fmt: skip


def bases() -> dict[str, Callable[[], Any]]:
    """Return base classifiers with a declared state, by name; each in clusters of its own."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Perceptron, RidgeClassifier, SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import NearestCentroid

    from deepcac.linear.base_classifiers import NearestClassMean
    from deepcac.linear.newton_svm import NewtonSVC

    return {
        "GaussianNB": GaussianNB,
        "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis,
        "NearestCentroid": NearestCentroid,
        "NearestClassMean": NearestClassMean,
        "NewtonSVC": NewtonSVC,
        "Perceptron": Perceptron,
        "RidgeClassifier": RidgeClassifier,
        "SGDClassifier": lambda: SGDClassifier(loss="log_loss", random_state=0),
    }


def _of_base(name: str) -> Callable[[], Any]:
    return lambda: deepcac.KMClassifier(bases()[name](), n_clusters=2, random_state=0)


def _of_scaled() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    base = make_pipeline(StandardScaler(), LogisticRegression())
    return deepcac.KMClassifier(base, n_clusters=2, random_state=0)


def _decomposed_bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return deepcac.ClassDecompositionClassifier(GaussianNB(), random_state=0)


def _scalers() -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

    return make_pipeline(SimpleImputer(), MinMaxScaler(), RobustScaler(), StandardScaler(), _cac())


def _deep_pipeline() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), _subtypes(False))


def _network(name: str) -> Callable[[], Any]:
    from deepcac_study.catalogue.methods import learners

    return lambda: learners().networks[name].load()(max_epochs=1, device="cpu", random_state=0)


def item_sets() -> list[Any]:
    """Return sets of items with topics, for similarities."""
    from deepcac.similarity import ItemSet

    draw, topic = np.random.default_rng(0), np.repeat([0, 1], 6)
    columns = [np.column_stack([2.0 * topic - 1, 5.0 * draw.normal(size=12)]) for _ in range(3)]
    return [ItemSet(each) for each in columns]


def _similarity(build: Callable[[], Any]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        topic = np.repeat([0, 1], 6)
        deepcac.save(build().fit(item_sets()[:2], [topic, topic]), path, trusted=True)

    return make


def _learnt_similarity(name: str, **given: Any) -> Callable[[], Any]:
    def build() -> Any:
        from deepcac import similarity

        return getattr(similarity, name)(random_state=0, **given)

    return build


KINDS = {
    "command, no clusters": Kind(JSON, _command("")),
    "command, k-means": Kind(JSON, _command("km")),
    "command, CAC, three classes": Kind(JSON, _command("cac", 3)),
    "command, splines": Kind(JSON, _command("", 2, "spline_lr", clip=5.0, knots=5)),
    "command, boosted trees": Kind(JSON, _command("", 3, "hgb", trees=_TREES)),
    "command, subtypes": Kind(TENSORS, _command_subtypes),
    "CACClassifier": Kind(ZIP, _estimator(_cac)),
    "CACClassifierCV": Kind(ZIP, _estimator(_cac_cv)),
    "KMClassifier of LinearSVC": Kind(ZIP, _estimator(_km)),
    "MetricKMClassifier": Kind(ZIP, _estimator(_metric)),
    "pipeline of TableScaler and CACClassifier": Kind(ZIP, _estimator(_pipeline)),
    "ClassDecompositionClassifier": Kind(ZIP, _estimator(_decomposed)),
    "ClassDecompositionClassifier of PairwiseLinearSVC": Kind(ZIP, _estimator(_pairwise)),
    **{f"KMClassifier of {name}": Kind(ZIP, _estimator(_of_base(name))) for name in BASES},
    "KMClassifier of a pipeline": Kind(ZIP, _estimator(_of_scaled)),
    "ClassDecompositionClassifier of GaussianNB": Kind(ZIP, _estimator(_decomposed_bayes)),
    "pipeline of scalers and CACClassifier": Kind(ZIP, _estimator(_scalers)),
    "pipeline of StandardScaler and SubtypeClassifier": Kind(ZIP, _estimator(_deep_pipeline)),
    "SupervisedKMeans": Kind(ZIP, _similarity(_learnt_similarity("SupervisedKMeans", C=10.0))),
    "SupervisedKMeans of a kernel": Kind(
        ZIP, _similarity(_learnt_similarity("SupervisedKMeans", kernel="rbf"))
    ),
    "PairSimilarity": Kind(ZIP, _similarity(_learnt_similarity("PairSimilarity"))),
    "EqualWeights": Kind(ZIP, _similarity(_learnt_similarity("EqualWeights"))),
    **{f"network {name}": Kind(TENSORS, _estimator(_network(name))) for name in NETWORKS},
    "DeepCACClassifier": Kind(TENSORS, _estimator(_deep)),
    "SubtypeClassifier": Kind(TENSORS, _estimator(lambda: _subtypes(False))),
    "SubtypeClassifier with trees": Kind(TENSORS, _estimator(lambda: _subtypes(True))),
}


def fuzz_models(work: Path, numbers: range, kinds: list[str] | None = None) -> Iterator[Row]:
    """Give every kind of model mutants; one row a kind, as soon as it has them."""
    return (_row(work, name, numbers) for name in kinds or KINDS)


def _row(work: Path, name: str, numbers: range) -> Row:
    path = work / "model"
    KINDS[name].make(path)
    lines = trials(lambda: _mutants(path, KINDS[name].form), numbers)
    outcomes = Counter(line[0] for line in lines)
    distinct = len({line[1] for line in lines})
    peak = max(int(line[2]) for line in lines if line[0] != DEATH)
    how = f"{distinct} distinct; {outcomes[SAME]} the same, {outcomes[OTHER]} {OTHER}; "
    how += "".join(f"{outcomes[w]} {w}; " for w in (WRONG, TRACEBACK, DEATH) if outcomes[w])
    how += f"peak {peak} MB"
    return Row(
        f"model: {name}", len(lines), outcomes[SAME] + outcomes[OTHER], outcomes[REFUSED], how
    )


def _mutants(path: Path, form: Form) -> Trial:
    """Return what tries a mutant: outcome, digest and peak memory (MB)."""
    whole, mutant_path = form.read(path), path.with_name("mutant")
    expected = _answers(path)

    def trial(i: int) -> tuple[str, str, str]:
        parts, kind, change = model_mutant(whole, random.Random(i))
        outcome = _outcome(form, mutant_path, parts, kind, expected)
        if outcome in (WRONG, TRACEBACK):
            print(f"{outcome}: mutant {i}, {change}", file=sys.stderr, flush=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        return outcome, _digest(parts), str(peak)

    return trial


def _digest(parts: Any) -> str:
    """Return what is the same for two mutants only if their parts are."""
    content = json.dumps(
        parts,
        default=lambda part: (
            [part.dtype.str, part.shape, _bytes(part).hex()]
            if isinstance(part, np.ndarray)
            else repr(part)
        ),
    )
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _outcome(form: Form, path: Path, parts: Any, kind: str, expected: list[np.ndarray]) -> str:
    try:
        form.write(path, parts)
    except Exception:  # such a file cannot be written at all
        return REFUSED
    try:
        found = _answers(path)
    except DeepCACError as error:
        return REFUSED if "\n" not in str(error) else TRACEBACK
    except Exception as error:
        if "feature names should match" in str(error):  # those that the mutant asks for
            return REFUSED
        print(f"{type(error).__name__}: {error}"[:300], last_lines(error), file=sys.stderr)
        return TRACEBACK
    if len(found) == len(expected) and all(map(_alike, found, expected)):
        return SAME
    proper = len(found) == len(expected) and all(
        one.shape == other.shape and (one.dtype.kind != "f" or np.isfinite(one).all())
        for one, other in zip(found, expected, strict=True)
    )
    return OTHER if kind == POSSIBLE and proper else WRONG


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
        return False
    return np.allclose(one, other, atol=1e-12) if one.dtype.kind == "f" else (one == other).all()


def _answers(path: Path) -> list[np.ndarray]:
    """Return all that a loaded model says of rows."""
    X = table()[0]
    X["ward"], X["sex"] = np.resize(["icu", "er", "floor"], len(X)), np.resize(["m", "f"], len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = deepcac.load(path, **({"device": "cpu"}))
        if hasattr(model, "similarity"):
            new = item_sets()[2]
            return [np.asarray(model.similarity(new)), np.asarray(model.predict(new, 2))]
        if len(getattr(model, "feature_names_in_", ())):
            X = X.iloc[:, :4]
        asked = ("predict_proba", "decision_function", "assign", "contributions", "predict")
        return [np.asarray(getattr(model, one)(X)) for one in asked if hasattr(model, one)]


def model_mutant(whole: Any, draw: random.Random) -> tuple[Any, str, str]:
    """Change one place; return the parts, whether that is possible, and what was done where."""
    parts = copy.deepcopy(whole)
    nodes = list(_nodes(parts))
    if nodes and draw.random() < 0.25:
        return parts, *_change_nodes(nodes, draw)
    trail, parent, key = [], None, None
    node = parts
    while isinstance(node, dict | list) and node and (parent is None or draw.random() > 0.15):
        parent, key = node, draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
        node = parent[key]
        trail.append(str(key))
    spread = any(part.split(".")[-1].rstrip("_") in _SPREADS for part in trail)
    if isinstance(node, np.ndarray) and draw.random() < 0.8:
        parent[key], kind, done = _array_mutant(node, draw, spread)
    else:
        kind, done = _change(parent, key, node, draw, spread)
    return parts, kind, f"{done} at {'/'.join(trail)}"


def _nodes(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of a file of skops."""
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    if isinstance(part, dict) and "__loader__" in part:
        yield part
    for each in inside:
        yield from _nodes(each)


def _change_nodes(nodes: list[dict[str, Any]], draw: random.Random) -> tuple[str, str]:
    """Add an attribute, let one node stand for another, or share nodes over many levels."""
    way = draw.choice(("add", "share", "levels"))
    other = copy.deepcopy(draw.choice(nodes))
    states = [
        node for node in nodes if isinstance(node.get("content"), dict) and "key_types" in node
    ]
    if way == "share" or not states:
        node = draw.choice(nodes)
        node.clear()
        node.update(other)
        return POSSIBLE, way
    if way == "levels":
        for level in range(40):
            number = 10**12 + level
            pair = {**other, "__class__": "list", "__module__": "builtins", "__id__": number}
            other = {**pair, "__loader__": "ListNode", "content": [other, copy.deepcopy(other)]}
            if level:  # written once; the second is taken for the first
                other["content"][1]["content"] = []
    state = draw.choice(states)
    names = ("predict", "predict_proba", "__sklearn_tags__", "classes_x", "n_jobs", "steps")
    name = draw.choice(names)
    if name not in state["content"]:
        types = state["key_types"]["content"]
        types.append(copy.deepcopy(types[0]) if types else {})
    state["content"][name] = other
    return (IMPOSSIBLE if name.startswith(("predict", "__")) else POSSIBLE), f"{way} {name}"


def _change(parent: Any, key: Any, node: Any, draw: random.Random, spread: bool) -> tuple[str, str]:
    """Change an entry of a dict or list."""
    number = isinstance(node, int | float) and not isinstance(node, bool)
    ways = ["drop", "null", "type", *(["double", "swap"] if isinstance(parent, list) else [])]
    ways += ["nan", "huge", "zero", "moved", "moved"] if number else []
    ways += ["text"] if isinstance(node, str) else []
    way = draw.choice(ways)
    match way:
        case "drop":
            del parent[key]
        case "double":
            parent.insert(key, copy.deepcopy(node))
        case "swap":
            other = draw.randrange(len(parent))
            parent[key], parent[other] = parent[other], node
        case "text":
            parent[key] = draw.choice(("", node + "x", "../x", "builtins", node[::-1]))
        case _:
            others = {
                "null": [None], "nan": [float("nan"), float("inf"), -float("inf")],
                "huge": [1e300, 10**60, -(10**60)], "zero": [0],
                "moved": [node * 1.5, -node, node + 1] if number else [],
                "type": [[], {}, [[1]], [None], "x" if not isinstance(node, str) else 7, True],
            }  # fmt: skip
            parent[key] = draw.choice(others[way])
    possible = way in ("swap", "text", "moved") or (way == "null" and key in _NULL_MEANS)
    possible |= way == "zero" and not spread
    return POSSIBLE if possible else IMPOSSIBLE, way


def _array_mutant(
    node: np.ndarray, draw: random.Random, spread: bool
) -> tuple[np.ndarray, str, str]:
    """Change one number of an array, or its shape or type."""
    way = draw.choice(("nan", "huge", "zero", "moved", "moved", "swap", "shape", "shape", "kind"))
    text = node.dtype.kind not in "fiub"
    if way == "shape" or text or not node.size or node.ndim == 0:
        shapes = [node[..., None], node.ravel()[:-1], np.append(node, node.ravel()[:1])]
        shapes += [np.concatenate([node, node[:1]]), node[1:], node[:0]] if node.ndim else []
        found = draw.choice(shapes)
        return found, IMPOSSIBLE if found.shape != node.shape else POSSIBLE, "shape"
    if way == "kind":
        return node.astype(draw.choice(("f4", "i4", "u1"))), IMPOSSIBLE, way
    found, at = node.copy(), tuple(draw.randrange(size) for size in node.shape)
    floats = found.dtype.kind == "f"
    match way:
        case "swap":
            other = tuple(draw.randrange(size) for size in node.shape)
            found[at], found[other] = node[other], node[at]
        case "nan":
            found[at] = draw.choice((np.nan, np.inf, -np.inf)) if floats else -1
        case "huge":
            most = 1e300 if found.dtype == np.float64 else 1e30
            found[at] = draw.choice((most, -most)) if floats else _largest(found)
        case "zero":
            found[at] = 0
        case _:
            found[at] = (
                node[at] * 1.5 if floats else not node[at] if node.dtype == bool else node[at] + 1
            )
    possible = way in ("swap", "moved") or (way == "zero" and not (spread and floats))
    return found, POSSIBLE if possible or (way == "nan" and not floats) else IMPOSSIBLE, way


def _largest(found: np.ndarray) -> Any:
    return np.iinfo(found.dtype).max if found.dtype.kind in "iu" else found.ravel()[0]
