"""Records of supervised k-means with planned losses and times, for tests."""

from deepcac_study.catalogue.facts import facts
from deepcac_study.records.clusterings import ClusteringRun, Clusterings, Measured

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
AXES = {"clusterings": (2, 4, 8), "clusters": (2, 5, 10), "features": (1, 2), "points": (5, 10, 20)}


def facts_of_print(name, *paper):
    """Return facts without losses of other processors, which planted ones have nothing to do with."""
    return () if name == "machine_losses" else facts(name, *paper)


def run(dataset, method, losses, names=UNIVERSITIES, unfinished=0):
    folds = [
        {"test": name, "loss": loss, "C": 1.0, "predictor": "iterative"}
        for name, loss in zip(names, losses, strict=True)
    ]
    record = {
        "dataset": dataset, "method": method, "n_clusterings": len(names), "k": 6,
        "items": 1040.5, "n_node": 41131, "n_pair": 0,
        "repeats": [{"seed": 0, "folds": folds, "n_fits": 9, "n_unfinished": unfinished}],
    }  # fmt: skip
    return ClusteringRun(f"results/skmeans/{dataset}/{method}.json", record)


def runs(dataset, names=UNIVERSITIES, **losses):
    return tuple(run(dataset, method, values, names) for method, values in losses.items())


def webkb(dataset="webkb_n_unit", learnt=60.0, plain=78.0):
    return runs(
        dataset,
        iterative=[learnt, learnt - 9, learnt, learnt],
        spectral=[learnt - 9, learnt, learnt, learnt],
        pair=[plain] * 4,
        none=[plain] * 4,
    )


def synth(iterative=40.0, spectral=50.0, pair=45.0, none=75.0):
    def spread(x):
        return [x - 1, x, x + 1, x, x]

    return runs(
        "synth_pairs", tuple("01234"), iterative=spread(iterative), spectral=spread(spectral),
        pair=spread(pair), none=spread(none),
    )  # fmt: skip


def times(exponents, spread, call=lambda oracle, value: 0.1):
    """Return a record in which seconds grow as value to a power a (axis, oracle)."""
    rows = []
    for axis, values in AXES.items():
        for oracle in ("iterative", "spectral"):
            power = exponents.get((axis, oracle), 0.9)
            for value in values:
                for number in range(4):
                    wobble = 1 + spread[oracle] * (-1) ** number
                    base = 2.0 if oracle == "spectral" else 1.0
                    rows.append(
                        {
                            "axis": axis, "value": value, "oracle": oracle, "set": number,
                            "seconds": base * value**power * wobble,
                            "n_iter": base * 100 * value ** min(power, 0),
                            "n_oracle_calls": 10, "oracle_seconds": base,
                            "slowest_call": call(oracle, value), "converged": True,
                        }
                    )  # fmt: skip
    return Measured("results/skmeans/times.json", {"rows": rows, "max_iter": 9})


def nothing_lost():
    """Return losses of 0 of all that learns."""
    zero = [0.0] * 5
    return runs(
        "synth_pairs", tuple("01234"), iterative=zero, spectral=zero, pair=zero, none=[75.0] * 5
    )


def unclear_times():
    """Return times in which one training set dips, and Spectral is calmer in three of four.

    Spectral's time does not grow as a power of the points.
    """
    found = times({("points", "iterative"): 1.0}, {"iterative": 0.4, "spectral": 0.1})
    places = sorted({(row["axis"], row["value"]) for row in found.record["rows"]})
    for row in found.record["rows"]:
        if (row["axis"], row["oracle"], row["set"]) == ("points", "iterative", 0):
            row["seconds"] = {5: 90.0, 10: 9.0, 20: 30.0}[row["value"]]
        if row["oracle"] == "spectral" and (row["axis"], row["value"]) in places[:3]:
            row["seconds"] *= 1 + 9 * row["set"]
        if (row["axis"], row["value"], row["oracle"]) == ("points", 10, "spectral"):
            row["seconds"] *= 4
    return found


def checks(**changed):
    usual = {"n_cuts": 9, "most_cuts": 99.0, "converged": True, "seed": 0}
    iterative = {"missed": 2, "above_slack": 1, "dual_objective": 1.0}
    spectral = {"missed": 0, "above_slack": 0, "dual_objective": 2.0}
    record = {
        "training": [
            {**usual, "oracle": "iterative", **iterative, **changed.get("iterative", {})},
            {**usual, "oracle": "spectral", **spectral, **changed.get("spectral", {})},
        ],
        "loss": {"symmetric": 0.0, "all_in_one": changed.get("deviation", 0.0)},
        "large_clusters": [
            {"cluster": "large", "delta": 12.0, "rand": changed.get("rand", 12.0)},
            {"cluster": "small", "delta": 8.0, "rand": 1.0},
        ],
        "kmeans": {
            "matrices": 9, "indefinite": 5, "incremental_better": 6,
            "batch_better": changed.get("batch", 2),
        },
        "noise_free": [{"loss": changed.get("noise_free", 0.0)}],
    }  # fmt: skip
    return Clusterings(checks=Measured("results/skmeans/checks.json", record))


def good_times():
    """Return times of which every claim is true."""
    usual = {("clusters", "spectral"): -0.5, ("clusters", "iterative"): 0.5}
    good = times(usual, {"iterative": 0.5, "spectral": 0.1}, lambda oracle, value: 0.6)
    for row in good.record["rows"]:
        if (row["axis"], row["value"], row["oracle"]) == ("points", 5, "iterative"):
            row["seconds"] *= 3  # the hump
    return good


def bad_times():
    """Return times of which every claim is false."""
    rows = {("clusterings", o): 2.0 for o in ("iterative", "spectral")}
    rows |= {("features", o): 2.0 for o in ("iterative", "spectral")}
    rows |= {("clusters", "spectral"): 1.5, ("clusters", "iterative"): -1.0}
    rows |= {("points", "iterative"): -1.0}
    bad = times(rows, {"iterative": 0.1, "spectral": 0.5})
    for row in bad.record["rows"]:
        if row["oracle"] == "spectral":
            row["seconds"], row["n_iter"] = row["seconds"] / 9, row["n_iter"] * 0.1
            row["oracle_seconds"] = 0.1
            if row["axis"] == "points":
                each = {5: 1.5, 10: 2.0, 20: 1.0}[row["value"]]
                row["seconds"] = each * (1 + 0.5 * (-1) ** row["set"])
        row["seconds"] *= 1000
    bad.record["rows"][0]["converged"] = False
    return bad
