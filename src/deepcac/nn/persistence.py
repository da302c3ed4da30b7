"""Tensors as one safetensors file with JSON in its header; never a pickle."""

import hashlib
import json
import os
from typing import Any

from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from deepcac.files.atomic import atomic_path
from deepcac.files.saved_models import MOST_TEXT, check_size, reading

# One key only: the library writes several in no fixed order, and files must be the same bytes.
KEY = "deepcac"
DIGEST = "sha256"


def write_tensors(
    path: str | os.PathLike[str], tensors: dict[str, Tensor], header: dict[str, Any]
) -> None:
    """Write named tensors and a JSON header."""
    ready = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    whole = header | {DIGEST: _digest(header, ready)}
    with atomic_path(path) as partial:
        partial.write_bytes(save(ready, metadata={KEY: json.dumps(whole, sort_keys=True)}))


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the header and the tensors of a file of `write_tensors`; check their digest."""
    check_size(path)
    with reading(path):
        with open(path, "rb") as raw:
            length = int.from_bytes(raw.read(8), "little")
        if length > MOST_TEXT:
            raise ValueError(f"a header of {length:,} bytes, of {MOST_TEXT:,} at most")
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if header.pop(DIGEST) != _digest(header, tensors):
            raise ValueError("its digest does not hold")
        return header, tensors


def _digest(header: dict[str, Any], tensors: dict[str, Tensor]) -> str:
    """Return the SHA-256 of header and tensors, since safetensors has no checksum."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
