"""A claim that a process makes is ended by it, whatever it learns in between."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from archfit.images.reference import parse
from archfit.lookup.cache import LookupCache
from archfit.lookup.scoped_keys import ScopedKeys
from archfit.lookup.store.sqlite import SqliteStore
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.routing.routes import Routes

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = parse("x.io/team/app:1")


def process(folder: Path) -> tuple[LookupCache, Keychain]:
    """A process that shares the cache and has a credential helper for the registry."""
    helper = folder / "docker-credential-one"
    answer = json.dumps({"Username": "robot", "Secret": "hush"})
    helper.write_text(f"#!{sys.executable} -S\nimport sys\nsys.stdin.read()\nprint({answer!r})\n")
    helper.chmod(0o700)
    (folder / "auth.json").write_text(json.dumps({"credHelpers": {"x.io": "one"}}))
    keychain = Keychain(str(folder / "auth.json"), {"PATH": str(folder)})
    keys = ScopedKeys(Routes(Operator()), keychain)
    return LookupCache(SqliteStore(str(folder / "cache"), lambda: 1000.0), keys, 3600, print), keychain


def test_a_claim_ends_where_a_credential_helper_has_answered_in_between(tmp_path):
    first, keychain = process(tmp_path)
    other, _ = process(tmp_path)
    with closing(first), closing(other):
        assert first.claim([IMAGE], 10) == {IMAGE.normalised}
        assert other.claim([IMAGE], 10) == set()
        assert keychain.find("x.io", "team/app") is not None
        first.release([IMAGE])
        assert other.claim([IMAGE], 10) == {IMAGE.normalised}
