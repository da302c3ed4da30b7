"""Archives: the same members whatever the packing, and nothing hostile or damaged gets through."""

import gzip
import hashlib
import io
import lzma
import os
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac_study.raw.archive import content_digest, kind, members

KINDS = ("zip", "tar", "tar.gz", "tar.xz")
FILES = {"set-a/2.txt": b"two\n", "set-a/1.txt": b"one\n", "set-a/sub/3.txt": b""}


def tar_bytes(files: dict[str, bytes], *extra: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        folder = tarfile.TarInfo("set-a")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for info in extra:
            tar.addfile(info)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def pack(path: Path, form: str, files: dict[str, bytes] = FILES) -> Path:
    if form == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        press = {"tar": bytes, "tar.gz": gzip.compress, "tar.xz": lzma.compress}[form]
        path.write_bytes(press(tar_bytes(files)))
    return path


@pytest.fixture(params=KINDS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_members_come_in_archive_order_whatever_the_packing_and_the_name(tmp_path, form):
    path = pack(tmp_path / "set-a.archive", form)
    assert kind(path) == form
    assert list(members(path)) == list(FILES.items())


def test_digest_is_that_of_the_sorted_lines(tmp_path, form):
    lines = [
        f"{hashlib.sha256(FILES[name]).hexdigest()}  {name}\n"
        for name in ("set-a/1.txt", "set-a/2.txt", "set-a/sub/3.txt")
    ]
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert content_digest(pack(tmp_path / "x", form)) == expected


def test_digest_with_another_top_folder(tmp_path):
    official = {name.replace("set-a/", "training/"): text for name, text in FILES.items()}
    digest = content_digest(pack(tmp_path / "a", "tar"))
    path = pack(tmp_path / "b", "zip", official)
    assert content_digest(path) != digest
    assert content_digest(path, top="set-a") == digest


def test_leading_dot_folder_is_no_difference(tmp_path, form):
    dotted = {f"./{name}": text for name, text in FILES.items()}
    assert list(members(pack(tmp_path / "x", form, dotted))) == list(FILES.items())


NAMES = st.from_regex(r"[a-z0-9^_-]{1,8}(/[a-z0-9^_-]{1,8}){0,3}\.txt", fullmatch=True)


@settings(max_examples=40, deadline=None)
@given(
    files=st.dictionaries(NAMES, st.binary(max_size=2000), min_size=1), form=st.sampled_from(KINDS)
)
def test_round_trip(tmp_path_factory, files, form):
    path = pack(tmp_path_factory.mktemp("round") / "x", form, files)
    assert list(members(path)) == list(files.items())


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "C:/evil", "a\\..\\b"])
def test_names_that_leave_the_folder_are_refused(tmp_path, form, name):
    path = pack(tmp_path / "x", form, {"set-a/1.txt": b"1", name: b"2"})
    with pytest.raises(DataError, match="leaves the folder") as caught:
        list(members(path))
    assert str(path) in str(caught.value)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    "type_", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_tar_are_refused(tmp_path, type_):
    info = tarfile.TarInfo("set-a/odd")
    info.type, info.linkname = type_, "/etc/passwd"
    (tmp_path / "x").write_bytes(tar_bytes(FILES, info))
    with pytest.raises(DataError, match="'set-a/odd' .*link"):
        list(members(tmp_path / "x"))


def test_symbolic_link_in_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        info = zipfile.ZipInfo("odd")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DataError, match="'odd' .*link"):
        list(members(tmp_path / "x"))


