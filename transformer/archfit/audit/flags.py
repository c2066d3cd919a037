"""The flags of `archfit audit` as values, and which of them go together."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from archfit.audit.clusters import cluster_name
from archfit.audit.groups import group_keys
from archfit.audit.plan.waves import MOST_RULED
from archfit.base.errors import Problem, UsageError
from archfit.cli.invocation import required_platforms
from archfit.cluster.quantity import milli, nano
from archfit.images.platforms import Platform
from archfit.options.architectures import glob
from archfit.startup.record import Record

_MOST_SHARDS = 100_000
IMAGE_FORMATS = ("text", "csv", "json")
_UPDATES = ("kustomize", "renovate")
"""The formats that are for programs which change images."""
_SUFFIXES = {
    ".html": "html", ".htm": "html", ".json": "json", ".csv": "csv", ".md": "markdown", ".markdown": "markdown",
    ".txt": "text", ".prom": "openmetrics",
}  # fmt: skip
_FILES = {"renovate": "json"}
"""The formats that are of another one's kind."""
_INDEXES = {"JOB_COMPLETION_INDEX": 0, "CI_NODE_INDEX": 1}
"""Variables with the index of a shard, and what the first one is: Kubernetes' Indexed Jobs, GitLab's `parallel`."""
_AS_GIVEN = ("live", "fail_on_regression", "allow_unknown", "all", "currency", "logs", "programs", "images")
_TEXTS = ("context", "kubeconfig", "namespace", "compare", "output")
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,2})?)%?", re.ASCII).fullmatch


class AuditFlags(Record):
    """all: whether the text has all tables. warnings: of flags that do not fit together. output: "" for stdout.

    shard: its index from 0, and how many there are. min_ready: percent, None where it is not asked for. newer_tags: of
    how many repositories, 0 for none. assume_cpu: in 1/1000 CPU. wave: None for the next one.
    """

    live: bool
    context: str
    kubeconfig: str
    namespace: str
    merge: tuple[str, ...]
    compare: str
    fail_on_regression: bool
    cluster: str
    shard: tuple[int, int] | None
    required: tuple[Platform, ...]
    min_ready: float | None
    allow_unknown: bool
    assume_cpu: int
    format: str
    all: bool
    by: tuple[str, ...]
    own: tuple[str, ...]
    currency: str | None
    output: str
    warnings: tuple[str, ...]
    newer_tags: int
    wave: int | None
    logs: bool
    programs: bool
    images: bool


def audit_flags(flags: Namespace, words: Sequence[str], environ: Mapping[str, str]) -> AuditFlags:
    """The flags. words: the files. Raises UsageError."""
    given = {"files": words, "--live": flags.live, "--merge": flags.merge}
    inputs = [name for name, value in given.items() if value]
    if len(inputs) > 1:
        raise UsageError(f"{inputs[0]} and {inputs[1]} are two inputs: name one of them")
    for name in ("context", "kubeconfig", "namespace", "logs"):
        if getattr(flags, name) and not flags.live:
            what = "what" if name == "logs" else "which cluster"
            raise UsageError(f"--{name}: says {what} --live reads: add --live, or leave it out")
    if flags.live and (flags.shards or flags.shard):
        raise UsageError(
            "--live and --shards: each shard would read the cluster at another moment. Read it once: archfit audit "
            "--live --offline --format json -o snapshot.json; then: archfit audit snapshot.json --shards N"
        )
    if flags.fail_on_regression and not flags.compare:
        raise UsageError("--fail-on-regression: since when? Add --compare REPORT")
    if flags.allow_unknown and not flags.require and flags.min_ready is None:
        raise UsageError("--allow-unknown: of what? Add --require ARCH or --min-ready SHARE")
    for asks in ("newer-tags", "programs"):
        if getattr(flags, asks.replace("-", "_")) and flags.merge:
            raise UsageError(f"--{asks}: --merge asks nothing: make each of the reports with --{asks}")
    form, warnings = _form(flags.format, flags.output or "")
    if form in _UPDATES and not (flags.newer_tags or flags.merge):
        raise UsageError(f"--format {form}: writes newer tags, and nobody asks for them: add --newer-tags")
    if flags.all and form != "text":
        raise UsageError(
            f"--all: adds the tables to the text; {form} has everything without it: leave it out"
        )
    if flags.images and form not in IMAGE_FORMATS:
        raise UsageError(
            f"--images: is written as {', '.join(IMAGE_FORMATS)}, not as {form}: leave one of them out"
        )
    texts: dict[str, Any] = {name: getattr(flags, name) or "" for name in _TEXTS}
    return AuditFlags(
        **{name: getattr(flags, name) for name in _AS_GIVEN},
        **texts,
        merge=tuple(flags.merge),
        cluster=_cluster(flags.cluster, merge=bool(flags.merge)),
        shard=_shard(flags.shard, flags.shards, environ),
        required=required_platforms(flags.require),
        min_ready=_percent(flags.min_ready),
        assume_cpu=_cpu(flags.assume_cpu),
        format=form,
        by=group_keys(flags.by),
        own=(*_own("--own", flags.own), *(f"!{pattern}" for pattern in _own("--not-own", flags.not_own))),
        warnings=tuple(warnings),
        newer_tags=_repositories(flags.newer_tags),
        wave=_wave(flags.wave, form),
    )


