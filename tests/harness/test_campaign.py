"""The campaign sees what it is there to see."""

import sqlite3

import pytest

from campaign import invariants
from campaign.invariants import Ended, Expected

TRUE = b"kind: Pod\n"
EXPECTED = Expected(truths=[TRUE], deadline=1.0, secrets=["hush"], images=2)
DONE = Ended(0, TRUE, "", 0.1)
FAILED = Ended(1, b"", "archfit: 1 problem\narchfit: error: a registry failed\n", 0.1)


@pytest.mark.parametrize(
    ("ended", "changes", "says"),
    [
        pytest.param(DONE, {}, "", id="done"),
        pytest.param(FAILED, {}, "", id="failed"),
        pytest.param(DONE, {"seconds": 3.1}, "late", id="late"),
        pytest.param(DONE, {"stdout": b"kind: Po"}, "not true", id="cut"),
        pytest.param(DONE, {"stdout": b""}, "not true", id="empty"),
        pytest.param(DONE, {"stderr": "Exception in thread 3"}, "said", id="thread"),
        pytest.param(FAILED, {"stdout": TRUE}, "with an output", id="failed-with-output"),
        pytest.param(FAILED, {"stderr": ""}, "0 errors", id="without-a-word"),
        pytest.param(FAILED, {"stderr": "archfit: error: a\n" * 3}, "3 errors", id="many-errors"),
        pytest.param(
            FAILED, {"stderr": "archfit: error: archfit itself failed\n"}, "itself failed", id="bug"
        ),
        pytest.param(FAILED, {"stderr": "archfit: error: hush\n"}, "secret", id="secret"),
        pytest.param(FAILED, {"stderr": "archfit: error: \x1b[31m\n"}, "control", id="escape"),
        pytest.param(FAILED, {"stderr": "archfit: error: a\u202eb\n"}, "control", id="bidi"),
        pytest.param(FAILED, {"status": 2}, "status 2", id="status"),
        pytest.param(FAILED, {"status": -9}, "status -9", id="killed-by-nobody"),
    ],
)
def test_what_breaks_an_invariant(ended, changes, says):
    found = list(invariants.broken(ended._replace(**changes), EXPECTED, killed=False))
    assert len(found) == bool(says)
    assert all(says in one for one in found)


@pytest.mark.parametrize("stdout", [b"", TRUE])
def test_a_killed_run_has_written_all_or_nothing(stdout):
    killed = Ended(-9, stdout, "", 0.1)
    assert list(invariants.broken(killed, EXPECTED, killed=True)) == []
    assert list(invariants.broken(killed._replace(stdout=b"kind"), EXPECTED, killed=True))


def test_a_damaged_cache_and_a_kept_secret_are_seen(tmp_path):
    path = tmp_path / "cache.sqlite"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE a (b TEXT)")
        file.executemany("INSERT INTO a VALUES (?)", [("hush" * 500,)] * 50)
    file.close()
    assert list(invariants.cache(path)) == []
    assert list(invariants.kept(tmp_path, ["hush"])) == ["a secret is kept in cache.sqlite"]
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * 4096 + data[8192:])
    assert list(invariants.cache(path))
