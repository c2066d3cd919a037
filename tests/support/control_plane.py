"""A real control plane on loopback: etcd, kube-apiserver and, on demand, kube-scheduler. There is no kubelet.

A test asks for the session's own (fixture `control_plane`, tests/conftest.py) and makes namespaces of its own in it;
one that changes flags, or stops a part, starts its own:

    with ControlPlane(folder, "--feature-gates=..") as plane:   more flags of kube-apiserver; accounts=True: see below
        plane.url, plane.ca, plane.token     for a client of one's own; the token's user may do everything
        plane.tls                            the files of its certificate
        plane.kubeconfig                     a file with the same
        plane.kubectl("get", "pods", "-A")   kubectl, CompletedProcess of text; raises AssertionError where it fails
        plane.apply(text)                    `kubectl apply -f -`
        plane.namespace("shop", team="a")    a namespace of that name and labels
        plane.create(object)                 the object as the API server made it, or raises Refused
        plane.dry(object)                    the same as a dry run: nothing is stored, so a name can be used again
        plane.warnings(object)               the warnings of such a dry run
        plane.dry_all(objects)               the same for many, over several connections: objects or Refused
        plane.get(path), plane.delete(path)  plane.get("/api/v1/nodes")
        plane.start("name", [program, ..])   one more program, which ends with the control plane or with plane.stop
        plane.node("n1", "arm64", taints=[..])   a ready node; other labels are given with labels={..}
        plane.until("the policy acts", probe)    polls until probe() is true and returns its value
        with plane.scheduler(): plane.placed("shop")   {pod: node, or None where none can run it}

A policy or a webhook acts about a second after it was applied: wait for it with `until` and a dry-run create of a pod
that it changes, never with a sleep. Kinds that `create` does not know take `apply`.

Differences from a cluster: the token's user may do everything (RBAC is on: `kubectl --as USER` asks as another); there
are no controllers, so ServiceAccount admission is off (nothing makes the default account) but with accounts=True, which
wants the controllers of accounts and of their root CA; a node is not tainted
when it is made. etcd keeps its data in memory. It is ready in about 2.5 s, and 1,000 dry-run creates take about 2 s.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
import yaml

import machine
from real_registries import free_port
from tls_files import tls_files

Value = TypeVar("Value")

_PATIENCE_SECONDS = 240.0
_CONNECTIONS = 4
_TOKEN = "loopback-only"
_CORE, _ADMISSION = "/api/v1", "/apis/admissionregistration.k8s.io/v1"
# Where objects of a kind are made; {} is the namespace.
_COLLECTIONS = {
    "Namespace": f"{_CORE}/namespaces",
    "Node": f"{_CORE}/nodes",
    "Pod": f"{_CORE}/namespaces/{{}}/pods",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
    "MutatingAdmissionPolicy": f"{_ADMISSION}/mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": f"{_ADMISSION}/mutatingadmissionpolicybindings",
    "ValidatingAdmissionPolicy": f"{_ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{_ADMISSION}/validatingadmissionpolicybindings",
    "MutatingWebhookConfiguration": f"{_ADMISSION}/mutatingwebhookconfigurations",
}


def pod_in(
    namespace: str, *images: str, metadata: Mapping[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """A Pod of these images; its name is made up unless the metadata has one."""
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    made = {"namespace": namespace, **(metadata or {"generateName": "web-"})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": {"containers": containers, **spec}}


class Refused(Exception):
    """The API server said no. status: the HTTP status; the text is its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ControlPlane:
    """See the module. Skips or fails the running test where a program is missing."""

    def __init__(self, folder: Path, *flags: str, accounts: bool = False) -> None:
        self._accounts = accounts
        self._programs = {name: machine.tool(name) for name in ("etcd", "kube-apiserver", "kubectl")}
        self._folder = folder
        self._flags = flags
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._data: Path | None = None
        self._etcd = free_port()
        tls = tls_files()
        self.tls, self.ca, self.token = tls, tls.ca, _TOKEN
        self.url = f"https://127.0.0.1:{free_port()}"
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(self._access()), encoding="utf-8")
        self.client = self.another_client()

    def another_client(self, *, token: bool = True) -> httpx.Client:
        """A client of one's own, for another thread; without token it is nobody."""
        return httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.token}"} if token else {},
            verify=ssl.create_default_context(cafile=str(self.ca)),
            trust_env=False,
            timeout=_PATIENCE_SECONDS,
        )

    def __enter__(self) -> Self:
        self._data = Path(tempfile.mkdtemp(prefix="archfit-etcd-", dir=_memory()))
        try:
            self._start_etcd(self._data)
            self.start_apiserver()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._processes)):
            self.stop(name)
        self.client.close()
        if self._data:
            shutil.rmtree(self._data, ignore_errors=True)

    def start_apiserver(self) -> None:
        """On the port that it had; returns once it is ready."""
        keys = self.tls.key
        port = self.url.rpartition(":")[2]
        (self._folder / "tokens.csv").write_text(f"{self.token},admin,1,system:masters\n", encoding="utf-8")
        self._start(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self._etcd}",
            *(
                "--bind-address=127.0.0.1",
                "--external-hostname=localhost",
                f"--secure-port={port}",
                f"--cert-dir={self._folder}",
            ),
            *(f"--tls-cert-file={self.tls.certificate}", f"--tls-private-key-file={keys}"),
            *(
                "--service-account-issuer=https://localhost",
                f"--service-account-key-file={self.tls.certificate}",
            ),
            *(
                f"--service-account-signing-key-file={keys}",
                f"--token-auth-file={self._folder / 'tokens.csv'}",
            ),
            *("--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24"),
            *(
                "--allow-privileged=true",
                "--endpoint-reconciler-type=none",
                "--enable-priority-and-fairness=false",
            ),
            f"--disable-admission-plugins=TaintNodesByCondition{'' if self._accounts else ',ServiceAccount'}",
            *self._flags,
        )
        self.until("kube-apiserver is ready", self._ready)

    @contextlib.contextmanager
    def scheduler(self) -> Iterator[None]:
        """While it is entered, kube-scheduler binds pods."""
        configuration = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig), "qps": 1000, "burst": 1000},
            "leaderElection": {"leaderElect": False},
        }
        path = self._folder / "scheduler.json"
        path.write_text(json.dumps(configuration), encoding="utf-8")
        self._programs["kube-scheduler"] = machine.tool("kube-scheduler")
        self._start("kube-scheduler", f"--config={path}", "--secure-port=0")
        try:
            yield
        finally:
            self.stop("kube-scheduler")

    def controllers(self, *names: str, flags: Sequence[str] = ()) -> None:
        """Start these controllers of kube-controller-manager, as `job`. They end with the control plane.

        flags: more of them, as those of one controller.
        """
        self.start(
            "kube-controller-manager",
            [
                machine.tool("kube-controller-manager"),
                f"--kubeconfig={self.kubeconfig}",
                f"--controllers={','.join(f'{name}-controller' for name in names)}",
                *("--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=500"),
                *flags,
            ],
        )

    def placed(self, namespace: str) -> dict[str, str | None]:
        """The node of each pod of the namespace; None for a pod that no node can run. Waits for the scheduler."""

        def answers() -> dict[str, str | None] | None:
            pods = self.get(f"{_CORE}/namespaces/{namespace}/pods")["items"]
            found = {}
            for pod in pods:
                node = pod["spec"].get("nodeName")
                conditions = pod.get("status", {}).get("conditions", ())
                if not node and not any(one.get("reason") == "Unschedulable" for one in conditions):
                    return None
                found[pod["metadata"]["name"]] = node
            return found

        return self.until(f"every pod of {namespace} is placed", answers)

    def kubectl(
        self, *words: str, stdin: str | None = None, check: bool = True, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """See the module. check: its failure is an AssertionError with its words. environ: more variables."""
        done = machine.run(
            [self._programs["kubectl"], *words],
            input=stdin,
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig), **environ},
        )
        assert not check or done.returncode == 0, done.stderr
        return done

    def apply(self, text: str) -> None:
        """`kubectl apply --server-side` of a stream; without the flag no object may be above 256 KiB."""
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)

    def namespace(self, name: str, **labels: str) -> str:
        """Its name. It may be there already."""
        with contextlib.suppress(Refused):
            self.create({"kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        return name

    def node(
        self,
        name: str,
        architecture: str,
        *,
        system: str = "linux",
        labels: Mapping[str, str] | None = None,
        taints: Iterable[Mapping[str, str]] = (),
    ) -> None:
        """A ready node with room for 10,000 pods, labelled as its kubelet would; without architecture a virtual one."""
        words = {"arch": architecture, "os": system} if architecture else {}
        room = {"cpu": "1000", "memory": "1000Gi", "pods": "10000"}
        labelled = {f"{part}kubernetes.io/{key}": words[key] for part in ("", "beta.") for key in words}
        labelled["kubernetes.io/hostname"] = name
        self.create(
            {
                "kind": "Node",
                "metadata": {"name": name, "labels": {**labelled, **(labels or {})}},
                "spec": {"taints": list(taints)},
                "status": {
                    "allocatable": room,
                    "capacity": room,
                    "conditions": [{"type": "Ready", "status": "True"}],
                },
            }
        )

    def create(self, value: Mapping[str, Any], **query: str) -> Any:
        """The object as it was stored. Raises Refused. query: of the request, as `dryRun="All"`."""
        return self.request("POST", _path(value), value, **query)

    def dry(self, value: Mapping[str, Any]) -> Any:
        """The object as it would be stored. Raises Refused."""
        return self.create(value, dryRun="All")

    def warnings(self, value: Mapping[str, Any]) -> list[str]:
        """The warnings of a dry-run create (RFC 7234, header Warning). Raises Refused."""
        return self.warned(value, dryRun="All")[1]

    def warned(self, value: Mapping[str, Any], **query: str) -> tuple[Any, list[str]]:
        """The object as it was stored, and the warnings. Raises Refused. query: of the request."""
        answer = self._answered("POST", _path(value), value, **query)
        texts = [text for name, text in answer.headers.multi_items() if name == "warning"]
        plain = [text.partition('"')[2].removesuffix('"').replace('\\"', '"') for text in texts]
        return answer.json(), plain

    def dry_all(self, values: Iterable[Mapping[str, Any]]) -> list[Any]:
        """For each the object as it would be stored, or Refused; in their order."""

        def answer(value: Mapping[str, Any]) -> Any:
            try:
                return self.dry(value)
            except Refused as refused:
                return refused

        with ThreadPoolExecutor(_CONNECTIONS) as threads:
            return list(threads.map(answer, values))

    def get(self, path: str) -> Any:
        """The decoded answer. Raises Refused."""
        return self.request("GET", path)

    def delete(self, path: str) -> Any:
        """The decoded answer. Raises Refused."""
        return self.request("DELETE", path, gracePeriodSeconds="0")

    def request(self, method: str, path: str, value: Any = None, **query: str) -> Any:
        """The decoded answer. Raises Refused."""
        return self._answered(method, path, value, **query).json()

    def _answered(self, method: str, path: str, value: Any, **query: str) -> httpx.Response:
        answer = self.client.request(method, path, json=value, params=query)
        if answer.is_error:
            raise refused(answer)
        return answer

    def until(self, what: str, probe: Callable[[], Value | None]) -> Value:
        """The first true value of `probe`. Raises AssertionError after four minutes, or once a program has ended."""
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while not (value := probe()):
            self.alive()
            assert time.monotonic() < give_up, f"{what}: not after {_PATIENCE_SECONDS:.0f} s"
            time.sleep(0.02)
        return value

    def alive(self) -> None:
        """Raises AssertionError where a program has ended, with the end of what it wrote."""
        for name, process in self._processes.items():
            assert process.poll() is None, f"{name} has ended:\n{self.log(name)}"

    def define(self, texts: Sequence[str]) -> None:
        """Apply CustomResourceDefinitions, one in each text, and wait until the API server serves them."""
        self.apply("\n---\n".join(texts))
        for text in texts:
            self.established(yaml.safe_load(text)["metadata"]["name"])

    def established(self, name: str) -> None:
        """Waits until the API server serves a CustomResourceDefinition.

        `kubectl wait` fails if it looks before the first condition is there.
        """

        def conditions() -> bool:
            found = self.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
            listed = found.get("status", {}).get("conditions") or ()
            return any((one["type"], one["status"]) == ("Established", "True") for one in listed)

        self.until(f"{name} is established", conditions)

    def processor_seconds(self) -> float:
        """User and system time of kube-apiserver so far (clock_getcpuclockid(3), of Linux)."""
        return time.clock_gettime(~self._processes["kube-apiserver"].pid << 3 | 2)

    def log(self, name: str) -> str:
        """The end of what a program has written."""
        return (self._folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    def _start_etcd(self, data: Path) -> None:
        peers = f"http://127.0.0.1:{free_port()}"
        clients = f"http://127.0.0.1:{self._etcd}"
        self._start(
            "etcd",
            *("--data-dir", str(data), "--name", "one", "--initial-cluster", f"one={peers}"),
            *("--listen-client-urls", clients, "--advertise-client-urls", clients),
            *("--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers),
            *("--heartbeat-interval", "10", "--election-timeout", "100", "--log-level", "warn"),
        )

    def _start(self, name: str, *words: str) -> None:
        self.start(name, [self._programs[name], *words])

    def start(self, name: str, command: Sequence[str | Path], **environ: str) -> None:
        """Run a program beside the others, until the control plane ends. environ: more variables.

        Its log is read while it runs, so Python programs write each line at once.
        """
        with (self._folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environ},
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - one system call, which takes no lock
            )

    def pid(self, name: str) -> int:
        """Of what runs under that name; 0 where nothing does."""
        process = self._processes.get(name)
        return process.pid if process else 0

    def stop(self, name: str) -> None:
        """Kill what `start` started, if it runs. It may be started again."""
        process = self._processes.pop(name, None)
        if process:
            process.kill()
            process.wait()

    def _ready(self) -> bool:
        try:
            return self.client.get("/readyz").is_success
        except httpx.TransportError:
            return False

    def _access(self) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "tests",
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "admin"}}],
            "clusters": [
                {"name": "tests", "cluster": {"server": self.url, "certificate-authority": str(self.ca)}}
            ],
            "users": [{"name": "admin", "user": {"token": self.token}}],
        }


def refused(answer: httpx.Response) -> Refused:
    """What an answer says that is an error. Under load the API server also says it as plain text, or with no body
    (k8s.io/apiserver, pkg/server/filters: http.Error).
    """
    try:
        message = answer.json()["message"]
    except (ValueError, KeyError, TypeError):
        message = answer.text.strip() or answer.reason_phrase
    return Refused(answer.status_code, message)


def _path(value: Mapping[str, Any]) -> str:
    """Where an object of its kind is made."""
    return _COLLECTIONS[value["kind"]].format(value["metadata"].get("namespace", "default"))


def _end_with_parent() -> None:
    """Tests that are killed stop nothing, and an API server would run for ever (prctl(2), PR_SET_PDEATHSIG)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _memory() -> str | None:
    """A folder in memory: etcd syncs each write to disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
