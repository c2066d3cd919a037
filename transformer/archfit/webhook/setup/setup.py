"""`archfit setup webhook [--into DIR] [OPTION]..`: the manifests that run `archfit serve` in a cluster.

    --into DIR    writes the manifests, see setup_files, for `kubectl apply -f DIR`
    --renew       a new certificate in DIR; the rest stays as it is
    --check       writes nothing; does what is in DIR fit together, and for how long? See setup_check
    --live        with --check: does it work in the cluster? See installed_webhook

The certificate in DIR is kept while more than a third of its time is left. A new one comes with a CA of its own, and
caBundle then holds the last CA too: the API server believes pods that have not read the new certificate yet.

A file that is there and differs is never replaced without --force: it may hold somebody's work.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import BinaryIO, TextIO

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
from archfit.webhook.server.memory_budget import memory_limit
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
    found, words = BY_NAME["setup webhook"].parser().read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup webhook --help")
    if found.into == "":
        raise UsageError("--into: is empty: write a path, or leave the flag out")
    folder = found.into or _DEFAULT
    if any(getattr(found, key) for key in _CLUSTER) and not (found.check and found.live):
        raise UsageError("--live, --context and --kubeconfig are for --check: write --check --live")
    if found.check or found.renew:
        _refuse_others(found)
    if found.check and found.live:
        kubectl = kubectl_of(found, environ)
        return write_lines(up_to_wrong(right(kubectl, folder, datetime.now(UTC))), stdout)
    if found.check:
        return check(folder, stdout, datetime.now(UTC))
    days = _days(found)
    if found.renew:
        return _renew(folder, days, stderr, environ)
    return _write(
        folder, _choices(found), days, force=found.force, remove=found.remove, stderr=stderr, environ=environ
    )


def _write(
    folder: str,
    choices: WebhookChoices,
    days: int,
    *,
    force: bool,
    remove: bool,
    stderr: TextIO,
    environ: Mapping[str, str],
) -> int:
    texts = setup_files.files(choices)
    if remove:
        ours = {**texts, ".gitignore": f"{SECRET}\n"}
        stderr.write(
            remove_files(
                folder,
                ours,
                "webhook",
                lambda path, content: (
                    content == ours[os.path.basename(path)].encode() or not _refusal(path, content, texts)
                ),
            )
            + "Now, if it was applied: kubectl delete mutatingwebhookconfiguration archfit\n"
        )
        return 0
    _refuse_others_files(folder, choices)
    lines = [f"Now run: kubectl apply --server-side -f {folder}"]
    if not choices.cert_manager:
        pair, is_new = _pair(folder, choices, days, environ)
        texts = setup_files.with_certificate(texts, pair)
        lines.insert(0, _valid_until(pair, choices, is_new=is_new))
    wanted = {name: File(text.encode(), 0o600 if name == SECRET else None) for name, text in texts.items()}
    if not choices.cert_manager:
        wanted[".gitignore"] = File(f"{SECRET}\n".encode())
    changed = write_files(
        folder, wanted, lambda path, content: "" if force else _refusal(path, content, texts)
    )
    lines.insert(0, done(folder, changed=changed))
    lines.append(image_advice(choices.image))
    stderr.write("".join(f"{line}\n" for line in lines if line))
    return 0


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


def _renew(folder: str, days: int, stderr: TextIO, environ: Mapping[str, str]) -> int:
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
    wanted = {name: File(text.encode(), 0o600 if name == SECRET else None) for name, text in texts.items()}
    write_files(folder, wanted, lambda _path, _content: "")
    expires = examine(pair, there.dns_names[0]).expires
    stderr.write(
        f"written: a new certificate in {folder}, valid until {expires:%Y-%m-%d}\n"
        f"Now run: kubectl apply --server-side -f {folder}\n"
    )
    return 0


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


def _refuse_others(found: Namespace) -> None:
    """--check and --renew take what is in the folder."""
    flag = "--check" if found.check else "--renew"
    if found.check and found.renew:
        raise UsageError("--check writes nothing and --renew does: leave one out")
    for key, value in vars(found).items():
        if value and key not in _ALONE:
            raise UsageError(f"--{key.replace('_', '-')} says what to write: leave it out beside {flag}")
    if found.check and found.days is not None:
        raise UsageError("--days says what to write: leave it out beside --check")


def _days(found: Namespace) -> int:
    text = "365" if found.days is None else found.days
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _LONGEST_DAYS):
        raise UsageError(f"--days: {text!r} cannot be used: write a number from 1 to {_LONGEST_DAYS}")
    if found.cert_manager and found.days is not None:
        raise UsageError("--days: cert-manager renews the certificate by itself: leave the flag out")
    return int(text)


def _choices(found: Namespace) -> WebhookChoices:
    chosen = WebhookChoices(cert_manager=found.cert_manager)
    if found.namespace is not None:
        chosen = chosen.replace(namespace=object_name("--namespace", found.namespace, LABEL))
    if chosen.namespace == "kube-system":
        raise UsageError(
            "--namespace: the webhook is not asked for pods of kube-system: name another, as archfit"
        )
    if found.image is not None:
        chosen = chosen.replace(image=image(found.image))
    if found.registry_secret is not None:
        name = object_name("--registry-secret", found.registry_secret, SUBDOMAIN)
        chosen = chosen.replace(registry_secret=name)
    if found.priority_class is not None:
        name = object_name("--priority-class", found.priority_class, SUBDOMAIN)
        chosen = chosen.replace(priority_class=name)
    if found.egress_port:
        chosen = chosen.replace(egress_ports=tuple(map(_port, found.egress_port)))
    if found.pull_secret:
        chosen = chosen.replace(pull_secrets=tuple(map(_pull_secret, dict.fromkeys(found.pull_secret))))
    if found.configuration is not None:
        chosen = chosen.replace(configuration=configuration(found.configuration))
    if found.lock_file is not None:
        chosen = chosen.replace(lock=content("--lock-file", found.lock_file).decode("utf-8", "replace"))
    if found.client_ca is not None:
        chosen = chosen.replace(client_ca=_client_ca(found.client_ca))
    if found.memory_limit is not None:
        chosen = chosen.replace(memory_limit=_memory_limit(found.memory_limit))
    if found.no_network_policy and (found.api_server or found.egress_port):
        flag = "--api-server" if found.api_server else "--egress-port"
        raise UsageError(f"{flag} is about the NetworkPolicy: leave it out beside --no-network-policy")
    if found.api_server:
        chosen = chosen.replace(api_server=tuple(map(_cidr, dict.fromkeys(found.api_server))))
    chosen = chosen.replace(network_policy=not found.no_network_policy)
    if len(chosen.configuration.encode()) + len(chosen.lock.encode()) > _LARGEST_CONFIGURATION:
        raise UsageError(
            "--lock-file: is larger than a ConfigMap may be (1 MB): leave it out, or use archfit policy --carrier crd"
        )
    return chosen


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
