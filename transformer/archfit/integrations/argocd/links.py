"""Links in what a renderer would read: none leads out of the application's repository.

    helm          the chart's folder; before `helm dependency build` the whole repository, as file:// names any of it
    kustomize     the application's folder; files of bases elsewhere are kustomize's own to refuse (load restrictor)

A renderer follows every link, and what it finds there would become manifests. Folders behind links that stay inside are
looked at, too, each once. argo-cd v3.5.1 does the same for whole repositories, unless the operator allows such links
(util/app/path/path.go, CheckOutOfBoundsSymlinks).
"""

from __future__ import annotations

import os

from archfit.errors import UsageError
from archfit.printable import visible

MAX_ENTRIES = 200_000


def check_links(folder: str, root: str) -> None:
    """Raises UsageError for a link below the folder that leads out of `root`, and where there is too much to see."""
    top = os.path.realpath(root)
    start = os.path.realpath(folder)
    seen, waiting, left = {start}, [start], MAX_ENTRIES
    while waiting:
        for entry in _entries(waiting.pop()):
            left -= 1
            if left < 0:
                raise UsageError(
                    f"the application's folder holds more than {MAX_ENTRIES} files: name a folder with less as its path"
                )
            path = entry.path
            if entry.is_symlink():
                path = os.path.realpath(entry.path)
                if os.path.commonpath((top, path)) != top:
                    raise _out(entry.path, start)
                if not os.path.isdir(path):
                    continue
            elif not entry.is_dir(follow_symlinks=False):
                continue
            if path not in seen:
                seen.add(path)
                waiting.append(path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """By name, so that of several links always the same one is named."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name, reverse=True)
    except OSError as error:
        raise UsageError(f"{visible(folder)!r} cannot be read ({error.strerror}): correct its mode") from None


def _out(path: str, start: str) -> UsageError:
    name = os.path.relpath(path, start)
    return UsageError(
        f"{name!r} is a link to {os.readlink(path)!r} and leads out of the application's repository, so nothing was "
        "rendered: replace the link by the file itself, or by a link that stays inside"
    )
