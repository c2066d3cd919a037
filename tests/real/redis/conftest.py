"""A registry for each test, and a cache server for each module that every test finds empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fake_registry import FakeRegistry
from redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with FakeRegistry() as running:
        yield running


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def server(running: RedisServer) -> RedisServer:
    with running.client() as client:
        client.flushall()
    running.forget()
    return running
