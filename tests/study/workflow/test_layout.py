from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from deepcac.errors import ConfigError
from deepcac_study.catalogue.config import check_config
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.jobs.layout import Layout

ROOT = Path(__file__).parents[3]
REGISTRY = load_registry(ROOT / "config" / "registry")


def layout(*plans) -> Layout:
    return Layout(
        REGISTRY, {"datasets": ["diabetes"], "runs": [{"part": "cac"} | p for p in plans]}
    )


def test_a_data_set_has_its_own_published_features_only_if_a_switch_changes_them():
    paths = layout()
    assert paths.feature_file("", "diabetes") == "data/features/diabetes.parquet"
    assert paths.feature_file("as_published/", "diabetes").startswith("data/features/as_published/")
    assert (
        paths.feature_file("switches/U2/", "diabetes")
        == "data/features/switches/U2/diabetes.parquet"
    )
    assert paths.feature_file("switches/A1/", "diabetes") == "data/features/diabetes.parquet"
    assert (
        paths.feature_file("as_published/", "diabetes_full")
        == "data/features/diabetes_full.parquet"
    )


def test_decomposition_reads_whole_tables_with_their_categories():
    paths = layout()
    assert paths.rows_of("uci_breast_w") == ("data/tidy/weka_uci/breast_w.parquet", "class")
    assert paths.rows_of("diabetes") == ("data/features/diabetes.parquet", "label")
    assert paths.rows_of("demo_cic") == ("data/features/demo_cic.parquet", "label")
    listed = Layout(REGISTRY, {"decomposition": ["uci_vote"]})
    assert listed.decomposition_files() == [
        "results/decomposition/uci_vote.json",
        "results/as_published/decomposition/uci_vote.json",
    ]


def test_splits_follow_the_rows_or_the_switch_that_draws_them():
    paths = layout()
    assert (
        paths.split_file("switches/D3/", "diabetes_full")
        == "data/splits/switches/D3/diabetes_full.parquet"
    )
    assert paths.split_file("switches/D5/", "diabetes_full") == "data/splits/diabetes_full.parquet"
    assert paths.split_file("", "demo_diabetes") == "data/splits/demo_diabetes.parquet"


def test_networks_share_what_they_start_from():
    paths = layout()
    assert paths.shared_file("", "diabetes", "cac_lr") == []
    assert paths.shared_file("switches/D5/", "diabetes", "deepcac") == [
        "data/pretrained/diabetes.safetensors"
    ]
    assert paths.shared_file("switches/D14/", "diabetes", "deepcac") == [
        "data/pretrained/switches/D14/diabetes.safetensors"
    ]


def test_the_run_grid_runs_base_methods_once():
    plan = {
        "protocols": ["sound", "as_published"],
        "datasets": ["diabetes"],
        "methods": ["lr", "cac_lr"],
        "k": {"default": [2], "diabetes": [2, 3]},
    }
    alone = {"switches": ["A1"], "datasets": ["diabetes"], "methods": ["cac_lr"], "k": [2]}
    paths = layout(plan, alone)
    assert paths.runs("cac") == [
        "results/diabetes/lr_k1.json",
        "results/diabetes/cac_lr_k2.json",
        "results/diabetes/cac_lr_k3.json",
        "results/as_published/diabetes/lr_k1.json",
        "results/as_published/diabetes/cac_lr_k2.json",
        "results/as_published/diabetes/cac_lr_k3.json",
        "results/switches/A1/diabetes/cac_lr_k2.json",
    ]
    assert paths.runs("deep") == []


def test_unknown_names_are_refused():
    with pytest.raises(ConfigError, match="'diabetis'"):
        layout().feature_file("", "diabetis")
    named = {"datasets": ["diabetes"], "k": [2]}
    other = layout(named | {"protocols": ["sound"], "methods": ["cac_xx"]})
    with pytest.raises(ConfigError, match="unknown method 'cac_xx'"):
        other.runs("cac")
    switched = layout(named | {"switches": ["Z1"], "methods": ["lr"]})
    with pytest.raises(ConfigError, match="unknown switch 'Z1'"):
        switched.runs("cac")


