"""A fitted and saved risk model, the profile page, and the private data set of the workflow."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred, use_of
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

import deepcac
from deepcac.cac import CACClassifier
from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import read_features
from deepcac.files.storage import content_digest, read_json, write_json
from deepcac.preprocess import TableScaler
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.profile_page import write_profile_page
from deepcac.table.risk_model import coarse_scaler
from deepcac.table.risk_model_choice import method_lines
from deepcac.table.risk_tables import fit_table, predict_table, read_model
from deepcac.task import STEP, rounded
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.jobs.layout import Layout
from deepcac_study.jobs.sharing import Origins
from deepcac_study.private_data_set import add_table
from deepcac_study.splits import make_splits, read_splits, write_splits

RESERVED = (
    *("report", "judge", "data", "results", "decomposition", "as_published", "switches", "planted"),
    *("demo_x", "synthetic_cac_i000_o100_c2"),
)


def patients(n=300, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 5 * kind[:, None]
    died = rng.random(n) < 1 / (1 + np.exp(-2 * (2 * kind - 1) * X[:, 2]))
    table = pd.DataFrame(X, columns=["crp", "urea", "age", "bmi"])
    table["sex"] = rng.choice(["f", "m"], n)
    table.loc[::9, "bmi"] = np.nan
    table["patient"] = [f"p{i}" for i in range(n)]
    return table.assign(died=np.where(died, "yes", "no")), kind


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "patients.csv"
    patients()[0].to_csv(path, index=False)
    return path


USE = use_of("died", id="patient")


def fitted(csv, tmp_path, roles=USE, **options):
    model = tmp_path / "model.json"
    fit_table(
        inferred(csv, roles), model, TableRun(lambda line: None, rows=10_000, jobs=1), **options
    )
    return model


def risks(model, csv, tmp_path, said=None):
    out = tmp_path / "risk.csv"
    predict_table(model, csv, out, say=(said if said is not None else []).append)
    return pd.read_csv(out)


def test_the_plain_model_is_scikit_learns_on_the_scaled_table(csv, tmp_path):
    found = risks(fitted(csv, tmp_path, method="plain"), csv, tmp_path)
    table = read_labelled(inferred(csv, USE))
    scaled = coarse_scaler(table).transform(table.features.X)
    model = LogisticRegression(max_iter=1000).fit(scaled, table.features.label)
    expected = model.predict_proba(scaled)[:, 1]
    assert np.allclose(found["risk"], expected, atol=1e-5)
    assert found["patient"].tolist() == patients()[0]["patient"].tolist()
    assert found.columns.tolist() == ["patient", "risk"]


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """A table, and the model that is chosen for it."""
    folder = tmp_path_factory.mktemp("chosen")
    patients()[0].to_csv(folder / "patients.csv", index=False)
    return folder / "patients.csv", fitted(folder / "patients.csv", folder, learner="lr")


def test_subtypes_that_help_are_chosen_and_told(chosen, tmp_path):
    csv, model = chosen
    method = read_model(model).method
    assert method["n_clusters"] >= 2
    found = risks(model, csv, tmp_path)
    assert adjusted_rand_score(found["subtype"], patients()[1]) > 0.95
    died = patients()[0]["died"] == "yes"
    assert found["risk"][died].mean() > found["risk"][~died].mean() + 0.2


def test_a_saved_model_answers_as_before_and_does_not_depend_on_blocks(csv, tmp_path, monkeypatch):
    model = fitted(csv, tmp_path, method="CAC", clusters=3)
    before = risks(model, csv, tmp_path)
    monkeypatch.setattr("deepcac.table.reading.delimited_text.BLOCK_BYTES", 2000)
    pd.testing.assert_frame_equal(risks(model, csv, tmp_path), before)
    parquet = tmp_path / "patients.parquet"
    pd.read_csv(csv).to_parquet(parquet)
    pd.testing.assert_frame_equal(risks(model, parquet, tmp_path), before)


def test_three_classes_have_three_risks_that_sum_to_one(csv, tmp_path):
    table = patients()[0]
    table["grade"] = np.digitize(table["age"], [-0.5, 0.5])
    table.drop(columns=["age", "died"]).to_csv(csv, index=False)
    grades = use_of("grade", id="patient")
    found = risks(fitted(csv, tmp_path, grades, method="k-means"), csv, tmp_path)
    assert found.columns.tolist() == ["patient", "risk_0", "risk_1", "risk_2", "subtype"]
    assert np.allclose(found.filter(like="risk").sum(axis=1), 1, atol=1e-5)


def test_a_new_table_may_lack_the_label_but_no_column_of_the_model(csv, tmp_path):
    model = fitted(csv, tmp_path, method="plain")
    new = patients(seed=1)[0].drop(columns=["died", "patient"])
    new.to_csv(csv, index=False)
    assert risks(model, csv, tmp_path)["row"].tolist() == list(range(1, 301))
    new.drop(columns="crp").to_csv(csv, index=False)
    with pytest.raises(DataError, match="'crp' is missing"):
        risks(model, csv, tmp_path)


def test_an_unseen_category_is_said_and_a_cell_at_fault_named(csv, tmp_path):
    model = fitted(csv, tmp_path, method="plain")
    new = patients(seed=1)[0]
    new.loc[3, "sex"] = "x"
    new.to_csv(csv, index=False)
    said = []
    risks(model, csv, tmp_path, said)
    assert "'x'" in said[0]
    new["crp"] = new["crp"].astype(object)
    new.loc[7, "crp"] = "high"
    new.to_csv(csv, index=False)
    with pytest.raises(DataError, match="'crp', data row 8: 'high'"):
        risks(model, csv, tmp_path)


def test_foreign_damaged_and_newer_models_are_refused(csv, tmp_path):
    model = fitted(csv, tmp_path, method="plain")
    content = read_json(model)
    del content["digest"]
    for version in (3, 5):
        write_json(tmp_path / "other.json", content | {"version": version})
        with pytest.raises(DataError, match=f"version {version}, this deepcac reads 4; fit it ag"):
            read_model(tmp_path / "other.json")
    write_json(tmp_path / "old.json", content | {"encoder": {"columns": [], "description": None}})
    with pytest.raises(DataError, match="fit it again"):
        read_model(tmp_path / "old.json")
    write_json(tmp_path / "other.json", {"a": 1})
    with pytest.raises(DataError, match="no risk model"):
        read_model(tmp_path / "other.json")
    model.write_text(model.read_text().replace('"label": "died"', '"label": "lived"'))
    with pytest.raises(DataError, match="edited or damaged"):
        read_model(model)


def test_an_unknown_method_is_refused_before_the_table_is_read(tmp_path):
    absent, out = DescribedTable(tmp_path / "none.csv", None), tmp_path / "m.json"
    with pytest.raises(ConfigError, match="'kmeans'; .*auto, plain, k-means, CAC"):
        fit_table(absent, out, TableRun(print), method="kmeans")


def test_the_profile_page_shows_columns_and_rates_and_withholds_small_parts(csv, tmp_path):
    table = patients()[0]
    table.loc[:4, "sex"] = "other"
    table.to_csv(csv, index=False)
    write_profile_page(csv, tmp_path / "p.html", TableRun(str, command="c"), label="died")
    page = (tmp_path / "p.html").read_text()
    assert 'id="table-columns"' in page
    assert "withheld" in page
    assert "rare" in page


def test_no_text_of_few_rows_is_in_a_model_or_on_a_page(csv, tmp_path):
    table = patients()[0]
    table["doctor"] = [f"Dr {i % 90}" for i in range(300)]  # three or four rows each
    table["ward"] = np.where(np.arange(300) < 4, "quarantine", "general")
    table["stage"] = np.where(np.arange(300) == 7, 4711.25, np.arange(300) % 3)
    table["lab"] = np.where(np.arange(300) < 3, np.nan, table["age"])
    table.to_csv(csv, index=False)
    model = fitted(csv, tmp_path, method="plain").read_text()
    write_profile_page(csv, tmp_path / "p.html", TableRun(str, command="c"), label="died")
    page = (tmp_path / "p.html").read_text()
    for text in (model, page):
        assert "Dr " not in text
        assert "quarantine" not in text
    assert "4,711.25" not in page
    assert "rare" in page
    assert "fewer than 8" in page
    assert "3 (1.0 %)" not in page


def test_a_fit_tells_what_it_is_worth_on_rows_it_has_not_seen(chosen):
    method = read_model(chosen[1]).method
    out = method["held_out"]
    assert 0.5 < out["low"] < out["auroc"] < out["high"] <= 1
    assert method["rarest"] == rounded(patients()[0]["died"].value_counts().min())
    assert 0.3 < out["calibration_slope"] < 3
    assert 0.7 < out["observed_by_expected"] < 1.4
    lines = method_lines(method)
    assert lines[0].startswith(f"held-out AUROC {out['auroc']:.3f}")
    assert not any(line.startswith("warning") for line in lines)
    assert re.search(r"6 candidate parameters .* \d+ pat", lines[3])
    assert re.search(r"validates this model .* \d", lines[4])
    out["calibration_intercept"] = -0.001
    assert "intercept 0.00 (" in method_lines(method)[0]


def test_of_models_that_rank_alike_the_one_with_the_best_risks_is_taken(csv, tmp_path):
    """A penalty that takes every risk to the mean ranks as well (slope 42, risks .39 to .40)."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    died = rng.random(300) < 1 / (1 + np.exp(0.5 - table["a"] - table["b"]))
    table.assign(patient=np.arange(300), died=died).to_csv(csv, index=False)
    model = fitted(csv, tmp_path, learner="lr", method="plain")
    assert 0.5 < read_model(model).method["held_out"]["calibration_slope"] < 2
    assert risks(model, csv, tmp_path)["risk"].std() > 0.15


