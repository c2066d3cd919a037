"""What one run learned serves only runs that would ask the same server in the same way."""

import sys
import threading
from pathlib import Path

import pytest

from archfit.images.platforms import Found, Unknown
from archfit.images.reference import parse
from archfit.lookup.scoped_keys import ScopedKeys
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.manifest import INDEXES, MANIFESTS, OCI_ARTIFACT, OCI_INDEX
from archfit.registry.routing.routes import Routes
from fake_registry import Answer, as_json, descriptor
from lookup_runs import Runs

AMD64 = ["linux/amd64"]
ARM64 = ["linux/arm64"]
BARE_INDEX = as_json(
    {
        "schemaVersion": 2,
        "manifests": [descriptor(MANIFESTS[0], b"x", platform={"os": "linux", "architecture": "amd64"})],
    }
)


@pytest.mark.parametrize("header", ["", *INDEXES, *MANIFESTS, OCI_ARTIFACT, "application/json", "text/html"])
def test_a_digest_means_its_bytes_whatever_a_header_says(fake, stranger, tmp_path, header):
    digest = fake.put("a", "", header, BARE_INDEX)
    stranger.put("a", "", OCI_INDEX, BARE_INDEX)
    first = Runs(tmp_path, fake.url).ask(f"x.io/a@{digest}")[f"x.io/a@{digest}"]
    assert isinstance(first, Unknown) or [str(one) for one in first.platforms] == AMD64
    assert Runs(tmp_path, stranger.url).names(f"x.io/a@{digest}") == AMD64


def test_a_tag_that_a_mirror_said_is_not_what_the_registry_says(fake, stranger, tmp_path):
    fake.index("a", "1", AMD64)
    stranger.index("a", "1", ARM64)
    assert Runs(tmp_path, fake.url).names("x.io/a:1") == AMD64
    assert Runs(tmp_path, stranger.url).names("x.io/a:1") == ARM64
    fake.forget()
    stranger.forget()
    assert Runs(tmp_path, fake.url).names("x.io/a:1") == AMD64
    assert Runs(tmp_path, stranger.url).names("x.io/a:1") == ARM64
    assert fake.asked == stranger.asked == []


def test_a_mirrors_path_is_another_repository(fake, tmp_path):
    fake.index("one/a", "1", AMD64)
    fake.index("two/a", "1", ARM64)
    assert Runs(tmp_path, f"{fake.url}/one").names("x.io/a:1") == AMD64
    assert Runs(tmp_path, f"{fake.url}/two").names("x.io/a:1") == ARM64


def test_what_a_header_of_hosts_toml_opens_stays_with_it(fake, tmp_path):
    fake.index("a", "1", AMD64)
    fake.on(lambda asked: None if asked.headers.get("x-token") == "hush" else Answer(403))
    folder = tmp_path / "certs.d" / "x.io"
    folder.mkdir(parents=True)

    def ask(header: str) -> object:
        text = f'server = "{fake.url}"\n' + (f'[header]\nx-token = "{header}"\n' if header else "")
        (folder / "hosts.toml").write_text(text)
        runs = Runs(tmp_path, fake.url)
        runs.set(mirrors=(), hosts_dir=str(tmp_path / "certs.d"))
        return runs.ask("x.io/a:1")["x.io/a:1"]

    assert isinstance(ask("hush"), Found)
    assert isinstance(ask(""), Unknown)
    assert isinstance(ask("other"), Unknown)
    fake.forget()
    assert isinstance(ask("hush"), Found)
    assert fake.asked == []
    assert b"hush" not in (tmp_path / "lookups.sqlite").read_bytes()


def test_what_is_learned_by_the_second_server_serves_who_asks_both(fake, stranger, tmp_path):
    stranger.index("a", "1", ARM64)
    folder = tmp_path / "certs.d" / "x.io"
    folder.mkdir(parents=True)
    (folder / "hosts.toml").write_text(f'server = "{stranger.url}"\n[host."{fake.url}"]\n')
    both = Runs(tmp_path, fake.url)
    both.set(mirrors=(), hosts_dir=str(tmp_path / "certs.d"))
    assert both.names("x.io/a:1") == ARM64
    assert (fake.count(), stranger.count()) == (1, 1)
    assert both.names("x.io/a:1") == ARM64
    assert (fake.count(), stranger.count()) == (1, 1)


def certificate(folder: Path, content: str) -> None:
    (folder / "client.pem").write_text(content)


def named(folder: Path, text: str, reference: str = "x.io/a:1") -> str:
    """The name of the first server for an image, where x.io's hosts.toml has this text."""
    inner = folder / "certs.d" / "x.io"
    inner.mkdir(parents=True, exist_ok=True)
    (inner / "hosts.toml").write_text(text)
    routes = Routes(Operator(hosts_dir=str(folder / "certs.d")))
    image = parse(reference)
    return ScopedKeys(routes, None).endpoint_name(image, routes.endpoints(image)[0])


