"""What the API server of a running cluster lists, out of the manifests that were applied to it: everything but CRDs.

    what was applied     with uid, defaults, managedFields, status, and what kubectl apply or helm leave in annotations
    controllers          Deployment -> ReplicaSets, old ones at 0 replicas -> pods; StatefulSet, DaemonSet -> pods and
                         ControllerRevisions; CronJob -> Jobs -> pods; Service -> Endpoints and EndpointSlice
    the cluster itself   Nodes, Leases, Namespaces with their ServiceAccount and root certificate, Events, the Secrets
                         in which helm keeps releases

Names, identities and times depend on the arguments alone: the same manifests give the same objects. Everything secret
is made up. The order is that of `kubectl get` with many resources: kind by kind, then namespace and name.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import managed_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Object = dict[str, Any]
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_LEFT_OUT = ("CustomResourceDefinition", "Pod")
_CLUSTER_SCOPED = {
    *(
        "APIService",
        "CSIDriver",
        "ClusterRole",
        "ClusterRoleBinding",
        "IngressClass",
        "MutatingWebhookConfiguration",
    ),
    *("Namespace", "Node", "PriorityClass", "ValidatingWebhookConfiguration", "ClusterPolicy"),
}
_ORDER = (
    *("ConfigMap", "Endpoints", "Event", "Namespace", "Node", "PersistentVolumeClaim", "Pod", "Secret"),
    *("ServiceAccount", "Service"),
)
_OLD_REVISIONS = 3
_JOBS_OF_A_CRONJOB = 3
_RELEASE_BYTES = 3_500


class Applied(NamedTuple):
    """Manifests of one namespace. release: helm's name for them, "" if kubectl applied them."""

    namespace: str
    objects: tuple[Object, ...]
    release: str = ""


def objects(applied: Iterable[Applied], nodes: int) -> list[Object]:
    """Every object of the cluster."""
    cluster = _Cluster(nodes)
    for one in applied:
        cluster.apply(one)
    order = {kind: number for number, kind in enumerate(_ORDER)}

    def place(item: Object) -> tuple[int, str, str, str, str]:
        metadata = item["metadata"]
        return (
            order.get(item["kind"], len(order)),
            item["apiVersion"],
            item["kind"],
            metadata.get("namespace", ""),
            metadata["name"],
        )

    return sorted(cluster.made, key=place)


