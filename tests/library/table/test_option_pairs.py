"""Every pair of questions to `compare` has an answer, or is refused by the one table of pairs."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from described_tables import decided
from typer.testing import CliRunner

from deepcac.table.columns.described_rows import as_yaml
from deepcac.table.command_line.option_pairs import CLASSES, REFUSED
from deepcac.table.commands import app

ASKED = {
    "--site": ["--site", "hospital"],
    "--external": ["--external", "b.csv"],
    "--by": ["--by", "sex"],
    "--thresholds": ["--thresholds", "0.1,0.4"],
    "--budget": ["--budget", "9"],
    "--resamples": ["--resamples", "5"],
    "--exact": ["--exact"],
    "a patient": [],
    "a horizon": [],
    "a competing event": [],
    CLASSES: [],
}
IMPOSSIBLE = [(CLASSES, "a horizon"), (CLASSES, "a competing event")]  # of a description
PAIRS = [pair for pair in combinations(ASKED, 2) if pair[::-1] not in IMPOSSIBLE]


def patients(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["age", "urea"]).round(4)
    event, rival, end = (rng.exponential(k, n) for k in (6 * np.exp(-frame.age), 15, 12))
    first = np.minimum(np.minimum(event, rival), end)
    status = np.select([first == event, first == rival], ["died", "other"], "alive")
    grade = pd.cut(frame.age + rng.normal(size=n), [-9, -0.5, 0.5, 9], labels=["a", "b", "c"])
    return frame.assign(
        sex=rng.choice(["f", "m"], n), hospital=rng.choice(["north", "south"], n),
        patient=1000 * seed + np.arange(n) // 2, years=first.round(5), status=status, grade=grade,
        dead=np.where(status == "died", "yes", "no"),
    )  # fmt: skip


def written(folder, pair):
    """Write both tables, and how they are read."""
    keep = ["age", "urea", "sex", "hospital"]
    outcome = {"field": "dead"}
    if CLASSES in pair:
        outcome = {"field": "grade"}
    if {"a horizon", "a competing event"} & set(pair):
        outcome = {"field": "status", "event": "died", "time": "years", "horizon": 5.0}
        outcome |= {"competing": ["other"]}
    used = [*keep, outcome["field"], *["years"] * ("time" in outcome)]
    used += ["patient"] * ("a patient" in pair)
    for name, seed in (("a", 0), ("b", 1)):
        patients(240, seed)[used].to_csv(folder / f"{name}.csv", index=False)
    options = {"patient": "patient"} if "a patient" in pair else {}
    if "--site" not in pair:
        options["leave_out"] = {"hospital": "not asked for"}
    table = decided(folder / "a.csv", outcome.pop("field"), **outcome, **options)
    description = table.description
    (folder / "a.yaml").write_text(as_yaml(description.resource), encoding="utf-8")


@pytest.mark.usefixtures("few_contenders")
@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, marks=[pytest.mark.long] * (j % 12 > 0)) for j, pair in enumerate(PAIRS)],
    ids=[" and ".join(pair) for pair in PAIRS],
)
def test_a_pair_has_an_answer_or_is_refused(pair, tmp_path, monkeypatch):
    # So that `--budget` ends soon on a busy machine too.
    monkeypatch.setattr("deepcac.table.budgeted_trials.RESAMPLES_SMALL", 5)
    written(tmp_path, pair)
    monkeypatch.chdir(tmp_path)
    options = [word for name in pair for word in ASKED[name]]
    if not {"--site", "--external", "--budget", "--resamples"} & set(pair):
        options += ["--resamples", "5"]
    done = CliRunner().invoke(app, ["compare", "a.csv", *options, "--jobs", "1"])
    if any(set(refused) <= set(pair) for refused in REFUSED):
        assert done.exit_code != 0
        assert type(done.exception).__name__ == "ConfigError"
        return
    assert done.exception is None or done.exit_code == 0, repr(done.exception)
    assert (tmp_path / "compare.html").stat().st_size > 10_000
    assert (tmp_path / "compare.card.md").exists()
