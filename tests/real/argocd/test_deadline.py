"""Argo CD's deadline: SIGTERM in every phase, registries that do not answer, processes that share a cache."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from archfit.cli.inputs.renderer_process import GRACE_SECONDS
from argocd_caller import Plugin, repository
from fake_registry import Answer, FakeRegistry

if TYPE_CHECKING:
    from pathlib import Path

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: main
spec:
  containers:
    - name: main
      image: {image}
"""
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
    "group",
    [pytest.param(True, id="the-group-as-Argo-CD-does"), pytest.param(False, id="archfit-alone")],
)
def test_sigterm_while_the_renderer_works_ends_both(plugin: Plugin, tmp_path: Path, *, group: bool) -> None:
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
    assert said == ("error: SIGTERM ended archfit, so it wrote nothing: did Argo CD's deadline pass?\n")
    assert _gone(renderer)


def test_a_renderer_that_ignores_sigterm_is_killed_within_the_grace(plugin: Plugin, tmp_path: Path) -> None:
    helm, told = _helm(tmp_path, "trap '' TERM")
    app = repository(tmp_path / "repo", CHART) / "app"
    running = plugin.start("generate", "--helm", helm, cwd=app)
    renderer = os.pidfd_open(int(told.read_text()))
    ran = plugin.terminate(running)
    assert (ran.status, ran.stdout) == (143, b"")
    assert _gone(renderer)
    assert GRACE_SECONDS < 5  # what Argo CD gives


def test_sigkill_leaves_no_renderer_once_the_group_got_sigterm(plugin: Plugin, tmp_path: Path) -> None:
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


def test_sigterm_during_a_lookup_ends_it_and_spares_the_cache(plugin: Plugin, tmp_path: Path) -> None:
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


def test_output_that_has_begun_is_written_whole(plugin: Plugin, tmp_path: Path) -> None:
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


_LATE = "gave no answer before the deadline"


@pytest.mark.parametrize(
    ("policy", "status", "said"),
    [
        pytest.param({}, 1, _LATE, id="fail"),
        pytest.param(
            {"ARCHFIT_ON_UNKNOWN": "assume", "ARCHFIT_ASSUME": "linux/amd64"},
            0,
            r"assumed to run on linux/amd64 \(--on-unknown assume\)",
            id="assume",
        ),
        pytest.param({"ARCHFIT_ON_UNKNOWN": "leave"}, 0, _LATE, id="leave"),
    ],
)
def test_registries_that_never_answer_end_in_the_policy(
    plugin: Plugin, tmp_path: Path, policy: dict[str, str], status: int, said: str
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=8) as silent:
        mirror = f"*=http://127.0.0.1:{silent.getsockname()[1]}"
        app = repository(tmp_path / "repo", {"a.yaml": POD.format(image="x.example/team/app:1")}) / "app"
        ran = plugin.run("generate", cwd=app, ARCHFIT_MIRROR=mirror, ARCHFIT_TIMEOUT="200ms", **policy)
    assert ran.status == status
    assert bool(ran.stdout) is (status == 0)
    assert re.search(said, ran.stderr)


def _an_hour_passes(plugin: Plugin) -> None:
    """For what the cache knows of tags."""
    cache = sqlite3.connect(plugin.environ["ARCHFIT_CACHE"])
    rows = cache.execute("SELECT key, value FROM entries WHERE key LIKE 'tag:%'").fetchall()
    assert rows
    for key, text in rows:
        entry = json.loads(text)
        entry["checked"] -= 3600
        cache.execute("UPDATE entries SET value = ? WHERE key = ?", (json.dumps(entry), key))
    cache.commit()
    cache.close()


def test_an_old_answer_is_used_and_said(plugin: Plugin, tmp_path: Path) -> None:
    app = repository(tmp_path / "repo", {"a.yaml": POD.format(image="x.example/team/app:1")}) / "app"
    with FakeRegistry() as fake:
        fake.index("team/app", "1", ["linux/amd64"])
        mirror = {"ARCHFIT_MIRROR": f"*={fake.url}"}
        before = plugin.run("generate", cwd=app, **mirror).ok()
        _an_hour_passes(plugin)
        fake.on(lambda _: Answer(403))
        ran = plugin.run("generate", cwd=app, ARCHFIT_CACHE_TTL="1m", **mirror)
    assert ran.ok() == before
    assert "x.example/team/app:1" in ran.stderr


def test_many_at_once_share_a_cache(plugin: Plugin, tmp_path: Path) -> None:
    apps = [
        repository(tmp_path / f"copy-{number}", {"a.yaml": POD.format(image="registry.example/intel:1")})
        / "app"
        for number in range(6)
    ]
    running = [plugin.start("generate", cwd=app) for app in apps]
    outs = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0] * 6
    assert len(outs) == 1
    with sqlite3.connect(plugin.environ["ARCHFIT_CACHE"]) as cache:
        assert cache.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    cache.close()


def test_nothing_is_written_into_the_application(plugin: Plugin, tmp_path: Path) -> None:
    app = repository(tmp_path / "repo", {"a.yaml": POD.format(image="registry.example/intel:1")}) / "app"
    app.chmod(0o555)
    plugin.run("generate", cwd=app).ok()
    assert sorted(os.listdir(app)) == ["a.yaml"]


def test_no_secret_of_the_stream_is_said_or_kept(plugin: Plugin, tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n"
    broken = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: hunter2}\n"
    app = (
        repository(
            tmp_path / "repo",
            {"a.yaml": secret, "b.yaml": POD.format(image="registry.example/gone:1"), "c.yaml": broken},
        )
        / "app"
    )
    report = tmp_path / "report.json"
    ran = plugin.run("generate", cwd=app, ARCHFIT_REPORT=str(report))
    assert (ran.status, ran.stdout) == (1, b"")
    assert "hunter2" not in ran.stderr
    assert b"hunter2" not in report.read_bytes()
    for name in os.listdir(tmp_path / "sidecar" / "cache"):
        assert b"hunter2" not in (tmp_path / "sidecar" / "cache" / name).read_bytes()


def test_a_mirrors_credentials_are_not_said(plugin: Plugin, tmp_path: Path) -> None:
    app = repository(tmp_path / "repo", {"a.yaml": POD.format(image="registry.example/intel:1")}) / "app"
    ran = plugin.run("generate", cwd=app, ARCHFIT_MIRROR="*=https://user:hunter2@hub.example")
    assert ran.status == 2
    assert "hunter2" not in ran.stderr
