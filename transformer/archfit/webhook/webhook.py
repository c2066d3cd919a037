"""The webhook, as an ASGI application: POST /mutate?timeout=10s. The probes answer on the same port, too.

Memory is taken from shares (`memory_budget`) before a body of more than 16 KiB is read, again before it is decoded, and
for what waits for lookups. Where there is no memory or no time, the Pod is admitted as it is, with a warning; 503 where
the uid of the review is not where Go writes it.

The API server allows as long as the URL says, 10 s by default. Four fifths of it are for lookups: then the missing
answers are Unknown, and the lookups go on. Any error of archfit's own admits the Pod as it is.

A body of more than 16 KiB is read and its Pod decided in a thread, so that others do not wait for it. One after
another: `repeated fields` and `annotations` of `lab/campaign/webhook` keep the event loop for seconds without it.
Source: ASGI 3.0, HTTP; Kubernetes, "Dynamic Admission Control", request and response.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar
from urllib.parse import parse_qs

from archfit.base.errors import ArchfitError, Problem, message_of
from archfit.options.option_types import duration
from archfit.webhook.admission_decision import (
    BUG,
    IGNORED,
    AdmissionDecision,
    DecisionCache,
    failed,
    kept_bytes,
    shortened,
)
from archfit.webhook.lookups.messages import Secrets
from archfit.webhook.lookups.shared_answers import SharedAnswers
from archfit.webhook.memory_budget import Share
from archfit.webhook.review import (
    NO_MEMORY,
    NO_TIME,
    BadReview,
    Review,
    Undecided,
    decoded_bytes,
    read_review,
    response,
    uid_of,
)
from archfit.webhook.server_log import ServerLog
from archfit.webhook.server_metrics import Application, Receive, Scope, Send, ServerMetrics
from archfit.yaml.values import mapping_of

_T = TypeVar("_T")
PATH = "/mutate"
PROBES = ("/livez", "/readyz")
MOST_BYTES = 4 * 1024 * 1024
MOST_REQUESTS = 1000
DEFAULT_SECONDS = 10.0
LONGEST_SECONDS = 30.0
BUDGET = 0.8
_LAST_SECONDS = 1.0
"""For the turn of a Pod whose lookups took all the time that they had: less than the fifth that is left of 10 s."""
_SMALL = 16 * 1024
BODY_SECONDS = 2.0
"""For a body to arrive for which others may wait; an API server sends it at once."""
_BEGINNING = 4096
_LONGEST_LENGTH = 10
_JSON = (b"content-type", b"application/json")
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_CLOSE = (b"connection", b"close")
_LEVELS = {**dict.fromkeys(("denied", "unresolved", "conflict", "over_budget"), "warning"), "error": "error"}


class Gone(Exception):
    """The client closed the connection before its request was complete."""


@dataclass(eq=False, repr=False)
class Webhook:
    """bodies, reviews: what they hold of memory. probes: answers /livez and /readyz here too.

    pull_secrets: those that the operator named. clock: seconds of a clock that never goes back.
    draining: set from outside; each response then closes its connection.
    """

    answers: SharedAnswers
    decisions: DecisionCache
    metrics: ServerMetrics
    log: ServerLog
    bodies: Share
    reviews: Share
    probes: Application
    pull_secrets: frozenset[str] = frozenset()
    clock: Callable[[], float] = time.monotonic
    draining: bool = False

    def __post_init__(self) -> None:
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in PROBES:
            await self.probes(scope, receive, send)
            return
        started = self.clock()
        self.metrics.in_progress += 1
        try:
            status, content, closes = await self._answered(scope, receive, started)
            await self._send(send, scope, status, content, closes=closes)
        except Gone:
            pass
        finally:
            self.metrics.in_progress -= 1

    async def _answered(self, scope: Scope, receive: Receive, started: float) -> tuple[int, bytes, bool]:
        """Status and body of the response, and whether the connection closes with it. Raises Gone."""
        until = started + budget(scope["query_string"])
        try:
            size = _size(scope)
            apart = size > _SMALL
            review = await self._large(receive, size, until) if apart else read_review(await _body(receive))
            decision, images = await self._decision(review, until, apart=apart)
        except TimeoutError:
            self.metrics.closed["body"].inc()
            scope["state"]["abort"]()
            raise Gone from None
        except Undecided as error:
            if not error.uid:
                return self._bad(BadReview(str(error), 503), started)
            review, images = Review(error.uid, "", "", dry_run=False, pod=None), 0
            decision = failed(error.warning, str(error), "over_budget")
        except BadReview as error:
            return self._bad(error, started)
        self._tell(decision, review, images, started)
        return 200, response(review.uid, decision.members), False

    def _bad(self, error: BadReview, started: float) -> tuple[int, bytes, bool]:
        self.metrics.answered("invalid", self.clock() - started)
        self.metrics.http_errors[error.status].inc()
        self.log.line("warning", "bad request", status=error.status, reason=str(error))
        return error.status, f"{error}\n".encode(), True

    async def _large(self, receive: Receive, size: int, until: float) -> Review:
        """The review in a body of more than 16 KiB. Raises BadReview, Undecided, Gone, TimeoutError."""
        if not await self.bodies.room(size, until - self.clock()):
            raise Undecided(NO_MEMORY, uid_of(await _body(receive, most=_BEGINNING)))
        try:
            body = await _body(receive, BODY_SECONDS)
            try:
                return await self._apart(until, partial(read_review, body), decoded_bytes(body))
            except Undecided as error:
                error.uid = error.uid or uid_of(body)
                raise
        finally:
            self.bodies.give(size)

    async def _apart(self, until: float, step: Callable[[], _T], size: int = 0) -> _T:
        """What a step returns, in a thread; one after another. size: bytes that it takes. Raises Undecided."""
        try:
            await asyncio.wait_for(self._turn.acquire(), max(0.0, until - self.clock()))
        except TimeoutError:
            raise Undecided(NO_TIME) from None
        try:
            with self._memory(size):
                return await asyncio.to_thread(step)
        finally:
            self._turn.release()

    @contextlib.contextmanager
    def _memory(self, size: int) -> Iterator[None]:
        """Bytes for a review, until the `with` ends; never those that a small one needs. Raises Undecided."""
        if size > self.reviews.size * 7 // 8 or not self.reviews.take(size):
            self.reviews.refused()
            raise Undecided(NO_MEMORY)
        try:
            yield
        finally:
            self.reviews.give(size)

    async def _decision(self, review: Review, until: float, *, apart: bool) -> tuple[AdmissionDecision, int]:
        """The decision, and how many images were asked for. until: when lookups have to be done."""
        if review.pod is None:
            return IGNORED, 0
        try:
            return await self._decided(review, until, apart=apart)
        except Undecided as error:
            return failed(error.warning, str(error), "over_budget"), 0
        except ArchfitError as error:  # overrides that disagree, more images than a pod may have
            return failed(shortened(f"archfit: {error}"), str(error)), 0
        except Exception as error:  # noqa: BLE001 - the Pod is admitted, whatever fails
            return failed(BUG, message_of(error)), 0

    def _tell(self, decision: AdmissionDecision, review: Review, images: int, started: float) -> None:
        took = self.clock() - started
        self.metrics.answered(decision.outcome, took)
        level = _LEVELS.get(decision.outcome, "info")
        if self.log.writes(level):
            self.log.line(
                level,
                "admission",
                uid=review.uid,
                namespace=review.namespace,
                name=review.name,
                outcome=decision.outcome,
                reason=decision.reason,
                images=images,
                durationMs=round(took * 1000, 3),
                dryRun=review.dry_run,
            )

    async def _decided(self, review: Review, until: float, *, apart: bool) -> tuple[AdmissionDecision, int]:
        pod, namespace = review.pod or {}, review.namespace
        key = self.decisions.key(pod, namespace)
        kept = self.decisions.kept(key)
        if kept is None:
            fresh = partial(self.decisions.fresh, pod, namespace)
            kept = await self._apart(until, fresh) if apart else fresh()
            self.decisions.keep(key, kept, pod)
        secrets = self._secrets(review) if self.pull_secrets else ()
        known = {text: self.answers.known(text, secrets) for text in kept.admitted.questions}
        answers = {text: answer for text, answer in known.items() if answer is not None}
        missing = [text for text in known if text not in answers]
        if missing:  # many requests may wait, so what each keeps meanwhile counts
            with self._memory(kept_bytes(pod)):
                left = until - self.clock()
                fresh_answers, in_time = await self.answers.look_up(missing, namespace, left, secrets)
            answers |= fresh_answers
            if not in_time:
                self.metrics.deadlines.inc()
        decision = kept.last(answers)
        if decision is None:
            decide = partial(kept.decision, answers)
            last = max(until, self.clock() + _LAST_SECONDS)
            decision = await self._apart(last, decide) if apart else decide()
        return decision, len(kept.admitted.questions)

    def _secrets(self, review: Review) -> Secrets:
        """The Secrets that the Pod refers to and the operator named, in the Pod's order."""
        listed = mapping_of((review.pod or {}).get("spec")).get("imagePullSecrets")
        names = [mapping_of(entry).get("name") for entry in listed] if isinstance(listed, list) else []
        referred = dict.fromkeys(f"{review.namespace}/{name}" for name in names)
        return tuple(secret for secret in referred if secret in self.pull_secrets)

    async def _send(self, send: Send, scope: Scope, status: int, body: bytes, *, closes: bool) -> None:
        headers = [_JSON if status == 200 else _TEXT, (b"content-length", b"%d" % len(body))]
        if status == 405:
            headers.append((b"allow", b"POST"))
        state = scope.get("state")
        if closes or self.draining or (state and state.get("requests", 0) >= MOST_REQUESTS):
            headers.append(_CLOSE)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@lru_cache(maxsize=64)
