"""The texts for kustomize and Renovate: which image gets an entry, and what is said of the others."""

import json

import pytest
import yaml

from archfit.images.candidates import NewerTag
from archfit.reports.tag_updates import TagUpdate, kustomize, name_and_tag, renovate

TAG = NewerTag("1.1.0", f"sha256:{'b' * 64}", "minor", ("linux/amd64", "linux/arm64"))
OLD = f"@sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("image", "name", "tag"),
    [
        pytest.param("nginx", "nginx", "", id="a-name"),
        pytest.param("nginx:1.27", "nginx", "1.27", id="a-tag"),
        pytest.param("localhost:5000/app", "localhost:5000/app", "", id="a-port"),
        pytest.param("localhost:5000/a/app:1", "localhost:5000/a/app", "1", id="a-port-and-a-tag"),
        pytest.param(f"app:1{OLD}", "app", "1", id="a-digest"),
        pytest.param(f"app{OLD}", "app", "", id="a-digest-alone"),
    ],
)
def test_name_and_tag(image, name, tag):
    assert name_and_tag(image) == (name, tag)


@pytest.mark.parametrize(
    ("updates", "kept", "entries", "said"),
    [
        pytest.param([("app:1.0.0", TAG)], [], [{"name": "app", "newTag": "1.1.0"}], "1.0.0: minor", id="one"),
        pytest.param([("app:1.0.0", TAG)], ["app:1.1.0", "apple:9"], [{"name": "app", "newTag": "1.1.0"}], "1.0.0: minor", id="it-is-there-already"),
        pytest.param([("app:1.0.0", TAG.replace(exact=False))], [], [{"name": "app", "newTag": "1.1.0"}], "minor; a smaller step may exist", id="at-most"),
        pytest.param([("app:1.0.0", TAG), ("app:1.0.1", TAG)], [], [{"name": "app", "newTag": "1.1.0"}], "1.0.0, 1.0.1: minor", id="two-tags-become-one"),
        pytest.param([("app:1.0.0", TAG), ("app:2.0.0", TAG.replace(tag="2.1.0"))], [], None, "# app is left out: its tags become 1.1.0 and 2.1.0. kustomize knows one tag for a name.", id="two-tags-become-two"),
        pytest.param([("app:1.0.0", TAG)], ["app:3.0.0"], None, "# app is left out: it is also there as 3.0.0, which stays.", id="another-tag-stays"),
        pytest.param([("app:1.0.0", TAG)], ["app"], None, "# app is left out: it is also there as latest, which stays.", id="no-tag-stays"),
        pytest.param([("app:1.0.0", TAG)], [f"app{OLD}"], None, "# app is left out", id="a-digest-stays"),
        pytest.param([(f"app:1.0.0{OLD}", TAG)], [], [{"name": "app", "newTag": "1.1.0", "digest": TAG.digest}], "minor", id="a-pin-stays-a-pin"),
        pytest.param([("app:1.0.0", TAG)], [f"app:1.1.0{OLD}"], None, f"# app is left out: it is also there as 1.1.0{OLD}, which stays.", id="a-pin-to-other-bytes-stays"),
        pytest.param([("app:1.0.0", TAG)], [f"app:1.1.0@{TAG.digest}"], [{"name": "app", "newTag": "1.1.0", "digest": TAG.digest}], "1.0.0: minor", id="a-pin-to-the-same-bytes-stays-a-pin"),
        pytest.param([("app:1.0.0", TAG), ("app:1.1.0-rc", TAG.replace(step="patch", exact=False))], [], [{"name": "app", "newTag": "1.1.0"}], "1.0.0, 1.1.0-rc: minor and patch; a smaller step may exist", id="one-of-two-is-at-most"),
        pytest.param([("app:1", TAG.replace(tag="1.10"))], [], [{"name": "app", "newTag": "1.10"}], "minor", id="a-tag-like-a-number"),
        pytest.param([("on:1", TAG.replace(tag="0x1f"))], [], [{"name": "on", "newTag": "0x1f"}], "minor", id="a-name-like-a-boolean"),
        pytest.param([("{{x}}:1", TAG)], [], None, "images: []", id="no-name"),
        pytest.param([], ["app:1"], None, "images: []", id="nothing"),
    ],
)  # fmt: skip
def test_the_block_of_kustomize(updates, kept, entries, said):
    text = kustomize([TagUpdate(*one) for one in updates], kept, "arm64", "1 of 2 images have one").decode()
    assert text.startswith("# Newer tags that were read to have arm64, by archfit: 1 of 2 images have one.\n")
    assert yaml.safe_load(text) == {"images": entries or []}
    assert said in text


@pytest.mark.parametrize(
    ("updates", "rules"),
    [
        pytest.param([("app:1.0.0", TAG)], [("app", "/^1\\.0\\.0$/", "/^1\\.1\\.0$/")], id="one"),
        pytest.param([("app:1.0.0", TAG), ("app:2.0.0", TAG.replace(tag="2.1.0"))], [("app", "/^1\\.0\\.0$/", "/^1\\.1\\.0$/"), ("app", "/^2\\.0\\.0$/", "/^2\\.1\\.0$/")], id="two-tags"),
        pytest.param([("app:1_0-a", TAG.replace(tag="1_1-a"))], [("app", "/^1_0-a$/", "/^1_1-a$/")], id="other-characters"),
        pytest.param([("app:1.1.0", TAG.replace(step="same"))], [], id="the-same-tag"),
        pytest.param([("{{x}}:1", TAG)], [], id="no-name"),
        pytest.param([], [], id="nothing"),
    ],
)  # fmt: skip
def test_the_rules_of_renovate(updates, rules):
    written = json.loads(renovate([TagUpdate(*one) for one in updates], "arm64", "1 of 2 images have one"))
    assert written["description"] == [
        "Newer tags that were read to have arm64, by archfit",
        "1 of 2 images have one",
    ]
    assert [
        (*rule["matchPackageNames"], rule["matchCurrentValue"], rule["allowedVersions"])
        for rule in written["packageRules"]
    ] == rules


def test_the_same_updates_give_the_same_bytes_whatever_their_order():
    updates = [TagUpdate("b:1", TAG), TagUpdate("a:1", TAG), TagUpdate("a:2", TAG)]
    for write in (lambda some: kustomize(some, [], "arm64", ""), lambda some: renovate(some, "arm64", "")):
        assert write(updates) == write(updates[::-1])
