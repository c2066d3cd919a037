"""docs/argocd.md is true: its examples are the recipe's files, its tables have every row, its components build."""

import re

import pytest
import yaml

import machine
from archfit.integrations.argocd import setup
from archfit.integrations.argocd.source_parameters import ROWS, SOURCES
from argocd_blocks import BLOCKS as FORM_BLOCKS
from argocd_blocks import PAGE as BLOCKS_PAGE
from argocd_blocks import Block

PAGE = (machine.ROOT / "docs" / "argocd.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = setup.files(discover=False, sidecar_image=setup.SIDECAR_IMAGE, bundle_image=setup.BUNDLE_IMAGE)


def test_the_application_is_the_recipes():
    assert ("yaml", FILES["sidecar/application.yaml"]) in BLOCKS


def test_every_parameter_is_in_the_table_with_its_form():
    shown = dict(re.findall(r"^\| `([a-z-]+)` \| (string|array|map) \|", PAGE, re.MULTILINE))
    assert shown == {row.name: "string" if row.shape == "boolean" else row.shape for row in ROWS}
    assert all(f"`{source}`" in PAGE for source in SOURCES)


@pytest.mark.parametrize("folder", ["sidecar", "build-options"])
def test_the_components_are_where_the_page_says(folder):
    assert f"components: [argocd-archfit/{folder}]" in PAGE
    assert f"{folder}/kustomization.yaml" in FILES
    assert f"-f argocd-archfit/{folder}/Dockerfile ." in PAGE
    assert f"-f argocd-archfit/{folder}/Dockerfile ." in FILES[f"{folder}/Dockerfile"]


def _component(block: Block) -> dict:
    folder = "sidecar" if "sidecar" in block.heading else "build-options"
    return yaml.safe_load(FILES[f"{folder}/repo-server.yaml"])["spec"]["template"]["spec"]


def _named(items: list[dict]) -> set[str]:
    return {item["name"] for item in items}


def test_each_way_has_a_block_for_each_form():
    assert {block.heading for block in FORM_BLOCKS} == {
        f"The {way}, {form}" for way in ("sidecar", "function") for form in ("Helm chart", "operator")
    }


@pytest.mark.parametrize("block", FORM_BLOCKS, ids=lambda block: block.heading)
def test_a_block_adds_what_the_component_adds(block):
    wanted = _component(block)
    kind = "containers" if "sidecar" in block.heading else "initContainers"
    [container], [theirs] = block.items(kind), wanted[kind]
    if block.form == "operator":
        del theirs["securityContext"]["runAsUser"]
    assert container.pop("image") == theirs.pop("image").replace(
        "registry.example.com", "registry.corp.example"
    )
    assert container == theirs
    assert block.items("volumes") == wanted["volumes"]
    if kind == "initContainers":
        [server] = wanted["containers"]
        assert block.items("volumeMounts") == server["volumeMounts"]
        assert block.items("env") == server["env"]
        assert _named(block.items("volumeMounts")) == _named(block.items("volumes"))
        assert {"kustomize.buildOptions": block.build_options} == yaml.safe_load(
            FILES["build-options/argocd-cm.yaml"]
        )["data"]
    else:
        # The installation has these two itself.
        assert _named(container["volumeMounts"]) - {"var-files", "plugins"} == _named(block.items("volumes"))


@pytest.mark.parametrize("name", ["archfit-plugin", "archfit-function"])
def test_the_page_makes_the_config_maps_that_the_blocks_mount(name):
    folder = {"archfit-plugin": "sidecar", "archfit-function": "build-options"}[name]
    [made] = re.findall(rf"create configmap {name} .*?apply -f -", BLOCKS_PAGE, re.DOTALL)
    files = re.findall(r"--from-file argocd-archfit/(\S+)", made)
    generator = yaml.safe_load(FILES[f"{folder}/kustomization.yaml"])["configMapGenerator"][0]
    assert files == [f"{folder}/{file}" for file in generator["files"]]
