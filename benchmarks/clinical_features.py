"""Whether two clinical answers rest on columns that know too much, or hold a code as a number.

Seen after the runs (docs/archive/judge-plan.md): `das2d3pc` of `rhc` is filled in for those who
could not be asked on day 3; a weight of 0 there means "not taken"; `nhefs` has measurements of 1982
and codes 2 for a missing answer. The planned features stand; these are the same runs without that.

    python benchmarks/clinical_features.py features data/features   # of a clone: writes over them
    snakemake --cores 2 --rerun-triggers mtime -- results/judge/clinical/{rhc,nhefs}/...
    python benchmarks/clinical_features.py table PLANNED CORRECTED OUT.csv

`PLANNED` and `CORRECTED` are folders results/judge/clinical.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from deepcac.feature_matrix import read_features, write_features
from deepcac.judging.questions import BENT, HELP
from deepcac.judging.resample_scores import resample_scores
from deepcac_study.judge.clinical_tasks import MARGINS, clinical_verdicts
from deepcac_study.judge.judgement_files import read_records

STRICT = 0.005
DROPPED = {
    "rhc": ["das2d3pc"],
    "nhefs": ["sbp", "dbp", "hightax82", "price82", "tax82", "price71_82", "tax71_82"],
}
# Column to the number that means "no value".
CODES = {
    "rhc": {"weight_kg": 0},
    "nhefs": {
        **dict.fromkeys(("hbp", "diabetes", "pica", "hbpmed", "boweltrouble", "birthcontrol"), 2),
        **{"alcoholpy": 2, "alcoholfreq": 5},
    },
}
KEPT = ["dataset", "metric", "question", "contender", "reference", "verdict", "mean", "low", "high"]


def correct_features(folder: Path) -> None:
    """Write over the feature files of both data sets, and say what changed."""
    for dataset, dropped in DROPPED.items():
        path = folder / f"{dataset}.parquet"
        features = read_features(path)
        X = features.X.copy()
        for name, code in CODES[dataset].items():
            gone = X[:, features.names.index(name)] == code
            print(f"{dataset} {name}: {int(gone.sum()):,} of {len(gone):,} rows have no value")
            X[gone, features.names.index(name)] = np.nan
        places = [j for j, name in enumerate(features.names) if name not in dropped]
        names = tuple(features.names[j] for j in places)
        write_features(path, replace(features, X=X[:, places], names=names))


def verdicts_of(folder: Path) -> pd.DataFrame:
    """Return the verdicts on clusters and bent lines of both data sets."""
    paths = [path for dataset in DROPPED for path in sorted((folder / dataset).glob("*.json"))]
    scores = resample_scores(read_records(paths), [*MARGINS])
    table = clinical_verdicts(scores, STRICT)
    return table[table["question"].isin([HELP.id, BENT.id])][KEPT]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["features", "table"])
    parser.add_argument("paths", nargs="+", type=Path)
    given = parser.parse_args()
    if given.what == "features":
        correct_features(*given.paths)
        return
    planned, corrected, out = given.paths
    pair = ["dataset", "metric", "question", "contender", "reference"]
    both = verdicts_of(planned).merge(
        verdicts_of(corrected), on=pair, suffixes=("_planned", "_corrected"), validate="1:1"
    )
    both.round(4).to_csv(out, index=False, lineterminator="\n")
    changed = int((both["verdict_planned"] != both["verdict_corrected"]).sum())
    print(f"{changed} of {len(both)} verdicts differ")


if __name__ == "__main__":
    main()
