"""What tests of several folders of the study share."""

from contextlib import nullcontext

import pytest


@pytest.fixture
def undrawn(monkeypatch):
    """Make reports without their pictures, which take half of the time."""
    monkeypatch.setattr("deepcac_study.report.site.page.drawn", lambda *_: nullcontext())
