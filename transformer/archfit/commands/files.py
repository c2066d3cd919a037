"""Files that the user names."""

from __future__ import annotations

from archfit.errors import UsageError


def read_file(path: str) -> bytes:
    """The bytes of a file. Raises OSError."""
    with open(path, "rb") as file:
        return file.read()


def write_new(path: str, content: bytes) -> None:
    """Make the file that `--output` names, which must not be there yet. Raises UsageError."""
    try:
        with open(path, "xb") as file:
            file.write(content)
    except FileExistsError:
        raise UsageError(
            f"--output: {path!r} exists and may hold your changes: name another, or move it"
        ) from None
    except OSError as error:
        raise UsageError(f"--output: cannot write {path!r} ({error.strerror}): name another file") from None
