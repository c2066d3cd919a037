"""`archfit setup webhook [--into DIR] [OPTION]..`: the manifests that run `archfit serve` in a cluster.

The certificate in DIR is kept while more than a third of its time is left. A new one comes with a CA of its own, and
caBundle then holds the last CA too: the API server believes pods that have not read the new certificate yet.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, BinaryIO, TextIO

from archfit.base.errors import ArchfitError, UsageError
from archfit.cli.setup.check_lines import Wrong, up_to_wrong, write_lines
from archfit.cli.setup.own_pods import (
    LABEL,
    SUBDOMAIN,
    configuration,
    content,
    image,
    image_advice,
    object_name,
)
from archfit.cli.setup.owned_files import File, content_of_users_file, done, remove_files, write_files
from archfit.cli.setup.yaml_files import parsed
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.checks import kubectl_of
from archfit.webhook.certificate_files import admit_only
from archfit.webhook.memory_budget import memory_limit
from archfit.webhook.setup import setup_files, webhook_folder
from archfit.webhook.setup.certificates import KeyPair, ca_expires, examine, issue, newest_ca
from archfit.webhook.setup.installed_webhook import right
from archfit.webhook.setup.setup_check import check
from archfit.webhook.setup.setup_files import SECRET, WEBHOOK, WebhookChoices
from archfit.webhook.setup.webhook_folder import WebhookFolder

_DEFAULT = "archfit-webhook"
_KEPT_SHARE = 1 / 3
_LONGEST_DAYS = 3650
_LARGEST_CONFIGURATION = 1_000_000  # bytes; a ConfigMap holds 1 MiB
_CLUSTER = ("live", "context", "kubeconfig")
_ALONE = ("into", "days", "check", "renew", *_CLUSTER)
_OURS = {SECRET, WEBHOOK}


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup webhook`. The exit code; raises ArchfitError."""
    flags, words = BY_NAME["setup webhook"].parser().read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup webhook --help")
    if flags.into == "":
        raise UsageError("--into: is empty: write a path, or leave the flag out")
    folder = flags.into or _DEFAULT
    if any(getattr(flags, key) for key in _CLUSTER) and not (flags.check and flags.live):
        raise UsageError("--live, --context and --kubeconfig are for --check: write --check --live")
    if flags.check or flags.renew:
        _refuse_others(flags)
    if flags.check and flags.live:
        kubectl = kubectl_of(flags, environ)
        return write_lines(up_to_wrong(right(kubectl, folder, datetime.now(UTC))), stdout)
    if flags.check:
        return check(folder, stdout, datetime.now(UTC))
    days = _days(flags)
    if flags.renew:
        message = _renew(folder, days, environ)
    elif flags.remove:
        message = _remove(folder, setup_files.files(_choices(flags)))
    else:
        message = _write(folder, _choices(flags), days, force=flags.force, environ=environ)
    stderr.write(message)
    return 0


def _remove(folder: str, texts: Mapping[str, str]) -> str:
    ours = {**texts, ".gitignore": f"{SECRET}\n"}
    removed = remove_files(
        folder,
        ours,
        "webhook",
        lambda path, content: (
            content == ours[os.path.basename(path)].encode() or not _refusal(path, content, texts)
        ),
    )
    return f"{removed}Now, if it was applied: kubectl delete mutatingwebhookconfiguration archfit\n"


def _write(
    folder: str, choices: WebhookChoices, days: int, *, force: bool, environ: Mapping[str, str]
) -> str:
    texts = setup_files.files(choices)
    _refuse_others_files(folder, choices)
    certificate, ignored = "", {}
    if not choices.cert_manager:
        pair, is_new = _pair(folder, choices, days, environ)
        texts = setup_files.with_certificate(texts, pair)
        certificate = _valid_until(pair, choices, is_new=is_new)
        ignored = {".gitignore": File(f"{SECRET}\n".encode())}
    changed = write_files(
        folder, _files(texts) | ignored, lambda path, content: "" if force else _refusal(path, content, texts)
    )
    lines = (
        done(folder, changed=changed),
        certificate,
        f"Now run: kubectl apply --server-side -f {folder}",
        image_advice(choices.image),
    )
    return "".join(f"{line}\n" for line in lines if line)


