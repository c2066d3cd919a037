"""Random objects: pods in kinds with and without a row, and what decides their placement or could trip over an edit."""

import random
from typing import Any

from fuzz.material import IMAGES, ODD, SCRIPTS, STAMPS, TEXTS
from fuzz.writing import Raw

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

EXPRESSIONS = (
    {"key": "disk", "operator": "In", "values": ["ssd"]},
    {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]},
    {"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["arm64"]},
    {"key": "kubernetes.io/arch", "operator": "Exists"},
    {"key": "gpu", "operator": "DoesNotExist"},
)
TOLERATIONS = (
    {"key": "dedicated"},
    {"operator": "Exists"},
    {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"},
    {"key": "x", "value": "on"},
)
FIELDS = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
TEMPLATE = ("spec", "template", "spec")
KINDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("v1", "Pod", ("spec",)),
    ("v1", "Pod", ("spec",)),
    ("v1", "PodTemplate", ("template", "spec")),
    ("apps/v1", "Deployment", TEMPLATE),
    ("apps/v1", "StatefulSet", TEMPLATE),
    ("apps/v1", "DaemonSet", TEMPLATE),
    ("batch/v1", "Job", TEMPLATE),
    ("batch/v1", "CronJob", ("spec", "jobTemplate", *TEMPLATE)),
    ("argoproj.io/v1alpha1", "Rollout", TEMPLATE),
    ("keda.sh/v1alpha1", "ScaledJob", ("spec", "jobTargetRef", "template", "spec")),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", ("spec", "replicatedJobs", "*", "template", *TEMPLATE)),
    ("kubeflow.org/v1", "PyTorchJob", ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec")),
    ("batch.volcano.sh/v1alpha1", "Job", ("spec", "tasks", "*", "template", "spec")),
    ("apps.kruise.io/v1alpha1", "CloneSet", TEMPLATE),
    ("example.com/v1", "Unknown", TEMPLATE),
)


def objects(chance: random.Random) -> list[Any]:
    return [_object(chance) for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))]


def _object(chance: random.Random) -> Any:
    drawn = chance.random()
    if drawn < 0.12:
        return _podless(chance)
    if drawn < 0.24:
        return _operators(chance)
    api_version, kind, path = chance.choice(KINDS)
    pod: Any = spec(chance)
    tokens = list(path)
    if len(path) > 1 and chance.random() < 0.4:
        tokens.pop()
        pod = {"metadata": metadata(chance, named=False), "spec": pod}
    for token in reversed(tokens):
        pod = [pod] if token == "*" else {token: pod}
    made: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": metadata(chance), **pod}
    if chance.random() < 0.1:
        made["status"] = {}
    if chance.random() < 0.15:
        items = list(made.items())
        chance.shuffle(items)
        made = dict(items)
    return made


def metadata(chance: random.Random, *, named: bool = True) -> Any:
    """Of an object; what nobody writes is among it."""
    drawn = chance.random()
    if drawn < 0.06:
        return chance.choice((None, {}, [], "x"))
    made: dict[str, Any] = {"name": "web"} if named else {}
    if chance.random() < 0.2:
        made["labels"] = chance.choice(
            (None, {}, {"text": chance.choice(TEXTS)}, {"odd": Raw(chance.choice(ODD))})
        )
    if chance.random() < 0.25:
        made["annotations"] = _annotations(chance)
    if chance.random() < 0.04:
        made["ownerReferences"] = [{"kind": "ReplicaSet", "controller": True, "name": "x"}]
    return made


def _annotations(chance: random.Random) -> Any:
    drawn = chance.random()
    if drawn < 0.45:
        return chance.choice((None, {}, [], "x"))
    if drawn < 0.7:
        return {"a": chance.choice((*TEXTS, *SCRIPTS))}
    if drawn < 0.8:
        return {"archfit.dev/skip": "true"}
    return {"archfit.dev/added": chance.choice(STAMPS)}


def containers(chance: random.Random, most: int = 2) -> list[Any]:
    made = []
    for _ in range(chance.randint(1, most)):
        one: dict[str, Any] = {"image": chance.choice(IMAGES)}
        drawn = chance.random()
        if drawn < 0.3:
            one["args"] = [chance.choice(SCRIPTS)]
        elif drawn < 0.4:
            one["name"] = chance.choice(TEXTS)
        elif drawn < 0.45:
            one["env"] = [{"name": "A", "value": Raw(chance.choice(ODD))}]
        elif drawn < 0.5:
            one = {"name": "c", **one}
        made.append(one)
    return made