def test_the_demo_plans_nothing_of_the_papers_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # nothing optional is here
    # Snakemake merges mappings of several configuration files; only lists are replaced.
    merged, demo = (
        yaml.safe_load((ROOT / "config" / name).read_text())
        for name in ("config.yaml", "demo.yaml")
    )
    update_config(merged, demo)
    paths = Layout(REGISTRY, merged)
    planned = [*paths.all_runs(), *paths.runs_beside(), *paths.feature_files()]
    planned += [*merged["sweeps"], *merged["sweeps_beside"]]
    planned += [*merged["case_studies"], *merged["theory"]]
    assert {name for name in planned if "demo_" not in name and "wdbc" not in name} == set()
    assert {path.split("/")[2] for path in paths.skmeans_files()} == {"synth_pairs_small"}


def test_an_optional_source_is_left_out_until_it_was_fetched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = {"part": "cac", "protocols": ["sound"], "methods": ["lr"], "k": [1]}
    plan |= {"datasets": ["whas500_3y", "wdbc"]}
    config = {"datasets": plan["datasets"], "runs": [plan], "optional": ["whas500"]}
    paths = Layout(REGISTRY, config)
    assert paths.left_out() == ["whas500_3y"]
    assert paths.runs("cac") == ["results/wdbc/lr_k1.json"]
    (raw,) = map(Path, paths.optional_files())
    raw.parent.mkdir(parents=True)
    raw.touch()
    assert (paths.left_out(), paths.datasets()) == ([], ["whas500_3y", "wdbc"])
    assert "results/whas500_3y/lr_k1.json" in paths.runs("cac")
    with pytest.raises(ConfigError, match="optional: mimic3"):
        check_config(config | {"optional": ["mimic3"]}, REGISTRY)


def test_records_of_supervised_k_means_and_their_budgets():
    budget = {"dataset": "synth_pairs", "C": [0, 1], "epsilon": 1.0, "max_iter": 5}
    away = {**budget, "dataset": "webkb_authors"}  # its folder is not there
    config = {"skmeans": [budget, away], "skmeans_training_sets": 1, "restricted": {}}
    paths = Layout(REGISTRY, config)
    assert paths.skmeans_files() == [
        *(
            f"results/skmeans/synth_pairs/{m}.json"
            for m in ("none", "pair", "iterative", "spectral")
        ),
        "results/skmeans/checks.json",
        "results/skmeans/times.json",
    ]
    assert paths.skmeans_budget("synth_pairs") == budget
    with pytest.raises(ConfigError, match="under `skmeans`"):
        paths.skmeans_budget("webkb_n")
    none = Layout(REGISTRY, {**config, "skmeans_training_sets": 0})
    assert none.skmeans_files() == paths.skmeans_files()[:4]


@pytest.mark.parametrize("name", ["config.yaml", "demo.yaml"])
def test_shipped_configurations_name_only_what_exists(name):
    config = yaml.safe_load((ROOT / "config" / name).read_text())
    paths = Layout(REGISTRY, config)
    assert paths.all_runs()
    assert paths.feature_files()


def test_a_restricted_table_that_is_replaced_in_its_folder_is_an_input(tmp_path):
    for name in ("CHARTEVENTS.csv.gz", "admissions.CSV", "notes.txt"):
        (tmp_path / name).touch()
    paths = Layout(REGISTRY, {"datasets": [], "restricted": {"mimic3": str(tmp_path)}})
    tables = [f"{tmp_path}/{name}" for name in ("CHARTEVENTS.csv.gz", "admissions.CSV")]
    assert paths.raw_files("mimic3") == [str(tmp_path), *tables]


