"""Argo CD's deadline: SIGTERM in every phase, registries that do not answer, processes that share a cache."""

import os
import select
import signal
import sqlite3
import threading
from pathlib import Path

import pytest

from archfit.integrations.argocd.renderer_process import GRACE_SECONDS
from argocd_caller import repository
from argocd_sources import POD
from fake_registry import Answer, FakeRegistry

CHART = {"Chart.yaml": "apiVersion: v2\nname: demo\nversion: 0.1.0\n"}
# It says that it runs, writes half an object, and waits for something that never comes.
WAITING = """\
#!/bin/sh
{trap}
echo 'kind: Half'
echo $$ > {told}
read never < {held}
"""


def _helm(tmp_path: Path, trap: str) -> tuple[str, Path]:
    """A renderer that waits, and the pipe that gives its process id once it does."""
    told, held, helm = tmp_path / "told", tmp_path / "held", tmp_path / "helm"
    os.mkfifo(told)
    os.mkfifo(held)
    helm.write_text(WAITING.format(trap=trap, told=told, held=held), encoding="utf-8")
    helm.chmod(0o755)
    return str(helm), told


def _gone(process: int) -> bool:
    """Whether the process of a pidfd has ended; closes it."""
    ended = select.select([process], [], [], 30)[0]
    os.close(process)
    return bool(ended)


@pytest.mark.parametrize(
    "group", [pytest.param(True, id="the-group-as-Argo-CD-does"), pytest.param(False, id="archfit-alone")]
)
def test_sigterm_while_the_renderer_works_ends_both(plugin, tmp_path, group):
    helm, told = _helm(tmp_path, "")
    app = repository(tmp_path / "repo", CHART) / "app"
    running = plugin.start("generate", "--helm", helm, cwd=app)
    renderer = os.pidfd_open(int(told.read_text()))
    if group:
        ran = plugin.terminate(running)
        status, out, said = ran
    else:
        os.kill(running.pid, signal.SIGTERM)
        stdout, stderr = running.communicate(timeout=30)
        status, out, said = running.returncode, stdout, stderr.decode()
    assert (status, out) == (143, b"")
    assert said == (
        "archfit: error: SIGTERM ended archfit, so it wrote nothing: did Argo CD's deadline pass?\n"
    )
    assert _gone(renderer)


def test_a_renderer_that_ignores_sigterm_is_killed_within_the_grace(plugin, tmp_path):
    helm, told = _helm(tmp_path, "trap '' TERM")
    app = repository(tmp_path / "repo", CHART) / "app"
    running = plugin.start("generate", "--helm", helm, cwd=app)
    renderer = os.pidfd_open(int(told.read_text()))
    ran = plugin.terminate(running)
    assert (ran.status, ran.stdout) == (143, b"")
    assert _gone(renderer)
    assert GRACE_SECONDS < 5  # what Argo CD gives


def test_sigkill_leaves_no_renderer_once_the_group_got_sigterm(plugin, tmp_path):
    helm, told = _helm(tmp_path, "")
    app = repository(tmp_path / "repo", CHART) / "app"
    running = plugin.start("generate", "--helm", helm, cwd=app)
    renderer = os.pidfd_open(int(told.read_text()))
    # Go's exec.CommandContext kills the direct child at the deadline, in a race with SIGTERM for the group.
    os.kill(running.pid, signal.SIGKILL)
    os.killpg(running.pid, signal.SIGTERM)
    stdout, _ = running.communicate(timeout=30)
    assert stdout == b""
    assert _gone(renderer)


def test_sigterm_during_a_lookup_ends_it_and_spares_the_cache(plugin, tmp_path):
    with FakeRegistry() as fake:
        fake.index("team/app", "1", ["linux/amd64"])
        fake.index("team/slow", "1", ["linux/amd64"])
        came, hold = threading.Event(), threading.Event()

        def script(asked):
            if "team/slow" not in asked.path:
                return None
            came.set()
            return Answer(200, hold=hold)

        fake.on(script)
        mirror = {"ARCHFIT_MIRROR": f"*={fake.url}"}
        first = repository(tmp_path / "first", {"a.yaml": POD.format(image="x.example/team/app:1")}) / "app"
        before = plugin.run("generate", cwd=first, **mirror).ok()
        slow = repository(tmp_path / "slow", {"a.yaml": POD.format(image="x.example/team/slow:1")}) / "app"
        running = plugin.start("generate", cwd=slow, **mirror)
        assert came.wait(30)
        ran = plugin.terminate(running)
        assert (ran.status, ran.stdout) == (143, b"")
        hold.set()
        with sqlite3.connect(plugin.environ["ARCHFIT_CACHE"]) as cache:
            assert cache.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        cache.close()
        asked = len(fake.asked)
        assert plugin.run("generate", cwd=first, **mirror).ok() == before
        assert len(fake.asked) == asked


def test_output_that_has_begun_is_written_whole(plugin, tmp_path):
    many = "---\n".join(
        [POD.format(image="registry.example/intel:1"), *(f"# {'x' * 90}\n" for _ in range(20_000))]
    )
    app = repository(tmp_path / "repo", {"a.yaml": many}) / "app"
    whole = plugin.run("generate", cwd=app).ok()
    running = plugin.start("generate", cwd=app)
    assert running.stdout
    assert running.stderr
    begun = os.read(running.stdout.fileno(), 1000)
    os.killpg(running.pid, signal.SIGTERM)
    rest, _ = running.communicate()
    assert (running.returncode, begun + rest) == (0, whole)


def test_nothing_is_written_into_the_application(plugin, tmp_path):
    app = repository(tmp_path / "repo", {"a.yaml": POD.format(image="registry.example/intel:1")}) / "app"
    app.chmod(0o555)
    plugin.run("generate", cwd=app).ok()
    assert sorted(os.listdir(app)) == ["a.yaml"]
