"""Cells of one run are renewed, decided claims stay, what was not run is filled."""

from dataclasses import replace

import pytest

from deepcac.errors import DataError
from deepcac_study.papers.claims import Claim, claims
from deepcac_study.papers.extension import covers, extend_claims, extend_ledger, extend_report
from deepcac_study.papers.ledger import Entry, entries, read_rows, write_rows
from deepcac_study.papers.summary import Count, summary
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

NOTHING = Findings(Runs(()))


@pytest.fixture(scope="module")
def ledger():
    return entries(NOTHING)


@pytest.fixture(scope="module")
def undecided(ledger):
    return claims(NOTHING, ledger)


def changed(rows, number, **values):
    return [replace(row, **values) if i == number else row for i, row in enumerate(rows)]


def stored(folder, cells, claims):
    folder.mkdir(exist_ok=True)
    write_rows(folder / "ledger.csv", Entry, cells)
    write_rows(folder / "claims.csv", Claim, claims)
    return folder


def of(rows, verdict, kind="", start=0):
    return next(
        i
        for i, row in enumerate(rows)
        if i >= start and row.verdict == verdict and kind in ("", getattr(row, "kind", ""))
    )


def test_a_cell_is_that_of_the_newer_run_and_cells_of_several_runs_stay(ledger):
    one = of(ledger, "not run", "score")
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
    # What the older one has not decided is filled.
    assert extend_ledger(ledger, newer) == extend_ledger(newer, ledger) == newer


def test_a_claim_is_filled_protocol_by_protocol(undecided):
    one = of(undecided, "not run")
    older = changed(undecided, one, as_published="fails", as_published_reason="a", runs="x")
    newer = changed(undecided, one, verdict="holds", reason="b", as_published="holds", runs="y; z")
    found = extend_claims(older, newer)[one]
    assert (found.verdict, found.reason, found.runs) == ("holds", "b", "y; z")
    assert (found.as_published, found.as_published_reason) == ("fails", "a")
    assert extend_claims(newer, undecided) == extend_claims(undecided, newer) == newer


def test_a_claim_that_the_same_runs_decided_is_decided_by_the_newer_rule(undecided):
    one = of(undecided, "not run")
    older = changed(undecided, one, verdict="fails", reason="a", as_published="holds", runs="x; y")
    newer = changed(undecided, one, verdict="cannot hold", reason="b", runs="x; y", kind="print")
    found = extend_claims(older, newer)[one]
    assert (found.verdict, found.reason, found.kind) == ("cannot hold", "b", "print")
    assert found.as_published == "holds"  # nothing was run for it here
    fewer = changed(undecided, one, verdict="holds", reason="c", runs="x")
    assert extend_claims(older, fewer)[one].verdict == "fails"


def test_other_cells_are_refused(ledger, undecided):
    with pytest.raises(DataError, match=r"other cells.*without --extend"):
        extend_ledger(ledger, ledger[1:])
    with pytest.raises(DataError, match="other claims"):
        extend_claims(undecided[::-1], undecided)


def test_a_report_covers_an_older_one_if_nothing_in_it_waits_for_a_run_of_that(
    ledger, undecided, tmp_path
):
    cell, claim = of(ledger, "not run"), of(undecided, "not run")
    decided = changed(ledger, cell, verdict="agree", run="there")
    told = changed(undecided, claim, as_published="fails")
    nothing = stored(tmp_path / "nothing", ledger, undecided)
    kept = stored(tmp_path / "kept", decided, told)
    assert covers(kept, kept)
    assert covers(kept, nothing)
    assert not covers(nothing, kept)
    assert not covers(stored(tmp_path / "cells", decided, undecided), kept)
    assert not covers(stored(tmp_path / "claims", ledger, told), kept)
    assert covers(tmp_path / "no report", kept)  # nothing is taken from it


def test_files_are_extended_and_counted_anew(ledger, undecided, tmp_path):
    one = of(ledger, "not run")
    for place, verdict in (("made", "agree"), ("kept", "not run")):
        run = "here" if verdict == "agree" else ""
        cells = changed(
            ledger, one, run=run, verdict=verdict, needs="", paper="deepcac", derived=""
        )
        stored(tmp_path / place, cells, undecided)
    written = extend_report(tmp_path / "made", tmp_path / "kept")
    assert [path.name for path in written] == ["ledger.csv", "claims.csv", "summary.csv"]
    cells = read_rows(tmp_path / "kept" / "ledger.csv", Entry)
    assert cells == read_rows(tmp_path / "made" / "ledger.csv", Entry)
    assert read_rows(tmp_path / "kept" / "claims.csv", Claim) == undecided
    counted = (tmp_path / "kept" / "summary.csv").read_text(encoding="utf-8")
    write_rows(tmp_path / "expected.csv", Count, summary(cells, undecided))
    assert counted == (tmp_path / "expected.csv").read_text(encoding="utf-8")
    assert "cells,deepcac,independent,agree,1\n" in counted