class _Cluster:
    def __init__(self, nodes: int) -> None:
        self.made: list[Object] = []
        self._known: set[tuple[str, str, str]] = set()
        self._nodes = [
            f"ip-10-0-{number >> 8}-{number & 255}.eu-central-1.compute.internal" for number in range(nodes)
        ]
        self._pods = 0
        for number, name in enumerate(self._nodes):
            self._keep(_node(name, number))
            self._keep(_lease(name, number))

    def apply(self, applied: Applied) -> None:
        """Stores the objects, and what controllers make of them."""
        self._namespace(applied.namespace)
        for revision in range(1, 4 if applied.release else 1):
            self._keep(_release(applied, revision))
        for manifest in map(_without_nulls, applied.objects):
            if manifest["kind"] in _LEFT_OUT or "helm.sh/hook" in manifest["metadata"].get("annotations", {}):
                continue
            if manifest["kind"].endswith("List"):
                self.apply(applied._replace(objects=tuple(manifest["items"]), release=""))
                continue
            if self._keep(_stored(manifest, applied)):
                self._control(self.made[-1])

    def _keep(self, item: Object) -> bool:
        """False for a name that is taken: a cluster-scoped object of a second installation."""
        metadata = item["metadata"]
        key = item["kind"], metadata.get("namespace", ""), metadata["name"]
        if key in self._known:
            return False
        self._known.add(key)
        self.made.append(item)
        return True

    def _namespace(self, name: str) -> None:
        labels = {"kubernetes.io/metadata.name": name}
        made = _base("v1", "Namespace", name, "", labels=labels)
        if self._keep({**made, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}):
            certificate = f"-----BEGIN CERTIFICATE-----\n{_lines('root', 1100)}-----END CERTIFICATE-----\n"
            root = _base("v1", "ConfigMap", "kube-root-ca.crt", name)
            self._keep(_managed({**root, "data": {"ca.crt": certificate}}, "kube-controller-manager"))
            self._keep(_base("v1", "ServiceAccount", "default", name))

    def _control(self, item: Object) -> None:
        kind, name, namespace = item["kind"], item["metadata"]["name"], item["metadata"].get("namespace", "")
        if kind == "Deployment":
            self._roll_out(item)
        elif kind in ("StatefulSet", "DaemonSet"):
            template = item["spec"]["template"]
            code = _digest(f"{namespace} {name}")[:9]
            self._keep(_revision(item, code))
            labels = {**template["metadata"].get("labels", {}), "controller-revision-hash": f"{name}-{code}"}
            if kind == "StatefulSet":
                for number in range(item["spec"].get("replicas", 1)):
                    self._pod(item, f"{name}-{number}", labels, self._nodes[self._pods % len(self._nodes)])
            else:
                for node in self._nodes:
                    self._pod(item, f"{name}-{_digest(node + name)[:5]}", labels, node)
        elif kind == "CronJob":
            for number in range(_JOBS_OF_A_CRONJOB):
                job = _job(item, 29_000_000 + 60 * number)
                self._keep(job)
                self._control(job)
        elif kind == "Job":
            labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
            self._pod(item, f"{name}-{_digest(name)[:5]}", labels, self._nodes[self._pods % len(self._nodes)])
        elif kind == "Service" and item["spec"].get("selector"):
            self._keep(_endpoints(item))
            self._keep(_endpoint_slice(item))

    def _roll_out(self, deployment: Object) -> None:
        name, namespace = deployment["metadata"]["name"], deployment["metadata"]["namespace"]
        for revision in range(1, _OLD_REVISIONS + 2):
            code = _digest(f"{namespace} {name} {revision}")[:9]
            replicas = deployment["spec"]["replicas"] if revision > _OLD_REVISIONS else 0
            made = _replica_set(deployment, code, revision, replicas)
            self._keep(made)
            for number in range(replicas):
                pod = f"{name}-{code}-{_digest(f'{name} {number}')[:5]}"
                labels = made["spec"]["template"]["metadata"]["labels"]
                self._pod(made, pod, labels, self._nodes[self._pods % len(self._nodes)])

    def _pod(self, owner: Object, name: str, labels: Mapping[str, str], node: str) -> None:
        self._pods += 1
        pod = _pod(owner, name, dict(labels), node, self._pods)
        self._keep(pod)
        for reason, message in _EVENTS:
            self._keep(_event(pod, reason, message))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _uid(text: str) -> str:
    code = _digest(text)
    return f"{code[:8]}-{code[8:12]}-4{code[13:16]}-a{code[17:20]}-{code[20:32]}"


def _time(text: str) -> str:
    number = int(_digest(text)[:8], 16)
    return f"2026-{number % 9 + 1:02}-{number // 9 % 28 + 1:02}T{number % 24:02}:{number % 60:02}:{number % 59:02}Z"


def _made_up(text: str, size: int) -> str:
    return base64.b64encode(hashlib.shake_128(text.encode()).digest(size)).decode()


def _lines(text: str, size: int) -> str:
    code = _made_up(text, size)
    return "".join(f"{code[at : at + 64]}\n" for at in range(0, len(code), 64))


def _base(
    version: str, kind: str, name: str, namespace: str, labels: Mapping[str, str] | None = None
) -> Object:
    text = f"{kind} {namespace} {name}"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {
            "creationTimestamp": _time(text),
            "name": name,
            **({"namespace": namespace} if namespace else {}),
            **({"labels": dict(labels)} if labels else {}),
            "resourceVersion": str(int(_digest(text)[:7], 16)),
            "uid": _uid(text),
        },
    }


def _managed(item: Object, manager: str, status_manager: str = "kube-controller-manager") -> Object:
    """The item with managedFields for its own fields, and with others for its status."""
    metadata, version = item["metadata"], item["apiVersion"]
    own = ("annotations", "generateName", "labels", "ownerReferences", "finalizers")
    written = {
        "metadata": {name: metadata[name] for name in own if name in metadata},
        **{
            name: value
            for name, value in item.items()
            if name not in ("apiVersion", "kind", "metadata", "status")
        },
    }
    time = metadata["creationTimestamp"]
    entries = [managed_fields.entry(manager, version, written, time)]
    if item.get("status"):
        status = {"status": item["status"]}
        entries.append(managed_fields.entry(status_manager, version, status, time, "status"))
    return {**item, "metadata": {**metadata, "managedFields": entries}}


