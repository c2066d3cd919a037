"""`archfit patch` and the real kustomize: the objects of the transform, and a loud failure where the base moved."""

import json
import subprocess

import jsonpatch
import pytest
import yaml
from registry import Registry

import machine
from patch_runs import Refused


def deployment(name, spec="", image="x.example/both:1", metadata=""):
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n{metadata}spec:\n  template:\n    spec:\n"
        f"      containers:\n      - name: a\n        image: {image}\n{spec}"
    ).encode()


REQUIRED = """\
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: zone, operator: In, values: ["1", "a"]}
            - matchFields:
              - {key: metadata.name, operator: In, values: [n]}
"""
PREFERRED = """\
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 5
            preference: {matchExpressions: [{key: zone, operator: Exists}]}
"""
TOLERATIONS = """\
      tolerations:
      - {key: spot, operator: Exists, tolerationSeconds: 300}
      - {key: "on", operator: Equal, value: "true"}
"""
AMD = "x.example/amd:1"
ODD = """\
      volumes: null
      imagePullSecrets:
      nodeSelector: {}
      initContainers:
      - image: x.example/both:1
      - image: x.example/amd:1
      - name: c
        image: x.example/both:1
        env: [{name: A, value: one}, {name: A, value: two}]
        ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]
"""
CASES = {
    "nothing-there": deployment("web"),
    "amd64": deployment("web", image=AMD),
    "tolerations": deployment("web", TOLERATIONS),
    "required": deployment("web", REQUIRED, AMD),
    "preferred": deployment("web", PREFERRED, AMD),
    "all": deployment("web", REQUIRED + TOLERATIONS, AMD),
    "empty": deployment("web", "      affinity: {}\n      tolerations: []\n"),
    "null": deployment("web", "      affinity: null\n      tolerations: ~\n"),
    "empty-node-affinity": deployment("web", "      affinity: {nodeAffinity: {}}\n", AMD),
    "other-affinity": deployment("web", "      affinity: {podAffinity: }\n", AMD),
    "what-a-merge-would-lose": deployment("web", ODD),
    "namespace": deployment("web", metadata="  namespace: shop\n"),
    "dots-in-the-name": deployment("web.v1.2", image=AMD) + b"---\n" + deployment("webxv1x2", image=AMD),
    "prefix-of-another": deployment("web", image=AMD) + b"---\n" + deployment("web-2"),
    "one-name-in-two-namespaces": deployment("web", image=AMD)
    + b"---\n"
    + deployment("web", metadata="  namespace: shop\n"),
    "one-name-two-kinds": deployment("web", image=AMD)
    + b"---\n"
    + deployment("web").replace(b"Deployment", b"StatefulSet"),
    "list": json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [yaml.safe_load(deployment("a", image=AMD)), yaml.safe_load(deployment("b"))],
        }
    ).encode(),
    "pods-and-jobs": b"""\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: a, image: "x.example/amd:1"}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: "x.example/amd:1"}]}}}}}
""",
    "number-like-names": deployment('"1e3"', image=AMD),
}


MORE = ["--prefer", "arm64=7", "--affinity", "always"]


@pytest.mark.parametrize(
    ("base", "words"),
    [
        *[pytest.param(text, [], id=name) for name, text in CASES.items()],
        *[
            pytest.param(CASES[name], MORE, id=f"{name}-more")
            for name in ("nothing-there", "preferred", "all")
        ],
    ],
)
def test_the_component_gives_the_same_objects_as_the_transform(
    build, kustomize, patch, transform, base, words
):
    component, placed = patch(base, *words).ok(), transform(base, *words)
    assert placed != base
    assert build(kustomize, base, component) == build(kustomize, placed)


def test_kubectl_builds_it_too(build, tool, patch, transform):
    base, kubectl = CASES["one-name-in-two-namespaces"], [tool("kubectl"), "kustomize"]
    assert build(kubectl, base, patch(base).ok()) == build(kubectl, transform(base))


