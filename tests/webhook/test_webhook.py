"""The webhook as an ASGI application: HTTP statuses, deadlines, and Pods that are admitted whatever fails."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import tracemalloc
from typing import Any, NamedTuple

import pytest

from admission_reviews import Answered, body, decoded, pod, review
from archfit import decide
from archfit.images.platforms import Answer, Found, ImagePlatforms, parse_platform
from archfit.options.settings import Options
from archfit.webhook.admission_decision import CachedDecision, DecisionCache
from archfit.webhook.admitted_pod import at_admission
from archfit.webhook.lookups import messages
from archfit.webhook.lookups.fair_places import FairPlaces
from archfit.webhook.lookups.messages import Secrets
from archfit.webhook.lookups.shared_answers import SharedAnswers
from archfit.webhook.memory_budget import MIB, SHARES, Share
from archfit.webhook.review import decoded_bytes
from archfit.webhook.server_log import ServerLog
from archfit.webhook.server_metrics import Probes, ServerMetrics
from archfit.webhook.webhook import MOST_REQUESTS, Webhook, budget

AMD = Found((parse_platform("amd64"),), "sha256:" + "a" * 64)
JSON = (b"content-type", b"application/json")


class Reply(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes

    def answered(self) -> Answered:
        assert (self.status, self.headers[b"content-type"]) == (200, b"application/json"), self.body
        return decoded(self.body)


class Door:
    """A webhook whose lookups land at once, or never. log: its lines, decoded, after `close`."""

    def __init__(self, answer: Answer | None = AMD, *secrets: str, **options: Any) -> None:
        chosen = at_admission(
            Options(on_absent="leave", on_unknown="leave", on_conflict="leave").replace(**options)
        )
        self.lookups: list[Secrets] = []
        """The secrets of each."""
        self.answer = answer
        self.not_ready = ""
        self.most_held = 0
        self._stream = io.StringIO()
        self._log = ServerLog(self._stream.write, "debug", lambda: 1_767_225_600.25)
        self.metrics = ServerMetrics()
        self.bodies, self.reviews = (
            Share(size * MIB, self.metrics.refusals[name].inc)
            for name, size in (("bodies", 8), ("reviews", 64))
        )
        self.webhook = Webhook(
            SharedAnswers(chosen, 600, None, lambda _: self, self.metrics, Share(MIB), FairPlaces(1000)),
            DecisionCache(chosen, Share(MIB)),
            self.metrics,
            self._log,
            self.bodies,
            self.reviews,
            Probes(self.metrics, lambda: self.not_ready),
            frozenset(secrets),
        )

    def send(self, content: bytes, **words: Any) -> Reply:
        return asyncio.run(self.sent(content, **words))

    async def sent(
        self,
        content: bytes,
        *,
        method: str = "POST",
        path: str = "/mutate",
        query: bytes = b"timeout=10s",
        headers: tuple[tuple[bytes, bytes], ...] | None = None,
        parts: int = 1,
        requests: int = 1,
    ) -> Reply:
        size = -(-len(content) // parts)
        left = [content[at : at + size] for at in range(0, len(content), size or 1)] or [b""]
        got: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if not left:
                return {"type": "http.disconnect"}
            self.most_held = max(self.most_held, self.bodies.held)
            part = left.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(left)}

        async def send(message: Any) -> None:
            got.append(message)

        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query,
            "headers": sized(content) if headers is None else headers,
            "state": {"requests": requests, "abort": lambda: None},
        }
        await self.webhook(scope, receive, send)
        start, end = got
        return Reply(start["status"], dict(start["headers"]), end["body"])

    def review(self, value: dict[str, Any] | None = None, **request: Any) -> Answered:
        return self.send(body(review(value or pod(), **request))).answered()

    def count(self, text: str) -> float:
        """The value of a metric, as it is written."""
        lines = self.metrics.text().decode().splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(f"{text} "))

    def log(self) -> list[dict[str, Any]]:
        self._log.close()
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]

    async def look_up(self, _text: str, secrets: Secrets, *_: object) -> messages.Answered:
        """As a worker."""
        self.lookups.append(secrets)
        if not self.answer:
            await asyncio.Event().wait()
        assert self.answer
        return messages.Answered(1, self.answer)


def sized(content: bytes, kind: bytes = b"application/json") -> tuple[tuple[bytes, bytes], ...]:
    return ((b"content-type", kind), (b"content-length", b"%d" % len(content)))


def as_go_writes_it(value: dict[str, Any]) -> bytes:
    return json.dumps(review(value), separators=(",", ":")).encode()


def test_a_pod_gets_what_its_images_need():
    door = Door()
    answered = door.review()
    assert (answered.uid, answered.allowed, answered.warnings) == ("705ab4f5", True, [])
    assert answered.patch
    assert door.count('archfit_admission_requests_total{outcome="changed"}') == 1


@pytest.mark.parametrize(
    ("request_", "status", "text"),
    [
        pytest.param({"path": "/"}, 404, b"the webhook is at /mutate", id="path"),
        pytest.param({"method": "GET"}, 405, b"takes POST", id="method"),
        pytest.param({"headers": ()}, 415, b"Content-Type", id="no content type"),
        pytest.param({"headers": ((b"content-type", b"text/yaml"),)}, 415, b"Content-Type", id="another type"),
        pytest.param({"headers": (JSON, (b"content-length", b"4194305"))}, 413, b"larger than 4 MiB", id="says it is huge"),
        pytest.param({"headers": (JSON, (b"content-length", b"0" * 5000))}, 413, b"larger than 4 MiB", id="says it at length"),
        pytest.param({"headers": (JSON,)}, 411, b"no Content-Length", id="says nothing"),
        pytest.param({"content": b"{"}, 400, b"not JSON", id="bad JSON"),
        pytest.param({"content": body({**review(pod()), "request": None})}, 400, b"no request", id="no request"),
    ],
)  # fmt: skip
def test_what_is_no_request_has_its_status_and_the_server_goes_on(request_, status, text):
    door = Door()
    reply = door.send(**{"content": body(review(pod())), **request_})
    assert reply.status == status
    assert text in reply.body
    assert reply.headers.get(b"allow", b"POST") == b"POST"
    assert door.count('archfit_admission_requests_total{outcome="invalid"}') == 1
    assert door.review().allowed
    assert door.count("archfit_admission_requests_in_progress") == 0


def test_a_body_may_come_in_parts_with_a_charset():
    content = body(review(pod()))
    headers = sized(content, b"Application/JSON; charset=utf-8")
    assert Door().send(content, parts=7, headers=headers).answered().patch


def test_a_large_pod_is_decided_as_a_small_one():
    value = pod("app:1", annotations={"note": "x" * 300_000})
    small = pod("app:1", annotations={"note": "x"})
    assert Door().review(value).patch == Door().review(small).patch


class HeldDoor(Door):
    """Its large pods are decided when `go` is set. order: their names, as they are decided."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()
        self.order: list[str] = []
        fresh = DecisionCache.fresh

        def held(decisions: DecisionCache, extract: dict[str, Any], namespace: str) -> CachedDecision:
            if "note" in extract["metadata"].get("annotations", {}):
                self.begun.set()
                self.go.wait()
                self.order.append(extract["metadata"]["name"])
            return fresh(decisions, extract, namespace)

        monkeypatch.setattr(DecisionCache, "fresh", held)

    async def large(self, name: str, namespace: str = "evil", query: bytes = b"timeout=30s") -> Answered:
        value = pod("app:1", name=name, annotations={"note": "x" * 20_000})
        return (await self.sent(body(review(value, namespace=namespace, uid=name)), query=query)).answered()


