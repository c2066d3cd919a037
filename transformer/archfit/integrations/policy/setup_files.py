"""What `archfit setup policy` writes: Jobs that write the policy, and the least that they may do.

    00-namespace.yaml        archfit, which the policy leaves out
    10-access.yaml           ServiceAccount, ClusterRole, ClusterRoleBinding; see `rules`
    30-configuration.yaml    archfit.yaml
    50-cronjob.yaml          archfit policy --live --apply, every hour
    60-first-job.yaml        the same at once

kubectl applies files of a folder by their names. The texts are in files/. A Job cannot be changed, so the first one has
another name where its pod or its configuration differs. The rules follow from what `live_images`
reads and from the objects of the policy, by name.
Source: kubernetes.io/docs/reference/access-authn-authz/rbac; a server-side apply that creates is authorised with the
object's name (apiserver v0.36.3, pkg/endpoints/handlers/patch.go), and a policy with a paramKind needs `get` on all
objects of it (pkg/registry/admissionregistration/mutatingadmissionpolicy/authz.go).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarstring import LiteralScalarString

from archfit.cluster_api.resource_paths import plural
from archfit.integrations.own_pods import IMAGE, use_registry_secret
from archfit.integrations.policy.live_images import KINDS
from archfit.integrations.yaml_files import mapping, one_line, parsed, shipped, written
from archfit.record import Record

SCHEDULE = "17 * * * *"
NAME = "archfit-policy"
COMMAND = ("archfit", "policy", "--live", "--apply")


class Choices(Record):
    """What the user chose. flags: of `archfit policy`, for the job. configuration: the text of archfit.yaml, or "".

    registry_secret: a Secret of type kubernetes.io/dockerconfigjson, "" for none.
    """

    image: str = IMAGE
    schedule: str = SCHEDULE
    flags: tuple[str, ...] = ()
    configuration: str = ""
    registry_secret: str = ""


def files(objects: Sequence[Mapping[str, Any]], choices: Choices) -> dict[str, str]:
    """Path -> text. objects: of the policy, whose names count."""
    configuration, cronjob = _configuration(choices), _cronjob(choices)
    return {
        "00-namespace.yaml": shipped(__package__, "00-namespace.yaml"),
        "10-access.yaml": _access(objects),
        "30-configuration.yaml": written(configuration),
        "50-cronjob.yaml": written(cronjob),
        "60-first-job.yaml": written(_first_job(cronjob, configuration)),
    }


def _access(objects: Sequence[Mapping[str, Any]]) -> str:
    documents = [parsed(text) for text in shipped(__package__, "10-access.yaml").split("---\n")]
    for value in documents:
        if value["kind"] == "ClusterRole":
            value["rules"] = [
                mapping(**{key: one_line(list(words)) for key, words in rule.items()})
                for rule in rules(objects)
            ]
    return "---\n".join(map(written, documents))


def rules(objects: Sequence[Mapping[str, Any]]) -> list[dict[str, Sequence[str]]]:
    """The rules: list what holds images, apply the policy's own objects by their names."""
    found: list[dict[str, Sequence[str]]] = [
        {"apiGroups": (group,), "resources": resources, "verbs": ("list",)}
        for group, resources in _grouped((kind.group, kind.resource) for kind in KINDS)
    ]
    parameters = {
        value["spec"]["paramKind"]["kind"] for value in objects if "paramKind" in value.get("spec", ())
    }
    for value in objects:
        place = {
            "apiGroups": (value["apiVersion"].rpartition("/")[0],),
            "resources": (plural(value, objects),),
        }
        found.append(
            {**place, "resourceNames": (value["metadata"]["name"],), "verbs": ("get", "create", "patch")}
        )
        if value["kind"] in parameters:
            found.append({**place, "verbs": ("get",)})
    return found


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    found: dict[str, list[str]] = {}
    for group, resource in pairs:
        found.setdefault(group, []).append(resource)
    return [(group, tuple(resources)) for group, resources in found.items()]


def _configuration(choices: Choices) -> Any:
    data = parsed(shipped(__package__, "30-configuration.yaml"))
    if choices.configuration:
        data["data"]["archfit.yaml"] = LiteralScalarString(choices.configuration)
    return data


def _cronjob(choices: Choices) -> Any:
    data = parsed(shipped(__package__, "50-cronjob.yaml"))
    data["spec"]["schedule"] = choices.schedule
    pod = data["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    container["image"] = choices.image
    container["command"] = one_line([*COMMAND, *choices.flags])
    if choices.registry_secret:
        use_registry_secret(pod, container, choices.registry_secret)
    return data


def _first_job(cronjob: Any, configuration: Any) -> CommentedMap:
    text = json.dumps([cronjob["spec"]["jobTemplate"]["spec"]["template"], configuration["data"]])
    template, _ = json.loads(text)  # without the comments, which keep the columns of the CronJob
    metadata = cronjob["metadata"]
    name = f"{NAME}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    return mapping(
        apiVersion="batch/v1",
        kind="Job",
        metadata=mapping(name=name, namespace=metadata["namespace"], labels=metadata["labels"]),
        spec=mapping(backoffLimit=3, activeDeadlineSeconds=1200, template=template),
    )
