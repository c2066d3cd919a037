"""What the operator names is checked before anything is asked: for a stream without pods, and with a warm cache."""

import certifi
import pytest

from fake_registry import FakeRegistry
from file_runs import run

POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.io/a:1'}]}\n"
NO_PODS = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
FILES = [
    "authfile",
    "ca-file",
    "hosts-dir",
    "registries-conf",
    "cache-password-file",
    "cache-ca-file",
    "config",
    "lock-file",
]


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    """`--cache=FILE`, which knows the pod's image from a mirror that is gone, and the mirror."""
    cache = f"--cache={tmp_path_factory.mktemp('cache')}/cache.sqlite"
    with FakeRegistry() as registry:
        registry.index("a", "1", ["linux/amd64", "linux/arm64"])
        mirror = f"--mirror=*=http://{registry.host}"
        assert run([cache, mirror], POD)[0] == 0
    assert run([cache, mirror], POD)[0] == 0
    return f"{cache} {mirror}"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("stream", [pytest.param(POD, id="warm"), pytest.param(NO_PODS, id="no-pods")])
@pytest.mark.parametrize("more", [[], ["--on-unknown=leave"]], ids=["fail", "leave"])
def test_a_file_that_is_not_there(cached, tmp_path, name, stream, more):
    missing = tmp_path / "missing"
    status, out, said = run([*cached.split(), *more, f"--{name}={missing}"], stream)
    assert (status, out) == (2, b"")
    assert said.startswith(f"archfit: error: --{name}: ")
    assert str(missing) in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("stream", [pytest.param(POD, id="warm"), pytest.param(NO_PODS, id="no-pods")])
def test_of_the_wrong_kind(cached, tmp_path, stream):
    file = tmp_path / "file"
    file.write_text("")
    for flag, shown in (
        (f"--hosts-dir={file}", "is not a directory"),
        (f"--authfile={tmp_path}", "is a directory"),
    ):
        status, out, said = run([*cached.split(), flag], stream)
        assert (status, out) == (2, b"")
        assert shown in said


def test_a_client_certificate_that_hosts_toml_names(tmp_path):
    cache = f"--cache={tmp_path / 'cache.sqlite'}"
    folder = tmp_path / "hosts" / "x.io"
    folder.mkdir(parents=True)
    with FakeRegistry() as registry:
        registry.index("a", "1", ["linux/amd64", "linux/arm64"])
        text = f'server = "http://{registry.host}"\n[host."http://{registry.host}"]\n'
        (folder / "hosts.toml").write_text(text)
        words = [cache, f"--hosts-dir={tmp_path / 'hosts'}"]
        assert run(words, POD)[0] == 0
    for line in ('client = [["gone.pem", "gone.key"]]\n', 'ca = "gone.pem"\n'):
        (folder / "hosts.toml").write_text(text + line)
        status, out, said = run([*words, "--on-unknown=leave"], POD)
        assert (status, out) == (2, b"")
        assert str(folder / "gone.pem") in said


def test_noop_what_is_there_is_taken(cached, tmp_path):
    (tmp_path / "auth.json").write_text("{}")
    (tmp_path / "hosts").mkdir()
    status, out, said = run(
        [*cached.split(), f"--authfile={tmp_path}/auth.json", f"--ca-file={certifi.where()}"], POD
    )
    assert (status, out) == (0, POD), said
    assert run(["lock", *cached.split(), f"--lock-file={tmp_path}/new.lock"], NO_PODS)[0] == 0


@pytest.mark.parametrize("stream", [pytest.param(POD, id="pods"), pytest.param(NO_PODS, id="no-pods")])
@pytest.mark.parametrize(
    "url",
    [
        "https://h.example:70000",
        "https://h.example:0",
        "h.example",
        "ftp://h.example",
        "https://h.example/../x",
    ],
)
def test_a_mirror_has_one_parser(stream, url):
    status, out, said = run([f"--mirror=docker.io={url}", "--no-cache"], stream)
    assert (status, out) == (2, b"")
    assert said.startswith("archfit: error: --mirror: ")
    environ = run(["--no-cache"], stream, ARCHFIT_MIRROR=f"docker.io={url}")
    assert environ[:2] == (2, b"")
