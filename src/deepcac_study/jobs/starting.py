"""Checks before the workflow starts: writable folders, data and buckets that are available."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from deepcac.errors import ConfigError
from deepcac.files.atomic import check_writable
from deepcac_study.catalogue.config import check_config
from deepcac_study.catalogue.registry import Registry, load_registry
from deepcac_study.jobs.sharing import for_bucket

# Where jobs write, with the folders in these.
_WRITTEN = ("results", "logs", "data", ".snakemake")
_PATIENCE = 5.0  # seconds for a connection to a bucket
_AMAZON = "https://s3.amazonaws.com"
_PORTS = {"http": 80, "https": 443}


def open_registry(
    folder: str | os.PathLike[str], config: dict[str, Any], *, bucket: bool
) -> Registry:
    """Return the registry; a configuration that does not fit it is a `ConfigError`.

    Where every output goes to a bucket, it lacks restricted sources and the user's tables.
    """
    try:
        registry = load_registry(folder, private=not bucket)
        if bucket:
            registry = for_bucket(registry, config.get("restricted") or {})
        check_config(config, registry)
    except ConfigError as error:
        where = " (private and restricted data never go to a bucket)" if bucket else ""
        raise ConfigError(f"{error}{where}") from None
    return registry


def check_start(config: Mapping[str, Any], bucket: bool) -> None:
    """Raise `ConfigError` for missing or read-only folders, or a bucket that does not respond."""
    check_folders(".")
    check_restricted(config["restricted"])
    if bucket:  # Snakemake would try for minutes
        check_bucket(os.environ.get("SNAKEMAKE_STORAGE_S3_ENDPOINT_URL"))


def check_folders(root: str | os.PathLike[str]) -> None:
    """Raise `ConfigError` if a folder of the run is not writable."""
    places = [Path(root) / name for name in _WRITTEN]
    inside = [path for place in places if place.is_dir() for path in place.iterdir()]
    for folder in (Path(root), *places, *inside):
        if folder.is_dir():
            check_writable(folder)


def check_restricted(folders: Mapping[str, str | None]) -> None:
    """Raise `ConfigError` if the folder of a restricted source does not exist."""
    for source, folder in folders.items():
        if folder is not None and not Path(folder).is_dir():
            raise ConfigError(
                f"restricted: {source}: folder {folder} does not exist; name the folder that holds "
                f"its files, or leave its data out with {{{source}: null}}"
            )


def check_bucket(address: str | None, environ: Mapping[str, str] = os.environ) -> None:
    """Raise `ConfigError` if the object store at an address does not respond.

    The default is the address in the environment, else Amazon's. Behind a proxy it is not checked.
    """
    named = (environ.get(name) for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
    address = address or next(filter(None, named), _AMAZON)
    parts = urlsplit(address)
    if parts.scheme in getproxies() and not proxy_bypass(parts.hostname or ""):
        return
    port = parts.port or _PORTS.get(parts.scheme, 443)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE).close()
    except OSError as error:
        raise ConfigError(
            f"bucket: no answer from {address} ({error}); mend the network, or name another "
            "address with --storage-s3-endpoint-url"
        ) from None
