"""Answers that pull secrets give, for Pods that refer to Secrets which the operator named.

A Secret of the cluster that the server runs in is read by name with its service account, and kept in memory for five
minutes, one that cannot be read for half a minute. Each credential has a Lookup of its own, so that a shared cache
keeps what it learned under that credential's name (`lookup.scoped_keys`).

Nothing of a Secret is logged, cached on disk or shown in an error.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from archfit.base.errors import ArchfitError, UsageError
from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.service_account import FOLDER, HOST, ServiceAccount
from archfit.images.platforms import Answer, Unknown
from archfit.images.reference import Reference, parse
from archfit.lookup.lookup import Lookup
from archfit.registry.credentials.credential import Credential, from_entry
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.endpoints import itself
from archfit.webhook.lookups.messages import Ask, Replies
from archfit.workloads.pull_secrets import SecretEntry, entries_of, matching
from archfit.yaml.values import mapping_of

_SECONDS = 5.0


class ClusterSecrets:
    """environ: of the process. folder: token and ca.crt of the service account.

    Raises UsageError outside of a cluster.
    """

    def __init__(self, environ: Mapping[str, str], folder: str = FOLDER) -> None:
        self._environ, self._folder = environ, folder
        if not environ.get(HOST) or not os.path.exists(os.path.join(folder, "token")):
            raise UsageError(
                "--pull-secret: archfit reads Secrets in a cluster only, with a service account: set "
                "automountServiceAccountToken: true, or mount the credentials and name them in --authfile"
            )

    def read(self, secret: str) -> dict[str, Any]:
        """The Secret as the API server writes it. Raises ArchfitError, which says nothing of its content."""
        namespace, _, name = secret.partition("/")
        try:
            with closing(ServiceAccount(self._environ, seconds=_SECONDS, folder=self._folder)) as account:
                value = account.get(f"/api/v1/namespaces/{namespace}/secrets/{name}")
        except ClusterError as error:
            remedy = (
                ": allow the service account to get it by name (RBAC)" if error.reason == "forbidden" else ""
            )
            raise ArchfitError(
                f"--pull-secret: Secret {secret} cannot be read ({error.reason}){remedy}"
            ) from None
        return mapping_of(value)


KEPT_SECONDS = 300.0
PAUSE_SECONDS = 30.0
Chosen = Mapping[tuple[str, str], Credential]


@dataclass(eq=False, repr=False)
class PullSecretAnswers:
    """read: a Secret as the API server writes it; raises ArchfitError. open_lookup: a Lookup with these credentials.

    clock: seconds of a clock that never goes back. Safe to use from several threads.
    """

    read: Callable[[str], Mapping[str, Any]]
    open_lookup: Callable[[Chosen], Lookup]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._kept: dict[str, tuple[tuple[SecretEntry, ...], float]] = {}

    def answer(self, ask: Ask) -> tuple[Answer | None, Sequence[str], Replies]:
        """The answer that a credential gave, None if none did; warnings; answers of servers."""
        messages: list[str] = []
        replies = Counter[tuple[str, int]]()
        reference = parse(ask.text)
        until = self.clock() + ask.seconds
        for credential in self._credentials(ask.secrets, reference, messages):
            left = until - self.clock()
            if left <= 0:
                break
            chosen = {(itself(reference).host, reference.repository): credential}
            with closing(self.open_lookup(chosen)) as lookup:
                answer = lookup.resolve([reference.original], seconds=left)[reference.original]
                messages += lookup.warnings
                replies.update(lookup.take_replies())
            if not isinstance(answer, Unknown):
                return answer, messages, replies
        return None, messages, replies

    def _credentials(
        self, secrets: Sequence[str], reference: Reference, messages: list[str]
    ) -> Sequence[Credential]:
        credentials: dict[Credential, None] = {}
        for secret in secrets:
            try:
                for entry in matching(self._entries(secret), reference.registry, reference.repository):
                    if credential := from_entry(entry.value, entry.source):
                        credentials[credential] = None
            except (ArchfitError, RegistryError) as error:
                messages.append(str(error))
        return tuple(credentials)

    def _entries(self, secret: str) -> tuple[SecretEntry, ...]:
        kept = self._kept.get(secret)
        if kept and self.clock() < kept[1]:
            return kept[0]
        entries: tuple[SecretEntry, ...] | None = None
        try:
            entries = entries_of(self.read(secret), f"Secret {secret}")
        finally:
            seconds = PAUSE_SECONDS if entries is None else KEPT_SECONDS
            self._kept[secret] = entries or (), self.clock() + seconds
        if entries is None:
            raise ArchfitError(
                f"--pull-secret: Secret {secret} is no pull secret: make it with "
                "kubectl create secret docker-registry"
            )
        return entries
