"""The webhook, as an ASGI application: POST /mutate?timeout=10s. The probes answer on the same port, too.

Memory is taken from shares (`memory_budget`) before a body of more than 16 KiB is read, and again before it is decoded;
for a smaller one only where it has to wait for lookups. Where there is no memory or no time, the Pod is admitted as it
is, with a warning; 503 where the uid of the review is not where Go writes it.

The API server allows as long as the URL says, 10 s by default. Four fifths of it are for lookups: then the missing
answers are Unknown, and the lookups go on. Any error of archfit's own admits the Pod as it is.

A body of more than 16 KiB is read and its Pod decided in a thread, so that others do not wait for it. One after
another: `repeated fields` and `annotations` of `lab/campaign/webhook` keep the event loop for seconds without it.
Source: ASGI 3.0, HTTP; Kubernetes, "Dynamic Admission Control", request and response.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NoReturn, TypeVar
from urllib.parse import parse_qs

from archfit.base.errors import ArchfitError, message_of
from archfit.images.platforms import Answer, Unknown
from archfit.options.text_form import Problem, duration
from archfit.webhook.admission_decision import (
    BUG,
    IGNORED,
    AdmissionDecision,
    DecisionCache,
    failed,
    kept_bytes,
    shortened,
)
from archfit.webhook.lookups.fair_places import Places
from archfit.webhook.lookups.messages import PullSecret, Secrets
from archfit.webhook.lookups.shared_answers import SharedAnswers
from archfit.webhook.memory_budget import Share
from archfit.webhook.review import (
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
MOST_IMAGES = 256
DEFAULT_SECONDS = 10.0
LONGEST_SECONDS = 30.0
BUDGET = 0.8
_LAST_SECONDS = 1.0
"""For the turn of a Pod whose lookups took all the time that they had: less than the fifth that is left of 10 s."""
_SMALL = 16 * 1024
BODY_SECONDS = 2.0
"""For a body to arrive for which others may wait; an API server sends it at once."""
MOST_LARGE_WAITING = 64
_BEGINNING = 4096
_LONGEST_LENGTH = 10
_TOO_MANY = Unknown(f"its pod names more than {MOST_IMAGES} images that have to be looked up")
_JSON = (b"content-type", b"application/json")
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_CLOSE = (b"connection", b"close")
_LEVELS = {
    **dict.fromkeys(("denied", "unresolved", "conflict", "over_budget"), "warning"),
    "error": "error",
}


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
    pull_secrets: frozenset[PullSecret] = frozenset()
    clock: Callable[[], float] = time.monotonic
    draining: bool = False

    def __post_init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = Places(MOST_LARGE_WAITING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI calls it."""
        if scope["type"] != "http":
            return
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
        held = cost = 0
        try:
            size = _size(scope)
            if size > _SMALL:
                if not await self.bodies.room(size, until - self.clock()):
                    await _let_go(receive)
                held = size
            body = await _whole(receive, size, BODY_SECONDS if held else None)
            apart = len(body) > _SMALL
            if apart:
                cost = await self._room_for_review(body, until)
            review = await self._read_apart(body, until) if apart else read_review(body)
            del body
            self.bodies.give(held)
            held = 0
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
        finally:
            self.bodies.give(held)
            self.reviews.give(cost)
        self._tell(decision, review, images, started)
        return 200, response(review.uid, decision.members), False

    def _bad(self, error: BadReview, started: float) -> tuple[int, bytes, bool]:
        self.metrics.answered("invalid", self.clock() - started)
        self.metrics.http_errors[error.status].inc()
        self.log.line("warning", "bad request", status=error.status, reason=str(error))
        return error.status, f"{error}\n".encode(), True

    async def _room_for_review(self, body: bytes, until: float) -> int:
        """Bytes that are held for what a body will become. Raises Undecided."""
        size = decoded_bytes(body)
        if await self.reviews.room(size, until - self.clock()):
            return size
        raise Undecided("memory", uid_of(body))

    async def _read_apart(self, body: bytes, until: float) -> Review:
        try:
            return await self._apart("", until, partial(read_review, body))
        except Undecided as error:
            error.uid = error.uid or uid_of(body)
            raise

    async def _apart(self, namespace: str, until: float, step: Callable[[], _T]) -> _T:
        """What a step returns, in a thread; one after another. Raises Undecided.

        namespace: of the Pod, of which not all that wait may be.
        """
        with self._waiting.place(namespace) as may_wait:
            if not may_wait:
                self.metrics.crowded_out.inc()
                raise Undecided("time")
            try:
                await asyncio.wait_for(self._turn.acquire(), max(0.0, until - self.clock()))
            except TimeoutError:
                raise Undecided("time") from None
        try:
            return await asyncio.to_thread(step)
        finally:
            self._turn.release()

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
            kept = await self._apart(namespace, until, fresh) if apart else fresh()
            self.decisions.keep(key, kept, pod)
        secrets = self._secrets(review) if self.pull_secrets else ()
        known = {text: self.answers.known(text, secrets) for text in kept.admitted.questions}
        answers = {text: answer for text, answer in known.items() if answer is not None}
        missing = [text for text in known if text not in answers]
        if len(missing) > MOST_IMAGES:
            answers |= dict.fromkeys(missing[MOST_IMAGES:], _TOO_MANY)
            del missing[MOST_IMAGES:]
        if missing:
            fresh_answers, in_time = await self._asked(missing, review, until, secrets, counted=apart)
            answers |= fresh_answers
            if not in_time:
                self.metrics.deadlines.inc()
        decision = kept.last(answers)
        if decision is None:
            decide = partial(kept.decision, answers)
            last = max(until, self.clock() + _LAST_SECONDS)
            decision = await self._apart("", last, decide) if apart else decide()
        return decision, len(kept.admitted.questions)

    async def _asked(
        self, missing: Sequence[str], review: Review, until: float, secrets: Secrets, *, counted: bool
    ) -> tuple[Mapping[str, Answer], bool]:
        """As `SharedAnswers.asked`. Many requests may wait, so what a small one keeps meanwhile counts, too.

        counted: room is held for it already. Raises Undecided.
        """
        size = 0 if counted else kept_bytes(review.pod)
        if not self.reviews.take(size):
            self.reviews.refused()
            raise Undecided("memory", review.uid)
        try:
            return await self.answers.asked(missing, review.namespace, until - self.clock(), secrets)
        finally:
            self.reviews.give(size)

    def _secrets(self, review: Review) -> Secrets:
        """The Secrets that the Pod refers to and the operator named, in the Pod's order."""
        listed = mapping_of((review.pod or {}).get("spec")).get("imagePullSecrets")
        names = [mapping_of(entry).get("name") for entry in listed] if isinstance(listed, list) else []
        referred = [PullSecret(review.namespace, name) for name in names if isinstance(name, str)]
        return tuple(secret for secret in dict.fromkeys(referred) if secret in self.pull_secrets)

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


