"""What the images of a lock file run on, as a table for CEL, and the same read back."""

import json
from typing import Any

import jsonschema
import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import Found, parse_platform
from archfit.options.architectures import image_platforms
from archfit.options.settings import Options
from archfit.policy.images import left_out
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import (
    MAX_LITERAL_IMAGES,
    as_found,
    fitting,
    installed_table,
    platform_table,
    table_objects,
)
from pod_decisions import found

APP = "quay.io/team/app:1"
BOTH = ["amd64", "arm64"]


@pytest.mark.parametrize(
    ("answer", "row"),
    [
        pytest.param(found("amd64 arm64"), BOTH, id="an index"),
        pytest.param(found("amd64", index=False), ["amd64", "manifest"], id="a single manifest"),
        pytest.param(found("amd64 windows/amd64"), ["amd64"], id="two operating systems"),
        pytest.param(Found((), index=False, image=False), BOTH, id="an artifact"),
        pytest.param(found("wasi/wasm"), BOTH, id="WebAssembly alone"),
        pytest.param(found("wasi/wasm amd64"), ["amd64"], id="WebAssembly beside native code"),
        pytest.param(found("386"), ["amd64"], id="386 runs on amd64"),
        pytest.param(found("amd64/v3 arm64"), ["arm64"], id="a higher variant does not count"),
        pytest.param(found("amd64/v3", index=False), ["amd64", "manifest"], id="but alone"),
        pytest.param(found("s390x arm64"), ["arm64"], id="an architecture outside the cluster"),
        pytest.param(found("freebsd/amd64"), [], id="another operating system"),
    ],
)  # fmt: skip
def test_the_row_of_an_answer(answer, row):
    assert platform_table({APP: answer}, Options()) == ({APP: row}, [])


def test_an_image_none_of_whose_entries_counts_is_left_out_with_the_reason():
    table, [(name, reason)] = platform_table({APP: found("amd64/v3")}, Options())
    assert (table, name) == ({}, APP)
    assert "no entry of its index counts (linux/amd64/v3)" in reason


def test_it_counts_as_what_is_assumed_where_the_user_says_so():
    options = Options(on_unknown="assume", assume=(parse_platform("amd64"),))
    assert platform_table({APP: found("amd64/v3")}, options) == ({APP: ["amd64"]}, [])


def test_what_is_stated_counts_before_an_answer():
    options = Options(image_platforms=(image_platforms("quay.io/team/*=linux/arm64"),))
    images = {APP: found("amd64"), "quay.io/else:1": found("amd64")}
    assert platform_table(images, options)[0] == {APP: ["arm64"], "quay.io/else:1": ["amd64"]}


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        pytest.param(("quay.io/t*/app=linux/arm64", "quay.io/*m/app=linux/amd64"), f"match {APP} equally well", id="two that disagree"),
        pytest.param(("quay.io/*=linux/amd64/v3",), f"imagePlatforms: {APP}: none of the stated platforms counts", id="none that counts"),
    ],
)  # fmt: skip
def test_statements_that_cannot_be_obeyed_are_an_error(stated, message):
    options = Options(image_platforms=tuple(map(image_platforms, stated)))
    with pytest.raises(UsageError, match=message):
        platform_table({APP: found("amd64")}, options)


def many(number: int) -> dict[str, list[str]]:
    return {f"registry.example.com/team/service-{n:06}/application:1.2.3": ["amd64"] for n in range(number)}


@pytest.mark.parametrize(
    ("table", "carrier", "held"),
    [
        pytest.param(many(MAX_LITERAL_IMAGES), "literal", MAX_LITERAL_IMAGES, id="as-many-as-fit"),
        pytest.param(many(MAX_LITERAL_IMAGES + 100), "literal", MAX_LITERAL_IMAGES, id="one-hundred-more"),
        pytest.param(many(MAX_LITERAL_IMAGES + 100), "crd", MAX_LITERAL_IMAGES + 100, id="the-other-carrier"),
        pytest.param({f"registry.example.com/{'x' * 240}:{n:0120}": BOTH for n in range(5_000)}, "literal", range(3_000, 4_900), id="the-longest-names"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_left_out_and_the_rest_is_a_policy(table, carrier, held):
    settings = PolicySettings(carrier=carrier)
    kept, left = fitting(table, settings)
    assert len(kept) in (held if isinstance(held, range) else [held])
    assert [*kept, *left] == list(table)
    remedies = {
        "literal": "; --carrier crd holds more",
        "crd": "; write policies for several groups of namespaces",
    }
    assert all(remedies[carrier] in result.text for result in left_out(left, carrier))
    assert len(left_out(left, carrier)) == bool(left)
    made = policy_objects(kept, Options(), settings)
    assert max(len(json.dumps(one)) for one in made) < 1_572_864  # etcd, --max-request-bytes


@pytest.mark.parametrize(
    ("number", "carrier", "message"),
    [
        pytest.param(MAX_LITERAL_IMAGES + 1, "literal", r"5001 images.*5000.*--carrier crd", id="literals"),
        pytest.param(30_000, "crd", r"30000 images.*fewer images", id="etcd"),
    ],
)
def test_more_images_than_a_carrier_holds_are_refused(number, carrier, message):
    with pytest.raises(UsageError, match=message):
        policy_objects(many(number), Options(), PolicySettings(carrier=carrier))


def installed(table: dict[str, list[str]], carrier: Any) -> dict[str, list[str]]:
    objects = policy_objects(table, Options(), PolicySettings(carrier=carrier))
    by_kind = {one["kind"]: one for one in objects}
    return installed_table(by_kind["MutatingAdmissionPolicy"], by_kind.get("PlatformTable"))


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_every_row_is_read_back_and_makes_the_same_row(carrier):
    table = {"quay.io/it's:1": BOTH, APP: ["amd64", "manifest"], "quay.io/none:1": [], **many(1500)}
    again = installed(table, carrier)
    assert again == table
    assert platform_table({name: as_found(row) for name, row in again.items()}, Options()) == (table, [])


@pytest.mark.parametrize(
    "wrong", [[], {}, {"images": []}, {"images": {"a": "amd64"}}, {"images": {"a": [1]}}], ids=str
)
def test_a_custom_resource_is_what_its_definition_takes_and_nothing_else_is(wrong):
    definition, resource = table_objects({APP: BOTH}, PolicySettings(carrier="crd"))
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    jsonschema.validate(resource, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"spec": {"variables": []}}, id="no variables"),
        pytest.param({"spec": {"variables": [{"name": "platforms", "expression": "open("}]}}, id="another's expression"),
        pytest.param({"spec": {"variables": [{"name": "platforms1", "expression": "[1]"}]}}, id="a list"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_empty_table(policy):
    assert installed_table(policy, None) == {}
