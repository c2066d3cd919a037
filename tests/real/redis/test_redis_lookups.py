"""Runs that share a cache on a server: round trips, who sees what, trouble."""

import json
import sys
from pathlib import Path

import pytest

from archfit.images.platforms import Found, Unknown
from archfit.images.reference import parse
from archfit.lookup.scoped_keys import ScopedKeys
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.routing.endpoints import itself
from archfit.registry.routing.routes import Routes
from fake_registry import Answer, FakeRegistry
from lookup_runs import Runs
from redis_server import RedisServer

BOTH = ["linux/amd64", "linux/arm64"]
HOUR = 3600
LOGIN = {"user": "robot", "password": "hush-4711"}


@pytest.fixture
def machine_of(fake, server, tmp_path):
    """Machines with homes of their own, by name; they share the server."""

    def made(name: str) -> Runs:
        folder = tmp_path / name
        folder.mkdir()
        runs = Runs(folder, fake.url)
        runs.set(cache=server.url())
        return runs

    return made


def test_what_one_machine_learned_another_reads_in_one_round_trip(fake, server, machine_of):
    texts = [f"x.io/i{number}:1" for number in range(40)]
    for number in range(40):
        fake.index(f"i{number}", "1", BOTH)
    asked = machine_of("one").ask(*texts)
    assert fake.count() == 40
    fake.forget()
    server.forget()
    two = machine_of("two")
    two.later(60)
    read = two.ask(*texts)
    assert server.commands().keys() == {"getrange"}
    assert fake.asked == two.messages == []
    for text in texts:
        first, second = asked[text], read[text]
        assert isinstance(first, Found)
        assert isinstance(second, Found)
        assert second == first.replace(origin="cache", age_seconds=60)


def test_a_cold_run_writes_everything_in_one_round_trip(fake, server, machine_of):
    fake.index("a", "1", BOTH)
    fake.index("b", "1", BOTH)
    machine_of("one").ask("x.io/a:1", "x.io/b:1")
    assert server.commands()["exec"] == 1
    assert set(server.texts()) == {
        f"archfit:v2:tag:x.io/a:1~{fake.url}/v2/a",
        f"archfit:v2:tag:x.io/b:1~{fake.url}/v2/b",
        *(f"archfit:v2:digest:x.io/{name}@{fake_digest(fake, name)}~{fake.url}/v2/{name}" for name in "ab"),
        f"archfit:v2:host:{fake.url}",
    }
    assert len(server.texts(claims=True)) == len(server.texts())


def fake_digest(fake: FakeRegistry, name: str) -> str:
    return fake.index(name, "1", BOTH)


@pytest.mark.parametrize("pinned", [False, True], ids=["tag", "digest"])
@pytest.mark.parametrize(
    "other",
    [
        pytest.param({}, id="no credentials"),
        pytest.param({"user": "robot", "password": "wrong"}, id="the same user with another password"),
        pytest.param({"user": "guest", "password": LOGIN["password"]}, id="another user"),
    ],
)
def test_what_one_credential_learned_is_not_served_to_another(fake, machine_of, other, pinned):
    digest = fake.index("app", "1", BOTH)
    fake.bearer(user=f"{LOGIN['user']}:{LOGIN['password']}")
    text = f"x.io/app@{digest}" if pinned else "x.io/app:1"
    one, two, three = machine_of("one"), machine_of("two"), machine_of("three")
    one.login(fake.host, **LOGIN)
    three.login(fake.host, **LOGIN)
    assert one.found(text).origin == "registry"
    if other:
        two.login(fake.host, **other)
    assert isinstance(two.ask(text)[text], Unknown)
    two.set(offline=True)
    assert isinstance(two.ask(text)[text], Unknown)
    fake.forget()
    assert three.found(text).origin == "cache"
    assert fake.asked == []


def test_public_answers_serve_everybody(fake, machine_of):
    """No credential was asked for, so none was used, though there is one."""
    fake.index("app", "1", BOTH)
    one, two, three = machine_of("one"), machine_of("two"), machine_of("three")
    one.login(fake.host, **LOGIN)
    two.login(fake.host, user="other", password="other")
    assert one.found("x.io/app:1").origin == "registry"
    assert two.found("x.io/app:1").origin == "cache"
    assert three.found("x.io/app:1").origin == "cache"


def test_the_younger_of_two_entries_counts(fake, machine_of):
    """A public one and one's own, when a repository was private once."""
    old = fake.index("app", "1", BOTH)
    fake.bearer(user=f"{LOGIN['user']}:{LOGIN['password']}")
    one, two = machine_of("one"), machine_of("two")
    one.login(fake.host, **LOGIN)
    assert one.found("x.io/app:1").digest == old
    new = fake.index("app", "1", ["linux/amd64"])
    token = Answer(body=b'{"token": "t"}')
    fake.on(lambda asked: token if asked.kind == "token" else fake.stored(asked))
    two.later(HOUR)
    one.later(2 * HOUR)
    assert two.found("x.io/app:1").digest == new
    assert (one.found("x.io/app:1").digest, one.found("x.io/app:1").age_seconds) == (new, HOUR)