def test_held_out_scores_of_labels_that_mean_nothing_are_chance(csv, tmp_path):
    """The best of 34 validation AUROCs is above .5 on noise; the held-out one is not (5 sd .15)."""
    table = patients(600)[0]
    table["died"] = np.random.default_rng(5).permutation(table["died"])
    table.to_csv(csv, index=False)
    method = read_model(fitted(csv, tmp_path, learner="lr")).method
    assert abs(method["held_out"]["auroc"] - 0.5) < 0.15
    assert any(re.match("warning: .*chance", line) for line in method_lines(method))


def test_nine_events_are_too_few_and_bring_no_clusters(csv, tmp_path):
    table = patients()[0]
    table["died"] = np.where(np.arange(300) % 33 == 5, "yes", "no")
    table.to_csv(csv, index=False)
    method = read_model(fitted(csv, tmp_path, learner="lr")).method
    assert (method["n_clusters"], method["rarest"]) == (1, 10)
    assert any(re.match("warning: .*too few", line) for line in method_lines(method))
    with pytest.raises(DataError, match="--clusters 3: .* 1"):
        fitted(csv, tmp_path, method="CAC", clusters=3)


@pytest.fixture
def project(tmp_path):
    registry = tmp_path / "config" / "registry"
    registry.mkdir(parents=True)
    entry = {
        "title": "t", "licence": "l", "citation": "c", "homepage": "http://localhost/",
        "restricted": False,
        "datasets": {
            "taken": {"title": "t", "label": "l", "positive": "p", "task": "binary"},
            "pairs": {"title": "t", "label": "l", "positive": None, "task": "multiclass", "pairwise": True},
        },
    }  # fmt: skip
    (registry / "open.yaml").write_text(json.dumps(entry))
    return tmp_path


