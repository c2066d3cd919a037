"""What `archfit setup fleet` writes: the manifests of files/job.yaml or cron.yaml, filled in.

Each engine's manifests are in one file, where a line `--- # PATH` begins a file of the user's. They have every optional
part; what the user did not choose is taken out here. kubectl applies the files of a folder and not those of run/, which
are started one after the other. With cron one pod at a time writes, so its volume is ReadWriteOnce.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from archfit.cli.setup.own_pods import IMAGE, NAMESPACE, leave_out, name_registry_secret, name_secret, named
from archfit.cli.setup.yaml_files import one_line, parsed, shipped, written
from archfit.cluster.pools.live import KINDS
from archfit.startup.record import Record

NAME = "archfit-audit"
ENGINES = ("job", "cron")
SCHEDULE = "23 2 * * *"
JOBS = {
    "run/1-snapshot.yaml": "archfit-audit-snapshot",
    "run/2-shards.yaml": "archfit-audit-shards",
    "run/3-merge.yaml": "archfit-audit-merge",
}
_FILE = re.compile(r"^--- # (.+)\n", re.MULTILINE)
_FIRST_SHARD = "/audit/shard-0.json"


class FleetChoices(Record):
    """What the user chose. engine: of ENGINES. configuration: the text of archfit.yaml, or "" for the default.

    cache: the URL of a cache server, "" for none. cache_secret: a Secret whose key `password` is the server's.
    registry_secret: a Secret of type kubernetes.io/dockerconfigjson. claim: a claim that is there already.
    schedule: of the CronJob, five fields of cron in the time of the control plane.
    cluster: its name in the report, "" for the uid of the namespace kube-system. node_pools: whether it reads them.
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
    node_pools: bool = False
    schedule: str = SCHEDULE

    @property
    def claim_name(self) -> str:
        """Of the claim that is there, or that archfit writes: the access modes of one that is there never change."""
        return self.claim or (f"{NAME}-nightly" if self.engine == "cron" else NAME)


def files(choices: FleetChoices) -> dict[str, str]:
    """Path -> text."""
    left_out = {"00-namespace.yaml": choices.namespace != NAMESPACE, "20-volume.yaml": bool(choices.claim)}
    return {
        path: "---\n".join(written(_filled_in(parsed(text), choices)) for text in text.split("---\n"))
        for path, text in _shipped(choices.engine)
        if not left_out.get(path)
    }


def _shipped(engine: str) -> Iterator[tuple[str, str]]:
    if engine == "cron":
        yield from ((path, text) for path, text in _shipped("job") if path not in JOBS)
    _about, *parts = _FILE.split(shipped(__package__, f"{engine}.yaml"))
    yield from zip(parts[::2], parts[1::2], strict=True)


def _filled_in(value: Any, choices: FleetChoices) -> Any:
    """The object with what the user chose. It changes its argument."""
    _place(value, choices.namespace)
    match value["kind"]:
        case "ClusterRole" if not choices.node_pools:
            pools = {group for group, _resource, _kind in KINDS}
            value["rules"] = [rule for rule in value["rules"] if not pools.intersection(rule["apiGroups"])]
        case "ConfigMap" if choices.configuration:
            value["data"]["archfit.yaml"] = LiteralScalarString(choices.configuration)
        case "PersistentVolumeClaim":
            value["metadata"]["name"] = choices.claim_name
            if choices.engine == "cron":
                value["spec"]["accessModes"] = one_line(["ReadWriteOnce"])
            if choices.storage_class:
                value["spec"]["storageClassName"] = choices.storage_class
            else:
                del value["spec"]["storageClassName"]
        case "Pod":
            spec = value["spec"]
            _fill_pod(spec, spec["containers"], choices)
        case "Job":
            spec = value["spec"]["template"]["spec"]
            _fill_pod(spec, [*spec.get("initContainers", ()), *spec["containers"]], choices)
            if "completions" in value["spec"]:
                value["spec"]["completions"] = choices.shards
                value["spec"]["parallelism"] = min(choices.parallelism, choices.shards)
        case "CronJob":
            value["spec"]["schedule"] = DoubleQuotedScalarString(choices.schedule)
            spec = value["spec"]["jobTemplate"]["spec"]["template"]["spec"]
            _fill_pod(spec, [*spec["initContainers"], *spec["containers"]], choices)
    return value


def _place(value: Any, namespace: str) -> None:
    metadata = value["metadata"]
    if "namespace" in metadata:
        metadata["namespace"] = namespace
    for subject in value.get("subjects", ()):
        subject["namespace"] = namespace
    if value["kind"].startswith("ClusterRole") and namespace != NAMESPACE:
        metadata["name"] = f"{NAME}-{namespace}"
        if "roleRef" in value:
            value["roleRef"]["name"] = metadata["name"]


def _fill_pod(pod: Any, containers: Sequence[Any], choices: FleetChoices) -> None:
    """Only what asks registries has the credentials for them and for the cache."""
    named(pod["volumes"], "audit")["persistentVolumeClaim"]["claimName"] = choices.claim_name
    for container in containers:
        words = list(container["command"])
        container["image"] = choices.image
        container["command"] = _command(words, choices)
        if "--shard" in words or ("--live" in words and "--offline" not in words):
            name_registry_secret(pod, container, choices.registry_secret)
            _name_cache(pod, container, choices)


def _name_cache(pod: Any, container: Any, choices: FleetChoices) -> None:
    if choices.cache:
        named(container["env"], "ARCHFIT_CACHE")["value"] = choices.cache
    else:
        leave_out(container["env"], "ARCHFIT_CACHE")
    name_secret(pod, container, "cache", "ARCHFIT_CACHE_PASSWORD_FILE", choices.cache_secret)


def _command(shipped_words: list[str], choices: FleetChoices) -> CommentedSeq:
    """The words of a step with the cluster's name, the number of shards, and the reports of all shards."""
    words = [*shipped_words]
    if _FIRST_SHARD in words:
        words[words.index(_FIRST_SHARD) :] = [f"/audit/shard-{index}.json" for index in range(choices.shards)]
    for flag, value in (("--shards", str(choices.shards)), ("--cluster", choices.cluster)):
        if flag in words:
            place = words.index(flag)
            words[place : place + 2] = [flag, value] if value else []
    return one_line(words)
