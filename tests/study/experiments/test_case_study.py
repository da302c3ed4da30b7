import json
from itertools import permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from paper_checks import ask
from scipy import stats

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import write_json, write_table
from deepcac.pages.tables import markdown
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.case_study import (
    View,
    agreement_between_seeds,
    cluster_means,
    describe_view,
    distil,
    fit_view,
    order_clusters,
    separation,
    write_case_study,
)
from deepcac_study.experiments.networks.deep_methods import latent_plane
from deepcac_study.experiments.prepare import Setting
from deepcac_study.papers.deepcac.length_of_stay import (
    printed_clusters,
    printed_shares,
)
from deepcac_study.papers.ledger import entries
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs
from deepcac_study.records.studies import load_case_studies, match
from deepcac_study.report.papers.casetables import case_figure, case_tables
from deepcac_study.report.subtypes.subtype_figures import embedding_figures, of_pages
from deepcac_study.splits import make_splits, read_splits, write_splits

NAMES = ("Age", "WBC_last", "Weight", "GCS_median")


def planted(n=900, seed=0):
    """Three clusters told apart by Age; what drives the risk differs by cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.arange(n) % 3
    X = rng.normal(size=(n, 4))
    X[:, 0] = 40 + 10 * cluster + rng.normal(size=n)
    driver = np.select([cluster == 0, cluster == 1], [X[:, 1], X[:, 2]], X[:, 3])
    score = np.stack([2 * driver, np.zeros(n), -2 * driver], axis=1)
    probability = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    y = (probability.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    X[rng.random(n) < 0.2, 1] = np.nan
    features = FeatureMatrix(np.arange(n), y.astype(np.int64), X, NAMES)
    view = View(seed, "ok", np.arange(600), np.arange(700, n), cluster, probability)
    return features, view


def test_separation_by_hand():
    values = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    effect, p = separation(values, np.array([0, 0, 1, 1, 1]), 2)
    # ranks 1 2 | 3 4 around 2.5: between 2 * 1 + 2 * 1 = 4 of 5, so H = 3 * 0.8
    assert effect == pytest.approx(0.8)
    assert p == pytest.approx(stats.kruskal([1, 2], [3, 4]).pvalue)
    for constant_or_one in (np.ones(5), np.full(5, np.nan)):
        assert np.isnan(separation(constant_or_one, np.array([0, 0, 1, 1, 1]), 2)).all()
    assert np.isnan(separation(values, np.zeros(5, dtype=int), 2)).all()


def test_separation_is_kruskal_with_ties():
    rng = np.random.default_rng(1)
    values, cluster = rng.integers(0, 6, 200).astype(float), rng.integers(0, 3, 200)
    effect, p = separation(values, cluster, 3)
    known = stats.kruskal(*(values[cluster == j] for j in range(3)))
    assert (effect * 199, p) == pytest.approx((known.statistic, known.pvalue))


def test_means_leave_missing_values_out():
    X = np.array([[1.0, np.nan], [3.0, 5.0], [7.0, np.nan]])
    mean, rows = cluster_means(X, np.array([0, 0, 1]), 3)
    np.testing.assert_array_equal(mean, [[2, 5], [7, np.nan], [np.nan, np.nan]])
    assert rows.tolist() == [[2, 1], [1, 0], [0, 0]]


def test_clusters_are_ordered_by_the_mean_class_of_training_rows():
    cluster, y = np.array([0, 0, 1, 1, 2, 3]), np.array([2, 2, 0, 1, 0, 0])
    ordered = order_clusters(cluster, y, np.arange(5), 4)
    assert ordered.tolist() == [2, 2, 1, 1, 0, 3]  # cluster 3 has no training row


def test_students_find_what_each_risk_model_looks_at():
    features, view = planted()
    importance, probability = distil(features.X, view.cluster, view.probability, view.train, 3)
    assert [NAMES[f] for f in importance.argmax(axis=1)] == ["WBC_last", "Weight", "GCS_median"]
    assert importance.sum(axis=1) == pytest.approx(np.ones(3))
    gap = np.abs(probability[view.test] - view.probability[view.test])
    assert gap[~np.isnan(features.X[view.test, 1])].mean() < 0.05


def test_description_names_the_planted_feature():
    features, view = planted()
    summary, table = describe_view(features, view, 3)
    rows = table.to_pandas()
    strongest = rows.loc[rows["effect"].idxmax()]
    assert strongest["feature"] == "Age"
    assert strongest["effect"] > 0.8
    assert strongest["p"] < 1e-9
    assert rows.loc[rows["feature"] == "Weight", "p"].max() > 0.01
    age = rows[rows["feature"] == "Age"]
    assert age["mean"].tolist() == pytest.approx([40, 50, 60], abs=0.5)
    assert np.sum(summary["sizes_train"]) == 600
    assert np.sum(summary["sizes_test"]) == 200
    assert summary["student_auprc"] == pytest.approx(summary["auprc"], abs=0.08)
    white = rows[rows["feature"] == "WBC_last"]
    overall = np.nanmean(features.X[:600, 1])
    filled = white["rows"] / 200 * white["mean"] + (1 - white["rows"] / 200) * overall
    assert white["filled"].to_numpy() == pytest.approx(filled.to_numpy())


def test_an_empty_cluster_has_no_student():
    features, view = planted()
    summary, table = describe_view(features, view, 4)
    rows = table.to_pandas()
    assert summary["sizes_train"][3] == [0, 0, 0]
    assert rows.loc[rows["cluster"] == 4, "importance"].eq(0).all()
    assert rows.loc[rows["cluster"] == 4, "mean"].isna().all()


def test_stability_ignores_names_of_clusters():
    _, view = planted()
    renamed = View(1, "ok", view.train, view.test, (view.cluster + 1) % 3, view.probability)
    shuffled = View(2, "ok", view.train, view.test[:100], view.cluster[::-1], view.probability)
    pairs = agreement_between_seeds([view, renamed, shuffled])
    assert [pair["seeds"] for pair in pairs] == [[0, 1], [0, 2], [1, 2]]
    assert (pairs[0]["all"], pairs[0]["test"], pairs[0]["test_rows"]) == (1.0, 1.0, 200)
    assert pairs[1]["test_rows"] == 100


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a case study of a short fit, with the run's scores made from another one."""
    from deepcac.feature_matrix import write_features
    from deepcac_study.catalogue.methods import parse_method
    from deepcac_study.experiments.run import RunFiles, run

    folder = tmp_path_factory.mktemp("case")
    features, _ = planted(450)
    write_features(folder / "features.parquet", features)
    write_splits(folder / "splits.parquet", make_splits(features.row_id, features.label, [0, 1]))
    files = RunFiles(folder / "features.parquet", folder / "splits.parquet")
    asked = {folder / "deepcac_k3.json": (parse_method("deepcac"), 3)}
    run(files, asked, dataset="cic_los", protocol=SOUND)
    write_case_study(
        folder / "results" / "case_study" / "cic_los_k3.json",
        features,
        read_splits(folder / "splits.parquet", features.row_id),
        Setting("cic_los", 3, SOUND, "deep"),
        pretrained=None,
        run_scores=folder / "deepcac_k3.scores.parquet",
    )
    return folder / "results" / "case_study" / "cic_los_k3.json"


