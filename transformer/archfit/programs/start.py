"""Which program a container starts: what the pod says, then what the image's config says.

    pod's command    image's Entrypoint    the program is the first word of
    yes                                    the command
    no               yes                   the Entrypoint
    no               no                    the pod's args, else the image's Cmd

A word without a slash is looked for on PATH; one with a slash is relative to the working directory. What the pod
mounts a volume over is not of the image. Source: Kubernetes, "Define a Command and Arguments for a Container"; OCI
image-spec 1.1, config.md; runc, libcontainer/init_linux.go; containerd, pkg/oci/spec_opts.go (the usual PATH).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from archfit.base.errors import ArchfitError
from archfit.startup.record import Record

_USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LONGEST = 4096
_MOST_FOLDERS = 64


class NotRead(ArchfitError):
    """Why a program is not known, as the end of a sentence. final: it stays so, as the digest says all of it."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class Start(Record):
    """What a container says. command, argument: the first words of `command` and `args`, "" for none.

    path: the value of PATH, "" where it names none. directory: its workingDir, "" for the image's.
    mounts: normal paths of its volumeMounts. unread: why it cannot be told, "" where it can.
    """

    command: str = ""
    argument: str = ""
    path: str = ""
    directory: str = ""
    mounts: tuple[str, ...] = ()
    unread: str = ""

    def key_of(self, *, entrypoint: bool) -> str:
        """What tells it from other starts of one image, whatever is mounted; "" for the image's own.

        entrypoint: the image has one.
        """
        argument = "" if entrypoint or self.command else self.argument
        words = [self.command, argument, self.path, self.directory, self.unread]
        if not any(words):
            return ""
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32]

    def covers(self, path: str) -> bool:
        """Whether a volume is mounted over a normal path."""
        return any(not mount or path == mount or path.startswith(f"{mount}/") for mount in self.mounts)


def start_of(container: Mapping[str, Any]) -> Start:
    """What a container of a pod spec says. Raises nothing: what is malformed counts as not there, as it never runs."""
    command, argument = _first(container.get("command")), _first(container.get("args"))
    if argument[:1] == "-" or "=" in argument:  # it names no program, and may be a secret
        argument = "-"
    path = unread = ""
    for entry in _mappings(container.get("env")):
        if entry.get("name") == "PATH":
            path = _text(entry.get("value"))
            unread = "its PATH comes from elsewhere" if entry.get("valueFrom") else ""
    mounts = [entry.get("mountPath") for entry in _mappings(container.get("volumeMounts"))]
    if "$(" in command + path + ("" if command else argument):
        unread = "its command or PATH holds a variable"
    return Start(
        command,
        argument,
        path,
        _text(container.get("workingDir")),
        tuple(sorted({normal(mount) for mount in mounts if isinstance(mount, str) and mount})),
        unread,
    )


def image_start(config: Mapping[str, Any]) -> Start:
    """What the config of an image says (its member `config`), Entrypoint and Cmd as command and argument."""
    stated = config.get("config")
    own = stated if isinstance(stated, Mapping) else {}
    variables = own.get("Env")
    path = _USUAL_PATH
    for variable in variables if isinstance(variables, list) else ():
        if isinstance(variable, str) and variable.startswith("PATH="):
            path = variable.removeprefix("PATH=")
    return Start(_first(own.get("Entrypoint")), _first(own.get("Cmd")), path, _text(own.get("WorkingDir")))


def candidates(start: Start, image: Start) -> list[str]:
    """The normal paths at which the program may be, the first that exists is it. Raises NotRead."""
    if start.unread:
        raise NotRead(start.unread)
    word = start.command or image.command or start.argument or image.argument
    if not word:
        raise NotRead("it names no program to start", final=True)
    return on_path(word, start, image)


def on_path(word: str, start: Start, image: Start) -> list[str]:
    """The normal paths of a word, as a shell would look for it. Raises NotRead."""
    directory = start.directory or image.directory
    if len(word) > _LONGEST or "\0" in word:
        raise NotRead("the name of its program is longer than paths are", final=True)
    if "/" in word:
        return [normal(f"{directory}/{word}" if word[0] != "/" else word)]
    folders = (start.path or image.path).split(":")[:_MOST_FOLDERS]
    paths = (
        f"{folder}/{word}" if folder[:1] == "/" else f"{directory}/{folder}/{word}" for folder in folders
    )
    return list(dict.fromkeys(map(normal, paths)))


def normal(path: str) -> str:
    """The path from the root, without a slash at its ends; `..` stops there."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _first(words: object) -> str:
    return _text(words[0]) if isinstance(words, list) and words else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mappings(value: object) -> Iterable[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
