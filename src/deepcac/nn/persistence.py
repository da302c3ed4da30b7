"""Tensors as one safetensors file with JSON in its header; never a pickle."""

import json
import os
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from deepcac.errors import DataError
from deepcac.storage import atomic_path

# One key only: the library writes several in no fixed order, and files must be the same bytes.
KEY = "deepcac"


def write_tensors(
    path: str | os.PathLike[str], tensors: dict[str, Tensor], header: dict[str, Any]
) -> None:
    """Write named tensors and a JSON header."""
    ready = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with atomic_path(path) as partial:
        partial.write_bytes(save(ready, metadata={KEY: json.dumps(header, sort_keys=True)}))


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the header and the tensors of a file of `write_tensors`."""
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise DataError(f"{path}: not a readable model file ({error}); build it again") from error
    return header, tensors