class TestLargePods:
    async def test_a_small_pod_is_answered_while_a_large_one_is_decided(self, monkeypatch):
        door = HeldDoor(monkeypatch)
        large = asyncio.create_task(door.large("large"))
        small = await door.sent(body(review(pod())))
        waits = not large.done()
        door.go.set()
        assert waits
        assert small.answered().patch
        assert (await large).patch

    async def test_one_is_admitted_as_it_is_where_its_turn_does_not_come_in_time(self, monkeypatch):
        door = HeldDoor(monkeypatch)
        first = asyncio.create_task(door.large("first"))
        await asyncio.to_thread(door.begun.wait)
        monkeypatch.setattr(door.webhook, "clock", lambda: 0.0)
        late = await door.large("late", query=b"timeout=10ms")
        door.go.set()
        assert (await first).patch
        assert (late.allowed, late.patch) == (True, None)
        assert "too many large pods are decided now" in late.warnings[0]
        assert door.order == ["first"]
        assert door.log()[0]["outcome"] == "over_budget"


@pytest.mark.parametrize("share", ["bodies", "reviews"])
@pytest.mark.parametrize("size", [pytest.param(30_000, id="small"), pytest.param(200_000, id="large")])
def test_a_pod_for_whose_review_there_is_no_memory_is_admitted_as_it_is(share, size):
    door = Door()
    full: Share = getattr(door, share)
    full.take(full.size)
    review_ = as_go_writes_it(pod("app:1", annotations={"note": "x" * size}))
    answered = door.send(review_, query=b"timeout=500ms").answered()
    assert (answered.uid, answered.allowed, answered.patch) == ("705ab4f5", True, None)
    assert "has no memory for its review now (--memory-limit)" in answered.warnings[0]
    assert door.count(f'archfit_memory_refusals_total{{share="{share}"}}') == 1
    assert door.count('archfit_admission_requests_total{outcome="over_budget"}') == 1
    assert full.held == full.size
    full.give(full.size)
    assert door.review().patch
    assert (door.bodies.held, door.reviews.held) == (0, 0)
    assert door.log()[0]["outcome"] == "over_budget"