class TestNames:
    def test_how_a_server_is_trusted_is_part_of_it(self, tmp_path):
        certificate(tmp_path, "one")
        for name in ("a.crt", "b.crt"):
            (tmp_path / name).touch()
        texts = [
            'server = "https://x.io"',
            'server = "https://x.io"\nskip_verify = true',
            f'server = "https://x.io"\nca = "{tmp_path}/a.crt"',
            f'server = "https://x.io"\nca = "{tmp_path}/b.crt"',
            f'server = "https://x.io"\nclient = "{tmp_path}/client.pem"',
            'server = "https://x.io"\n[header]\nx-token = "hush"',
            'server = "https://x.io"\n[header]\nx-token = "hash"',
            'server = "https://y.io"',
        ]
        names = [named(tmp_path, text) for text in texts]
        assert names[0] == ""
        assert len(set(names)) == len(names)
        assert not any("hush" in name for name in names)

    def test_a_client_certificate_is_known_by_its_content(self, tmp_path):
        text = f'server = "https://x.io"\nclient = "{tmp_path}/client.pem"'
        certificate(tmp_path, "one")
        one = named(tmp_path, text)
        certificate(tmp_path, "two")
        two = named(tmp_path, text)
        certificate(tmp_path, "one")
        assert one != two
        assert one == named(tmp_path, text)


IMAGES = [parse(text) for text in ("a.io/x:1", "b.io/x:1", "docker.io/library/nginx:1")]
ASKS = '{"scheme": "bearer"}'
MEETS = """
import pathlib, time
pathlib.Path(FOLDER, server).touch()
give_up = time.monotonic() + 10
while len(list(pathlib.Path(FOLDER).glob("*.io"))) < 2 and time.monotonic() < give_up:
    time.sleep(0.01)
meets = time.monotonic() < give_up
"""


def no_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


class TestCredentialHelpers:
    """Where several users share a cache, keys name their credentials; a helper runs only for who asks for them."""

    def keys(self, folder: Path, code: str) -> ScopedKeys:
        helper = folder / "docker-credential-one"
        lines = [
            "import sys, json",
            f"open({str(folder / 'ran')!r}, 'w')",
            "server, meets = sys.stdin.read(), True",
            f"FOLDER = {str(folder)!r}",
            code,
        ]
        answer = "print(json.dumps({'Username': server, 'Secret': 'hush'}) if meets else '')"
        helper.write_text("\n".join([f"#!{sys.executable} -S", *lines, answer]))
        helper.chmod(0o700)
        (folder / "auth.json").write_text('{"credsStore": "one"}')
        keychain = Keychain(str(folder / "auth.json"), {"PATH": str(folder)})
        return ScopedKeys(Routes(Operator()), keychain)

    @pytest.mark.parametrize(
        ("code", "kept", "named"),
        [
            pytest.param(MEETS, ASKS, ["a.io/x:1", "b.io/x:1"], id="side-by-side"),
            pytest.param("", "", [], id="not-for-a-server-that-nobody-knows"),
            pytest.param("", '{"scheme": ""}', [], id="not-for-one-that-asks-for-none"),
            pytest.param("sys.exit(2)", ASKS, [], id="one-that-fails-names-nobody"),
        ],
    )
    def test_they_name_the_entries_of_servers_that_ask(self, tmp_path, code, kept, named):
        late = self.keys(tmp_path, code).late(IMAGES, lambda keys: dict.fromkeys(keys, kept))
        assert {name: [text.partition("#")[0] for text in texts] for name, texts in late.items()} == {
            name: [f"tag:{name}"] for name in named
        }
        assert (tmp_path / "ran").exists() == (kept == ASKS)

    def test_they_run_one_by_one_where_the_machine_has_no_thread_more(self, tmp_path, monkeypatch):
        keys = self.keys(tmp_path, "")
        monkeypatch.setattr(threading.Thread, "start", no_thread)
        assert len(keys.late(IMAGES, lambda texts: dict.fromkeys(texts, ASKS))) == 2

    def test_what_may_be_asked_nowhere_has_no_key(self, tmp_path):
        (tmp_path / "registries.conf").write_text('[[registry]]\nlocation = "x.io"\nblocked = true\n')
        routes = Routes(Operator(registries_conf=str(tmp_path / "registries.conf")))
        keys = ScopedKeys(routes, Keychain(str(tmp_path / "none.json"), {}))
        assert (keys.of(parse("x.io/a:1")), keys.late([parse("x.io/a:1")], lambda _: {})) == ([], {})
