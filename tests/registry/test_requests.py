"""Requests counted at the server: the fewest that the protocol allows."""

import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from archfit.images.platforms import Found, ImagePlatforms, Malformed, Platform, Unasked
from archfit.registry.manifest import ACCEPT, DOCKER_LIST, OCI_INDEX
from fake_registry import Answer, Asked, FakeRegistry
from lookup_runs import Runs
from tls_files import tls_files

BOTH = ["linux/amd64", "linux/arm64"]
HOUR = 3600


def test_a_new_index_costs_one_request(fake, runs):
    digest = fake.index("a", "1", BOTH)
    found = runs.found("x.io/a:1")
    assert found == Found((Platform("linux", "amd64"), Platform("linux", "arm64")), digest)
    assert [(asked.method, asked.path) for asked in fake.asked] == [("GET", "/v2/a/manifests/1")]


def test_a_new_single_manifest_costs_two(fake, runs):
    digest = fake.single("a", "1", "linux/arm64")
    assert runs.found("x.io/a:1") == Found((Platform("linux", "arm64"),), digest, index=False)
    assert fake.kinds() == ["manifest", "blob"]


def test_what_every_request_says(fake, runs):
    fake.single("a", "1", "linux/arm64")
    runs.found("x.io/a:1")
    runs.later(7 * HOUR)
    runs.found("x.io/a:1")
    assert fake.kinds() == ["manifest", "blob", "head"]
    for asked in fake.asked:
        assert asked.headers["accept-encoding"] == "identity"
        assert asked.headers["user-agent"].startswith("archfit/")
        assert asked.headers["accept"] == ("*/*" if asked.kind == "blob" else ACCEPT)
        assert set(asked.headers) == {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert ACCEPT.count(",") == 3
    assert {OCI_INDEX, DOCKER_LIST} <= set(ACCEPT.replace(" ", "").split(","))
    assert "v1+prettyjws" not in ACCEPT


def test_a_warm_run_asks_nothing(fake, runs):
    pin = fake.index("pinned", "", BOTH)
    fake.index("a", "1", BOTH)
    fake.single("b", "1", "linux/amd64")
    texts = ["x.io/a:1", "x.io/b:1", f"x.io/pinned@{pin}"]
    cold = runs.ask(*texts)
    fake.forget()
    runs.later(5 * HOUR)
    warm = runs.ask(*texts)
    assert (fake.asked, runs.requests) == ([], {})
    for text in texts:
        before, after = cold[text], warm[text]
        assert isinstance(before, Found)
        age = 0 if "@" in text else 5 * HOUR
        assert after == before.replace(origin="cache", age_seconds=age)


def test_a_stale_tag_that_has_not_moved_costs_one_head(fake, runs):
    fake.index("a", "1", BOTH)
    first = runs.found("x.io/a:1")
    fake.forget()
    runs.later(7 * HOUR)
    assert runs.found("x.io/a:1") == first
    assert fake.kinds() == ["head"]
    fake.forget()
    runs.later(5 * HOUR)
    assert runs.found("x.io/a:1").origin == "cache"
    assert fake.asked == []


def test_a_stale_tag_that_has_moved_is_got_by_digest(fake, runs):
    fake.index("a", "1", BOTH)
    runs.found("x.io/a:1")
    fake.forget()
    runs.later(7 * HOUR)
    moved = fake.index("a", "1", ["linux/amd64"])
    found = runs.found("x.io/a:1")
    assert (found.digest, [str(platform) for platform in found.platforms]) == (moved, ["linux/amd64"])
    assert [asked.path for asked in fake.asked] == ["/v2/a/manifests/1", f"/v2/a/manifests/{moved}"]


def test_a_stale_tag_that_moved_to_a_known_digest_costs_one_head(fake, runs):
    fake.index("a", "1", BOTH)
    runs.ask("x.io/a:1", "x.io/a:2")
    old = fake.index("a", "2", ["linux/s390x"])
    runs.found(f"x.io/a@{old}")
    fake.forget()
    runs.later(7 * HOUR)
    fake.index("a", "2", ["linux/s390x"])
    fake.alias("a", "1", "2")
    assert runs.found("x.io/a:1").digest == old
    assert fake.kinds() == ["head"]


def test_a_tag_that_moves_between_head_and_get_is_got_by_tag(fake, runs):
    fake.index("a", "1", BOTH)
    runs.found("x.io/a:1")
    runs.later(7 * HOUR)
    fake.once(Answer(headers={"Docker-Content-Digest": "sha256:" + "1" * 64}), kind="head")
    fake.forget()
    assert runs.names("x.io/a:1") == BOTH
    assert fake.kinds() == ["head", "manifest", "manifest"]


def test_a_digest_never_asks_twice(fake, runs):
    pin = fake.index("a", "", BOTH)
    assert runs.found(f"x.io/a@{pin}").digest == pin
    assert runs.found(f"x.io/a:any@{pin}").origin == "cache"
    runs.later(1000 * 24 * HOUR)
    assert runs.found(f"x.io/a@{pin}").age_seconds == 0
    assert fake.kinds() == ["manifest"]


def test_a_digest_means_nothing_for_another_repository(fake, runs):
    pin = fake.index("a", "", BOTH)
    runs.found(f"x.io/a@{pin}")
    runs.absent(f"x.io/b@{pin}")
    assert fake.kinds() == ["manifest", "manifest"]


@pytest.mark.parametrize("status", [405, 501])
def test_no_head_then_get_and_it_is_remembered(fake, runs, status):
    fake.index("a", "1", BOTH)
    runs.found("x.io/a:1")
    fake.on(lambda asked: Answer(status) if asked.method == "HEAD" else None)
    for expected in (["head", "manifest"], ["manifest"]):
        fake.forget()
        runs.later(7 * HOUR)
        assert runs.names("x.io/a:1") == BOTH
        assert fake.kinds() == expected


@pytest.mark.parametrize(
    "digest",
    [
        pytest.param("", id="none"),
        pytest.param("sha256:../../../etc/passwd", id="malformed"),
        pytest.param("sha256:" + "A" * 64, id="upper-case"),
    ],
)
def test_a_head_without_a_usable_digest_is_followed_by_get(fake, runs, digest):
    fake.index("a", "1", BOTH)
    runs.found("x.io/a:1")
    fake.on(
        lambda asked: Answer(headers={"Docker-Content-Digest": digest}) if asked.method == "HEAD" else None
    )
    fake.forget()
    runs.later(7 * HOUR)
    assert runs.found("x.io/a:1").origin == "registry"
    assert [asked.path for asked in fake.asked] == ["/v2/a/manifests/1"] * 2


def test_a_wrong_digest_header_of_a_get_means_nothing(fake, runs):
    digest = fake.index("a", "1", BOTH)
    lie = {"Docker-Content-Digest": "sha256:" + "0" * 64}
    fake.on(lambda asked: replace(fake.stored(asked), headers=lie))
    assert runs.found("x.io/a:1").digest == digest


def test_a_tag_that_is_gone_is_absent_and_is_asked_again(fake, runs):
    because = f"it is asked for x.io because of --mirror *={fake.url}"
    assert runs.absent("x.io/a:1") == f"{fake.url} has no a:1 ({because})"
    fake.index("a", "1", BOTH)
    assert runs.names("x.io/a:1") == BOTH
    fake.remove("a", "1")
    runs.later(7 * HOUR)
    fake.forget()
    runs.absent("x.io/a:1")
    assert fake.kinds() == ["head", "manifest"]


def test_the_same_image_under_many_spellings_is_asked_once(fake, runs):
    fake.index("library/nginx", "latest", BOTH)
    texts = [
        "nginx",
        "nginx:latest",
        "docker.io/nginx",
        "index.docker.io/library/nginx",
        "library/nginx:latest",
    ]
    answers = runs.ask(*texts, *texts)
    assert len({str(answer) for answer in answers.values()}) == 1
    assert fake.kinds() == ["manifest"]


def test_connections_are_at_most_the_share_and_all_reused(fake, runs):
    for number in range(80):
        fake.index(f"i{number}", "1", BOTH)
    gate, held = threading.Event(), []

    def script(asked: Asked) -> Answer | None:
        """The first 32 wait for each other, so that all of them are in flight at once."""
        held.append(asked)
        if len(held) >= 32:
            gate.set()
        return fake.stored(asked).held(gate)

    fake.on(script)
    runs.ask(*(f"x.io/i{number}:1" for number in range(80)))
    assert (fake.connections, fake.most_at_once) == (32, 32)
    assert len(fake.asked) == 80


@pytest.mark.real
def test_one_tls_context_for_all_threads_and_lookups(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr("archfit.registry.http.tls._shared", {})
    original = ssl.create_default_context
    monkeypatch.setattr(ssl, "create_default_context", lambda *a, **k: made.append(1) or original(*a, **k))
    files = tls_files()
    with FakeRegistry(files.context()) as fake:
        for number in range(40):
            fake.index(f"i{number}", "1", BOTH)
        runs = Runs(tmp_path, fake.url, SSL_CERT_FILE=str(files.ca))
        answers = runs.ask(*(f"x.io/i{number}:1" for number in range(40)))
        assert {type(answer) for answer in answers.values()} == {Found}
        assert fake.connections <= 32
        assert made == [1]
        other = tmp_path / "ca.pem"
        other.write_bytes(files.ca.read_bytes())
        for expected, ca in ((1, files.ca), (2, other), (2, other)):
            again = Runs(tmp_path / f"{expected}", fake.url, SSL_CERT_FILE=str(ca))
            again.ask("x.io/i1:1")
            assert len(made) == expected
        other.write_bytes(files.ca.read_bytes() * 2)
        assert (
            type(Runs(tmp_path / "new", fake.url, SSL_CERT_FILE=str(other)).ask("x.io/i1:1")["x.io/i1:1"])
            is Found
        )
        assert len(made) == 3, "the file is another"


def test_progress_counts_what_is_asked(fake, runs):
    for number in range(3):
        fake.index(f"i{number}", "1", BOTH)
    seen: list[tuple[int, int]] = []
    runs.progress = lambda done, total, _server: seen.append((done, total))
    runs.ask("x.io/i0:1")
    runs.ask(*(f"x.io/i{number}:1" for number in range(3)), "no reference!")
    assert seen == [(1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("", Unasked, id="empty"),
        pytest.param("{{ .Values.image }}", Unasked, id="placeholder"),
        pytest.param("ko://example.com/app", Unasked, id="ko"),
        pytest.param("a" * 64, Malformed, id="image-id"),
        pytest.param("nginx@sha256:abc", Malformed, id="digest"),
    ],
)
def test_what_is_no_reference_is_not_asked(fake, runs, text, answer):
    assert isinstance(runs.ask(text)[text], answer)
    assert fake.asked == []


def test_an_override_is_not_asked(fake, runs):
    fake.index("a", "1", BOTH)
    runs.overrides = (ImagePlatforms("x.io/*", (Platform("linux", "s390x"),)),)
    assert runs.found("x.io/a:1") == Found((Platform("linux", "s390x"),), origin="override")
    assert fake.asked == []


class TestOffline:
    def test_a_fresh_and_a_stale_tag_answer(self, fake, runs):
        fake.index("a", "1", BOTH)
        runs.found("x.io/a:1")
        runs.set(offline=True)
        fake.forget()
        assert runs.found("x.io/a:1").origin == "cache"
        runs.later(24 * HOUR)
        found = runs.found("x.io/a:1")
        assert (found.origin, found.age_seconds) == ("stale", 24 * HOUR)
        assert fake.asked == []

    def test_a_miss_and_what_is_too_old_say_so(self, fake, runs):
        fake.index("a", "1", BOTH)
        runs.found("x.io/a:1")
        runs.set(offline=True)
        forbidden = "the cache has no answer, and --offline forbids asking: run once without --offline"
        assert runs.cause("x.io/b:1") == forbidden
        runs.later(8 * 24 * HOUR)
        assert "--offline" in runs.cause("x.io/a:1")
        assert fake.count() == 1


class TestStale:
    @pytest.fixture
    def known(self, fake, runs):
        fake.index("a", "1", BOTH)
        runs.found("x.io/a:1")
        runs.later(24 * HOUR)
        return runs

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(Answer(500), id="server-error"),
            pytest.param(Answer(403), id="denied"),
            pytest.param(Answer(429, b"pull rate limit"), id="pull-limit"),
            pytest.param(Answer(200, b"<html>"), id="not-understood"),
        ],
    )
    def test_an_old_answer_is_used_and_said_where_nobody_can_be_asked(self, fake, known, answer):
        fake.always(answer)
        found = known.found("x.io/a:1")
        assert (found.origin, found.age_seconds) == ("stale", 24 * HOUR)
        assert "x.io/a:1: an answer 24 hours old is used, because " in known.messages[0]

    def test_it_does_not_become_fresh_by_that(self, fake, known):
        fake.always(Answer(403))
        known.found("x.io/a:1")
        known.later(HOUR)
        assert known.found("x.io/a:1").age_seconds == 25 * HOUR

    def test_but_not_one_older_than_max_stale(self, fake, known):
        fake.always(Answer(403))
        known.set(max_stale_seconds=23 * HOUR)
        assert "403" in known.cause("x.io/a:1")

    def test_and_never_where_the_registry_says_it_is_gone(self, fake, known):
        fake.remove("a", "1")
        known.absent("x.io/a:1")

    def test_an_answer_from_the_future_is_only_confirmed(self, fake, known):
        known.later(-48 * HOUR)
        fake.forget()
        assert known.found("x.io/a:1").origin == "registry"
        assert fake.kinds() == ["head"]
        known.later(-48 * HOUR)
        fake.always(Answer(403))
        known.cause("x.io/a:1")

    def test_a_ttl_of_zero_always_asks(self, fake, known):
        known.set(cache_ttl_seconds=0)
        known.found("x.io/a:1")
        known.later(1)
        fake.forget()
        known.found("x.io/a:1")
        assert fake.kinds() == ["head"]