def test_a_small_pod_that_would_wait_for_lookups_is_admitted_as_it_is_where_too_many_wait():
    door = Door(None)
    door.reviews.take(door.reviews.size)
    answered = door.review()
    assert (answered.uid, answered.allowed, answered.patch) == ("705ab4f5", True, None)
    assert "has no memory for its review now" in answered.warnings[0]
    assert door.lookups == []
    door.reviews.give(door.reviews.size)
    door.answer = AMD
    assert door.review().patch
    assert door.reviews.held == 0


def test_without_memory_what_has_no_uid_where_go_writes_it_gets_503():
    door = Door()
    door.bodies.take(door.bodies.size)
    assert door.send(b"{" * 20_000, query=b"timeout=1ms").status == 503
    assert door.count('archfit_http_errors_total{code="503"}') == 1


@pytest.mark.parametrize(
    ("size", "leaves"),
    [
        pytest.param(20_000, False, id="small"),
        pytest.param(4 * MIB, False, id="large"),
        pytest.param(4 * MIB, True, id="its client has gone"),
    ],
)
async def test_a_body_that_does_not_arrive_in_time_is_closed_and_holds_no_room(monkeypatch, size, leaves):
    monkeypatch.setattr("archfit.webhook.webhook.BODY_SECONDS", 0.05)
    door = Door()
    closed: list[bool] = []

    async def receive() -> dict[str, Any]:
        if door.bodies.held and not closed and not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise AssertionError(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mutate",
        "query_string": b"timeout=10s",
        "headers": (JSON, (b"content-length", b"%d" % size)),
        "state": {"abort": lambda: closed.append(True)},
    }
    await door.webhook(scope, receive, send)
    assert closed == [True] * (not leaves)
    assert door.bodies.held == 0
    assert door.count('archfit_connections_closed_total{what="body"}') == (not leaves)
    assert door.count("archfit_admission_requests_in_progress") == 0


async def test_large_bodies_are_read_one_after_another_where_there_is_room_for_one():
    door = Door()
    door.bodies = door.webhook.bodies = Share(300_000)
    value = as_go_writes_it(pod("app:1", annotations={"note": "x" * 200_000}))
    words: Any = {"query": b"timeout=30s", "headers": sized(value), "parts": 5}
    replies = await asyncio.gather(*(door.sent(value, **words) for _ in range(8)))
    assert all(reply.answered().patch for reply in replies)
    assert door.most_held == len(value)
    assert door.count('archfit_memory_refusals_total{share="bodies"}') == 0


@pytest.mark.parametrize("count", [pytest.param(5_500, id="small"), pytest.param(50_000, id="large")])
def test_a_pod_with_very_many_values_is_admitted_as_it_is(count):
    door = Door()
    assert door.review(pod("app:1", spec={"tolerations": [{}] * 4_000})).patch
    answered = door.send(as_go_writes_it(pod("app:1", spec={"tolerations": [{}] * count}))).answered()
    assert (answered.allowed, answered.patch) == (True, None)
    assert "as it is: it has more than 5,000 values in what archfit reads" in answered.warnings[0]
    assert door.log()[-1]["reason"] == "it has more than 5,000 values in what archfit reads"