def affinity(chance: random.Random) -> Any:
    drawn = chance.random()
    if drawn < 0.25:
        return chance.choice((None, {}, Raw("~"), Raw("!!map {}")))
    node: dict[str, Any] = {}
    made: dict[str, Any] = {"nodeAffinity": node}
    if drawn < 0.4:
        made["nodeAffinity"] = chance.choice((None, {}))
        return made
    if drawn < 0.9:
        terms: list[Any] = []
        for _ in range(chance.choice((1, 1, 2, 3))):
            term: Any = {"matchExpressions": chance.sample(EXPRESSIONS, chance.choice((0, 1, 1, 2)))}
            terms.append(
                chance.choice(
                    (
                        term,
                        term,
                        term,
                        {},
                        {"matchFields": FIELDS},
                        {"matchExpressions": None, "matchFields": FIELDS},
                    )
                )
            )
        node[REQUIRED] = chance.choice(({"nodeSelectorTerms": terms}, {"nodeSelectorTerms": terms}, None, {}))
    if drawn > 0.75:
        node[PREFERRED] = chance.choice((None, [], [{"weight": 1, "preference": {"matchExpressions": []}}]))
    if chance.random() < 0.1:
        made = {"podAffinity": chance.choice((None, {})), **made}
    return made


def spec(chance: random.Random) -> dict[str, Any]:
    draw = chance.random
    made: dict[str, Any] = {"containers": containers(chance)}
    if draw() < 0.35:
        made["affinity"] = affinity(chance)
    if draw() < 0.35:
        made["tolerations"] = chance.choice(
            (None, [], list(chance.sample(TOLERATIONS, chance.choice((1, 2)))))
        )
    if draw() < 0.15:
        made["nodeSelector"] = chance.choice((None, {}, {"disk": "ssd"}, {"kubernetes.io/arch": "arm64"}))
    if draw() < 0.1:
        made["initContainers"] = containers(chance, 1)
    if draw() < 0.1:
        made["hostNetwork"] = draw() < 0.5
    if draw() < 0.25:
        made["hostname"] = chance.choice((*SCRIPTS, *TEXTS))
    if draw() < 0.1:
        made["hostAliases"] = chance.choice(([], [{"ip": "1.2.3.4", "hostnames": ["a"]}], None))
    if draw() < 0.2:
        items = list(made.items())
        chance.shuffle(items)
        made = dict(items)
    return made


def _podless(chance: random.Random) -> Any:
    kind = chance.choice(("ConfigMap", "Secret", "Service", "Unknown"))
    data = {
        "text": chance.choice((*SCRIPTS, *TEXTS)),
        "n": Raw(chance.choice(ODD)) if chance.random() < 0.3 else "x",
    }
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata(chance), "data": data}


_IMAGE_OF_SPEC = (("rabbitmq.com/v1beta1", "RabbitmqCluster"), ("monitoring.coreos.com/v1", "Prometheus"))


def _operators(chance: random.Random) -> Any:
    """Kinds whose operators take images and placement in fields of their own."""
    head = {"metadata": metadata(chance)}
    placement: dict[str, Any] = {}
    if chance.random() < 0.3:
        placement["tolerations"] = chance.choice((None, [], [{"operator": "Exists"}]))
    if chance.random() < 0.3:
        placement["affinity"] = affinity(chance)
    image = chance.choice(IMAGES)
    drawn = chance.randrange(5)
    if drawn == 0:
        parts = {"container": {"image": image}, "script": {"image": chance.choice(IMAGES), "source": "x\n"}}
        names = chance.choice((("container",), ("script",), ("container", "script")))
        template = {"name": "main", **{name: parts[name] for name in names}, **placement}
        kind = chance.choice(("Workflow", "WorkflowTemplate"))
        return {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, **head, "spec": {"templates": [template]}}
    if drawn in (1, 2):
        api_version, kind = _IMAGE_OF_SPEC[drawn - 1]
        return {"apiVersion": api_version, "kind": kind, **head, "spec": {"image": image, **placement}}
    if drawn == 3:
        made = {"imageName": image, **({"affinity": {"tolerations": [], **placement}} if placement else {})}
        return {"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", **head, "spec": made}
    task = {"name": "t", "taskSpec": {"steps": [{"image": image, "script": "x\n"}]}}
    spec = {"pipelineSpec": {"tasks": [task]}}
    return {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", **head, "spec": spec}
