"""The factorial beside the verdicts: numbers by hand, one page."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from deepcac.files.storage import write_table
from deepcac_study.report.judge.factorial_grid import (
    factorial_figure,
    factorial_table,
    load_factorials,
)
from deepcac_study.report.judge.judge_figures import contender_colour, contender_label
from deepcac_study.report.site.page import build

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


def test_contenders_have_names_for_people_and_old_ones_keep_theirs():
    names = ("lr", "km_lgbm", "subtypes", "a_contender_of_before")
    assert [contender_label(name) for name in names] == [
        *("LR", "LightGBM in k-means clusters", "Risk model with subtypes"),
        "a_contender_of_before",
    ]
    assert contender_colour("km_lr") == contender_colour("km_lgbm") != contender_colour("lr")
    assert contender_colour("a_contender_of_before", 1) != contender_colour("subtypes", 0)
