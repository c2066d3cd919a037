"""`--pull-secrets`: lookups with the pull secrets of the stream, before those with the operator's credentials.

Each round is a lookup of its own, whose keychain has one secret for each repository; so a shared cache keeps its
answers under that secret's name (`scoped_keys`). The rounds share one deadline.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Protocol, TypeAlias

from archfit.base.errors import InvalidReference
from archfit.images.platforms import Answer, Unknown
from archfit.images.reference import parse
from archfit.options.settings import Operator, Options
from archfit.registry.credentials.credential import Credential, from_entry
from archfit.registry.credentials.keychain import PullKeychain
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.endpoints import itself
from archfit.workloads.builtin import by_kind
from archfit.workloads.pull_secrets import matching, pull_secrets
from archfit.yaml.stream import Piece

Repository: TypeAlias = tuple[str, str]


class RoundLookup(Protocol):
    """That of a round; `lookup.Lookup` is it, and stands above this file."""

    warnings: list[str]

    @property
    def requests(self) -> Mapping[str, int]: ...

    @property
    def pulls_left(self) -> Mapping[str, str]: ...

    def resolve(self, texts: Iterable[str]) -> Mapping[str, Answer]: ...

    def close(self) -> None: ...


Open: TypeAlias = Callable[[Operator, PullKeychain], RoundLookup]


class PullSecretLookup:
    """Of streams that are applied together.

    warnings, requests, pulls_left: of the lookups so far, as a Lookup has them.
    """

    def __init__(self, streams: Iterable[tuple[bytes, Sequence[Piece]]], options: Options) -> None:
        entries, warnings = pull_secrets(streams, by_kind(options.workloads))
        self.warnings = list(warnings)
        self.requests: dict[str, int] = {}
        self.pulls_left: dict[str, str] = {}
        self._repositories: dict[str, Repository] = {}
        self._credentials: dict[Repository, dict[Credential, None]] = {}
        for text, some in entries.items():
            try:
                reference = parse(text)
            except InvalidReference:
                continue
            repository = self._repositories[text] = (itself(reference).host, reference.repository)
            known = self._credentials.setdefault(repository, {})
            for entry in matching(some, reference.registry, reference.repository):
                try:
                    if credential := from_entry(entry.value, entry.source):
                        known[credential] = None
                except RegistryError as error:
                    self.warnings.append(str(error))

    def answers(
        self, texts: Sequence[str], operator: Operator, environ: Mapping[str, str], opened: Open
    ) -> dict[str, Answer]:
        """The answers that a pull secret gave, by image string; the rest is left to the run's own lookup."""
        give_up = time.monotonic() + operator.timeout_seconds
        answers: dict[str, Answer] = {}
        number = 0
        while True:
            chosen = {
                repository: list(some)[number]
                for repository, some in self._credentials.items()
                if len(some) > number
            }
            wanted = [
                text for text in texts if text not in answers and self._repositories.get(text) in chosen
            ]
            left = give_up - time.monotonic()
            if not wanted or left <= 0:
                return answers
            keychain = PullKeychain(operator.authfile, environ, chosen)
            with closing(opened(operator.replace(timeout_seconds=left), keychain)) as lookup:
                answered = lookup.resolve(wanted)
            answers |= {text: answer for text, answer in answered.items() if not isinstance(answer, Unknown)}
            self.warnings += [text for text in lookup.warnings if text not in self.warnings]
            self.pulls_left |= lookup.pulls_left
            for kind, count in lookup.requests.items():
                self.requests[kind] = self.requests.get(kind, 0) + count
            number += 1