def _without_nulls(value: Any) -> Any:
    """Templates leave keys without a value, which the API server drops."""
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def _owned(item: Object, owner: Object) -> Object:
    item["metadata"]["ownerReferences"] = [
        {
            "apiVersion": owner["apiVersion"],
            "blockOwnerDeletion": True,
            "controller": True,
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
        }
    ]
    return item


def _stored(manifest: Object, applied: Applied) -> Object:
    """The manifest as the API server keeps it."""
    kind, given = manifest["kind"], manifest["metadata"]
    namespace = "" if kind in _CLUSTER_SCOPED else given.get("namespace", applied.namespace)
    item = {**copy.deepcopy(manifest), **_base(manifest["apiVersion"], kind, given["name"], namespace)}
    metadata = item["metadata"]
    annotations = dict(given.get("annotations", {}))
    labels = dict(given.get("labels", {}))
    if applied.release:
        labels["app.kubernetes.io/managed-by"] = "Helm"
        annotations |= {
            "meta.helm.sh/release-name": applied.release,
            "meta.helm.sh/release-namespace": applied.namespace,
        }
    else:
        text = json.dumps(manifest, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        annotations[_APPLIED] = text + "\n"
    if kind in ("Deployment", "DaemonSet", "StatefulSet", "Job"):
        metadata["generation"] = 4
        item["spec"] = _workload_spec(item)
        item["status"] = _workload_status(item)
    if kind == "Deployment":
        annotations["deployment.kubernetes.io/revision"] = str(_OLD_REVISIONS + 1)
    if kind == "CronJob":
        template = item["spec"]["jobTemplate"]["spec"]["template"]
        template["spec"] = _pod_spec(template["spec"])
    if kind == "Service":
        item["spec"] = _service_spec(item)
        item["status"] = {"loadBalancer": {}}
    if "stringData" in item:
        plain = item.pop("stringData")
        item["data"] = {key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()}
    metadata |= {**({"labels": labels} if labels else {}), "annotations": annotations}
    return _managed(item, "helm" if applied.release else "kubectl-client-side-apply")


def _workload_spec(item: Object) -> Object:
    """With what the API server fills in."""
    kind, spec = item["kind"], item["spec"]
    name = f"{item['metadata']['namespace']} {item['metadata']['name']}"
    template = {"metadata": {"creationTimestamp": None}, **spec["template"]}
    template["metadata"] = {"creationTimestamp": None, **template["metadata"]}
    template["spec"] = _pod_spec(template["spec"])
    filled: Object = {**spec, "template": template}
    if kind == "Deployment":
        rolling = {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}, "type": "RollingUpdate"}
        filled = {
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 10,
            "strategy": rolling,
            **filled,
            "replicas": spec.get("replicas") or 1 + int(_digest(name)[:2], 16) % 3,
        }
    elif kind == "Job":
        filled = {
            "backoffLimit": 6,
            "completionMode": "NonIndexed",
            "completions": 1,
            "parallelism": 1,
            **filled,
        }
    else:
        filled = {"revisionHistoryLimit": 10, **filled}
    return filled


def _workload_status(item: Object) -> Object:
    kind, count, time = item["kind"], item["spec"].get("replicas", 1), item["metadata"]["creationTimestamp"]
    if kind == "Job":
        done = {"lastProbeTime": time, "lastTransitionTime": time, "status": "True", "type": "Complete"}
        return {"completionTime": time, "conditions": [done], "ready": 0, "startTime": time, "succeeded": 1}
    if kind == "DaemonSet":
        names = ("currentNumberScheduled", "desiredNumberScheduled", "numberAvailable", "numberReady")
        return {**dict.fromkeys(names, 12), "numberMisscheduled": 0, "observedGeneration": 4}
    counts = {
        "availableReplicas": count,
        "observedGeneration": 4,
        "readyReplicas": count,
        "replicas": count,
        "updatedReplicas": count,
    }
    if kind == "StatefulSet":
        revision = f"{item['metadata']['name']}-{_digest(item['metadata']['name'])[:9]}"
        return {**counts, "collisionCount": 0, "currentRevision": revision, "updateRevision": revision}
    conditions = [
        {
            "lastTransitionTime": time,
            "lastUpdateTime": time,
            "message": message,
            "reason": reason,
            "status": "True",
            "type": type,
        }
        for type, reason, message in (
            ("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            (
                "Progressing",
                "NewReplicaSetAvailable",
                f'ReplicaSet "{item["metadata"]["name"]}" has successfully progressed.',
            ),
        )
    ]
    return {**counts, "conditions": conditions}