def test_the_list_of_patches_can_be_pasted_into_a_kustomization(build, kustomize, patch, transform):
    base = CASES["all"]
    patches = yaml.safe_load(patch(base).ok())["patches"]
    assert build(kustomize, base, kustomization={"patches": patches}) == build(kustomize, transform(base))


@pytest.mark.parametrize("base", CASES.values(), ids=CASES)
def test_sveltos_patches_give_the_same_objects_as_the_transform(build, kustomize, patch, transform, base):
    """For a chart, Sveltos builds a kustomization of its manifests and spec.patches."""
    patches = sveltos_patches(patch, base)
    assert build(kustomize, base, kustomization={"patches": patches}) == build(kustomize, transform(base))


def sveltos_patches(patch, base):
    return yaml.safe_load(patch(base, "--format", "sveltos").ok())["spec"]["patches"]


def test_a_sveltos_patch_survives_its_template(tool, tmp_path, patch):
    """Sveltos runs each patch through Go's text/template; kubectl's is the same."""
    base = CASES["tolerations"].replace(b'key: "on"', b'key: "{{on}}"')
    (entry,) = sveltos_patches(patch, base)
    (tmp_path / "patch.tpl").write_text(entry["patch"], encoding="utf-8")
    template = f"go-template-file={tmp_path / 'patch.tpl'}"
    words = ["create", "namespace", "a", "--dry-run=client", "-o", template]
    done = machine.run([tool("kubectl"), *words], check=True)
    assert '"{{on}}"' in done.stdout
    assert "{{on}}" not in entry["patch"]
    assert yaml.safe_load(done.stdout)[0]["value"][1]["key"] == "{{on}}"


@pytest.mark.parametrize(
    ("base", "moved"),
    [
        pytest.param("nothing-there", CASES["tolerations"], id="tolerations-came"),
        pytest.param("tolerations", CASES["nothing-there"], id="tolerations-went"),
        pytest.param("tolerations", CASES["tolerations"].replace(b"300", b"301"), id="a-toleration-changed"),
        pytest.param("amd64", CASES["required"], id="affinity-came"),
        pytest.param("required", CASES["amd64"], id="affinity-went"),
        pytest.param("required", CASES["required"].replace(b"zone", b"rack"), id="a-term-changed"),
        pytest.param("required", CASES["required"].replace(b'["1", "a"]', b'["1"]'), id="a-value-changed"),
        pytest.param("amd64", deployment("web-2", image=AMD), id="renamed"),
        pytest.param("namespace", CASES["amd64"], id="left-its-namespace"),
        pytest.param("amd64", CASES["amd64"].replace(b"Deployment", b"StatefulSet"), id="another-kind"),
        pytest.param("list", CASES["amd64"], id="all-gone"),
    ],
)
def test_a_base_that_has_moved_fails_loudly(build, kustomize, patch, base, moved):
    component = patch(CASES[base]).ok()
    with pytest.raises(Refused, match=r"testing value|test failed|missing path|nothing selected by"):
        build(kustomize, moved, component)


def test_an_object_without_a_namespace_is_still_found_in_one(build, kustomize, patch):
    """Rendered without a namespace, built with one: the same object, and what was tested still holds."""
    component = patch(CASES["nothing-there"]).ok()
    (built,) = build(kustomize, CASES["namespace"], component)
    assert "tolerations" in json.loads(built)["spec"]["template"]["spec"]


def test_a_changed_image_alone_does_not_fail(build, kustomize, patch):
    base = CASES["amd64"]
    build(kustomize, base.replace(b"amd:1", b"amd:2"), patch(base).ok())


def test_an_overlay_that_renames_has_to_be_inside(build, kustomize, patch):
    """The names of the stream are those after the prefix; beside the prefix the patches would select nothing."""
    prefixed = CASES["amd64"].replace(b"name: web", b"name: prod-web")
    with pytest.raises(Refused, match="nothing selected by"):
        build(kustomize, CASES["amd64"], patch(prefixed).ok(), {"namePrefix": "prod-"})


