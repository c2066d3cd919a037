"""Where the cache is: a file, or a server that several machines share.

    /var/cache/archfit/lookups.sqlite
    redis[s]://[USER@]HOST[:PORT][/DATABASE]      port 6379, database 0; rediss:// is TLS

A password in the URL is an error: lists of processes would show it. Write it into ARCHFIT_CACHE_PASSWORD or
the file of --cache-password-file. Source: IANA's registration of the scheme redis.
"""

from __future__ import annotations

from archfit.options.option_entries import CacheServer
from archfit.options.problem import Problem

# Not the grammar of registries: names of containers, which serve as hosts here, have underscores.
_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?|\[[a-fA-F0-9:.]+\]"
_URL = rf"redis(s?)://(?:([^@/?#:\s]+)@)?({_HOST})(?::([0-9]{{1,5}}))?(?:/([0-9]{{1,4}})?)?"
_EXAMPLE = "'redis://cache.example:6379/0'"


def cache_path(text: str) -> str | CacheServer:
    """The path of a file, or a server. Raises Problem, which never repeats a user or password."""
    if not text or "\0" in text:
        raise Problem("is not a path: write one without NUL characters" if text else "is empty: write a path")
    return _server(text) if "://" in text else text


def _server(text: str) -> CacheServer:
    import re  # the table of options is loaded for every option, and most name no server

    scheme, _, rest = text.partition("://")
    if scheme not in {"redis", "rediss"}:
        raise Problem(f"{scheme!r} is not the scheme of a cache: write a path, or a URL as {_EXAMPLE}")
    if "@" in rest and ":" in rest.rpartition("@")[0]:
        raise Problem(
            "has a password in it, which others can see: put it into ARCHFIT_CACHE_PASSWORD or the file of "
            "--cache-password-file, and leave it out here"
        )
    found = re.fullmatch(_URL, text, re.ASCII)
    if found is None or not 0 < int(found[4] or 6379) <= 65535:
        shown = re.split("[?#]", f"{scheme}://{rest.rpartition('@')[2]}")[0]
        raise Problem(f"{shown!r} is not the URL of a cache: write it as {_EXAMPLE}")
    return CacheServer(
        bool(found[1]), found[3].strip("[]"), int(found[4] or 6379), int(found[5] or 0), found[2] or ""
    )
