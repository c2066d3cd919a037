"""Pull secrets of a stream, as the kubelet would use them for its pods.

    key of a Secret                image                          matches
    registry.example/team          registry.example/team/app      yes
    registry.example/te            registry.example/team/app      no: paths are cut at "/"
    *.example                      registry.example/app           yes: a glob is for one label of the host
    *.example                      eu.registry.example/app        no
    registry.example:5000          registry.example/app           no: ports are equal, or both missing
    https://registry.example/v1/   registry.example/app           yes: scheme and /v1/, /v2/ mean nothing

Longer keys come first. What is found here holds passwords: it is kept in memory, and has no text. Source: kubelet,
pkg/credentialprovider/keyring.go; Kubernetes, plugin/pkg/admission/serviceaccount.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from archfit.images.reference import HUB, HUB_NAMES
from archfit.startup.record import Record
from archfit.workloads.builtin import UserRows
from archfit.workloads.inventory import scan_piece
from archfit.workloads.node_selectors import agreed, objects_beside
from archfit.workloads.pods import Pod
from archfit.yaml.stream import Piece
from archfit.yaml.values import mapping_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = frozenset((("", "ServiceAccount"), ("", "Secret")))
_TYPES = {"kubernetes.io/dockerconfigjson": ".dockerconfigjson", "kubernetes.io/dockercfg": ".dockercfg"}


class SecretEntry(Record):
    """One registry of a Secret. key: as written. value: with the password. source: for messages."""

    key: str
    value: Mapping[str, Any]
    source: str

    def __repr__(self) -> str:
        return f"SecretEntry(source={self.source!r})"


def pull_secrets(
    streams: Iterable[tuple[bytes, Sequence[Piece]]], user_rows: UserRows
) -> tuple[dict[str, tuple[SecretEntry, ...]], tuple[str, ...]]:
    """For each image string of the pods the entries that their Secrets have, whatever registry they are for.

    And warnings: Secrets that are named and cannot be read, or of which several differ. streams: applied together.
    """
    parts = [(data, piece) for data, pieces in streams for piece in pieces]
    objects, unlike = agreed(
        (
            _title(kind, mapping_of(item.get("metadata"))),
            {part: item[part] for part in item if part != "metadata"},
        )
        for data, piece in parts
        for (_, kind), item in objects_beside(data, (piece,), (b"Secret", b"ServiceAccount"), _KINDS)
    )
    entries: dict[str, dict[str, SecretEntry]] = {}
    warnings: dict[str, None] = {}
    inventories = (scan_piece(data, piece, user_rows) for data, piece in parts) if objects or unlike else ()
    pods = (pod for inventory in inventories for document in inventory.documents for pod in document.pods)
    for pod in pods:
        for secret in _named(pod, objects):
            if secret in unlike:
                warnings[unlike[secret].text] = None
            if secret not in objects:
                continue
            listed = entries_of(objects[secret], secret)
            if listed is None:
                warnings[f"{secret} cannot be read as a pull secret, and is not used"] = None
            for use in pod.images:
                entries.setdefault(use.text or "", {}).update((entry.source, entry) for entry in listed or ())
    return {text: tuple(some.values()) for text, some in entries.items() if text and some}, tuple(warnings)


def matching(entries: Iterable[SecretEntry], host: str, repository: str) -> list[SecretEntry]:
    """Those for an image of `host[:port]`, longer keys first."""
    places = [(_place(entry.key), entry) for entry in entries]
    hits = [(place, entry) for place, entry in places if _matches(place, _folded(host), repository)]
    return [entry for _, entry in sorted(hits, key=lambda hit: hit[0], reverse=True)]


def _place(key: str) -> tuple[str, str]:
    host, _, path = key.removeprefix("https://").removeprefix("http://").partition("/")
    version, slash, rest = path.partition("/")
    return _folded(host), (rest if version in {"v1", "v2"} and (slash or not rest) else path).strip("/")


def _folded(host: str) -> str:
    return HUB if host.lower() in HUB_NAMES else host.lower()


def _matches(place: tuple[str, str], host: str, repository: str) -> bool:
    (pattern, _, port), (name, _, wanted) = place[0].partition(":"), host.partition(":")
    globs, labels = pattern.split("."), name.split(".")
    return (
        port == wanted
        and len(globs) == len(labels)
        and all(fnmatchcase(label, glob) for label, glob in zip(labels, globs, strict=True))
        and (not place[1] or f"{repository}/".startswith(f"{place[1]}/"))
    )


def _title(kind: str, named: Mapping[str, Any]) -> str:
    """named: has the namespace and the name."""
    return f"{kind} {'/'.join(filter(None, (text_of(named.get('namespace')), text_of(named.get('name')))))}"


def _named(pod: Pod, objects: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The titles of its Secrets. objects: the ServiceAccounts are among them."""
    space = {"namespace": pod.ref.namespace}
    names = _names(pod.spec)
    if not names:
        account = pod.spec.get("serviceAccountName") or pod.spec.get("serviceAccount") or "default"
        names = _names(objects.get(_title("ServiceAccount", {**space, "name": account}), {}))
    return [_title("Secret", {**space, "name": name}) for name in names]


def _names(holder: Mapping[str, Any]) -> list[str]:
    listed = holder.get("imagePullSecrets")
    items = listed if isinstance(listed, list) else []
    return [name for item in items if isinstance(item, dict) and (name := text_of(item.get("name")))]


def entries_of(secret: Mapping[str, Any], source: str) -> tuple[SecretEntry, ...] | None:
    """What a Secret holds, None where that cannot be read."""
    field = _TYPES.get(text_of(secret.get("type")))
    if field is None:
        return None
    plain, encoded = (
        text_of(part.get(field)) if isinstance(part, dict) else ""
        for part in (secret.get("stringData"), secret.get("data"))
    )
    try:
        document = json.loads(plain or base64.b64decode("".join(encoded.split()), validate=True))
    except (ValueError, RecursionError):
        return None
    auths = document.get("auths") if field == ".dockerconfigjson" and isinstance(document, dict) else document
    if not isinstance(auths, dict):
        return None
    return tuple(
        SecretEntry(key, value, f"{source} ({key})")
        for key, value in auths.items()
        if isinstance(value, dict)
    )
