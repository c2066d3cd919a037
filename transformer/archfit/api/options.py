"""Options of a call: the names and values of the configuration file (`options.table`), both of its parts side by side.

    archfit.transform(text, clusterArchitectures=["amd64", "arm64"], onUnknown="leave", timeout="5s")

Tuples count as lists and other mappings as dicts; None is an option that is not given. `config` is the path of a
configuration file, below the other options; its `operator.enforced` holds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from archfit.base.errors import Problem, UsageError
from archfit.base.files import read_file
from archfit.base.patch import dotted
from archfit.base.printable import visible
from archfit.base.spelling import expected
from archfit.options.layers import load
from archfit.options.settings import Given, Layer, Settings
from archfit.options.table import BY_KEY, TABLE

NOT_FOR_PROGRAMS = ("report", "quiet", "verbose", "color")
"""Options of the command alone."""


class Options(TypedDict, total=False):
    """The options of `transform`, `decide` and `platforms`, for type checkers, and to share some between calls.

    Each key is an option of the configuration file, with its values there. `config` is the path of such a file.

        shared: archfit.Options = {"clusterArchitectures": ["amd64", "arm64"], "timeout": "5s"}
        archfit.transform(text, **shared)
    """

    config: str | os.PathLike[str] | None

    # <keys>
    clusterArchitectures: Sequence[str] | None
    systemTaints: Mapping[str, str] | Literal["none"] | None
    tolerate: Sequence[str | Mapping[str, Any]] | Literal["none"] | None
    affinity: Literal["needed", "always", "never"] | None
    prefer: Mapping[str, int] | Literal["none"] | None
    onAbsent: Literal["fail", "leave"] | None
    onUnknown: Literal["fail", "assume", "leave"] | None
    assume: Sequence[str] | Literal["none"] | None
    onConflict: Literal["fail", "leave"] | None
    immutable: Literal["needed", "full"] | None
    hooks: Literal["immutable", "recreated"] | None
    customResources: Literal["all", "read", "seen", "none"] | None
    daemonSets: Literal["warn", "fail"] | None
    strict: bool | None
    onBlank: Literal["pass", "comment", "fail"] | None
    imagePlatforms: Mapping[str, Sequence[str]] | Literal["none"] | None
    exclude: Sequence[str] | Literal["none"] | None
    unlabelledNodes: Sequence[str] | Literal["none"] | None
    lockFile: str | os.PathLike[str] | None
    locked: bool | None
    stamp: bool | None
    rules: Sequence[Mapping[str, Any]] | None
    workloads: Sequence[Mapping[str, Any]] | None
    mirror: Mapping[str, str] | Literal["none"] | None
    hostsDir: str | os.PathLike[str] | None
    registriesConf: str | os.PathLike[str] | None
    caFile: str | os.PathLike[str] | None
    allowHost: Sequence[str] | Literal["none"] | None
    denyHost: Sequence[str] | Literal["none"] | None
    requestsPerSecond: Mapping[str, float] | Literal["none"] | None
    cache: str | os.PathLike[str] | None
    cachePasswordFile: str | os.PathLike[str] | None
    cacheCaFile: str | os.PathLike[str] | None
    cacheTtl: str | Literal[0] | None
    maxStale: str | Literal[0] | None
    noCache: bool | None
    offline: bool | None
    timeout: str | None
    authfile: str | os.PathLike[str] | None
    pullSecrets: bool | None
    # </keys>


_KNOWN = ("config", *(option.key for option in TABLE if option.key not in NOT_FOR_PROGRAMS))


def settings_of(options: Mapping[str, Any], application: Layer | None = None) -> Settings:
    """The settings of a call. application: what the manifests themselves give (a functionConfig). Raises UsageError."""
    given: dict[str, Given] = {}
    config = ""
    for key, value in options.items():
        if key not in _KNOWN:
            raise UsageError(_unknown(key))
        if value is None:
            continue
        try:
            if key == "config":
                config = _path(value)
            else:
                given[key] = Given(BY_KEY[key].type.data(as_data(value)), key)
        except Problem as problem:
            where = visible(dotted((key, *problem.path)))
            raise UsageError(f"option {where}: {problem.message}") from None
    flags = (Layer("options", given), config or None) if given or config else None
    return load((), {}, read_file, application=application, flags=flags, named_by="option config")


def _path(value: object) -> str:
    if isinstance(value, (str, os.PathLike)) and (path := os.fspath(value)) and isinstance(path, str):
        return path
    raise Problem("has to be the path of a configuration file, as a str or os.PathLike")


def _unknown(key: str) -> str:
    if key in NOT_FOR_PROGRAMS:
        return (
            f"option {key}: is about what the command writes beside its output: leave it out, and read the messages "
            "of the Result"
        )
    return f"there is no option {visible(key)!r}: {expected(key, _KNOWN)}"


_DEEPEST = 32


def as_data(value: object, depth: int = _DEEPEST) -> object:
    """A value of Python's as a configuration file would have it. Raises Problem."""
    if not depth:
        raise Problem(f"is nested more than {_DEEPEST} levels deep")
    if isinstance(value, Mapping):
        return {key: as_data(member, depth - 1) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_data(item, depth - 1) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def type_name(value: object) -> str:
    """What a value is, for a message about a wrong one; never what it holds."""
    return "None" if value is None else f"a value of type {type(value).__name__}"
