"""`archfit policy [FILE|-]..`: admission without a server, as objects to apply.

Standard output is whole or empty. The same images and options give the same bytes; `--live` adds its date, if
SOURCE_DATE_EPOCH does not.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, BinaryIO, TextIO

from archfit import __version__
from archfit.base import standard_streams
from archfit.base.errors import ArchfitError
from archfit.base.printable import count, visible
from archfit.base.results import Message, has_error
from archfit.cli.inputs.command_inputs import manifests_of, moment_text, stated_date
from archfit.cli.invocation import Invocation, read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.cluster_connection import connect
from archfit.cluster.live_objects import anew_once, live_objects
from archfit.lookup import operator_files
from archfit.options.settings import Given, Layer, Options
from archfit.placement.filters import names_kind
from archfit.policy.check import check_policy
from archfit.policy.flags import check_flags, check_options, policy_settings, renewal
from archfit.policy.images import (
    KINDS,
    PolicyImages,
    from_cluster,
    from_lock,
    from_manifests,
    left_out,
    live_images,
)
from archfit.policy.installed.installed_policy import check_version, table_in_force
from archfit.policy.objects import POD, policy_objects, policy_text
from archfit.policy.settings import PolicySettings
from archfit.policy.table import fitting, platform_table
from archfit.reports.summary import failure, lines, unknown_words
from archfit.webhook.admitted_pod import at_admission

_COMMAND = BY_NAME["policy"]
_LIVE = Layer(
    "defaults of archfit policy --live (onAbsent, onUnknown, timeout)",
    {
        "onAbsent": Given("leave", "--live"),
        "onUnknown": Given("leave", "--live"),
        "timeout": Given(600.0, "--live"),
    },
)
_BETA = (
    "note: v1beta1 needs Kubernetes 1.34 or 1.35, and on every kube-apiserver "
    "--feature-gates=MutatingAdmissionPolicy=true and --runtime-config=admissionregistration.k8s.io/v1beta1=true"
)


def write_policy(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(
        _COMMAND, argv, environ, stderr, fallback=_LIVE if "--live" in argv else None
    )
    flags = invocation.flags
    check_flags(flags, invocation.words)
    check_options(invocation.settings)
    today = moment_text(datetime.now(UTC)) if flags.live else ""
    settings = policy_settings(flags, stated_date(environ) or today)
    if flags.check:
        return check_policy(invocation, settings, stdin, stdout, stderr, environ)
    images = _images(invocation, settings, stdin, stderr, environ)
    if has_error(images.messages):
        _write_lines(stderr, [*lines(images.messages), failure(images.messages)])
        return 1
    options = at_admission(invocation.settings.options)
    table, without = platform_table(images.images, options)
    held, left = fitting(table, settings) if flags.live else (table, [])
    if not held:
        raise ArchfitError(
            f"none of {count(len(images.images), 'image')} counts, so a policy would change no pod: {without[0][1]}"
        )
    platform_lists = len(set(map(tuple, held.values())))
    applied: list[str] = []
    if flags.apply:
        applied = _apply(flags, settings, policy_objects(held, options, settings), environ)
    else:
        text = policy_text(held, options, settings)
        standard_streams.write(stdout, [f"{_head(invocation, images)}---\n{text}".encode()])
    warnings = [*left_out(left, settings.carrier), *_warnings(without, options)]
    _write_lines(stderr, lines([*images.messages, *warnings]))
    beside = f"; {unknown_words(images.unknown)}" if images.unknown else ""
    beside += f"; {count(len(left), 'image')} did not fit" if left else ""
    beside += f", {count(images.requests, 'registry request')}" if images.requests else ""
    summary = (
        f"archfit: policy {settings.name}: {count(len(held), 'image')} with "
        f"{count(platform_lists, 'different list')} of platforms{beside}"
    )
    _write_lines(stderr, [_BETA if settings.api_version == "v1beta1" else "", *applied, summary])
    return 0


def _warnings(without: Iterable[tuple[str, str]], options: Options) -> list[Message]:
    """What the policy does not do, although the lock file or the configuration speaks of it."""
    return [
        *(
            Message("warning", f"{name}: {reason}; pods with it get no toleration", image=name)
            for name, reason in without
        ),
        *(
            Message(
                "warning",
                f"exclude {glob} has no effect in a policy, which sees Pods: name their namespace, or "
                'annotate the pod template with archfit.dev/skip: "true"',
            )
            for glob in dict.fromkeys(options.exclude)
            if not names_kind(glob.kind, POD)
        ),
    ]


def _images(
    invocation: Invocation, own: PolicySettings, stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> PolicyImages:
    settings, flags = invocation.settings, invocation.flags
    operator_files.check(settings.operator, settings.options.lock_file)
    if flags.live:
        with closing(connect(environ, context=flags.context, kubeconfig=flags.kubeconfig)) as connection:
            check_version(connection, own)
            live = anew_once(lambda: live_images(live_objects(connection, KINDS)))
            known = table_in_force(connection, own)
        return from_cluster(live, known, settings, environ, stderr)
    if not invocation.words:
        return from_lock(settings.options)
    manifests = manifests_of(invocation, stdin, settings.options)
    return from_manifests(manifests, settings, environ, stderr)


def _apply(
    flags: Namespace,
    settings: PolicySettings,
    objects: Sequence[Mapping[str, Any]],
    environ: Mapping[str, str],
) -> list[str]:
    with closing(connect(environ, context=flags.context, kubeconfig=flags.kubeconfig)) as connection:
        check_version(connection, settings)
        return connection.apply(objects)


def _head(invocation: Invocation, images: PolicyImages) -> str:
    """The comment above the objects: what made them, and how to make them again."""
    twice = (
        "The first time, apply it twice: the API server has to know the definition before the PlatformTable."
    )
    lines = [
        f"Written by `archfit policy` {__version__} from {images.source}. Do not edit it. To renew it:",
        f"  {renewal(invocation)} | kubectl apply --server-side -f -",
        *([twice] if invocation.flags.carrier == "crd" else []),
    ]
    return "".join(f"# {visible(line)}".rstrip() + "\n" for line in lines)


def _write_lines(stderr: TextIO, texts: Sequence[str]) -> None:
    stderr.writelines(f"{text}\n" for text in texts if text)
