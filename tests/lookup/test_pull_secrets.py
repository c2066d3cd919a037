"""`--pull-secrets`: the Secrets of a stream open registries for its own pods, and for nothing else."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from archfit.workloads.pull_secrets import SecretEntry, matching, pull_secrets
from archfit.yaml.stream import split
from fake_registry import Answer, FakeRegistry
from file_runs import run as program
from redis_server import RedisServer

SECRET = "s3cret-never-shown"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def login(user: str = "me", password: str = SECRET) -> dict[str, str]:
    return {"auth": encoded(f"{user}:{password}")}


def secret(name: str, auths: dict[str, Any], namespace: str = "", *, form: str = "data") -> dict[str, Any]:
    """A Secret; form: data, stringData or the old dockercfg."""
    head = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
    }
    if form == "dockercfg":
        return {**head, "type": "kubernetes.io/dockercfg", "data": {".dockercfg": encoded(json.dumps(auths))}}
    text = json.dumps({"auths": auths})
    value = text if form == "stringData" else encoded(text)
    return {**head, "type": "kubernetes.io/dockerconfigjson", form: {".dockerconfigjson": value}}


def account(name: str, *secrets: str, namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    names = [{"name": one} for one in secrets]
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, "imagePullSecrets": names}


def pod(image: str, *secrets: str, namespace: str = "", **spec: object) -> dict[str, Any]:
    metadata = {"name": "p", **({"namespace": namespace} if namespace else {})}
    names = {"imagePullSecrets": [{"name": one} for one in secrets]} if secrets else {}
    containers = [{"name": "a", "image": image}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **names, **spec},
    }


def stream(*objects: dict[str, Any]) -> bytes:
    return "---\n".join(json.dumps(one) + "\n" for one in objects).encode()


def named(*objects: dict[str, Any]) -> list[str]:
    """Where the entries for the image `x.example/app` are from."""
    data = stream(*objects)
    entries, _ = pull_secrets([(data, split(data))], {})
    return [entry.source for entry in entries.get("x.example/app", ())]


HOST = {"x.example": login()}
IMAGE = "x.example/app"


@pytest.mark.parametrize(
    ("objects", "found"),
    [
        pytest.param([secret("one", HOST), pod(IMAGE, "one")], ["Secret one (x.example)"], id="the pod names it"),
        pytest.param([secret("one", HOST), pod(IMAGE)], [], id="nobody names it"),
        pytest.param([secret("one", HOST, "shop"), pod(IMAGE, "one")], [], id="another namespace"),
        pytest.param([pod(IMAGE, "one", namespace="shop"), secret("one", HOST, "shop")], ["Secret shop/one (x.example)"], id="its namespace, and further down"),
        pytest.param([secret("one", HOST), account("default", "one"), pod(IMAGE)], ["Secret one (x.example)"], id="the default ServiceAccount names it"),
        pytest.param(
            [secret("one", HOST), account("robot", "one"), pod(IMAGE, serviceAccountName="robot")],
            ["Secret one (x.example)"],
            id="the pod's ServiceAccount names it",
        ),
        pytest.param([secret("one", HOST), account("robot", "one"), pod(IMAGE)], [], id="another ServiceAccount names it"),
        pytest.param([secret("one", HOST), account("default", "one", namespace="shop"), pod(IMAGE)], [], id="a ServiceAccount of another namespace"),
        pytest.param(
            [secret("one", HOST), secret("two", HOST), account("default", "one"), pod(IMAGE, "two")],
            ["Secret two (x.example)"],
            id="the pod's own list replaces its ServiceAccount's, as at admission",
        ),
        pytest.param(
            [secret("one", HOST), secret("two", HOST), pod(IMAGE, "two", "one")],
            ["Secret two (x.example)", "Secret one (x.example)"],
            id="several, in the pod's order",
        ),
        pytest.param([{"apiVersion": "v1", "kind": "List", "items": [secret("one", HOST), pod(IMAGE, "one")]}], ["Secret one (x.example)"], id="in a List"),
        *(pytest.param([secret("one", HOST, form=form), pod(IMAGE, "one")], ["Secret one (x.example)"], id=form) for form in ("stringData", "dockercfg")),
        pytest.param([{**secret("one", HOST), "type": "Opaque"}, pod(IMAGE, "one")], [], id="a Secret of another type"),
    ],
)  # fmt: skip
def test_whose_secrets_count(objects, found):
    assert named(*objects) == found


def test_of_secrets_with_one_name_that_differ_none_is_sent():
    """They are those of several environments, and nobody knows whose an image is."""
    mine, other, apart = ({"x.io": login(password=word)} for word in ("mine", "theirs", "else"))
    pods = pod("x.io/app:1", "s", namespace="a"), pod("x.io/b:1", "t", namespace="a")
    secrets = (
        secret("s", mine, "a"),
        secret("s", other, "a"),
        secret("t", mine, "a"),
        secret("u", mine),
        secret("u", apart),
    )
    text = stream(*pods, *secrets)
    entries, warnings = pull_secrets([(text, split(text))], {})
    assert list(entries) == ["x.io/b:1"]
    assert [warning.partition(": ")[0] for warning in warnings] == ["Secret a/s"]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        pytest.param("!!", "kubernetes.io/dockerconfigjson", id="no base64"),
        pytest.param(encoded("[1"), "kubernetes.io/dockerconfigjson", id="no JSON"),
        pytest.param(encoded("[1]"), "kubernetes.io/dockerconfigjson", id="no object"),
        pytest.param(encoded('{"auths": 1}'), "kubernetes.io/dockerconfigjson", id="no auths"),
        pytest.param("ENC[AES256_GCM,data:x]", "kubernetes.io/dockerconfigjson", id="encrypted by SOPS"),
        pytest.param("e30=", "Opaque", id="of another type"),
    ],
)
def test_a_secret_that_cannot_be_read_is_said_without_its_contents(data, kind):
    broken = {**secret("one", {}, "shop"), "type": kind, "data": {".dockerconfigjson": data}}
    text = stream(broken, pod(IMAGE, "one", namespace="shop"))
    assert pull_secrets([(text, split(text))], {}) == (
        {},
        ("Secret shop/one cannot be read as a pull secret, and is not used",),
    )


@pytest.mark.parametrize(
    ("key", "host", "repository", "matches"),
    [
        pytest.param("x.example", "x.example", "team/app", True, id="the host"),
        pytest.param("X.Example", "x.example", "app", True, id="in another case"),
        pytest.param("x.example/team", "x.example", "team/app", True, id="a path"),
        pytest.param("x.example/te", "x.example", "team/app", False, id="upstream differs: paths are cut at /"),
        pytest.param("x.example/team/app", "x.example", "team/app", True, id="the whole path"),
        pytest.param("*.example", "x.example", "app", True, id="a glob"),
        pytest.param("*.example", "eu.x.example", "app", False, id="a glob is for one label"),
        pytest.param("eu-*.x.example", "eu-1.x.example", "app", True, id="a glob in a label"),
        pytest.param("*", "x.example", "app", False, id="a lone glob is one label"),
        pytest.param("x.example:5000", "x.example", "app", False, id="a port that is not the image's"),
        pytest.param("x.example", "x.example:5000", "app", False, id="a port that is missing"),
        pytest.param("*.example:5000", "x.example:5000", "app", True, id="equal ports"),
        pytest.param("https://x.example/v1/", "x.example", "app", True, id="a URL of version 1"),
        pytest.param("http://x.example/v2/team", "x.example", "team/app", True, id="a URL of version 2"),
        pytest.param("x.example/v2x", "x.example", "app", False, id="a path that begins like a version"),
        pytest.param("https://index.docker.io/v1/", "docker.io", "library/nginx", True, id="Docker Hub"),
        pytest.param("docker.io", "docker.io", "library/nginx", True, id="Docker Hub by its name"),
        pytest.param("x.example", "y.example", "app", False, id="another host"),
    ],
)  # fmt: skip
def test_which_keys_match(key, host, repository, matches):
    assert bool(matching([SecretEntry(key, {}, "")], host, repository)) is matches


def test_longer_keys_come_first():
    keys = ["*.example", "x.example", "x.example/team", "x.example/team/app"]
    entries = [SecretEntry(key, {}, key) for key in keys]
    assert [entry.key for entry in matching(entries, "x.example", "team/app")] == keys[::-1]


def test_an_entry_has_no_text():
    assert SECRET not in repr(SecretEntry("x.example", login(), "Secret one"))


# The command line, against a registry that wants a password.


@pytest.fixture
def served():
    with FakeRegistry() as fake:
        for name in ("app", "other"):
            fake.index(name, "1", ["linux/amd64"])
        wanted = f"Basic {encoded('me:' + SECRET)}"
        challenge = {"WWW-Authenticate": 'Basic realm="x"'}
        fake.on(
            lambda asked: (
                None if asked.headers.get("authorization") == wanted else Answer(401, headers=challenge)
            )
        )
        yield fake


class Program:
    def __init__(self, folder: Path, served: FakeRegistry) -> None:
        self.folder = folder
        self.image = f"{served.host}/app:1"
        self.host = served.host
        self.words = (
            f"--mirror={served.host}={served.url}",
            f"--cache={folder / 'cache.sqlite'}",
            f"--report={folder / 'report.json'}",
        )
        self.said = ""

    def __call__(self, *objects: dict[str, Any], words: tuple[str, ...] = ("--pull-secrets",)) -> int:
        ran = program((*self.words, *words), stream(*objects))
        self.said = ran.stderr
        for text in (self.said, (self.folder / "report.json").read_text()):
            assert SECRET not in text
            assert encoded(f"me:{SECRET}") not in text
        return ran.status


@pytest.fixture
def run(tmp_path, served):
    return Program(tmp_path, served)


def test_the_pods_own_secret_opens_its_registry(run):
    assert run(secret("one", {run.host: login()}), pod(run.image, "one")) == 0


def test_without_the_option_it_is_not_read(run):
    assert run(secret("one", {run.host: login()}), pod(run.image, "one"), words=()) == 1
    assert "gives no anonymous access" in run.said


def test_a_secret_that_the_pod_does_not_name_opens_nothing(run, served):
    assert run(secret("one", {run.host: login()}, "shop"), pod(run.image, "one")) == 1
    assert all("authorization" not in asked.headers for asked in served.asked)


def test_several_are_tried_in_turn(run):
    wrong = secret("wrong", {run.host: login("me", "old")})
    assert run(wrong, secret("right", {run.host: login()}), pod(run.image, "wrong", "right")) == 0


def test_the_operators_credentials_come_last(run, tmp_path):
    wrong = secret("wrong", {run.host: login("me", "old")})
    (tmp_path / "auth.json").write_text(json.dumps({"auths": {run.host: login()}}))
    words = ("--pull-secrets", f"--authfile={tmp_path / 'auth.json'}")
    assert run(wrong, pod(run.image, "wrong"), words=words) == 0


def test_a_secret_is_for_the_images_of_its_pods_alone(run, served):
    other = pod(f"{run.host}/other:1")
    assert run(secret("one", {run.host: login()}), pod(run.image, "one"), other) == 1
    sent = {asked.path for asked in served.asked if "authorization" in asked.headers}
    assert sent == {"/v2/app/manifests/1"}


def test_a_secret_is_never_sent_to_a_mirror(run, served):
    mirrored = pod("x.example/app:1", "one")
    words = ("--pull-secrets", f"--mirror=x.example={served.url}")
    assert run(secret("one", {"x.example": login()}), mirrored, words=words) == 1
    assert all("authorization" not in asked.headers for asked in served.asked)


def test_a_secret_makes_no_server_one_that_may_be_dialled(run, served):
    run.words = run.words[1:]
    assert run(secret("one", {run.host: login()}), pod(run.image, "one")) == 1
    assert served.asked == []


def test_the_secret_does_not_reach_the_cache(run, tmp_path):
    assert run(secret("one", {run.host: login()}), pod(run.image, "one")) == 0
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("cache.sqlite*"))
    assert b"linux/amd64" in kept
    assert SECRET.encode() not in kept
    assert encoded(f"me:{SECRET}").encode() not in kept


def test_a_run_without_pull_secrets_in_the_stream_asks_as_ever(run, served):
    assert run(pod(run.image)) == 1
    with_option = served.kinds()
    served.forget()
    assert run(pod(run.image), words=()) == 1
    assert served.kinds() == with_option


@pytest.mark.real
def test_a_shared_cache_keeps_its_answers_for_those_with_the_same_secret(run, served, tmp_path):
    (tmp_path / "redis").mkdir()
    with RedisServer(tmp_path / "redis") as server:
        run.words = (run.words[0], f"--cache={server.url()}/0", run.words[2])
        own = (secret("one", {run.host: login()}), pod(run.image, "one"))
        assert run(*own) == 0
        served.forget()
        assert run(*own) == 0
        assert served.asked == []
        offline = ("--pull-secrets", "--offline")
        assert run(pod(run.image), words=offline) == 1
        other = secret("one", {run.host: login("me", "another")})
        assert run(other, pod(run.image, "one"), words=offline) == 1


@pytest.mark.parametrize("command", ["check", "patch"])
def test_other_commands_use_them_across_their_files(run, tmp_path, command):
    (tmp_path / "secret.json").write_bytes(stream(secret("one", {run.host: login()})))
    (tmp_path / "pod.json").write_bytes(
        stream(pod(run.image, "one", nodeSelector={"kubernetes.io/arch": "amd64"}))
    )
    files = (str(tmp_path / "secret.json"), str(tmp_path / "pod.json"))
    assert program((command, *files, *run.words, "--pull-secrets")).status == 0
    assert program((command, *files, *run.words, "--no-cache")).status != 0
