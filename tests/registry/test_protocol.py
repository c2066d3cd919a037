"""The protocol: challenges, tokens, retries, limits, each counted or seen at a scripted server."""

import base64
import gzip
import itertools
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from archfit.images.platforms import Absent, Found, Unknown
from archfit.registry import client as client_module
from archfit.registry.http import limits
from archfit.registry.manifest import OCI_CONFIG, OCI_INDEX, OCI_MANIFEST
from fake_registry import Answer, Asked, FakeRegistry, as_json, descriptor, platform_of
from program import archfit

BOTH = ["linux/amd64", "linux/arm64"]
CHUNKED = {"Transfer-Encoding": "chunked"}


def challenge(fake: FakeRegistry, **parameters: str) -> Answer:
    """A 401 that points to the fake's own token service."""
    parts = {"realm": f"{fake.url}/token", "service": "fake", **parameters}
    text = ",".join(f'{name}="{value}"' for name, value in parts.items())
    return Answer(401, headers={"WWW-Authenticate": f"Bearer {text}"})


class TestBearer:
    def test_an_anonymous_token_from_the_manifests_own_401(self, fake, runs):
        fake.index("team/app", "1", BOTH)
        fake.bearer(realm=f"{fake.url}/token?account=x")
        assert runs.names("x.io/team/app:1") == BOTH
        assert fake.kinds() == ["manifest", "token", "manifest"]
        token = fake.asked[1]
        assert token.query == {"account": ["x"], "service": ["fake"], "scope": ["repository:team/app:pull"]}
        assert "authorization" not in token.headers
        assert "authorization" not in fake.asked[0].headers

    def test_the_realm_is_remembered_between_runs(self, fake, runs):
        for name in "ab":
            fake.index(name, "1", BOTH)
        fake.bearer()
        runs.found("x.io/a:1")
        fake.forget()
        runs.found("x.io/b:1")
        assert fake.kinds() == ["token", "manifest"]

    def test_one_token_for_each_scope_and_one_401_for_a_host_ever(self, fake, runs):
        for repository, tag in itertools.product(range(10), range(4)):
            fake.index(f"r{repository}", str(tag), BOTH)
            fake.single(f"s{repository}", str(tag), "linux/amd64")
        statuses = counted(fake)
        fake.bearer(user="user:hush")
        runs.login(fake.host)
        texts = [f"x.io/{kind}{n}:{tag}" for kind in "rs" for n in range(10) for tag in range(4)]
        assert {type(answer) for answer in runs.ask(*texts).values()} == {Found}
        assert runs.requests == {"blob": 40, "manifest": 81, "token": 20}
        assert statuses.count(401) == 1
        assert fake.connections <= 32
        statuses.clear()
        runs.set(cache_ttl_seconds=0)
        runs.later(5)
        runs.ask(*texts)
        assert runs.requests == {"head": 80, "token": 20}
        assert statuses == []

    def test_tokens_stay_with_their_repository(self, fake, runs):
        for name in "ab":
            fake.index(name, "1", BOTH)
        given = fake.bearer()
        runs.ask("x.io/a:1", "x.io/b:1")
        assert len(given) == 2
        for asked in fake.asked:
            if asked.kind == "manifest" and "authorization" in asked.headers:
                repository = asked.path.split("/")[2]
                assert asked.headers["authorization"] == f"Bearer {given[f'repository:{repository}:pull']}"

    def test_tokens_stay_with_their_credential(self, fake, runs):
        for name in ("a/x", "b/x"):
            fake.index(name, "1", BOTH)
        users = []

        def script(asked: Asked) -> Answer | None:
            if asked.kind == "token":
                users.append(base64.b64decode(asked.headers["authorization"].split()[1]).decode())
                return Answer(body=as_json({"token": f"t{len(users)}"}))
            return None if "authorization" in asked.headers else challenge(fake)

        fake.on(script)
        runs.login(f"{fake.host}/a", "anna")
        runs.login(f"{fake.host}/b", "berta")
        runs.found("x.io/a/x:1")
        runs.found("x.io/b/x:1")
        assert users == ["anna:hush", "berta:hush"]

    def test_stored_credentials_go_to_the_token_service(self, fake, runs):
        fake.index("a", "1", BOTH)
        fake.bearer(user="user:hush")
        runs.login(fake.host)
        assert runs.names("x.io/a:1") == BOTH
        assert [asked.kind for asked in fake.asked if "authorization" in asked.headers] == [
            "token",
            "manifest",
        ]
        assert {asked.method for asked in fake.asked} == {"GET"}

    def test_insufficient_scope_leads_to_one_new_token_then_an_error(self, fake, runs):
        def script(asked: Asked) -> Answer | None:
            if asked.kind == "token":
                return Answer(body=as_json({"token": "weak"}))
            more = {"error": "insufficient_scope"} if "authorization" in asked.headers else {}
            return challenge(fake, scope="repository:a:pull", **more)

        fake.on(script)
        assert "found nothing, or gives no anonymous access" in runs.cause("x.io/a:1")
        assert fake.kinds() == ["manifest", "token", "manifest", "token", "manifest"]
        fake.forget()
        runs.cause("x.io/a:1")
        assert fake.kinds() == ["token", "manifest", "token", "manifest"]

    def test_a_refused_token_is_not_asked_for_again(self, fake, runs):
        def script(asked: Asked) -> Answer | None:
            return Answer(body=as_json({"token": "t"})) if asked.kind == "token" else challenge(fake)

        fake.on(script)
        runs.cause("x.io/a:1")
        assert fake.kinds() == ["manifest", "token", "manifest"]

    @pytest.mark.parametrize("status", [200, 401, 403, 404, 410, 500])
    def test_a_token_service_that_moved_away_is_found_again(self, fake, runs, status):
        for name in "abc":
            fake.index(name, "1", BOTH)

        def script(asked: Asked) -> Answer | None:
            if asked.kind == "token":
                served = asked.path.split("?")[0]
                return Answer(200 if served == realm else status, as_json({"token": served}))
            if asked.headers.get("authorization") == f"Bearer {realm}":
                return None
            return challenge(fake, realm=f"{fake.url}{realm}")

        fake.on(script)
        realm = "/token/old"
        runs.found("x.io/a:1")
        realm = "/token/new"
        fake.forget()
        assert runs.names("x.io/b:1") == BOTH
        tries = 5 if status == 500 else 1
        assert fake.kinds() == [*["token"] * tries, "manifest", "token", "manifest"]
        fake.forget()
        assert runs.names("x.io/c:1") == BOTH
        assert fake.kinds() == ["token", "manifest"]

    @pytest.mark.parametrize("moved", ["http://127.0.0.1:9", "https://127.0.0.1:9"], ids=["refused", "gone"])
    def test_a_token_service_that_is_refused_or_gone_is_asked_about(self, fake, runs, tmp_path, moved):
        fake.index("a", "1", BOTH)
        fake.index("b", "1", BOTH)
        fake.bearer()
        runs.found("x.io/a:1")
        with closing(sqlite3.connect(tmp_path / "lookups.sqlite")) as file, file:
            file.execute(f"UPDATE entries SET value = replace(value, '{fake.url}', '{moved}')")
        fake.forget()
        assert runs.names("x.io/b:1") == BOTH
        assert fake.kinds() == ["manifest", "token", "manifest"]

    def test_a_registry_that_names_the_same_dead_token_service_is_not_asked_for_ever(self, fake, runs):
        fake.index("a", "1", BOTH)
        fake.bearer()
        runs.found("x.io/a:1")
        fake.forget()
        fake.on(lambda asked: Answer(404) if asked.kind == "token" else challenge(fake))
        assert "the token service" in runs.cause("x.io/b:1")
        assert fake.kinds() == ["token", "manifest"]

    @pytest.mark.parametrize(
        ("body", "tls"),
        [
            pytest.param(b"Client sent an HTTP request to an HTTPS server.\n", True, id="go"),
            pytest.param(b"<center>The plain HTTP request was sent to HTTPS port</center>", True, id="nginx"),
            pytest.param(b"Bad Request", False, id="another-reason"),
        ],
    )
    def test_a_server_that_wants_tls_is_told_from_a_bad_request(self, fake, runs, body, tls):
        fake.on(lambda _asked: Answer(400, body))
        said = f"{fake.url} speaks TLS, and was asked without: write {fake.url.replace('http', 'https', 1)}"
        assert (said in runs.cause("x.io/a:1")) == tls

    def test_ecr_publics_400_drops_the_token_once(self, fake, runs):
        fake.index("a", "1", BOTH)
        tokens = itertools.count()

        def script(asked: Asked) -> Answer | None:
            if asked.kind == "token":
                return Answer(body=as_json({"token": f"t{next(tokens)}"}))
            used = asked.headers.get("authorization", "")
            if not used:
                return challenge(fake)
            return Answer(400, as_json({"errors": [{"code": "DENIED"}]})) if used in expired else None

        fake.on(script)
        expired = {"Bearer t0"}
        assert runs.names("x.io/a:1") == BOTH
        assert fake.kinds() == ["manifest", "token", "manifest", "token", "manifest"]
        expired = {f"Bearer t{number}" for number in range(9)}
        fake.forget()
        assert "answered 400 for b:1 (DENIED" in runs.cause("x.io/b:1")
        assert fake.kinds() == ["token", "manifest", "token", "manifest"]

    def test_an_identity_token_is_posted(self, fake, runs):
        fake.index("a", "1", BOTH)
        fake.bearer()
        runs.login(fake.host, identitytoken="hush&x")
        assert runs.names("x.io/a:1") == BOTH
        posted = fake.asked[1]
        assert (posted.method, posted.path) == ("POST", "/token")
        wanted = b"grant_type=refresh_token&refresh_token=hush%26x&service=fake&scope=repository%3Aa%3Apull"
        assert posted.body == wanted + b"&client_id=archfit"

    @pytest.mark.parametrize("status", [400, 401, 404, 405])
    def test_and_by_get_where_post_is_not_offered(self, fake, runs, status):
        fake.index("a", "1", BOTH)
        fake.bearer()
        fake.on(lambda asked: Answer(status) if asked.method == "POST" else None)
        runs.login(fake.host, identitytoken="hush")
        assert runs.names("x.io/a:1") == BOTH
        assert [asked.method for asked in fake.asked if asked.kind == "token"] == ["POST", "GET"]
        assert fake.asked[2].headers["authorization"] == "Basic " + base64.b64encode(b":hush").decode()

    def test_a_registry_token_is_used_as_it_is(self, fake, runs):
        fake.index("a", "1", BOTH)
        fake.on(
            lambda asked: None if asked.headers.get("authorization") == "Bearer hush" else challenge(fake)
        )
        runs.login(fake.host, registrytoken="hush")
        assert runs.names("x.io/a:1") == BOTH
        assert fake.kinds() == ["manifest", "manifest"]

    def test_refused_credentials_are_an_error_that_names_their_file_and_are_tried_once(self, fake, runs):
        fake.bearer(user="user:other")
        runs.login(fake.host)
        answers = runs.ask("x.io/a:1", "x.io/a:2", "x.io/a:3")
        for answer in answers.values():
            assert isinstance(answer, Unknown)
            assert f"refused the credentials from {runs.operator.authfile} ({fake.host})" in answer.cause
            assert "hush" not in answer.cause
        assert fake.count("token") == 1

    def test_no_anonymous_token_says_to_log_in(self, fake, runs):
        fake.bearer(user="user:other")
        assert f"gives no anonymous access (401): log in to {fake.host}" in runs.cause("x.io/a:1")

    def test_a_401_without_challenge_is_answered_by_the_ping(self, fake, runs):
        fake.index("a", "1", BOTH)
        fake.bearer()
        fake.once(Answer(401), kind="manifest")
        fake.on(lambda asked: challenge(fake) if asked.kind == "ping" else None)
        assert runs.names("x.io/a:1") == BOTH
        assert fake.kinds() == ["manifest", "ping", "token", "manifest"]


