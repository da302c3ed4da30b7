"""Read archives without unpacking them to disk, and digest what they hold.

The kind (zip, tar.gz, tar.xz, tar) is detected from the content, never from the file name. Archives
are not trusted: names outside the folder, links, devices, encrypted or sparse members, sizes above
a limit and damaged data are one-line errors.
"""

import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import IO

from deepcac.errors import DataError

MAX_MEMBER_BYTES = 1 << 28
MAX_TOTAL_BYTES = 1 << 32
MAX_MEMBERS = 1 << 18
# What tar may spend on headers between two members: long names and extended headers are kilobytes.
HEADER_BYTES = 1 << 20
_PIECE = 1 << 20
# The others of zip (bzip2, LZMA) give whole gigabytes for a kilobyte at the first call.
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    UnicodeError,
    ValueError,
)


def kind(path: str | os.PathLike[str]) -> str:
    """Return "zip", "tar.gz", "tar.xz" or "tar", by the first bytes; any other is a `DataError`."""
    try:
        with open(path, "rb") as file:
            start = file.read(512)
    except OSError as error:
        raise DataError(f"{path}: not readable ({error.strerror})") from error
    if not start:
        raise DataError(f"{path}: the archive is empty (0 bytes); delete it and fetch it again")
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if start.startswith(b"\x1f\x8b"):
        return "tar.gz"
    if start.startswith(b"\xfd7zXZ\x00"):
        return "tar.xz"
    if start[257:262] == b"ustar":
        return "tar"
    raise DataError(f"{path}: neither zip, tar.gz, tar.xz nor tar (it starts with {start[:16]!r})")