@pytest.mark.load
@pytest.mark.parametrize(
    "filling",
    [
        pytest.param("[[[[[[[[[[[[]]]]]]]]]]]],", id="lists in lists"),
        pytest.param("[],", id="empty lists"),
        pytest.param("{},", id="empty objects"),
        pytest.param('{"":{"":{"":0}}},', id="objects in objects"),
        pytest.param('"ab",', id="short texts"),
        pytest.param('"\u00e9\U0001f600",', id="wide texts"),
        pytest.param("12345,", id="numbers"),
        pytest.param("true,", id="booleans"),
        pytest.param("1e1,", id="fractions"),
    ],
)
def test_a_review_takes_no_more_than_is_held_for_it(filling):
    """Tracemalloc sees what Python allocates: the same as what is resident, without what is never given back."""
    values = "[" + (filling * (120_000 // len(filling)))[:-1] + "]"
    content = body(review(pod(spec={"tolerations": "HERE"}))).replace(b'"HERE"', values.encode())
    door = Door()
    door.review()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        door.send(content)
        most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert most <= decoded_bytes(content)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param({"operation": "DELETE", "object": None, "oldObject": pod()}, id="a deletion"),
        pytest.param({"operation": "UPDATE", "subResource": "ephemeralcontainers"}, id="ephemeral containers"),
        pytest.param({"operation": "UPDATE", "oldObject": pod()}, id="an update"),
        pytest.param({"operation": "UPDATE", "subResource": "status", "oldObject": pod()}, id="a status"),
        pytest.param({"operation": "UPDATE", "subResource": "resize", "oldObject": pod()}, id="a resize"),
        pytest.param({"operation": "CREATE", "subResource": "binding", "object": {}}, id="a binding"),
        pytest.param({"operation": "CREATE", "subResource": "eviction", "object": {}}, id="an eviction"),
        pytest.param({"operation": "CONNECT"}, id="connect"),
        pytest.param({"subResource": "ephemeralcontainers"}, id="a subresource"),
        pytest.param({"resource": {"group": "apps", "version": "v1", "resource": "deployments"}}, id="a Deployment"),
        pytest.param({"resource": None}, id="no resource"),
    ],
)  # fmt: skip
def test_other_requests_are_allowed_as_they_are(request_):
    door = Door()
    answered = door.review(pod(), **request_)
    assert (answered.allowed, answered.patch, answered.warnings) == (True, None, [])
    assert door.count('archfit_admission_requests_total{outcome="ignored"}') == 1


def test_a_dry_run_makes_no_difference():
    assert Door().review(dryRun=True) == Door().review()


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        pytest.param(b"timeout=10s", 8, id="seconds"),
        pytest.param(b"timeout=3s", 2.4, id="less"),
        pytest.param(b"timeout=500ms", 0.4, id="milliseconds"),
        pytest.param(b"timeout=1m0s", 24, id="more than Kubernetes allows"),
        pytest.param(b"", 8, id="missing"),
        pytest.param(b"timeout=soon", 8, id="no duration"),
        pytest.param(b"timeout=0s", 8, id="zero"),
        pytest.param(b"timeout=%FF%00", 8, id="no text"),
    ],
)
def test_lookups_may_take_four_fifths_of_the_time(query, seconds):
    assert budget(query) == pytest.approx(seconds)


def test_when_the_time_is_spent_the_pod_is_admitted_with_a_warning_and_the_next_one_is_placed():
    door = Door(None)
    answered = door.send(body(review(pod("quay.io/app:1"))), query=b"timeout=50ms").answered()
    assert (answered.allowed, answered.patch) == (True, None)
    (warning,) = answered.warnings
    assert warning.startswith("archfit: quay.io/app:1: its platforms are not known: quay.io gave no answer")
    assert door.count("archfit_admission_deadlines_total") == 1


def test_a_bug_admits_the_pod(monkeypatch):
    door = Door()
    monkeypatch.setattr(door.webhook.decisions, "fresh", lambda *_: 1 / 0)
    answered = door.review()
    assert (answered.allowed, answered.patch) == (True, None)
    assert "archfit itself failed" in answered.warnings[0]
    (line,) = door.log()
    assert (line["level"], line["outcome"]) == ("error", "error")
    assert "ZeroDivisionError" in line["reason"]


def test_a_patch_that_does_not_do_what_it_should_is_not_sent(monkeypatch):
    monkeypatch.setattr("archfit.webhook.admission_decision.difference", lambda *_: "it cannot be applied")
    answered = Door().review()
    assert (answered.allowed, answered.patch) == (True, None)
    assert "archfit itself failed" in answered.warnings[0]


def test_overrides_that_disagree_admit_the_pod_with_a_warning():
    rows = tuple(
        ImagePlatforms("docker.io/library/app:*", (parse_platform(name),)) for name in ("amd64", "arm64")
    )
    answered = Door(image_platforms=rows).review(pod("app:1"))
    assert (answered.allowed, answered.patch) == (True, None)
    assert answered.warnings[0].startswith("archfit: ")


