"""The application's repository: nothing outside of it is read. Every path that leads out raises UsageError.

A renderer follows every link, and what it finds there would become manifests. Folders behind links that stay inside are
searched too, each once. argo-cd v3.5.1 does the same for whole repositories, unless the operator allows such links
(util/app/path/path.go, CheckOutOfBoundsSymlinks).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from archfit.base.errors import UsageError
from archfit.base.printable import visible

MAX_ENTRIES = 200_000


def root_of(environ: Mapping[str, str]) -> str:
    """The top of the repository's copy: the working directory without the application's path in the repository."""
    here, path = os.getcwd(), environ.get("ARGOCD_APP_SOURCE_PATH", "").strip("/")
    steps = [step for step in path.split("/") if step not in ("", ".")]
    at = here.split("/")
    if steps and ".." not in steps and at[-len(steps) :] == steps:
        return "/".join(at[: -len(steps)]) or "/"
    return here


def check_inside(path: str, root: str, what: str) -> None:
    """Raises UsageError for a path that leads out of the repository, by itself or through a link."""
    top = os.path.realpath(root)
    real = os.path.realpath(path)
    if os.path.isabs(path) or os.path.commonpath((top, real)) != top:
        raise UsageError(f"{path!r} leads out of the application's repository: {what} has to be inside")


def check_values(names: Sequence[str], root: str) -> None:
    """Values files as an application names them. Raises UsageError; Helm itself would read any URL and any file."""
    for name in names:
        if "://" in name or name == "-" or "," in name:
            raise UsageError(f"{name!r} cannot be a values file: name a file of the application's repository")
        check_inside(name, root, "a values file")
        if is_irregular(name):
            raise _irregular(name)


def is_irregular(path: str) -> bool:
    """Whether something is there that is no regular file: to read a pipe may never end."""
    return os.path.exists(path) and not os.path.isfile(path)


def check_links(folder: str, root: str) -> None:
    """Raises UsageError for what a renderer may not read, and for more than MAX_ENTRIES files.

    That is below the folder a link that leads out of `root`, and a pipe, socket or device.
    folder: the chart's; before `helm dependency build` the whole repository, as file:// names any of it; the
        application's for kustomize, which itself refuses files outside of the bases (load restrictor).
    """
    top = os.path.realpath(root)
    start = os.path.realpath(folder)
    seen, waiting, left = {start}, [start], MAX_ENTRIES
    while waiting:
        for entry in _entries(waiting.pop()):
            left -= 1
            if left < 0:
                raise UsageError(
                    f"the application's folder holds more than {MAX_ENTRIES} files: set its path to a smaller folder"
                )
            path = entry.path
            if entry.is_symlink():
                path = os.path.realpath(entry.path)
                if os.path.commonpath((top, path)) != top:
                    raise _out(entry.path, start)
                if not os.path.isdir(path):
                    if is_irregular(path):
                        raise _irregular(os.path.relpath(entry.path, start))
                    continue
            elif not entry.is_dir(follow_symlinks=False):
                if not entry.is_file(follow_symlinks=False):
                    raise _irregular(os.path.relpath(entry.path, start))
                continue
            if path not in seen:
                seen.add(path)
                waiting.append(path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """By name, so that of several links always the same one is named."""
    try:
        with os.scandir(folder) as listing:
            return sorted(listing, key=lambda entry: entry.name, reverse=True)
    except OSError as error:
        raise UsageError(f"{visible(folder)!r} cannot be read ({error.strerror}): correct its mode") from None


def _irregular(name: str) -> UsageError:
    return UsageError(
        f"{visible(name)!r} is not a regular file, so nothing was rendered: replace it by a file with the content"
    )


def _out(path: str, start: str) -> UsageError:
    name = os.path.relpath(path, start)
    return UsageError(
        f"{name!r} is a link to {os.readlink(path)!r} and leads out of the application's repository, so nothing was "
        "rendered: replace the link by the file itself, or by a link that stays inside"
    )
