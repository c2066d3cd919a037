"""Requests for one image, counted at the server, beside crane, regctl and skopeo: the table of requests.md."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import machine
from fake_registry import Answer, Asked, FakeRegistry
from program import archfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).with_name("requests.md").read_text(encoding="utf-8")
ROWS = {
    cells[0]: [int(cell) for cell in cells[1:]]
    for line in re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE)[2:]
    if (cells := line.split(" | "))
}
SITUATIONS = list(ROWS)


class Whole(FakeRegistry):
    """With the API's root, which others ping."""

    def stored(self, asked: Asked) -> Answer:
        return Answer() if asked.kind == "ping" else super().stored(asked)


@pytest.fixture
def served() -> Iterator[Whole]:
    with Whole() as fake:
        for name in ("app", "other"):
            fake.index(name, "1", ["linux/amd64", "linux/arm64"])
        fake.single("one", "1", "linux/amd64")
        yield fake


def count(served: FakeRegistry, ask: Callable[[], object]) -> int:
    served.forget()
    ask()
    return served.count()


def archfit_requests(served: FakeRegistry, folder: Path, situation: int) -> int:
    words = (f"--mirror={served.host}={served.url}", f"--cache={folder / 'cache.sqlite'}")

    def inspect(image: str = "app:1") -> None:
        archfit(b"", "inspect", f"{served.host}/{image}", *words).ok()

    def run(*more: str) -> None:
        containers = f"[{{name: a, image: '{served.host}/app:1'}}]"
        pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: {containers}}}\n"
        archfit(pod.encode(), *words, *more).ok()

    if situation in {2, 3, 4}:
        served.bearer()
    if situation > 2:
        inspect()
    asks: list[Callable[[], object]] = [
        inspect,
        lambda: inspect("one:1"),
        inspect,
        inspect,
        lambda: inspect("other:1"),
        run,
        lambda: run("--cache-ttl=0"),
    ]
    return count(served, asks[situation])


@pytest.mark.parametrize("situation", range(7), ids=SITUATIONS)
def test_requests_of_archfit(served: Whole, tmp_path: Path, situation: int) -> None:
    assert archfit_requests(served, tmp_path, situation) == ROWS[SITUATIONS[situation]][0]


@pytest.mark.parametrize("situation", range(7), ids=SITUATIONS)
@pytest.mark.parametrize("peer", ["crane", "regctl", "skopeo"])
def test_requests_of_others(served: Whole, peer: str, situation: int) -> None:
    if situation in {2, 3, 4}:
        served.bearer()
    name = {1: "one", 4: "other"}.get(situation, "app")
    image = f"{served.host}/{name}:1"
    words = {
        "crane": ("manifest", image),
        "regctl": (
            *("--host", f"reg={served.host},tls=disabled"),
            *("manifest", "get", "--format", "raw-body", image),
        ),
        "skopeo": ("inspect", "--tls-verify=false", "--raw", f"docker://{image}"),
    }[peer]

    def ask() -> None:
        subprocess.run([machine.tool(peer), *words], check=True, capture_output=True)

    if situation in {3, 4}:
        ask()  # which it does not remember
    column = ["crane", "regctl", "skopeo"].index(peer) + 1
    assert count(served, ask) == ROWS[SITUATIONS[situation]][column]


def test_the_page_has_every_situation() -> None:
    assert len(SITUATIONS) == 7
    assert all(len(row) == 4 for row in ROWS.values())
