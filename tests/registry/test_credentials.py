"""Which credential belongs to a repository, and what happens when it cannot be had."""

import base64
import json
import os
import sys
from pathlib import Path

import pytest

from archfit.registry.credentials.credential import Credential, checked
from archfit.registry.credentials.credential_helper import Helper
from archfit.registry.credentials.keychain import Keychain, places
from archfit.registry.registry_errors import RegistryError


def auth(user: str, password: str = "secret") -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


class Home:
    """A home directory with credential files and helpers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.environ = {"HOME": str(folder), "PATH": str(self.bin)}

    def file(self, place: str, **document: object) -> str:
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
        return str(path)

    def helper(self, name: str, code: str) -> None:
        """A helper in Python; `server` is what it was asked for. Its calls are counted in a file."""
        path = self.bin / f"docker-credential-{name}"
        path.write_text(
            f"#!{sys.executable} -S\nimport sys, json, os\nassert sys.argv[1:] == ['get']\n"
            f"server = sys.stdin.read()\nopen({str(self.folder / 'calls')!r}, 'a').write(server + '\\n')\n{code}\n"
        )
        path.chmod(0o700)

    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().split() if path.exists() else []

    def find(self, host: str, repository: str = "a/b", authfile: str = "") -> Credential | None:
        return Keychain(authfile, self.environ).find(host, repository)

    def user(self, host: str, repository: str = "a/b", authfile: str = "") -> str:
        found = self.find(host, repository, authfile)
        return found.username if found else ""


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


GIVES = "print(json.dumps({'ServerURL': server, 'Username': 'helped', 'Secret': 'hush'}))"
NOT_FOUND = "print('credentials not found in native keychain'); sys.exit(1)"


def test_precedence_of_the_files(home):
    places = {
        "flag": home.file("flag.json", auths={"h.io": auth("flag")}),
        "variable": home.file("variable.json", auths={"h.io": auth("variable")}),
    }
    home.file("docker/config.json", auths={"h.io": auth("docker-config")})
    home.file("run/containers/auth.json", auths={"h.io": auth("runtime")})
    home.file("xdg/containers/auth.json", auths={"h.io": auth("xdg")})
    home.file(".docker/config.json", auths={"h.io": auth("home")})
    home.file(".dockercfg", **{"h.io": auth("oldest")})
    home.environ |= {
        "REGISTRY_AUTH_FILE": places["variable"],
        "DOCKER_AUTH_CONFIG": json.dumps({"auths": {"h.io": auth("text")}}),
        "DOCKER_CONFIG": str(home.folder / "docker"),
        "XDG_RUNTIME_DIR": str(home.folder / "run"),
        "XDG_CONFIG_HOME": str(home.folder / "xdg"),
    }
    seen = [home.user("h.io", authfile=places["flag"]), home.user("h.io")]
    for variable in list(home.environ)[-5:]:
        del home.environ[variable]
        seen.append(home.user("h.io"))
    (home.folder / ".docker" / "config.json").unlink()
    seen.append(home.user("h.io"))
    assert seen == ["flag", "variable", "text", "docker-config", "runtime", "xdg", "home", "oldest"]


@pytest.mark.parametrize("runtime", ["", "/run/user/7"])
def test_where_podman_stores_a_login(home, runtime):
    """Of root and in containers there is no XDG_RUNTIME_DIR (containers-auth.json(5))."""
    there = [path for path, _ in places("", {**home.environ, "XDG_RUNTIME_DIR": runtime})]
    own = f"/run/containers/{os.getuid()}/auth.json"
    assert there[0] == (f"{runtime}/containers/auth.json" if runtime else own)
    assert (own in there) is not bool(runtime)


def test_the_chain_is_searched_until_an_entry_matches(home):
    text = {"auths": {"third.io": auth("third")}, "credHelpers": {"h.io": "one"}, "credsStore": "one"}
    home.environ["DOCKER_AUTH_CONFIG"] = json.dumps(text)
    home.file(".config/containers/auth.json", auths={"other.io": auth("other")})
    home.file(".docker/config.json", auths={"h.io": auth("mine")})
    assert home.user("h.io") == "mine"


def test_a_file_named_by_flag_or_variable_replaces_the_chain(home):
    home.file(".docker/config.json", auths={"h.io": auth("mine")})
    assert home.find("h.io", authfile=home.file("other.json", auths={})) is None
    assert home.find("h.io", authfile=os.devnull) is None


SCOPED = {"h.io": auth("host"), "h.io/a": auth("a"), "h.io/a/b": auth("ab"), "h.io/a/b/c": auth("abc")}


@pytest.mark.parametrize(
    ("auths", "host", "repository", "user"),
    [
        pytest.param(SCOPED, "h.io", "a/b/c", "abc", id="longest-path"),
        pytest.param(SCOPED, "h.io", "a/b/d", "ab", id="next-path"),
        pytest.param(SCOPED, "h.io", "a/bc", "a", id="whole-components-only"),
        pytest.param(SCOPED, "h.io", "x", "host", id="host"),
        pytest.param(SCOPED, "h.io:5000", "a/b", "", id="port-is-part-of-the-host"),
        pytest.param(SCOPED, "sub.h.io", "a/b", "", id="no-sub-domains"),
        pytest.param({"https://index.docker.io/v1/": auth("hub")}, "registry-1.docker.io", "library/x", "hub", id="docker-hub"),
        pytest.param({"docker.io": auth("hub")}, "registry-1.docker.io", "library/x", "hub", id="docker-hub-by-name"),
        pytest.param({"docker.io/me": auth("me"), "docker.io": auth("hub")}, "registry-1.docker.io", "me/x", "me", id="docker-hub-by-path"),
        pytest.param({"https://h.io/v1/": auth("old")}, "h.io", "x", "old", id="legacy-url"),
        pytest.param({"http://h.io": auth("old")}, "h.io", "x", "old", id="legacy-scheme"),
        pytest.param({"https://h.io/v2/": auth("old"), "h.io": auth("new")}, "h.io", "x", "new", id="exact-before-legacy"),
        pytest.param({"h.io": {}}, "h.io", "x", "", id="an-empty-entry-is-only-a-marker"),
        pytest.param({"h.io": None, "https://h.io": auth("old")}, "h.io", "x", "old", id="null-is-an-empty-entry"),
        pytest.param({"h.io": {"username": "u", "password": "p"}}, "h.io", "x", "u", id="user-and-password-apart"),
        pytest.param({}, "h.io", "x", "", id="none"),
    ],
)  # fmt: skip
def test_which_entry_matches(home, auths, host, repository, user):
    assert home.user(host, repository, home.file("auth.json", auths=auths)) == user


@pytest.mark.parametrize(
    ("entry", "credential"),
    [
        pytest.param(auth("u", "p:w:d"), Credential("u", "p:w:d"), id="colons-in-the-password"),
        pytest.param(auth("u", "p\0\0"), Credential("u", "p"), id="trailing-nuls"),
        pytest.param({**auth("u"), "identitytoken": "it"}, Credential("u", "secret", "it"), id="identity-token"),
        pytest.param({"registrytoken": "rt"}, Credential(registry_token="rt"), id="registry-token"),
    ],
)  # fmt: skip
def test_what_an_entry_holds(home, entry, credential):
    found = home.find("h.io", authfile=home.file("auth.json", auths={"h.io": entry}))
    assert found is not None
    assert found.replace(source="") == credential


def test_cred_helpers_beat_auths_and_auths_beat_the_store(home):
    home.helper("one", GIVES)
    home.helper("two", GIVES.replace("helped", "stored"))
    file = home.file(
        "auth.json",
        credHelpers={"h.io": "one"},
        credsStore="two",
        auths={"h.io": auth("file"), "g.io": auth("file"), "f.io": {}},
    )
    assert [home.user(host, authfile=file) for host in ("h.io", "g.io", "f.io", "e.io")] == [
        "helped",
        "file",
        "stored",
        "stored",
    ]


@pytest.mark.parametrize(
    ("host", "server"), [("h.io:5000", "h.io:5000"), ("registry-1.docker.io", "https://index.docker.io/v1/")]
)
def test_what_a_helper_is_asked_and_how_often(home, host, server):
    home.helper("one", GIVES)
    keychain = Keychain(home.file("auth.json", credsStore="one"), home.environ)
    for repository in ("a/b", "a/c"):
        assert keychain.find(host, repository) == Credential(
            "helped", "hush", source=keychain.find(host, "x").source
        )
    assert home.calls() == [server]


def test_a_helpers_identity_token(home):
    home.helper("one", GIVES.replace("helped", "<token>"))
    found = home.find("h.io", authfile=home.file("auth.json", credsStore="one"))
    assert found is not None
    assert (found.username, found.identity_token) == ("", "hush")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"{GIVES}; print('a newer version is there')", id="words-behind"),
        pytest.param(GIVES.replace("Username", "username").replace("Secret", "secret"), id="lower-case"),
        pytest.param("print('\\ufeff', end=''); " + GIVES, id="a-byte-order-mark"),
    ],
)
def test_a_helper_is_read_as_docker_reads_it(home, code):
    home.helper("one", code)
    assert home.user("h.io", authfile=home.file("auth.json", credsStore="one")) == "helped"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(NOT_FOUND, id="not-found"),
        pytest.param("print(json.dumps({'Username': 'u', 'Secret': None}))", id="null"),
        pytest.param("print(json.dumps({'ServerURL': '', 'Username': '', 'Secret': ''}))", id="empty-strings-from-pass"),
    ],
)  # fmt: skip
def test_a_helper_that_has_nothing_means_anonymous(home, code):
    home.helper("one", code)
    assert home.find("h.io", authfile=home.file("auth.json", credHelpers={"h.io": "one"})) is None


@pytest.mark.parametrize(
    ("code", "says"),
    [
        pytest.param("print('hush'); sys.exit(3)", "failed for h.io (exit 3): run `echo h.io | docker-credential-one get`", id="exit"),
        pytest.param("print('hush')", "did not answer in JSON", id="no-json"),
        pytest.param("print('[\"hush\"]')", "did not answer in JSON", id="no-object"),
        pytest.param("print(json.dumps({'Username': 5, 'Secret': 'hush'}))", "not a string", id="types"),
        pytest.param("sys.stdout.write('hush' * 1000000)", "more than 65,536 bytes", id="too-much"),
    ],
)  # fmt: skip
def test_a_failing_helper_is_an_error_never_anonymous_and_never_another_entry(home, code, says):
    home.helper("one", code)
    file = home.file("auth.json", credHelpers={"h.io": "one"}, auths={"h.io": auth("file")})
    with pytest.raises(RegistryError) as caught:
        home.find("h.io", authfile=file)
    assert says in str(caught.value)
    assert "hush" not in str(caught.value)
    assert home.find("other.io", authfile=file) is None


def test_a_missing_helper_is_reported(home):
    file = home.file("auth.json", credHelpers={"h.io": "absent"})
    with pytest.raises(
        RegistryError, match=r"docker-credential-absent, configured for h\.io, is not on PATH"
    ):
        home.find("h.io", authfile=file)


@pytest.mark.parametrize("name", ["../evil", "a b", "a;b", "", "a/b", "é"])
def test_helper_names_are_words(home, name):
    with pytest.raises(RegistryError, match="no program can have"):
        Helper(name, "h.io", home.environ).answer(1)


@pytest.mark.parametrize("server", ["h.io\nevil.io", "h io", "", "hé.io"])
def test_a_helper_is_only_asked_for_one_plain_host(home, server):
    home.helper("one", GIVES)
    with pytest.raises(RegistryError):
        Helper("one", server, home.environ).answer(1)
    assert home.calls() == []


@pytest.mark.parametrize(
    ("code", "says"),
    [
        pytest.param("import threading; threading.Event().wait()", "did not end within 0.3 s", id="silent"),
        pytest.param(
            "os.close(1); import threading; threading.Event().wait()",
            "did not end within 0.3 s",
            id="closes-its-output",
        ),
    ],
)
def test_a_helper_that_does_not_end_is_ended(home, code, says):
    home.helper("one", code)
    with pytest.raises(RegistryError, match=says):
        Helper("one", "h.io", home.environ).answer(0.3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("{", "is not a JSON object", id="no-json"),
        pytest.param("[]", "is not a JSON object", id="no-object"),
        pytest.param('{"auths": []}', None, id="an-empty-list-is-nothing"),
        pytest.param('{"auths": ["x"]}', "wrong type", id="auths"),
        pytest.param('{"credHelpers": {"h.io": 5}}', "wrong type", id="helper"),
        pytest.param('{"auths": {"h.io": "x"}}', "is not a JSON object", id="entry"),
        pytest.param('{"auths": {"h.io": {"auth": 5}}}', "not a string", id="auth-type"),
        pytest.param('{"auths": {"h.io": {"auth": "????"}}}', "not base64 of user:password", id="auth-base64"),
        pytest.param('{"auths": {"h.io": {"auth": "aHVzaA=="}}}', "not base64 of user:password", id="auth-without-colon"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_understood_is_an_error(home, text, says):
    path = home.folder / "auth.json"
    path.write_text(text)
    if says is None:
        assert home.find("h.io", authfile=str(path)) is None
        return
    with pytest.raises(RegistryError) as caught:
        home.find("h.io", authfile=str(path))
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_variable_that_cannot_be_understood_is_an_error_that_does_not_show_it(home):
    home.environ["DOCKER_AUTH_CONFIG"] = "/builds/team/app.tmp/DOCKER_AUTH_CONFIG"
    assert home.find("h.io") is None
    home.environ["DOCKER_AUTH_CONFIG"] = "{hush"
    with pytest.raises(RegistryError, match=r"\$DOCKER_AUTH_CONFIG is not a JSON object") as caught:
        home.find("h.io")
    assert "hush" not in str(caught.value)


def test_a_named_file_that_is_missing_is_an_error(home):
    with pytest.raises(RegistryError, match="cannot be read: No such file"):
        home.find("h.io", authfile=str(home.folder / "nope.json"))


def test_a_credential_never_shows_its_secrets():
    shown = repr(Credential("user", "hush", "hush", "hush", "a file"))
    assert shown == "Credential(source='a file')"


def test_whether_a_host_is_mentioned_runs_no_helper(home):
    home.helper("one", GIVES)
    file = home.file(
        "auth.json", credHelpers={"h.io": "one"}, credsStore="one", auths={"https://index.docker.io/v1/": {}}
    )
    keychain = Keychain(file, home.environ)
    assert [keychain.mentions(host) for host in ("h.io", "registry-1.docker.io", "g.io")] == [
        True,
        True,
        False,
    ]
    assert home.calls() == []


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        pytest.param({"registrytoken": "hush\n"}, "no header can hold", id="token-with-line-end"),
        pytest.param({"registrytoken": "hu sh"}, "no header can hold", id="token-with-blank"),
        pytest.param({"registrytoken": "h\u00fcsh"}, "no header can hold", id="token-beyond-ascii"),
        pytest.param({"registrytoken": "hush\x00"}, "no header can hold", id="token-with-nul"),
        pytest.param({"username": "me", "password": "hush\ud800"}, "is not valid Unicode", id="lone-surrogate"),
        pytest.param({"identitytoken": "hush\ud800"}, "is not valid Unicode", id="lone-surrogate-in-identity-token"),
        pytest.param({"username": "me\ud800", "password": "hush"}, "is not valid Unicode", id="lone-surrogate-in-user"),
        pytest.param({"username": "me\r", "password": "hush"}, "control character", id="control-in-user"),
        pytest.param({"username": "me", "password": "hush\n"}, "control character", id="line-end-in-password"),
        pytest.param({"username": "me:you", "password": "hush"}, "colon in the user name", id="colon"),
        pytest.param(auth("me", "hush\n"), "control character", id="line-end-in-auth"),
    ],
)  # fmt: skip
def test_what_no_request_can_carry_is_refused_when_it_is_read(home, entry, says):
    file = home.file("auth.json", auths={"h.io": entry})
    with pytest.raises(RegistryError, match=says) as caught:
        home.find("h.io", authfile=file)
    assert "hush" not in str(caught.value)
    assert "hu sh" not in str(caught.value)


@pytest.mark.parametrize(
    "credential",
    [
        Credential("m\u00fcller", "gr\u00fc\u00df:gott", source="f"),
        Credential(identity_token="a+b/c==", source="f"),
        Credential(registry_token="eyJ.eyJ.x-_~+/=", source="f"),
    ],
)
def test_what_a_request_can_carry_is_left_as_it_is(credential):
    assert checked(credential) is credential


@pytest.mark.parametrize("secret", ["hush\n", "hush\ud800"])
def test_a_helpers_answer_is_checked_too(home, secret):
    home.helper("one", f"print(json.dumps({{'ServerURL': server, 'Username': 'me', 'Secret': {secret!r}}}))")
    with pytest.raises(RegistryError, match="log in again") as caught:
        home.find("h.io", authfile=home.file("auth.json", credHelpers={"h.io": "one"}))
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("value", ["~", "relative", ""])
def test_without_an_absolute_home_no_file_of_the_working_directory_counts(home, value, monkeypatch):
    for name in (value or "~", "."):
        home.file(f"{name}/.docker/config.json", auths={"h.io": auth("theirs")})
        home.file(f"{name}/.config/containers/auth.json", auths={"h.io": auth("theirs")})
        home.file(f"{name}/containers/auth.json", auths={"h.io": auth("theirs")})
    monkeypatch.chdir(home.folder)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    environ = {"XDG_CONFIG_HOME": ".", "XDG_RUNTIME_DIR": "."} | ({"HOME": value} if value else {})
    assert Keychain("", environ).find("h.io", "a") is None


def test_a_relative_docker_config_is_an_error(home):
    with pytest.raises(RegistryError, match="set it to an absolute path"):
        Keychain("", {**home.environ, "DOCKER_CONFIG": "here"}).find("h.io", "a")


def test_a_named_pipe_as_credentials_file_is_an_error(home):
    os.mkfifo(home.folder / "auth.json")
    with pytest.raises(RegistryError, match="not a regular file"):
        home.find("h.io", authfile=str(home.folder / "auth.json"))
