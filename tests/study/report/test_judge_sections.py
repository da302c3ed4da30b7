"""The factorial beside the verdicts: numbers by hand, one page."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from deepcac.files.storage import write_json, write_table
from deepcac_study.report.judge.factorial_grid import (
    factorial_figure,
    factorial_table,
    load_factorials,
)
from deepcac_study.report.judge.judge_figures import contender_colour, contender_label
from deepcac_study.report.site.page import build
from deepcac_study.report.subtypes.subtype_worth import ablation_tables, load_ablations

REGISTRY = Path(__file__).parents[3] / "config" / "registry"


def fits(gain_of_one):
    """Yield two splits: FNN 0.80, DeepCAC 0.79, one head above it or below, permuted lower."""
    for seed in (0, 1):
        common = {"seed": seed, "auprc": 0.5}
        yield (
            {"estimator": "FNNClassifier", "k": 1, "beta": None, "head": "local"}
            | common
            | {
                "auroc": 0.80 + seed / 100,
                "smallest": 60,
            }
        )
        for head, score in (("local", 0.79), ("one", 0.79 + gain_of_one), ("permuted", 0.78)):
            yield (
                {"estimator": "DeepCACClassifier", "k": 2, "beta": 20.0, "head": head}
                | common
                | {
                    "auroc": score + seed / 100,
                    "smallest": 20 + 10 * seed,
                }
            )


@pytest.fixture
def factorial(tmp_path):
    path = tmp_path / "results" / "factorial" / "cic.parquet"
    write_table(path, pa.Table.from_pandas(pd.DataFrame(fits(0.005)), preserve_index=False))
    return path


def test_the_factorial_counts_heads_and_measures_the_distance_to_fnn(factorial):
    (found,) = load_factorials([factorial])
    table, figure = factorial_table(found), factorial_figure(found)
    rows = {row[0].text: [cell.text for cell in row] for row in table.rows}
    assert rows["FNN, trained end to end"][2] == "0.8050"
    assert rows["DeepCAC, k = 2"][1:6] == ["20", "0.7950", "", "0.8000", "0.7850"]
    assert rows["DeepCAC, k = 2"][6:8] == ["25", "-0.01"]
    assert "one predictor for all rows: above DeepCAC's in 1 of 1" in figure.alternative
    assert "clusters permuted: above DeepCAC's in 0 of 1" in figure.alternative
    assert {row[2] for row in figure.data} == {"local", "one", "permuted"}


def test_the_judges_page_links_it(tmp_path, factorial):
    out = tmp_path / "results" / "report"
    build([factorial], REGISTRY, out)
    page = (out / "pages" / "judge.html").read_text(encoding="utf-8")
    assert '<section id="worth">' in page
    assert 'href="pages/judge.html"' in (out / "index.html").read_text(encoding="utf-8")
    for name in ("factorial_cic",):
        for kind in ("table", "figure"):
            assert f'href="#{kind}-{name}"' in page
            assert f'id="{kind}-{name}"' in page
        assert all((out / "figures" / f"{name}.{end}").exists() for end in ("svg", "png", "csv"))


def arms(gain):
    """Two resamples: three soft subtypes 0.80, everything else lower by `gain`."""
    for seed in (0, 1):
        for arm in ("soft", "backbone", "permuted"):
            score = 0.80 + seed / 100 - (arm != "soft") * (gain + seed / 1000)
            one = {"seed": seed, "n_train": 60, "n_test": 40}
            one |= {"arm": arm, "k": 3 if arm != "backbone" else 1}
            if arm == "soft":
                yield one | {"k": 1, "auroc": 0.79, "auprc": 0.5, "risk_auroc": 0.5}
            risk = {} if arm == "backbone" else {"risk_auroc": 0.7}
            yield one | {"auroc": score, "auprc": 0.5} | risk


def test_subtypes_are_compared_with_what_was_changed(tmp_path):
    stability = [
        {"method": method, "k": 3, "ari": ari}
        for method in ("subtypes", "km", "cac")
        for ari in (0.75, 0.85)
    ]
    part = {"arms": list(arms(0.004))}
    bag = [{"seed": 0, "n_train": 60, "n_test": 40, "arm": "trees", "k": 1, "auroc": 0.7}]
    with_trees = {"arms": [*part["arms"], *bag]}
    parts = {"networks": part, "with_trees": with_trees, "stability": stability}
    path = tmp_path / "results" / "judge" / "ablations" / "cic.json"
    write_json(path, {"dataset": "cic", **parts})
    worth, stable = ablation_tables(load_ablations([path]))
    shown = [[cell.text for cell in row] for row in worth.rows]
    assert [row[0] for row in shown] == [
        *("one head for all rows", "soft subtypes", "no subtypes (backbone)"),
        *("its boosted trees only", "memberships permuted among the rows"),
    ]
    assert shown[1][2] == "0.8050"
    assert shown[1][7:] == ["", ""]
    assert shown[2][6] == ""
    assert shown[3][2:] == ["", "", "0.7000", "", "", "", ""]  # no networks to compare with
    assert shown[4][6:8] == ["0.700", "+0.0045"]
    # Gains 0.004 and 0.005: variance 5e-7, times 1 / 2 + 40 / 60; t of one degree is 12.7062.
    half = 12.7062 * (5e-7 * (1 / 2 + 40 / 60)) ** 0.5
    assert shown[4][8] == f"{0.0045 - half:+.4f} to {0.0045 + half:+.4f}"
    assert [cell.text for cell in stable.rows[0]] == ["subtypes", "0.80 (0.75)"]
    out = tmp_path / "results" / "report"
    build([path], REGISTRY, out)
    page = (out / "pages" / "judge.html").read_text(encoding="utf-8")
    assert 'id="subtypes-worth"' in page
    assert 'id="table-subtypes_worth_cic"' in page


def test_contenders_have_names_for_people_and_old_ones_keep_theirs():
    names = ("lr", "km_lgbm", "subtypes", "a_contender_of_before")
    assert [contender_label(name) for name in names] == [
        *("LR", "LightGBM in k-means clusters", "Risk model with subtypes"),
        "a_contender_of_before",
    ]
    assert contender_colour("km_lr") == contender_colour("km_lgbm") != contender_colour("lr")
    assert contender_colour("a_contender_of_before", 1) != contender_colour("subtypes", 0)
