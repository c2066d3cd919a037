"""What the images of a lock file offer, as a table for CEL."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import Found, parse_platform
from archfit.options.settings import Options
from archfit.options.text_form import image_platforms
from archfit.policy.cel.platform_table import platform_table, stated_classes
from pod_decisions import found

SINGLE = found("amd64", index=False)
VOLUMES = ["volume", "volume with a runtime class"]
ROLES = ["container", "container with a runtime class", *VOLUMES]


@pytest.mark.parametrize(
    ("answer", "offers"),
    [
        pytest.param(found("amd64 arm64"), {"linux": ["amd64", "arm64"]}, id="an index"),
        pytest.param(SINGLE, {"linux": ["amd64"], "unrestricted": VOLUMES}, id="a single manifest"),
        pytest.param(found("amd64 windows/amd64"), {"linux": ["amd64"], "windows": ["amd64"]}, id="two operating systems"),
        pytest.param(Found((), index=False, image=False), {"unrestricted": ROLES}, id="an artifact"),
        pytest.param(found("wasi/wasm"), {"unrestricted": ROLES}, id="WebAssembly alone"),
        pytest.param(found("wasi/wasm amd64"), {"linux": ["amd64"], "unrestricted": [role for role in ROLES if role.endswith("class")]}, id="WebAssembly beside native code"),
        pytest.param(found("386"), {"linux": ["386", "amd64"]}, id="386 runs on amd64"),
        pytest.param(found("arm/v7 arm64"), {"linux": ["arm", "arm64"]}, id="any variant of arm"),
        pytest.param(found("amd64/v3 arm64"), {"linux": ["arm64"]}, id="a higher variant does not count"),
        pytest.param(found("amd64/v3", index=False), {"linux": ["amd64"], "unrestricted": VOLUMES}, id="but alone"),
        pytest.param(found("freebsd/amd64"), {}, id="another operating system"),
    ],
)  # fmt: skip
def test_the_class_of_an_answer(answer: Found, offers: dict[str, list[str]]):
    table = platform_table({"quay.io/team/app:1": answer}, Options())
    assert table.images == {"quay.io/team/app:1": "a"}
    assert table.classes == {"a": offers}
    assert table.left_out == ()


def test_equal_answers_are_written_once():
    images = {
        f"quay.io/team/app:{n}": found("amd64" if n % 2 else "arm64", digest=f"sha256:{n}") for n in range(9)
    }
    table = platform_table(images, Options())
    assert len(table.classes) == 2
    assert len(table.images) == 9


def test_an_image_none_of_whose_entries_counts_is_left_out_with_the_reason():
    table = platform_table({"quay.io/team/app:1": found("amd64/v3")}, Options())
    assert (table.images, table.classes) == ({}, {})
    ((name, reason),) = table.left_out
    assert name == "quay.io/team/app:1"
    assert "no entry of its index counts (linux/amd64/v3)" in reason


def test_it_counts_as_what_is_assumed_where_the_user_says_so():
    options = Options(on_unknown="assume", assume=(parse_platform("amd64"),))
    table = platform_table({"quay.io/team/app:1": found("amd64/v3")}, options)
    assert table.classes == {"a": {"linux": ["amd64"]}}


def test_an_image_counts_in_the_roles_in_which_it_does():
    table = platform_table({"quay.io/team/app:1": found("amd64/v3 wasi/wasm")}, Options())
    assert table.classes == {
        "a": {
            "unrestricted": ["container with a runtime class", "volume with a runtime class"],
            "unanswered": ["container", "volume"],
        }
    }


def test_images_with_an_override_are_left_to_the_override():
    options = Options(image_platforms=(image_platforms("quay.io/team/*=linux/arm64"),))
    table = platform_table({"quay.io/team/app:1": found("amd64"), "quay.io/else:1": found("amd64")}, options)
    assert list(table.images) == ["quay.io/else:1"]
    assert [offers for _, offers in stated_classes(options)] == [{"linux": ["arm64"]}]


def test_overrides_that_disagree_about_a_locked_image_are_an_error():
    rows = (image_platforms("quay.io/t*/app=linux/arm64"), image_platforms("quay.io/*m/app=linux/amd64"))
    with pytest.raises(UsageError, match=r"match quay.io/team/app:1 equally well"):
        platform_table({"quay.io/team/app:1": found("amd64")}, Options(image_platforms=rows))
