"""Which answer belongs to which request where a connection serves several of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archfit.registry.manifest import OCI_INDEX
from fake_registry import Answer, Asked, FakeRegistry, as_json, descriptor
from lookup_runs import Runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SURPLUS = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with FakeRegistry() as running:
        yield running


def nested(fake: FakeRegistry) -> None:
    """`a:1` is an index in an index: its second request follows its first on the same connection."""
    inner = fake.index("a", "inner", ["linux/amd64"])
    body = next(document.body for document in fake.documents.values())
    assert inner == descriptor(OCI_INDEX, body)["digest"]
    entries = [descriptor(OCI_INDEX, body)]
    fake.put("a", "1", OCI_INDEX, as_json({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries}))


@pytest.mark.parametrize(
    ("surplus", "connections"),
    [
        pytest.param(b"", 1, id="none"),
        pytest.param(SURPLUS, 2, id="one answer"),
        pytest.param(SURPLUS * 100, 2, id="many answers"),
        pytest.param(b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", 2, id="without a body"),
    ],
)
def test_an_answer_that_came_before_its_request_is_nobodys(
    fake: FakeRegistry, tmp_path: Path, surplus: bytes, connections: int
) -> None:
    nested(fake)

    def script(asked: Asked) -> Answer | None:
        honest = fake.stored(asked)
        if not asked.path.endswith("/1"):
            return None
        headers = {**honest.headers, "Content-Length": str(len(honest.body))}
        return Answer(200, honest.body + surplus, headers)

    fake.on(script)
    runs = Runs(tmp_path, fake.url)
    assert runs.names("x.io/a:1") == ["linux/amd64"]
    assert fake.connections == connections
