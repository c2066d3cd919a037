"""examples/pulumi_transform.py under Pulumi's own mocks, which hand over what the engine would."""

import json
from typing import Any

import pytest

from machine import ROOT

STACK = """
import json

import pulumi
from pulumi.runtime import Mocks, set_mocks, test


class Engine(Mocks):
    def __init__(self):
        self.transforms, self.made = [], {}

    def register_transform(self, transform):
        self.transforms.append(transform)

    def new_resource(self, args):
        props = args.inputs
        for transform in self.transforms:
            options = pulumi.ResourceOptions()
            result = transform(pulumi.ResourceTransformArgs(args.custom, args.typ, args.name, props, options))
            props = result.props if result else props
        self.made[args.name] = [args.inputs, props]
        return args.name, props

    def call(self, args):
        return {}


engine = Engine()
set_mocks(engine, preview=False)

from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.batch.v1 import Job
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace
from pulumi_transform import place


def pods(image, **more):
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": image}], **more}}


@test
def program():
    pulumi.runtime.register_resource_transform(place)
    selector = {"match_labels": {"app": "a"}}
    for name, image in (("amd", "amd.example/app:1"), ("every", "nginx:1.27")):
        Deployment(name, spec={"selector": selector, "replicas": 2, "template": pods(image)})
    Job("once", spec={"template": pods("nginx:1.27", restart_policy="Never")})
    ConfigMap("settings", data={"image": "amd.example/app:1"})
    Namespace("shop")


program()
print(json.dumps(engine.made))
"""


@pytest.mark.real
def test_workloads_of_a_stack_are_placed_and_nothing_else_changes(run_python, tmp_path):
    (tmp_path / "stack.py").write_text(STACK)
    (tmp_path / "pulumi_transform.py").write_text((ROOT / "examples" / "pulumi_transform.py").read_text())
    made: dict[str, list[dict[str, Any]]] = json.loads(run_python("pulumi", "stack.py").splitlines()[-1])
    added = {name: added_to(*both) for name, both in made.items()}
    assert added == {
        "amd": ["affinity"],
        "every": ["tolerations"],
        "once": ["tolerations"],
        "settings": [],
        "shop": [],
    }


def added_to(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The fields that the pod spec got. Raises AssertionError where anything else differs."""
    spec = after.get("spec", {}).get("template", {}).get("spec", {})
    had = before.get("spec", {}).get("template", {}).get("spec", {})
    fields = sorted(set(spec) - set(had))
    for field in fields:
        del spec[field]
    assert after == before
    return fields
