"""What a trial fits on rows: one function a learner, from values and rows to probabilities."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.utils.class_weight import compute_sample_weight

from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.linear.base_classifiers import class_scores
from deepcac.types import Array

Predict = Callable[[Rows], Array]

ROUNDS, PATIENCE = 600, 30  # of boosting: trees at most, and without a better validation loss
TREES = 100


def clipped(rows: Rows, clip: float | None) -> Array:
    """Return the scaled features, cut at `clip` standard deviations."""
    return rows.scaled if clip is None else np.clip(rows.scaled, -clip, clip)


def _without_weight(values: Values) -> Values:
    """Return what a booster takes by name; class weights go in as row weights."""
    return {name: value for name, value in values.items() if name != "class_weight"}


def row_weights(rows: Rows, class_weight: str | None) -> Array | None:
    """Return the weights of rows, those of their classes included."""
    if class_weight is None:
        return rows.weight
    balanced: Array = compute_sample_weight(class_weight, rows.y)
    return balanced if rows.weight is None else balanced * rows.weight


def _objective(classes: int, binary: str, several: str) -> dict[str, Any]:
    return {"objective": binary} if classes == 2 else {"objective": several, "num_class": classes}


def lr(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Logistic regression."""
    C, clip, weight = values["C"], values["clip"], values["class_weight"]
    # With two classes a Newton step costs n d^2 and a handful of steps do; lbfgs where d is large.
    wide = train.scaled.shape[1] * sample.n_classes > 300
    model = LogisticRegression(
        C=C, class_weight=weight, max_iter=500, solver="lbfgs" if wide else "newton-cholesky"
    ).fit(clipped(train, clip), train.y, train.weight)
    return lambda rows: class_scores(model, clipped(rows, clip), sample.n_classes)


def lgbm(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """LightGBM on the raw features, stopped by the validation loss."""
    return _lightgbm(values, train, validation, sample, lambda rows: rows.raw)


def linear_lgbm(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """LightGBM with a line in every leaf, on the scaled features without outliers."""
    linear = {**values, "linear_tree": True}
    return _lightgbm(linear, train, validation, sample, lambda rows: rows.bounded)


def lightgbm_settings(values: Values, n_classes: int, seed: int) -> dict[str, Any]:
    """Return the values of a trial, without that of class weights, as LightGBM takes them."""
    return {
        **values,
        **_objective(n_classes, "binary", "multiclass"),
        **{"num_threads": 1, "seed": seed, "deterministic": True},
        **{"force_col_wise": True, "bagging_freq": 1, "verbose": -1},
    }


def _lightgbm(
    values: Values,
    train: Rows,
    validation: Rows,
    sample: Resample,
    columns: Callable[[Rows], Array],
) -> Predict:
    import lightgbm

    weigh = values["class_weight"]
    settings = lightgbm_settings(_without_weight(values), sample.n_classes, sample.seed)
    data = lightgbm.Dataset(
        columns(train), train.y, weight=row_weights(train, weigh), params=settings
    )
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    held_out = lightgbm.Dataset(
        columns(validation), validation.y, weight=row_weights(validation, weigh), reference=data
    )
    model = lightgbm.train(settings, data, ROUNDS, valid_sets=[held_out], callbacks=[stop])
    return lambda rows: _by_class(model.predict(columns(rows), num_threads=1))


def hgb(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """scikit-learn's boosting on the raw features, where no other is installed."""
    model = HistGradientBoostingClassifier(
        **_without_weight(values), early_stopping=False, random_state=sample.seed
    )
    model.fit(train.raw, train.y, sample_weight=row_weights(train, values["class_weight"]))
    return lambda rows: class_scores(model, rows.raw, sample.n_classes)


def xgb(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """XGBoost on the raw features, stopped by the validation loss."""
    import xgboost

    weigh = values["class_weight"]
    settings = {
        **_without_weight(values),
        **_objective(sample.n_classes, "binary:logistic", "multi:softprob"),
        **{"nthread": 1, "seed": sample.seed, "tree_method": "hist"},
    }
    data, held_out = (
        xgboost.DMatrix(rows.raw, rows.y, weight=row_weights(rows, weigh), nthread=1)
        for rows in (train, validation)
    )
    model = xgboost.train(
        settings,
        data,
        ROUNDS,
        evals=[(held_out, "validation")],
        early_stopping_rounds=PATIENCE,
        verbose_eval=False,
    )
    best = (0, model.best_iteration + 1)
    return lambda rows: _by_class(
        model.predict(xgboost.DMatrix(rows.raw, nthread=1), iteration_range=best)
    )


def catboost(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """CatBoost on the raw features, stopped by the validation loss."""
    from catboost import CatBoostClassifier, Pool

    settings = _without_weight(values)
    weigh = values["class_weight"]
    model = CatBoostClassifier(
        **settings,
        iterations=ROUNDS,
        early_stopping_rounds=PATIENCE,
        thread_count=1,
        random_seed=sample.seed,
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(
        Pool(train.raw, train.y, weight=row_weights(train, weigh)),
        eval_set=Pool(validation.raw, validation.y, weight=row_weights(validation, weigh)),
    )
    return lambda rows: class_scores(model, rows.raw, sample.n_classes)


def rf(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Random forest."""
    model = RandomForestClassifier(TREES, random_state=sample.seed, n_jobs=1, **values)
    model.fit(train.scaled, train.y, train.weight)
    return lambda rows: class_scores(model, rows.scaled, sample.n_classes)


def centroid(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Nearest class centroid: the softmax of minus the squared distances, over d.

    `shrink` moves the centroids towards the mean of all rows.
    """
    clip = values["clip"]
    X = clipped(train, clip)
    model = NearestCentroid().fit(X, train.y)
    centres = X.mean(axis=0) + (1 - values["shrink"]) * (model.centroids_ - X.mean(axis=0))

    def predict(rows: Rows) -> Array:
        distance = ((clipped(rows, clip)[:, None] - centres) ** 2).mean(axis=2)
        weight = np.exp(distance.min(axis=1, keepdims=True) - distance)
        scores = np.zeros((len(rows), sample.n_classes))
        scores[:, model.classes_] = weight / weight.sum(axis=1, keepdims=True)
        return scores

    return predict


def _by_class(answer: Any) -> Array:
    """Return both columns of the probabilities of two classes."""
    probability = np.asarray(answer, dtype=np.float64)
    if probability.ndim == 1:
        return np.column_stack([1 - probability, probability])
    return probability
