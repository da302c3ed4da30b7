"""Text of pages and pictures can be read: a contrast of 4.5 at least, by our own computation."""

import re
from importlib import resources

import matplotlib as mpl
import numpy as np
import pytest

from deepcac.pages.figures import LINES, contrast, ink_on

LEAST = 4.5
STYLE = (resources.files("deepcac.pages") / "templates" / "style.css").read_text(encoding="utf-8")
INKS = {"ink": "back card head hover", "soft": "back card", "link": "back card hover"}
TONES = ("good", "bad", "mixed", "quiet")
PAIRS = [(ink, back) for ink, backs in INKS.items() for back in backs.split()]


def schemes():
    """Return the colours by name: light, dark, and in print."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+);", block)) for block in blocks]


def test_black_on_white_has_the_largest_contrast():
    assert contrast("white", "black") == pytest.approx(21)
    assert contrast("#777777", "white") == pytest.approx(4.48, abs=0.01)
    assert (ink_on("#d00000"), ink_on("#ffd000")) == ("white", "black")


@pytest.mark.parametrize("place", [0, 1, 2], ids=["light", "dark", "print"])
def test_text_stands_out_on_pages(place):
    colours = schemes()[place]
    pairs = [*PAIRS, *((f"{tone}-ink", tone) for tone in TONES)]
    for ink, back in pairs:
        if {ink, back} <= colours.keys():
            assert contrast(colours[ink], colours[back]) >= LEAST, (ink, back)
    assert {"ink", "back", "good", "good-ink"} <= colours.keys()


@pytest.mark.parametrize("name", ["RdYlBu", "RdBu_r"])
def test_text_stands_out_on_every_colour_of_a_map(name):
    for share in np.linspace(0, 1, 101):
        colour = mpl.colormaps[name](share)[:3]
        assert contrast(ink_on(colour), colour) >= LEAST


def test_six_curves_differ_in_grey():
    """As many as a picture of curves holds: a dash of its own each."""
    assert len({str(dash) for dash in LINES}) >= 6