def _pod_spec(spec: Object) -> Object:
    account = {"serviceAccount": spec["serviceAccountName"]} if spec.get("serviceAccountName") else {}
    filled = {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        **copy.deepcopy(spec),
        **account,
    }
    for name in ("initContainers", "containers"):
        if filled.get(name):
            filled[name] = [_container(one) for one in filled[name]]
    return filled


def _container(container: Object) -> Object:
    filled = {
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        **container,
    }
    if filled.get("ports"):
        filled["ports"] = [{"protocol": "TCP", **one} for one in filled["ports"]]
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if filled.get(name):
            usual = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
            filled[name] = {**usual, **filled[name]}
    return filled


def _replica_set(deployment: Object, code: str, revision: int, replicas: int) -> Object:
    metadata, spec = deployment["metadata"], deployment["spec"]
    template = copy.deepcopy(spec["template"])
    labels = {**(template["metadata"].get("labels") or {}), "pod-template-hash": code}
    template["metadata"]["labels"] = labels
    item = _base("apps/v1", "ReplicaSet", f"{metadata['name']}-{code}", metadata["namespace"], labels)
    item["metadata"] |= {
        "annotations": {
            "deployment.kubernetes.io/desired-replicas": str(spec["replicas"]),
            "deployment.kubernetes.io/max-replicas": str(spec["replicas"] + 1),
            "deployment.kubernetes.io/revision": str(revision),
        },
        "generation": 1,
    }
    selector = {"matchLabels": {**spec["selector"].get("matchLabels", {}), "pod-template-hash": code}}
    item["spec"] = {"replicas": replicas, "selector": selector, "template": template}
    counts = {
        name: replicas for name in ("availableReplicas", "fullyLabeledReplicas", "readyReplicas") if replicas
    }
    item["status"] = {**counts, "observedGeneration": 1, "replicas": replicas}
    return _managed(_owned(item, deployment), "kube-controller-manager")


def _revision(owner: Object, code: str) -> Object:
    metadata = owner["metadata"]
    item = _base("apps/v1", "ControllerRevision", f"{metadata['name']}-{code}", metadata["namespace"])
    item["data"] = {"spec": {"template": {"$patch": "replace", **owner["spec"]["template"]}}}
    item["revision"] = 1
    return _managed(_owned(item, owner), "kube-controller-manager")


def _job(cron: Object, minute: int) -> Object:
    metadata, template = cron["metadata"], cron["spec"]["jobTemplate"]
    item = _base("batch/v1", "Job", f"{metadata['name']}-{minute}", metadata["namespace"])
    item["spec"] = template["spec"]
    item["spec"] = _workload_spec(item)
    item["status"] = _workload_status(item)
    return _managed(_owned(item, cron), "kube-controller-manager")


def _pod(owner: Object, name: str, labels: dict[str, str], node: str, number: int) -> Object:
    metadata, template = owner["metadata"], owner["spec"]["template"]
    item = _base("v1", "Pod", name, metadata["namespace"], labels)
    item["metadata"]["generateName"] = f"{metadata['name']}-"
    if template["metadata"].get("annotations"):
        item["metadata"]["annotations"] = dict(template["metadata"]["annotations"])
    token = f"kube-api-access-{_digest(name)[:5]}"
    mount = {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token, "readOnly": True}
    spec = copy.deepcopy(template["spec"])
    for part in ("initContainers", "containers"):
        for container in spec.get(part) or ():
            container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
    spec |= {
        "enableServiceLinks": True,
        "nodeName": node,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "serviceAccountName": spec.get("serviceAccountName") or "default",
        "serviceAccount": spec.get("serviceAccountName") or "default",
        "tolerations": [*(spec.get("tolerations") or ()), *_TOLERATIONS],
        "volumes": [*(spec.get("volumes") or ()), {"name": token, "projected": _TOKEN}],
    }
    item["spec"] = spec
    item["status"] = _pod_status(item, number, finished=owner["kind"] == "Job")
    return _managed(_owned(item, owner), "kube-controller-manager", "kubelet")


