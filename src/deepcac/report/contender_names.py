"""The judge's contenders as people write them, and their colours."""

from deepcac.catalogue.methods import ARM_COLOURS, methods
from deepcac.judge.contenders import parse_contender
from deepcac.report.figures import PALETTE

_ARMS = {
    "km": "in k-means clusters",
    "cac": "in CAC clusters",
    "dist": "with distances to centres",
    "cells": "in random cells",
    "hash": "in parts by a hash",
}
_COLOURS = {"dist": "#2E8B57", "cells": "#C49C94", "hash": "#7F7F7F"} | ARM_COLOURS
_LEARNERS = {"lgbm": "LightGBM", "catboost": "CatBoost"}
_LEARNER_COLOURS = {"lgbm": "#B8860B", "catboost": "#17A2B8"}


def contender_label(name: str) -> str:
    """Return a contender as people write it."""
    one = parse_contender(name)
    known = methods().get(one.learner)
    learner = known.label if known else _LEARNERS.get(one.learner, one.learner)
    return f"{learner} {_ARMS.get(one.arm, one.arm)}" if one.arm else learner


def contender_colour(name: str, place: int = 0) -> str:
    """Return a contender's colour: of its arm, else its learner's, else by its place."""
    one = parse_contender(name)
    if one.arm in _COLOURS:
        return _COLOURS[one.arm]
    known = methods().get(one.learner)
    own = known.colour if known else _LEARNER_COLOURS.get(one.learner)
    return own or PALETTE[place % len(PALETTE)]
