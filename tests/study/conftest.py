"""What tests of several folders of the study share."""

import pytest


@pytest.fixture
def undrawn():
    """Make reports with empty pictures; drawing them takes half of the time."""
    from report_runs import without_pictures  # loads matplotlib

    with without_pictures():
        yield
