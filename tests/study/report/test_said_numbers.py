"""The sentences of the findings have the numbers of their own rows, counts included."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deepcac.pages.wording import four, three
from deepcac_study.report.judge.price_figure import SMALL, prices

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


def of_the_judge():
    lgbm, prc = verdicts("lgbm"), verdicts("lgbm", "auprc")
    line, line_prc = verdicts("lr"), verdicts("lr", "auprc")
    magic, credit = score("cells_lr", "magic"), score("cells_lr", "credit")
    yield (
        "README.md",
        "{} AUROC on Credit and {} on Magic",
        three(gain("credit")),
        three(gain("magic")),
    )
    random = credit - score("lr", "credit"), magic - score("lr", "magic")
    yield "README.md", "Random groups gain {} and {} there", *map(three, random)
    yield "README.md", "(AUROC {} and {}, undecided", three(score("fnn")), three(score("deepcac"))
    yield (
        "findings.md",
        "It chose none in {} of {} comparisons; {} are equivalent",
        *(lgbm["never chosen"], lgbm.sum(), lgbm["equivalent"]),
    )
    yield (
        "findings.md",
        "By AUPRC it chose none in {}, {} are equivalent and {} are undecided",
        *(prc["never chosen"], prc["equivalent"], prc["undecided"]),
    )
    gains = [four(gain(dataset), signed=True) for dataset in ("credit", "magic")]
    yield "findings.md", "{} AUROC on Credit and {} on Magic", *gains
    yield "findings.md", "gain {} and {}, and we found no advantage", *map(three, random)
    asked = {
        "question": "any_partition",
        "metric": "auroc",
        "dataset": "credit",
        "reference": "cells_lr",
    }
    detectable = one("judge_verdicts", "detectable", contender="cac_lr", **asked)
    yield "findings.md", "it takes a lead of about {} to be found", three(detectable)
    worse = [gain("cic", "cac_lr", "auprc", name, "forced") for name in ("mean", "low", "high")]
    worse = [four(value, signed=True) for value in worse]
    yield "findings.md", "({}, 95 % interval {} to {})", *worse
    yield "judge.md", "({}, {} to {})", *worse
    yield (
        "judge.md",
        "{} are equivalent, {} undecided, none worse; in {} clusters were never chosen. "
        "By AUPRC {} of all {} are better, {} equivalent, {} undecided, {} never chosen",
        *(line["equivalent"], line["undecided"], line["never chosen"]),
        *(line_prc["better"], line_prc.sum(), line_prc["equivalent"]),
        *(line_prc["undecided"], line_prc["never chosen"]),
    )
    alone = map(three, map(score, ("fnn", "km_z", "deepcac", "dmnn", "expertnet", "grasp")))
    text = (
        "an AUROC of {}. KM-Z ({}) is worse; DeepCAC ({}, by itself worse, but not after "
        "correction), DMNN ({}) and "
        "[ExpertNet](judge.md#expertnet-the-next-network-of-deepcacs-authors) ({}), the next "
        "network of DeepCAC's authors, are undecided, and GRASP ({}) is equivalent"
    )
    yield "findings.md", text, *alone


def of_clinical_cohorts():
    def pooled(question, contender, pooling="family"):
        asked = {"question": question, "metric": "auroc", "contender": contender}
        asked |= {"pooling": pooling, "floor": True}
        (row,) = rows("clinical_pooled", **asked).query("alpha.isna()").itertuples()
        return row

    cac, bent = pooled("help", "cac_lr"), pooled("bent", "cac_lr")
    yield "README.md", "Splines lead CAC by {}: negligible", four(-bent.mean)
    yield "findings.md", "The tasks come from {} independent cohorts", cac.cohorts
    text = "CAC changes the AUROC of logistic regression by {} (95 % interval {} to {})"
    yield "findings.md", text, *map(signed, (cac.mean, cac.low, cac.high))
    for text, row in (
        ("that of LightGBM by {} ({} to {})", pooled("help", "cac_lgbm")),
        ("where it may not, by {} ({} to {}) and", pooled("forced", "cac_lr")),
        ("to +0.0006) and {} ({} to {})", pooled("forced", "cac_lgbm")),
        ("as further columns, by {} ({} to {}) where", pooled("forced", "dist_lr")),
        ("random groups: with LightGBM by {} ({} to {})", pooled("any_partition", "cac_lgbm")),
        ("CAC minus splines is {} ({} to {})", bent),
        ("with logistic regression by {} ({} to {})", pooled("any_partition", "cac_lr")),
        ("k-means minus splines {} ({} to {})", pooled("bent", "km_lr")),
        (
            "shares patients, CAC minus splines is {} ({} to {})",
            pooled("bent", "cac_lr", "smaller"),
        ),
        ("centres minus splines {} ({} to {})", pooled("bent", "dist_lr")),
        ("they add {} ({} to {}) to logistic", pooled("bend_offered", "offered_spline_lr")),
    ):
        yield "findings.md", text, *map(signed, (row.mean, row.low, row.high))
    for text, row in (
        ("by {} ({} to {}) with logistic regression and", pooled("random", "cac_lr")),
        ("and by {} ({} to {}) with LightGBM", pooled("random", "cac_lgbm")),
        ("products of columns change the AUROC of logistic regression by {} ({} to {})",
         pooled("bend_offered", "offered_products_lr")),
        ("a mixture of experts by {} ({} to {})", pooled("bend_offered", "offered_moe")),
        ("splines by {} ({} to {})", pooled("bend_offered", "offered_spline_lr")),
        ("change that of LightGBM by {} ({} to {})", pooled("bend_offered", "offered_linear_lgbm")),
        ("must be used they add {} ({} to {})", pooled("bend", "spline_lr")),
    ):  # fmt: skip
        yield "judge.md", text, *map(signed, (row.mean, row.low, row.high))
    counted = rows("clinical_verdicts", question="forced", metric="auroc").query("alpha.isna()")
    counted = counted[counted["dataset"] != "stroke"]
    excluded = [
        counted[counted["contender"].str.endswith(f"_{learner}")]["excluded_together"].eq("yes")
        for learner in ("lgbm", "lr")
    ]
    text = "in {} of {} comparisons with LightGBM and in {} of {} with logistic regression"
    numbers = [number for some in excluded for number in (some.sum(), len(some))]
    yield "findings.md", text, *numbers
    spent = table("clinical_tasks")["minutes"].sum() / 60
    yield "judge.md", "The plan estimated 3 core-hours; the twenty tasks took {:.1f}", spent
    line = table("clinical_decisions").query("alpha.isna() and dataset != 'stroke'")
    line = line[line["contender"].str.endswith("_lr")]["detectable"]
    text = "find a gain of 0.020 in at most {} of {} comparisons"
    yield "findings.md", text, (line <= 0.02).sum(), len(line)
    points = prices(table("clinical_verdicts"), table("clinical_tasks")).query("learner == 'lr'")
    small = points[points["rows"] <= SMALL].groupby("offer")["mean"]
    larger = points[points["rows"] > SMALL].groupby("offer")["mean"]
    costs = [four(-small.mean()[offer]) for offer in ("cac", "mean_of_cells")]
    text = "costs {} AUROC on average, and in all six; offering random groups costs {}"
    yield "findings.md", text, *costs
    assert (small.count()["cac"], (small.max() < 0).all()) == (6, True)
    text = "In the eight larger cohorts CAC costs {}"
    yield "findings.md", text, four(-larger.mean()["cac"])
    assert larger.count()["cac"] == 8
    yield "README.md", "costs logistic regression {} AUROC", three(-small.mean()["cac"])
    moves = rows("judge_transfer", cohort="clinical", question="help")["verdict"]
    text = "better in {} of {} comparisons and worse in {}"
    yield "archive/studies.md", text, sum(moves == "better"), len(moves), sum(moves == "worse")


def of_expertnet():
    """What the result files of its authors hold, and our own run."""
    printed = table("expertnet_printed").set_index("cohort")
    networks = printed[printed["model"] == "ExpertNet"]["auroc"]
    auroc = printed.reset_index().set_index(["cohort", "model"])["auroc"]
    plain = [("sepsis24", "logistic regression"), ("sepsis24", "XGBoost")]
    text = "an AUROC of {} to {} with two to five clusters, logistic regression {} and XGBoost {}"
    sepsis, ards = networks["sepsis24"], networks["ards24"]
    yield (
        "judge.md",
        text,
        *map(three, (sepsis.min(), sepsis.max(), *(auroc[key] for key in plain))),
    )
    ends = ards.min(), ards.max(), auroc["ards24", "logistic regression"]
    yield "judge.md", "On ARDS ExpertNet has {} to {} and logistic regression {}", *map(three, ends)
    best = [auroc[cohort, "DMNN"] for cohort in ("sepsis24", "ards24")]
    yield "judge.md", "DMNN, has {} and {}", *map(three, best)
    ours = map(three, map(score, ("expertnet", "lr", "fnn")))
    text = "Its AUROC is {}, that of logistic regression {} and that of the plain network {}"
    yield "judge.md", text, *ours
    difference = [
        gain("cic", "expertnet", column=end, question="deep") for end in ("mean", "low", "high")
    ]
    yield "judge.md", "network is {}, {} to {}: undecided", *map(signed, difference)
    text = "On `{}` it has {}, logistic regression {}, the plain network {} and LightGBM {}"
    for dataset in ("sepsis_signature", "sepsis"):
        scores = [score(name, dataset) for name in ("expertnet", "lr", "fnn", "lgbm")]
        yield "judge.md", text, dataset, *map(three, scores)


def of_planted_and_divided():
    yield (
        "findings.md",
        "CAC finds them in {} of 12 cohorts of 3,000 patients and k-means in {}",
        *(planted("cac_lr", 0.3, 3000), planted("km_lr", 0.3, 3000)),
    )
    large = {planted(name, 0.3, 10_000) for name in ("cac_lr", "km_lr")}
    huge = {planted(name, 0.2, 30_000) for name in ("cac_lr", "km_lr")}
    text = "In 10,000 patients both find them in {} of 12, and in 30,000 patients even 0.016"
    yield "findings.md", text, *large
    assert large == huge
    text = "they gain only {} where these are worth 0.080 to logistic regression"
    yield (
        "findings.md",
        text,
        three(one("judge_planted", "mean", contender="told_lgbm", strength=0.5, rows=3000)),
    )
    text = "does not find that in 3,000 patients ({} of 12)"
    yield "findings.md", text, planted("told_lgbm", 0.5, 3000, question="oracle")
    lead = {"division": "physionet2019_a_b", "contender": "dist_lgbm", "reference": "lgbm"}
    by_auroc = [one("judge_division_pairs", c, metric="auroc", **lead) for c in ("mean", "p_holm")]
    text = "({}, p {} after correction)"
    for page in ("findings.md", "judge.md"):
        yield page, text, four(by_auroc[0], signed=True), three(by_auroc[1])


def of_the_papers():
    yield (
        "findings.md",
        "{} of its {} losses on WebKB agree",
        *(agree(paper="skmeans", table="3"), len(cells(paper="skmeans", table="3"))),
    )
    near = cells(paper="cac_v1", table="1")
    near = near[~near["method"].isin(["FNN", "DMNN", "DeepCAC"])]
    within = int((near["difference"].abs() <= 0.005 + 1e-9).sum())
    yield "findings.md", "{} of {} are within 0.005 of ours", within, len(near)
    (f1, f1_worse), by_auroc, by_auprc = map(shown, ("f1", "auroc", "auprc"))
    assert (f1, f1_worse, by_auroc[0], by_auprc[0]) == (1, 0, 0, 0)
    text = "better in none and worse in {}; by AUPRC it is better in none and worse in {}"
    yield "findings.md", text, by_auroc[1], by_auprc[1]
    found, two = deepcac_table_2()
    text = (
        "DeepCAC's Table 2 has {} cells on open data: {} lie within two combined standard "
        "deviations and {} "
        "within 0.02 as well"
    )
    counts = len(found), int(two.sum()), agree(paper="deepcac", table="2")
    yield "findings.md", text, *counts
    by_set = [
        agree(paper="deepcac", table="2", dataset=name)
        for name in ("CIC", "CIC-LoS", "Diabetes", "Sepsis")
    ]
    yield "claims.md", "CIC {} of 20, length of stay {}, Diabetes {}, Sepsis {}.", *by_set
    nearest = found[(found["method"] == "DeepCAC") & (found["dataset"] != "Sepsis")]
    largest = four(nearest["difference"].abs().max())
    yield "claims.md", "nine cells on the first three lie within {}", largest
    scores = {"paper": "deepcac", "table": list("23569")}
    yield (
        "claims.md",
        "Of DeepCAC's {} values that agree, {} are Table 7's means",
        *(
            agree(paper="deepcac"),
            agree(paper="deepcac", table="7"),
        ),
    )
    yield "claims.md", "Of its {} scores {} agree", len(cells(**scores)), agree(**scores)
    repeats = rows("ledger", paper="cac_v1", table="5", derived="repeats cac_v1 Table 1")
    printed = rows("ledger", paper="cac_v1", table="5", kind="score")
    text = "{} of {} cells of CAC v1 Table 5 repeat Table 1"
    yield "claims.md", text, len(repeats), len(printed)


@pytest.mark.parametrize(
    "said",
    [of_the_judge, of_clinical_cohorts, of_expertnet, of_planted_and_divided, of_the_papers],
)
def test_a_sentence_has_the_numbers_of_its_rows(said):
    for name, text, *numbers in said():
        page = ROOT / name if name == "README.md" else ROOT / "docs" / name
        assert text.format(*numbers) in " ".join(page.read_text("utf-8").split()), name


def test_the_runs_without_leaking_columns_are_told_as_they_ended():
    stored = table("clinical_features")
    single = stored[stored["verdict_planned"].notna()]
    changed = (single["verdict_planned"] != single["verdict_corrected"]).sum()
    assert "better" not in set(single["verdict_corrected"])
    # Each family has all the tasks of the plan, so the planned side is what ships.
    key = ["dataset", "metric", "question", "contender", "reference"]
    shipped = table("clinical_verdicts").query("alpha.isna()").set_index(key)["verdict"]
    assert (
        shipped.loc[list(single[key].itertuples(index=False))]
        == single["verdict_planned"].to_numpy()
    ).all()
    together = stored[stored["dataset"] == "pooled over cohorts"]
    pooled = together.query("metric == 'auroc'")
    moved = (pooled["mean_planned"] - pooled["mean_corrected"]).abs().max()
    asked = (
        "dataset == 'rhc' and metric == 'auroc' and question == 'bent' and contender == 'cac_lr'"
    )
    (row,) = stored.query(asked).itertuples()
    said = " ".join((ROOT / "docs" / "judge.md").read_text("utf-8").split())
    assert f"{changed} of {len(single)} verdicts change" in said
    assert f"{changed} of {len(single)} verdicts" in (ROOT / "docs" / "findings.md").read_text(
        "utf-8"
    )
    assert row.verdict_planned == row.verdict_corrected == "undecided"
    assert f"{signed(row.mean_planned)} and undecided, becomes {signed(row.mean_corrected)}" in said
    assert f"none moves by more than {four(moved)} in AUROC" in said
    asked = "metric == 'log_loss' and question == 'forced' and contender == 'cac_lr'"
    (loss,) = together.query(asked).itertuples()
    corrected = map(signed, (loss.mean_corrected, loss.low_corrected, loss.high_corrected))
    planned = map(signed, (loss.mean_planned, loss.low_planned, loss.high_planned))
    text = "({}, {} to {}; {}, {} to {} with these columns)"
    assert text.format(*corrected, *planned) in said


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
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    both = table("gpu").set_index("method")
    asked = {"dataset": "cic", "method": "deepcac", "switch": "sound", "metric": "auroc"}
    spread = one("switch_starts", "start_sd", **asked)
    cic, km_z, hours = (both.loc[name] for name in ("deepcac", "km_z", "deepcac_ts"))
    assert f"on CIC was {cic.cpu_auroc} on a CPU and {cic.gpu_auroc} on an NVIDIA H100" in page
    assert f"a standard deviation of {four(spread)} " in page
    assert f"KM-Z had {km_z.cpu_auroc} and {km_z.gpu_auroc}" in page
    assert f"sepsis {hours.cpu_auroc} and {hours.gpu_auroc}" in page
    rand = [both.loc[name, "rand_of_clusters"] for name in ("deepcac_ts", "grasp_ts")]
    assert "index {} and {})".format(*rand) in page
    moved = (both["cpu_auroc"] - both["gpu_auroc"]).abs()
    assert moved.idxmax() == "deepcac"
    assert both["gpu_repeats"].all()
    work = (ROOT / "docs" / "workflow.md").read_text(encoding="utf-8")
    seconds = both.loc[["deepcac_ts", "grasp_ts"], ["gpu_seconds", "cpu_seconds"]].to_numpy()
    sentence = "took {:.0f} seconds instead of {:.0f}, GRASP {:.0f} instead of {:.0f}"
    assert sentence.format(*seconds.ravel()) in work
