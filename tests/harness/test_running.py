"""The `archfit` fixture hands bytes, arguments, environment and status through as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from program import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STREAM = b"# \xc3\xa9\r\napiVersion: v1\nkind: ConfigMap"


def test_it_runs_the_program_of_this_environment() -> None:
    assert PROGRAM.is_file()


def test_bytes_go_through(archfit: Callable[..., Any]) -> None:
    assert archfit(STREAM, "--no-cache").ok() == STREAM


def test_a_failure_has_status_and_words(archfit: Callable[..., Any]) -> None:
    ran = archfit(STREAM, "--no-such-option")
    assert (ran.status, ran.stdout) == (2, b"")
    assert "--no-such-option" in ran.stderr
    with pytest.raises(AssertionError, match="--no-such-option"):
        ran.ok()


def test_environment_and_folder_are_the_callers(archfit: Callable[..., Any], tmp_path: Path) -> None:
    assert archfit(STREAM, cwd=tmp_path, ARCHFIT_ON_CONFLICT="maybe").status == 2
    assert archfit(STREAM, cwd=tmp_path, ARCHFIT_ON_CONFLICT="leave").status == 0
