"""A server that repeats what it was sent: its words are left out, the rest of the message stays."""

import pytest

from fake_registry import Answer, Asked, FakeRegistry, as_json
from lookup_runs import Runs

PASSWORD = "hush-hush-4711"
TOKEN = "registry-token-4711"


def parrot(fake: FakeRegistry, status: int, *, decoded: bool = False) -> None:
    """Every manifest is refused, with the request's credentials in the words."""

    def script(asked: Asked) -> Answer | None:
        said = asked.headers.get("authorization", "")
        if asked.kind != "manifest" or not said:
            return None
        words = f"you are me:{PASSWORD}" if decoded else f"you said {said}"
        return Answer(status, as_json({"errors": [{"code": "DENIED", "message": words}]}))

    fake.on(script)


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_a_token_that_a_server_repeats_is_not_shown(fake, tmp_path, status):
    given = fake.bearer()
    parrot(fake, status)
    cause = Runs(tmp_path, fake.url).cause("x.io/a:1")
    assert given
    assert not any(token in cause for token in given.values())
    assert str(status) in cause


@pytest.mark.parametrize("decoded", [False, True], ids=["as sent", "decoded"])
@pytest.mark.parametrize("status", [401, 403, 500])
def test_a_password_that_a_server_repeats_is_not_shown(fake, tmp_path, status, decoded):
    fake.on(
        lambda asked: (
            None if "authorization" in asked.headers else Answer(401, headers={"WWW-Authenticate": "Basic"})
        )
    )
    parrot(fake, status, decoded=decoded)
    runs = Runs(tmp_path, fake.url)
    runs.login(fake.host, "me", PASSWORD)
    cause = runs.cause("x.io/a:1")
    assert PASSWORD not in cause
    sent = {asked.headers.get("authorization", "").removeprefix("Basic ") for asked in fake.asked} - {""}
    assert sent
    assert not any(secret in cause for secret in sent)


def test_a_registry_token_that_a_server_repeats_is_not_shown(fake, tmp_path):
    fake.bearer()
    parrot(fake, 403)
    runs = Runs(tmp_path, fake.url)
    runs.login(fake.host, registrytoken=TOKEN)
    assert TOKEN not in runs.cause("x.io/a:1")


def test_a_header_of_hosts_toml_that_a_server_repeats_is_not_shown(fake, tmp_path):
    folder = tmp_path / "hosts" / "x.io"
    folder.mkdir(parents=True)
    text = f'server = "{fake.url}"\n[host."{fake.url}".header]\n  x-key = "{TOKEN}"\n'
    (folder / "hosts.toml").write_text(text)
    fake.on(
        lambda asked: Answer(
            403, as_json({"errors": [{"code": "DENIED", "message": f"key {asked.headers.get('x-key')}"}]})
        )
    )
    runs = Runs(tmp_path, fake.url)
    runs.set(mirrors=(), hosts_dir=str(folder.parent))
    cause = runs.cause("x.io/a:1")
    assert fake.asked[0].headers["x-key"] == TOKEN
    assert TOKEN not in cause


def test_other_words_are_shown(fake, tmp_path):
    fake.bearer()
    fake.always(Answer(500, as_json({"errors": [{"code": "DOWN", "message": "for repairs"}]})))
    assert "DOWN for repairs" in Runs(tmp_path, fake.url).cause("x.io/a:1")
