"""The run record: one JSON per run with its whole configuration, and the scores of every row.

Everything in a record but the ``machine`` block is reproducible; ``digest`` is that of this part,
so two records of one run can be compared by it.
"""

import hashlib
import json
import math
import os
import platform
import resource
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepcac.errors import DataError
from deepcac.files.storage import content_digest, read_json, write_json, write_table
from deepcac_study.records.commits import code_commit
from deepcac_study.sourcecode import LIBRARIES, versions

# The workflow looks at records where there is only Snakemake, and checks none with jsonschema.
if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from deepcac.task import Fitted, Task

_LIBRARIES = ("deepcac", "pyarrow", *LIBRARIES)


@cache
def schema() -> dict[str, Any]:
    """Return the JSON schema of a run record."""
    text = (resources.files("deepcac_study.records") / "run.schema.json").read_text(
        encoding="utf-8"
    )
    return json.loads(text)


@cache
def _validator() -> Any:
    """Return the validator of records; cached, because creating it checks the schema too."""
    from jsonschema.validators import validator_for

    kind = validator_for(schema())
    kind.check_schema(schema())
    return kind(schema())


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the sha256 of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def machine(seconds: dict[str, float], threads: int, device: str) -> dict[str, Any]:
    """Return the ``machine`` block of a record, the only part that varies between repeats."""
    return {
        "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "threads": threads,
        "device": device,
        "processor": processor(),
        "python": platform.python_version(),
        "versions": versions(_LIBRARIES),
        "git_commit": code_commit(),
    }


def processor(info: Path = Path("/proc/cpuinfo")) -> str:
    """Return the name of the processor, since results of networks depend on its kind."""
    if not info.exists():
        return platform.processor() or platform.machine()
    first = info.read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    name = fields.get("model name", platform.machine())
    kind = [f"{key} {fields[key]}" for key in ("cpu family", "model") if key in fields]
    return ", ".join([name, *kind])


def summarise(splits: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return mean and sd (over n - 1) of every metric that all splits have."""
    import numpy as np

    summary = {}
    for name in splits[0]["metrics"]:
        values = [split["metrics"].get(name) for split in splits]
        if None not in values:
            sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            summary[name] = {"mean": float(np.mean(values)), "sd": sd}
    return summary


def write_record(path: str | os.PathLike[str], record: dict[str, Any]) -> None:
    """Add the digest, validate and write a run record."""
    whole = {**record, "digest": content_digest(record)}
    _validator().validate(whole)
    write_json(path, whole)


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read and validate a run record; an invalid, edited or inconsistent one is a `DataError`."""
    from jsonschema import ValidationError

    record = read_json(path)
    try:
        _validator().validate(record)
    except ValidationError as error:
        raise DataError(f"{path}: not a run record ({error.message}); run it again") from error
    stored, computed = record["summary"], summarise(record["splits"])
    if stored.keys() != computed.keys() or not all(
        _close(stored[name], computed[name]) for name in stored
    ):
        raise DataError(f"{path}: its summary is not that of its splits; run it again")
    return record


def _close(stored: dict[str, float], computed: dict[str, float]) -> bool:
    """Return whether mean and sd agree to rounding."""
    return all(
        math.isclose(stored[x], computed[x], rel_tol=1e-9, abs_tol=1e-12) for x in ("mean", "sd")
    )


def scores_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the per-row scores of the record at `path`."""
    return Path(path).with_suffix(".scores.parquet")


def answers_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the probabilities that the trials of the record at `path` predict."""
    return Path(path).with_suffix(".parquet")


def row_scores(row_id: "np.ndarray", task: "Task", fitted: "Fitted") -> "pa.Table":
    """Tabulate the test rows of one split: ids, label, prediction, cluster, probabilities."""
    import numpy as np
    import pyarrow as pa

    n = len(row_id)
    columns = {
        "row_id": pa.array(row_id, pa.int64()),
        "seed": pa.array(np.full(n, task.seed), pa.int32()),
        "label": pa.array(task.y_test, pa.int8()),
        "predicted": pa.array(fitted.predicted, pa.int8()),
        "cluster": pa.array(fitted.cluster, pa.int16()),
    }
    for c in range(task.n_classes):
        columns[f"p_{c}"] = pa.array(fitted.probability[:, c], pa.float64())
    return pa.table(columns)


def write_scores(path: str | os.PathLike[str], parts: list["pa.Table"]) -> None:
    """Write the per-row scores of all splits next to the record at `path`."""
    import pyarrow as pa

    write_table(scores_path(path), pa.concat_tables(parts))
