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
import yaml

from deepcac.feature_matrix import read_features, write_features
from deepcac.judging.questions import BENT, FORCED, HELP, RANDOM
from deepcac.judging.resample_scores import resample_scores
from deepcac_study.judge.clinical_tasks import MARGINS, clinical_verdicts, pooled
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
PAIR = ["dataset", "metric", "question", "contender", "reference"]
SHOWN = ["verdict", "mean", "low", "high"]
ROOT = Path(__file__).parents[1]


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
    """Return the verdicts of both data sets."""
    paths = [path for dataset in DROPPED for path in sorted((folder / dataset).glob("*.json"))]
    table = clinical_verdicts(resample_scores(read_records(paths), [*MARGINS]), STRICT)
    return table.fillna({"alpha": ""}).astype({"low": float, "high": float})


def pooled_with(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Pool the verdicts that ship over cohorts, with others of both data sets in their place."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["judge"]["clinical"]
    shipped = pd.read_csv(ROOT / "docs" / "results" / "clinical_verdicts.csv")
    others = shipped[~shipped["dataset"].isin([*DROPPED, *config["apart"]])]
    table = pd.concat([others.fillna({"alpha": ""}), verdicts])
    estimates = pooled(table, config["cohorts"], floor=True)
    chosen = estimates[estimates["alpha"] == ""]
    return chosen.assign(dataset="pooled over cohorts", verdict="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["features", "table"])
    parser.add_argument("paths", nargs="+", type=Path)
    given = parser.parse_args()
    if given.what == "features":
        correct_features(*given.paths)
        return
    planned, corrected, out = given.paths
    asked = [HELP.id, FORCED.id, RANDOM.id, BENT.id]
    sides = []
    for verdicts in map(verdicts_of, (planned, corrected)):
        rows = pd.concat([verdicts[verdicts["alpha"] == ""], pooled_with(verdicts)])
        sides.append(rows.loc[rows["question"].isin(asked), [*PAIR, *SHOWN]])
    both = sides[0].merge(sides[1], on=PAIR, suffixes=("_planned", "_corrected"), validate="1:1")
    both.round(4).to_csv(out, index=False, lineterminator="\n")
    changed = int((both["verdict_planned"] != both["verdict_corrected"]).sum())
    print(f"{changed} of {int((both['verdict_planned'] != '').sum())} verdicts differ")


if __name__ == "__main__":
    main()