def _wave(text: str | None, form: str) -> int | None:
    if text is None:
        return None
    if form != "rules":
        raise UsageError("--wave: says whose rules are written: add --format rules, or leave it out")
    number = _number("--wave", text)
    if number > MOST_RULED:
        raise UsageError(
            f"--wave: {text!r} is not between 0 and {MOST_RULED}: nothing that rules say moves wave 5"
        )
    return number


def _repositories(texts: Sequence[str]) -> int:
    """How many repositories --newer-tags asks; the last one counts."""
    if not texts:
        return 0
    number = _number("--newer-tags", texts[-1])
    if not number:
        raise UsageError(
            "--newer-tags: 0 repositories would be asked: write a number from 1, or leave it out"
        )
    return number


def _form(stated: str | None, output: str) -> tuple[str, list[str]]:
    """The format, and a warning where the name of the file says another one. stated: by --format."""
    suffix = os.path.splitext(output)[1].lower()
    named = _SUFFIXES.get(suffix)
    if stated and named and _FILES.get(stated, stated) != named:
        return stated, [
            f"--output: {output!r} ends in {suffix}, but --format says {stated}, so it is {stated}"
        ]
    if suffix[1:].isalpha() and not named and not stated:
        raise UsageError(
            f"--output: {suffix!r} says no format: end the name in {', '.join(_SUFFIXES)}, or add --format"
        )
    return stated or named or "text", []


def _own(flag: str, patterns: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(map(glob, patterns)))
    except Problem as problem:
        raise UsageError(f"{flag}: {problem.message}") from None


def _cluster(name: str | None, *, merge: bool) -> str:
    if name is None:
        return ""
    if merge:
        raise UsageError(
            "--cluster: the reports of --merge have their names: state it when each of them is made"
        )
    return cluster_name(name)


def _shard(index: str | None, number: str | None, environ: Mapping[str, str]) -> tuple[int, int] | None:
    if number is None:
        if index is not None:
            raise UsageError("--shard: says which of --shards it is: add --shards N")
        return None
    shards = _number("--shards", number)
    if not 1 <= shards <= _MOST_SHARDS:
        raise UsageError(f"--shards: {number!r} is not between 1 and {_MOST_SHARDS}")
    sources = (
        ("--shard", index, 0),
        *((name, environ.get(name) or None, first) for name, first in _INDEXES.items()),
    )
    for source, text, first in sources:
        if text is not None:
            at = _number(source, text) - first
            if not 0 <= at < shards:
                raise UsageError(f"{source}: shard {at} is not one of {shards}: they are counted from 0")
            return at, shards
    raise UsageError(
        "--shards: which shard is this? Add --shard I, from 0, or set JOB_COMPLETION_INDEX or CI_NODE_INDEX"
    )


def _number(source: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise UsageError(f"{source}: {text!r} is not a number")
    return int(text)


def _percent(text: str | None) -> float | None:
    if text is None:
        return None
    match = _PERCENT(text)
    if not match or float(match[1]) > 100:
        raise UsageError(f"--min-ready: {text!r} is not a share: write it as 80%")
    share = float(match[1])
    if 0 < share <= 1 and not text.endswith("%"):
        raise UsageError(
            f"--min-ready: {text!r} may be a share of 1 or of 100: write {share:.0%} or {share:g}%"
        )
    return share


def _cpu(text: str | None) -> int:
    if text is None:
        return 0
    try:
        amount = nano(text)
    except ValueError:
        amount = -1
    if amount < 0:
        raise UsageError(f"--assume-cpu: {text!r} is not a quantity of CPU: write it as 100m")
    return milli(amount)
