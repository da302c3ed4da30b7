"""Model files: the same bytes each time, and no flipped bit gets through."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac.nn.persistence import read_tensors, write_tensors

TENSORS = {"weight": torch.arange(12.0).reshape(3, 4), "count": torch.tensor([1, 2])}


def test_what_is_written_is_read_and_repeats(tmp_path):
    for name in ("a", "b"):
        write_tensors(tmp_path / name, TENSORS, {"estimator": "Toy"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    header, tensors = read_tensors(tmp_path / "a")
    assert header == {"estimator": "Toy"}
    assert {name: each.tolist() for name, each in tensors.items()} == {
        name: each.tolist() for name, each in TENSORS.items()
    }


@settings(max_examples=150, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_refused(tmp_path_factory, place, bit):
    path = tmp_path_factory.mktemp("flip") / "m.safetensors"
    write_tensors(path, TENSORS, {"estimator": "Toy"})
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(DataError, match="m.safetensors: ") as caught:
        read_tensors(path)
    assert "\n" not in str(caught.value)
