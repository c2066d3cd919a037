"""Every kind of pod that the policy leaves alone has its reason for `archfit policy --check`."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

from typing import Any

import pytest

from archfit.base.patch import Add
from archfit.images.platforms import ImagePlatforms, parse_platform
from archfit.options.settings import Options
from archfit.policy.cel.left_alone import LEFT_ALONE, MAX_IMAGES, MAX_VALUES, reason
from archfit.webhook.admitted_pod import admitted_pod, at_admission

TABLE = {"docker.io/library/app:1": {"linux": ["amd64"]}}
SENTENCES = {one.id: one.sentence for one in LEFT_ALONE}
OPTIONS = at_admission(Options())


def found(
    spec: dict[str, Any], options: Options = OPTIONS, patch: tuple[Add, ...] = (), **annotations: str
) -> str:
    notes = {f"archfit.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    value = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"annotations": notes},
        "spec": {"containers": [{"name": "a", "image": "app:1"}], **spec},
    }
    return reason(admitted_pod(value, "shop", options), options, TABLE, patch)


def term(key: str, *values: str) -> dict[str, Any]:
    expression = {"key": key, "operator": "In", "values": list(values)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


@pytest.mark.parametrize(
    ("row", "spec"),
    [
        pytest.param("other-system", {"nodeSelector": {"kubernetes.io/os": "freebsd"}}, id="selected system"),
        pytest.param("other-system", term("kubernetes.io/os", "linux", "freebsd"), id="system of a term"),
        pytest.param("long-number", term("kubernetes.io/arch", "1" * 19), id="long number"),
        pytest.param("", term("kubernetes.io/os", "linux", "windows"), id="known systems"),
        pytest.param("", term("zone", "1" * 19), id="a number elsewhere"),
        pytest.param("too-large", {"containers": [{"name": f"c{n}", "image": "app:1"} for n in range(MAX_IMAGES + 1)]}, id="many images"),
        pytest.param("too-large", term("kubernetes.io/arch", *(f"a{n}" for n in range(MAX_VALUES + 1))), id="many architectures"),
        pytest.param("", term("zone", *(f"a{n}" for n in range(MAX_VALUES + 1))), id="many zones"),
        pytest.param("", {}, id="nothing"),
    ],
)  # fmt: skip
def test_a_row_is_found_by_its_pod(row: str, spec: dict[str, Any]):
    assert found(spec) == SENTENCES.get(row, "")


@pytest.mark.parametrize(
    ("row", "terms"), [pytest.param("two-systems", 2, id="two terms"), pytest.param("", 1, id="one term")]
)
def test_a_pod_that_gets_a_term_for_each_system(row: str, terms: int):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}] * terms}}
    patch = (Add(("spec", "affinity"), {"nodeAffinity": required}),)
    assert found({}, patch=patch) == SENTENCES.get(row, "")


def test_stated_platforms_that_the_policy_does_not_know():
    assert found({}, image_platforms="freebsd/amd64") == SENTENCES["stated-platforms"]
    assert found({}, image_platforms="linux/amd64") == ""


def test_an_unlisted_image_is_named_unless_the_configuration_states_it():
    spec = {"containers": [{"name": "a", "image": "app:1"}, {"name": "b", "image": "new:2"}]}
    assert found(spec) == "the policy does not know new:2: renew it with archfit policy"
    stated = OPTIONS.replace(image_platforms=(ImagePlatforms("docker.io/*", (parse_platform("amd64"),)),))
    assert found(spec, stated) == ""