def _files(texts: Mapping[str, str]) -> dict[str, File]:
    return {name: File(text.encode(), 0o600 if name == SECRET else None) for name, text in texts.items()}


def _refuse_others_files(folder: str, choices: WebhookChoices) -> None:
    """`kubectl apply -f` takes every file of the folder, also one of other choices. Raises ArchfitError."""
    others = (SECRET,) if choices.cert_manager else setup_files.CERT_MANAGER
    how = "without" if choices.cert_manager else "with"
    flags = dict.fromkeys(others, f"{how} --cert-manager")
    if not choices.network_policy:
        flags[setup_files.NETWORK_POLICY] = "without --no-network-policy"
    for name, flag in flags.items():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            raise ArchfitError(f"{path} was written {flag}: remove it, or use another directory")


def _renew(folder: str, days: int, environ: Mapping[str, str]) -> str:
    """A new certificate beside the files that are there, which keep their other lines."""
    there = webhook_folder.read(folder)
    if there.inject:
        raise ArchfitError(f"cert-manager renews the certificate of {folder} by itself")
    # The Secret may be missing: it does not belong into version control.
    texts = {SECRET: setup_files.files(WebhookChoices(namespace=there.namespace))[SECRET]}
    for name in (SECRET, WEBHOOK):
        content = content_of_users_file(os.path.join(folder, name))
        if content is not None:
            texts[name] = content.decode()
    pair = _beside_the_last(issue(there.dns_names, days, environ), there, datetime.now(UTC))
    texts = setup_files.with_certificate(texts, pair)
    write_files(folder, _files(texts), lambda _path, _content: "")
    expires = examine(pair, there.dns_names[0]).expires
    return (
        f"written: a new certificate in {folder}, valid until {expires:%Y-%m-%d}\n"
        f"Now run: kubectl apply --server-side -f {folder}\n"
    )


def _pair(
    folder: str, choices: WebhookChoices, days: int, environ: Mapping[str, str]
) -> tuple[KeyPair, bool]:
    """The pair in the folder while it is good for long enough, else a new one; whether it is new."""
    wanted = setup_files.dns_names("archfit", choices.namespace)
    now = datetime.now(UTC)
    there = webhook_folder.read_if_any(folder)
    if there and there.pair:
        try:
            if examine(there.pair, wanted[0]).share_left(now) > _KEPT_SHARE:
                return there.pair, False
        except Wrong:
            pass
    return _beside_the_last(issue(wanted, days, environ), there, now), True


def _beside_the_last(pair: KeyPair, there: WebhookFolder | None, now: datetime) -> KeyPair:
    """The pair with the CA that proves the last certificate, while that is valid."""
    if not there or not there.bundle:
        return pair
    last = newest_ca(there.bundle)
    try:
        expired = ca_expires(last) <= now
    except Wrong:
        return pair
    return pair if expired else pair.replace(ca=pair.ca + last)


def _valid_until(pair: KeyPair, choices: WebhookChoices, *, is_new: bool) -> str:
    expires = examine(pair, setup_files.dns_names("archfit", choices.namespace)[0]).expires
    return (
        f"the certificate is {'new, and ' if is_new else ''}valid until {expires:%Y-%m-%d}; renew it before that day "
        "with archfit setup webhook --renew, and apply the files again"
    )


def _refusal(path: str, content: bytes, texts: Mapping[str, str]) -> str:
    """Why a file that differs has to stay: more than its certificate differs."""
    name = os.path.basename(path)
    if name in _OURS:
        try:
            there, wanted = (
                setup_files.without_certificate(parsed(text)) for text in (content.decode(), texts[name])
            )
            if there == wanted:
                return ""
        except Exception:  # noqa: BLE001, S110 - whatever a file of the user's holds, it is none of ours
            pass
    return (
        f"{path} exists and differs: nothing was written. Replace it with --force, renew only the certificate with "
        "--renew, or name another directory with --into"
    )


def _refuse_others(flags: Namespace) -> None:
    """--check and --renew take what is in the folder."""
    flag = "--check" if flags.check else "--renew"
    if flags.check and flags.renew:
        raise UsageError("--check writes nothing and --renew does: leave one out")
    for key, value in vars(flags).items():
        if value and key not in _ALONE:
            raise UsageError(f"--{key.replace('_', '-')} says what to write: leave it out beside {flag}")
    if flags.check and flags.days is not None:
        raise UsageError("--days says what to write: leave it out beside --check")