def test_encrypted_zip_member_is_refused(tmp_path):
    path = pack(tmp_path / "x", "zip", {"a.txt": b"secret"})
    packed = bytearray(path.read_bytes())
    packed[packed.index(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    path.write_bytes(packed)
    with pytest.raises(DataError, match=r"'a\.txt' is encrypted"):
        list(members(path))


def test_limits(tmp_path, form):
    path = pack(tmp_path / "x", form, {"a.txt": bytes(5000), "b.txt": bytes(5000)})
    assert len(list(members(path, max_member_bytes=5000, max_total_bytes=10_000))) == 2
    with pytest.raises(DataError, match=r"'a\.txt' .*5000 bytes, .*4999"):
        list(members(path, max_member_bytes=4999))
    with pytest.raises(DataError, match=r"9999 bytes .*'b\.txt'"):
        list(members(path, max_total_bytes=9999))


def test_the_number_of_members_is_bounded(tmp_path, form):
    path = pack(tmp_path / "x", form, {f"{i}.txt": b"" for i in range(10)})
    room = 10 + (form != "zip")  # the tar files hold a folder as well
    assert len(list(members(path, max_members=room))) == 10
    with pytest.raises(DataError, match=f"refused: more than {room - 1} members"):
        list(members(path, max_members=room - 1))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_small_zip_does_not_take_gigabytes(tmp_path, method):
    """Bzip2 and LZMA unpack all that they are given at once, whatever the size asked for."""
    with zipfile.ZipFile(tmp_path / "x", "w", method) as archive:
        archive.writestr("bomb.txt", bytes(1 << 26))
    assert (tmp_path / "x").stat().st_size < 20_000
    with pytest.raises(DataError, match=r"'bomb\.txt' .*not deflate"):
        list(members(tmp_path / "x"))


def test_a_deflated_member_stops_at_its_announced_size(tmp_path):
    """The peak is that of the announced size, not of what the stream holds."""
    path = pack(tmp_path / "x", "zip", {"bomb.txt": bytes(1 << 26)})
    packed = path.read_bytes().replace((1 << 26).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(packed)
    tracemalloc.start()
    with pytest.raises(DataError, match="truncated or damaged"):
        list(members(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 23


def test_zip_member_that_is_larger_than_it_says_is_refused(tmp_path):
    path = pack(tmp_path / "x", "zip", {"bomb.txt": bytes(100_000)})
    packed = path.read_bytes().replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(packed)
    with pytest.raises(DataError, match="truncated or damaged"):
        list(members(path, max_member_bytes=1000))


@pytest.mark.parametrize("press", [gzip.compress, lzma.compress])
def test_header_bomb_is_refused_before_it_is_in_memory(tmp_path, press):
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    (tmp_path / "x").write_bytes(press(info.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 22)))
    with pytest.raises(DataError, match="headers or padding"):
        list(members(tmp_path / "x"))


def test_endless_padding_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(gzip.compress(tar_bytes(FILES) + bytes(1 << 22)))
    with pytest.raises(DataError, match="headers or padding"):
        list(members(tmp_path / "x"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        archive.writestr("a.txt", "1")
        archive.writestr("a.txt", "2")
    with pytest.raises(DataError, match=r"'a\.txt' occurs twice"):
        list(members(tmp_path / "x"))


@settings(max_examples=60, deadline=None)
@given(form=st.sampled_from(KINDS), share=st.floats(0, 1, exclude_max=True))
def test_no_truncation_goes_unseen(tmp_path_factory, form, share):
    folder = tmp_path_factory.mktemp("cut")
    files = {f"set-a/{i}.txt": hashlib.sha512(bytes([i])).digest() * 9 for i in range(20)}
    whole = pack(folder / "whole", form, files).read_bytes()
    if form == "tar":
        whole = whole.rstrip(b"\0") + bytes(512)  # the padding may be lost without loss
    cut = folder / "cut.archive"
    cut.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DataError) as caught:
        list(members(cut))
    assert str(cut) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_truncation_names_the_last_good_member(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(tar_bytes({"a.txt": b"a", "b.txt": bytes(4000)})[:2600])
    with pytest.raises(DataError, match=r"x: after member 'a\.txt': truncated"):
        list(members(path))


@pytest.mark.parametrize("form", ["tar.gz", "tar.xz", "zip"])
def test_a_changed_byte_is_seen(tmp_path, form):
    path = pack(tmp_path / "x", form, {"a.txt": os.urandom(4096)})
    packed = bytearray(path.read_bytes())
    packed[2000] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(DataError, match="truncated or damaged"):
        list(members(path))


def test_what_is_no_archive(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(DataError, match="^.*empty: "):
        list(members(tmp_path / "empty"))
    (tmp_path / "page").write_text("<!DOCTYPE html><title>Log in</title>")
    with pytest.raises(DataError, match="starts with b'<!DOCTYPE"):
        list(members(tmp_path / "page"))
    (tmp_path / "table.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 100))
    with pytest.raises(DataError, match=r"table\.gz: .*truncated or damaged"):
        list(members(tmp_path / "table.gz"))
    with pytest.raises(DataError, match="absent: not readable"):
        list(members(tmp_path / "absent"))
