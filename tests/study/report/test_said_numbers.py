"""The sentences of the findings have the numbers of their own rows, counts included."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deepcac.pages.wording import four, three
from deepcac_study.report.judge.gain_figures import SMALL, mean_auroc_changes

ROOT = Path(__file__).parents[3]
CLINICAL = ["cic", "cic_los", "diabetes", "sepsis", "sepsis_signature"]
NETWORKS = ["cac_fnn", "km_fnn"]


@cache
def table(name):
    return pd.read_csv(ROOT / "docs" / "results" / f"{name}.csv")


def rows(name, **asked):
    found = table(name)
    for column, value in asked.items():
        found = found[found[column].isin(value if isinstance(value, list) else [value])]
    return found


def one(name, column, **asked):
    return rows(name, **asked)[column].item()


def signed(value):
    return four(value, signed=True)


def arms(learner):
    return [f"{arm}_{learner}" for arm in ("cac", "km", "dist")]


def gain(dataset, contender="cac_lr", metric="auroc", column="mean", question="help"):
    asked = {"question": question, "metric": metric, "dataset": dataset, "contender": contender}
    return one("judge_verdicts", column, **asked)


def score(contender, dataset="cic", column="auroc_tuned"):
    return one("judge_scores", column, dataset=dataset, contender=contender)


def verdicts(learner, metric="auroc", question="help"):
    asked = {"question": question, "metric": metric, "contender": arms(learner)}
    return rows("judge_verdicts", **asked)["verdict"].value_counts()


def planted(contender, strength, size, column="detected_holm", question="help"):
    row = {"contender": contender, "strength": strength, "rows": size, "question": question}
    return round(12 * one("judge_planted", column, reference=contender.split("_")[-1], **row))


def cells(**asked):
    found = rows("ledger", **asked)
    return found[found["derived"].isna() & found["verdict"].isin(["agree", "differ"])]


def agree(**asked):
    return int((cells(**asked)["verdict"] == "agree").sum())


def shown(name):
    found = rows(f"clustering_{name}", comparison="CAC − KM")["reading"]
    return int((found == "better").sum()), int((found == "worse").sum())


def deepcac_table_2():
    """Return the cells, and for each whether it is within two combined deviations."""
    found = cells(paper="deepcac", table="2")
    both = np.hypot(found["printed_sd"].astype(float), found["as_published_sd"].astype(float))
    return found, found["difference"].abs() <= 2 * both


def number(value):
    """Return a pattern of a number that is no part of a longer one, or of a word."""
    text = re.escape(str(value))
    return rf"(?<![\d.]){text}(?!\d|[.,]\d)" if text[-1].isdigit() else text


def paragraphs(name):
    """Yield the paragraphs, items and rows of a page, each in one line."""
    page = ROOT / name if name == "README.md" else ROOT / "docs" / name
    for part in re.split(r"\n\s*\n|\n(?=\s*[-|\d]+[ .])", page.read_text("utf-8")):
        yield " ".join(part.split())


def has(name, *values):
    """Say whether some paragraph of a page has words and numbers in this order, near each other."""
    pattern = re.compile(".{0,160}?".join(map(number, values)))
    return any(pattern.search(part) for part in paragraphs(name))


def span(row):
    return tuple(signed(getattr(row, end)) for end in ("mean", "low", "high"))


def of_the_judge():
    lgbm, prc = verdicts("lgbm"), verdicts("lgbm", "auprc")
    line, line_prc = verdicts("lr"), verdicts("lr", "auprc")
    yield "README.md", three(gain("credit")), "Credit", three(gain("magic")), "Magic"
    (head,) = rows("headline").to_dict("records")
    gains, random = ([float(x) for x in head[name].split()] for name in ("gains", "random_gains"))
    yield (
        "README.md",
        *(f"{got / all_:.0%}".replace("%", " %") for got, all_ in zip(random, gains, strict=True)),
    )
    asked = {"question": "forced", "metric": "auroc", "contender": arms("lgbm")}
    forced = rows("judge_verdicts", **asked)
    excluded, corrected = (forced["better"] < 0.05), (forced["p_gain_excluded_holm"] < 0.05)
    yield "README.md", excluded.sum(), len(forced), "0.010 AUROC", corrected.sum(), "after corr"
    yield "README.md", three(score("fnn")), "DeepCAC", three(score("deepcac")), "undecided"
    yield "judge.md", lgbm["never chosen"], lgbm.sum(), lgbm["equivalent"], "three, all on Titanic"
    undecided = rows("judge_verdicts", question="help", metric="auroc", contender=arms("lgbm"),
                     verdict="undecided")  # fmt: skip
    assert list(undecided["dataset"]) == ["titanic"] * 3
    yield "judge.md", "AUPRC", prc["never chosen"], prc["equivalent"], prc["undecided"]
    controls = (three(score("cells_lr", name) - score("lr", name)) for name in ("credit", "magic"))
    yield "judge.md", *(signed(gain(name)) for name in ("credit", "magic")), *controls
    asked = {"question": "any_partition", "metric": "auroc", "dataset": "credit",
             "reference": "cells_lr"}  # fmt: skip
    detectable = one("judge_verdicts", "detectable", contender="cac_lr", **asked)
    yield "judge.md", "Credit", "detect only leads above", three(detectable)
    worse = [gain("cic", "cac_lr", "auprc", name, "forced") for name in ("mean", "low", "high")]
    yield "judge.md", "AUPRC on CIC", *map(signed, worse)
    yield (
        "judge.md",
        *(line["equivalent"], line["undecided"], "none is worse", line["never chosen"]),
        *("AUPRC", line_prc["better"], line_prc.sum(), line_prc["equivalent"]),
        *(line_prc["undecided"], line_prc["never chosen"]),
    )
    yield "judge.md", "LightGBM", three(score("lgbm")), "plain network", three(score("fnn"))
    networks = {"KM-Z": "km_z", "DeepCAC": "deepcac", "DMNN": "dmnn", "ExpertNet": "expertnet"}
    for name, contender in {**networks, "GRASP": "grasp"}.items():
        yield "judge.md", f"{name} ({three(score(contender))}"


def of_clinical_cohorts():
    def pooled(question, contender):
        asked = {"question": question, "metric": "auroc", "contender": contender}
        asked |= {"pooling": "family", "floor": True}
        (row,) = rows("clinical_pooled", **asked).query("alpha.isna()").itertuples()
        return row

    bent = pooled("bent", "cac_lr")
    yield "judge.md", bent.cohorts, "independent cohorts"
    yield "judge.md", "Splines beat CAC", four(-bent.mean)
    yield "judge.md", "they add", *span(pooled("forced", "dist_lr"))
    points = mean_auroc_changes(table("clinical_verdicts"), table("clinical_tasks")).query(
        "learner == 'lr'"
    )
    small = points[points["rows"] <= SMALL].groupby("offer")["mean"]
    yield "README.md", f"{SMALL:,}", three(-small.mean()["cac"])
    assert three(small.mean()["cac"]) == three(small.mean()["mean_of_cells"])
    moves = rows("judge_transfer", cohort="clinical", question="help")["verdict"]
    yield "archive/studies.md", sum(moves == "better"), len(moves), sum(moves == "worse")


def of_experiments():
    """Cohorts and splines that were added after the plan."""

    def pooled(name, question, contender):
        asked = {"question": question, "metric": "auroc", "contender": contender}
        (row,) = rows(name, pooling="family", **asked).query("alpha.isna()").itertuples()
        return row

    cohorts, splines = "added_cohorts_pooled", "added_on_splines_pooled"
    kept = {"metric": "auroc", "question": "forced", "excluded": "yes"}
    assert not table("added_cohorts")["helps"].any()
    assert not table("added_on_splines")["helps"].any()
    n = len(rows("added_cohorts", **kept))
    assert n == len(rows("added_cohorts", metric="auroc", question="forced"))
    yield "judge.md", f"none of the {n} comparisons", f"all {n} rule out a gain"
    yield "judge.md", "they add", *span(pooled(cohorts, "help", "dist_lr"))
    yield "judge.md", "CAC adds", *span(pooled(cohorts, "help", "cac_lr"))
    yield "judge.md", "to LightGBM", *span(pooled(cohorts, "help", "cac_lgbm"))
    yield "judge.md", "always used", *span(pooled(cohorts, "bend", "spline_lr"))
    for contender, dataset in (
        ("cac_lgbm", "nhanes1_10y"),
        ("ebm", "crash2"),
        ("ebm", "gusto_30d"),
    ):
        question = "bend" if contender == "ebm" else "random"
        asked = {"metric": "auroc", "question": question, "contender": contender}
        yield "judge.md", signed(one("added_cohorts", "mean", dataset=dataset, **asked))
    n = len(rows("added_on_splines", metric="auroc", question="forced"))
    yield "judge.md", f"{len(rows('added_on_splines', **kept))} of {n} rule out a gain"
    for contender in ("cac", "km", "dist"):
        row = pooled(splines, "help", f"{contender}_spline_lr")
        yield "judge.md", "splines", *span(row)


def of_expertnet():
    """What the result files of its authors hold, and our own run."""
    printed = table("expertnet_printed").set_index("cohort")
    networks = printed[printed["model"] == "ExpertNet"]["auroc"]
    auroc = printed.reset_index().set_index(["cohort", "model"])["auroc"]
    sepsis, ards = networks["sepsis24"], networks["ards24"]
    plain = (three(auroc["sepsis24", name]) for name in ("logistic regression", "XGBoost"))
    yield "judge.md", "On sepsis", three(sepsis.min()), three(sepsis.max()), *plain
    line = three(auroc["ards24", "logistic regression"])
    yield "judge.md", "On ARDS", three(ards.min()), three(ards.max()), line
    yield "judge.md", "DMNN", *(three(auroc[name, "DMNN"]) for name in ("sepsis24", "ards24"))
    yield "judge.md", "On CIC", *map(three, map(score, ("expertnet", "lr", "fnn")))
    ends = (gain("cic", "expertnet", column=c, question="deep") for c in ("mean", "low", "high"))
    yield "judge.md", "ExpertNet minus the plain network", *map(signed, ends)
    others = rows("judge_verdicts", question="deep", metric="auroc", contender="expertnet")
    assert set(others["verdict"]) == {"undecided"}
    assert {"sepsis", "sepsis_signature"} < set(others["dataset"])


def of_planted_and_divided():
    told = one("judge_planted", "mean", contender="told_lgbm", strength=0.5, rows=3000)
    found = planted("told_lgbm", 0.5, 3000, question="oracle")
    yield "judge.md", three(told), "0.080", f"{found} of 12"
    lead = {"division": "physionet2019_a_b", "contender": "dist_lgbm", "reference": "lgbm"}
    by_auroc = [one("judge_division_pairs", c, metric="auroc", **lead) for c in ("mean", "p_holm")]
    yield "archive/studies.md", f"{by_auroc[0]:.5f}", f"p {three(by_auroc[1])}"


def of_the_papers():
    losses = cells(paper="skmeans", table="3")
    yield "claims.md", agree(paper="skmeans", table="3"), f"of {len(losses)} losses on WebKB"
    near = cells(paper="cac_v1", table="1")
    near = near[~near["method"].isin(["FNN", "DMNN", "DeepCAC"])]
    within = int((near["difference"].abs() <= 0.005 + 1e-9).sum())
    yield "claims.md", within, len(near), "Table 1", "0.005"
    (f1, f1_worse), by_auroc, by_auprc = map(shown, ("f1", "auroc", "auprc"))
    assert (f1, f1_worse, by_auroc[0], by_auprc[0]) == (1, 0, 0, 0)
    yield "claims.md", "in none and worse in", by_auroc[1], "in none and worse in", by_auprc[1]
    found, two = deepcac_table_2()
    yield "claims.md", len(found), "cells", int(two.sum()), agree(paper="deepcac", table="2")
    by_set = [
        agree(paper="deepcac", table="2", dataset=name)
        for name in ("CIC", "CIC-LoS", "Diabetes", "Sepsis")
    ]
    yield "claims.md", f"{by_set[0]} of 20", *by_set[1:]
    nearest = found[(found["method"] == "DeepCAC") & (found["dataset"] != "Sepsis")]
    yield "claims.md", "nine cells", four(nearest["difference"].abs().max())
    assert len(nearest) == 9
    scores = {"paper": "deepcac", "table": list("23569")}
    yield "claims.md", agree(paper="deepcac"), agree(paper="deepcac", table="7"), "Table 7"
    yield "claims.md", agree(**scores), f"of its {len(cells(**scores))} scores"
    repeats = rows("ledger", paper="cac_v1", table="5", derived="repeats cac_v1 Table 1")
    printed = rows("ledger", paper="cac_v1", table="5", kind="score")
    yield "claims.md", len(repeats), f"of {len(printed)} cells of CAC v1 Table 5"


def of_what_was_measured():
    """Tests and intervals in simulated tables, the rules of `profile`, learners of `fit`."""
    erred = rows("levels", measure="gain of the margin excluded at the margin")
    counts = {row.part: (round(row.share * row.tables), row.tables) for row in erred.itertuples()}
    wrong, tables = zip(*counts.values(), strict=True)
    order = sorted(range(3), key=lambda i: wrong[i] != 0)
    assert "tuned" in list(counts)[order[0]]
    yield "your-table.md", *(f"{wrong[i]}/{tables[i]}" for i in order)
    firm = rows("levels", measure="firm no")
    assert (firm["share"] == 0).all()
    yield "your-table.md", firm["tables"].item(), "never firmly denied"
    checks = rows("checks", rules="further").groupby("part")[["expected", "found", "false_alarms"]]
    for part, n in (("rules", "five"), ("opened", "seven"), ("kept aside", "two")):
        row = checks.sum().loc[part]
        assert row["false_alarms"] == {"five": 5, "seven": 7, "two": 2}[n]
        yield "your-table.md", f"{row['found']} of {row['expected']}", n
    held = table("coverage").set_index(["scenario", "interval"])["coverage"]
    kinds = ("400 rows, strong signal", "1000 rows, 5 % events", "400 rows, weak signal")
    for name in ("auroc", "slope"):
        yield "saved-models.md", *(f"{100 * held[f'fit, {kind}', name]:.1f} %" for kind in kinds)
    other = table("fit_learners").query("chosen != 'lr'")["difference"]
    yield "saved-models.md", four(other.min()), four(other.max())
    assert (len(table("fit_learners")), len(other)) == (15, 5)


@pytest.mark.parametrize(
    "facts",
    [
        *(
            of_the_judge,
            of_clinical_cohorts,
            of_experiments,
            of_expertnet,
            of_planted_and_divided,
            of_the_papers,
        ),
        of_what_was_measured,
    ],
)
def test_a_paragraph_has_the_numbers_of_its_rows(facts):
    missing = [(name, *values) for name, *values in facts() if not has(name, *values)]
    assert missing == []


def test_numbers_are_looked_for_in_order_and_as_a_whole():
    assert number(0.5) != number(5)
    assert re.search(number("0.5"), "a gain of 0.5.")
    for other in ("0.52", "10.5", "0.5,3"):
        assert not re.search(number("0.5"), other)


def test_the_second_run_is_told_as_it_ended():
    stored = table("known_then").query("alpha.isna()")
    single = stored[stored["verdict_planned"].notna()]
    changed = single[single["verdict_planned"] != single["verdict_known"]]
    # Each family has all the tasks of the plan, so the planned side is what ships.
    key = ["dataset", "metric", "question", "contender", "reference"]
    shipped = table("clinical_verdicts").query("alpha.isna()").set_index(key)["verdict"]
    assert (
        shipped.loc[list(single[key].itertuples(index=False))]
        == single["verdict_planned"].to_numpy()
    ).all()
    assert {*changed.loc[changed["verdict_known"] == "better", "question"]} == {"bent"}
    tested = single[single["question"].isin(["help", "random"])]
    assert "better" not in {*tested.query("metric == 'auroc'")["verdict_known"]}
    between = [{*pair} <= {"undecided", "equivalent"} for pair in zip(
        changed["verdict_planned"], changed["verdict_known"], strict=True)]  # fmt: skip
    assert sum(between) > len(changed) / 2
    assert has("judge.md", len(changed), f"of {len(single):,} verdicts")
    together = stored[stored["dataset"] == "pooled over cohorts"]
    shown = together.query("pooling == 'family'")
    pooled = shown.query("metric == 'auroc'")
    moved = (pooled["mean_planned"] - pooled["mean_known"]).abs().max()
    assert has("judge.md", "by more than", four(moved), "AUROC")
    ends = ("mean_known", "low_known", "high_known")
    for metric, question, contender, words in (
        ("auroc", "help", "dist_lr", "now add"),
        ("log_loss", "forced", "cac_lr", "log loss"),
    ):
        asked = f"metric == '{metric}' and question == '{question}' and contender == '{contender}'"
        (row,) = shown.query(asked).itertuples()
        assert has("judge.md", words, *(signed(getattr(row, end)) for end in ends))


def test_distances_add_in_the_second_run_whichever_way_cohorts_count():
    asked = {"metric": "auroc", "question": "help", "contender": "dist_lr"}
    pooled = rows("known_then", dataset="pooled over cohorts", **asked).query("alpha.isna()")
    assert {"family", "larger", "smaller"} <= {*pooled["pooling"]}
    assert (pooled["low_known"] > 0).all()


def test_whole_regions_are_told_as_they_ended():
    main = table("by_place").query("metric == 'auroc'")
    (row,) = main.query("question == 'help' and contender == 'dist_lr'").itertuples()
    assert has("judge.md", "distances add", *(signed(v) for v in (row.mean, row.low, row.high)))
    assert "better" not in {*main["verdict"]}
    assert {*main.query("question == 'forced'")["excluded"]} == {"yes"}


def test_no_clinical_task_shows_a_gain_by_cac():
    cac = ["cac_lr", "cac_lgbm", *NETWORKS]
    asked = {"question": ["help", "forced"], "dataset": CLINICAL, "contender": cac}
    assert "better" not in set(rows("judge_verdicts", **asked)["verdict"])
    against_k_means = rows("judge_verdicts", question="cac")["verdict"]
    assert set(against_k_means) == {"equivalent", "undecided"}


def test_the_network_is_ahead_of_km_z_alone():
    deep = rows("judge_verdicts", question="deep", metric="auroc")
    worse = deep.loc[deep["verdict"] == "worse", "contender"]
    assert sorted(worse) == ["km_z"]


def test_the_page_of_rotterdam_and_the_gbsg_has_the_numbers_of_its_file():
    page = (ROOT / "docs" / "more-questions.md").read_text()
    part = page[page.index("| on the GBSG") : page.index("## Are somebody")]
    written = {float(x) for x in re.findall(r"(?<![\w.])[+-]?\d*\.\d+", part)} - {0.28}
    stored = table("rotterdam_gbsg")[["value", "low", "high"]].to_numpy().ravel()
    assert len(written) > 20
    assert all(np.isclose(stored, number, atol=1e-9).any() for number in written)


def test_what_a_gpu_changes_is_said_row_by_row():
    both = table("gpu").set_index("method")
    asked = {"dataset": "cic", "method": "deepcac", "switch": "sound", "metric": "auroc"}
    spread = one("switch_starts", "start_sd", **asked)
    cic = both.loc["deepcac"]
    assert has("reliability.md", "CIC", cic.cpu_auroc, cic.gpu_auroc, four(spread))
    rand = [both.loc[name, "rand_of_clusters"] for name in ("deepcac_ts", "grasp_ts")]
    assert has("reliability.md", "adjusted Rand index", *rand)
    moved = (both["cpu_auroc"] - both["gpu_auroc"]).abs()
    assert moved.idxmax() == "deepcac"
    assert both["gpu_repeats"].all()
    seconds = both.loc[["deepcac_ts", "grasp_ts"], ["gpu_seconds", "cpu_seconds"]].to_numpy()
    assert has("workflow.md", *(f"{value:.0f}" for value in seconds.ravel()))
