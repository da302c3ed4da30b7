"""Names of scikit-learn that are not public, imported in one place.

Where a release moves or renames one of them, only this module changes. The lowest and the newest
release that `pyproject.toml` allows are tried by `.ci/versions`.
"""

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_feature_names_in",
    "check_sample_weight",
    "fit_context",
]
