"""What people and controllers do to Pods that admission changed, and what became of each.

    site = Site(plane, "shop", pods, folder)
    site.run()      (operation, Outcome), one after the other

The pods are made six times: by `kubectl apply` and by Argo CD's own code, client side and server side, and by Helm 3
and Helm 4. Every second one without a gate is bound to a node then. A pod is refused where the operation did not go
through for it, unless docs/serve.md says so: it states a list for the first time that archfit has written, or it is
replaced. It is different where a comparison shows a difference, where the stored pod is not the one before with the
change asked for, or where it was not refused although the page says so.
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml

import machine
from archfit.webhook.added_record import NAME
from control_plane import ControlPlane
from drawn_pods.drawing import PREFERRED, REQUIRED
from helm_runs import start

_DONE = re.compile(r"^pod/(\S+) (?:created|configured|unchanged|serverside-applied|replaced)$", re.MULTILINE)
_SHOWN = re.compile(r"^diff -u -N \S+/v1\.Pod\.[^.\s]+\.(\S+) ", re.MULTILINE)
_THREADS = 2
_TOLERATIONS, _EXPRESSIONS, _PREFERENCES = "/spec/tolerations/-", "/matchExpressions/-", f"/{PREFERRED}/-"
Pod: TypeAlias = dict[str, Any]
Change: TypeAlias = "Callable[[Pod], None]"

_LATER = {"key": "later", "operator": "Exists", "effect": "NoSchedule"}
_NARROWER = {"key": "zone", "operator": "Exists"}
_CHART = """\
apiVersion: v2
name: pods
version: 0.1.0
"""
_PAGE = (machine.ROOT / "docs" / "argocd.md").read_text(encoding="utf-8")
_BLOCKS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", _PAGE, re.DOTALL)]
IGNORED = next(
    block["spec"]["ignoreDifferences"] for block in _BLOCKS if "ignoreDifferences" in block.get("spec", {})
)
COMPARISONS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "ignoreDifferences": {"ignore": IGNORED},
    "ServerSideDiff": {"server_side_diff": True},
    "ServerSideDiff, IncludeMutationWebhook": {"server_side_diff": True, "include_mutation_webhook": True},
}


class Outcome(NamedTuple):
    """Of one operation. pods: how many it was done to. refused: name -> why. different: name -> what.

    shown: of how many pods Argo CD shows the list that docs/argocd.md names, and nothing else. foretold: how many
    were refused as docs/serve.md says.
    """

    pods: int
    refused: Mapping[str, str]
    different: Mapping[str, str]
    shown: int = 0
    foretold: int = 0

    @property
    def wrong(self) -> int:
        return len(self.refused) + len(self.different)

    def __str__(self) -> str:
        shown = f", {self.shown} shown" if self.shown else ""
        foretold = f", {self.foretold} refused as foretold" if self.foretold else ""
        return (
            f"{self.pods} pods, {len(self.refused)} refused, {len(self.different)} different{shown}{foretold}"
        )

    def first(self) -> str:
        found = [next(iter(found.items())) for found in (self.refused, self.different) if found]
        return "".join(f"    {name}: {' '.join(text.split())[:500]}\n" for name, text in found)


class ArgoCD(NamedTuple):
    """How an Application is set. ignore: `spec.ignoreDifferences`."""

    server_side_apply: bool = False
    server_side_diff: bool = False
    include_mutation_webhook: bool = False
    ignore: Sequence[Mapping[str, Any]] = ()

    @property
    def by_lists(self) -> bool:
        """Whether the lists of the manifest are compared with those of the cluster as they are."""
        return not self.server_side_diff and not self.ignore


class Site:
    """See the module. pods: without a namespace, with unlike names."""

    def __init__(
        self, plane: ControlPlane, namespace: str, pods: Sequence[Mapping[str, Any]], folder: Path
    ) -> None:
        self.plane, self.namespace, self.folder = plane, namespace, folder
        self._pods = pods
        self._manifests: list[Pod] = []
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> Iterator[tuple[str, Outcome]]:
        yield from self.by_kubectl("client")
        yield from self.by_kubectl("server", "--server-side")
        yield from self.by_argo_cd()
        yield from self.by_helm("helm3", "Helm 3")
        yield from self.by_helm("helm4", "Helm 4")

    def by_kubectl(self, way: str, *words: str) -> Iterator[tuple[str, Outcome]]:
        """words: of each `kubectl apply` and `kubectl diff`."""
        said = f"apply {' '.join(words)}".strip()
        made = self._made(way, lambda pods: self._apply(pods, *words))
        yield f"{said}, again", self._outcome(made, lambda: self._apply(made, *words))
        yield f"diff {' '.join(words)}".strip(), self._diff(made, *words)

        def applied(change: Change, pods: Sequence[Pod] = made, added: str = "") -> Outcome:
            """added: what of archfit's the change would take away, as the end of its path in the record."""
            refused = self._with_record(added) if added else set[str]()
            changed = copy.deepcopy(list(pods))
            for pod, other in zip(pods, changed, strict=True):
                change(other)
                if pod["metadata"]["name"] not in refused:
                    change(pod)
            return self._outcome(changed, lambda: self._apply(changed, *words), change, refused)

        yield f"{said} with a label", applied(_label)
        yield f"{said} with a toleration", applied(_toleration, added=_TOLERATIONS)
        gated = [pod for pod in made if "schedulingGates" in pod["spec"]]
        yield f"{said} with narrower terms, gated", applied(_narrower, gated, _EXPRESSIONS)
        yield f"{said} without the gate", applied(_ungated, gated)
        if words:
            return
        refused = self._with_record(_TOLERATIONS, _EXPRESSIONS)
        # A preference alone may be taken away from a pod with a gate.
        preferring = self._with_record(_PREFERENCES) - refused
        replaced = [pod for pod in made if pod["metadata"]["name"] not in preferring]
        yield "replace", self._outcome(replaced, lambda: self._replace(replaced), _second_label, refused)

    def by_argo_cd(self) -> Iterator[tuple[str, Outcome]]:
        yield from self._by_argo_cd("argo", "Argo CD sync", ArgoCD())
        said = "Argo CD sync, ServerSideApply=true"
        yield from self._by_argo_cd("argo-server", said, ArgoCD(server_side_apply=True))

    def _by_argo_cd(self, way: str, said: str, settings: ArgoCD) -> Iterator[tuple[str, Outcome]]:
        made = self._made(way, lambda pods: self._sync(pods, settings))
        yield f"{said}, again", self._outcome(made, lambda: self._sync(made, settings))
        for name, words in COMPARISONS.items():
            yield f"{said}, compare: {name}", self._compare(made, settings._replace(**words))

    def by_helm(self, program: str, said: str) -> Iterator[tuple[str, Outcome]]:
        """Installed and upgraded as one release, whose chart holds them."""

        def upgraded(pods: Sequence[Pod]) -> dict[str, str]:
            return self._release(program, pods)

        made = self._made(program, upgraded)
        yield f"{said} upgrade, again", self._outcome(made, lambda: upgraded(made))
        for pod in made:
            _label(pod)
        yield f"{said} upgrade with a label", self._outcome(made, lambda: upgraded(made), _label)

    def unapplied(self) -> Iterator[tuple[str, Outcome]]:
        """Comparisons with manifests that have one more label than what exists: each has to show every pod."""
        client = self._made("unapplied-client", self._apply)
        server = self._made("unapplied-server", lambda pods: self._apply(pods, "--server-side"))
        argo = self._made("unapplied-argo", lambda pods: self._sync(pods, ArgoCD()))
        for pod in (*client, *server, *argo):
            _label(pod)
        yield "diff", self._diff(client)
        yield "diff --server-side", self._diff(server, "--server-side")
        for name, words in COMPARISONS.items():
            yield f"compare: {name}", self._compare(argo, ArgoCD(**words))

    def _made(self, way: str, make: Callable[[Sequence[Pod]], Mapping[str, str]]) -> list[Pod]:
        """The manifests of pods that now exist, some of them bound to a node."""
        pods = [copy.deepcopy(dict(pod)) for pod in self._pods]
        for pod in pods:
            pod["metadata"] |= {"name": f"{way}-{pod['metadata']['name']}", "namespace": self.namespace}
        self._manifests += pods
        refused = make(pods)
        assert not refused, next(iter(refused.values()))
        for pod in pods[::2]:
            if "schedulingGates" not in pod["spec"]:
                self._bind(pod["metadata"]["name"])
        return pods

    def _bind(self, name: str) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": "n1"}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        self.plane.request("POST", f"{self._path}/{name}/binding", binding)

    @property
    def _path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def _stored(self) -> dict[str, Pod]:
        items = self.plane.get(self._path)["items"]
        return {pod["metadata"]["name"]: {"apiVersion": "v1", "kind": "Pod", **pod} for pod in items}

    def _with_record(self, *ends: str) -> set[str]:
        """The names of the pods whose record has a path with one of these ends, or to whose terms archfit added one."""
        stored = self._stored()
        recorded = {
            name
            for name, pod in stored.items()
            for added in json.loads(pod["metadata"].get("annotations", {}).get(NAME, "[]"))
            if added["path"].endswith(ends)
        }
        if _EXPRESSIONS not in ends:
            return recorded
        own = {pod["metadata"]["name"] for pod in self._manifests if _has_terms(pod)}
        return recorded | {name for name in stored.keys() - own if _has_terms(stored[name])}

    def _outcome(
        self,
        pods: Sequence[Pod],
        act: Callable[[], Mapping[str, str]],
        change: Change | None = None,
        foretold: Collection[str] = (),
    ) -> Outcome:
        """What `act` made of the pods. change: what it was to change of each. foretold: the names of those refused."""
        before = self._stored()
        answered = act()
        refused = {
            name: answered[name] for name in (pod["metadata"]["name"] for pod in pods) if name in answered
        }
        after = self._stored()
        different = {}
        for name in (pod["metadata"]["name"] for pod in pods):
            if name in foretold and name not in refused:
                different[name] = "it was not refused"
            elif name not in refused:
                expected = copy.deepcopy(before[name])
                if change:
                    change(expected)
                found = dict(_differences(_compared(expected), _compared(after[name])))
                if (
                    not change
                    and expected["metadata"]["resourceVersion"] != after[name]["metadata"]["resourceVersion"]
                ):
                    found["/metadata/resourceVersion"] = "it was written again"
                if found:
                    different[name] = str(found)
        wrong = {name: why for name, why in refused.items() if name not in foretold}
        return Outcome(len(pods), wrong, different, foretold=len(refused) - len(wrong))

    def _release(self, program: str, pods: Sequence[Pod]) -> dict[str, str]:
        """Install or upgrade the release of these pods. All are refused where it fails."""
        chart = self.folder / program
        (chart / "templates").mkdir(parents=True, exist_ok=True)
        (chart / "Chart.yaml").write_text(_CHART, encoding="utf-8")
        (chart / "templates" / "pods.yaml").write_text(yaml.safe_dump_all(pods), encoding="utf-8")
        words = ("upgrade", "--install", program, str(chart), "--namespace", self.namespace)
        environ = {
            f"HELM_{kind}_HOME": str(self.folder / f"helm-{kind}") for kind in ("CACHE", "CONFIG", "DATA")
        }
        ran = start(
            [machine.tool(program), *words, "--kubeconfig", str(self.plane.kubeconfig)],
            {"PATH": os.environ["PATH"], "HOME": str(self.folder), **environ},
        )
        return {pod["metadata"]["name"]: ran.stderr for pod in pods} if ran.status else {}

    def _kubectl(self, pods: Sequence[Pod], *words: str) -> subprocess.CompletedProcess[str]:
        stream = json.dumps({"apiVersion": "v1", "kind": "List", "items": pods})
        return self.plane.kubectl(*words, "-f", "-", stdin=stream, check=False)

    def _refused(self, pods: Sequence[Pod], ran: subprocess.CompletedProcess[str]) -> dict[str, str]:
        done = set(_DONE.findall(ran.stdout))
        names = [pod["metadata"]["name"] for pod in pods]
        return {name: _about(name, ran.stderr) for name in names if name not in done}

    def _apply(self, pods: Sequence[Pod], *words: str) -> dict[str, str]:
        return self._refused(pods, self._kubectl(pods, "apply", *words))

    def _replace(self, pods: Sequence[Pod]) -> dict[str, str]:
        """By what is stored, less all that archfit wrote: the manifest's lists, and no record."""
        stored, sent = self._stored(), []
        for pod in pods:
            live = stored[pod["metadata"]["name"]]
            metadata = {**pod["metadata"], "labels": dict(live["metadata"]["labels"])}
            lists = {key: pod["spec"][key] for key in ("affinity", "tolerations") if key in pod["spec"]}
            rest = {key: live["spec"][key] for key in live["spec"] if key not in ("affinity", "tolerations")}
            sent.append({**pod, "metadata": metadata, "spec": {**rest, **lists}})
            _second_label(sent[-1])
        return self._refused(pods, self._kubectl(sent, "replace"))

    def _diff(self, pods: Sequence[Pod], *words: str) -> Outcome:
        """It ends at the first refusal, so pods are then asked one by one."""
        ran = self._kubectl(pods, "diff", "--concurrency=4", *words)
        if ran.returncode in (0, 1):
            different = dict.fromkeys(_SHOWN.findall(ran.stdout), ran.stdout)
            assert bool(different) == bool(ran.returncode), ran.stdout
            return Outcome(len(pods), {}, different)
        with ThreadPoolExecutor(_THREADS) as threads:
            each = list(threads.map(lambda pod: self._kubectl([pod], "diff", *words), pods))
        named = list(zip((pod["metadata"]["name"] for pod in pods), each, strict=True))
        return Outcome(
            len(pods),
            {name: one.stderr for name, one in named if one.returncode not in (0, 1)},
            {name: one.stdout for name, one in named if one.returncode == 1},
        )

    def _sync(self, pods: Sequence[Pod], settings: ArgoCD) -> dict[str, str]:
        return {
            pod["metadata"]["name"]: one["error"]
            for pod, one in zip(pods, self._argo_cd("sync", pods, settings), strict=True)
            if one.get("error")
        }

    def _compare(self, pods: Sequence[Pod], settings: ArgoCD) -> Outcome:
        refused, different, shown = {}, {}, 0
        for pod, one in zip(pods, self._argo_cd("compare", pods, settings), strict=True):
            name = pod["metadata"]["name"]
            if one.get("error"):
                refused[name] = one["error"]
            elif one["modified"]:
                found = dict(_differences(one["predicted"], one["live"]))
                if settings.by_lists and found.keys() <= {"/spec/tolerations"}:
                    shown += 1
                else:
                    different[name] = str(found)
        return Outcome(len(pods), refused, different, shown)

    def _argo_cd(self, method: str, pods: Sequence[Pod], settings: ArgoCD) -> list[Any]:
        stored = self._stored()
        question = {
            "kubeconfig": str(self.plane.kubeconfig),
            "targets": pods,
            "lives": [stored.get(pod["metadata"]["name"]) for pod in pods] if method == "compare" else [],
            "serverSideApply": settings.server_side_apply,
            "serverSideDiff": settings.server_side_diff,
            "includeMutationWebhook": settings.include_mutation_webhook,
            "ignoreDifferences": list(settings.ignore),
        }
        program = machine.go_build(machine.ROOT / "tests" / "judges" / "cmpserver", "cmpserver")
        ran = machine.run([program, method], input=json.dumps(question))
        assert ran.returncode == 0, ran.stderr
        answers: list[Any] = json.loads(ran.stdout)
        return answers


