"""Paths from the root of the repository, as code hosts want them in reports.

    /home/ci/shop/.git, working directory /home/ci/shop/deploy:    web.yaml    ->    deploy/web.yaml

The root is the next folder upwards that holds `.git`, a folder or, in worktrees and submodules, a file. Outside of a
repository paths stay as they are, and so does the path of a file that is not in the repository.
"""

from __future__ import annotations

import os


def repository_root() -> str:
    """The root of the repository that the working directory is in, or ""."""
    folder = os.getcwd()
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def from_root(path: str, root: str) -> str:
    """The path of a file, relative to the working directory, as a path from the root. root: "" for none."""
    if not root:
        return path
    near = os.path.relpath(os.path.abspath(path), root)
    return os.path.abspath(path) if near.startswith(os.pardir) else near