def budget(query: bytes) -> float:
    """Seconds for lookups: four fifths of the `timeout` in a URL's query, which Go's client writes as `10s`."""
    try:
        seconds = duration(parse_qs(query.decode("latin-1")).get("timeout", [""])[0])
    except Problem:
        seconds = DEFAULT_SECONDS
    return BUDGET * min(seconds or DEFAULT_SECONDS, LONGEST_SECONDS)


async def _body(receive: Receive, seconds: float | None = None, most: int = MOST_BYTES) -> bytes:
    """A body, as far as `most` bytes; what follows is let go as it arrives. seconds: for all of it.

    Raises Gone, TimeoutError.
    """
    parts: list[bytes] = []
    more = True
    async with asyncio.timeout(seconds):
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise Gone
            parts.append(message.get("body", b"")[:most])
            most -= len(parts[-1])
            more = message.get("more_body", False)
    return b"".join(parts)


def _size(scope: Scope) -> int:
    """Bytes of the body, as the head states it. Raises BadReview for a head that is refused."""
    if scope["path"] != PATH:
        raise BadReview(f"there is nothing here: the webhook is at {PATH}", 404)
    if scope["method"] != "POST":
        raise BadReview("the webhook takes POST", 405)
    kind = length = b""
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value
        elif name == b"content-length":
            length = value
    if kind.partition(b";")[0].strip().lower() != b"application/json":
        raise BadReview("the Content-Type is not application/json", 415)
    if not length.isdigit():
        raise BadReview("there is no Content-Length", 411)
    if len(length) > _LONGEST_LENGTH or int(length) > MOST_BYTES:
        raise BadReview(f"the body is larger than {MOST_BYTES >> 20} MiB", 413)
    return int(length)
