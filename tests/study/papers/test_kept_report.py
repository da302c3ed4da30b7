"""A report that lacks runs of an older one does not take its place."""

from dataclasses import replace

import pytest

from deepcac.errors import DataError
from deepcac_study.papers.claims import Claim, claims
from deepcac_study.papers.kept_report import covers
from deepcac_study.papers.ledger import Entry, entries, write_rows
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


def test_other_cells_are_refused(ledger, undecided, tmp_path):
    whole = stored(tmp_path / "whole", ledger, undecided)
    with pytest.raises(DataError, match=r"other cells.*without --extend"):
        covers(stored(tmp_path / "cells", ledger[1:], undecided), whole)
    with pytest.raises(DataError, match="other claims"):
        covers(stored(tmp_path / "claims", ledger, undecided[::-1]), whole)


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