class TestBasic:
    @pytest.fixture
    def private(self, fake, runs):
        for number in range(3):
            fake.index(f"a{number}", "1", BOTH)
        wanted = "Basic " + base64.b64encode(b"user:hush").decode()
        basic = Answer(401, headers={"WWW-Authenticate": 'Basic realm="x",service="ecr.amazonaws.com"'})
        fake.on(lambda asked: None if asked.headers.get("authorization") == wanted else basic)
        return runs

    def test_it_is_answered_and_remembered(self, fake, private):
        private.login(fake.host)
        assert private.names("x.io/a0:1") == BOTH
        assert ["authorization" in asked.headers for asked in fake.asked] == [False, True]
        private.found("x.io/a1:1")
        assert ["authorization" in asked.headers for asked in fake.asked] == [False, True, True]

    def test_one_401_for_many_images(self, fake, private):
        private.login(fake.host)
        private.ask(*(f"x.io/a{number}:1" for number in range(3)))
        assert sum("authorization" not in asked.headers for asked in fake.asked) == 1

    def test_without_credentials_it_says_to_log_in(self, fake, private):
        assert f"log in with `docker login {fake.host}`" in private.cause("x.io/a0:1")
        assert fake.count() == 1

    def test_wrong_credentials_are_tried_once_and_named(self, fake, private):
        private.login(fake.host, password="not-this")
        for requests in (2, 1):
            fake.forget()
            cause = private.cause("x.io/a0:1")
            assert "gives the credentials from" in cause
            assert "not-this" not in cause
            assert len(fake.asked) == requests

    def test_a_failing_helper_is_an_error_for_that_registry(self, fake, private):
        path = private.folder / "auth.json"
        path.write_text(json.dumps({"credHelpers": {fake.host: "absent"}}))
        private.set(authfile=str(path))
        assert "docker-credential-absent" in private.cause("x.io/a0:1")
        assert fake.count() == 1


