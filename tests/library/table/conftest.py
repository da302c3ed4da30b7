from functools import partialmethod

import pytest

from deepcac.judging.contenders import Contender
from deepcac.table.audit.group_contenders import group_contenders
from deepcac.table.budgeted_trials import TableRun


@pytest.fixture
def drawn():
    """Ask for pages with their pictures."""


@pytest.fixture(autouse=True)
def undrawn(request, monkeypatch):
    """Make pages without their pictures, which take a third of the time, but where `drawn`."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("deepcac.pages.templating.as_svg", lambda figure: "<svg/>")


@pytest.fixture
def few_trials(monkeypatch):
    """Tune each model by two trials, for tests of what a page holds whatever its models are."""
    whole = Contender.trials
    monkeypatch.setattr(Contender, "trials", lambda contender, n: whole(contender, min(n, 2)))
    monkeypatch.setattr(TableRun, "__init__", partialmethod(TableRun.__init__, trials=2))
    monkeypatch.setattr("deepcac.table.audit.beyond_risk.TRIALS", 2)
    monkeypatch.setattr("deepcac.scoring.resampled_scores.MOST_DRAWS", 100)
    monkeypatch.setattr("deepcac.table.validation.validating._INDEX_DRAWS", 20)


@pytest.fixture
def few_contenders(few_trials, monkeypatch):
    """Compare logistic regression with itself in clusters or groups only."""
    few = [Contender("lr"), Contender("lr", "km"), Contender("lr", "cac")]
    for module in ("budgeted_trials", "elsewhere.fold_trials", "comparing"):
        monkeypatch.setattr(f"deepcac.table.{module}.contenders", lambda: few)
    monkeypatch.setattr("deepcac.table.comparing.chosen_learner", lambda *_: "lr")
    monkeypatch.setattr("deepcac.table.audit.auditing.group_contenders", _of_one_learner)


def _of_one_learner(k):
    return [one for one in group_contenders(k) if one.id.endswith("lr")]
