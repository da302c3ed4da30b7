"""What a file is by its ending and first bytes; what is packed in it."""

import codecs
import gzip
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO

from deepcac.errors import DataError
from deepcac.files.limits import check_bytes
from deepcac.files.output_files import StrPath

_BLOCK = 1 << 20
_INSIDE = "unpack it, and name what is inside"
_MACHINE = ("__MACOSX/", ".")
# What is not read, by its first bytes, and the way out.
_FOREIGN = {
    b"%PDF": "a PDF",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"<?xml": "XML",
    **dict.fromkeys((b"<!doctype", b"<html", b"<table", b"<meta"), "a web page"),
    **dict.fromkeys((b"\x80\x04", b"\x80\x05"), "a Python pickle"),
}
_KINDS = {
    b"PAR1": ".parquet", b"ARROW1": ".feather", b"$FL2": ".sav", b"$FL3": ".sav",
    b"<stata_dta>": ".dta", b"HEADER RECORD": ".xpt", b"PK\x03\x04": ".zip", b"\x1f\x8b": ".gz",
}  # fmt: skip
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_R_DATA = (b"RDX", b"RDA", b"X\n\x00\x00")
_R = (".rds", ".rda", ".rdata")
_OFFICE = (".xlsx", ".xlsm", ".ods", ".docx")
_WAY_OUT = "save the table as CSV or parquet"


@contextmanager
def damage_as_data_error(path: StrPath, what: str) -> Iterator[None]:
    """Re-raise errors from reading a file, except MemoryError, as a one-line `DataError`."""
    try:
        yield
    except MemoryError:
        raise
    except ImportError as error:
        raise DataError(
            f"{path}: reading it needs another package ({error}): install it, or {_WAY_OUT}"
        ) from error
    except DataError as error:
        raise DataError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise DataError(f"{path}: not readable as {what} ({line})") from error


class Packed:
    """A file, or the content of one that is packed, with the name that it has inside."""

    def __init__(self, path: StrPath, name: str, content: bytes | None = None) -> None:
        self.path, self.name = path, name
        self._content = content

    @property
    def kind(self) -> str:
        """Ending, or what the first bytes say."""
        with self.open() as raw:
            first = raw.read(64)
        ending = PurePath(self.name).suffix.lower()
        if ending == ".xlsb":
            raise DataError(f"{self.path}: is a binary workbook; {_WAY_OUT}")
        for magic, kind in _KINDS.items():
            # A spreadsheet is a zip file too, whatever its name ends in.
            if first.startswith(magic) and not (kind == ".zip" and ending in _OFFICE):
                names = [part.filename for part in self.parts()] if kind == ".zip" else []
                return ".xlsx" if "xl/workbook.xml" in names else kind
        if ending in _R or first.startswith(_R_DATA):
            raise DataError(f"{self.path}: is R data; in R, write.csv(x, file, row.names = FALSE)")
        if first.startswith(_OLD_OFFICE) and ending != ".xls":
            locked = "locked by a password, or " if ending in _OFFICE else ""
            raise DataError(f"{self.path}: is {locked}an old Office file; {_WAY_OUT}")
        bare = first.removeprefix(codecs.BOM_UTF8).lstrip().lower()
        for magic, what in _FOREIGN.items():
            if bare.startswith(magic.lower()):
                raise DataError(f"{self.path}: is {what}; {_WAY_OUT}")
        # Some programs give text this ending.
        return ".txt" if ending == ".xls" and b"\0" not in first else ending

    def open(self) -> IO[bytes]:
        """Open the bytes."""
        return open(self.path, "rb") if self._content is None else io.BytesIO(self._content)

    @property
    def source(self) -> StrPath | IO[bytes]:
        """What a reader is given: the path, or the bytes."""
        return self.path if self._content is None else self.open()

    def unpacked(self) -> "Packed":
        """Return the table inside, if it is packed; a `DataError` for several files."""
        kind = self.kind
        if kind == ".gz":
            return Packed(self.path, PurePath(self.name).stem, _gunzipped(self)).unpacked()
        if kind == ".zip":
            return _only_member(self).unpacked()
        if kind in _OFFICE and (parts := self.parts()):  # it may be small only because it is packed
            check_bytes(self.path, sum(part.file_size for part in parts), "save the sheet as CSV")
        return self

    def parts(self) -> list[zipfile.ZipInfo]:
        """Return what is in a zip file; nothing of a damaged one, which its reader refuses."""
        try:
            with self.open() as raw, zipfile.ZipFile(raw) as archive:
                return archive.infolist()
        except (zipfile.BadZipFile, OSError):
            return []


def _gunzipped(packed: Packed) -> bytes:
    with damage_as_data_error(packed.path, "gzip"), packed.open() as raw, gzip.open(raw) as inside:
        size = 0
        while block := inside.read(_BLOCK):  # counted before any of it is kept
            size += len(block)
            check_bytes(packed.path, size, _INSIDE)
        inside.seek(0)
        return inside.read()


def _only_member(packed: Packed) -> Packed:
    with (
        damage_as_data_error(packed.path, "zip"),
        packed.open() as raw,
        zipfile.ZipFile(raw) as archive,
    ):
        names = [
            name for name in archive.namelist()
            if not name.endswith("/") and not name.startswith(_MACHINE)
            and not PurePath(name).name.startswith(_MACHINE)
        ]  # fmt: skip
        if len(names) != 1:
            shown = ", ".join(map(repr, names[:5]))
            raise DataError(f"holds {len(names)} files ({shown}); unpack it, and name one")
        check_bytes(packed.path, archive.getinfo(names[0]).file_size, _INSIDE)
        return Packed(packed.path, names[0], archive.read(names[0]))  # no more than this size