def _days(flags: Namespace) -> int:
    text = "365" if flags.days is None else flags.days
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _LONGEST_DAYS):
        raise UsageError(f"--days: {text!r} cannot be used: write a number from 1 to {_LONGEST_DAYS}")
    if flags.cert_manager and flags.days is not None:
        raise UsageError("--days: cert-manager renews the certificate by itself: leave the flag out")
    return int(text)


def _choices(flags: Namespace) -> WebhookChoices:
    chosen = WebhookChoices(cert_manager=flags.cert_manager, network_policy=not flags.no_network_policy)
    for flag, (field, read) in _READ.items():
        value = getattr(flags, flag)
        if value is not None and value != []:
            chosen = chosen.replace(**{field: read(value)})
    if flags.no_network_policy and (flags.api_server or flags.egress_port):
        flag = "--api-server" if flags.api_server else "--egress-port"
        raise UsageError(f"{flag} is about the NetworkPolicy: leave it out beside --no-network-policy")
    if flags.api_server:
        chosen = chosen.replace(api_server=tuple(map(_cidr, dict.fromkeys(flags.api_server))))
    if len(chosen.configuration.encode()) + len(chosen.lock.encode()) > _LARGEST_CONFIGURATION:
        raise UsageError(
            "--lock-file: is larger than a ConfigMap may be (1 MB): leave it out, or use archfit policy --carrier crd"
        )
    return chosen


def _namespace(text: str) -> str:
    if object_name("--namespace", text, LABEL) == "kube-system":
        raise UsageError(
            "--namespace: the webhook is not asked for pods of kube-system: name another, as archfit"
        )
    return text


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise UsageError(f"--egress-port: {text!r} is not a port: write a number from 1 to 65535")
    return int(text)


def _client_ca(path: str) -> str:
    """The text of a file with authorities alone. Raises UsageError."""
    text = content("--client-ca", path)
    if b"PRIVATE KEY" in text:
        raise UsageError(
            f"--client-ca: {path!r} holds a private key, which a ConfigMap would show: name the CA's certificate alone"
        )
    try:
        admit_only(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), path)
    except ArchfitError as error:
        raise UsageError(str(error)) from None
    if len(text) > _LARGEST_CONFIGURATION:
        raise UsageError(
            "--client-ca: is larger than a ConfigMap may be (1 MB): name the CA's certificate alone"
        )
    return text.decode("ascii", "replace")


def _memory_limit(text: str) -> str:
    """The quantity, with which archfit serve starts. Raises UsageError."""
    if not text:
        raise UsageError("--memory-limit: is empty: write a quantity, such as 512Mi, or leave the flag out")
    memory_limit(text)
    return text


def _cidr(text: str) -> str:
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        network = None
    if network is None or "%" in text or text.partition("/")[2] != str(network.prefixlen):
        raise UsageError(
            f"--api-server: {text!r} is not a CIDR: write addresses as 10.0.0.0/28, one as 10.0.0.1/32"
        )
    return str(network)


def _pull_secret(text: str) -> tuple[str, str]:
    namespace, slash, name = text.partition("/")
    if not (slash and LABEL.fullmatch(namespace) and SUBDOMAIN.fullmatch(name)):
        raise UsageError(
            f"--pull-secret: {text!r} is not NAMESPACE/NAME: write it as shop/registry-credentials"
        )
    return namespace, name


# By flag: the choice, and what reads it.
_READ: dict[str, tuple[str, Callable[[Any], object]]] = {
    "namespace": ("namespace", _namespace),
    "image": ("image", image),
    "registry_secret": ("registry_secret", partial(object_name, "--registry-secret", form=SUBDOMAIN)),
    "priority_class": ("priority_class", partial(object_name, "--priority-class", form=SUBDOMAIN)),
    "egress_port": ("egress_ports", lambda texts: tuple(map(_port, texts))),
    "pull_secret": ("pull_secrets", lambda texts: tuple(map(_pull_secret, dict.fromkeys(texts)))),
    "configuration": ("configuration", configuration),
    "lock_file": ("lock", lambda path: content("--lock-file", path).decode("utf-8", "replace")),
    "client_ca": ("client_ca", _client_ca),
    "memory_limit": ("memory_limit", _memory_limit),
}
