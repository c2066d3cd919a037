"""What Argo CD does to a plugin's commands, twice: by its own code, and by hand where its code cannot be watched.

with Sidecar(folder, mirrors) as sidecar:        the real argocd-cmp-server v3.5.1, see tests/judges/cmpserver
    sidecar.ask("generate", repo, parameters=[..])     Answer, through its socket

Plugin(environ).start("generate", cwd=..)        by hand: no shell, the application's folder, a process group of its
                                                 own, the sidecar's environment, the application's variables
"""

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import machine
from archfit.integrations.argocd.setup import plugin
from program import PROGRAM, Ran

BUILD = {
    "ARGOCD_APP_NAME": "web",
    "ARGOCD_APP_NAMESPACE": "shop",
    "ARGOCD_APP_PROJECT_NAME": "default",
    "ARGOCD_APP_REVISION": "0123456789abcdef0123456789abcdef01234567",
    "ARGOCD_APP_SOURCE_PATH": "app",
    "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/shop.git",
    "KUBE_VERSION": "1.33.0",
    "KUBE_API_VERSIONS": "v1,apps/v1,batch/v1",
}
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def tools_folder(folder: Path) -> Path:
    """A folder for PATH with archfit, helm (4) and kustomize, as the sidecar's image has them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in (
        ("archfit", str(PROGRAM)),
        ("helm", machine.tool("helm4")),
        ("kustomize", machine.tool("kustomize")),
    ):
        (folder / name).symlink_to(program)
    return folder


def sidecar_environ(tools: Path, folder: Path, mirrors: str) -> dict[str, str]:
    """The sidecar's environment: explicit cache, no home of its own, nothing of the tests' user."""
    return {
        "PATH": f"{tools}:{SYSTEM_PATH}",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "ARCHFIT_CACHE": str(folder / "cache" / "lookups.sqlite"),
        "ARCHFIT_MIRROR": mirrors,
    }


class Answer(NamedTuple):
    """What repo-server gets. manifests: JSON texts, one for each object."""

    manifests: list[str]
    supported: bool
    parameters: list[dict[str, Any]]
    error: str

    def objects(self) -> list[Any]:
        """The decoded objects. Raises AssertionError with the error where there is one."""
        assert not self.error, self.error
        return [json.loads(text) for text in self.manifests]


class Sidecar:
    """argocd-cmp-server with the plugin.yaml of `archfit setup argocd --discover`.

    folder: with a short path, as it holds a socket.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.program = machine.go_build(machine.ROOT / "tests" / "judges" / "cmpserver", "cmpserver")
        self.folder = folder
        self.environ = dict(environ)
        for name in ("plugins", "config", "work"):
            (folder / name).mkdir(parents=True)
        (folder / "config" / "plugin.yaml").write_text(plugin(discover=True), encoding="utf-8")
        self._server = subprocess.Popen(
            [self.program, "serve", "--config-dir-path", str(folder / "config")],
            env={
                **environ,
                "ARGOCD_PLUGINSOCKFILEPATH": str(folder / "plugins"),
                "ARGOCD_CMP_WORKDIR": str(folder / "work"),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert self._server.stderr
        while b"serving on" not in (line := self._server.stderr.readline()):
            assert line, "argocd-cmp-server ended"
        self._draining = threading.Thread(target=self._server.stderr.read)
        self._draining.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # At SIGTERM it waits for connections that repo-server keeps.
        self._server.kill()
        self._server.wait()
        self._draining.join()
        assert self._server.stderr
        self._server.stderr.close()

    def start(
        self,
        method: str,
        repo: Path,
        *,
        parameters: Sequence[Mapping[str, Any]] | None = None,
        env: Mapping[str, str] | None = None,
        plugin_block: bool = True,
        seconds: float = 60.0,
        **build: str,
    ) -> subprocess.Popen[bytes]:
        """A request as repo-server makes it. What is written to its standard input afterwards cancels it."""
        request = {
            "socket": str(self.folder / "plugins" / "archfit.sock"),
            "method": method,
            "repo": str(repo),
            "app": build.get("ARGOCD_APP_SOURCE_PATH", "app"),
            "build": [f"{name}={value}" for name, value in {**BUILD, **build}.items()],
            "seconds": seconds,
        }
        if plugin_block:
            named = [{"name": name, "value": value} for name, value in (env or {}).items()]
            request["source"] = {"env": named} | (
                {"parameters": parameters} if parameters is not None else {}
            )
        asking = subprocess.Popen(
            [self.program, "ask"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": SYSTEM_PATH, "TMPDIR": str(self.folder), "HOME": str(self.folder)},
        )
        assert asking.stdin
        asking.stdin.write(json.dumps(request).encode() + b"\n")
        asking.stdin.flush()
        return asking

    def ask(self, method: str, repo: Path, **more: Any) -> Answer:
        return finish(self.start(method, repo, **more))


def finish(asking: subprocess.Popen[bytes]) -> Answer:
    """What a request of Sidecar.start got in the end."""
    assert asking.stdout
    assert asking.stdin
    line = asking.stdout.readline()
    asking.stdin.close()
    asking.stdout.close()
    asking.wait()
    found = json.loads(line)
    return Answer(
        found.get("manifests", []), found["supported"], found.get("parameters", []), found.get("error", "")
    )


class Plugin:
    """The plugin's commands by hand. environ: the sidecar's."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = dict(environ)

    def start(self, *words: str, cwd: Path, **environ: str) -> subprocess.Popen[bytes]:
        """`archfit argocd WORDS` as runCommand of cmpserver/plugin/plugin.go starts it."""
        return subprocess.Popen(
            [PROGRAM, "argocd", *words],
            cwd=cwd,
            env={**self.environ, **BUILD, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )

    def run(self, *words: str, cwd: Path, **environ: str) -> Ran:
        running = self.start(*words, cwd=cwd, **environ)
        stdout, stderr = running.communicate()
        return Ran(running.returncode, stdout, stderr.decode(errors="replace"))

    def terminate(self, running: subprocess.Popen[bytes], grace_seconds: float = 30.0) -> Ran:
        """SIGTERM to the group; raises subprocess.TimeoutExpired where anything holds the pipes after the grace."""
        os.killpg(running.pid, signal.SIGTERM)
        try:
            stdout, stderr = running.communicate(timeout=grace_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            raise
        return Ran(running.returncode, stdout, stderr.decode(errors="replace"))


def repository(folder: Path, source: Path | Mapping[str, str], app: str = "app") -> Path:
    """A repository whose folder `app` is a copy of a folder, or holds these files."""
    at = folder / app
    if isinstance(source, Path):
        shutil.copytree(source, at)
    else:
        for name, text in source.items():
            (at / name).parent.mkdir(parents=True, exist_ok=True)
            (at / name).write_text(text, encoding="utf-8")
    return folder
