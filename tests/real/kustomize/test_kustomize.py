"""The function under the real kustomize 5.8.1 and `kubectl kustomize`. Numbers are those of the integration checklist.

Containers: no engine runs here; a `docker` first on PATH stands in for it, see tests/support/kustomize_site.py.
"""

import json
import re

import pytest
import yaml
from registry import Registry

from kustomize_site import Site
from program import PROGRAM
from program import archfit as run_archfit

IMAGES = {
    "nginx:1.29.3": ["linux/amd64"],
    "h.example/web:1": ["linux/amd64", "linux/arm64"],
    "h.example/web:2": ["linux/amd64"],
}
FUNCTION = """\
apiVersion: archfit.dev/v1alpha1
kind: ArchFit
metadata:
  name: archfit
  annotations:
    config.kubernetes.io/function: |
      exec:
        path: PATH
spec: SPEC
"""
WEB = """\
apiVersion: apps/v1
kind: KIND
metadata:
  name: web
spec:
  template:
    metadata: {annotations: {a: "1e3", b: 'on', c: "22:22"}}
    spec:
      containers:
      - name: web
        image: IMAGE
"""


def function(path="archfit", spec="{}"):
    return FUNCTION.replace("PATH", path).replace("SPEC", spec)


def web(image="h.example/web:2", kind="Deployment"):
    return WEB.replace("IMAGE", image).replace("KIND", kind)


@pytest.fixture(scope="module")
def mirrors():
    with Registry(IMAGES) as served:
        yield served.mirrors()


@pytest.fixture
def site(tmp_path, mirrors):
    return Site(tmp_path, mirrors)


def simple(site, image="h.example/web:2", kind="Deployment", spec="{}", path="archfit"):
    """A kustomization of one workload, with the function."""
    site.write("all/kustomization.yaml", "resources: [web.yaml]\ntransformers: [archfit.yaml]\n")
    site.write("all/web.yaml", web(image, kind))
    site.write("all/archfit.yaml", function(path, spec))
    return "all"


def restricted(out):
    """The architectures that the one workload's affinity names, None where it has none."""
    (item,) = yaml.safe_load_all(out)
    affinity = item["spec"]["template"]["spec"].get("affinity")
    if affinity is None:
        return None
    (terms,) = affinity["nodeAffinity"].values()
    ((expression,),) = (term["matchExpressions"] for term in terms["nodeSelectorTerms"])
    return expression["values"]


def test_by_a_path_relative_to_the_kustomization(site):
    name = simple(site, path="./bin/fit")
    site.write("all/bin/fit", f'#!/bin/sh\nexec {PROGRAM} "$@"\n').chmod(0o755)
    assert restricted(site.build(name).ok()) == ["amd64"]


def test_the_container_example_with_kubectl(site):
    site.example("container")
    ran = site.kubectl("container", "--network", "-e", f"ARCHFIT_MIRROR={site.environ['ARCHFIT_MIRROR']}")
    assert restricted(ran.ok()) == ["amd64"]
    (words,) = site.docker
    assert words[0] == "run"
    assert words[words.index("--network") + 1] == "host"
    assert words[words.index("--user") + 1] == "nobody"
    assert words[-1] == "archfit:0.1.0"


def test_a_container_without_network_says_which_flag_is_missing(site):
    """A container gets a network only if both the file and the command say so."""
    folder = site.example("container")
    config = folder / "archfit.yaml"
    config.write_text(
        config.read_text(encoding="utf-8").replace("        network: true\n", ""), encoding="utf-8"
    )
    ran = site.kubectl("container")
    assert ran.status != 0
    assert site.docker[0][site.docker[0].index("--network") + 1] == "none"
    (line,) = [line for line in ran.stderr.splitlines() if "there is no network here" in line]
    assert "`network: true`" in line
    assert "--network" in line
    assert "--allow-network" in line


def test_noop_with_a_network_nothing_is_said_of_flags(site, archfit):
    name = simple(site, image="h.example/gone:1")
    assert "no network here" not in site.build(name).stderr
    assert (
        "no network here"
        not in archfit(web("h.example/gone:1").encode(), "--mirror", "*=http://127.0.0.1:1").stderr
    )


def test_and_so_does_an_exec_function_on_a_machine_without_network(site):
    ran = site.offline(simple(site))
    assert ran.status != 0
    assert "there is no network here" in ran.stderr


def test_no_network_is_needed_where_configuration_answers(site):
    name = simple(site, spec='{imagePlatforms: {"h.example/*": [linux/amd64]}}')
    assert restricted(site.offline(name).ok()) == ["amd64"]


