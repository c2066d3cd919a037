"""`archfit setup fleet --engine job|argo [--into DIR] [OPTION]..`: an audit in parts, run by Kubernetes or by Argo.

    --into DIR    writes the manifests, see `setup_files`
    --check       asks the cluster whether all of it works, see `setup_check`

Where a file is there already and differs, nothing is written: it may hold somebody's work.
"""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.errors import InvalidReference, UsageError
from archfit.files import read_file
from archfit.images import reference
from archfit.integrations.fleet import setup_files
from archfit.integrations.fleet.fleet_steps import MOST_SHARDS
from archfit.integrations.fleet.setup_check import check
from archfit.integrations.fleet.setup_files import ENGINES, JOBS, Choices
from archfit.integrations.owned_files import File, write_files
from archfit.options.cache_path import cache_path
from archfit.options.config_file import from_file
from archfit.options.problem import Problem
from archfit.options.settings import CacheServer
from archfit.usage.command_table import BY_NAME

_DEFAULT = "archfit-fleet"
_WITH_CHECK = ("check", "engine", "namespace", "claim", "context", "kubeconfig")
_LABEL = re.compile(r"(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_DIFFERS = (
    "exists and differs: nothing was written. Replace it with --force, or name another directory with --into"
)


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup fleet`. The exit code; raises ArchfitError."""
    found, words = BY_NAME["setup fleet"].parser().read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup fleet --help")
    choices = _choices(found)
    if found.check:
        for name, value in vars(found).items():
            if value and name not in _WITH_CHECK:
                raise UsageError(
                    f"--{name.replace('_', '-')} says what to write: leave it out beside --check"
                )
        return check(choices, found, stdout, environ)
    for flag in ("context", "kubeconfig"):
        if getattr(found, flag) is not None:
            raise UsageError(f"--{flag} needs --check: nothing else asks the cluster")
    folder = found.into or _DEFAULT
    changed = write_files(
        folder,
        {name: File(text.encode()) for name, text in setup_files.files(choices).items()},
        lambda path, _content: "" if found.force else f"{path} {_DIFFERS}",
    )
    stderr.write(f"{'written' if changed else 'up to date'}: {folder}\n")
    stderr.writelines(f"{line}\n" for line in _next_steps(choices, shlex.quote(folder)))
    if choices.image == setup_files.IMAGE:
        stderr.write(f"{choices.image} stands for your image: build it and name it with --image\n")
    return 0


def _next_steps(choices: Choices, folder: str) -> list[str]:
    """What to type now."""
    apply = f"Now run: kubectl apply --server-side -f {folder}"
    where = f"-n {choices.namespace}"
    if choices.engine == "argo":
        return [apply, f"An audit: argo submit {where} --from workflowtemplate/{setup_files.NAME} --watch"]
    lines = [apply, "An audit:"]
    for path, job in JOBS.items():
        lines.append(
            f"  kubectl replace --force -f {folder}/{path} && "
            f"kubectl wait {where} --for=condition=complete --timeout=6h job/{job}"
        )
    return [*lines, f"  kubectl logs {where} job/{JOBS['run/3-merge.yaml']}"]


def _choices(found: Namespace) -> Choices:
    """What the flags say. Raises UsageError."""
    if found.engine not in ENGINES:
        what = "is missing" if found.engine is None else f"{found.engine!r} is not known"
        raise UsageError(f"--engine: {what}: write job for Jobs of Kubernetes, or argo for Argo Workflows")
    for flag, value in vars(found).items():
        if value == "":
            raise UsageError(f"--{flag.replace('_', '-')}: is empty: write a value, or leave the flag out")
    chosen = Choices(
        found.engine,
        _number("--shards", found.shards),
        _number("--parallelism", found.parallelism),
        _name("--namespace", found.namespace, _LABEL) or setup_files.NAMESPACE,
        _image(found.image),
        _configuration(found.configuration),
        _name("--registry-secret", found.registry_secret, _SUBDOMAIN),
        _cache(found.cache),
        _name("--cache-secret", found.cache_secret, _SUBDOMAIN),
        _name("--claim", found.claim, _SUBDOMAIN),
        _name("--storage-class", found.storage_class, _SUBDOMAIN),
    )
    if chosen.cache_secret and not chosen.cache:
        raise UsageError("--cache-secret: is the password of a cache server: name the server with --cache")
    if chosen.claim and chosen.storage_class:
        raise UsageError("--storage-class: --claim names a volume that is there already: leave one out")
    return chosen


def _number(flag: str, text: str | None) -> int:
    if text is None:
        return 8
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= MOST_SHARDS):
        raise UsageError(f"{flag}: {text!r} cannot be used: write a number from 1 to {MOST_SHARDS}")
    return int(text)


def _name(flag: str, text: str | None, form: re.Pattern[str]) -> str:
    if text is not None and not form.fullmatch(text):
        raise UsageError(
            f"{flag}: {text!r} is not a name in Kubernetes: write lower-case letters, digits and -"
        )
    return text or ""


def _image(text: str | None) -> str:
    if text is None:
        return setup_files.IMAGE
    try:
        reference.parse(text)
    except InvalidReference as error:
        raise UsageError(f"--image: {error}") from None
    return text


def _cache(text: str | None) -> str:
    """The URL of a server: a file would be in one pod alone."""
    if text is None:
        return ""
    try:
        cache = cache_path(text)
    except Problem as problem:
        raise UsageError(f"--cache: {problem.message}") from None
    if not isinstance(cache, CacheServer):
        raise UsageError(
            "--cache: shards can share only a server: write a URL as redis://cache.example:6379/0"
        )
    return text


def _configuration(path: str | None) -> str:
    if path is None:
        return ""
    try:
        content = read_file(path)
    except OSError as error:
        raise UsageError(
            f"--configuration: cannot read {path!r} ({error.strerror}): name a readable file"
        ) from None
    from_file(content, path, "--configuration")
    return content.decode("utf-8-sig")
