"""What `archfit setup policy` writes: Jobs that write the policy, and the least that they may do.

The texts are the rendering of charts/archfit in files/, made by scripts/setup_manifests.py with every optional part;
what the user did not choose is taken out here. kubectl applies files of a folder by their names.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ruamel.yaml.scalarstring import LiteralScalarString

from archfit.cli.setup.own_pods import IMAGE, NAMESPACE, name_registry_secret, namespace
from archfit.cli.setup.yaml_files import one_line, parsed, shipped, written
from archfit.policy.settings import PolicySettings
from archfit.startup.record import Record

SCHEDULE = "17 * * * *"
NAME = "archfit-policy"
_RENDERED = "archfit.dev"  # the name of the policy in the rendering
COMMAND = ("archfit", "policy", "--live", "--apply")


class PolicyChoices(Record):
    """What the user chose. flags: of `archfit policy`, for the job. configuration: the text of archfit.yaml, or "".

    registry_secret: a Secret of type kubernetes.io/dockerconfigjson, "" for none.
    """

    image: str = IMAGE
    schedule: str = SCHEDULE
    flags: tuple[str, ...] = ()
    configuration: str = ""
    registry_secret: str = ""


def files(settings: PolicySettings, choices: PolicyChoices) -> dict[str, str]:
    """File name -> text."""
    configuration, cronjob = _configuration(choices), _cronjob(choices)
    return {
        "00-namespace.yaml": namespace(NAMESPACE),
        "10-access.yaml": _access(settings),
        "30-configuration.yaml": written(configuration),
        "50-cronjob.yaml": written(cronjob),
        "60-first-job.yaml": written(_first_job(cronjob, configuration)),
    }


def _access(settings: PolicySettings) -> str:
    """ServiceAccount, ClusterRole and binding; the role names the objects of this policy."""
    account, binding = shipped(__package__, "10-access.yaml").split("---\n")
    role = parsed(shipped(__package__, f"10-access-{settings.carrier}.yaml"))
    role["rules"] = [
        rule for rule in role["rules"] if settings.deny or rule.get("resourceNames") != [f"{_RENDERED}-deny"]
    ]
    for rule in role["rules"]:
        if "resourceNames" in rule and rule["resourceNames"][0].startswith(_RENDERED):
            rule["resourceNames"][0] = settings.name + rule["resourceNames"][0].removeprefix(_RENDERED)
    return "---\n".join((written(parsed(account)), written(role), written(parsed(binding))))


def _configuration(choices: PolicyChoices) -> Any:
    data = parsed(shipped(__package__, "30-configuration.yaml"))
    if choices.configuration:
        data["data"]["archfit.yaml"] = LiteralScalarString(choices.configuration)
    return data


def _cronjob(choices: PolicyChoices) -> Any:
    data = parsed(shipped(__package__, "50-cronjob.yaml"))
    data["spec"]["schedule"] = choices.schedule
    pod = data["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    container["image"] = choices.image
    container["command"] = one_line([*COMMAND, *choices.flags])
    name_registry_secret(pod, container, choices.registry_secret)
    return data


def _first_job(cronjob: Any, configuration: Any) -> Any:
    """The pod of the CronJob. A Job cannot be changed, so another pod or configuration is another name."""
    text = json.dumps([cronjob["spec"]["jobTemplate"]["spec"]["template"], configuration["data"]])
    data = parsed(shipped(__package__, "60-first-job.yaml"))
    data["metadata"]["name"] = f"{NAME}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    # Without the comments, which keep the columns of the CronJob.
    data["spec"]["template"] = json.loads(text)[0]
    return data
