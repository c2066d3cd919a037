"""Files that `setup` writes into a folder: all or none, and never over a file that somebody else wrote."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from archfit.base.errors import ArchfitError
from archfit.base.files import replace
from archfit.startup.record import Record

_DIFFERS = (
    "exists and differs: nothing was written. Replace it with --force, or name another directory with --into"
)


class File(Record):
    """A file to write. mode: None for what the umask leaves."""

    content: bytes
    mode: int | None = None


def write_files(folder: str, wanted: Mapping[str, File], refusal: Callable[[str, bytes], str]) -> bool:
    """Writes files below a folder, by their paths in it; the last first. Whether one of them changed.

    refusal: why a file that is there and differs has to stay, from its path and content; "" if it may be replaced.
    Raises ArchfitError.
    """
    paths = {os.path.join(folder, name): file for name, file in wanted.items()}
    try:
        changed = []
        for path, file in paths.items():
            content = content_of(path)
            if content is not None and content != file.content and (why := refusal(path, content)):
                raise ArchfitError(why)
            has_mode = content is not None and file.mode is not None
            if content != file.content or (has_mode and os.stat(path).st_mode & 0o777 != file.mode):
                changed.append(path)
        for path in sorted(changed, reverse=True):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_file(path, paths[path])
    except OSError as error:
        raise _unwritable(error.filename or folder, error) from None
    return bool(changed)


def write_texts(folder: str, texts: Mapping[str, str], *, force: bool) -> str:
    """Writes texts below a folder, over files that differ only with `force`. A line that says what was done.

    Raises ArchfitError.
    """
    changed = write_files(
        folder,
        {name: File(text.encode()) for name, text in texts.items()},
        lambda path, _content: "" if force else f"{path} {_DIFFERS}",
    )
    return done(folder, changed=changed)


def remove_files(
    folder: str, texts: Mapping[str, str], tool: str, is_own: Callable[[str, bytes], bool] | None = None
) -> str:
    """Takes away the files of a folder that are as they were written, and folders that are empty then.

    tool: whose files they are. is_own: whether a file at a path is as it was written; by default its content decides.
    Lines that say what went and what stays. Raises ArchfitError where none of them is there.
    """
    lines: list[str] = []
    for name, text in texts.items():
        path = os.path.join(folder, name)
        content = content_of_users_file(path)
        if content is None:
            continue
        if not (is_own(path, content) if is_own else content == text.encode()):
            lines.append(
                f"stays: {path}: it is not as this command writes it; remove it if you need it no more"
            )
            continue
        try:
            os.remove(path)
        except OSError as error:
            raise ArchfitError(f"cannot remove {path} ({error.strerror})") from None
        lines.append(f"removed: {path}")
    if not lines:
        raise ArchfitError(
            f"there is nothing of `archfit setup {tool}` in {folder}: name its directory with --into, or leave it"
        )
    inner = {os.path.dirname(os.path.join(folder, name)) for name in texts}
    for empty in sorted({*inner, folder} - {".", ""}, key=len, reverse=True):
        with contextlib.suppress(OSError):  # something else is in it
            os.rmdir(empty)
    return "".join(f"{line}\n" for line in lines)


def done(folder: str, *, changed: bool) -> str:
    """What became of a folder, in a line without its end."""
    return f"{'written' if changed else 'up to date'}: {folder}"


def write_file(path: str, file: File) -> None:
    """Writes a whole file or none. Raises ArchfitError."""
    try:
        if file.mode is None:
            replace(path, file.content)
        else:
            replace(path, file.content, file.mode)
            os.chmod(path, file.mode)
    except OSError as error:
        raise _unwritable(path, error) from None


def content_of(path: str) -> bytes | None:
    """The content of a file, None where there is none. Raises OSError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def content_of_users_file(path: str) -> bytes | None:
    """As `content_of`. Raises ArchfitError."""
    try:
        return content_of(path)
    except OSError as error:
        raise ArchfitError(f"cannot read {path} ({error.strerror}): correct its mode or owner") from None


def _unwritable(path: str, error: OSError) -> ArchfitError:
    return ArchfitError(f"cannot write {path} ({error.strerror}): name another directory with --into")
