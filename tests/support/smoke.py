"""Every command once, from the environment that runs this: the installed wheel and nothing of the tests.

    python -I tests/support/smoke.py                        a line for each start; exit 1 with the words of the first
                                                            that is wrong
    python -I tests/support/smoke.py --extras               what needs the extras, too: the page, Redis, the server
    python -I tests/support/smoke.py --extras DIR/archfit   another program, as that of `make bundle`

Only the standard library is used. Nothing is asked over the network.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

from archfit.cli.usage.command_table import COMMANDS

INSTALLED = Path(sys.executable).parent / "archfit"
PATIENCE_SECONDS = 60.0
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - {name: a, image: 'x.example/a:1'}
"""
CLONE_SET = """\
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: a}
spec: {template: {spec: {containers: [{name: a, image: 'x.example/a:1'}]}}}
"""
NODES = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: a, labels: {kubernetes.io/arch: amd64, kubernetes.io/os: linux}}
"""
WITHOUT_ROW = """\
apiVersion: aaq.kubevirt.io/v1
kind: AAQ
metadata: {name: a}
spec: {infra: {tolerations: []}, image: 'x.example/a:1'}
"""
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a.x.example}
spec:
  group: x.example
  names: {kind: A, plural: as}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              template:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      containers:
                        type: array
                        items: {type: object, properties: {name: {type: string}, image: {type: string}}}
                      tolerations: {type: array, items: {type: object}}
                      affinity: {type: object}
"""
KUSTOMIZATION = "resources: [pod.yaml]\n"
STATED = ("--no-cache", "--image-platforms", "x.example/a:1=linux/amd64")


class Start(NamedTuple):
    """words; standard input; the exit code; what standard output or error has to hold."""

    words: tuple[str, ...]
    stdin: str
    status: int
    says: str


STARTS = (
    Start(("--version",), "", 0, ""),
    Start(("--help",), "", 0, "archfit"),
    *(Start((*command.name.split(), "--help"), "", 0, command.name) for command in COMMANDS),
    Start(STATED, POD, 0, "kubernetes.io/arch"),
    Start(STATED, CLONE_SET, 0, "kubernetes.io/arch"),
    Start(("schema", "workloads"), "", 0, "podSpec"),
    Start(("--no-cache", "--offline"), WITHOUT_ROW, 0, "aaq.kubevirt.io/AAQ"),
    Start(("check", *STATED), POD, 3, "x.example/a:1"),
    Start(("check", "--format", "sarif", *STATED), POD, 3, "sarif-schema"),
    Start(("check", "--format", "github", *STATED), POD, 3, "::"),
    Start(("patch", *STATED), POD, 0, "nodeAffinity"),
    Start(("inspect", "--offline", "--no-cache", "x.example/a:1"), "", 1, "x.example/a:1"),
    Start(("lock", "--help"), "", 0, "--check"),
    Start(("cache", "info"), "", 0, "lookups"),
    Start(("setup", "flux", "--into", "app"), NODES, 0, ""),
    Start(("setup", "cluster"), NODES, 0, "kind: ArchFit"),
    Start(("setup", "workloads", "--crds", "crd.yaml"), "", 0, "x.example"),
    Start(("setup", "kustomize", "--into", "app"), "", 0, ""),
    Start(("setup", "argocd", "--into", "argo"), "", 0, ""),
    Start(("setup", "chart", "--into", "chart"), "", 0, "helm upgrade --install"),
    Start(("setup", "helm", "--into", "plugins"), "", 0, "written: "),
    Start(("completion", "bash"), "", 0, "_archfit"),
    Start(("version", "--json"), "", 0, '"cParser": true'),
    Start(("last",), "", 0, ""),
    Start(("doctor", "now"), "", 2, "see archfit doctor --help"),
)
WITH_EXTRAS = (
    Start(("audit", "--format", "html", *STATED), POD, 0, "<!doctype html>"),
    Start(("cache", "info", "--cache", "redis://127.0.0.1:1"), "", 1, "start it, or name another in --cache"),
    Start(("serve", "--tls-dir", "gone"), "", 2, "cannot read 'gone/tls.crt'"),
)


def main(words: list[str]) -> int:
    """The exit code."""
    extras = words[:1] == ["--extras"]
    program: str | Path = next(iter(words[1 if extras else 0 :]), INSTALLED)
    with tempfile.TemporaryDirectory(prefix="archfit-smoke-") as folder:
        home = Path(folder)
        (home / "crd.yaml").write_text(DEFINITION, encoding="utf-8")
        (home / "app").mkdir()
        (home / "app" / "kustomization.yaml").write_text(KUSTOMIZATION, encoding="utf-8")
        (home / "app" / "pod.yaml").write_text(POD, encoding="utf-8")
        environ = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"}
        for start in STARTS + WITH_EXTRAS if extras else STARTS:
            done = subprocess.run(
                [program, *start.words],
                input=start.stdin,
                cwd=home,
                env=environ,
                text=True,
                capture_output=True,
                check=False,
            )
            said = done.stdout + done.stderr
            if done.returncode != start.status or start.says not in said or "archfit itself failed" in said:
                print(f"archfit {' '.join(start.words)}: exit {done.returncode}, not {start.status}\n{said}")
                return 1
            print(f"archfit {' '.join(start.words)}: exit {done.returncode}")
        return served(program, environ) if extras else 0


def served(program: str | Path, environ: dict[str, str]) -> int:
    """The exit code of a server that was asked once and then told to end; 1 where it did not answer."""
    port, probes = free_port(), free_port()
    words = ["serve", "--insecure-http", f"--listen=127.0.0.1:{port}", f"--probe-listen=127.0.0.1:{probes}"]
    with tempfile.TemporaryFile("w+") as said:
        server = subprocess.Popen(
            [program, *words, "--drain-delay=0s"], env=environ, stderr=said, stdin=subprocess.DEVNULL
        )
        try:
            code = ended(server, probes)
        finally:
            server.kill()
            server.wait()
        said.seek(0)
        print(f"archfit serve: {code}" + (f"\n{said.read()}" if code else ""))
    return 1 if code else 0


def ended(server: subprocess.Popen[bytes], probes: int) -> int | str:
    """How the server ends once it is ready: its exit code, or what it did not do."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{probes}/readyz", timeout=5):
                server.send_signal(signal.SIGTERM)
                return server.wait(PATIENCE_SECONDS)
        except OSError:
            time.sleep(0.05)
    return "it was never ready"


def free_port() -> int:
    """A port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
