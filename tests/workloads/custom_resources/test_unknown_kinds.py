"""Kinds without a row: whatever may hold a pod is named once, and no row is shown that its schema refuses."""

import importlib.util
import re
from typing import Any

import pytest
import yaml
from tests.real.custom_resources.crd_fields import catalogue

import machine
from archfit.options.config_file import from_file
from archfit.options.layers import merge
from archfit.options.settings import Exclude, Options
from archfit.workloads.builtin import own_rows
from archfit.workloads.inventory import is_podless
from archfit.workloads.unsupported.unknown_kinds import KINDS, OF_OTHERS
from stream_edits import edited

HEAD = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"


def said(text: str, options: Options | None = None) -> list[str]:
    output = edited(text.encode(), options)
    assert output.data == text.encode()
    return [str(result) for result in output.edits.messages]


def thing(group: str, kind: str, spec: str = "{}") -> str:
    return f"apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"


def listed() -> list[tuple[str, str, str]]:
    lines = (line.partition(" ") for line in KINDS.split("\n")[1:-1])
    return [(*name.rsplit("/", 1), text) for name, _, text in lines]


def test_the_table_follows_the_facts():
    """If not: python scripts/known_kinds.py."""
    spec = importlib.util.spec_from_file_location(
        "known_kinds_script", machine.ROOT / "scripts" / "known_kinds.py"
    )
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.OUTPUT.read_text(encoding="utf-8") == script.table(catalogue())


def test_each_kind_of_the_table_is_named_and_each_row_stands_in_its_schema():
    found = catalogue()
    named, shown = 0, 0
    for group, kind, text in listed():
        if own_rows(group, kind):
            continue
        assert is_podless(f"{group}/v1", kind) is False
        results = said(thing(group, kind))
        assert len(results) == (f"{group}/{kind}" not in OF_OTHERS), (group, kind, results)
        named += len(results)
        row = re.search(r"add this to the configuration file: (spec: .*) \(document", "".join(results))
        assert bool(row) == text.startswith("{")
        if row:
            shown += 1
            assert_in_schema(row[1], found[f"{group}/{kind}"])
    assert named > 400
    assert shown > 300


def assert_in_schema(row: str, kind: dict[str, Any]) -> None:
    """Every path of a row is one of the schema's, as the kind's storage version has it."""
    fields = kind["versions"][kind.get("storage") or max(kind["versions"])]
    fields = kind["versions"][fields[1:]] if isinstance(fields, str) else fields
    for options in merge([from_file((HEAD + row).encode(), "archfit.yaml")]).options.workloads:
        assert options.kind
    pods = {entry.partition("|")[0]: entry for entry in fields.get("podspecs", ())}
    for one in yaml.safe_load(row)["spec"]["workloads"]:
        path = one["podSpec"]
        for name in ("affinity", "tolerations", "nodeSelector"):
            places = [entry.partition("|") for entry in fields.get("placement", {}).get(name, ())]
            has = any(f"{path}.{name}" == at and mark in {"", "untyped"} for at, _, mark in places) or (
                path in pods and f"-{name}" not in re.split(r"[|,]", pods[path])
            )
            assert has == (one.get(name) != "none"), (path, name)
        images = {image.replace("{repository,tag}", "repository+tag") for image in fields.get("images", ())}
        images = {image.replace("{name,tag}", "name+tag") for image in images}
        assert set(one.get("images", ())) <= images


