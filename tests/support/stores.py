"""DVC remotes for tests: a folder, and a stand-in for S3 on loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

DVC = [sys.executable, "-m", "dvc"]


@pytest.fixture
def bucket(monkeypatch) -> Iterator[str]:
    """Start a stand-in for S3 and give the address of a new bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "test",
        "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "test",
        "SNAKEMAKE_STORAGE_S3_ENDPOINT_URL": endpoint,
    }.items():
        monkeypatch.setenv(name, value)
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _bucket(endpoint)
    finally:
        server.terminate()
        server.wait()


def _bucket(endpoint: str) -> str:
    import boto3
    from botocore.exceptions import EndpointConnectionError

    client = boto3.client("s3", endpoint_url=endpoint)
    deadline = time.monotonic() + 60
    while True:
        try:
            client.create_bucket(Bucket="features")
            return "s3://features/store"
        except EndpointConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def connect(folder: Path, store: str) -> None:
    """Make a store the default remote of a git and DVC project in a folder."""
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    lines = ["[core]", "remote = store", "['remote \"store\"']", f"url = {store}"]
    if store.startswith("s3:"):
        lines += [f"endpointurl = {os.environ['AWS_ENDPOINT_URL']}"]
    (folder / ".dvc" / "config.local").write_text("\n".join(lines) + "\n")