def test_declared_outermost_it_sees_the_images_of_the_overlay(site):
    site.write("base/kustomization.yaml", "resources: [web.yaml]\n")
    site.write("base/web.yaml", web("h.example/web:1"))
    site.write(
        "over/kustomization.yaml",
        "resources: [../base]\nnamespace: shop\nnamePrefix: my-\nlabels: [{pairs: {a: b}, includeTemplates: true}]\n"
        "replicas: [{name: web, count: 3}]\nimages: [{name: h.example/web, newTag: '2'}]\n"
        "transformers: [archfit.yaml]\n",
    )
    site.write("over/archfit.yaml", function())
    out = site.build("over").ok()
    assert restricted(out) == ["amd64"]
    made = yaml.safe_load(out)
    assert made["metadata"] == {"labels": {"a": "b"}, "name": "my-web", "namespace": "shop"}
    assert made["spec"]["replicas"] == 3
    assert made["spec"]["template"]["metadata"]["annotations"] == {"a": "1e3", "b": "on", "c": "22:22"}


def test_declared_in_a_base_it_does_not(site):
    """Why the page says: in the outermost kustomization. kustomize runs it before the overlay's images."""
    base = simple(site, image="h.example/web:1")
    site.write(
        "over/kustomization.yaml", f"resources: [../{base}]\nimages: [{{name: h.example/web, newTag: '2'}}]\n"
    )
    out = site.build("over").ok()
    assert (restricted(out), b"h.example/web:2" in out) == (None, True)


def test_without_enable_exec_it_is_silently_skipped_and_check_finds_that_out(site, mirrors):
    name = simple(site)
    for flags, status in (((), 3), (("--enable-exec",), 0)):
        out = site.build(name, flags=flags).ok()
        check = run_archfit(out, "check", "--no-cache", *mirrors)
        assert (restricted(out) is None, check.status) == (status == 3, status), check


@pytest.mark.parametrize(
    ("spec", "kind", "image", "message"),
    [
        pytest.param(
            "{}", "Deployment", "h.example/gone:1", "h.example/gone:1: there is no such image", id="absent"
        ),
        pytest.param("{afinity: never}", "Deployment", "h.example/web:2", "no option 'afinity'", id="option"),
    ],
)
def test_an_error_fails_the_build_and_is_shown(spec, kind, image, message, site):
    ran = site.build(simple(site, image, kind, spec))
    assert ran.status != 0
    assert ran.stdout == b""
    assert message in ran.stderr


def test_a_warning_is_shown_and_fails_nothing(site):
    ran = site.build(simple(site, kind="DaemonSet"))
    assert b"results" not in ran.ok()
    assert "this DaemonSet will not run on the arm64 nodes" in ran.stderr


def test_an_anchor_in_a_file_becomes_no_alias(site):
    name = simple(site)
    site.write(
        "all/web.yaml",
        web().replace("metadata: {annotations", "metadata: &m {annotations")
        + "  strategy:\n    rollingUpdate: &s {maxSurge: 1}\n---\n"
        + web().replace("name: web\nspec", "name: two\nspec"),
    )
    out = site.build(name).ok()
    assert re.findall(rb"[:-] [&*]\w", out) == []
    assert out.count(b"nodeAffinity") == 2


def test_idempotent_through_kustomize(site):
    name = simple(site)
    once = site.build(name).ok()
    site.write("all/web.yaml", once.decode())
    assert site.build(name).ok() == once


def test_everything_else_is_as_kustomize_has_it_alone(site):
    name = simple(site)
    site.write("all/kustomization.yaml", "resources: [web.yaml, more.yaml]\ntransformers: [archfit.yaml]\n")
    site.write(
        "all/more.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, annotations: {config.kubernetes.io/local-config: 'no'}}\n"
        "data: {a: '=', b: '0o17', c: \"on\"}\n",
    )
    alone, out = (
        list(yaml.safe_load_all(site.build(name, flags=one).ok())) for one in ((), ("--enable-exec",))
    )
    for item in out:
        item["spec"]["template"]["spec"].pop("affinity") if item["kind"] == "Deployment" else None
    assert out == alone


@pytest.mark.parametrize("name", ["argo-cd", "metrics-server", "node-agents", "online-boutique"])
def test_a_list_gives_what_a_stream_of_its_items_gives(name, corpus, corpus_registry, archfit, judge):
    data, _ = corpus.streams[f"krm/{name}.yaml"].pinned()
    words = ("--on-absent=leave", "--on-conflict=leave", *corpus_registry.mirrors())
    (before,) = judge.kustomize(data)
    stream = b"".join(b"---\n" + json.dumps(item).encode() + b"\n" for item in before["items"])
    expected = judge.kustomize(archfit(stream, *words).ok())
    (after,) = judge.kustomize(archfit(data, *words).ok())
    assert after["items"] == expected
    assert after["items"] != before["items"]
    assert {**after, "items": [], "results": []} == {**before, "items": [], "results": []}
