"""`archfit patch`: its forms, word for word, what it refuses, and how it ends."""

import json

import pytest

from archfit.base.patch import Add, Test
from archfit.base.results import Decision, Location, ObjectRef
from archfit.edit.object_patches import as_json, entries
from archfit.patch.command import as_yaml
from archfit.workloads.documents import Document
from archfit.workloads.pods import Pod
from archfit.workloads.sites import Sites
from archfit.yaml.scan import Span
from archfit.yaml.values import Typed

WEB = b"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web.x
  namespace: shop
spec:
  template:
    spec:
      containers:
        - name: a
          image: x.example/both:1
      tolerations:
        - {key: spot, operator: Exists, tolerationSeconds: 300}
"""
NAMELESS = b"""\
apiVersion: v1
kind: Pod
metadata: {generateName: a-}
spec: {containers: [{image: "x.example/amd:1"}]}
"""
ENTRY = """\
  - target:
      group: apps
      version: v1
      kind: Deployment
      name: "web\\\\.x"
      namespace: shop
    patch: |-
      - op: test
        path: /spec/template/spec/tolerations
        value:
          - key: spot
            operator: Exists
            tolerationSeconds: 300
      - op: add
        path: /spec/template/spec/tolerations/-
        value:
          key: kubernetes.io/arch
          operator: Equal
          value: arm64
          effect: NoSchedule
"""
ANCHORED = (
    ENTRY.replace("group: apps", 'group: "^apps$"')
    .replace("version: v1", 'version: "^v1$"')
    .replace("kind: Deployment", 'kind: "^Deployment$"')
    .replace('name: "web\\\\.x"', 'name: "^web\\\\.x$"')
    .replace("namespace: shop", 'namespace: "^shop$"')
)
GUARD = """\
# These change nothing, and fail where an object is gone.
replacements:
  - source:
      group: apps
      version: v1
      kind: Deployment
      name: web.x
      namespace: shop
      fieldPath: metadata.name
    targets:
      - select:
          group: apps
          version: v1
          kind: Deployment
          name: "web\\\\.x"
          namespace: shop
        fieldPaths:
          - metadata.name
