"""Model cards: every item is filled, not computed or a blank; the full model is the model."""

import re

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred, use_of
from scipy.special import expit

from deepcac.errors import ConfigError
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table, grid
from deepcac.scoring.small_cells import OTHERS
from deepcac.table.answer import Answer
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.cards.model_card import (
    NOT_COMPUTED,
    card_path,
    checklist,
    escaped,
    joined,
    page_facts,
    predictor_facts,
    table_facts,
    write_card,
)
from deepcac.table.comparing import compare_table
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.column_tables import column_blocks
from deepcac.table.pages.page_sections import Page, page_names, remarks_on, shown_page
from deepcac.table.pages.risk_section import RiskQuestions
from deepcac.table.risk_tables import fit_table
from deepcac.table.sample_sizes import NO_EVIDENCE


def patients(n=240, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["crp", "urea", "age"])
    table["crp"] += 5 * kind
    died = rng.random(n) < expit(-2 * (2 * kind - 1) * table["age"])
    table["sex"] = rng.choice(["f", "m"], n)
    table["ward"] = np.where(np.arange(n) < 3, "cellar", rng.choice(["a", "b"], n))
    table.loc[::9, "urea"] = np.nan
    table.loc[:1, "age"] = np.nan
    return table.assign(died=np.where(died, "yes", "no"))


def table(head, *rows):
    return Table.of_texts("", "", head, rows)


@pytest.fixture
def csv(tmp_path):
    patients().to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def section(text, number, topic=r"[^\n]+"):
    """Return the text of one item; several items of one number differ by their topic."""
    return re.search(rf"### {number}\. {topic}\n\n(.*?)\n\n(#|\Z)", f"{text}\n\n#", re.S)[1]


def test_the_items_are_the_27_of_tripod_ai():
    numbers = [
        int(re.match(r"\d+", one.number)[0]) for one in checklist() if one.number[0] not in "CP"
    ]
    assert list(dict.fromkeys(numbers)) == list(range(1, 28))
    assert all(one.key or one.ask for one in checklist())


