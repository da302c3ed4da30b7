"""Whether two clinical answers rest on columns that know too much, or hold a code as a number.

Seen after the runs (docs/archive/judge-plan.md): `das2d3pc` of `rhc` is filled in for those who
could not be asked on day 3; a weight of 0 there means "not taken"; `nhefs` has measurements of 1982
and codes 2 for a missing answer. The planned features stand; these are the same runs without that.

    python benchmarks/clinical_features.py features data/features   # of a clone: writes over them
    snakemake --cores 2 --rerun-triggers mtime -- results/judge/clinical/{rhc,nhefs}/...
    python benchmarks/clinical_features.py table PLANNED CORRECTED OUT.csv

`PLANNED` and `CORRECTED` are folders results/judge/clinical, the first with all tasks.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from deepcac.feature_matrix import read_features, write_features
from deepcac.judging.questions import BENT, FORCED, HELP, RANDOM
from deepcac_study.catalogue.judge_plan import Clinical
from deepcac_study.judge.clinical_tasks import POOLED, VERDICTS, clinical_tables
from deepcac_study.judge.judgement_files import read_records

STRICT = 0.005
ASKED = [question.id for question in (HELP, FORCED, RANDOM, BENT)]
TOGETHER = {"dataset": "pooled over cohorts", "verdict": ""}
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


def judged(planned: Path, corrected: Path | None = None) -> pd.DataFrame:
    """Return the verdicts of both data sets and the pooled estimates, from all clinical tasks.

    Families have all tasks, as in the plan: Holm's correction is over 19 tests, not over two.
    """
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["judge"]
    paths = {path.relative_to(planned): path for path in planned.glob("*/*.json")}
    if corrected:
        again = [path for dataset in DROPPED for path in (corrected / dataset).glob("*.json")]
        paths |= {path.relative_to(corrected): path for path in again}
    records = read_records(paths[name] for name in sorted(paths))
    plan = Clinical.model_validate(config["clinical"])
    tables = clinical_tables(records, plan, STRICT)
    pooled = tables[POOLED].query("floor and pooling == 'cohort'").assign(**TOGETHER)
    single = tables[VERDICTS].query("dataset in @DROPPED")
    rows = pd.concat([single, pooled]).astype({"low": float, "high": float})
    return rows.loc[(rows["alpha"] == "") & rows["question"].isin(ASKED), [*PAIR, *SHOWN]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["features", "table"])
    parser.add_argument("paths", nargs="+", type=Path)
    given = parser.parse_args()
    if given.what == "features":
        correct_features(*given.paths)
        return
    planned, corrected, out = given.paths
    sides = [judged(planned), judged(planned, corrected)]
    both = sides[0].merge(sides[1], on=PAIR, suffixes=("_planned", "_corrected"), validate="1:1")
    both.round(4).to_csv(out, index=False, lineterminator="\n")
    changed = int((both["verdict_planned"] != both["verdict_corrected"]).sum())
    print(f"{changed} of {int((both['verdict_planned'] != '').sum())} verdicts differ")


if __name__ == "__main__":
    main()
