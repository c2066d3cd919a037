"""Argo CD on loopback: its programs, Redis, archfit as their plugin, a Git repository, a registry, and two clusters.

    with ArgoSite(folder) as site:
        site.hub, site.edge            control planes: nodes for amd64 and arm64; nodes for arm64 alone
        site.apply("applications.yaml")    a file of the fixtures, with the URLs of this site in it
        site.commit("a new image", {"plain/web.yaml": ("web:1", "web:2")})    the new revision
        site.refresh("plain", hard=True)   as a webhook of the Git server does it, or somebody with `--hard-refresh`
        site.stop("repo-server"); site.start("repo-server")    also redis, registry, plugin, controller, sets
        site.forget()                  archfit's cache is gone, as with a new pod of repo-server

The plugin is what `archfit setup argocd` writes: plugin.yaml and archfit.yaml as they are. Argo CD's programs are those
of one binary, and their flags those of its manifests but for addresses, TLS and times: it looks for commits every 20 s
and heals after 2 s each time. Pods are bound by the scheduler, and a stand-in for the kubelet says that they run.
"""

import base64
import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import machine
from argocd_caller import SYSTEM_PATH, tools_folder
from cluster_site import BUILT_FOR, TAINT, UNROUTED, ClusterSite, run_git
from control_plane import ControlPlane
from helm_runs import start
from kubelet import Kubelet
from operators.build import Failed, fetched
from program import PROGRAM
from real_registries import Running, distribution, free_port
from redis_server import RedisServer
from whole.argocd.renders import FOLDER

ARGOCD = "argocd"
APPLICATIONS = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications"
_CONTROLLERS = (
    *("deployment", "replicaset", "statefulset", "daemonset", "job", "cronjob"),
    *("namespace", "garbage-collector"),
)

Object = dict[str, Any]


