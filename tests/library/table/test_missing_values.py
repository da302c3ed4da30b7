"""The lines on missing values: plain code on the same rows, and nothing where nothing is missing."""

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from deepcac.judging.trial_record import TrialRecord
from deepcac.table.budgeted_trials import TableRun, Trials, linear, table_resamples
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.missing_values import (
    COMPLETE,
    FLAGGED,
    NO_FLAGS,
    complete_rows,
    missing_section,
    rough_share,
)
from deepcac.table.pages.page_sections import tables_of

EFFORT = TableRun(budget=1.0)


def table_of(tmp_path, telling=1.0, holes=0.3):
    """A missing `urea` tells of the outcome."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["age", "urea"]).round(4)
    frame["ward"] = rng.choice(["a", "b"], 300)
    absent = rng.random(300) < holes
    odds = frame.age + telling * 2 * absent - 0.5
    frame["died"] = (rng.random(300) < 1 / (1 + np.exp(-odds))).astype(int)
    frame.loc[absent, "urea"] = np.nan
    frame.loc[(rng.random(300) < holes / 10), "ward"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    return read_labelled(inferred(tmp_path / "t.csv")), frame


def trials(seeds):
    sizes = {"n_train": 168, "n_validation": 57, "n_test": 75}
    none = np.empty((1, 0))
    record = TrialRecord(linear(), "", linear(), [], [0], [sizes], none[..., None, None], none)
    return Trials({linear(): record}, len(seeds), 10_000, 0.0, seeds=seeds)


def plain_auroc(train, test, y_train, y_test):
    mean, sd = train.mean(axis=0), train.std(axis=0)
    keep = sd > 1e-9
    train, test = ((part - mean)[:, keep] / sd[keep] for part in (train, test))
    model = LogisticRegression(C=1.0, max_iter=1000)
    model.fit(train, y_train)
    return roc_auc_score(y_test, model.predict_proba(test)[:, 1])


def filled(raw, median):
    return np.where(np.isnan(raw), median, raw)


def test_each_line_is_what_plain_code_gives(tmp_path):
    table, frame = table_of(tmp_path)
    seeds = [0, 1]
    (made,) = missing_section(table, EFFORT, trials(seeds))
    (lines,) = tables_of([made])
    whole = frame[["age", "urea", "ward"]].notna().all(axis=1).to_numpy()
    assert (complete_rows(table) == whole).all()
    missing_ward = np.array([name == "ward=(missing)" for name in table.features.names])
    assert missing_ward.sum() == 1
    wanted = {FLAGGED: [], NO_FLAGS: [], COMPLETE: []}
    for seed in seeds:
        sample = next(table_resamples(table.features, 1, 10_000, first=seed))
        train, test, y = sample.train.raw, sample.test.raw, (sample.train.y, sample.test.y)
        median = np.nanmedian(train, axis=0)
        bare = [filled(part, median) for part in (train, test)]
        flags = [np.isnan(part).astype(float) for part in (train, test)]
        flagged = [np.hstack(pair) for pair in zip(bare, flags, strict=True)]
        wanted[FLAGGED].append(plain_auroc(*flagged, *y))
        unflagged = [np.where(missing_ward, 0.0, part) for part in bare]
        wanted[NO_FLAGS].append(plain_auroc(*unflagged, *y))
        rows = whole[sample.train.row_id - 1]
        median = np.median(train[rows], axis=0)
        wanted[COMPLETE].append(plain_auroc(train[rows], filled(test, median), y[0][rows], y[1]))
    assert [row[0] for row in lines.rows] == list(wanted)
    for row in lines.rows:
        assert float(row[1]) == pytest.approx(np.mean(wanted[row[0]]), abs=0.0015)
    gap = float(lines.rows[1][2].split()[0])
    assert gap == pytest.approx(np.mean(wanted[NO_FLAGS]) - np.mean(wanted[FLAGGED]), abs=0.0015)
    assert gap < -0.02  # the flag was planted to tell


def test_no_line_where_nothing_is_missing_and_none_of_too_few_complete_rows(tmp_path):
    table, _ = table_of(tmp_path, holes=0.0)
    assert missing_section(table, EFFORT, trials([0])) == []
    table, _ = table_of(tmp_path, holes=0.97)
    (made,) = missing_section(table, EFFORT, trials([0]))
    (lines,) = tables_of([made])
    assert "too few to learn from them" in made.blocks[0]
    assert [row[0] for row in lines.rows] == [FLAGGED, NO_FLAGS]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.02, "At most 5 %"), (0.06, "About 10 %"), (0.44, "About 40 %"), (0.96, "At least 95 %")],
)
def test_a_share_is_rough_and_never_all(share, text):
    assert rough_share(share) == text