def _label(pod: Pod) -> None:
    pod["metadata"]["labels"]["applied"] = "again"


def _has_terms(pod: Pod) -> bool:
    return REQUIRED in pod["spec"].get("affinity", {}).get("nodeAffinity", {})


def _second_label(pod: Pod) -> None:
    pod["metadata"]["labels"]["replaced"] = "yes"


def _toleration(pod: Pod) -> None:
    pod["spec"]["tolerations"] = [_LATER, *pod["spec"].get("tolerations", ())]


def _terms(pod: Pod) -> list[Any]:
    node_affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms: list[Any] = node_affinity.get(REQUIRED, {}).get("nodeSelectorTerms", [])
    return terms


def _narrower(pod: Pod) -> None:
    """Each term gets one more expression, but for empty ones, which nobody may fill; without terms there is a first."""
    node_affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = node_affinity.setdefault(REQUIRED, {"nodeSelectorTerms": [{"matchExpressions": []}]})
    for term in terms["nodeSelectorTerms"]:
        if term:
            term["matchExpressions"] = [*term.get("matchExpressions", ()), _NARROWER]


def _ungated(pod: Pod) -> None:
    pod["spec"].pop("schedulingGates", None)


def _compared(pod: Pod) -> dict[str, Any]:
    """What people wrote or admission added: tolerations and expressions in any order."""
    found = copy.deepcopy({"labels": pod["metadata"].get("labels"), "spec": pod["spec"]})
    annotations = dict(pod["metadata"].get("annotations", {}))
    annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    found["annotations"] = annotations
    found["spec"].get("tolerations", []).sort(key=json.dumps)
    for term in _terms(found):
        term.get("matchExpressions", []).sort(key=json.dumps)
    return found


def _differences(expected: Any, actual: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each place where they differ, and how."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted({*expected, *actual}):
            yield from _differences(expected.get(key), actual.get(key), f"{path}/{key}")
    elif expected != actual:
        yield path, f"{json.dumps(expected)} expected, {json.dumps(actual)} found"


def _about(name: str, text: str) -> str:
    found = text.find(f'"{name}"')
    return text[max(found, 0) :][:1000]
