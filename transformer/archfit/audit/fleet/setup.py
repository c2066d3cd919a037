"""`archfit setup fleet --engine job|cron [--into DIR] [OPTION]..`: an audit in parts, or each night."""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.audit.clusters import cluster_name
from archfit.audit.fleet import setup_files
from archfit.audit.fleet.setup_check import check
from archfit.audit.fleet.setup_files import JOBS, SCHEDULE, FleetChoices
from archfit.base.errors import UsageError
from archfit.cli.setup.own_pods import (
    IMAGE,
    LABEL,
    NAMESPACE,
    SUBDOMAIN,
    configuration,
    image,
    image_advice,
    object_name,
)
from archfit.cli.setup.owned_files import remove_files, write_texts
from archfit.cli.usage.command_table import BY_NAME
from archfit.options.option_entries import CacheServer
from archfit.options.text_form import Problem, cache_path

_MOST_SHARDS = 500
"""A command line has to stay below 128 KiB."""
_DEFAULT = "archfit-fleet"
_CRON = re.compile(r"[0-9A-Za-z*/,-]+( [0-9A-Za-z*/,-]+){4}", re.ASCII).fullmatch
_WITH_CHECK = ("check", "engine", "namespace", "claim", "context", "kubeconfig", "node_pools")


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup fleet`. The exit code; raises ArchfitError."""
    flags, words = BY_NAME["setup fleet"].parser().read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup fleet --help")
    choices = _choices(flags)
    if flags.check:
        for name, value in vars(flags).items():
            if value and name not in _WITH_CHECK:
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} says what to write: leave it out beside --check")
        return check(choices, flags, stdout, environ)
    for flag in ("context", "kubeconfig"):
        if getattr(flags, flag) is not None:
            raise UsageError(f"--{flag} needs --check: nothing else asks the cluster")
    folder = flags.into or _DEFAULT
    texts = setup_files.files(choices)
    if flags.remove:
        stderr.write(remove_files(folder, texts, "fleet"))
        return 0
    stderr.write(f"{write_texts(folder, texts, force=flags.force)}\n")
    stderr.writelines(f"{line}\n" for line in _next_steps(choices, shlex.quote(folder)))
    if advice := image_advice(choices.image):
        stderr.write(f"{advice}\n")
    return 0


def _next_steps(choices: FleetChoices, folder: str) -> list[str]:
    apply = f"Now run: kubectl apply --server-side -f {folder}"
    where = f"-n {choices.namespace}"
    if choices.engine == "cron":
        first = f"kubectl create job {where} --from=cronjob/{setup_files.NAME} first"
        wait = f"kubectl wait {where} --for=condition=complete --timeout=6h job/first"
        return [apply, "An audit at once:", f"  {first} && {wait}", f"  kubectl logs {where} job/first"]
    steps = [
        f"  kubectl replace --force -f {folder}/{path} && "
        f"kubectl wait {where} --for=condition=complete --timeout=6h job/{job}"
        for path, job in JOBS.items()
    ]
    return [apply, "An audit:", *steps, f"  kubectl logs {where} job/{JOBS['run/3-merge.yaml']}"]


def _choices(flags: Namespace) -> FleetChoices:
    if flags.engine is None:
        raise UsageError(
            "--engine: is missing: write job for Jobs of Kubernetes, or cron for a nightly audit in one pod"
        )
    for flag, value in vars(flags).items():
        if value == "":
            raise UsageError(f"--{flag.replace('_', '-')}: is empty: write a value, or leave the flag out")
    chosen = FleetChoices(
        flags.engine,
        _number("--shards", flags.shards),
        _number("--parallelism", flags.parallelism),
        _name("--namespace", flags.namespace, LABEL) or NAMESPACE,
        IMAGE if flags.image is None else image(flags.image),
        "" if flags.configuration is None else configuration(flags.configuration),
        _name("--registry-secret", flags.registry_secret, SUBDOMAIN),
        _cache(flags.cache),
        _name("--cache-secret", flags.cache_secret, SUBDOMAIN),
        _name("--claim", flags.claim, SUBDOMAIN),
        _name("--storage-class", flags.storage_class, SUBDOMAIN),
        "" if flags.cluster is None else _cluster(flags.cluster),
        flags.node_pools,
        _schedule(flags.schedule, flags.engine),
    )
    for flag in ("shards", "parallelism") if chosen.engine == "cron" else ():
        if getattr(flags, flag) is not None:
            raise UsageError(f"--{flag}: the engine cron runs one pod: leave it out, or take the engine job")
    if chosen.cache_secret and not chosen.cache:
        raise UsageError("--cache-secret: is the password of a cache server: name the server with --cache")
    if chosen.claim and chosen.storage_class:
        raise UsageError("--storage-class: --claim names a volume that is there already: leave one out")
    return chosen


def _number(flag: str, text: str | None) -> int:
    if text is None:
        return 8
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= _MOST_SHARDS):
        raise UsageError(f"{flag}: {text!r} cannot be used: write a number from 1 to {_MOST_SHARDS}")
    return int(text)


def _schedule(text: str | None, engine: str) -> str:
    """Five fields; the API server knows the rest of the grammar."""
    if text is None:
        return SCHEDULE
    if engine != "cron":
        raise UsageError("--schedule: only the engine cron has one: add --engine cron, or leave it out")
    if not _CRON(text):
        raise UsageError(
            f"--schedule: {text!r} is no schedule: write five fields of cron, such as '{SCHEDULE}'"
        )
    return text


def _name(flag: str, text: str | None, form: re.Pattern[str]) -> str:
    return "" if text is None else object_name(flag, text, form)


def _cluster(name: str) -> str:
    """Kubernetes replaces variables in a command."""
    if "$(" in name:
        raise UsageError(f"--cluster: {name!r} holds a variable: write the name itself")
    return cluster_name(name)


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
