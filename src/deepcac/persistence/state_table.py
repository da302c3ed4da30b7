"""The table of types that a model file may hold, with the kinds and shapes of their attributes.

An entry reads ``name:kind axes``. Kinds are f (float64), p (float64 above 0), z (from 0), i
(int64), b (bool), d (the dtype float64), l (a list), L (sorted distinct labels); without a kind an
attribute may be anything, but its numbers are finite. A letter is a length, the same wherever it
occurs in an estimator; capitals apply to the records inside as well. An attribute with ``?`` may be
absent or None, as it depends on the release of scikit-learn or on settings. Parameters need no
entry.
"""

from __future__ import annotations

_FITS = (
    "classes_:LC cluster_centers_:fKD class_counts_:iKC estimators_:lK n_clusters_found_ "
    "collapsed_ n_iter_ converged_"
)
_PLANES = (
    "classes_:Lm coef_:foD intercept_:fo n_iter_ multi_class dual tol fit_intercept "
    "intercept_scaling verbose random_state penalty loss"
)
_STEPWISE = (
    "classes_:Lm coef_:foD intercept_:fo n_iter_ loss learning_rate epsilon power_t average "
    "offset_ _expanded_class_weight _loss_function_ _average_coef _average_intercept "
    "_standard_coef _standard_intercept"
)
_CUTS = "cutting_planes_ slack_ duality_gap_ n_iter_ n_cuts_ converged_ seconds_"
_OF_EVERY_ESTIMATOR = "n_features_in_ feature_names_in_ _sklearn_output_config"
# Attributes of single rows and of the search: no file holds them; counts are rounded where stored.
UNWRITTEN = frozenset((
    *("subtypes_", "training_rows_", "clusters_", "labels_", "component_indices_", "purity_"),
    *("moves_", "cost_history_", "within_history_", "separation_history_", "steps_"),
    *("validation_accuracy_", "n_samples_seen_", "t_", "_metadata_request"),
))  # fmt: skip
ROUNDED = ("class_counts_", "class_count_")
_CAC, _PARTS, _SIMILAR = "deepcac.cac.", "deepcac.decomposition.", "deepcac.similarity."
_MIXTURES, _LINEAR = _PARTS + "mixtures.", "sklearn.linear_model."
_TABLE = {
    _CAC + "cross_validated.CACClassifierCV": _FITS
    + " alpha_ n_splits_ best_index_ best_score_ best_params_ cv_results_ kept_pass_",
    _CAC + "estimator.CACClassifier": _FITS + " alpha_ kept_pass_",
    _CAC + "km.KMClassifier": _FITS,
    _CAC + "metric_km.MetricKMClassifier": _FITS + " metric_",
    _PARTS + "classifier.ClassDecompositionClassifier": "classes_:LC _class_of_group:iG "
    "estimator_ _nominal n_clusters_ configuration_ reverted_ merges_tried_ merges_taken_ "
    "n_configurations_ n_fits_ n_fits_if_all_",
    _MIXTURES + "mixed.Columns": "names levels",
    _MIXTURES + "mixed.Filler": "means:fP modes:iN",
    _MIXTURES + "naive_bayes.Density": "size mean:fP sd:pP log_share:fS",
    _MIXTURES + "naive_bayes.MixedNaiveBayes": "classes_:LG _columns widths_:pP densities_:lG "
    "_nominal",
    _PARTS + "smo.Design": "filler low:fP reach:pP",
    _PARTS + "smo.PairwiseLinearSVC": "classes_:LG _columns _design planes_:fve _nominal",
    _PARTS + "smo.UnitPoints": "_columns design_ _nominal",
    "deepcac.linear.base_classifiers.NearestClassMean": "classes_:Lm model_",
    "deepcac.linear.base_classifiers.Renumbered": "classes_:Lm classifier_",
    "deepcac.linear.newton_svm.NewtonSVC": _PLANES,
    "deepcac.preprocess.TableScaler": "median_:fD flagged_:ie kept_:bg mean_:fq scale_:pq",
    _SIMILAR + "class_metric.ClassMetric": "weights_:zD n_iter_ converged_ loss_",
    _SIMILAR + "kernelmap.KernelMap": "kernel gamma _map",
    _SIMILAR + "pair.PairSimilarity": "weights_:fw bias_ " + _CUTS,
    _SIMILAR + "supervised.SupervisedKMeans": "weights_:fW _map oracle_seconds_ n_oracle_calls_ "
    + _CUTS,
    _SIMILAR + "weighted.EqualWeights": "weights_:fw",
    _SIMILAR + "workingset.WorkingSet": "n_examples n_features cap nonnegative patience solver "
    "owner losses duals weights:fW slack _room _gram _idle",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": "classes_:Lm coef_:foD "
    "intercept_:fo scalings_:?fDs xbar_:?fD means_:?fmD priors_:?pm _max_components "
    "_n_features_out covariance_ explained_variance_ratio_",
    "sklearn.dummy.DummyClassifier": "classes_:Lm class_prior_:pm n_classes_ n_outputs_ "
    "sparse_output_ _strategy",
    "sklearn.impute._base.SimpleImputer": "statistics_:fD indicator_ _fit_dtype:d _fill_dtype:d",
    "sklearn.kernel_approximation.Nystroem": "components_:fsD normalization_:fss _n_features_out",
    _LINEAR + "_logistic.LogisticRegression": _PLANES,
    _LINEAR + "_perceptron.Perceptron": _STEPWISE,
    _LINEAR + "_ridge.RidgeClassifier": "classes_:?Lm coef_ intercept_:fo n_iter_ solver_ "
    "_label_binarizer",
    _LINEAR + "_stochastic_gradient.SGDClassifier": _STEPWISE,
    "sklearn.naive_bayes.GaussianNB": "classes_:Lm theta_:fmD var_:pmD class_prior_:pm "
    "class_count_:?fm epsilon_",
    "sklearn.neighbors._nearest_centroid.NearestCentroid": "classes_:Lm centroids_:fmD "
    "deviations_:?fmD within_class_std_dev_:?fD class_prior_:?pm",
    "sklearn.pipeline.Pipeline": "",
    "sklearn.preprocessing._data.MinMaxScaler": "scale_:pD min_:fD data_min_:?fD data_max_:?fD "
    "data_range_:?fD",
    "sklearn.preprocessing._data.RobustScaler": "center_:?fD scale_:?pD",
    # The variance of a constant column is 0, and its scale 1.
    "sklearn.preprocessing._data.StandardScaler": "mean_:?fD scale_:?pD var_:?zD",
    "sklearn.preprocessing._label.LabelBinarizer": "classes_:Lm y_type_ sparse_input_",
    "sklearn.svm._classes.LinearSVC": _PLANES,
    # Its compiled tree must be trusted.
    "sklearn.tree._classes.DecisionTreeClassifier": "classes_:Lm tree_ max_features_ n_classes_ "
    "n_outputs_",
}
STATES = {
    name: dict(entry.partition(":")[::2] for entry in f"{entries} {_OF_EVERY_ESTIMATOR}".split())
    for name, entries in _TABLE.items()
}
_DATA = (
    *(f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "str", "tuple")),
    *(f"numpy.{name}" for name in ("ndarray", "dtype", "bool", "bool_", "str_")),
    *(f"numpy.{kind}{bits}" for kind in ("float", "int") for bits in (32, 64)),
    "numpy.random.mtrand.RandomState",
    "sklearn._loss._loss.CyHalfBinomialLoss",  # of SGDClassifier, which asks it in fit only
    "sklearn.linear_model._sgd_fast.Hinge",
)
ALLOWED = frozenset((*STATES, *_DATA))