def helper(runs: Runs, code: str) -> Path:
    """Credentials from a helper alone; its calls are counted in the file."""
    calls = runs.folder / "calls"
    program = runs.folder / "docker-credential-test"
    program.write_text(
        f"#!{sys.executable} -S\nimport sys, json\nsys.stdin.read()\nopen({str(calls)!r}, 'a').write('x')\n{code}\n"
    )
    program.chmod(0o700)
    (runs.folder / "auth.json").write_text(json.dumps({"credsStore": "test"}))
    runs.set(authfile=str(runs.folder / "auth.json"))
    runs.environ["PATH"] = f"{runs.folder}:{runs.environ['PATH']}"
    calls.touch()
    return calls


GIVES = f"print(json.dumps({{'Username': {LOGIN['user']!r}, 'Secret': {LOGIN['password']!r}}}))"


def test_a_helper_is_run_for_private_images_only(fake, machine_of):
    fake.index("public", "1", BOTH)
    one, two, three = machine_of("one"), machine_of("two"), machine_of("three")
    calls = {name: helper(runs, GIVES) for name, runs in (("one", one), ("two", two))}
    helper(three, "print(json.dumps({'Username': 'robot', 'Secret': 'other'}))")
    one.found("x.io/public:1")
    assert two.found("x.io/public:1").origin == "cache"
    assert calls["one"].read_text() == calls["two"].read_text() == ""
    fake.index("private", "1", BOTH)
    fake.bearer(user=f"{LOGIN['user']}:{LOGIN['password']}")
    assert one.found("x.io/private:1").origin == "registry"
    fake.forget()
    assert two.found("x.io/private:1").origin == "cache"
    assert fake.asked == []
    assert calls["one"].read_text() == calls["two"].read_text() == "x"
    assert isinstance(three.ask("x.io/private:1")["x.io/private:1"], Unknown)


def test_dockers_official_images_are_public_whoever_asks_docker(tmp_path):
    file = tmp_path / "auth.json"
    auth = {"username": "robot", "password": "hush"}
    file.write_text(json.dumps({"auths": {"https://index.docker.io/v1/": auth}}))
    keys = ScopedKeys(Routes(Operator()), Keychain(str(file), {}))
    assert keys.of(parse("nginx:1")) == ["tag:docker.io/library/nginx:1"]
    assert (
        keys.written(parse("nginx:1"), itself(parse("nginx:1")), used=True) == "tag:docker.io/library/nginx:1"
    )
    public, own = keys.of(parse("acme/app:1"))
    assert public == "tag:docker.io/acme/app:1"
    assert own == keys.written(parse("acme/app:1"), itself(parse("acme/app:1")), used=True)
    assert own.startswith(f"{public}#")


@pytest.mark.parametrize("how", ["down", "read-only", "wrong password", "paused", "flushed"])
def test_a_server_that_is_not_well_is_said_once_and_never_fatal(fake, tmp_path, how):
    digests = [fake.index(f"i{number}", "1", BOTH) for number in range(3)]
    texts = [f"x.io/i{number}:1" for number in range(3)]
    with RedisServer(tmp_path) as server:
        runs = Runs(tmp_path, fake.url)
        runs.set(cache=server.url(), timeout_seconds=4.0)
        with server.client() as client:
            if how == "down":
                server.stop()
            elif how == "read-only":
                client.replicaof("127.0.0.1", 1)
            elif how == "wrong password":
                client.config_set("requirepass", "right")
                runs.environ["ARCHFIT_CACHE_PASSWORD"] = "wrong-0815"
            elif how == "paused":
                client.client_pause(60_000)
            else:
                runs.ask(*texts)
                client.flushall()
        answers = runs.ask(*texts)
    assert [answer.digest for answer in answers.values() if isinstance(answer, Found)] == digests
    assert len(runs.messages) == (0 if how == "flushed" else 1)
    for message in runs.messages:
        assert message.startswith(f"the cache {server.url()}/0 cannot be used (")
        assert message.endswith("; this run goes on without it")
        assert "wrong-0815" not in message


def test_a_read_only_server_that_has_everything_is_not_complained_about(fake, tmp_path):
    fake.index("app", "1", BOTH)
    with RedisServer(tmp_path) as server:
        runs = Runs(tmp_path, fake.url)
        runs.set(cache=server.url())
        runs.found("x.io/app:1")
        with server.client() as client:
            client.replicaof("127.0.0.1", 1)
        assert runs.found("x.io/app:1").origin == "cache"
        assert runs.messages == []
