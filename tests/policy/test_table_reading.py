"""The table of an installed policy is read back as it was written, whatever carries it."""

from __future__ import annotations

from typing import Any

import pytest

from archfit.images.platforms import Found
from archfit.options.settings import Options
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.platform_table import as_found, installed_table, platform_table
from archfit.policy.cel.policy_settings import PolicySettings
from pod_decisions import found

IMAGES: dict[str, Found] = {
    "docker.io/library/both:1": found("amd64 arm64"),
    "docker.io/library/old:1": found("386"),
    "quay.io/team/single:1": found("arm64", index=False),
    "quay.io/team/windows:1": found("amd64 windows/amd64"),
    "quay.io/team/wasm:1": found("amd64 wasi/wasm"),
    "quay.io/team/only-wasm:1": found("wasi/wasm"),
    "quay.io/team/chart:1": Found((), "sha256:0", image=False),
    "quay.io/team/other:1": found("arm64 s390x"),
}


def written(images: dict[str, Found], carrier: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    objects = policy_objects(images, Options(), PolicySettings(carrier=carrier))
    by_kind = {one["kind"]: one for one in objects}
    return by_kind["MutatingAdmissionPolicy"], by_kind.get("PlatformTable")


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_every_class_is_read_back_and_makes_the_same_class(carrier: str):
    table = installed_table(*written(IMAGES, carrier))
    assert set(table) == set(IMAGES)
    again = {name: as_found(offers) for name, offers in table.items()}
    first, second = platform_table(IMAGES, Options()), platform_table(again, Options())
    assert {name: first.classes[code] for name, code in first.images.items()} == {
        name: second.classes[code] for name, code in second.images.items()
    }


def test_all_pieces_of_a_large_table_are_read():
    many = {f"registry.example.com/team/application-{n:05}:1.{n}": found("amd64") for n in range(4000)}
    assert set(installed_table(*written(many, "literal"))) == set(many)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"spec": {"variables": []}}, id="no variables"),
        pytest.param({"spec": {"variables": [{"name": "classes", "expression": "open("}]}}, id="another's expression"),
        pytest.param({"spec": {"variables": [{"name": "images1", "expression": "[1]"}]}}, id="a list"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_empty_table(policy: dict[str, Any]):
    assert installed_table(policy, None) == {}
