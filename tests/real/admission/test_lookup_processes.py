"""The lookup processes of a server: none outlives it, and known images do not notice what happens to them."""

import os
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from admission_reviews import pod
from campaign.webhook.served import Served
from fake_registry import FakeRegistry
from webhook_server import until


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        for number in range(3):
            running.index("team/amd", str(number), ["linux/amd64"])
        yield running


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("name", ["KILL", "TERM", "INT"])
def test_none_is_left_when_the_server_ends(fake, tmp_path, name):
    with Served(tmp_path, {"good.invalid": fake.port}) as server:
        assert server.review(pod("good.invalid/team/amd:0")).patch
        children = server.children()
        assert len(children) >= 2
        server.process.send_signal(signal.Signals[f"SIG{name}"])
        assert server.process.wait(30) == (-signal.SIGKILL if name == "KILL" else 0)
        until("its processes have ended", lambda: all(map(ended, children)))


def test_known_images_are_answered_and_new_ones_again_when_all_have_been_killed(fake, tmp_path):
    with Served(tmp_path, {"good.invalid": fake.port}) as server:
        assert server.review(pod("good.invalid/team/amd:0")).patch
        for child in server.children():
            os.kill(child, signal.SIGKILL)
        assert server.review(pod("good.invalid/team/amd:0")).patch
        until("a new image is placed", lambda: server.review(pod("good.invalid/team/amd:1")).patch)
        assert server.metric("archfit_lookup_processes_ended_total") >= 2
        assert list(server.said()) == []


def test_more_silent_connections_than_descriptors_leave_room_for_the_api_server(fake, tmp_path):
    with (
        Served(tmp_path, {"good.invalid": fake.port}, "--memory-limit", "4Gi", files=256) as server,
        ExitStack() as silent,
    ):
        for _ in range(400):
            silent.enter_context(socket.create_connection(("127.0.0.1", server.port), 20))
        assert server.review(pod("good.invalid/team/amd:0")).patch
        assert server.metric('archfit_connections_closed_total{what="handshake"}') > 0
