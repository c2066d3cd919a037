"""A lookup that fails stops the run, unless the operator says otherwise."""

import pytest

from archfit.base.errors import UsageError
from archfit.lookup.lookup import open_lookup
from archfit.lookup.store.sqlite import SqliteStore
from archfit.options.hosts import cache_path
from archfit.options.settings import Operator


def test_a_run_with_an_unknown_image_writes_nothing(archfit):
    pod = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.example/a:1'}]}\n"
    done = archfit(pod, "--offline", "--no-cache")
    assert (done.status, done.stdout) == (1, b"")
    assumed = archfit(pod, "--offline", "--on-unknown", "assume")
    assert assumed.status == 2


def test_the_cache_is_closed_where_the_servers_files_cannot_be_used(tmp_path, monkeypatch):
    (tmp_path / "x.io").mkdir()
    (tmp_path / "x.io" / "hosts.toml").write_text("[")
    closed: list[SqliteStore] = []
    close = SqliteStore.close

    def closing(store: SqliteStore) -> None:
        closed.append(store)
        close(store)

    monkeypatch.setattr(SqliteStore, "close", closing)
    operator = Operator(cache=cache_path(str(tmp_path / "lookups.sqlite")), hosts_dir=str(tmp_path))
    with pytest.raises(UsageError, match=r"hosts\.toml"):
        open_lookup(operator, environ={})
    assert len(closed) == 1
