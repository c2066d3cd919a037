"""A registry for each test, and a cache server for each module that every test finds empty."""

import pytest

from fake_registry import FakeRegistry
from redis_server import RedisServer


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        yield running


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def server(running):
    with running.client() as client:
        client.flushall()
    running.forget()
    return running
