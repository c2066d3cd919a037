"""The newest version of an operator gets a folder of its own, with the samples and without the recordings."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from operators.build import Failed
from operators.definition import operator
from operators.newest import dated, newest

DEFINITION = """\
operator = "k6 operator"
module = "example.com/k6"
version = "v1.2.0"
recorded = 2026-01-02
[[programs]]
name = "manager"
package = "./cmd"
"""
FILES = {
    "operator.toml": DEFINITION,
    "setup.yaml": "kind: Namespace\n",
    "whole/object.yaml": "kind: TestRun\n",
    "whole/placed.yaml": "kind: TestRun\n",
    "whole/turn-1/placed.yaml": "kind: TestRun\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recording of k6 1.2.0."""
    made = tmp_path / "k6-1.2.0"
    for name, text in FILES.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    return made


def _go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A `go` that answers with these lines of shell."""
    path = tmp_path / "bin" / "go"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/bin:/usr/bin")


def test_a_newer_release_gets_a_folder(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _go(tmp_path, monkeypatch, "echo v1.3.0")
    found = newest(operator(folder))
    assert (found.folder, found.version) == (tmp_path / "k6-1.3.0", "v1.3.0")
    names = sorted(str(path.relative_to(found.folder)) for path in found.folder.rglob("*") if path.is_file())
    assert names == ["operator.toml", "setup.yaml", "whole/object.yaml"]
    assert sorted(FILES) == sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )


def test_the_newest_release_stays(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _go(tmp_path, monkeypatch, "echo v1.2.0")
    old = operator(folder)
    assert newest(old) is old


def test_a_module_that_is_not_served_is_named(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _go(tmp_path, monkeypatch, "echo 'not found' >&2; exit 1")
    with pytest.raises(Failed, match=r"go list -m -f {{.Version}} example.com/k6@latest failed\n  not found"):
        newest(operator(folder))


def test_the_day_of_a_recording_is_written(folder: Path) -> None:
    dated(folder, dt.date(2026, 11, 23))
    text = (folder / "operator.toml").read_text(encoding="utf-8")
    assert text == DEFINITION.replace("2026-01-02", "2026-11-23")