def test_a_table_becomes_a_private_data_set_that_is_never_shared(csv, project):
    features, entry, _ = add_table(inferred(csv, USE), "mine", project)
    assert entry == project / "config" / "registry" / "private" / "mine.yaml"
    matrix = read_features(features)
    assert matrix.names == ("age", "bmi", "crp", "sex=m", "urea")
    assert np.isnan(matrix.X[0, matrix.names.index("bmi")])
    registry = load_registry(project / "config" / "registry")
    assert "mine" not in load_registry(project / "config" / "registry", private=False).datasets
    layout = Layout(registry, {"restricted": {}})
    found = layout.run_inputs("", "mine", "cac_lr", 2)
    assert found["features"] == "data/features/mine.parquet"
    origins = Origins(layout, lambda file: (), ())
    assert origins.closed(str(project / found["features"])) == str(features)
    assert add_table(inferred(csv, USE), "mine", project)[1] == entry  # again, for a newer table


def test_patients_with_several_rows_stay_together_in_the_workflow(csv, project):
    table = patients()[0].assign(patient=[f"p{i // 3}" for i in range(300)])
    table.to_csv(csv, index=False)
    features, entry, _ = add_table(inferred(csv, patient="patient"), "mine", project)
    matrix = read_features(features)
    assert matrix.group is not None
    assert matrix.group.tolist() == [str(i // 3) for i in range(300)]
    assert "p1" not in features.read_bytes().decode("latin-1")  # a number stands for the patient
    assert load_registry(project / "config" / "registry").dataset("mine").grouped
    splits = make_splits(matrix.row_id, matrix.label, [0, 1], unit=matrix.group)
    write_splits(project / "s.parquet", splits)
    for scheme in ("seeds", "holdout", "folds"):
        for split in read_splits(project / "s.parquet", matrix.row_id, scheme):
            parts = [
                set(matrix.group[rows]) for rows in (split.train, split.validation, split.test)
            ]
            assert sum(map(len, parts)) == 100
    setting = Setting("mine", 2, Protocol(frozenset({"A14"})), "cac")
    (split,) = read_splits(project / "s.parquet", matrix.row_id, "holdout")
    task = make_task(matrix, split, setting)
    assert len(task.y_train) == len(split.train)
    assert np.array_equal(task.y_train, matrix.label[split.train])
    assert entry.exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *(("taken", "'taken' already"), ("open", "'open' already"), ("Mine", "lower-case")),
        *((name, "the workflow itself") for name in RESERVED),
        *(("pairs_nodes", "pairs_nodes and to open"), ("there", "'there' already")),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(csv, project, name, message):
    there = project / "data" / "features" / "there.parquet"
    there.parent.mkdir(parents=True)
    there.write_text("of another")
    with pytest.raises(ConfigError, match=message):
        add_table(inferred(csv, USE), name, project)
    with pytest.raises(ConfigError, match="no config/registry here"):
        add_table(inferred(csv, USE), "mine", project / "config")
    assert there.read_text() == "of another"
    assert not (project / "config" / "registry" / "private").exists()


def test_what_add_writes_is_not_tracked():
    root = Path(__file__).parents[3]
    for path in ("config/registry/private/mine.yaml", "data/features/mine.parquet"):
        done = subprocess.run(["git", "check-ignore", "-q", path], cwd=root, check=False)
        assert done.returncode == 0


def test_python_reads_what_the_command_wrote(csv, tmp_path):
    path = fitted(csv, tmp_path, method="CAC", clusters=2)
    method_lines, model = risks(path, csv, tmp_path), deepcac.load(path)
    table = pd.read_csv(csv)
    assert np.allclose(model.predict_proba(table)[:, 1], method_lines["risk"], atol=1e-5)
    assert (model.assign(table) + 1 == method_lines["subtype"]).all()
    assert set(model.predict(table)) <= set(model.classes_.tolist()) == {"no", "yes"}


@pytest.mark.parametrize("piped", [False, True])
def test_the_command_reads_what_python_saved(piped, csv, tmp_path):
    table, _ = patients()
    X = table[["crp", "urea", "age"]]
    X = X.fillna(X.median())
    model = CACClassifier(n_clusters=2, random_state=0)
    model = (make_pipeline(TableScaler(), model) if piped else model).fit(X, table["died"])
    deepcac.save(model, tmp_path / "saved")
    X.to_csv(csv, index=False)
    method_lines = risks(tmp_path / "saved", csv, tmp_path)
    assert np.allclose(method_lines["risk"], model.predict_proba(X)[:, 1], atol=1e-5)
    last = model[-1].assign(model[:-1].transform(X)) if piped else model.assign(X)
    assert (method_lines["subtype"] == last + 1).all()


def test_spaces_around_a_name_and_an_empty_cell_of_what_python_saved(csv, tmp_path):
    X = patients()[0][["crp", "age"]].dropna().rename(columns={"age": " age "})
    y = X["crp"] > X["crp"].median()
    deepcac.save(CACClassifier(n_clusters=2, random_state=0).fit(X, y), tmp_path / "saved")
    X.to_csv(csv, index=False)
    assert len(risks(tmp_path / "saved", csv, tmp_path)) == len(X)
    X.iloc[3, 0] = np.nan
    X.to_csv(csv, index=False)
    with pytest.raises(DataError, match="column 'crp': an empty cell.*an imputer"):
        risks(tmp_path / "saved", csv, tmp_path)


def test_a_model_that_is_not_there_is_said_to_be_absent(csv, tmp_path):
    with pytest.raises(DataError, match=r"nope.json: no such file"):
        predict_table(tmp_path / "nope.json", csv, tmp_path / "r.csv", say=print)


def test_an_estimator_without_column_names_cannot_serve_the_command(csv, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    deepcac.save(CACClassifier(random_state=0).fit(X, np.arange(60) % 2), tmp_path / "saved")
    with pytest.raises(DataError, match="probabilities"):
        read_model(tmp_path / "saved")


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (("parts", 0), None, "1 parts for 2 clusters"),
        (("parts", 0, "coef", 0, 0), float("nan"), "NaN .*JSON"),
        (("parts", 0, "coef", 0), [1.0], "coef"),
        (("scaler", "scale_", 0), 0.0, "scale_ is not above 0"),
        (("scaler", "median_", 0), "1.0", "median_ .*no float"),
        (("classes", 0), "yes", "each once"),
        (("method", "n_clusters"), 2.0, "n_clusters is 2.0, a count"),
        (("centres", 0, 0), 1e9, "a centre"),
        (("software",), 1, "version"),
    ],
)
def test_an_impossible_model_is_refused(where, value, message, csv, tmp_path):
    path = fitted(csv, tmp_path, method="k-means", clusters=2)
    content = read_json(path)
    inner = content
    for each in where[:-1]:
        inner = inner[each]
    if value is None:
        del inner[where[-1]]
    else:
        inner[where[-1]] = value
    content["digest"] = content_digest(content)
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=message) as caught:
        deepcac.load(path)
    assert "\n" not in str(caught.value)


