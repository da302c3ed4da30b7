from functools import partialmethod

import pytest

from deepcac.judging.contenders import Contender
from deepcac.table.budgeted_trials import TableRun


@pytest.fixture
def few_trials(monkeypatch):
    """Tune each model by two trials, for tests of what a page holds whatever its models are."""
    whole = Contender.trials
    monkeypatch.setattr(Contender, "trials", lambda contender, n: whole(contender, min(n, 2)))
    monkeypatch.setattr(TableRun, "__init__", partialmethod(TableRun.__init__, trials=2))
    monkeypatch.setattr("deepcac.table.audit.beyond_risk.TRIALS", 2)
