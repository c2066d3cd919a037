"""Many images at once: threads that start together, one for each image up to 32 for a server.

    question (reference, what the cache knew)  ->  Found | Absent | Unknown

    tag, stale in the cache     HEAD; the same digest confirms it; another one is looked up in the cache, then fetched
    anything else               GET by tag or digest; platforms by `walk`

The threads are daemons and the caller stops waiting at the deadline, so that neither a name server nor a dripping
proxy can hold up the run. (`concurrent.futures` would wait for its threads when the interpreter ends.)
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque

from archfit.errors import InvalidManifest, ManifestUnknown, RegistryError
from archfit.images.platforms import Absent, Found, Unknown
from archfit.record import Record
from archfit.registry import manifest, walk
from archfit.registry.hosts import SHARE
from archfit.registry.mirrors import place_of, target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from archfit.images.reference import Reference
    from archfit.options.values import Mirror
    from archfit.registry.client import Client, Document
    from archfit.registry.manifest import Descriptor
    from archfit.registry.mirrors import Target
    from archfit.registry.wire import Wire

    Asked: TypeAlias = Found | Absent | Unknown


class Question(Record):
    """An image to ask for. known: what the cache has for its tag, too old to be believed; None if nothing."""

    reference: Reference
    known: Found | None = None


class Crew:
    """recall: platforms that the cache has for a digest of a repository; called from several threads.

    named_hosts_only: a reference alone opens no private network; only a server that the operator named may be there.
    documents: by normalised reference, what was read and where; None, and nothing is kept, unless somebody sets it.
    """

    def __init__(
        self,
        client: Client,
        wire: Wire,
        mirrors: tuple[Mirror, ...],
        recall: Callable[[Reference, str], Found | None],
        *,
        named_hosts_only: bool = False,
    ) -> None:
        self._named_hosts_only = named_hosts_only
        self._client = client
        self._wire = wire
        self._mirrors = mirrors
        self._recall = recall
        self.documents: dict[str, tuple[Target, Document]] | None = None

    def targets(self, questions: Sequence[Question]) -> list[Target]:
        """Where each question will be asked; the references' own registries become dialable."""
        found = [target(question.reference, self._mirrors) for question in questions]
        for place in found:
            if not place.configured and not self._named_hosts_only:
                with contextlib.suppress(RegistryError):  # asking it says the same
                    self._wire.own.add(place_of(place.origin))
        return found

    def ask(
        self,
        questions: Sequence[Question],
        targets: Sequence[Target],
        progress: Callable[[int, int], None] | None,
    ) -> list[Asked]:
        """An answer for each question, in their order, before the wire's deadline."""
        waiting: dict[str, deque[int]] = {}
        for index, place in enumerate(targets):
            waiting.setdefault(place.origin, deque()).append(index)
        done: queue.SimpleQueue[tuple[int, Asked | Exception]] = queue.SimpleQueue()

        def work(indices: deque[int]) -> None:
            while True:
                try:
                    index = indices.popleft()
                except IndexError:
                    return
                done.put((index, self._answer(questions[index], targets[index])))

        for indices in waiting.values():
            for _ in range(min(SHARE, len(indices))):
                threading.Thread(target=work, args=(indices,), daemon=True).start()
        answers: dict[int, Asked] = {}
        while len(answers) < len(questions):
            try:
                index, answer = done.get(timeout=self._wire.left())
            except queue.Empty:
                break
            if isinstance(answer, Exception):
                raise answer
            answers[index] = answer
            if progress:
                progress(len(answers), len(questions))
        return [answers.get(index) or self._late(place) for index, place in enumerate(targets)]

    def _late(self, place: Target) -> Unknown:
        return Unknown(
            f"{place.origin} gave no answer before the deadline: try again, or allow more with --timeout"
        )

    def _answer(self, question: Question, place: Target) -> Asked | Exception:
        try:
            return self._resolve(question, place)
        except ManifestUnknown as error:
            return Absent(str(error))
        except RegistryError as error:
            return Unknown(str(error))
        except InvalidManifest as error:
            return Unknown(
                f"{place.origin} answered for {question.reference}, but not understandably: {error}"
            )
        except Exception as error:  # noqa: BLE001 - a bug must reach the caller, not end a thread in silence
            return error

    def _resolve(self, question: Question, place: Target) -> Found:
        reference, known = question.reference, question.known
        if known and reference.tag:
            digest = self._client.digest(place, reference.tag)
            if digest:
                if digest == known.digest:
                    return known.replace(origin="registry", age_seconds=0)
                seen = self._recall(reference, digest)
                if seen:
                    return seen.replace(origin="registry", age_seconds=0)
                try:
                    return self._read(reference, place, digest)
                except ManifestUnknown:
                    pass  # The tag has moved on since; or the server's digest is none of its own.
        return self._read(reference, place, reference.digest or reference.tag)

    def _read(self, reference: Reference, place: Target, tag_or_digest: str) -> Found:
        document = self._client.manifest(place, tag_or_digest)
        if self.documents is not None:
            self.documents[reference.normalised] = (place, document)

        def read(kind: str, descriptor: Descriptor) -> bytes:
            if kind == "blobs":
                return self._client.blob(place, descriptor.digest)
            try:
                return self._client.manifest(place, descriptor.digest).body
            except ManifestUnknown as error:
                raise RegistryError(f"{error}, which its index names", status=404) from None

        parsed = manifest.parse(document.body, document.content_type)
        offer = walk.offered(parsed, document.digest, read)
        return Found(offer.platforms, document.digest, offer.index, offer.image)
