"""The webhook, as an ASGI application: POST /mutate?timeout=10s. The probes answer on the same port, too.

    headers ── body ── review ── questions ── answers ── verdict ── response

    wrong path, method, Content-Type             404, 405, 415
    a body of more than 4 MiB                    413
    bodies of more than 64 MiB in all            503
    a body that is no AdmissionReview of v1      400

The API server allows as long as the URL says, 10 s by default. Four fifths of it are for lookups: then the missing
answers are Unknown, and the lookups go on. What is Unknown leaves the Pod as it is, with a warning, unless the operator
asked for something else (`verdict`). Any error of archfit's own admits the Pod as it is. An update of a Pod needs no
lookup (`updated_pod`).

A body of more than 128 KiB is read and decided in a thread, so that others do not wait for it.
Source: ASGI 3.0, HTTP; Kubernetes, "Dynamic Admission Control", request and response.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import parse_qs

from archfit.admission.server.asgi import Application, Receive, Scope, Send
from archfit.admission.server.review import BadReview, Review, read_review, response
from archfit.admission.server.server_log import ServerLog
from archfit.admission.server.server_metrics import ServerMetrics
from archfit.admission.server.shared_answers import PullSecret, Secrets, SharedAnswers
from archfit.admission.server.verdict import IGNORED, Verdict, failed, updated
from archfit.admission.server.verdicts import Verdicts
from archfit.admission.server.warning_texts import BUG, shortened
from archfit.errors import ArchfitError, message_of
from archfit.images.platforms import Answer, Unknown
from archfit.options.problem import Problem
from archfit.options.text_form import duration
from archfit.source.values import mapping_of

PATH = "/mutate"
PROBES = ("/livez", "/readyz")
MOST_BYTES = 4 * 1024 * 1024
MOST_BYTES_TOGETHER = 64 * 1024 * 1024
MOST_REQUESTS = 1000
MOST_IMAGES = 256
DEFAULT_SECONDS = 10.0
LONGEST_SECONDS = 30.0
BUDGET = 0.8
_LARGE = 128 * 1024
_TOO_MANY = Unknown(f"its pod names more than {MOST_IMAGES} images that have to be looked up")
_LONGEST_REASON = 500
_JSON = (b"content-type", b"application/json")
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_CLOSE = (b"connection", b"close")
_LEVELS = {"denied": "warning", "unresolved": "warning", "conflict": "warning", "error": "error"}


class Gone(Exception):
    """The client closed the connection before its request was complete."""


class Webhook:
    """probes: answers /livez and /readyz here too. pull_secrets: those that the operator named.

    clock: seconds of a clock that never goes back.

    draining: set from outside; each response then closes its connection.
    """

    def __init__(
        self,
        answers: SharedAnswers,
        verdicts: Verdicts,
        metrics: ServerMetrics,
        log: ServerLog,
        probes: Application,
        pull_secrets: frozenset[PullSecret] = frozenset(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.draining = False
        self._answers = answers
        self._verdicts = verdicts
        self._metrics = metrics
        self._log = log
        self._probes = probes
        self._pull_secrets = pull_secrets
        self._clock = clock
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI calls it."""
        if scope["type"] != "http":
            return
        if scope["path"] in PROBES:
            await self._probes(scope, receive, send)
            return
        started = self._clock()
        self._metrics.in_progress.inc()
        held = 0
        try:
            try:
                _check_head(scope)
                body = await self._body(receive)
                held = len(body)
                members, review = await self._reviewed(body, started, budget(scope["query_string"]))
                await self._send(send, scope, 200, response(review.uid, members))
            except BadReview as error:
                self._metrics.answered("invalid", self._clock() - started)
                self._log.line("warning", "bad request", status=error.status, reason=str(error))
                closes = error.status != 400
                await self._send(send, scope, error.status, f"{error}\n".encode(), closes=closes)
            except Gone:
                pass
        finally:
            self._held -= held
            self._metrics.in_progress.dec()

    async def _body(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                self._held -= size
                raise Gone
            part = message.get("body", b"")
            size += len(part)
            self._held += len(part)
            if size > MOST_BYTES or self._held > MOST_BYTES_TOGETHER:
                self._held -= size
                raise _too_large() if size > MOST_BYTES else BadReview("too many large requests at once", 503)
            parts.append(part)
            if not message.get("more_body"):
                return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _reviewed(self, body: bytes, started: float, seconds: float) -> tuple[str, Review]:
        """The members of the response. seconds: how long lookups may take from `started`."""
        large = len(body) > _LARGE
        review = await asyncio.to_thread(read_review, body) if large else read_review(body)
        images = 0
        if review.pod is None:
            verdict = IGNORED
        else:
            try:
                if review.old is None:
                    verdict, images = await self._decided(review, started + seconds, large=large)
                elif large:
                    verdict = await asyncio.to_thread(updated, review.pod, review.old)
                else:
                    verdict = updated(review.pod, review.old)
            except ArchfitError as error:  # overrides that disagree, more images than a pod may have
                verdict = failed(shortened(f"archfit: {error}"), str(error))
            except Exception as error:  # noqa: BLE001 - the Pod is admitted, whatever fails
                verdict = failed(BUG, message_of(error))
        took = self._clock() - started
        self._metrics.answered(verdict.outcome, took)
        level = _LEVELS.get(verdict.outcome, "info")
        if self._log.writes(level):
            self._log.line(
                level,
                "admission",
                uid=review.uid,
                namespace=review.namespace,
                name=review.name,
                outcome=verdict.outcome,
                reason=verdict.reason[:_LONGEST_REASON],
                images=images,
                durationMs=round(took * 1000, 3),
                dryRun=review.dry_run,
            )
        return verdict.members, review

    async def _decided(self, review: Review, until: float, *, large: bool) -> tuple[Verdict, int]:
        pod = review.pod or {}
        kept = (
            await asyncio.to_thread(self._verdicts.fresh, pod, review.namespace)
            if large
            else self._verdicts.pod(pod, review.namespace)
        )
        secrets = self._secrets(review) if self._pull_secrets else ()
        answers: dict[str, Answer] = {}
        missing: list[str] = []
        for text in kept.admitted.questions:
            answer = self._answers.known(text, secrets)
            if answer is None:
                missing.append(text)
            else:
                answers[text] = answer
        if len(missing) > MOST_IMAGES:
            answers |= dict.fromkeys(missing[MOST_IMAGES:], _TOO_MANY)
            del missing[MOST_IMAGES:]
        if missing:
            asked, in_time = await self._answers.asked(
                missing, review.namespace, until - self._clock(), secrets
            )
            answers |= asked
            if not in_time:
                self._metrics.deadlines.inc()
        verdict = await asyncio.to_thread(kept.verdict, answers) if large else kept.verdict(answers)
        return verdict, len(kept.admitted.questions)

    def _secrets(self, review: Review) -> Secrets:
        """The Secrets that the Pod refers to and the operator named, in the Pod's order."""
        listed = mapping_of((review.pod or {}).get("spec")).get("imagePullSecrets")
        names = [mapping_of(one).get("name") for one in listed] if isinstance(listed, list) else []
        referred = [PullSecret(review.namespace, name) for name in names if isinstance(name, str)]
        return tuple(secret for secret in dict.fromkeys(referred) if secret in self._pull_secrets)

    async def _send(
        self, send: Send, scope: Scope, status: int, body: bytes, *, closes: bool = False
    ) -> None:
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
    found = parse_qs(query.decode("latin-1")).get("timeout", [""])[0]
    try:
        seconds = duration(found)
    except Problem:
        seconds = DEFAULT_SECONDS
    return BUDGET * min(seconds or DEFAULT_SECONDS, LONGEST_SECONDS)


def _check_head(scope: Scope) -> None:
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
    if length.isdigit() and int(length) > MOST_BYTES:
        raise _too_large()


def _too_large() -> BadReview:
    return BadReview(f"the body is larger than {MOST_BYTES >> 20} MiB", 413)
