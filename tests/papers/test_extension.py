"""Cells of one run are renewed, decided claims stay, what was not run is filled."""

from dataclasses import replace

import pytest

from deepcac.errors import DataError
from deepcac.experiments.finished import Runs
from deepcac.papers import claims as claim_file
from deepcac.papers import ledger as ledger_file
from deepcac.papers import summary as summary_file
from deepcac.papers.claims import claims
from deepcac.papers.extension import extend_claims, extend_ledger, extend_report
from deepcac.papers.findings import Findings
from deepcac.papers.ledger import entries

NOTHING = Findings(Runs(()))


@pytest.fixture(scope="module")
def ledger():
    return entries(NOTHING)


@pytest.fixture(scope="module")
def undecided(ledger):
    return claims(NOTHING, ledger)


def changed(rows, number, **values):
    return [replace(row, **values) if i == number else row for i, row in enumerate(rows)]


def of(rows, verdict, kind="", start=0):
    return next(
        i
        for i, row in enumerate(rows)
        if i >= start and row.verdict == verdict and kind in ("", getattr(row, "kind", ""))
    )


def test_a_cell_is_that_of_the_newer_run_and_cells_of_several_runs_stay(ledger):
    one = of(ledger, "not run", "score")
    third = of(ledger, "not run", "score", one + 1)
    several = of(ledger, "not run", "summary")
    old, new = (
        {
            "verdict": "agree",
            "as_published": "0.7",
            "as_published_sd": "0.01",
            "sound": "0.4",
            "run": "there",
        },
        {"verdict": "differ", "as_published": "0.6", "run": "here"},
    )
    older = changed(changed(ledger, one, **old), several, **old)
    older = changed(older, third, verdict="agree", run="there")
    newer = changed(changed(ledger, one, **new), several, **new)
    found = extend_ledger(older, newer)
    assert (found[one].verdict, found[one].as_published, found[one].sound) == (
        "differ",
        "0.6",
        "0.4",
    )
    assert (found[one].as_published_sd, found[one].run) == ("", "here")
    assert found[several] == older[several]
    assert [e for i, e in enumerate(found) if i != one] == [
        e for i, e in enumerate(older) if i != one
    ]
    # What the older one has not decided is filled; one that lacks nothing replaces it.
    assert extend_ledger(ledger, newer) == extend_ledger(newer, ledger) == newer
    whole = changed(newer, third, verdict="differ", run="here")
    assert extend_ledger(older, whole) == whole


def test_a_claim_is_filled_protocol_by_protocol(undecided):
    one = of(undecided, "not run")
    older = changed(undecided, one, as_published="fails", as_published_reason="a", runs="x")
    newer = changed(undecided, one, verdict="holds", reason="b", as_published="holds", runs="y; z")
    other = of(undecided, "not run", start=one + 1)
    older = changed(older, other, verdict="fails")
    found = extend_claims(older, newer)[one]
    assert (found.verdict, found.reason, found.runs) == ("holds", "b", "y; z")
    assert (found.as_published, found.as_published_reason) == ("fails", "a")
    assert extend_claims(newer, undecided) == newer
    whole = changed(newer, other, verdict="holds")
    assert extend_claims(older, whole) == whole


def test_other_cells_are_refused(ledger, undecided):
    with pytest.raises(DataError, match=r"other cells.*without --extend"):
        extend_ledger(ledger, ledger[1:])
    with pytest.raises(DataError, match="other claims"):
        extend_claims(undecided[::-1], undecided)


def test_files_are_extended_and_counted_anew(ledger, undecided, tmp_path):
    one = of(ledger, "not run")
    for place, verdict in (("made", "agree"), ("kept", "not run")):
        (tmp_path / place).mkdir()
        run = "here" if verdict == "agree" else ""
        cells = changed(
            ledger, one, run=run, verdict=verdict, needs="", paper="deepcac", derived=""
        )
        ledger_file.write(tmp_path / place / "ledger.csv", cells)
        claim_file.write(tmp_path / place / "claims.csv", undecided)
    written = extend_report(tmp_path / "made", tmp_path / "kept")
    assert [path.name for path in written] == ["ledger.csv", "claims.csv", "summary.csv"]
    cells = ledger_file.read(tmp_path / "kept" / "ledger.csv")
    assert cells == ledger_file.read(tmp_path / "made" / "ledger.csv")
    assert claim_file.read(tmp_path / "kept" / "claims.csv") == undecided
    counted = (tmp_path / "kept" / "summary.csv").read_text(encoding="utf-8")
    summary_file.write(tmp_path / "expected.csv", summary_file.summary(cells, undecided))
    assert counted == (tmp_path / "expected.csv").read_text(encoding="utf-8")
    assert "cells,deepcac,independent,agree,1\n" in counted