def counted(fake: FakeRegistry) -> list[int]:
    """Every status that is not the registry's own 200, in order."""
    statuses: list[int] = []
    answer = fake.answer

    def watching(asked: Asked) -> Answer:
        given = answer(asked)
        if given.status != 200:
            statuses.append(given.status)
        return given

    fake.answer = watching
    return statuses


class TestRetries:
    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
    def test_what_passes_is_asked_again(self, fake, runs, status):
        fake.index("a", "1", BOTH)
        fake.once(Answer(status), Answer(status))
        assert runs.names("x.io/a:1") == BOTH
        assert (fake.count(), runs.waits) == (3, [0.25, 0.5])

    def test_but_not_for_ever(self, fake, runs):
        fake.always(Answer(503))
        assert "answered 503 for a:1" in runs.cause("x.io/a:1")
        assert (fake.count(), runs.waits) == (5, [0.25, 0.5, 1.0, 2.0])

    @pytest.mark.parametrize("status", [400, 410, 501])
    def test_what_does_not_pass_is_not(self, fake, runs, status):
        fake.always(Answer(status, as_json({"errors": [{"code": "X", "message": "m\x1b[31m"}]})))
        assert runs.cause("x.io/a:1").startswith(
            f"{fake.url} answered {status} for a:1 (X m\\x1b[31m) (it is"
        )
        assert fake.count() == 1

    @pytest.mark.parametrize(
        ("header", "seconds"), [("7", 7.0), ("Thu, 01 Jan 2026 00:00:09 GMT", 9.0)], ids=["seconds", "date"]
    )
    def test_retry_after_is_waited_for(self, fake, runs, header, seconds):
        fake.index("a", "1", BOTH)
        fake.once(Answer(429, headers={"Retry-After": header}))
        assert runs.names("x.io/a:1") == BOTH
        assert runs.waits == [seconds]

    def test_but_not_beyond_the_deadline(self, fake, runs):
        fake.always(Answer(429, headers={"Retry-After": "3600"}))
        assert "it is asked too often: try later, or ask a mirror (--mirror)" in runs.cause("x.io/a:1")
        assert (fake.count(), runs.waits) == (1, [])

    def test_the_pull_limit_is_not_asked_again(self, fake, runs):
        body = b'{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit."}]}'
        fake.always(Answer(429, body, {"Retry-After": "1"}))
        assert "its pull limit is used up: log in, ask a mirror" in runs.cause("x.io/a:1")
        assert (fake.count(), runs.waits) == (1, [])

    def test_what_is_left_of_the_limit_stands_in_the_report(self, fake, tmp_path):
        fake.index("a", "1", BOTH)
        limit = {"ratelimit-remaining": "20;w=21600"}
        fake.on(lambda asked: replace(fake.stored(asked), headers={**fake.stored(asked).headers, **limit}))
        pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.io/a:1'}]}\n"
        report = tmp_path / "report.json"
        archfit(pod.encode(), f"--mirror=x.io={fake.url}", "--no-cache", f"--report={report}").ok()
        assert json.loads(report.read_text())["pullsLeft"] == {fake.url: "20;w=21600"}

    def test_a_broken_connection_is_tried_three_times(self, runs):
        with FakeRegistry() as gone:
            url = gone.url
        runs.set(mirrors=())
        runs.also("*", url)
        assert "cannot be connected to (Connection refused): check" in runs.cause("x.io/a:1")
        assert runs.waits == [0.25, 0.5]

    def test_an_answer_cut_short_is_asked_again(self, fake, runs):
        fake.index("a", "1", BOTH)
        fake.once(Answer(headers={"Content-Length": "100"}, chunks=[b"{"]))
        assert runs.names("x.io/a:1") == BOTH
        assert runs.waits == [0.25]

    def test_429_halves_the_share_of_the_host(self):
        from archfit.registry.http.servers import Servers

        server = Servers().of("https://a.io")
        waves = [server.begin(1) for _ in range(32)]
        for wave in waves:
            server.busy(wave)
        assert server.share == 16
        for _ in waves:
            server.end()
        for _ in range(9):
            server.busy(server.begin(1))
            server.end()
        assert server.share == 1

    def test_a_wave_of_503_is_asked_again_and_answered(self, fake, runs):
        for number in range(64):
            fake.index(f"i{number}", "1", BOTH)
        together = threading.Event()

        def script(_: Asked) -> Answer | None:
            if fake.count() == 32:
                together.set()
            return Answer(503, hold=together) if fake.count() <= 32 else None

        fake.on(script)
        answers = runs.ask(*(f"x.io/i{number}:1" for number in range(64)))
        assert {type(answer) for answer in answers.values()} == {Found}
        assert (fake.count(), runs.waits) == (96, [0.25] * 32)

    def test_a_pause_that_a_server_asks_for_holds_for_every_image_of_it(self, fake, runs):
        """One answer says so; after it, no other image is asked for before the pause is over."""
        fake.always(Answer(429, headers={"Retry-After": "3600"}))
        texts = [f"x.io/i{number}:1" for number in range(80)]
        answers = runs.ask(*texts)
        assert {type(answer) for answer in answers.values()} == {Unknown}
        assert fake.count() <= 32
        assert "asked for a pause of 3600 s" in " ".join(str(answer) for answer in answers.values())
        assert runs.waits == []

    def test_the_longest_pause_counts(self):
        from archfit.registry.http.servers import Servers

        server = Servers().of("https://a.io")
        server.pause_until(107.0)
        server.pause_until(103.0)
        assert [server.paused_for(now) for now in (100.0, 106.0, 107.0, 200.0)] == [7.0, 1.0, 0.0, 0.0]

    def test_a_server_is_asked_again_no_more_than_its_budget(self, fake, runs):
        fake.always(Answer(503))
        runs.ask(*(f"x.io/i{number}:1" for number in range(60)))
        assert fake.count() == 60 + limits.MAX_RETRIES_PER_SERVER