"""


def indented(text, columns):
    return "".join(" " * columns + line for line in text.splitlines(keepends=True))


FORMS_OF_WEB = {
    "kustomize": "# Written by `archfit patch`. Name its folder under `components:` of the outermost kustomization.\n"
    "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n" + ENTRY + GUARD,
    "flux-helmrelease": "# Written by `archfit patch`, for a HelmRelease.\n"
    "spec:\n  postRenderers:\n    - kustomize:\n        patches:\n" + indented(ENTRY, 8),
    "flux-kustomization": "# Written by `archfit patch`, for a Kustomization of Flux.\nspec:\n  patches:\n"
    + indented(ENTRY, 2),
    "fleet": "# Written by `archfit patch`. Name its folder in fleet.yaml, as in `kustomize: {dir: archfit}`.\n"
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches:\n" + ENTRY + GUARD,
    "sveltos": "# Written by `archfit patch`, for a ClusterProfile or Profile of Sveltos.\nspec:\n  patches:\n"
    + indented(ANCHORED, 2),
    "kubevela": "# Written by `archfit patch`, for a component of KubeVela of type kustomize.\n"
    "traits:\n  - type: kustomize-patch\n    properties:\n      patches:\n" + indented(ENTRY, 6),
}


@pytest.mark.parametrize("form", FORMS_OF_WEB)
def test_the_forms_word_for_word(patch, form):
    assert patch(WEB, "--format", form).ok().decode() == FORMS_OF_WEB[form]


ACCOUNT = b"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web%s}\n"
HOOK = ACCOUNT % b', annotations: {helm.sh/hook: "pre-install"}'


@pytest.mark.parametrize(
    ("beside", "form", "separate"),
    [
        pytest.param(HOOK + ACCOUNT % b"", "flux-helmrelease", True, id="a hook and a template of one name"),
        pytest.param(HOOK, "flux-helmrelease", False, id="a hook alone"),
        pytest.param(
            HOOK + ACCOUNT % b", namespace: b", "flux-helmrelease", False, id="in another namespace"
        ),
        pytest.param(ACCOUNT % b"" + ACCOUNT % b"", "flux-helmrelease", False, id="two templates"),
        pytest.param(HOOK + ACCOUNT % b"", "flux-kustomization", False, id="not of Helm"),
    ],
)
def test_flux_is_told_to_keep_hooks_apart_where_an_object_stands_twice(patch, beside, form, separate):
    """Both ends kustomize in one stream: "already registered id"."""
    ran = patch(WEB + beside, "--format", form).ok()
    line = "  postRenderStrategy: separate\n"
    assert (line in ran.decode()) == separate
    assert ran.decode().replace(line, "") == FORMS_OF_WEB[form]


def test_kustomize_is_the_default_and_the_summary_is_on_stderr(patch):
    ran = patch(WEB)
    assert ran.stdout.decode() == FORMS_OF_WEB["kustomize"]
    assert ran.stderr == (
        "archfit: 1 of 1 pod template changes and rolls once when applied, for the toleration alone "
        "(`archfit setup cluster` says whether a node has its taint); 1 image, 1 registry request\n"
    )


@pytest.mark.parametrize(
    ("form", "end"),
    [
        pytest.param("kustomize", "patches: []\n", id="kustomize"),
        pytest.param("flux-helmrelease", "        patches: []\n", id="flux-helmrelease"),
        pytest.param("json", '  "patches": []\n}\n', id="json"),
    ],
)
def test_nothing_to_change_is_an_empty_list(patch, form, end):
    assert patch(b"apiVersion: v1\nkind: ConfigMap\n", "--format", form).ok().decode().endswith(end)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(NAMELESS, "it has no name", id="generate-name"),
        pytest.param(NAMELESS.replace(b"{generateName: a-}", b"{}"), "it has no name", id="no-name"),
        pytest.param(WEB + b"---\n" + WEB, "holds it more than once", id="twice"),
        pytest.param(
            WEB.replace(b"shop", b"default") + b"---\n" + WEB.replace(b"  namespace: shop\n", b""),
            "holds it more than once",
            id="default-is-no-namespace",
        ),
    ],
)
def test_what_no_target_can_select_is_an_error_that_json_does_not_have(patch, text, said):
    ran = patch(text)
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr
    assert "--format json" in ran.stderr
    patch(text, "--format", "json").ok()


def test_a_nameless_object_that_stays_as_it_is_is_no_error(patch):
    patch(NAMELESS + b"---\n" + WEB, "--exclude", "Pod").ok()


def test_the_object_is_named_with_its_file(patch, tmp_path):
    (tmp_path / "pods.yaml").write_bytes(NAMELESS)
    assert "pods.yaml" in patch(b"", "pods.yaml", cwd=tmp_path).stderr


def test_files_are_patched_together(patch, tmp_path):
    (tmp_path / "a.yaml").write_bytes(WEB)
    (tmp_path / "b.yaml").write_bytes(WEB.replace(b"shop", b"other"))
    both = patch(b"", "a.yaml", "b.yaml", cwd=tmp_path).ok()
    assert both == patch(WEB + b"---\n" + WEB.replace(b"shop", b"other")).ok()


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        pytest.param(WEB.replace(b"both:1", b"gone:1"), [], "there is no such image", id="absent"),
        pytest.param(b"Error: x\n", [], "not a Kubernetes object", id="no-manifest"),
        pytest.param(
            WEB.replace(b"both:1", b"amd:1").replace(
                b"      containers", b"      nodeSelector: {kubernetes.io/arch: arm64}\n      containers"
            ),
            [],
            "pinned to arm64",
            id="conflict",
        ),
    ],
)
def test_a_failure_writes_nothing(patch, text, words, said):
    ran = patch(text, *words)
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr


def test_wrong_usage_is_2(patch):
    ran = patch(WEB, "--format", "helm")
    assert (ran.status, ran.stdout) == (2, b"")
    assert (
        "is not one of kustomize, flux-helmrelease, flux-kustomization, fleet, sveltos, kubevela, json"
        in ran.stderr
    )


def test_helm_hooks_are_patched_but_not_missed_where_helm_may_hold_them_back(patch):
    """Flux before Helm 4, and `postRenderStrategy: nohooks`, show no hooks to the post-renderer."""
    hook = WEB.replace(b"  namespace: shop\n", b"  annotations: {helm.sh/hook: post-install}\n")
    assert "replacements" in patch(hook).ok().decode()
    fleet = patch(hook, "--format", "fleet").ok().decode()
    assert "replacements" not in fleet
    assert "op: add" in fleet


def web(patch=(), kind="Deployment", name="web"):
    """The entries of one object with one pod spec at `spec`."""
    ref, value = ObjectRef("apps/v1", kind, "", name), {"kind": kind, "metadata": {"name": name}}
    pod = Pod(ref, "apps", Location(1, 1), ("spec",), {}, {}, value["metadata"], ())
    document = Document(Span(0, 0, 1, 1), value, (), 0, Sites({}, (), 2, 0), (pod,))
    return entries([document], [(pod, Decision("Change", "", tuple(patch)))])


NESTED = b"""\
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: work, namespace: cluster1}
spec:
  workload:
    manifests:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: inner, namespace: default}
      spec: {template: {spec: {containers: [{name: a, image: "x.example/amd:1"}]}}}
    - apiVersion: v1
      kind: Pod
      metadata: {name: second}
      spec: {containers: [{name: a, image: "x.example/amd:1"}]}
