"""How a cache's place is written, and that nothing said about it shows a user or password."""

import pytest

from archfit.base.errors import UsageError
from archfit.options.hosts import cache_path
from archfit.options.layers import load
from archfit.options.settings import CacheServer


def loaded(text: str, variable: bool) -> str | CacheServer:
    argv, environ = ([], {"ARCHFIT_CACHE": text}) if variable else (["--cache", text], {})
    return load(argv, environ, lambda _: b"").operator.cache


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("redis://c", CacheServer(False, "c"), id="host"),
        pytest.param("rediss://c.example:7/3", CacheServer(True, "c.example", 7, 3), id="all"),
        pytest.param("redis://robot@c/", CacheServer(False, "c", user="robot"), id="user"),
        pytest.param("redis://[2001:db8::1]:7", CacheServer(False, "2001:db8::1", 7), id="ipv6"),
    ],
)
def test_servers(text, wanted):
    assert cache_path(text) == wanted
    assert loaded(text, variable=False) == loaded(text, variable=True) == wanted
    assert "robot" not in str(wanted)


@pytest.mark.parametrize("text", ["/x/y", "relative.db", "C:\\cache.db", "redis.db", "./redis:c"])
def test_everything_without_a_scheme_is_a_path(text):
    assert loaded(text, variable=False) == text


@pytest.mark.parametrize("variable", [False, True], ids=["flag", "variable"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("redis://robot:hush@c", "has a password in it", id="password"),
        pytest.param("redis://:hush@c/0", "has a password in it", id="password without user"),
        pytest.param("rediss://robot:hu@sh@c", "has a password in it", id="password with @"),
        pytest.param("http://robot@c", "'http' is not the scheme of a cache", id="http"),
        pytest.param("redis+sentinel://robot@c", "'redis+sentinel' is not the scheme of a cache", id="sentinel"),
        pytest.param("redis://", "'redis://' is not the URL of a cache", id="no host"),
        pytest.param("redis://robot@c:99999", "'redis://c:99999' is not the URL", id="port"),
        pytest.param("redis://c:0", "is not the URL", id="port 0"),
        pytest.param("redis://c/x", "is not the URL", id="database"),
        pytest.param("redis://c?password=hush", "is not the URL", id="query"),
        pytest.param("redis://c/0\n", "is not the URL", id="line end"),
        pytest.param("redis://a b", "is not the URL", id="blank"),
    ],
)  # fmt: skip
def test_what_is_no_place(text, says, variable):
    if variable and text.endswith("\n"):
        assert loaded(text, variable=True) == cache_path(text.strip())
        return
    with pytest.raises(UsageError) as caught:
        loaded(text, variable)
    assert says in str(caught.value)
    assert str(caught.value).startswith("ARCHFIT_CACHE: " if variable else "--cache: ")
    assert "robot" not in str(caught.value)
    assert "hush" not in str(caught.value)


def test_the_password_is_no_option_and_no_misspelt_one():
    settings = load([], {"ARCHFIT_CACHE_PASSWORD": "hush"}, lambda _: b"")
    assert settings == settings.replace(sources=settings.sources)
    assert "hush" not in repr(settings)
