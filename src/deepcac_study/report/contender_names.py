"""The judge's contenders as people write them, and their colours."""

from deepcac.errors import ConfigError
from deepcac.judging.contenders import parse_contender
from deepcac.pages.figures import PALETTE
from deepcac_study.catalogue.methods import ARM_COLOURS, methods

_ARMS = {
    "km": "in k-means clusters",
    "cac": "in CAC clusters",
    "dist": "with distances to centres",
    "cells": "in random cells",
    "hash": "in parts by a hash",
}
_COLOURS = {"dist": "#2E8B57", "cells": "#C49C94", "hash": "#7F7F7F"} | ARM_COLOURS
_LEARNERS = {
    "lgbm": "LightGBM",
    "catboost": "CatBoost",
    "hgb": "Histogram boosting",
    "centroid": "Nearest class centroid",
    "subtypes": "Risk model with subtypes",
    "subtypes_gbm": "Risk model with subtypes, boosted",
}
_LEARNER_COLOURS = {"lgbm": "#B8860B", "catboost": "#17A2B8"}


def contender_label(name: str) -> str:
    """Return a contender as people write it; one that is no longer known, as it is stored."""
    try:
        one = parse_contender(name)
    except ConfigError:
        return name
    known = methods().get(one.learner)
    learner = known.label if known else _LEARNERS.get(one.learner, one.learner)
    return f"{learner} {_ARMS.get(one.arm, one.arm)}" if one.arm else learner


def contender_colour(name: str, place: int = 0) -> str:
    """Return a contender's colour: of its arm, else its learner's, else by its place."""
    by_place = PALETTE[place % len(PALETTE)]
    try:
        one = parse_contender(name)
    except ConfigError:
        return by_place
    if one.arm in _COLOURS:
        return _COLOURS[one.arm]
    known = methods().get(one.learner)
    own = known.colour if known else _LEARNER_COLOURS.get(one.learner)
    return own or by_place
