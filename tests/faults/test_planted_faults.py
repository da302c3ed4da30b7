"""Mutants find faults that are planted: a harness that finds none is no proof."""

import re

import children
import numpy as np
import pytest
from children import DEATH, OTHERWISE, TRACEBACK
from documents import fuzz_documents
from models import fuzz_models

from deepcac.persistence.state_table import ALLOWED

pytestmark = [pytest.mark.faults, pytest.mark.long]


def _unchecked(what, values=None, *arguments, **named):
    return values


def _without_bounds(archive):
    """Name the types of a file without a look at how its nodes refer to each other."""
    kinds = re.findall(
        r'"__class__": "(\w+)", "__module__": "([\w.]+)"', archive.read("schema.json").decode()
    )
    return sorted({f"{module}.{name}" for name, module in kinds} - ALLOWED)


STATE, CLUSTERED = "deepcac.persistence.fitted_state.", "KMClassifier of GaussianNB"
# Guards that are taken out: those of one fault, of which one alone would be found by the next.
PLANTED = {
    "any state": (CLUSTERED, {"deepcac.persistence.model_files.check_state": _unchecked}),
    "any attribute": (
        CLUSTERED,
        {f"{STATE}_check_names": _unchecked, f"{STATE}_ask": _unchecked},
    ),
    "nodes without end": (
        CLUSTERED,
        {"deepcac.persistence.model_files.named_types": _without_bounds},
    ),
    "arrays in text": (
        "command, k-means",
        {"deepcac.table.risk_model_file.check_array": _unchecked},
    ),
    "weights of a network": ("network fnn", {"deepcac.nn.model_file.LARGEST": np.inf,
                                             "deepcac.nn.model_file._MOST_SINGLE": np.inf}),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_mutants_find_a_fault_that_is_planted(fault, tmp_path, monkeypatch):
    kind, changes = PLANTED[fault]
    for name, without in changes.items():
        monkeypatch.setattr(name, without)
    monkeypatch.setattr(children, "TRIAL_SECONDS", 1.0)
    (row,) = fuzz_models(tmp_path, range(100), [kind])
    assert row.other > 0, row.how


def _endless(events):
    while True:
        pass


DECLARED = "deepcac.files.declared."
OF_DOCUMENTS = {
    "keys twice": ("registry", f"{DECLARED}_written_out", lambda *_: (0, 0), OTHERWISE),
    "cells that do not fit": (
        *("descriptions", "deepcac.table.columns.described_rows._faults", lambda *_: ()),
        OTHERWISE,
    ),
    "no end": ("registry", f"{DECLARED}_refuse_deep", _endless, DEATH),
    "a fault without a line": (
        *("descriptions", f"{DECLARED}ValidationError", ZeroDivisionError),
        TRACEBACK,
    ),
}


@pytest.mark.parametrize("fault", OF_DOCUMENTS)
def test_mutants_of_documents_find_a_fault_that_is_planted(fault, tmp_path, monkeypatch):
    kind, guard, without, found = OF_DOCUMENTS[fault]
    monkeypatch.setattr(guard, without)
    monkeypatch.setattr(children, "TRIAL_SECONDS", 1.0)
    (row,) = fuzz_documents(tmp_path, range(3 if found == DEATH else 100), [kind])
    assert found in row.how
