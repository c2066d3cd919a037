"""What every caller may rely on. Not run anywhere: Windows, beyond binary output and LF."""

import json
from collections.abc import Callable

import pytest
from registry import Registry

import machine
from program import Ran

Archfit = Callable[..., Ran]

POD = b"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - image: %s\n"


@pytest.fixture(scope="module")
def mirrors():
    """The value of ARCHFIT_MIRROR for a registry with the demo's images."""
    known = machine.ROOT / "fixtures" / "demo" / "platforms.json"
    with Registry(json.loads(known.read_text(encoding="utf-8"))) as running:
        yield " ".join(running.mirrors()[1::2])


def test_output_is_binary_and_keeps_every_line_ending(archfit, mirrors):
    text = POD % b"argoproj/rollouts-demo:green"
    windows = text.replace(b"\n", b"\r\n")
    placed = archfit(text, ARCHFIT_MIRROR=mirrors).ok()
    assert b"\r" not in placed
    assert placed != text
    assert archfit(windows, ARCHFIT_MIRROR=mirrors).ok() == placed.replace(b"\n", b"\r\n")
    mixed = windows + text
    assert archfit(mixed, ARCHFIT_MIRROR=mirrors, PYTHONIOENCODING="latin-1").ok() == (
        placed.replace(b"\n", b"\r\n") + placed
    )


@pytest.mark.parametrize(
    ("words", "stream", "status"),
    [
        pytest.param((), b"kind: A\n", 0, id="done"),
        pytest.param((), b"apiVersion: v1\nkind: Pod\nspec: [\n", 1, id="failed"),
        pytest.param(("--on-blank=fail",), b"", 1, id="failed-blank"),
        pytest.param(("--strikt",), b"kind: A\n", 2, id="wrong-usage"),
        pytest.param(("chekc",), b"kind: A\n", 2, id="no-such-command"),
    ],
)
def test_exit_codes_are_as_documented(archfit, words, stream, status):
    ran = archfit(stream, *words)
    assert ran.status == status
    assert ran.stdout == (b"" if status else stream)
    documented = archfit(b"", "--help-all").ok().decode()
    assert "Exit: 0 done, 1 failed: standard output is empty, 2 wrong usage" in " ".join(documented.split())
