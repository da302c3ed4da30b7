"""Every file that the commands write about a small table is searched for one to four patients."""

import numpy as np
import pandas as pd
import pytest
from lone_patients import lone_patients
from typer.testing import CliRunner

from deepcac.table.commands import app

SECRETS = ("hospice", "ic3", "east", "kind-Z", "107.3")
PROSE = ("one patient", "three times", "5 times")  # of the method, not of the table


def cohort(n=200):
    """Synthetic patients; `unit` refines `ward`, and each column has a level of two to four."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(60, 9, n).round(1), "crp": rng.normal(10, 3, n)})
    frame["ward"] = np.repeat(["icu", "er", "floor", "hospice"], [80, 70, n - 153, 3])
    frame["unit"] = frame.ward.str[:2] + np.resize(["1", "2"], n)
    frame["hospital"] = rng.choice(["north", "south"], n)
    frame["phenotype"] = rng.choice(["kind-A", "kind-B"], n)
    frame.loc[[0, 1], "unit"] = "ic3"
    frame.loc[[7, 77, 177], "hospital"] = "east"
    frame.loc[[8, 78, 178, 190], "phenotype"] = "kind-Z"
    frame.loc[[3, 33, 133], "crp"] = np.nan
    frame.loc[9, "age"] = 107.3
    died = rng.random(n) < 1 / (1 + np.exp(-(frame.age - 62) / 5))
    return frame.round(2).assign(died=np.where(died, "yes", "no"))


COMMANDS = {
    "profile": "profile t.csv --label died --out page.html",
    "fit": "fit t.csv --label died --method k-means --out page.json",
}


@pytest.mark.slow
@pytest.mark.usefixtures("drawn", "few_trials")
@pytest.mark.parametrize("name", COMMANDS)
def test_no_file_of_a_command_tells_of_one_to_four_patients(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("t.csv", index=False)
    answer = CliRunner().invoke(app, COMMANDS[name].split())
    assert answer.exit_code == 0, answer.output
    (tmp_path / "terminal.txt").write_text(answer.output)
    search(tmp_path)


def search(folder):
    """Search all files but the table itself."""
    files = [path for path in folder.iterdir() if path.name != "t.csv"]
    assert len(files) >= 2
    for path in files:
        leaks = [line for line in lone_patients(path, SECRETS) if line not in PROSE]
        assert leaks == [], path.name


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize("method", ["plain", "k-means"])
def test_no_file_of_predictions_tells_of_one_to_four_patients(method, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("t.csv", index=False)
    fitted = CliRunner().invoke(
        app, f"fit t.csv --label died --method {method} --jobs 1 --out m.json".split()
    )
    assert fitted.exit_code == 0, fitted.output
    new = cohort().drop(columns="died")
    new.loc[[5, 6], "ward"] = "hospice"
    new.loc[[11, 12, 13], "age"] = 999.0
    new.to_csv("t.csv", index=False)
    answer = CliRunner().invoke(app, ["predict", "m.json", "t.csv", "--out", "risk.csv"])
    assert answer.exit_code == 0, answer.output
    for path in ("m.json", "m.card.md"):
        (tmp_path / path).unlink(missing_ok=True)
    (tmp_path / "terminal.txt").write_text(answer.output)
    leaks = [
        line for line in lone_patients(tmp_path / "terminal.txt", SECRETS) if line not in PROSE
    ]
    assert leaks == []
    # A table of predictions has a row a patient, and nothing of the columns.
    lines = pd.read_csv("risk.csv")
    assert len(lines) == len(new)
    assert not any(secret in (tmp_path / "risk.csv").read_text() for secret in SECRETS)
