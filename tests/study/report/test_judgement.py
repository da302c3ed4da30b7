import json
import re
from pathlib import Path

import pandas as pd
import pytest

from deepcac.errors import DataError
from deepcac.files.storage import write_json
from deepcac_study.records.record import file_digest
from deepcac_study.report.judge.judge_figures import power_figure
from deepcac_study.report.judge.judgement import (
    basis,
    judgement_figures,
    judgement_tables,
    load_judgement,
    sentence,
)
from deepcac_study.report.site.page import build

ROOT = Path(__file__).parents[3]
REGISTRY = ROOT / "config" / "registry"


def row(dataset, verdict, mean, metric="auroc", question="help"):
    return {
        "question": question,
        "metric": metric,
        "dataset": dataset,
        "contender": "km_lr",
        "reference": "lr",
        "resamples": 10,
        "clustered": 4,
        "score": 0.8 + mean,
        "reference_score": 0.8,
        "mean": mean,
        "low": mean - 0.01,
        "high": mean + 0.01,
        "p": 0.2,
        "p_equivalent": 0.02,
        "detectable": 0.012,
        "worse": 0.1,
        "same": 0.8,
        "better": 0.1,
        "p_holm": 0.3,
        "verdict": verdict,
        "verdict_strict": "undecided",
    }


def write(folder, rows, synthetic=()):
    power = [
        {
            "strength": s,
            "oracle_gain": s / 10,
            "question": "help",
            "contender": "km_lr",
            "reference": "lr",
            "cohorts": 2,
            "mean": s / 10,
            "detected": float(s > 0),
            "detected_holm": float(s > 0),
            "rows": 3000,
        }
        for s in (0.0, 0.5)
    ]
    questions = [
        {"question": "help", "text": "Do clusters help?"},
        {"question": "negative_control", "text": "Does a hash help?"},
    ]
    pd.DataFrame(rows).to_csv(folder / "verdicts.csv", index=False)
    write_json(
        folder / "summary.json",
        {
            "margin": 0.01,
            "strict_margin": 0.005,
            "synthetic": list(synthetic),
            "questions": questions,
            "power": power,
            "verdicts": file_digest(folder / "verdicts.csv"),
        },
    )
    return [folder / "verdicts.csv", folder / "summary.json"]


ROWS = [
    row("adult", "equivalent", 0.001),
    row("cic", "worse", -0.03),
    row("credit", "undecided", 0.01),
    row("demo_x", "better", 0.2),
    row("adult", "equivalent", 0.0, metric="auprc"),
    row("adult", "worse", -0.02, question="negative_control"),
]


def test_the_sentence_counts_real_data_alone(tmp_path):
    judged = load_judgement(write(tmp_path, ROWS, ["demo_x"]))
    said = sentence(judged)
    told = "made it worse in 1, made no difference in 1 and left it open in 1."
    assert said == f"Probably not: of 3 comparisons, clusters {told}"
    assert "0.012" in basis(judged)
    assert sentence(load_judgement([])) == basis(load_judgement([])) == ""
    assert sentence(load_judgement(write(tmp_path, [ROWS[3]], ["demo_x"]))) == ""


def test_the_sentence_names_the_only_model_that_gained(tmp_path):
    gained = load_judgement(write(tmp_path, [row("credit", "better", 0.03), *ROWS[:3]], []))
    assert re.match("Only .*logistic regression, on 1 of 3 .*: of 4", sentence(gained))


def test_own_data_never_count_for_the_papers(tmp_path):
    judged = load_judgement(write(tmp_path, [*ROWS, row("my_patients", "better", 0.2)], ["demo_x"]))
    assert sentence(judged).startswith("Probably not: of 3 comparisons")
    alone = sentence(judged, unpublished=True)
    assert alone.startswith("Yes: ")
    assert "my_patients" in basis(judged, unpublished=True)
    assert "my_patients" not in {line[0] for line in judgement_figures(judged)[0].data}


def test_tables_and_figures_hold_every_comparison(tmp_path):
    judged = load_judgement(write(tmp_path, ROWS, ["demo_x"]))
    counts, comparisons = judgement_tables(judged)
    first = [cell.text for cell in counts.rows[0]]
    assert first[:7] == ["Do clusters help?", "AUROC", "4", "1", "1", "1", "1"]
    assert len(comparisons.rows) == len(ROWS)
    assert counts.note.endswith("Generated data: 1 of 6 comparisons.")
    forest, power = judgement_figures(judged)
    assert [line[0] for line in forest.data] == ["adult", "cic", "credit"]
    assert [line[-1] for line in power.data] == [0.0, 1.0]
    assert judgement_tables(None) == judgement_figures(None) == []


def test_contenders_stand_by_their_mean_rank(tmp_path):
    paths = write(tmp_path, ROWS, ["demo_x"])
    content = json.loads(paths[1].read_text())
    content.pop("digest", None)
    content["scores"] = [
        {"dataset": dataset, "contender": contender, "auroc_tuned": score}
        for dataset, contender, score in [
            ("adult", "lr", 0.7),
            ("adult", "lgbm", 0.8),
            ("cic", "lr", 0.85),
            ("cic", "lgbm", 0.86),
            ("demo_x", "fnn", 0.6),
        ]
    ]
    write_json(paths[1], content)
    board = judgement_tables(load_judgement(paths))[1]
    assert board.head == ("model", "adult", "cic", "demo_x (generated)", "mean rank")
    texts = [[cell.text for cell in row] for row in board.rows]
    assert ["LightGBM", "0.8000", "0.8600", "", "1.0"] in texts
    assert texts[-1] == ["LR", "0.7000", "0.8500", "", "2.0"]


@pytest.mark.usefixtures("undrawn")
def test_the_page_opens_with_the_answer(tmp_path):
    results = tmp_path / "results"
    (results / "judge").mkdir(parents=True)
    paths = write(results / "judge", ROWS, ["demo_x"])
    build(paths, REGISTRY, results / "report")
    page = (results / "report" / "index.html").read_text(encoding="utf-8")
    assert page.index("of 3 comparisons") < page.index('id="summary"')
    assert 'id="figure-judge_forest"' in page
    assert (results / "report" / "tables" / "judge_counts.csv").exists()
    assert json.loads(paths[1].read_text())["margin"] == 0.01


def test_verdicts_that_were_not_written_with_their_summary_are_refused(tmp_path):
    paths = write(tmp_path, ROWS)
    paths[0].write_text(paths[0].read_text().replace("equivalent", "better"))
    with pytest.raises(DataError, match=r"verdicts\.csv: .*summary\.json"):
        load_judgement(paths)


def test_the_words_of_the_power_curve_say_what_is_found():
    one = {"oracle_gain": 0.1, "question": "help", "contender": "km_lr", "reference": "lr"}
    one |= {"strength": 1, "cohorts": 2, "mean": 0.1, "detected": 0.5, "rows": 3000}
    figure = power_figure([{**one, "detected_holm": share} for share in (0.5, 0.0)])
    assert re.search("50 % .* 0.10$", figure.seen)