def test_nothing_is_written_over_an_input_or_what_is_no_file(csv, tmp_path):
    before = csv.read_bytes()
    for out, why in (
        (csv, "is what is read"),
        (tmp_path, "is a folder"),
        ("/dev/null", "regular"),
    ):
        with pytest.raises(ConfigError, match=why):
            fit_table(inferred(csv, USE), out, TableRun(lambda line: None, rows=10_000, jobs=1))
    (tmp_path / "link.csv").symlink_to(csv)
    with pytest.raises(ConfigError, match="what is read"):
        write_profile_page(csv, tmp_path / "link.csv", TableRun(str, command="c"))
    with pytest.raises(ConfigError, match="no folder"):
        write_profile_page(csv, tmp_path / "none" / "p.html", TableRun(str, command="c"))
    model = fitted(csv, tmp_path, method="plain")
    with pytest.raises(ConfigError, match="what is read"):
        predict_table(model, csv, model, say=lambda line: None)
    assert csv.read_bytes() == before


@pytest.mark.parametrize("rows", [300, 299, 297])
def test_a_model_file_counts_no_patient_exactly(csv, tmp_path, rows):
    table = patients()[0][:rows]
    table.to_csv(csv, index=False)
    method = read_json(fitted(csv, tmp_path, method="plain"))["method"]
    counts = method["rarest"], method["held_out"]["rows"]
    assert [count % STEP for count in counts] == [0, 0]
    true = table["died"].value_counts().min(), rows / method["held_out"]["parts"]
    assert counts == pytest.approx(true, abs=STEP / 2)
