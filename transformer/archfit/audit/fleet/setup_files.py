"""What `archfit setup fleet` writes. The texts are in files/.

    00-namespace.yaml           archfit; not for a namespace of the user's
    10-access.yaml              an account with the rights of an audit, and no other
    11-argo-access.yaml         what Argo's container in each pod needs              --engine argo
    20-volume.yaml              the PersistentVolumeClaim of all steps               without --claim
    30-configuration.yaml       archfit.yaml
    50-workflow.yaml            WorkflowTemplate                                     --engine argo
    run/1-snapshot.yaml         Job                                                  --engine job
    run/2-shards.yaml           Indexed Job, one index for each shard                --engine job
    run/3-merge.yaml            Job                                                  --engine job
    run/reader.yaml             a pod through which kubectl copies reports

kubectl applies the files of a folder and not those of run/, which are started one after the other. `fleet_steps` has
the commands; files/pod.yaml is the pod of every step.
Source: k8s.io/api v0.36.3, batch/v1 (types.go); Argo Workflows v3.5, docs/fields.md and docs/workflow-rbac.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from archfit.audit.fleet import fleet_steps
from archfit.base.record import Record
from archfit.cli.setup.own_pods import (
    AUTHFILE,
    IMAGE,
    NAMESPACE,
    registry_mount,
    registry_volume,
    secret_volume,
)
from archfit.cli.setup.yaml_files import mapping, one_line, parsed, shipped, written

NAME = "archfit-audit"
ENGINES = ("job", "argo")
JOBS = {
    "run/1-snapshot.yaml": "archfit-audit-snapshot",
    "run/2-shards.yaml": "archfit-audit-shards",
    "run/3-merge.yaml": "archfit-audit-merge",
}
_CACHE_SECRET = "/etc/archfit/cache"  # noqa: S105 - a folder
_READER_SECONDS = 600
_LABELS = {
    "app.kubernetes.io/name": "archfit",
    "app.kubernetes.io/instance": "archfit",
    "app.kubernetes.io/component": "audit",
}
_POD_FIELDS_OF_ARGO = ("securityContext", "nodeSelector", "affinity", "tolerations", "volumes")


class Choices(Record):
    """What the user chose. engine: of ENGINES. configuration: the text of archfit.yaml, or "" for the default.

    cache: the URL of a cache server, "" for none. cache_secret: a Secret whose key `password` is the server's.
    registry_secret: a Secret of type kubernetes.io/dockerconfigjson. claim: a claim that is there already.
    cluster: its name in the report, "" for the uid of the namespace kube-system.
    """

    engine: str
    shards: int = 8
    parallelism: int = 8
    namespace: str = NAMESPACE
    image: str = IMAGE
    configuration: str = ""
    registry_secret: str = ""
    cache: str = ""
    cache_secret: str = ""
    claim: str = ""
    storage_class: str = ""
    cluster: str = ""


def files(choices: Choices) -> dict[str, str]:
    """Path -> text."""
    found: dict[str, Sequence[CommentedMap]] = {
        "10-access.yaml": _documents("10-access.yaml"),
        "30-configuration.yaml": [_configuration(choices)],
        "run/reader.yaml": [_reader(choices)],
    }
    if choices.namespace == NAMESPACE:
        found["00-namespace.yaml"] = _documents("00-namespace.yaml")
    if not choices.claim:
        found["20-volume.yaml"] = [_volume(choices)]
    if choices.engine == "argo":
        found["11-argo-access.yaml"] = _documents("11-argo-access.yaml")
        found["50-workflow.yaml"] = [_workflow(choices)]
    else:
        found |= _jobs(choices)
    return {
        path: "---\n".join(written(_placed(value, choices.namespace)) for value in values)
        for path, values in sorted(found.items())
    }


def _documents(name: str) -> list[CommentedMap]:
    return [parsed(text) for text in shipped(__package__, name).split("---\n")]


def _placed(value: CommentedMap, namespace: str) -> CommentedMap:
    """The object in the user's namespace, with labels."""
    metadata = value["metadata"]
    # Another of archfit's setups may own the namespace, too.
    own = {
        key: text for key, text in _LABELS.items() if value["kind"] != "Namespace" or "component" not in key
    }
    metadata["labels"] = mapping(**own, **metadata.get("labels", {}))
    if "namespace" in metadata:
        metadata["namespace"] = namespace
    for subject in value.get("subjects", ()):
        subject["namespace"] = namespace
    if value["kind"].startswith("ClusterRole") and namespace != NAMESPACE:
        metadata["name"] = f"{NAME}-{namespace}"
        if "roleRef" in value:
            value["roleRef"]["name"] = metadata["name"]
    return value


def _volume(choices: Choices) -> CommentedMap:
    (value,) = _documents("20-volume.yaml")
    if choices.storage_class:
        value["spec"]["storageClassName"] = choices.storage_class
    return value


def _configuration(choices: Choices) -> CommentedMap:
    (value,) = _documents("30-configuration.yaml")
    if choices.configuration:
        value["data"]["archfit.yaml"] = LiteralScalarString(choices.configuration)
    return value


