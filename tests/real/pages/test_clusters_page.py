"""The objects of docs/clusters.md are what Argo CD, Flux and Rancher Fleet take, by the definitions that they publish.

fleet.yaml is no object: its fields are those of a Bundle, with `targets` called `targetCustomizations` (fleet,
pkg/apis/fleet.cattle.io/v1alpha1, FleetYAML).
"""

import re

import pytest
import yaml

import published_crds
from published_crds import Module
from schema_judge import SchemaJudge

_MODULES = (
    Module(
        "github.com/argoproj/argo-cd/v3",
        "v3.5.1",
        "h1:jtwPLEFX9mNj3jSq88ugFcScGnOZVs2DWaXFuZxrRT8=",
        ("manifests/crds/applicationset-crd.yaml",),
    ),
    Module(
        "github.com/fluxcd/kustomize-controller",
        "v1.9.6",
        "h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=",
        ("config/crd/bases/*.yaml",),
    ),
    Module(
        "github.com/rancher/fleet",
        "v0.12.0",
        "h1:NR5FHZjzg37/DtqN8lvrGbQY8Z/Jst/RF4SuqDrQi9o=",
        ("charts/fleet-crd/templates/crds.yaml",),
    ),
)
_BUNDLE = {"apiVersion": "fleet.cattle.io/v1alpha1", "kind": "Bundle", "metadata": {"name": "web"}}


@pytest.fixture(scope="module")
def judge(real):
    """With the kinds of the page."""
    with SchemaJudge(real.go_build(real.ROOT / "tests" / "judges" / "schema", "schema_judge")) as running:
        running.load(published_crds.files(_MODULES))
        yield running


@pytest.fixture(scope="module")
def blocks(real):
    """The blocks of YAML by their kind; a file that is no object by its comment."""
    text = (real.ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
    found = {}
    for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if block.startswith("# helmfile.yaml"):
            continue  # a template, and helmfile is no program of the tests: the page says so
        value = yaml.safe_load(block)
        found[value.get("kind", block.splitlines()[0].removeprefix("# "))] = value
    return found


@pytest.mark.parametrize("kind", ["ApplicationSet", "Kustomization"])
def test_an_object_is_accepted(kind, judge, blocks):
    assert judge.knows(blocks[kind]) == "schema"
    assert judge.errors(blocks[kind]) == []


def test_the_file_of_fleet_is_a_bundle_with_customized_targets(judge, blocks):
    written = dict(blocks["fleet.yaml"])
    targets = written.pop("targetCustomizations")
    bundle = {**_BUNDLE, "spec": {**written, "targets": targets}}
    assert judge.knows(bundle) == "schema"
    assert judge.errors(bundle) == []
    assert [target["kustomize"]["dir"] for target in targets] == ["archfit/prod", "archfit/edge"]
