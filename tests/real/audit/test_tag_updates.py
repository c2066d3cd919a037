"""Newer tags in the hands of the programs that change manifests: the real kustomize, and Renovate's own code."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

import machine
from archfit.images.candidates import NewerTag
from archfit.reports.tag_updates import TagUpdate, kustomize, renovate

RENOVATE = machine.ROOT / ".tools/node/renovate-config-validator/node_modules/renovate"
BOTH = ("linux/amd64", "linux/arm64")
DIGEST, NEW_DIGEST = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
IMAGES = [
    "quay.io/team/app:1.0.0",
    "localhost:5000/tool:v1.2.3-alpine3.18",
    f"docker.io/library/pinned:2.0.0@{DIGEST}",
    "shared:1.0.0",
    "shared:3.0.0",
    "nginx",
    "quay.io/team/application:1.0.0",
]


def newer(tag: str, **fields: Any) -> NewerTag:
    return NewerTag(tag, NEW_DIGEST, "minor", BOTH, **fields)


UPDATES = [
    TagUpdate(IMAGES[0], newer("1.1.0")),
    TagUpdate(IMAGES[1], newer("v1.3.0-alpine3.19", exact=False)),
    TagUpdate(IMAGES[2], newer("2.1")),
    TagUpdate(IMAGES[3], newer("1.1.0")),
]


def manifests() -> str:
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(IMAGES)]
    pod = {"containers": containers}
    return yaml.safe_dump(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"selector": {}, "template": {"metadata": {}, "spec": pod}},
        }
    )


@pytest.fixture
def folder(tmp_path):
    """A kustomization that ends with the block."""
    (tmp_path / "web.yaml").write_text(manifests(), encoding="utf-8")
    kept = [image for image in IMAGES if image not in {update.image for update in UPDATES}]
    block = kustomize(UPDATES, kept, "arm64", "4 of 4 images have one")
    (tmp_path / "kustomization.yaml").write_bytes(b"resources:\n- web.yaml\n" + block)
    return tmp_path


def run(folder: Path, *words: str, text: str = "", **environ: str) -> str:
    done = machine.run(
        words, cwd=folder, input=text, env={"HOME": str(folder), "PATH": os.environ["PATH"], **environ}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def images(text: str) -> list[str]:
    (workload,) = yaml.safe_load_all(text)
    return [container["image"] for container in workload["spec"]["template"]["spec"]["containers"]]


def test_kustomize_build_writes_the_tags_and_leaves_the_rest(real, folder):
    assert images(run(folder, real.tool("kustomize"), "build")) == [
        "quay.io/team/app:1.1.0",
        "localhost:5000/tool:v1.3.0-alpine3.19",
        f"docker.io/library/pinned:2.1@{NEW_DIGEST}",
        "shared:1.0.0",
        "shared:3.0.0",
        "nginx",
        "quay.io/team/application:1.0.0",
    ]


def test_kustomize_edit_reads_the_block_and_keeps_it(real, folder):
    run(folder, real.tool("kustomize"), "edit", "set", "image", "nginx:1.29")
    assert images(run(folder, real.tool("kustomize"), "build"))[::5] == [
        "quay.io/team/app:1.1.0",
        "nginx:1.29",
    ]


def test_an_empty_block_changes_nothing(real, folder):
    (folder / "kustomization.yaml").write_bytes(
        b"resources:\n- web.yaml\n" + kustomize([], IMAGES, "arm64", "0 of 1 image have one")
    )
    assert images(run(folder, real.tool("kustomize"), "build")) == IMAGES


def test_renovate_validates_the_rules(real, tmp_path):
    validator = real.tool("renovate-config-validator")
    for updates in (UPDATES, []):
        (tmp_path / "renovate.json").write_bytes(renovate(updates, "arm64", "4 of 4 images have one"))
        run(tmp_path, validator, "--strict", LOG_LEVEL="info")


def test_renovate_proposes_the_version_that_was_read_and_no_other(real, tmp_path):
    real.tool("renovate-config-validator")
    tags = {
        "quay.io/team/app": ["0.9.0", "1.0.0", "1.0.5", "1.1.0", "1.2.0", "2.0.0", "11100"],
        "docker.io/library/pinned": ["2.0.0", "2.1.0", "2.1"],
        "shared": ["1.0.0", "1.1.0", "3.0.0", "3.1.0"],
        "quay.io/team/application": ["1.0.0", "1.0.5", "1.1.0"],
    }
    rules = json.loads(renovate(UPDATES, "arm64", "4 of 4 images have one"))
    given = json.dumps({"rules": rules, "manifests": manifests(), "tags": tags})
    script = Path(__file__).parent / "renovate_updates.js"
    proposed = json.loads(run(tmp_path, "node", str(script), str(RENOVATE), text=given, LOG_LEVEL="fatal"))
    assert proposed["quay.io/team/app:1.0.0"] == ["1.1.0"]
    assert proposed["shared:1.0.0"] == ["1.1.0"]
    assert proposed["shared:3.0.0"] == ["3.1.0"]
    assert proposed["quay.io/team/application:1.0.0"] == ["1.0.5", "1.1.0"]
