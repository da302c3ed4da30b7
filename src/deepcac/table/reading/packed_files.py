"""What a file is by its ending and first bytes; what is packed in it."""

import codecs
import gzip
import io
import zipfile
import zlib
from pathlib import PurePath
from typing import IO

from deepcac.errors import DataError
from deepcac.table.limits import check_bytes
from deepcac.table.output_files import StrPath

_BLOCK = 1 << 20
_INSIDE = "unpack it, and name what is inside"
_MACHINE = ("__MACOSX/", ".")
# What is not read, by its first bytes, and the way out.
_FOREIGN = {
    b"%PDF": "a PDF",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"<?xml": "XML",
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"<table": "a web page",
    b"<meta": "a web page",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
}
_KINDS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"$FL2": ".sav",
    b"$FL3": ".sav",
    b"<stata_dta>": ".dta",
    b"HEADER RECORD": ".xpt",
    b"PK\x03\x04": ".zip",
    b"\x1f\x8b": ".gz",
}
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_R_DATA = (b"RDX", b"RDA", b"X\n\x00\x00")
_R = (".rds", ".rda", ".rdata")
_WAY_OUT = "save the table as CSV or parquet"


class Packed:
    """A file, or what is packed in one.

    Attributes
    ----------
    name : str
        Of the table inside, for its ending.
    kind : str
        Ending that says how it is read.
    """

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
                return ".xlsx" if kind == ".zip" and _is_workbook(self) else kind
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
        if kind in _OFFICE:
            self._check_parts()
        return self

    def _check_parts(self) -> None:
        """Refuse a workbook that is small only because it is packed."""
        try:
            with self.open() as raw, zipfile.ZipFile(raw) as archive:
                size = sum(part.file_size for part in archive.infolist())
        except (zipfile.BadZipFile, OSError):
            return  # its reader refuses it
        check_bytes(self.path, size, "save the sheet as CSV")


def _is_workbook(packed: Packed) -> bool:
    try:
        with packed.open() as raw, zipfile.ZipFile(raw) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


_OFFICE = (".xlsx", ".xlsm", ".ods", ".docx")


def _gunzipped(packed: Packed) -> bytes:
    try:
        with packed.open() as raw, gzip.open(raw) as inside:
            size = 0
            while block := inside.read(_BLOCK):  # counted before any of it is kept
                size += len(block)
                check_bytes(packed.path, size, _INSIDE)
            inside.seek(0)
            return inside.read()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{packed.path}: not readable as gzip; is it whole?") from error


def _only_member(packed: Packed) -> Packed:
    try:
        with packed.open() as raw, zipfile.ZipFile(raw) as archive:
            members = [
                member
                for member in archive.infolist()
                if not member.is_dir() and not PurePath(member.filename).name.startswith(_MACHINE)
                and not member.filename.startswith(_MACHINE)
            ]  # fmt: skip
            if len(members) != 1:
                shown = ", ".join(repr(member.filename) for member in members[:5])
                raise DataError(
                    f"{packed.path}: holds {len(members)} files ({shown}); unpack it, and name one"
                )
            check_bytes(packed.path, members[0].file_size, _INSIDE)
            content = archive.read(members[0])  # no more than this size
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, zlib.error) as error:
        raise DataError(f"{packed.path}: not readable as zip; is it whole, or locked?") from error
    return Packed(packed.path, members[0].filename, content)