def test_what_a_tool_can_say_of_bias_is_filled_and_the_judgement_is_a_blank(csv, tmp_path):
    frame = patients().assign(patient=np.arange(240) // 2, days=np.arange(240) % 97 + 1)
    frame.to_csv(csv, index=False)
    roles = use_of("died", patient="patient", time="days", horizon=60)
    table = read_labelled(inferred(csv, roles))
    write_card(tmp_path / "card.md", table_facts(csv, table, "deepcac fit"))
    text = (tmp_path / "card.md").read_text()
    numbers = [item.number for item in checklist() if item.number[0] == "P"]
    assert numbers == [f"P{j}" for j in range(1, 20)]
    assert section(text, "P9").startswith("See 8a.")
    assert "The horizon is 60" in section(text, "8a")
    lost = int((~table.follow.outcome_known).sum())
    held = section(text, "P14")
    assert "in one part" in held
    assert f"Censoring: {100 * lost / 240:.0f} % of the patients" in held
    assert section(text, "P19").startswith("[")
    patients().to_csv(csv, index=False)
    plain = use_of("died")
    facts = table_facts(csv, read_labelled(inferred(csv, plain)), "deepcac fit")
    assert "another patient" in facts["structure"][0]
    assert "nobody" in facts["structure"][1]


def test_an_empty_card_is_blanks_and_what_was_not_computed(tmp_path):
    write_card(tmp_path / "card.md", {})
    text = (tmp_path / "card.md").read_text()
    assert text.count(NOT_COMPUTED) == sum(bool(one.key) for one in checklist())
    assert text.count("[to be filled by you: ") == sum(bool(one.ask) for one in checklist())
    with pytest.raises(KeyError, match="net_benfit"):
        write_card(tmp_path / "card.md", {"net_benfit": ["0.1"]})


def test_a_fact_that_comes_later_fills_its_item(tmp_path):
    write_card(tmp_path / "card.md", {"net_benefit": ["At 10 %: 0.03", table("ab", "12")]})
    text = (tmp_path / "card.md").read_text()
    assert "### 23a. Net benefit\n\nAt 10 %: 0.03\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n" in text


def test_what_two_items_ask_for_stands_once(tmp_path):
    write_card(tmp_path / "card.md", {"sample_size": ["100 rows."], "missing": []})
    text = (tmp_path / "card.md").read_text()
    assert text.count("100 rows.") == 1
    assert section(text, 10).startswith("100 rows.")
    assert section(text, "P10") == "See 10."
    assert section(text, "P12") == NOT_COMPUTED


def test_names_from_a_table_are_text():
    assert escaped("<b>*a*|`x`\n[y](z)") == r"&lt;b&gt;\*a\*\|\`x\` \[y\](z)"
    assert grid(table(["a|b"], ["c"]), escaped).startswith("| a\\|b |\n")


def test_the_card_of_a_fit_holds_the_whole_model(csv, tmp_path):
    model = fit_table(
        inferred(csv),
        tmp_path / "m.json",
        TableRun(print, rows=10_000, command="deepcac fit patients.csv", jobs=1),
        method="k-means",
        clusters=2,
    )
    text = (tmp_path / "m.card.md").read_text()
    told = section(text, 22)
    lines = [line for line in told.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines]
    rows = {own[0].replace("\\", ""): own[1:] for own in cells[3:]}
    intercepts = [float(cell) for cell in cells[2][-2:]]
    plane, distance = np.array(intercepts)[None, :] + np.zeros((240, 1)), 0.0
    frame = patients()
    for name, cells in rows.items():
        base = name.removesuffix("_missing")
        median, mean, sd, *rest = ["0" if cell == "" else cell for cell in cells]
        numbers = [float(cell) for cell in (mean, sd, *rest)]
        if name.endswith("_missing"):
            value = frame[base].isna().astype(float)
        elif "=" in name:
            column, level = name.split("=")
            few = level == "(other)"
            value = (frame[column] == ("cellar" if few else level)).astype(float)
        else:
            value = frame[base].fillna(float(median))
        z = ((value - numbers[0]) / numbers[1]).to_numpy()[:, None]
        plane = plane + z * np.array(numbers[4:6])
        distance = distance + (np.clip(z, -5, 5) - np.array(numbers[2:4])) ** 2
    nearest = np.asarray(distance).argmin(axis=1)
    risk = expit(plane[np.arange(len(frame)), nearest])
    left = read_labelled(inferred(csv))
    assert np.allclose(risk, model.predict_proba(frame)[:, 1], atol=1e-4)
    assert f"{OTHERS.count(left.rarest):,.0f} of the rarest class" in section(text, 10)
    auroc = model.method["held_out"]["auroc"]
    assert f"{auroc:.3f}" in section(text, "23a", "Performance")
    slope = model.method["held_out"]["calibration_slope"]
    assert f"slope {slope:.2f} (" in section(text, "23a", "Performance")
    assert section(text, "23a", "Calibration").startswith("See Performance")
    assert NOT_COMPUTED in section(text, "23a", "Net benefit")
    assert "Command: deepcac fit patients.csv" in section(text, "18f")


def test_a_model_without_clusters_says_so(csv, tmp_path):
    fit_table(
        inferred(csv),
        tmp_path / "m.json",
        TableRun(print, rows=10_000, jobs=1),
        method="plain",
    )
    text = (tmp_path / "m.card.md").read_text()
    assert "no clusters" in section(text, "C5")
    assert section(text, "C6") == NOT_COMPUTED


@pytest.mark.usefixtures("few_contenders")
def test_the_card_of_a_comparison(csv, tmp_path):
    sentence = compare_table(
        inferred(csv),
        tmp_path / "page.html",
        TableRun(
            lambda line: None, command="deepcac compare patients.csv", resamples=5, trials=2, jobs=1
        ),
        asked=RiskQuestions(by=["sex"]),
    )
    text = (tmp_path / "page.card.md").read_text()
    assert "% power" not in text + (tmp_path / "page.html").read_text()
    interpretation = section(text, 25)
    assert [line for line in sentence.splitlines() if escaped(line) not in interpretation] == []
    performance = section(text, "23a", "Performance")
    means = performance.partition("On the test rows of all resamples")[2]
    assert len(re.findall(r"\| 0\.\d{4} \(0\.\d{4} to [01]\.\d{4}\) \|", means)) == 3  # models
    assert "| question | model |" in performance
    assert "| AUROC | " in performance
    calibrated = section(text, "23a", "Calibration")
    assert "calibration slope" in performance
    assert calibrated == "See Performance."
    assert "| treat from |" in section(text, "23a", "Net benefit")
    subgroups = section(text, "23a", "Subgroups")
    assert "| sex f |" in subgroups
    assert escaped(NO_EVIDENCE) in section(text, 10)  # on 240 rows
    assert section(text, "C5") != NOT_COMPUTED
    assert "(2 or 3)" in section(text, "12c")
    assert "CAC: yes" in section(text, "C2")
    assert "adjusted Rand index" in section(text, "C7")
    assert "seeds 0 to 4" in section(text, "12a")


def test_a_card_has_the_tables_of_its_page():
    first = [
        Table.of_texts(
            "scores", "Scores", ("score", "value"), [("AUROC", "0.7"), ("log loss", "0.5")]
        )
    ]
    tables = [
        Table.of_texts("subgroups", "Subgroups", ("subgroup", "rows"), [("sex f", "50")]),
        Table.of_texts(
            "subgroup-differences", "Gaps", ("subgroup", "AUROC"), [("sex m – f", "+0.1")]
        ),
    ]
    sizes = Section(
        "sizes", "Sizes", ["need", Table.of_texts("study-size", "S", ("n",), [("100",)])]
    )
    sections = [Section("a", "A", first), Section("b", "B", [Section("c", "C", tables), sizes])]
    facts = page_facts(Page("t", Answer("yes", also=["but"]), sections, ""))
    assert facts["answer"] == ["yes", "but"]
    assert facts["performance"] == first
    assert facts["subgroups"] == tables
    assert facts["sample_size"][0] == "need"
    assert "net_benefit" not in facts


def test_nothing_of_few_patients_is_in_what_is_said_of_a_table(csv, tmp_path):
    table = read_labelled(inferred(csv))
    facts = joined(table_facts(csv, table, ""), predictor_facts(table), cohort_facts(table))
    write_card(tmp_path / "card.md", facts)
    whole = (tmp_path / "card.md").read_text()
    assert "cellar" not in whole
    assert "| age | number | fewer than 8 |" in whole


def cohort_facts(table):
    blocks = [*remarks_on(table.remarks), *column_blocks(table.rows, table.columns)]
    page = Page("", Answer(""), [Section("", "", blocks)], "", page_names(table))
    return page_facts(shown_page(page, exact=False))


def test_a_column_that_is_left_out_is_told_once(csv):
    roles = use_of("died", leave_out=("age",))
    told = cohort_facts(read_labelled(inferred(csv, roles)))
    (left,) = (line for line in told["preparation"] if "'age'" in line)
    assert "left out" in left
    (label,) = (row for row in told["characteristics"][0].texts if row[0] == "died")
    assert "the label" in label


def test_a_card_stands_beside_the_output_and_replaces_no_input(tmp_path):
    assert card_path(tmp_path / "m.json") == tmp_path / "m.card.md"
    (tmp_path / "m.card.md").touch()
    with pytest.raises(ConfigError, match="what is read"):
        card_path(tmp_path / "m.json", tmp_path / "m.card.md")