"""


def test_objects_inside_of_others_are_patched_as_part_of_them(patch):
    """Kustomize sees the outer object alone; its pod specs make one patch."""
    (entry,) = json.loads(patch(NESTED, "--format", "json").ok())["patches"]
    assert entry["object"] == {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "namespace": "cluster1",
        "name": "work",
    }
    assert [step["path"] for step in entry["patch"] if step["op"] == "add"] == [
        "/spec/workload/manifests/0/spec/template/spec/affinity",
        "/spec/workload/manifests/1/spec/affinity",
    ]


@pytest.mark.parametrize("kind", ["List", "DeploymentList"])
def test_items_of_lists_are_objects_of_their_own(patch, kind):
    api, item = ("v1", "  kind: Deployment\n  apiVersion: apps/v1\n") if kind == "List" else ("apps/v1", "")
    text = (
        f"apiVersion: {api}\nkind: {kind}\nitems:\n- metadata: {{name: a}}\n{item}"
        "  spec: {template: {spec: {containers: [{name: a, image: 'x.example/amd:1'}]}}}\n"
    )
    (entry,) = json.loads(patch(text.encode(), "--format", "json").ok())["patches"]
    assert entry["object"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    assert entry["patch"][0]["path"] == "/spec/template/spec/affinity"


def test_numbers_and_booleans_are_those_that_kubernetes_reads():
    values = [
        Typed("int", text) for text in ("300", "+5", "-7", "0x1f", "0o17", "017", "1_000", "0b11", "0")
    ] + [Typed("float", "1e3"), Typed("float", ".5"), Typed("bool", "true"), Typed("bool", "false"), None]
    text = as_json(web([Test(("spec", "a"), values)]))
    assert json.loads(text)["patches"][0]["patch"][0]["value"] == [
        300, 5, -7, 31, 15, 15, 1000, 3, 0, 1000.0, 0.5, True, False, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "written"),
    [
        pytest.param("a-b", "name: a-b", id="plain"),
        pytest.param("a.b", 'name: "a\\\\.b"', id="dot"),
        pytest.param("a+(b)|c*", 'name: "a\\\\+\\\\(b\\\\)\\\\|c\\\\*"', id="everything"),
        pytest.param("true", 'name: "true"', id="boolean"),
    ],
)
def test_targets_are_anchored_regular_expressions_and_so_names_are_escaped(name, written):
    text = as_yaml("flux-kustomization", web([Add(("spec", "a"), "b")], name=name)).decode()
    assert f"        {written}\n" in text


def test_odd_keys_are_quoted_in_paths():
    path = ("spec", "a: b", "c/d~e")
    text = as_yaml("flux-kustomization", web([Add(path, "x")])).decode()
    assert '          path: "/spec/a: b/c~1d~0e"\n' in text


def test_sveltos_reads_a_patch_as_a_template_so_braces_are_written_as_text():
    change = [Add(("spec", "a"), "{{ x }}")]
    assert 'value: "{{`{{`}} x }}"\n' in as_yaml("sveltos", web(change)).decode()
    assert "{{ x }}" in as_yaml("kubevela", web(change)).decode()


def test_sveltos_targets_of_the_core_group_and_of_no_namespace_select_one_object():
    """It matches anywhere in a text, and takes a missing pattern for any text (libsveltos v1.14.0)."""
    ref = ObjectRef("v1", "Pod", "", "web")
    pod = Pod(ref, "", Location(1, 1), ("spec",), {}, {}, {"name": "web"}, ())
    value = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    found = entries(
        [Document(Span(0, 0, 1, 1), value, (), 0, Sites({}, (), 2, 0), (pod,))],
        [(pod, Decision("Change", "", (Add(("spec", "a"), "b"),)))],
    )
    twin = found[0].replace(ref=ref.replace(namespace="shop"), patch=())
    text = as_yaml("sveltos", [*found, twin]).decode()
    assert "      - target:\n" not in text
    assert '        group: "^$"\n' in text.replace("group: ^$", 'group: "^$"')
    assert '        namespace: "^(default)?$"\n' in text