class ArgoSite(ClusterSite):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.hub, self.edge = (ControlPlane(_made(folder / name), *UNROUTED) for name in ("hub", "edge"))
        self.redis = RedisServer(_made(folder / "redis"))
        self._registry: tuple[contextlib.ExitStack, Running] | None = None
        self._port = {name: free_port() for name in ("registry", "repo-server", "metrics", "controller")}

    @property
    def git(self) -> str:
        return f"file://{self._folder / 'git'}"

    @property
    def configuration(self) -> Path:
        """The operator's archfit.yaml, which archfit reads anew at each render."""
        return self._folder / "setup" / "sidecar" / "archfit.yaml"

    @property
    def mirror(self) -> str:
        return f"img.test=http://127.0.0.1:{self._port['registry']}"

    @property
    def registry(self) -> Running:
        """The registry that runs. Raises Failed where it was stopped."""
        if self._registry is None:
            raise Failed("asking the registry", "it was stopped")
        return self._registry[1]

    # What may be stopped.

    def start(self, name: str) -> None:
        if name == "redis":
            self.redis.start()
        elif name == "registry":
            stack = contextlib.ExitStack()
            running = distribution(self._folder / "registry", port=self._port["registry"])
            self._registry = stack, stack.enter_context(running)
        else:
            program, words, environ = self._commands()[name]
            self.hub.start(
                name, [machine.tool(ARGOCD), *words], **environ, ARGOCD_BINARY_NAME=f"argocd-{program}"
            )

    def stop(self, name: str) -> None:
        if name == "redis":
            self.redis.stop()
        elif name == "registry":
            if self._registry:
                self._registry[0].close()
                self._registry = None
        else:
            self.hub.stop(name)

    def forget(self) -> None:
        shutil.rmtree(self._folder / "cache", ignore_errors=True)

    # What people do.

    def apply(self, name: str) -> None:
        text = (FOLDER / name).read_text(encoding="utf-8")
        for word, url in (("GIT", self.git), ("HUB", self.hub.url), ("EDGE", self.edge.url)):
            text = text.replace(word, url)
        self.hub.apply(text)

    def commit(self, message: str, edits: Mapping[str, tuple[str, str]]) -> str:
        """Replace one text by another in files of the repository. The new revision. Raises Failed."""
        for name, (old, new) in edits.items():
            path = self._folder / "git" / name
            text = path.read_text(encoding="utf-8")
            if old not in text:
                raise Failed(f"editing {name}", f"it does not hold {old}")
            path.write_text(text.replace(old, new), encoding="utf-8")
        return self._committed(message)

    def refresh(self, *names: str, hard: bool = False) -> None:
        """Ask Argo CD to compare applications anew; hard: to render them anew, too."""
        note = f"argocd.argoproj.io/refresh={'hard' if hard else 'normal'}"
        self.hub.kubectl("annotate", "--overwrite", "-n", "argocd", "application", *names, note)

    def push(self, reference: str, platforms: tuple[str, ...]) -> str:
        """Put an image into the registry, or move its tag. Its digest. reference: without the host."""
        repository, tag = reference.rsplit(":", 1)
        return self.registry.index(repository, tag, [f"linux/{one}" for one in platforms])

    def archfit(self, *words: str) -> str:
        """The standard output of a command of archfit, run by the operator. Raises AssertionError."""
        own = {"ARCHFIT_MIRROR": self.mirror, "ARCHFIT_CACHE": str(self._folder / "own.sqlite")}
        return start([str(PROGRAM), *words], {**os.environ, **own}, self._folder).ok().decode()

    # What is seen.

    def applications(self) -> dict[str, Object]:
        return {one["metadata"]["name"]: one for one in self.hub.get(APPLICATIONS)["items"]}

    # How it is made.

    def _prepare(self) -> None:
        enter = self._exit.enter_context
        module = fetched(f"github.com/argoproj/argo-cd/v3@{machine.TABLE[ARGOCD].version}")
        for plane, nodes in ((self.hub, ("amd64", "amd64", "arm64")), (self.edge, ("arm64",))):
            enter(plane)
            for number, architecture in enumerate(nodes):
                tainted = architecture == "arm64" and plane is self.hub
                plane.node(f"{architecture}-{number}", architecture, taints=[TAINT] if tainted else ())
            plane.controllers(*_CONTROLLERS)
            enter(plane.scheduler())
            enter(Kubelet(plane, ending=True))
        enter(self.redis)
        self.start("registry")
        self._exit.callback(self.stop, "registry")
        # The folder of an image's name says for what it is built.
        for reference in IMAGES:
            self.push(reference, tuple(sorted(BUILT_FOR[reference.partition("/")[0]])))
        self._tools(module)
        self.archfit("setup", "argocd", "--into", str(self._folder / "setup"))
        shutil.copytree(FOLDER / "git", self._folder / "git")
        run_git(self._folder / "git", "init", "--quiet", "--initial-branch=main")
        self._committed("the shop")
        self.hub.define(
            [
                path.read_text(encoding="utf-8")
                for path in sorted((module / "manifests" / "crds").glob("*-crd.yaml"))
            ]
        )
        self.hub.namespace("argocd")
        self.hub.apply("---\n".join(json.dumps(one) + "\n" for one in self._settings()))
        for name in ("plugin", "repo-server", "controller", "sets"):
            self.start(name)

    def _tools(self, module: Path) -> None:
        tools_folder(self._folder / "bin")
        for name in ("git-verify-wrapper.sh", "gpg-wrapper.sh"):
            copied = self._folder / "bin" / name
            shutil.copyfile(module / "hack" / name, copied)
            copied.chmod(0o755)
        for name in ("tls", "ssh", "work", "tmp", "plugins", "cache"):
            (self._folder / name).mkdir()
        (self._folder / "ssh" / "ssh_known_hosts").touch()

    def _settings(self) -> Iterator[Object]:
        of_argocd = {"app.kubernetes.io/part-of": "argocd"}

        def stored(kind: str, name: str, labels: Mapping[str, str], **more: Any) -> Object:
            metadata = {"name": name, "namespace": "argocd", "labels": labels, **more.pop("metadata", {})}
            return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **more}

        yield stored("ConfigMap", "argocd-cm", of_argocd, data={"timeout.reconciliation": "20s"})
        for name in ("argocd-rbac-cm", "argocd-cmd-params-cm"):
            yield stored("ConfigMap", name, of_argocd, data={})
        yield stored("Secret", "argocd-secret", of_argocd, stringData={"server.secretkey": "loopback-only"})
        for name, plane, architectures in (("hub", self.hub, "amd64,arm64"), ("edge", self.edge, "arm64")):
            trusted = base64.b64encode(plane.ca.read_bytes()).decode()
            access = {"bearerToken": plane.token, "tlsClientConfig": {"caData": trusted}}
            yield stored(
                "Secret",
                f"cluster-{name}",
                {"argocd.argoproj.io/secret-type": "cluster"},
                metadata={"annotations": {"example.com/architectures": architectures}},
                stringData={"name": name, "server": plane.url, "config": json.dumps(access)},
            )
        everything = [{"group": "*", "kind": "*"}]
        yield {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "AppProject",
            "metadata": {"name": "default", "namespace": "argocd"},
            "spec": {
                "sourceRepos": ["*"],
                "destinations": [{"server": "*", "namespace": "*"}],
                "clusterResourceWhitelist": everything,
            },
        }

    def _commands(self) -> dict[str, tuple[str, list[str], dict[str, str]]]:
        """By name: program of the binary, its words, its environment."""
        folder, port = self._folder, self._port
        redis, repo = f"127.0.0.1:{self.redis.port}", f"127.0.0.1:{port['repo-server']}"
        common = {
            "PATH": f"{folder / 'bin'}:{SYSTEM_PATH}",
            "HOME": str(folder / "tmp"),
            "TMPDIR": str(folder / "tmp"),
            "ARGOCD_PLUGINSOCKFILEPATH": str(folder / "plugins"),
            "ARGOCD_GPG_ENABLED": "false",
            "ARGOCD_TLS_DATA_PATH": str(folder / "tls"),
            "ARGOCD_SSH_DATA_PATH": str(folder / "ssh"),
            # It is taken as a sign of being in a pod; which one is not used.
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": "443",
        }
        sidecar = {
            **common,
            "ARGOCD_CMP_WORKDIR": str(folder / "work"),
            "ARCHFIT_CONFIG": str(self.configuration),
            "ARCHFIT_CACHE": str(folder / "cache" / "lookups.sqlite"),
            "ARCHFIT_MIRROR": self.mirror,
        }
        access = [f"--kubeconfig={self.hub.kubeconfig}", "--namespace=argocd"]
        return {
            "plugin": ("cmp-server", [f"--config-dir-path={self.configuration.parent}"], sidecar),
            "repo-server": (
                "repo-server",
                [
                    *(f"--redis={redis}", "--address=127.0.0.1", f"--port={port['repo-server']}"),
                    *("--metrics-address=127.0.0.1", f"--metrics-port={port['metrics']}"),
                    *("--disable-tls", "--client-ca-path="),
                ],
                common,
            ),
            "controller": (
                "application-controller",
                [
                    *access,
                    *(f"--repo-server={repo}", "--repo-server-plaintext", f"--redis={redis}"),
                    *("--app-resync=20", f"--metrics-port={port['controller']}"),
                    *("--self-heal-backoff-timeout-seconds=2", "--self-heal-backoff-cap-seconds=2"),
                ],
                common,
            ),
            "sets": (
                "applicationset-controller",
                [
                    *access,
                    *(f"--argocd-repo-server={repo}", "--repo-server-plaintext"),
                    *("--metrics-addr=127.0.0.1:0", "--probe-addr=127.0.0.1:0", "--webhook-addr=127.0.0.1:0"),
                ],
                # Its manager does not know the flag.
                {**common, "KUBECONFIG": str(self.hub.kubeconfig)},
            ),
        }

    def _committed(self, message: str) -> str:
        run_git(self._folder / "git", "add", "--all")
        run_git(self._folder / "git", "commit", "--quiet", "--message", message)
        return run_git(self._folder / "git", "rev-parse", "HEAD")


IMAGES = (
    *("multi/web:1", "multi/front:1", "multi/agent:1", "multi/cart:1", "moving/shop:stable"),
    *("amd/web:2", "amd/migrate:1", "amd/nightly:1", "amd/warm:1", "amd/worker:1", "amd/reports:1"),
    *("arm64/smoke:1", "arm64/store:1", "arm64/after:1", "arm64/search:1", "arm64/own:1", "arm64/cart:2"),
)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