class TestLimits:
    def test_a_document_above_the_limit_is_cut_off(self, fake, runs):
        sent = []

        def endless() -> Iterator[bytes]:
            while True:
                sent.append(1)
                yield b" " * 65536

        fake.always(Answer(headers={"Content-Type": OCI_INDEX}, chunks=endless()))
        assert f"sent more than {client_module.MAX_MANIFEST} bytes: refused" in runs.cause("x.io/a:1")
        assert len(sent) < 4 * client_module.MAX_MANIFEST / 65536

    @pytest.mark.parametrize("kind", ["blob", "token"])
    def test_so_are_configs_and_tokens(self, fake, runs, kind):
        fake.single("a", "1", "linux/amd64")
        fake.bearer()
        fake.on(lambda asked: Answer(body=b" " * 5_000_000) if asked.kind == kind else None)
        assert "bytes: refused" in runs.cause("x.io/a:1")

    def test_a_gzipped_answer_is_read(self, fake, runs):
        """Identity is asked for; some gateways compress all the same."""
        fake.index("a", "1", BOTH)
        known = fake.documents["/v2/a/manifests/1"]
        headers = {"Content-Type": known.media_type, "Content-Encoding": "gzip"}
        fake.on(
            lambda asked: (
                Answer(body=gzip.compress(known.body), headers=headers)
                if asked.path == "/v2/a/manifests/1"
                else None
            )
        )
        assert runs.names("x.io/a:1") == BOTH

    @pytest.mark.parametrize(
        ("body", "encoding", "said"),
        [
            pytest.param(gzip.compress(b" " * 50_000_000), "gzip", "bytes: refused", id="a-bomb"),
            pytest.param(
                gzip.compress(b"{}")[:-4],
                "gzip",
                "cut off, too long or of several parts: refused",
                id="cut-off",
            ),
            pytest.param(b"{}", "gzip", "and it is not: refused", id="no-gzip"),
            pytest.param(gzip.compress(b"{}") + b"{}", "gzip", "several parts: refused", id="more-behind-it"),
            pytest.param(gzip.compress(b"{}") * 2, "gzip", "several parts: refused", id="two-members"),
            pytest.param(b"{}", "br", "sent a compressed answer ('br')", id="brotli"),
        ],
    )
    def test_other_compressed_answers_are_refused(self, fake, runs, body, encoding, said):
        fake.always(Answer(body=body, headers={"Content-Encoding": encoding}))
        assert said in runs.cause("x.io/a:1")

    def test_bytes_with_another_digest_are_refused_and_not_kept(self, fake, runs):
        pin = fake.index("a", "", BOTH)
        other = as_json({"schemaVersion": 2, "manifests": []})
        lie = Answer(200, other, {"Content-Type": OCI_INDEX, "Docker-Content-Digest": pin})
        fake.once(lie)
        assert "bytes that do not have the digest" in runs.cause(f"x.io/a@{pin}")
        assert runs.names(f"x.io/a@{pin}") == BOTH

    def test_so_is_a_config_with_another_digest(self, fake, runs):
        fake.single("a", "1", "linux/amd64")
        fake.once(Answer(body=b'{"os": "linux", "architecture": "arm64"}'), kind="blob")
        assert "bytes that do not have the digest" in runs.cause("x.io/a:1")
        assert runs.names("x.io/a:1") == ["linux/amd64"]

    def test_a_missing_config_or_child_is_not_an_absent_image(self, fake, runs):
        fake.put("a", "1", OCI_MANIFEST, FakeRegistry.manifest(descriptor(OCI_CONFIG, b"gone")))
        gone = descriptor(OCI_MANIFEST, b"gone")
        fake.put("b", "1", OCI_INDEX, as_json({"mediaType": OCI_INDEX, "manifests": [gone]}))
        assert "answered 404 for the config" in runs.cause("x.io/a:1")
        assert "which its index names" in runs.cause("x.io/b:1")

    def test_an_entry_without_platform_is_read_over_the_network(self, fake, runs):
        config = as_json(platform_of("linux/arm64"))
        fake.blob("a", config)
        child = FakeRegistry.manifest(descriptor(OCI_CONFIG, config))
        fake.put("a", "", OCI_MANIFEST, child)
        body = as_json({"mediaType": OCI_INDEX, "manifests": [descriptor(OCI_MANIFEST, child)]})
        fake.put("a", "1", OCI_INDEX, body)
        assert runs.names("x.io/a:1") == ["linux/arm64"]
        assert fake.kinds() == ["manifest", "manifest", "blob"]

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(Answer(), id="silence"),
            pytest.param(Answer(headers={"Content-Length": "9999"}, chunks=[b"{"] * 3), id="half-an-answer"),
        ],
    )
    def test_the_deadline_is_kept_whatever_the_server_does(self, fake, runs, answer):
        fake.index("good", "1", BOTH)
        never = threading.Event()
        fake.on(lambda asked: answer.held(never) if "slow" in asked.path else None)
        runs.set(timeout_seconds=2.0)
        answers = runs.ask("x.io/slow:1", "x.io/good:1", "x.io/slow:2")
        assert [type(answer) for answer in answers.values()] == [Unknown, Found, Unknown]
        slow = answers["x.io/slow:1"]
        assert isinstance(slow, Unknown)
        assert "gave no answer before the deadline: try again, or allow more with --timeout" in slow.cause

    def test_dripping_bytes_do_not_stretch_it(self, fake, runs):
        pause = threading.Event()

        def drips() -> Iterator[bytes]:
            while not pause.wait(0.05):
                yield b" "

        fake.always(Answer(headers={"Content-Length": "99999"}, chunks=drips()))
        runs.set(timeout_seconds=0.4)
        assert isinstance(runs.ask("x.io/a:1")["x.io/a:1"], Unknown)
        pause.set()

    @pytest.mark.parametrize(
        ("answer", "refusal"),
        [
            pytest.param(
                Answer(100, chunks=itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)),
                "sent more than 1000 lines or 64 KiB before its answer: refused",
                id="informational-heads-without-end",
            ),
            pytest.param(
                Answer(100, chunks=itertools.repeat(b"a: b\r\n" * 100)),
                "sent more than 1000 lines or 64 KiB before its answer: refused",
                id="header-lines-without-end",
            ),
            pytest.param(
                Answer(100, chunks=itertools.chain([b"a: "], itertools.repeat(b"b" * 1000))),
                "sent more than 1000 lines or 64 KiB before its answer: refused",
                id="one-header-without-end",
            ),
            pytest.param(
                Answer(headers=CHUNKED, chunks=itertools.repeat(b"1\r\n \r\n" * 100)),
                "sent an answer in 1029 pieces for 1029 bytes: refused",
                id="chunks-of-one-byte",
            ),
            pytest.param(
                Answer(
                    headers={**CHUNKED, "Content-Encoding": "gzip"},
                    chunks=[
                        b"1\r\n%c\r\n" % byte
                        for byte in gzip.compress(b"".join(b"%d" % (number**9) for number in range(3000)))
                    ],
                ),
                "sent an answer in 1029 pieces for 1029 bytes: refused",
                id="gzip-in-chunks-of-one-byte",
            ),
        ],
    )
    def test_an_answer_in_crumbs_is_refused_without_another_try(self, fake, runs, answer, refusal):
        fake.on(lambda asked: answer if "crumbs" in asked.path else None)
        assert refusal in runs.cause("x.io/crumbs:1")
        assert fake.count("manifest") == 1
        assert runs.waits == []

    def test_early_hints_many_headers_and_small_chunks_are_read(self, fake, runs):
        index = fake.index("a", "1", BOTH)
        document = fake.documents["/v2/a/manifests/1"].body
        head = "".join(f"x-{number}: y\r\n" for number in range(100)).encode()
        chunks = [
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + head + b"\r\n",
            *(b"1\r\n%c\r\n" % byte for byte in document[:1000]),
            b"%x\r\n%b\r\n" % (len(document) - 1000, document[1000:]),
            b"0\r\n\r\n",
        ]
        fake.on(lambda asked: Answer(103, chunks=chunks) if asked.kind == "manifest" else None)
        answer = runs.ask("x.io/a:1")["x.io/a:1"]
        assert isinstance(answer, Found)
        assert answer.digest == index

    def test_results_are_of_different_kinds(self, fake, runs, monkeypatch):
        import socket

        def nowhere(*_: object, **__: object) -> list[object]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        assert isinstance(runs.ask("x.io/gone:1")["x.io/gone:1"], Absent)
        fake.once(Answer(403))
        assert "(403)" in runs.cause("x.io/denied:1")
        monkeypatch.setattr("archfit.registry.http.connections._resolve", nowhere)
        runs.waits.clear()
        assert runs.cause("x.io/a:1").startswith("the name '127.0.0.1' cannot be resolved: correct")
        assert runs.waits == []