async def _whole(receive: Receive, size: int, seconds: float | None) -> bytes:
    """A body of at most `size` bytes. seconds: for all of it. Raises BadReview, Gone, TimeoutError."""
    parts: list[bytes] = []
    got = 0
    more = True
    async with asyncio.timeout(seconds):
        while more:
            part, more = await _part(receive)
            got += len(part)
            if got > size:
                raise _too_large()
            parts.append(part)
    return b"".join(parts)


async def _let_go(receive: Receive) -> NoReturn:
    """A body for which there is no room is let go as it arrives. Raises Undecided, with the uid, and Gone."""
    beginning = b""
    more = True
    while more:
        part, more = await _part(receive)
        beginning = (beginning + part[:_BEGINNING])[:_BEGINNING]
    raise Undecided("memory", uid_of(beginning))


async def _part(receive: Receive) -> tuple[bytes, bool]:
    """The next part of a body, and whether another follows. Raises Gone."""
    message = await receive()
    if message["type"] != "http.request":
        raise Gone
    return message.get("body", b""), message.get("more_body", False)


def _size(scope: Scope) -> int:
    """Bytes of the body as the head states it, MOST_BYTES without that. Raises BadReview for a head that is refused."""
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
        return MOST_BYTES
    if len(length) > _LONGEST_LENGTH or int(length) > MOST_BYTES:
        raise _too_large()
    return int(length)


def _too_large() -> BadReview:
    return BadReview(f"the body is larger than {MOST_BYTES >> 20} MiB", 413)
