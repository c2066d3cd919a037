"""A control plane on loopback with an operator in it: workload controllers, CRDs, webhooks, and a stand-in for kubelet.

There is no kubelet: the stand-in says that a pod runs and is ready, or, where it is not restarted always, that it
succeeded (`Operator.ending`). No container of anybody runs.
"""

import base64
import contextlib
import ctypes
import fcntl
import os
import shutil
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

import machine
from cluster_site import UNROUTED, ClusterSite
from control_plane import ControlPlane, Refused, refused
from kubelet import Kubelet
from operators.build import Built, Failed, files
from operators.definition import Operator
from operators.made import KINDS, Made, Object

_CONTROLLERS = ("deployment", "replicaset", "statefulset", "daemonset", "job", "cronjob")
_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWNS = 0x10000000, 0x40000000, 0x00020000
_BIND, _PRIVATE = 0x1000, 0x44000  # mount(2); private means all below
_DETACH = 2
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


def alone() -> None:
    """Move this process, and all that it starts, into a network of its own that has loopback only (unshare(2)).

    So an operator reaches nobody, and its ports are free; nobody else sees what is mounted for it.
    """
    flags = _CLONE_NEWNET | _CLONE_NEWNS | (_CLONE_NEWUSER if os.geteuid() else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) or libc.mount(b"none", b"/", None, _PRIVATE, None):
        raise Failed("unshare", os.strerror(ctypes.get_errno()))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0)
        (now,) = struct.unpack("16xh14x", fcntl.ioctl(probe, _GET_FLAGS, request))
        fcntl.ioctl(probe, _SET_FLAGS, struct.pack("16sh14x", b"lo", now | _UP))