_TOLERATIONS = [
    {
        "effect": "NoExecute",
        "key": f"node.kubernetes.io/{key}",
        "operator": "Exists",
        "tolerationSeconds": 300,
    }
    for key in ("not-ready", "unreachable")
]
_TOKEN = {
    "defaultMode": 420,
    "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {
            "downwardAPI": {
                "items": [
                    {
                        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                        "path": "namespace",
                    }
                ]
            }
        },
    ],
}


def _pod_status(pod: Object, number: int, *, finished: bool) -> Object:
    time, address = pod["metadata"]["creationTimestamp"], f"10.244.{number >> 8}.{number & 255}"
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    statuses = {
        status: [
            _container_status(one, time, finished=finished or part == "initContainers") for one in containers
        ]
        for part, status in (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses"))
        if (containers := pod["spec"].get(part))
    }
    return {
        "conditions": [
            {"lastProbeTime": None, "lastTransitionTime": time, "status": "True", "type": kind}
            for kind in kinds
        ],
        **statuses,
        "hostIP": f"10.0.0.{number % 250}",
        "hostIPs": [{"ip": f"10.0.0.{number % 250}"}],
        "phase": "Succeeded" if finished else "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "qosClass": "Burstable",
        "startTime": time,
    }


def _container_status(container: Object, time: str, *, finished: bool) -> Object:
    image, code = container["image"], _digest(container["image"])
    ended = {"exitCode": 0, "finishedAt": time, "reason": "Completed", "startedAt": time}
    return {
        "allocatedResources": container["resources"].get("requests") or {},
        "containerID": f"containerd://{_digest(time + image)}",
        "image": image,
        "imageID": f"{image.partition('@')[0].rpartition(':')[0] or image}@sha256:{code}",
        "lastState": {},
        "name": container["name"],
        "ready": not finished,
        "resources": container["resources"],
        "restartCount": int(code[0], 16) // 12,
        "started": not finished,
        "state": {"terminated": ended} if finished else {"running": {"startedAt": time}},
        "volumeMounts": [
            {**one, "recursiveReadOnly": "Disabled"} for one in container.get("volumeMounts") or ()
        ],
    }


_EVENTS = (
    ("Scheduled", "Successfully assigned {pod} to {node}"),
    ("Pulled", 'Container image "{image}" already present on machine'),
)


def _event(pod: Object, reason: str, message: str) -> Object:
    metadata, spec = pod["metadata"], pod["spec"]
    name = f"{metadata['name']}.18{_digest(metadata['uid'] + reason)[:14]}"
    item = _base("v1", "Event", name, metadata["namespace"])
    place = f"{metadata['namespace']}/{metadata['name']}"
    image, time = spec["containers"][0]["image"], metadata["creationTimestamp"]
    source = "default-scheduler" if reason == "Scheduled" else "kubelet"
    item |= {
        "count": 1,
        "eventTime": None,
        "firstTimestamp": time,
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "resourceVersion": metadata["resourceVersion"],
            "uid": metadata["uid"],
        },
        "lastTimestamp": time,
        "message": message.format(pod=place, node=spec["nodeName"], image=image),
        "reason": reason,
        "reportingComponent": source,
        "reportingInstance": "",
        "source": {"component": source},
        "type": "Normal",
    }
    return _managed(item, source)


def _service_spec(item: Object) -> Object:
    code = _digest(item["metadata"]["namespace"] + item["metadata"]["name"])
    address = f"10.96.{int(code[:2], 16)}.{int(code[2:4], 16)}"
    filled = {
        "clusterIP": address,
        "clusterIPs": [address],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "sessionAffinity": "None",
        "type": "ClusterIP",
        **item["spec"],
    }
    ports = filled.get("ports") or ()
    filled["ports"] = [{"protocol": "TCP", "targetPort": one["port"], **one} for one in ports]
    return filled