def test_the_recipe_wraps_the_overlay(tmp_path, kustomize, patch, transform):
    """docs/kustomize.md, Patches: an overlay with prefix and namespace, and the component around it."""
    overlay, prod = tmp_path / "overlays" / "prod", tmp_path / "prod"
    for folder in (overlay, prod / "archfit"):
        folder.mkdir(parents=True)
    (overlay / "base.yaml").write_bytes(CASES["all"])
    (overlay / "kustomization.yaml").write_text(
        "resources: [base.yaml]\nnamePrefix: prod-\nnamespace: shop\n"
    )
    rendered = subprocess.run([*kustomize, overlay], capture_output=True, check=True).stdout
    (prod / "archfit" / "kustomization.yaml").write_bytes(patch(rendered).ok())
    (prod / "kustomization.yaml").write_text("resources: [../overlays/prod]\ncomponents: [archfit]\n")
    done = subprocess.run([*kustomize, prod], capture_output=True, check=True).stdout
    assert list(objects(done)) == list(objects(transform(rendered)))


def test_patches_of_a_transformed_stream_are_none(build, kustomize, patch, transform):
    placed = transform(CASES["all"])
    component = patch(placed).ok()
    assert component.endswith(b"\npatches: []\n")
    assert build(kustomize, placed, component) == build(kustomize, placed)


@pytest.mark.parametrize(
    "base",
    [pytest.param(CASES[name], id=name) for name in ("all", "preferred", "null", "list", "other-affinity")],
)
def test_json_applied_as_rfc_6902_gives_the_same_objects(patch, transform, base):
    """The library jsonpatch refuses `test` of a missing member, which RFC 6902 has no word for: the rest holds."""
    before = list(objects(base))
    for entry in json.loads(patch(base, "--format", "json").ok())["patches"]:
        (at,) = [number for number, value in enumerate(before) if named(value) == entry["object"]]
        steps = [step for step in entry["patch"] if step["op"] != "test" or step["value"] is not None]
        before[at] = jsonpatch.apply_patch(before[at], steps)
    assert before == list(objects(transform(base)))


def objects(text):
    for document in yaml.load_all(text, Loader=yaml.CSafeLoader):
        yield from document["items"] if document["kind"] == "List" else [document]


def named(value):
    metadata = {key: value["metadata"][key] for key in ("namespace", "name") if key in value["metadata"]}
    return {"apiVersion": value["apiVersion"], "kind": value["kind"], **metadata}


def test_json_is_what_kubectl_patch_takes(tool, tmp_path, patch, transform):
    """`test` with null for a missing member included: evanphx/json-patch is the API server's library, too."""
    base = CASES["tolerations"]
    (entry,) = json.loads(patch(base, "--format", "json").ok())["patches"]
    (tmp_path / "a.yaml").write_bytes(base)
    patched = ["-p", json.dumps(entry["patch"])]
    words = ["patch", "--local", "-f", tmp_path / "a.yaml", "--type=json", "-o", "json", *patched]
    done = machine.run([tool("kubectl"), *words], check=True)
    spec = json.loads(done.stdout)["spec"]["template"]["spec"]
    assert spec["tolerations"] == next(objects(transform(base)))["spec"]["template"]["spec"]["tolerations"]


@pytest.mark.parametrize("name", ["manifests/online-boutique.yaml", "helm3/redis.yaml", "helm3/argo-cd.yaml"])
def test_the_corpus_gives_the_same_objects(name, corpus, build, kustomize, archfit):
    text, platforms = corpus.streams[name].pinned()
    with Registry(platforms) as served:
        words = ["--no-cache", *served.mirrors()]
        component, placed = archfit(text, "patch", *words).ok(), archfit(text, *words).ok()
    assert placed != text
    assert build(kustomize, text, component) == build(kustomize, placed)
