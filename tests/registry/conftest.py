"""Servers on loopback in the place of registries, and runs that ask the first of them for every image."""

import socket

import pytest

from fake_registry import FakeRegistry
from lookup_runs import Runs


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def stranger():
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def runs(fake, tmp_path):
    return Runs(tmp_path, fake.url)


@pytest.fixture
def registry_test(monkeypatch):
    """registry.test leads to loopback, which itself is never asked through a proxy."""
    of_system = socket.getaddrinfo

    def resolved(host, port, family=0, type=0, proto=0, flags=0):
        if host != "registry.test":
            return of_system(host, port, family, type, proto, flags)
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return of_system("127.0.0.1", port, family, type, proto, flags)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