def test_the_case_study_is_of_the_run(written):
    record = json.loads(written.read_text())
    assert [split["ari_to_run"] for split in record["splits"]] == [1.0, 1.0]
    assert len(record["stability"]) == 1
    table = pd.read_parquet(written.with_suffix(".features.parquet"))
    assert len(table) == 2 * 3 * len(NAMES)
    sums = table.groupby(["seed", "cluster"])["importance"].sum()
    assert sums.round(6).isin([0, 1]).all()


def test_the_map_shows_the_test_rows_under_the_runs_own_clusters(written):
    (study,) = load_case_studies([written], written.parents[2])
    scores = pd.read_parquet(written.parents[2] / "deepcac_k3.scores.parquet")
    first = scores[scores["seed"] == study.record["splits"][0]["seed"]]
    assert study.plane["cluster"].tolist() == first["cluster"].tolist()
    assert study.plane["label"].tolist() == first["label"].tolist()
    (figure,) = embedding_figures([study])
    assert len(figure.data) == len(first)
    assert "silhouette of the subtypes" in figure.alternative
    assert embedding_figures([study], {"cic_los"}) == []
    assert of_pages([figure]) == {"subtypes_cic_los_deepcac_k3": figure}


def test_a_map_is_the_plane_of_most_spread():
    rng = np.random.default_rng(0)
    latents = rng.normal(size=(40, 5)) * [1, 9, 1, 4, 1]
    found = latent_plane(latents, np.arange(40) % 3, np.arange(40) % 2).to_pandas()
    spread = np.linalg.eigvalsh(np.cov(latents.T))[::-1]
    assert found[["x", "y"]].var().to_numpy() == pytest.approx(spread[:2], rel=1e-5)
    assert latent_plane(latents[:0], np.zeros(0, int), np.zeros(0, int)).num_rows == 0


def test_sequences_are_refused():
    names = ("HR@00", "HR@01")
    features = FeatureMatrix(np.arange(4), np.array([0, 1, 0, 1]), np.ones((4, 2)), names)
    with pytest.raises(ConfigError, match="static"):
        fit_view(features, None, Setting("sepsis_ts", 2, SOUND, "deep"), None)


def test_printed_shares_are_those_of_table_8():
    shares = printed_shares()
    assert shares.sum() == pytest.approx(1)
    assert shares.sum(axis=1) * 6750 == pytest.approx([1856, 2845, 2049])
    assert shares[0] / shares[0, 2] == pytest.approx([6.25, 2.07, 1])


def test_matching_finds_renamed_clusters_and_is_the_best():
    reference = printed_shares()
    assert match(reference[[2, 0, 1]], reference).tolist() == [2, 0, 1]
    ours = np.random.default_rng(5).dirichlet(np.ones(9)).reshape(3, 3)
    cost = np.abs(ours[:, None] - reference[None]).sum(axis=2)
    best = min(sum(cost[i, j] for i, j in enumerate(order)) for order in permutations(range(3)))
    assert cost[np.arange(3), match(ours, reference)].sum() == pytest.approx(best)


