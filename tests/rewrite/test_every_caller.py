"""What every caller may rely on. Not run anywhere: Windows, beyond binary output and LF."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from registry import Registry

import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from program import Ran

    Archfit = Callable[..., Ran]

POD = b"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - image: %s\n"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def mirrors() -> Iterator[str]:
    """The value of ARCHFIT_MIRROR for a registry with the demo's images."""
    known = machine.ROOT / "fixtures" / "demo" / "platforms.json"
    with Registry(json.loads(known.read_text(encoding="utf-8"))) as running:
        yield " ".join(running.mirrors()[1::2])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        pytest.param((), 1, id="fail-by-default"),
        pytest.param(("--on-unknown=fail",), 1, id="fail"),
        pytest.param(("--on-unknown=leave",), 0, id="leave"),
        pytest.param(
            ("--on-unknown=leave", "--strict"), 0, id="leave-is-what-was-asked-for-also-with-strict"
        ),
    ],
)
def test_fail_or_leave_when_a_registry_cannot_be_asked(
    archfit: Archfit, words: tuple[str, ...], status: int
) -> None:
    stream = POD % b"registry.example/a:1"
    ran = archfit(stream, f"--mirror=registry.example={NOBODY}", "--no-cache", "--timeout=5s", *words)
    assert (ran.status, ran.stdout) == (status, b"" if status else stream)
    severity = "error" if status else "warning"
    (line,) = [
        line for line in ran.stderr.splitlines() if line.removeprefix("archfit: ").startswith(severity)
    ]
    assert line.removeprefix("archfit: ").startswith(
        f"{severity}: v1/Pod/a spec.containers[0].image: registry.example/a:1: "
    )
    assert "(document 1, line 8)" in line


def test_output_is_binary_and_keeps_every_line_ending(archfit: Archfit, mirrors: str) -> None:
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
def test_exit_codes_are_as_documented(
    archfit: Archfit, words: tuple[str, ...], stream: bytes, status: int
) -> None:
    ran = archfit(stream, *words)
    assert ran.status == status
    assert ran.stdout == (b"" if status else stream)
    documented = archfit(b"", "--help-all").ok().decode()
    assert "Exit: 0 done, 1 failed: standard output is empty, 2 wrong usage" in " ".join(documented.split())


def processor_seconds() -> float:
    """What the processes that ended have taken; a busy machine adds nothing."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.load
@pytest.mark.parametrize("where", ["beside", "inside"])
def test_a_document_of_10_mib(archfit: Archfit, mirrors: str, where: str) -> None:
    """Within 30 seconds of processor time: a ConfigMap beside a Pod, and a Pod that holds the text itself."""
    line = b"    one line of a large text that means nothing to anybody, as long as it stays as it is\n"
    large = line * (10 * 2**20 // len(line) + 1)
    pod = POD % b"argoproj/rollouts-demo:green"
    head = b"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n  text: |\n"
    annotated = pod.replace(
        b"  name: a\n", b"  name: a\n  annotations:\n    text: |\n" + large.replace(b"    ", b"      ")
    )
    stream = head + large + pod if where == "beside" else annotated
    started = processor_seconds()
    placed = archfit(stream, ARCHFIT_MIRROR=mirrors).ok()
    assert processor_seconds() - started < 30
    assert len(stream) > 10 * 2**20
    assert placed.startswith(stream)
    added = placed.removeprefix(stream)
    assert added == archfit(pod, ARCHFIT_MIRROR=mirrors).ok().removeprefix(pod)