class TestCache:
    def test_no_cache_neither_reads_nor_writes(self, fake, runs, tmp_path):
        fake.index("a", "1", BOTH)
        runs.set(no_cache=True)
        assert [runs.found("x.io/a:1").origin for _ in range(2)] == ["registry", "registry"]
        assert not (tmp_path / "lookups.sqlite").exists()

    def test_unknown_and_absent_are_never_kept(self, fake, runs):
        fake.once(Answer(403))
        runs.cause("x.io/a:1")
        fake.index("a", "1", BOTH)
        assert runs.names("x.io/a:1") == BOTH

    @pytest.mark.parametrize("content", [b"no database" * 99, b"SQLite format 3\0" + b"\xff" * 900])
    def test_a_broken_file_is_said_once_and_worked_around(self, fake, runs, tmp_path, content):
        fake.index("a", "1", BOTH)
        fake.single("b", "1", "linux/amd64")
        (tmp_path / "lookups.sqlite").write_bytes(content)
        answers = runs.ask("x.io/a:1", "x.io/b:1")
        assert {type(answer) for answer in answers.values()} == {Found}
        (message,) = runs.messages
        assert str(tmp_path / "lookups.sqlite") in message
        assert message.endswith("this run goes on without it")

    def test_a_read_only_directory_is_worked_around(self, fake, runs):
        fake.index("a", "1", BOTH)
        runs.set(cache="/proc/nowhere/lookups.sqlite")
        assert runs.names("x.io/a:1") == BOTH
        assert len(runs.messages) == 1

    def test_changed_entries_are_asked_again(self, fake, runs, tmp_path):
        import sqlite3

        fake.index("a", "1", BOTH)
        runs.found("x.io/a:1")
        file = sqlite3.connect(tmp_path / "lookups.sqlite")
        file.execute("UPDATE entries SET value = replace(value, 'linux/arm64', '../evil')")
        file.commit()
        file.close()
        assert runs.found("x.io/a:1").origin == "registry"

    def test_no_token_or_secret_is_written(self, fake, runs, tmp_path):
        fake.index("a", "1", BOTH)
        given = fake.bearer(user="user:hush")
        runs.login(fake.host)
        runs.found("x.io/a:1")
        kept = b"".join(path.read_bytes() for path in tmp_path.glob("lookups.sqlite*"))
        assert b"hush" not in kept
        assert all(token.encode() not in kept for token in given.values())
        assert b"/token" in kept

    def test_two_runs_at_once_on_one_cold_cache(self, fake, runs):
        for number in range(20):
            fake.index(f"i{number}", "1", BOTH)
        texts = [f"x.io/i{number}:1" for number in range(20)]
        with ThreadPoolExecutor(4) as threads:
            results = list(threads.map(lambda _: runs.ask(*texts), range(4)))
        found = [{name: one.replace(origin="") for name, one in result.items()} for result in results]
        assert {type(one) for one in found[0].values()} == {Found}
        assert found == [found[0]] * 4
        fake.forget()
        assert {answer.origin for answer in runs.ask(*texts).values() if isinstance(answer, Found)} == {
            "cache"
        }
        assert fake.asked == []