def _jobs(choices: Choices) -> dict[str, Sequence[CommentedMap]]:
    (snapshot,), (shards,), (merge,) = map(
        _documents, ("snapshot-job.yaml", "shards-job.yaml", "merge-job.yaml")
    )
    snapshot["spec"]["template"] = _template(
        _pod(_without_credentials(choices), fleet_steps.snapshot(choices.cluster), reads_cluster=True)
    )
    shards["spec"] |= {
        "completions": choices.shards,
        "parallelism": min(choices.parallelism, choices.shards),
    }
    # The Job controller sets the variable in each pod, and the kubelet replaces $(..) in a command.
    command = fleet_steps.shard("$(JOB_COMPLETION_INDEX)", choices.shards)
    shards["spec"]["template"] = _template(_pod(choices, command))
    choices = _without_credentials(choices)
    pod = _pod(choices, fleet_steps.REPORT)
    pod.insert(0, "initContainers", [])
    for name, words in (("merge", fleet_steps.merge(choices.shards)), ("page", fleet_steps.PAGE)):
        pod["initContainers"].append(_container(choices, words, name))
    merge["spec"]["template"] = _template(pod)
    return dict(zip(JOBS, ([snapshot], [shards], [merge]), strict=True))


def _without_credentials(choices: Choices) -> Choices:
    """The same for a step that asks no registry."""
    return choices.replace(registry_secret="", cache="", cache_secret="")


def _template(pod: CommentedMap) -> CommentedMap:
    return mapping(metadata=mapping(labels=mapping(**_LABELS)), spec=pod)


def _pod(choices: Choices, words: Sequence[str], *, reads_cluster: bool = False) -> CommentedMap:
    pod: CommentedMap = parsed(shipped(__package__, "pod.yaml"))
    if reads_cluster:
        pod["automountServiceAccountToken"] = True
    pod["containers"] = [_container(choices, words)]
    for volume in pod["volumes"]:
        if volume["name"] == "audit" and choices.claim:
            volume["persistentVolumeClaim"]["claimName"] = choices.claim
    if choices.registry_secret:
        pod["volumes"].append(registry_volume(choices.registry_secret))
    if choices.cache_secret:
        pod["volumes"].append(secret_volume("cache", choices.cache_secret, "password", "password"))
    return pod


def _container(choices: Choices, words: Sequence[str], name: str = "archfit") -> CommentedMap:
    container: CommentedMap = parsed(shipped(__package__, "pod.yaml"))["containers"][0]
    container["name"] = name
    container["image"] = choices.image
    container["command"] = one_line(list(words))
    settings = {
        "ARCHFIT_CACHE": choices.cache,
        "ARCHFIT_CACHE_PASSWORD_FILE": f"{_CACHE_SECRET}/password" if choices.cache_secret else "",
        "ARCHFIT_AUTHFILE": AUTHFILE if choices.registry_secret else "",
    }
    for variable, value in settings.items():
        if value:
            container["env"].append(mapping(name=variable, value=value))
    if choices.registry_secret:
        container["volumeMounts"].append(registry_mount())
    if choices.cache_secret:
        container["volumeMounts"].append(mapping(name="cache", mountPath=_CACHE_SECRET, readOnly=True))
    return container


def _workflow(choices: Choices) -> CommentedMap:
    (value,) = _documents("workflow-template.yaml")
    spec = value["spec"]
    spec["parallelism"] = choices.parallelism
    spec["podMetadata"] = mapping(labels=mapping(**_LABELS))
    pod = _pod(choices, ())
    for field in _POD_FIELDS_OF_ARGO:
        spec[field] = pod[field]
    (audit,) = templates = spec["templates"]
    audit["dag"]["tasks"][1]["withSequence"]["count"] = DoubleQuotedScalarString(str(choices.shards))
    commands = {
        "snapshot": fleet_steps.snapshot(choices.cluster),
        "shard": fleet_steps.shard("{{inputs.parameters.shard}}", choices.shards),
        "merge": fleet_steps.merge(choices.shards),
        "page": fleet_steps.PAGE,
        "report": fleet_steps.REPORT,
    }
    for name, words in commands.items():
        template = mapping(name=name)
        if name == "snapshot":
            template["serviceAccountName"] = NAME
        if name == "shard":
            template["inputs"] = mapping(parameters=[mapping(name="shard")])
        template["retryStrategy"] = mapping(limit=DoubleQuotedScalarString("2"), retryPolicy="OnFailure")
        # Argo names the container itself.
        template["container"] = _container(
            choices if name == "shard" else _without_credentials(choices), words
        )
        del template["container"]["name"]
        templates.append(template)
    return value


def _reader(choices: Choices) -> CommentedMap:
    (value,) = _documents("reader.yaml")
    pod: Any = _pod(_without_credentials(choices), ("sleep", str(_READER_SECONDS)))
    pod["activeDeadlineSeconds"] = _READER_SECONDS
    value["spec"] = pod
    return value
