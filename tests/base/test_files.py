"""Files that are read up to a limit, and written whole or not at all."""

import io
import os

import pytest

from archfit.base import files, standard_streams
from archfit.base.errors import ArchfitError, message_of
from archfit.base.files import Prepared, read_file, read_regular, replace


def test_at_most_the_limit_is_read(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    assert read_regular(str(path), 4) == b"0123"
    assert read_regular(str(path), 99) == b"0123456789"


def test_a_link_to_a_regular_file_is_one(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_regular(str(tmp_path / "b"), 9) == b"x"


@pytest.mark.parametrize("size", [0, 3, 4, 5, 8, 9, 11])
def test_whole_files_are_read_in_chunks(tmp_path, monkeypatch, size):
    monkeypatch.setattr(files, "_FIRST_READ", 4)
    monkeypatch.setattr(files, "_CHUNK", 3)
    path = tmp_path / "a"
    path.write_bytes(bytes(range(size)))
    assert (
        read_file(str(path))
        == standard_streams.read_input(io.BytesIO(bytes(range(size))))
        == bytes(range(size))
    )


def test_an_input_without_an_end_is_an_error(monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 8 << 20)
    with pytest.raises(OSError, match="it holds more than 8 MiB"):
        read_file("/dev/zero")
    with open("/dev/zero", "rb") as zero, pytest.raises(ArchfitError) as raised:
        standard_streams.read_input(zero)
    assert str(raised.value) == "standard input cannot be read: it holds more than 8 MiB"


def test_too_little_memory_is_no_bug_of_archfit():
    assert message_of(MemoryError()).startswith("there is not enough memory for this input")


def test_the_null_device_is_empty():
    assert read_regular(os.devnull, 9) == b""


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["named-pipe", "folder"])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(tmp_path, make):
    path = str(tmp_path / "a")
    make(path)
    with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
        read_regular(path, 9)


def test_a_file_has_its_place_and_its_mode(tmp_path):
    path = tmp_path / "a"
    replace(str(path), b"1", 0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"1", 0o600)
    path.chmod(0o640)
    replace(str(path), b"2", 0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"2", 0o640)
    assert os.listdir(tmp_path) == ["a"]


def test_what_is_discarded_leaves_nothing(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    prepared = Prepared(str(path), b"2")
    assert len(os.listdir(tmp_path)) == 2
    prepared.discard()
    assert os.listdir(tmp_path) == ["a"]
    assert path.read_bytes() == b"1"


def test_a_commit_removes_nothing_that_it_cannot_replace(tmp_path):
    prepared = Prepared(str(tmp_path / "a"), b"new")
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        prepared.commit()
    assert os.listdir(tmp_path) == ["a"]
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    Prepared(str(tmp_path / "pipe"), b"new").commit()
    assert os.read(reader, 9) == b"new"
    os.close(reader)


def test_a_place_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"1")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        replace(str(path), b"2")
    assert os.listdir(tmp_path) == ["a"]
    assert path.read_bytes() == b"1"


def test_a_name_that_is_taken_is_not_written_through(tmp_path, monkeypatch):
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"theirs")
    monkeypatch.setattr("os.urandom", lambda _: b"\0" * 8)
    (tmp_path / f".a.{'00' * 8}").symlink_to(theirs)
    with pytest.raises(FileExistsError):
        Prepared(str(tmp_path / "a"), b"1")
    assert theirs.read_bytes() == b"theirs"


def test_a_pipe_is_written_when_the_content_is_committed():
    read, write = os.pipe()
    prepared = Prepared(f"/dev/fd/{write}", b"1")
    os.set_blocking(read, False)
    with pytest.raises(BlockingIOError):
        os.read(read, 9)
    prepared.commit()
    assert os.read(read, 9) == b"1"
    os.close(read)
    os.close(write)


def test_an_open_file_keeps_what_it_holds_and_its_link_stays(tmp_path):
    path, link = tmp_path / "a", tmp_path / "stdout"
    with path.open("wb") as file:
        file.write(b"kept\n")
        file.flush()
        link.symlink_to(f"/dev/fd/{file.fileno()}")
        for place in (f"/dev/fd/{file.fileno()}", str(link)):
            replace(place, b"more\n")
    assert link.is_symlink()
    assert path.read_bytes() == b"kept\nmore\nmore\n"
    assert sorted(os.listdir(tmp_path)) == ["a", "stdout"]


def test_new_content_is_at_no_time_open_to_more_users_than_the_old(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o600)
    modes = []

    def noted(place: str, mode: int) -> None:
        modes.append(os.stat(place).st_mode & 0o777)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("os.chmod", noted)
        replace(str(path), b"2", 0o666)
    assert modes == [0o600]


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127], ids=["ascii", "two-bytes"])
def test_the_longest_name_can_be_replaced(tmp_path, name):
    (tmp_path / name).write_bytes(b"1")
    replace(str(tmp_path / name), b"2")
    assert (tmp_path / name).read_bytes() == b"2"
    assert os.listdir(tmp_path) == [name]
