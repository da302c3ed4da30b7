"""Records of class decomposition with planned gains, for tests."""

from pathlib import Path

from deepcac.files.storage import write_json
from deepcac_study.papers.class_decomposition.gains import TABLE_1
from deepcac_study.papers.names import printed_datasets
from deepcac_study.records.decompositions import DecompositionRecord

RUNS = 6
SETS = printed_datasets(TABLE_1)


def decomposed(dataset, protocol="sound", **planned):
    """Return a record in memory."""
    return DecompositionRecord(
        f"results/decomposition/{dataset}.json", content(dataset, protocol, **planned)
    )


def content(
    dataset,
    protocol="sound",
    *,
    nb=4.5,
    svm=0.9,
    spread=0.1,
    separate=0.0,
    validation=1.0,
    clusters=(4, 3),
    whole=False,
    reverted=False,
    fits=(10, 40),
    seconds=(5.0, 1.0),
    synthetic=False,
    rest=False,
):
    """Return a record: gains (points), the same in every run but for a spread that alternates,
    upwards for one base where it is downwards for the other; machines one against rest like one
    against one."""
    runs = []
    bases = [("nb", nb), ("svm", svm), *([("svm_rest", svm)] * rest)]
    for run in range(RUNS):
        for base, gain in bases:
            own = gain + (spread if run % 2 == (base == "nb") else -spread)
            points = {"alone": 0.0, "separate": separate, "greedy": own}
            for arm, plus in points.items():
                searched = arm == "greedy"
                runs.append(
                    {
                        "run": run,
                        "base": base,
                        "arm": arm,
                        "accuracy": 0.8 + plus / 100,
                        "validation_accuracy": 0.8 + (validation / 100 if searched else 0),
                        "n_clusters": list(clusters),
                        "configuration": [[[0, 1]], [[0]]] if whole else [[[0], [1]], [[0]]],
                        "reverted": searched and reverted,
                        "merges_tried": 3,
                        "merges_taken": 1,
                        "validation_steps": [0.8, 0.81],
                        "fits": fits[0] if searched else 0,
                        "fits_if_all": fits[1] if searched else 0,
                    }
                )
    return {
        "schema": 1,
        "dataset": dataset,
        "protocol": protocol,
        "synthetic": synthetic,
        "n_rows": 200,
        "n_columns": 5,
        "n_classes": len(clusters),
        "shares": {"train": 0.5, "validation": 0.25, "test": 0.25},
        "stratified": protocol == "sound",
        "runs": runs,
        "inputs": {"table": "0" * 64},
        "machine": {
            "seconds": {"clustering": seconds[0], "nb_greedy": 0.5, "svm_greedy": seconds[1]}
        },
    }


def write_decomposed(results: Path, dataset, protocol="sound", **planned) -> Path:
    """Write a record where the workflow writes it."""
    folder = results if protocol == "sound" else results / protocol
    path = folder / "decomposition" / f"{dataset}.json"
    record = content(dataset, protocol, **planned)
    write_json(path, record)
    return path