def members(
    path: str | os.PathLike[str],
    *,
    max_member_bytes: int = MAX_MEMBER_BYTES,
    max_total_bytes: int = MAX_TOTAL_BYTES,
    max_members: int = MAX_MEMBERS,
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of an archive's files, in its order, one in memory at a time.

    Names have ``/`` and no leading ``./``; limits are in unpacked bytes, and `max_members` counts
    folders too. A `DataError`: the archive is damaged or truncated; a name is absolute, contains
    ``..`` or is repeated; a member is a link, a device, encrypted, sparse, too large or compressed
    by another method than deflate; there are too many.
    """
    read = _zip_members if kind(path) == "zip" else _tar_members
    place = f"{path}: start of the archive"
    seen: set[str] = set()
    total = 0
    try:
        for name, content in read(path, max_member_bytes, max_members):
            if name in seen:
                raise DataError(f"{path}: member {name!r} occurs twice in the archive")
            seen.add(name)
            total += len(content)
            if total > max_total_bytes:
                raise DataError(
                    f"{path}: unpacks to more than {max_total_bytes} bytes at member {name!r}"
                )
            place = f"{path}: after member {name!r}"
            yield name, content
    except DataError:
        raise
    except _DAMAGE as error:
        raise DataError(
            f"{place}: truncated or damaged ({error}); delete it and fetch it again"
        ) from error


def content_digest(path: str | os.PathLike[str], *, top: str | None = None) -> str:
    """Return a digest of the members of an archive, equal for zip, tar.gz and tar.xz of them.

    It is the hexadecimal SHA-256 of lines ``{sha256} {name}`` (two spaces, line feed at the end),
    one per member, ordered by name with folders. `top` replaces the first folder of each name (or
    is put before a name without one), for archives that differ in that folder only.
    """
    lines = []
    for name, content in members(path):
        named = name if top is None else f"{top}/{name.partition('/')[2] or name}"
        lines.append((named, hashlib.sha256(content).hexdigest()))
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(lines))
    return hashlib.sha256(text.encode()).hexdigest()


def _checked_name(path: str | os.PathLike[str], name: str) -> str:
    """Return the name; DataError if it leads outside the archive's folder."""
    parts = re.split(r"[/\\]", name)
    if not name or not parts[0] or ".." in parts or "\0" in name or PureWindowsPath(name).drive:
        raise DataError(f"{path}: refused: member name {name!r} leaves the folder of the archive")
    return name.removeprefix("./")


def _check_size(path: str | os.PathLike[str], name: str, size: int, limit: int) -> None:
    if size > limit:
        raise DataError(f"{path}: refused: member {name!r} has {size} bytes, the limit is {limit}")


def _check_number(path: str | os.PathLike[str], number: int, limit: int) -> None:
    if number > limit:
        raise DataError(f"{path}: refused: more than {limit} members")


def _zip_members(
    path: str | os.PathLike[str], max_bytes: int, max_members: int
) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents; DataError for links, encryption or too much data."""
    with zipfile.ZipFile(path) as archive:
        _check_number(path, len(archive.infolist()), max_members)
        for info in archive.infolist():
            name = _checked_name(path, info.filename)
            mode = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir():
                continue
            if mode not in (0, stat.S_IFREG):
                raise DataError(f"{path}: refused: member {name!r} is a link or a device")
            if info.flag_bits & 0x1:
                raise DataError(f"{path}: refused: member {name!r} is encrypted")
            if info.compress_type not in _ZIP_METHODS:
                how = f"packed by method {info.compress_type}, not deflate"
                raise DataError(f"{path}: refused: member {name!r} is {how}")
            _check_size(path, name, info.file_size, max_bytes)
            with archive.open(info) as file:
                yield name, _content(name, file, info.file_size)


def _content(name: str, file: IO[bytes], announced: int) -> bytes:
    """Read a member in chunks, up to its announced size; the zip module checks its CRC."""
    content = bytearray()
    while piece := file.read(_PIECE):
        content += piece
    if len(content) != announced:
        raise EOFError(f"member {name!r} has {len(content)} of {announced} bytes")
    return bytes(content)


def _tar_members(
    path: str | os.PathLike[str], max_bytes: int, max_members: int
) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents; DataError for links, devices or too much data."""
    number = 0
    with _opened(path) as stream:
        metered = _Metered(stream, path)
        with tarfile.open(fileobj=metered, mode="r|") as archive:
            while (info := archive.next()) is not None:
                number += 1
                _check_number(path, number, max_members)
                archive.members.clear()  # type: ignore[attr-defined]  # it keeps every header
                name = _checked_name(path, info.name)
                if not info.isdir():
                    if not info.isreg() or info.issparse():
                        what = "a link, a device or sparse"
                        raise DataError(f"{path}: refused: member {name!r} is {what}")
                    _check_size(path, name, info.size, max_bytes)
                    metered.quota = info.size + HEADER_BYTES
                    file = archive.extractfile(info)
                    assert file is not None  # regular files have content
                    yield name, file.read()
                metered.quota = HEADER_BYTES
        metered.finish()


def _opened(path: str | os.PathLike[str]) -> IO[bytes] | gzip.GzipFile | lzma.LZMAFile:
    match kind(path):
        case "tar.gz":
            return gzip.open(path, "rb")
        case "tar.xz":
            return lzma.open(path, "rb")
    return Path(path).open("rb")


class _Metered(io.RawIOBase):
    """A stream that raises `DataError` beyond its quota, and remembers how it ended."""

    def __init__(self, stream: io.IOBase | IO[bytes], path: str | os.PathLike[str]) -> None:
        self.stream = stream
        self.path = path
        self.quota = HEADER_BYTES
        self.tail = b""

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes; DataError beyond the quota of the current member."""
        block = self.stream.read(size)
        self.quota -= len(block)
        if self.quota < 0:
            raise DataError(
                f"{self.path}: refused: more than {HEADER_BYTES} bytes of headers or padding"
            )
        self.tail = (self.tail + block)[-tarfile.BLOCKSIZE :]
        return block

    def finish(self) -> None:
        """Read to the end, which verifies the compressed stream; a tar ends with zeros."""
        while self.read(io.DEFAULT_BUFFER_SIZE):
            pass
        if self.tail != bytes(tarfile.BLOCKSIZE):
            raise EOFError("no end-of-archive block")
