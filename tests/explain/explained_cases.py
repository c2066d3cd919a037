"""One input for each row of the table of decisions (docs/decisions.md), for `archfit explain`.

fixtures/explained.txt has the tree of each, below its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent
from types import MappingProxyType
from typing import NamedTuple

from archfit.images.platforms import Absent, Answer, Unknown, parse_platform
from archfit.options.architectures import image_platforms
from archfit.options.rules import exclude
from archfit.options.settings import GKE, STATED, Match, Options, Rule, Toleration, TolerationRule, Workload
from pod_decisions import found

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_POOL = TolerationRule(("arm64", "s390x"), Toleration("pool", "Equal", "other", "NoSchedule"))
_NODES = "{key: virtual-kubelet.io/provider, operator: Exists}"
_RUNTIME = (
    "---\napiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: graviton}\nhandler: runc\nscheduling:\n"
    "  nodeSelector: {kubernetes.io/arch: arm64}\n  tolerations: [{key: kubernetes.io/arch, operator: Exists}]\n"
)
_NAMESPACE = (
    "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {"
    """scheduler.alpha.kubernetes.io/tolerationsWhitelist: '[{"key": "a", "operator": "Exists"}]'}}\n"""
)
_TRIGGER = """[{"from": {"name": "web:1"}, "fieldPath": "spec.template.spec.containers[0].image"}]"""
_WITH_S390X = Options(cluster_architectures=("amd64", "arm64", "s390x"))

_WIDGET = Workload("example.com", "Widget", ("spec", "template", "spec"), seen=STATED)


class Case(NamedTuple):
    """An input. answer: of the image app:1; more: of other images."""

    stream: str
    answer: str | Answer = "amd64 arm64"
    options: Options = Options()
    more: Mapping[str, str | Answer] = MappingProxyType({})

    @property
    def answers(self) -> dict[str, str | Answer]:
        return {"app:1": self.answer, **self.more}


def workload(
    *fields: str,
    kind: str = "apps/v1 Deployment",
    metadata: str = "name: web, namespace: shop",
    annotations: str = "",
    images: tuple[str, ...] = ("app:1",),
) -> str:
    """A manifest. fields: lines of the pod spec. annotations: of the pod template, in flow style."""
    api_version, _, name = kind.partition(" ")
    lines = [f"apiVersion: {api_version}", f"kind: {name}", f"metadata: {{{metadata}}}", "spec:"]
    if name != "Pod":
        lines += ["  template:", f"    metadata: {{annotations: {{{annotations}}}}}", "    spec:"]
    indent = "  " if name == "Pod" else "      "
    lines += [f"{indent}{field}" for field in fields]
    lines += [f"{indent}containers:"]
    lines += [f'{indent}- {{name: c{number}, image: "{image}"}}' for number, image in enumerate(images)]
    return "\n".join(lines) + "\n"


def requiring(*terms: str) -> str:
    """`affinity` with these required terms; each is a list of expressions such as `zone Exists`."""
    made = []
    for term in terms:
        expressions = []
        for one in filter(None, term.split("; ")):
            key, operator, *values = one.split()
            expressions.append(f"{{key: {key}, operator: {operator}, values: [{', '.join(values)}]}}")
        made.append(f"{{matchExpressions: [{', '.join(expressions)}]}}" if expressions else "{}")
    return f"affinity: {{nodeAffinity: {{{_REQUIRED}: {{nodeSelectorTerms: [{', '.join(made)}]}}}}}}"


def selecting(**labels: str) -> str:
    """`nodeSelector` with kubernetes.io/arch, kubernetes.io/os or another label."""
    named = {"arch": "kubernetes.io/arch", "os": "kubernetes.io/os"}
    return (
        f"nodeSelector: {{{', '.join(f'{named.get(key, key)}: {value}' for key, value in labels.items())}}}"
    )


def _rules(*rules: Rule) -> Options:
    return Options(rules=rules)


def _noted(name: str, value: str) -> str:
    return f'archfit.dev/{name}: "{value}"'


_SET_OF_KRUISE = workload(kind="apps.kruise.io/v1alpha1 CloneSet")
_JOB, _SET = "batch/v1 Job", "apps/v1 DaemonSet"
_DIGEST = f"sha256:{'0123456789abcdef' * 4}"
_AGED = found("amd64", digest=_DIGEST, origin="cache", age_seconds=90)

CASES: dict[str, Case] = {
    # the rows that end the decision
    "skip": Case(workload(annotations=_noted("skip", "true"))),
    "node-name": Case(workload("nodeName: n1", kind="v1 Pod")),
    "excluded": Case(workload(), options=Options(exclude=(exclude("*/shop"),))),
    "a-rule-says-skip": Case(workload(), options=_rules(Rule(Match(namespace="shop"), skip=True))),
    "for-virtual-nodes-alone": Case(workload(selecting(type="virtual-kubelet"))),
    "an-architecture-that-is-filled-in-later": Case(workload(selecting(arch='"$(arch)"'))),
    "a-controller": Case(workload(metadata="name: web-1, ownerReferences: [{kind: ReplicaSet, name: web, controller: true}]", kind="v1 Pod")),
    "a-conflict-by-images": Case(workload(images=("app:1", "arm:1")), "amd64", more={"arm:1": "arm64"}),
    "a-conflict-by-a-pin": Case(workload(selecting(arch="arm64")), "amd64"),
    "a-conflict-left": Case(workload(selecting(arch="arm64")), "amd64", Options(on_conflict="leave")),
    "a-required-set-without-terms": Case(workload(requiring())),
    # images
    "absent": Case(workload(), Absent("docker.io has no such manifest")),
    "absent-and-left": Case(workload(), Absent("docker.io has no such manifest"), Options(on_absent="leave")),
    "unknown": Case(workload(), Unknown("the registry answered 500")),
    "unknown-and-left": Case(workload(), Unknown("the registry answered 500"), Options(on_unknown="leave")),
    "unknown-and-assumed": Case(workload(), Unknown("the registry answered 500"), Options(on_unknown="assume", assume=(parse_platform("amd64"),))),
    "not-in-the-lock-file": Case(workload(), Unknown("archfit.lock does not hold app:1, and --locked forbids asking", final=True)),
    "unasked-beside-one-that-restricts": Case(workload(images=("app:1", "$(image)")), "amd64"),
    "unasked-with-strict": Case(workload(images=("ko://app",)), options=Options(strict=True)),
    "malformed": Case(workload(images=("app@sha256:abc",))),
    "stale": Case(workload(), found("amd64", origin="stale", age_seconds=260000)),
    "from-the-cache": Case(workload(), _AGED),
    "a-digest-from-the-cache": Case(workload(images=(f"app@{_DIGEST}",)), more={f"app@{_DIGEST}": found("amd64", digest=_DIGEST, origin="cache")}),
    "from-the-lock-file": Case(workload(), found("amd64", origin="lock")),
    "stated-by-an-option": Case(
        workload(),
        found("amd64", origin="override", digest=""),
        Options(image_platforms=(image_platforms("docker.io/library/app=linux/amd64"),)),
    ),
    "stated-by-an-annotation": Case(workload(annotations=_noted("image-platforms", "linux/amd64"))),
    "a-higher-variant": Case(workload(), "amd64/v3 arm64"),
    "no-entry-that-counts": Case(workload(), "amd64/v3"),
    "an-artifact": Case(workload(), found("amd64", image=False)),
    "the-same-image-twice": Case(workload(images=("app:1", "app:1")), "arm64"),
    # affinity
    "runs-everywhere": Case(workload()),
    "narrowed": Case(workload(), "amd64"),
    "narrowed-by-several-images": Case(
        workload(images=("app:1", "b:1", "c:1", "d:1", "e:1")),
        "amd64",
        more={"b:1": "amd64", "c:1": "amd64 arm64", "d:1": "amd64", "e:1": "amd64"},
    ),
    "a-pin": Case(workload(selecting(arch="amd64"))),
    "a-pin-outside-the-cluster": Case(workload(selecting(arch="s390x")), "s390x"),
    "terms-untouched-narrowed-and-closed": Case(
        workload(
            requiring(
                "kubernetes.io/arch In amd64",
                "zone Exists",
                "kubernetes.io/arch In arm64; disk In ssd",
                "",
            )
        ),
        "amd64",
    ),
    "terms-of-another-system": Case(workload(requiring("kubernetes.io/os In linux windows")), "amd64 windows/amd64"),
    "windows-without-an-entry": Case(workload(selecting(os="windows")), "amd64 windows/amd64"),
    "windows": Case(workload(selecting(os="windows")), "amd64 windows/amd64", Options(cluster_architectures=("amd64", "windows/amd64", "windows/arm64"))),
    "always": Case(workload(), options=Options(affinity="always")),
    "never": Case(workload(), "amd64", Options(affinity="never")),
    "virtual-nodes-beside-real-ones": Case(workload(f"tolerations: [{_NODES}]"), "amd64"),
    "a-daemon-set": Case(workload(kind=_SET), "amd64"),
    "a-daemon-set-that-fails": Case(workload(kind=_SET), "amd64", Options(daemon_sets="fail")),
    "a-runtime-class": Case(workload("runtimeClassName: graviton") + _RUNTIME),
    # tolerations and preferences
    "tolerated-already": Case(workload("tolerations: [{key: kubernetes.io/arch, operator: Exists}]")),
    "tolerates-everything": Case(workload("tolerations: [{operator: Exists}]")),
    "tolerates-every-taint-of-an-effect": Case(workload("tolerations: [{operator: Exists, effect: NoSchedule}]")),
    "a-term-with-many-values": Case(workload(requiring(f"node.kubernetes.io/instance-type In {' '.join(f'c{n}.large' for n in range(40))}"))),
    "a-rule-that-would-let-it-onto-other-nodes": Case(workload(), "amd64 arm64", Options(tolerate=(GKE, _POOL))),
    "no-rules": Case(workload(), options=Options(tolerate=())),
    "tolerate-false": Case(workload(annotations=_noted("tolerate", "false"))),
    "a-toleration-that-the-namespace-refuses": Case(workload() + _NAMESPACE),
    "preferences": Case(workload(), options=_WITH_S390X.replace(prefer=(("arm64", 5), ("s390x", 1)), tolerate=())),
    "a-preference-of-its-own": Case(
        workload(
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
            "{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}}]}}"
        ),
        options=Options(prefer=(("arm64", 5),)),
    ),
    # what cannot be changed once applied
    "a-job-that-runs-as-it-is": Case(workload(kind=_JOB), options=Options(prefer=(("arm64", 5),))),
    "a-job-that-needs-affinity": Case(workload(kind=_JOB), "amd64"),
    "a-job-treated-like-the-rest": Case(workload(kind=_JOB), options=Options(immutable="full")),
    "a-job-with-a-generated-name": Case(workload(kind=_JOB, metadata="generateName: migrate-")),
    "a-hook": Case(workload(kind=_JOB, metadata="name: migrate, annotations: {helm.sh/hook: pre-install}"), options=Options(hooks="recreated")),
    # rules and annotations
    "only": Case(workload(annotations=_noted("only", "amd64"))),
    "rules": Case(
        workload(),
        options=_rules(
            Rule(Match(kind="StatefulSet"), skip=True),
            Rule(Match(namespace="shop"), only=("arm64",), prefer=(("arm64", 5),)),
            Rule(Match(name="web"), tolerate=False),
        ),
    ),
    "a-misspelt-annotation": Case(workload(annotations=_noted("onyl", "amd64"))),
    # custom resources
    "a-built-in-row": Case(workload(kind="serving.knative.dev/v1 Service"), "amd64"),
    "a-row-of-the-user": Case(workload(kind="example.com/v1 Widget"), options=Options(workloads=(_WIDGET,))),
    "images-that-run-elsewhere": Case("apiVersion: opentelemetry.io/v1alpha1\nkind: Instrumentation\nmetadata: {name: o}\nspec: {java: {image: a}}\n"),
    "a-kind-without-a-field-for-affinity": Case(
        workload(kind="example.com/v1 Widget"),
        "amd64",
        Options(workloads=(_WIDGET.replace(there=_WIDGET.pod_spec, affinity=None, tolerations=None),)),
    ),
    "a-kind-without-a-field-for-tolerations": Case(
        workload(kind="example.com/v1 Widget"),
        options=Options(workloads=(_WIDGET.replace(there=_WIDGET.pod_spec, tolerations=None),)),
    ),
    "a-pod-without-a-place-for-it": Case(
        "apiVersion: postgresql.cnpg.io/v1\nkind: Pooler\nmetadata: {name: p}\nspec: {pgbouncer: {image: 'app:1'}}\n",
        "amd64",
    ),
    "an-image-that-the-operator-chooses": Case("apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: p}\nspec: {instances: 1}\n"),
    "an-image-that-no-row-reads": Case(
        workload(kind="example.com/v1 Widget").replace("spec:\n", "spec:\n  toolImage: 'tool:1'\n", 1),
        options=Options(workloads=(_WIDGET,)),
    ),
    "an-image-that-a-trigger-replaces": Case(workload(metadata=f"name: web, annotations: {{image.openshift.io/triggers: '{_TRIGGER}'}}")),
    "a-required-architecture-that-is-filled-in-later": Case(workload(requiring("kubernetes.io/arch In '$(arch)'"))),
    "a-kind-without-a-row": Case(workload(kind="example.com/v1 Widget")),
    "an-object-of-a-controller-without-a-row": Case(
        workload(
            kind="example.com/v1 Widget",
            metadata="name: w, ownerReferences: [{kind: App, name: a, controller: true}]",
        )
    ),
    "several-pods": Case(
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: k}\nspec:\n  kafka: {image: 'app:1'}\n"
        "  zookeeper: {image: 'app:1'}\n",
        "amd64",
    ),
    "kubevirt-without-an-architecture": Case(
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: vm}\nspec:\n  template:\n    spec:\n"
        "      domain: {devices: {}}\n      volumes:\n      - {name: d, containerDisk: {image: 'app:1'}}\n",
        "amd64",
    ),
    "a-row-that-was-not-seen": Case(_SET_OF_KRUISE, options=Options(prefer=(("arm64", 5),))),
    "a-row-that-was-not-seen-with-affinity-always": Case(_SET_OF_KRUISE, options=Options(affinity="always")),
    "a-row-that-was-not-seen-and-all": Case(_SET_OF_KRUISE, options=Options(custom_resources="all")),
    "a-row-that-was-not-seen-and-seen": Case(_SET_OF_KRUISE, options=Options(custom_resources="seen")),
    "a-row-and-none": Case(workload(kind="example.com/v1 Widget"), options=Options(workloads=(_WIDGET,), custom_resources="none")),
    "a-deployment-inside-of-a-row-that-was-not-seen": Case(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: a}\nobjects:\n-"
        + indent(workload(), "  ")[1:],
    ),
}  # fmt: skip
