from pathlib import Path

from paper_checks import ask

from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.runs.effects import choice_table


def run(k, fold_f1, test_f1, dataset="credit", method="cac_lr", protocol="sound"):
    """One run with a fold F1 (at two alphas) and a test F1 for each of its splits."""
    splits = [
        {
            "metrics": {"f1": test},
            "hyperparameters": {"alpha_f1": {"0.1": fold - 0.05, "0.5": fold}},
        }
        for fold, test in zip(fold_f1, test_f1, strict=True)
    ]
    record = {
        "dataset": dataset,
        "method": method,
        "k": k,
        "protocol": protocol,
        "status": "ok",
        "splits": splits,
    }
    return Run(f"{method}_k{k}", record, Path())


def cells(table):
    return [dict(zip(table.head, (cell.text for cell in row), strict=True)) for row in table.rows]


def test_each_split_takes_the_k_of_its_own_folds():
    table = choice_table(
        Runs(
            (
                run(2, [0.50, 0.60], [0.30, 0.40]),
                run(3, [0.55, 0.50], [0.10, 0.20]),
                run(4, [0.55, 0.60], [0.90, 0.80]),  # never below the others, yet not the least k
                run(2, [0.5], [0.5], method="km_lr"),  # nothing to choose from
                run(3, [0.5], [0.5], method="km_lr"),
            )
        )
    )
    [row] = cells(table)
    assert row["chosen k by split"] == "3, 2"
    assert row["test F1 of the choice"] == "0.2500"  # of 0.10 (k = 3) and 0.40 (k = 2)
    assert (row["printed k"], row["test F1 of the printed k"]) == ("3", "0.1500")
    assert row["fold F1 by k"] == "2: 0.5500, 3: 0.5250, 4: 0.5750"


def test_runs_with_given_alphas_choose_nothing():
    runs = [run(k, [0.5], [0.5], protocol="as_published") for k in (2, 3, 4)]
    assert choice_table(Runs(tuple(runs))).rows == []


def test_the_claim_on_k_looks_at_the_folds():
    datasets = ("titanic", "credit", "adult", "diabetes", "cic")

    def verdict(best, ks=(1, 2, 3, 4), left_out=0):
        runs = [
            run(k, [0.6 if k == best(name) else 0.5], [0.5], dataset=name)
            for name in datasets
            for k in ks
        ]
        return ask("CAC1-37", Findings(Runs(tuple(runs[: len(runs) - left_out])))).verdict

    def printed(name):
        return 3 if name == "credit" else 2

    assert verdict(printed) == "holds"
    assert verdict(printed, left_out=4) == "not run"
    assert verdict(printed, ks=(2, 3, 4)) == "not run"  # k = 1 must be a candidate
    assert verdict(lambda name: 3) == "fails"
    assert verdict(lambda name: 1) == "fails"