def test_restricted_raw_files_stay_where_the_user_keeps_them(tmp_path):
    paths = Layout(REGISTRY, {"datasets": [], "runs": [], "restricted": {"wids": str(tmp_path)}})
    assert paths.raw_folder("wids") == str(tmp_path)
    assert paths.raw_folder("demo_wids") == "data/raw/demo_wids"
    assert paths.raw_folder("mimic3_demo") == "data/raw/mimic3_demo"
    with pytest.raises(ConfigError, match="mimic3 is restricted"):
        paths.raw_folder("mimic3")


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("diabetes/cac_lgr_k2", "unknown method 'cac_lgr'; near names: cac_lr"),
        ("as_published/diabetis/lr_k1", "near names: diabetes"),
        ("demo_diabets/lr_k1", "'demo_diabets'; near names: demo_diabetes"),
        ("diabetes/lr_k2", "lr_k1, not k2"),
        ("diabetes/deepcac_ts_k2", "deepcac_ts .*diabetes"),
        ("ards/lr_k1", "mimic3 is restricted"),
        ("foo/cac_lr_k2", "'foo'"),
        ("switches/A99/cic/cac_lr_k2", "unknown switch 'A99'"),
        ("diabetes/cac_lr_k5000", "k is 5000; .* 128"),
    ],
)
def test_runs_that_nothing_makes_are_refused(run, message):
    (parts,) = runs_among([f"results/{run}.json"])
    with pytest.raises(ConfigError, match=message):
        layout().run_inputs(**parts)


def test_a_run_reads_features_and_splits():
    assert layout().run_inputs("", "demo_diabetes", "cac_lr", 2) == {
        "features": "data/features/demo_diabetes.parquet",
        "splits": "data/splits/demo_diabetes.parquet",
        "shared": [],
    }


def test_the_files_of_a_step_follow_the_registry():
    paths = layout()
    assert paths.raw_files("uci_credit") == ["data/raw/uci_credit/UCI_Credit_Card.csv"]
    assert paths.raw_files("demo_wids") == ["data/raw/demo_wids"]
    assert paths.tidy_folder("", "demo_cic") == ["data/tidy/demo_physionet2012"]
    assert paths.tidy_folder("", "synth_pairs") == []  # generated
    with pytest.raises(ConfigError, match=r"ask for data/features/titanic\.parquet"):
        paths.tidy_folder("as_published/", "titanic")
    assert paths.pair_files("webkb_n")[-1] == "data/features/webkb_n_pairs.parquet"
    assert paths.cohort_files() == ["data/cohorts/diabetes.json"]


def test_the_classical_runs_of_a_table_and_protocol_are_listed_together():
    plan = {"datasets": ["cic"], "k": [2, 3]}
    paths = layout(
        plan | {"protocols": ["sound", "as_published"], "methods": ["lr", "cac_lr"]},
        plan | {"switches": ["A1"], "methods": ["cac_lr"]},
        plan | {"protocols": ["sound"], "methods": ["deepcac"]},
    )
    ends = {name: len(runs) for name, runs in paths.run_tables().items()}
    assert ends == {
        "results/cic/runs.csv": 3,
        "results/as_published/cic/runs.csv": 3,
        "results/switches/A1/cic/runs.csv": 2,
    }
    assert paths.run_tables()["results/cic/runs.csv"][0] == "results/cic/lr_k1.json"


def test_the_demo_needs_no_real_data_but_what_is_installed():
    folder = Path(__file__).parents[3] / "config"
    config, demo = (
        yaml.safe_load((folder / name).read_text()) for name in ("config.yaml", "demo.yaml")
    )
    known = set(REGISTRY.datasets)

    def names(value):
        if isinstance(value, dict):
            value = [*value.keys(), *value.values()]
        parts = value if isinstance(value, list) else []
        return {value} & known if isinstance(value, str) else set().union(*map(names, parts))

    # A key that the demo leaves out keeps what the papers' configuration says.
    kept = {key: value for key, value in config.items() if key not in demo}
    assert names(kept) == set()
    real = {name for name in names(demo) if not name.startswith("demo_")}
    optional = [REGISTRY.dataset(name).source for name in real - {"synth_pairs_small", "wdbc"}]
    assert sorted(optional) == sorted(demo["optional"])  # each may be left out