@contextlib.contextmanager
def _mounted(source: str, target: Path) -> Iterator[None]:
    """While it is entered, the folder `source` is seen at `target` too, by this process and all that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    target.mkdir(parents=True, exist_ok=True)
    if libc.mount(source.encode(), str(target).encode(), None, _BIND, None):
        raise Failed(f"mounting {target}", os.strerror(ctypes.get_errno()))
    try:
        yield
    finally:
        libc.umount2(str(target).encode(), _DETACH)
        with contextlib.suppress(OSError):
            target.rmdir()


class Site(ClusterSite):
    """See the module; entered, the operator runs."""

    def __init__(self, operator: Operator, built: Built, folder: Path) -> None:
        super().__init__()
        self.operator, self._built, self._folder = operator, built, folder
        self.plane = ControlPlane(folder, *UNROUTED)
        self.made = Made(operator.random)
        self._resources: dict[tuple[str, str], tuple[str, bool]] = {}

    def _prepare(self) -> None:
        plane, operator = self.plane, self.operator
        self._exit.enter_context(plane)
        if operator.controllers:
            plane.controllers(*_CONTROLLERS)
        for architecture in ("amd64", "arm64"):
            plane.node(f"{architecture}-1", architecture)
        for value in documents(operator, operator.crds):
            if value["kind"] == "CustomResourceDefinition":
                self._define(value)
        setup = operator.folder / "setup.yaml"
        for value in yaml.safe_load_all(setup.read_text(encoding="utf-8")) if setup.exists() else ():
            if value:
                self._must(
                    f"creating {value['kind']} {value['metadata'].get('name', '')} of setup.yaml", value
                )
        for number, pattern in enumerate(operator.webhooks):
            files_, _, port = pattern.partition("#")
            for value in documents(operator, (files_,)):
                if value["kind"].endswith("WebhookConfiguration"):
                    # Names of controller-gen are alike.
                    value["metadata"]["name"] += f"-{number}" if number else ""
                    made = self._looped(value, int(port or operator.webhook_port))
                    self._must(f"creating {value['kind']}", made)
        self._exit.enter_context(Kubelet(plane, ending=operator.ending, unbound=True))
        self._start_programs()

    def _define(self, value: Object) -> None:
        value["spec"].pop("conversion", None)
        value.pop("status", None)
        name = value["metadata"]["name"]
        self._must(f"creating CustomResourceDefinition {name}", value)
        self.plane.established(name)

    def _looped(self, value: Object, port: int) -> Object:
        """A webhook whose Service is this machine."""
        authority = self.plane.ca.read_bytes()
        value["metadata"]["name"] = self.operator.webhook_prefix + value["metadata"]["name"]
        for webhook in value.get("webhooks") or ():
            service = webhook["clientConfig"].pop("service", {})
            webhook["clientConfig"] = {
                "url": f"https://{self.operator.webhook_host}:{port}{service.get('path', '/')}",
                "caBundle": base64.b64encode(authority).decode(),
            }
        return value

    def _must(self, step: str, value: Object) -> None:
        try:
            self.create(value, "default")
        except Refused as error:
            raise Failed(step, str(error)) from error

    def _start_programs(self) -> None:
        folder = self._folder
        certificates = folder / "certificates"
        certificates.mkdir()
        tls = self.plane.tls
        names = [(tls.certificate, "tls.crt"), (tls.key, "tls.key"), (tls.ca, "ca.crt")]
        # The names of Operator Lifecycle Manager, which some read.
        names += [(tls.certificate, "apiserver.crt"), (tls.key, "apiserver.key")]
        for source, name in names:
            shutil.copyfile(source, certificates / name)
        # Where controller-runtime looks unless it is told.
        usual = folder / "tmp" / "k8s-webhook-server"
        usual.mkdir(parents=True)
        shutil.copytree(certificates, usual / "serving-certs")
        values = _Kept(
            kubeconfig=str(self.plane.kubeconfig),
            certificates=str(certificates),
            folder=str(folder),
            url=self.plane.url,
            module=str(self._built.source or ""),
            here=str(self.operator.folder),
            port=self.plane.url.rpartition(":")[2],
            programs=str(machine.TOOLS / "operators" / self.operator.folder.name),
        )
        for target, mounted in self.operator.mounts:
            self._exit.enter_context(_mounted(mounted.format_map(values), Path(target.format_map(values))))
        for program in self.operator.started:
            environ = {name: text.format_map(values) for name, text in program.environment}
            arguments = [text.format_map(values) for text in program.arguments]
            self.plane.start(
                program.name,
                [*self._built.commands[program.name], *arguments],
                **{"KUBECONFIG": str(self.plane.kubeconfig), "TMPDIR": str(folder / "tmp"), **environ},
            )
        if self.operator.webhooks:
            self._until(
                f"waiting for the webhook on port {self.operator.webhook_port}",
                lambda: _listens(self.operator.webhook_port),
            )

    def _until(self, what: str, probe: Callable[[], bool]) -> None:
        give_up = time.monotonic() + self.operator.patience_seconds
        while not probe():
            self._alive()
            if time.monotonic() > give_up:
                raise Failed(what, self.said())
            time.sleep(0.1)

    def said(self) -> str:
        """The last lines of each program of the operator."""
        return "\n".join(self.plane.log(program.name)[-1500:] for program in self.operator.started)

    def path_of(self, value: Mapping[str, Any], namespace: str) -> str:
        """Where objects of its kind are made; `namespace` is that of an object that names none."""
        group, kind = value["apiVersion"], value["kind"]
        if (group, kind) not in self._resources:
            root = f"/apis/{group}" if "/" in group else f"/api/{group}"
            for one in self.plane.get(root)["resources"]:
                if "/" not in one["name"]:
                    self._resources[group, one["kind"]] = (f"{root}|{one['name']}", one["namespaced"])
        if (group, kind) not in self._resources:
            raise Failed(f"creating {kind}", f"the API server does not know {group}, {kind}: name its CRD")
        at, namespaced = self._resources[group, kind]
        own = value["metadata"].get("namespace", namespace)
        return at.replace("|", f"/namespaces/{own}/" if namespaced else "/")

    def namespace(self, name: str) -> None:
        """Make a namespace with the account that its controller makes in a cluster, and that some operators look up."""
        self.plane.namespace(name)
        with contextlib.suppress(Refused):
            self.plane.request(
                "POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}}
            )

    def create(self, value: Object, namespace: str) -> None:
        """Make an object; waits for a webhook that does not answer yet. Raises Refused, and Failed."""
        path = self.path_of(value, namespace)
        give_up = time.monotonic() + self.operator.patience_seconds
        while True:
            try:
                self.plane.request("POST", path, value)
            except Refused as error:
                if not _passes(str(error)) or time.monotonic() > give_up:
                    raise
                time.sleep(0.3)
            else:
                return

    def update(self, value: Object, namespace: str) -> str:
        """What a dry run of applying the object over the one that is there says, "" where it is accepted."""
        path = self.path_of(value, namespace)
        if "name" not in value["metadata"]:
            return ""
        answer = self.plane.client.patch(
            f"{path}/{value['metadata']['name']}",
            json=value,
            headers={"Content-Type": "application/apply-patch+yaml"},
            params={"dryRun": "All", "force": "true", "fieldManager": "archfit"},
        )
        return str(refused(answer)) if answer.is_error else ""

    def look(self) -> bool:
        """Whether anything new was made since the last look."""
        new = False
        for kind, path in KINDS.items():
            for value in self.plane.get(path)["items"]:
                new |= self.made.add(kind, value)
        return new

    def settle(self, wanted: Mapping[str, list[Object]]) -> None:
        """Wait until each namespace has what is wanted, at least one object, and nothing new appears. Raises Failed."""
        began = last = time.monotonic()
        while time.monotonic() - began < self.operator.patience_seconds:
            now = time.monotonic()
            if self.look():
                last = now
            lacking = [name for name, objects in wanted.items() if not self._stands(name, objects)]
            if not lacking and now - last > self.operator.quiet_seconds:
                return
            self._alive()
            time.sleep(0.2)
        nothing = [name for name in wanted if not self.made.of(name)]
        if nothing:
            raise Failed(f"waiting for pods of {', '.join(nothing)}", self.said())

    def _stands(self, namespace: str, wanted: list[Object]) -> bool:
        made = self.made.of(namespace)
        return bool(made) and all(one in made for one in wanted)

    def _alive(self) -> None:
        try:
            self.plane.alive()
        except AssertionError as error:
            raise Failed("running the operator", str(error)) from error


def documents(operator: Operator, patterns: tuple[str, ...]) -> Iterator[Object]:
    """The objects in the files of the patterns. Raises Failed."""
    for text in files(operator, patterns):
        # A chart wraps its CRDs in conditions.
        plain = "\n".join(line for line in text.splitlines() if not line.strip().startswith("{{"))
        for value in yaml.load_all(plain, Loader=_Loader):
            if isinstance(value, dict) and "kind" in value:
                yield from value.get("items") or (value,)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A plain `=` is text, which YAML 1.1 had other plans for (CRDs of the Prometheus operator)."""


_Loader.add_constructor("tag:yaml.org,2002:value", _Loader.construct_yaml_str)


class _Kept(dict[str, str]):
    """Braces of others stay."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def _passes(message: str) -> bool:
    """Whether it is a webhook that does not answer yet."""
    return "failed calling webhook" in message and (
        "refused" in message or "EOF" in message or "timeout" in message or "x509" in message
    )


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