def _endpoints(service: Object) -> Object:
    metadata = service["metadata"]
    item = _base("v1", "Endpoints", metadata["name"], metadata["namespace"], metadata.get("labels"))
    ports = [{"name": "http", "port": one["port"], "protocol": "TCP"} for one in service["spec"]["ports"]]
    item["subsets"] = [{"addresses": _addresses(service), "ports": ports}]
    return _managed(item, "kube-controller-manager")


def _endpoint_slice(service: Object) -> Object:
    metadata = service["metadata"]
    name = f"{metadata['name']}-{_digest(metadata['name'])[:5]}"
    labels = {
        **metadata.get("labels", {}),
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": metadata["name"],
    }
    item = _base("discovery.k8s.io/v1", "EndpointSlice", name, metadata["namespace"], labels)
    item |= {
        "addressType": "IPv4",
        "endpoints": [
            {
                "addresses": [one["ip"]],
                "conditions": {"ready": True, "serving": True, "terminating": False},
                "nodeName": one["nodeName"],
                "targetRef": one["targetRef"],
            }
            for one in _addresses(service)
        ],
        "ports": [
            {"name": "http", "port": one["port"], "protocol": "TCP"} for one in service["spec"]["ports"]
        ],
    }
    return _managed(_owned(item, service), "kube-controller-manager")


def _addresses(service: Object) -> list[Object]:
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    return [
        {
            "ip": f"10.244.{number}.{int(_digest(name)[:2], 16)}",
            "nodeName": f"ip-10-0-0-{number}.eu-central-1.compute.internal",
            "targetRef": {
                "kind": "Pod",
                "name": f"{name}-{_digest(f'{name} {number}')[:15]}",
                "namespace": namespace,
                "uid": _uid(f"{namespace} {name} {number}"),
            },
        }
        for number in range(2)
    ]


def _release(applied: Applied, revision: int) -> Object:
    """Where helm keeps a release: gzip in base64, twice."""
    name = f"sh.helm.release.v1.{applied.release}.v{revision}"
    labels = {
        "name": applied.release,
        "owner": "helm",
        "status": "deployed" if revision == 3 else "superseded",
        "version": str(revision),
    }
    item = _base("v1", "Secret", name, applied.namespace, labels)
    item["data"] = {"release": _made_up(name, _RELEASE_BYTES)}
    item["type"] = "helm.sh/release.v1"
    return _managed(item, "helm")


def _lease(node: str, number: int) -> Object:
    item = _base("coordination.k8s.io/v1", "Lease", node, "kube-node-lease")
    item["spec"] = {
        "holderIdentity": node,
        "leaseDurationSeconds": 40,
        "renewTime": f"2026-08-01T10:00:{number % 60:02}.000000Z",
    }
    return _managed(item, "kubelet")


def _node(name: str, number: int) -> Object:
    architecture = ("amd64", "arm64")[number % 2]
    labels = {
        "kubernetes.io/arch": architecture,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": ("m7i.4xlarge", "m7g.4xlarge")[number % 2],
        "topology.kubernetes.io/region": "eu-central-1",
        "topology.kubernetes.io/zone": f"eu-central-1{'abc'[number % 3]}",
    }
    item = _base("v1", "Node", name, "", labels)
    time = item["metadata"]["creationTimestamp"]
    size = {"cpu": "15890m", "memory": "60943Mi", "pods": "110"}
    item["spec"] = {"podCIDR": f"10.244.{number}.0/24", "providerID": f"aws:///eu-central-1a/i-{number:017x}"}
    item["status"] = {
        "addresses": [
            {"address": f"10.0.0.{number}", "type": "InternalIP"},
            {"address": name, "type": "Hostname"},
        ],
        "allocatable": size,
        "capacity": size,
        "conditions": [
            {
                "lastHeartbeatTime": time,
                "lastTransitionTime": time,
                "message": f"kubelet has {kind}",
                "reason": f"Kubelet{kind}",
                "status": str(kind == "Ready"),
                "type": kind,
            }
            for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
        ],
        "images": [
            {
                "names": [f"registry.example.com/team/i{image}@sha256:{_digest(str(image))}"],
                "sizeBytes": 10_000_000 + image,
            }
            for image in range(50)
        ],
        "nodeInfo": {
            "architecture": architecture,
            "containerRuntimeVersion": "containerd://2.1.5",
            "kubeletVersion": "v1.36.3",
            "operatingSystem": "linux",
        },
    }
    return _managed(item, "kubelet", "kubelet")
