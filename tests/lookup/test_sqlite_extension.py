"""SQLite's extension is loaded without functools, and works as with it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_USE = """
store = SqliteStore(sys.argv[1])
store.put_many({str(number): "x" for number in range(600)})
for size in range(1, 200):  # more statements than the extension keeps
    assert store.get_many([str(number) for number in range(size)]) == {str(number): "x" for number in range(size)}
assert store.claim(["a"], "me", 9) == {"a"}
store.close()
"""
_ALONE = f"""
import sys
from archfit.lookup.store.sqlite import SqliteStore
{_USE}
assert "functools" not in sys.modules and "collections" not in sys.modules
import functools
assert functools.__spec__ and functools.partial and functools.lru_cache is not None
import sqlite3
assert sqlite3.connect(":memory:").execute("SELECT 1").fetchone() == (1,)
"""
_WITH_A_THREAD = f"""
import _thread, sys
held = _thread.allocate_lock()
held.acquire()
_thread.start_new_thread(held.acquire, ())
from archfit.lookup.store.sqlite import SqliteStore
{_USE}
import functools
assert sys.modules["functools"] is functools and functools.partial
"""
_ANOTHER_VERSION = f"""
import sys
class Asks:
    def find_spec(self, name, path, target=None):
        if name == "_sqlite3":
            sys.modules.get("functools") and sys.modules["functools"].partial
sys.meta_path.insert(0, Asks())
from archfit.lookup.store.sqlite import SqliteStore
{_USE}
import functools
assert functools.partial
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(_ALONE, id="alone"),
        pytest.param(_WITH_A_THREAD, id="beside-a-thread-that-may-import-functools"),
        pytest.param(_ANOTHER_VERSION, id="that-asks-functools-for-more"),
    ],
)
def test_the_extension_works(tmp_path: Path, program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