def test_a_log_line_says_what_was_decided_and_shows_no_value_of_the_pod():
    door = Door()
    door.review(pod("app:1", annotations={"secret": "hush-0815"}, generateName="web-"), dryRun=True)
    (line,) = door.log()
    assert line.pop("durationMs") >= 0
    assert line == {
        "time": "2026-01-01T00:00:00.250Z",
        "level": "info",
        "message": "admission",
        "uid": "705ab4f5",
        "namespace": "shop",
        "name": "web-",
        "outcome": "changed",
        "reason": "restricted to amd64 (arm64 is not offered by app:1)",
        "images": 1,
        "dryRun": True,
    }
    assert "hush" not in json.dumps(line)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"nodeSelector": {"kubernetes.io/arch": "amd64"}},
        {"tolerations": [{"key": "kubernetes.io/arch", "operator": "Exists"}]},
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]}}}},
    ],
    ids=["bare", "pinned", "tolerates", "a-term"],
)  # fmt: skip
@pytest.mark.parametrize("platforms", [["linux/amd64"], ["linux/amd64", "linux/arm64"]], ids="+".join)
def test_a_log_line_gives_the_reason_that_every_other_report_gives(spec, platforms):
    door = Door(Found(tuple(map(parse_platform, platforms)), "sha256:1"))
    door.review(pod("app:1", spec=spec))
    (line,) = door.log()
    assert line["reason"] == decide(pod("app:1", spec=spec)["spec"], {"app:1": platforms}).reason


@pytest.mark.parametrize(
    ("named", "referred", "expected"),
    [
        pytest.param(["shop/hub"], ["hub"], ("shop/hub",), id="named and referred to"),
        pytest.param(["shop/hub"], [], (), id="not referred to"),
        pytest.param([], ["hub"], (), id="not named"),
        pytest.param(["till/hub"], ["hub"], (), id="of another namespace"),
        pytest.param(["shop/a", "shop/b"], ["b", "a", "b"], ("shop/b", "shop/a"), id="order"),
    ],
)
def test_a_pull_secret_counts_for_pods_that_refer_to_it_if_the_operator_named_it(named, referred, expected):
    door = Door(AMD, *named)
    door.review(pod("app:1", spec={"imagePullSecrets": [{"name": name} for name in referred]}))
    assert door.lookups[0] == expected


@pytest.mark.parametrize(
    ("requests", "draining", "closes"),
    [
        pytest.param(1, False, False, id="a young connection"),
        pytest.param(MOST_REQUESTS - 1, False, False, id="almost a thousand requests"),
        pytest.param(MOST_REQUESTS, False, True, id="a thousand requests"),
        pytest.param(1, True, True, id="while it drains"),
    ],
)
def test_connections_end_after_a_thousand_requests_and_while_it_drains(requests, draining, closes):
    door = Door()
    door.webhook.draining = draining
    reply = door.send(body(review(pod())), requests=requests)
    assert (reply.headers.get(b"connection") == b"close") is closes


@pytest.mark.parametrize(
    ("path", "not_ready", "status"),
    [
        pytest.param("/livez", "", 200, id="alive"),
        pytest.param("/livez", "it is stopping", 200, id="alive while it stops"),
        pytest.param("/readyz", "", 200, id="ready"),
        pytest.param("/readyz", "it is stopping", 503, id="not ready"),
    ],
)
def test_probes_answer_on_this_port_too(path, not_ready, status):
    door = Door()
    door.not_ready = not_ready
    reply = door.send(b"", path=path, method="GET", headers=())
    assert reply.status == status
    assert reply.body.decode().strip() == (not_ready if status == 503 else "ok")


def test_no_metric_has_an_image_in_it_and_hosts_are_bounded():
    door = Door()
    door.review(pod("quay.io/very/secret-image:1"))
    door.metrics.replied({(f"host-{number}.example", 200): 1 for number in range(300)})
    door.metrics.replied({("host-1.example", 0): 2})
    text = door.metrics.text().decode()
    assert "secret-image" not in text
    assert text.count("archfit_registry_requests_total{") <= 102
    assert door.count('archfit_registry_requests_total{code="200",host="other"}') == 200
    assert door.count('archfit_registry_requests_total{code="none",host="host-1.example"}') == 2


def test_each_share_of_memory_tells_what_it_holds():
    lines = ServerMetrics(held=len).text().decode().splitlines()
    assert {f'archfit_memory_held_bytes{{share="{share}"}} {float(len(share))}' for share in SHARES} <= {
        *lines
    }