NO_ROW = [
    pytest.param(
        thing("database.example.com", "Server", "{dockerImage: 'app:1', replicas: 2}"),
        "it names an image at spec.dockerImage, and archfit has no row for it; place them by hand",
        id="a field that ends in Image",
    ),
    pytest.param(
        thing("database.example.com", "Server", "{parts: [{image: {repository: app, tag: v1}}]}"),
        "it names an image at spec.parts[*].image",
        id="an image of a repository and a tag",
    ),
    pytest.param(thing("cert-manager.io", "Issuer", "{acme: {tolerations: []}}"), "", id="a kind that places pods without naming images, and sets nothing"),
    pytest.param(thing("cdi.kubevirt.io", "CDI", "{workload: {tolerations: [{operator: Exists}]}}"), "cdi.kubevirt.io/CDI places pods at spec.workload.tolerations, but names no images to decide by; place them by hand", id="a kind that places pods without naming images, and sets something"),
    pytest.param(thing("policy.karmada.io", "PropagationPolicy", "{placement: {}}"), "", id="a kind that places clusters"),
    pytest.param(thing("operator.tigera.io", "Installation", "{registry: a}"), "operator.tigera.io/Installation may make pods whose images its operator chooses", id="Calico"),
    pytest.param(thing("caching.internal.knative.dev", "Image", "{image: 'queue:1'}"), "", id="a kind that has an image and no pod"),
    pytest.param(thing("operator.tekton.dev", "TektonConfig", "{profile: all}"), "operator.tekton.dev/TektonConfig may make pods whose images its operator chooses", id="Tekton's operator"),
    pytest.param(thing("k8s.keycloak.org", "KeycloakRealmImport", "{keycloakCRName: k}").replace("/v1\n", "/v2alpha1\n"), "the image of the Keycloak that spec.keycloakCRName names", id="an import of Keycloak"),
    pytest.param(thing("database.example.com", "Server", "{image: {size: 3}, template: x, imagePullPolicy: Always}"), "", id="an image that is none"),
    pytest.param(
        "apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: a}\nrevision: 1\ndata: {spec: {template: {spec: {containers: [{image: 'app:1'}]}}}}\n",
        "archfit places the object that owns it",
        id="ControllerRevision: its data never changes",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), NO_ROW)
def test_no_row_is_shown_that_cannot_work(text, message):
    results = said(text)
    assert len(results) == bool(message)
    assert message in "".join(results)
    assert "workloads: [" not in "".join(results)


def test_a_kind_is_named_once_whatever_its_objects_say():
    one = thing("database.example.com", "Server", "{image: 'app:1'}")
    other = thing("database.example.com", "Server", "{helperImage: 'app:1'}")
    (text,) = said(f"{one}---\n{other}")
    assert "(2 such objects)" in text


MANY = [
    pytest.param("{web: {template: POD}, worker: {template: POD}, tier: 1}", ["spec.web.template.spec", "spec.worker.template.spec"], id="fields"),
    pytest.param("{replicas: {Master: {template: POD}, Worker: {template: POD}}}", ["spec.replicas[*].template.spec"], id="a-mapping-of-templates-alone"),
    pytest.param("{groups: [{template: POD}, {template: POD}]}", ["spec.groups[*].template.spec"], id="a-list"),
    pytest.param("{one: {template: POD}, groups: [{template: POD}]}", ["spec.one.template.spec", "spec.groups[*].template.spec"], id="a-field-and-a-list"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "paths"), MANY)
def test_each_template_of_an_unknown_kind_gets_a_row_that_works(spec, paths):
    text = thing("acme.example", "Stack", spec.replace("POD", "{spec: {containers: [{image: 'amd:1'}]}}"))
    row = re.search(r"add this to the configuration file: (spec: .*) \(document", "".join(said(text)))
    assert row
    assert [one["podSpec"] for one in yaml.safe_load(row[1])["spec"]["workloads"]] == paths
    options = merge([from_file((HEAD + row[1]).encode(), "archfit.yaml")]).options
    assert edited(text.encode(), options).data.count(b"nodeAffinity") == spec.count("POD")


def test_the_kind_that_the_remedy_names_leaves_namesakes_in():
    other = thing("example.com", "Workflow", "{templates: [{task: {container: {image: 'amd:1'}}}]}")
    (text,) = said(other)
    word = re.search(r"--exclude (\S+)", text)
    assert word
    argo = thing("argoproj.io", "Workflow", "{templates: [{container: {image: 'amd:1'}}]}")
    output = edited(f"{other}---\n{argo}".encode(), Options(exclude=(Exclude(word[1]),)))
    assert b"nodeAffinity" in output.data
    assert not any("example.com" in str(one) for one in output.edits.messages)


def test_an_object_that_is_left_out_is_not_named():
    one = thing("database.example.com", "Server", "{image: 'app:1'}")
    assert len(said(one)) == 1
    assert said(one, Options(exclude=(Exclude("Server"),))) == []
    assert len(said(one, Options(exclude=(Exclude("Deployment"),)))) == 1
    assert said(one.replace("{name: a}", '{name: a, annotations: {archfit.dev/skip: "true"}}')) == []
