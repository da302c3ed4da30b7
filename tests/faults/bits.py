"""One flipped bit in every kind of file that a run leaves for a later step."""

import hashlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from project import Row

from deepcac.errors import DeepCACError
from deepcac.files.storage import content_digest as content_digest_of
from deepcac.files.storage import read_json, read_table
from deepcac_study.catalogue.entries import RawFile, Source
from deepcac_study.catalogue.registry import Registry
from deepcac_study.raw.archive import content_digest
from deepcac_study.raw.fetch import check_raw
from deepcac_study.records.record import read_record
from deepcac_study.records.runs import load

Reader = Callable[[Path], Any]


def flips(folder: Path, number: int) -> list[Row]:
    """Flip `number` bits, one at a time, in each kind of file of a finished run.

    A flip counts as the same where the reader gives what it gave before, as one clear line where
    it refuses with an error of the project, and as neither where it gives something else.
    """
    return [
        _row(f"flipped bit: {kind}", path, read, number)
        for kind, (path, read) in _kinds(folder).items()
    ]


def _kinds(folder: Path) -> dict[str, tuple[Path, Reader]]:
    run = folder / "results" / "demo_diabetes" / "cac_lr_k2.json"
    raw = next((folder / "data" / "raw" / "demo_uci_diabetes").glob("*.archive"))
    kinds: dict[str, tuple[Path, Reader]] = {
        "raw archive": (raw, _raw_reader(folder, raw)),
        "tidy table": (next((folder / "data" / "tidy").rglob("*.parquet")), _table),
        "features": (folder / "data" / "features" / "demo_diabetes.parquet", _table),
        "splits": (folder / "data" / "splits" / "demo_diabetes.parquet", _table),
        "run record": (run, lambda path: content_digest_of(read_record(path))),
        "scores": (run.with_suffix(".scores.parquet"), _scores),
        "cohort flow": (next((folder / "data" / "cohorts").glob("*.json")), read_json),
    }
    return kinds | _autoencoder(folder)


def _autoencoder(folder: Path) -> dict[str, tuple[Path, Reader]]:
    """Write a small model file as the pre-training does, where torch is installed."""
    try:
        import torch

        from deepcac.nn.persistence import read_tensors, write_tensors
    except ImportError:
        return {}
    path = folder / "model.safetensors"
    write_tensors(path, {"weight": torch.arange(64.0).reshape(8, 8)}, {"estimator": "Toy"})

    def read(own: Path) -> Any:
        header, tensors = read_tensors(own)
        return header, {name: tensor.tolist() for name, tensor in tensors.items()}

    return {"autoencoder": (path, read)}


def _table(path: Path) -> Any:
    table = read_table(path)
    # Text, so that NaN equals NaN and a column's name counts.
    return hashlib.sha256(f"{table.schema.remove_metadata()}{table.to_pydict()}".encode()).digest()


def _scores(path: Path) -> Any:
    record = path.with_name(path.name.removesuffix(".scores.parquet") + ".json")
    (run,) = load([record], path.parent)
    return run.scores(["row_id", "seed", "label", "predicted", "p_1"]).to_pydict()


def _raw_reader(folder: Path, raw: Path) -> Reader:
    """Read as the extract steps read open sources: only what the registry's digest allows."""
    own = {"source": "letters", "name": raw.name, "path": raw.name}
    file = RawFile(**own, content_sha256=content_digest(raw))
    source = Source.model_construct(id="letters", restricted=False, files={raw.name: file})
    registry = Registry({"letters": source})
    place = folder / "letters" / raw.name
    place.parent.mkdir(exist_ok=True)

    def read(path: Path) -> None:
        shutil.copy(path, place)
        check_raw(registry, [place])

    return read


def _row(fault: str, path: Path, read: Reader, number: int) -> Row:
    whole, expected = path.read_bytes(), read(path)
    draw = random.Random(0)
    same = refused = 0
    try:
        for _ in range(number):
            bit = draw.randrange(8 * len(whole))
            content = bytearray(whole)
            content[bit // 8] ^= 1 << bit % 8
            path.write_bytes(content)
            try:
                same += read(path) == expected
            except DeepCACError as error:
                refused += "\n" not in str(error)
            except Exception as error:
                print(f"{fault}: bit {bit}: {error!r}"[:200])
    finally:
        path.write_bytes(whole)
    how = f"{len(whole):,} bytes; a bit that no value depends on leaves the same"
    return Row(fault, number, same, refused, how)
