"""`make clean`: delete the files that rules can make again, and none of the user's.

python -m deepcac_study.jobs.clearing
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from deepcac.errors import one_line_errors
from deepcac_study.catalogue.registry import DEMO, Registry, load_registry, registry_folder
from deepcac_study.jobs.layout import Layout

_FOLDERS = (
    "logs",
    ".snakemake",
    "data/tidy",
    "data/cohorts",
    "data/clusterings",
    "data/pretrained",
)
_RESULTS, _TRACKED = "results", "README.md"
_CELLS = "synthetic_cac_*.parquet"  # of the synthetic grid
_HALF = ".*.partial"


def clear(root: str | os.PathLike[str], registry: Registry) -> None:
    """Delete the files in a project's folder that rules can make again.

    Raw files of restricted sources and those without an address stay, and so does every feature
    file of a data set that the registry does not know how to make.
    """
    folder = Path(root)
    for name in _FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in (
        *_results(folder / _RESULTS),
        *_raw(folder / "data/raw", registry),
        *_tables(folder / "data", registry),
    ):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for source in registry.sources:
        with suppress(OSError):  # not empty: a user's file is there
            (folder / "data/raw" / source).rmdir()


def _results(folder: Path) -> Iterator[Path]:
    """Yield all files and folders in the results, except the tracked page about them."""
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.name != _TRACKED)


def _raw(folder: Path, registry: Registry) -> Iterator[Path]:
    """Yield the raw files that can be fetched again, and the folders of generated ones."""
    for source in registry.sources.values():
        if source.simulate:
            yield folder / f"{DEMO}{source.id}"
        for name, file in source.files.items():
            if not source.closed and (file.url or file.package):
                yield folder / source.id / name


def _tables(folder: Path, registry: Registry) -> Iterator[Path]:
    """Yield the feature files that rules make, all splits, and partial files."""
    layout = Layout(registry, {})
    for name, entry in registry.datasets.items():
        for dataset in (name, DEMO + name) if entry.features else ():
            pairs = layout.pair_files(dataset) if entry.pairwise else []
            for file in (f"{dataset}.parquet", *pairs):
                yield from (folder / "features").rglob(Path(file).name)
    yield from (folder / "features").glob(_CELLS)
    yield from (folder / "splits").rglob("*.parquet")
    for name in ("features", "splits"):
        yield from (folder / name).rglob(_HALF)


def main() -> None:
    """Clear the folder that this runs in."""
    clear(".", load_registry(registry_folder("."), private=False))


if __name__ == "__main__":
    with one_line_errors():
        main()