def study_like_print(folder, *, protocol="as_published", order=(0, 1, 2)):
    """Write a case study whose means of Age are the printed ones, with clusters renamed."""
    printed = {0: 62.202, 1: 67.46, 2: 62.134}
    rows = [
        {
            "seed": seed,
            "feature": feature,
            "cluster": order.index(j) + 1,
            "rows": 200,
            "mean": (printed[j] if feature == "Age" else 99.0) + 0.5 * seed,
            "filled": (printed[j] if feature == "Age" else 99.0) + 0.5 * seed,
            "sd": 17.0 if feature == "Age" else 2.0,
            "effect": 0.3 if feature == "Age" else 0.1,
            "p": 0.0,
            "importance": {"Age": 0.7, "WBC_last": 0.3}.get(feature, 0.0),
        }
        for seed in (0, 1)
        for feature in (*(f"x{i}" for i in range(9)), "WBC_last", "Age", "Weight")
        for j in (2, 1, 0)
    ]
    path = folder / f"results/case_study/{protocol}/cic_los_k3.json"
    path.parent.mkdir(parents=True)
    sizes = np.round(printed_shares() * 6750).astype(int)[list(order)].tolist()
    split = {"status": "ok", "sizes_train": sizes, "sizes_test": sizes, "auprc": 0.5}
    split |= {"student_auprc": 0.5, "student_agrees": 0.8, "ari_to_run": 1.0}
    record = {
        "dataset": "cic_los",
        "method": "deepcac",
        "k": 3,
        "protocol": protocol,
        "switches": [],
        "synthetic": False,
        "splits": [{**split, "seed": 0}, {**split, "seed": 1}],
        "stability": [{"seeds": [0, 1], "all": 0.5, "test": 0.4, "test_rows": 9}],
    }
    write_json(path, record)
    write_table(path.with_suffix(".features.parquet"), pa.Table.from_pylist(rows))
    return path


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_ledger_takes_the_matched_cluster(tmp_path, order):
    studies = load_case_studies(
        [study_like_print(tmp_path, order=order)], tmp_path, printed_clusters()
    )
    ledger = {e.item: e for e in entries(Findings(Runs(()), studies=studies)) if e.table in "78"}
    for item, mean in (("C1 Age mean", 62.452), ("C2 Age mean", 67.71)):
        entry = ledger[item]
        assert (entry.as_published, entry.as_published_sd, entry.verdict) == (
            mean,
            0.3536,
            "agree",
        )
        assert entry.run == "results/case_study/as_published/cic_los_k3.json"
    assert ledger["C1 WBC_last mean"].verdict == "differ"
    assert ledger["C1 GCS_median mean"].verdict == "not run"
    rank = {item: (ledger[item].as_published, ledger[item].verdict) for item in ledger}
    assert rank["C1 1 feature"] == (2, "agree")  # WBC_last
    assert rank["C3 3 feature"] == (1, "agree")  # Age
    assert rank["C3 10 feature"] == (12, "differ")  # Weight


def test_tables_and_figure_of_a_real_and_a_printed_study(tmp_path, written):
    studies = load_case_studies([written, study_like_print(tmp_path)], tmp_path, printed_clusters())
    ledger = entries(Findings(Runs(()), studies=studies))
    tables = {table.id: table for table in case_tables(studies, ledger)}
    for table in tables.values():
        assert {len(row) for row in table.rows} == {len(table.head)}
        assert table.title in markdown(table)
    seventh = {row[0].text: row for row in tables["case_study_table7"].rows}
    assert seventh["Age"][1].inline().startswith("62.202 | 62.452 ± 0.354 | ")
    eighth = {(r[0].text, r[1].text): r for r in tables["case_study_table8"].rows}
    assert eighth["printed", "C1"][3].text == "WBC_last (1)"
    assert eighth["cic_los, k = 3, as published", "C3"][2].text == "1"
    assert [case_figure(study).section for study in studies] == ["subtypes"] * 2
    assert case_tables([]) == []


def test_claims_follow_the_case_study(tmp_path):
    studies = load_case_studies([study_like_print(tmp_path)], tmp_path, printed_clusters())
    found = Findings(Runs(()), studies=studies)
    names = ("DCAC-41", "DCAC-42", "DCAC-44", "DCAC-45")
    decided = {name: ask(name, found, "as_published") for name in names}
    assert decided["DCAC-41"].verdict == "partly"  # 0.500 is near 0.495, and not near 0.358
    assert decided["DCAC-42"].verdict == "fails"  # Age and WBC_last are in all three lists
    assert decided["DCAC-42"].reason.startswith("PaO2_last in all three: 0, one in all three: 0")
    assert decided["DCAC-44"].verdict == "fails"
    assert decided["DCAC-45"].verdict == "fails"  # all clusters have the same list
    assert ask("DCAC-45", found).verdict == "not run"
