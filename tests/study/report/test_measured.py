"""What is measured is kept of open data alone, and sweeps are read as the ones that were made."""

import pandas as pd
import pyarrow as pa

from deepcac.files.storage import write_json, write_table
from deepcac_study.records.sweep_tables import load_sweeps
from deepcac_study.report.measured import open_tables, write_measured, write_row_scores

SWEPT = {
    "starts_cic_k3": pd.DataFrame(
        {"switch": ["", "D2"], "split": [0, 1], "auroc": [0.1 + 0.2, None], "status": ["ok", ""]}
    ),
    "grid": pd.DataFrame({"alpha": [0.05, 1e-17], "k": [2, 3]}),
}


def test_a_kept_sweep_has_every_digit_text_and_gap(tmp_path):
    made, kept = tmp_path / "results" / "sweeps", tmp_path / "kept"
    closed = dict.fromkeys(("alpha_demo_cic_k2", "alpha_ards_k2"), SWEPT["grid"])
    for name, table in {**SWEPT, **closed}.items():
        write_table(made / f"{name}.parquet", pa.Table.from_pandas(table, preserve_index=False))
    written = write_measured(tmp_path / "results", kept)
    assert sorted(path.stem for path in written) == ["grid", "starts_cic_k3"]  # open data alone
    found, first = load_sweeps(written), load_sweeps(made.glob("[gs]*.parquet"))
    pairs = (
        (found.grid, first.grid),
        (found.of("starts")["cic", 3], first.of("starts")["cic", 3]),
    )
    for ours, theirs in pairs:
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True, check_dtype=False)


def test_tables_of_open_data_alone_are_kept(tmp_path):
    for name in ("cic_los", "cic", "demo_cic", "ards"):
        write_table(tmp_path / f"{name}.parquet", pa.table({"k": [1]}))
    assert [path.stem for path in open_tables(tmp_path)] == ["cic", "cic_los"]


def test_case_studies_of_open_data_alone_are_kept(tmp_path):
    results, kept = tmp_path / "results", tmp_path / "kept"
    for dataset in ("cic_los", "ards", "demo_cic"):
        study = results / "case_study" / f"{dataset}_k3.json"
        write_json(study, {"dataset": dataset})
        write_table(study.with_suffix(".features.parquet"), pa.table({"mean": [1.0]}))
        write_table(study.with_suffix(".plane.parquet"), pa.table({"x": [1.0]}))
    write_json(results / "skmeans" / "times.json", {"rows": []})
    written = {path.relative_to(kept).as_posix() for path in write_measured(results, kept)}
    own = {f"case_study/cic_los_k3{end}" for end in (".json", ".features.parquet")}
    assert written == own | {"skmeans/times.json"}  # the plane has a point a patient


def test_curves_and_intervals_of_open_data_alone_are_kept(tmp_path):
    figures, tables = tmp_path / "figures", tmp_path / "tables"
    for folder in (figures, tables):
        folder.mkdir()
    for dataset in ("cic", "ards", "our_ward"):
        (figures / f"curves_{dataset}.csv").write_text(
            "curve,method,k,split,x,y\nROC,lr,1,0,0.5,0.2\nROC,lr,1,1,0.5,0.4\n"
        )
    paths = [f"results/{dataset}/lr_k1.json" for dataset in ("cic", "ards", "our_ward")]
    rows = [{"first": path, "second": path, "metric": "f1", "low": -0.000115} for path in paths]
    pd.DataFrame(rows).to_csv(tables / "bootstraps.csv", index=False)
    written = {
        path.name: pd.read_csv(path) for path in write_row_scores(tmp_path, tmp_path / "kept")
    }
    assert set(written) == {"curves.csv", "bootstraps.csv"}
    assert written["curves.csv"][["dataset", "y"]].to_numpy().tolist() == [["cic", 0.3]]
    assert written["bootstraps.csv"]["first"].tolist() == paths[:1]
    assert written["bootstraps.csv"]["low"].tolist() == [-0.000115]
