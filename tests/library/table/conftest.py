import pytest

from deepcac.judging.contenders import Contender


@pytest.fixture
def few_trials(monkeypatch):
    """Tune each model by two trials, for tests of what a page holds whatever its models are."""
    whole = Contender.trials
    monkeypatch.setattr(Contender, "trials", lambda contender, n: whole(contender, min(n, 2)))
    for module in ("auditing", "beyond_risk"):
        monkeypatch.setattr(f"deepcac.table.audit.{module}.TRIALS", 2)
