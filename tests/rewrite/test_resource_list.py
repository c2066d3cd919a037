"""The KRM function as its specification has it: one ResourceList in, the same one out.

Numbers are those of the integration checklist.
"""

import json

import pytest
import yaml
from registry import Registry

IMAGES = {"h.example/both:1": ["linux/amd64", "linux/arm64"], "h.example/amd:1": ["linux/amd64"]}
HEAD = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
CONFIG_MAP = (
    b"- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data: {a: '=', b: 22:22} # kept\n"
)
DEPLOYMENT = b"""\
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    annotations:
      config.kubernetes.io/index: '1'
      config.kubernetes.io/path: 'web.yaml'
      internal.config.kubernetes.io/index: '1'
      internal.config.kubernetes.io/path: 'web.yaml'
      kustomize.config.k8s.io/id: |
        group: apps
        kind: Deployment
  spec:
    template:
      spec:
        containers:
        - {name: web, image: 'h.example/IMAGE:1'} # a comment
"""
AFFINITY = b"""\
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - matchExpressions:
                - key: kubernetes.io/arch
                  operator: In
                  values:
                  - amd64
"""
CONFIG = (
    b"functionConfig:\n  apiVersion: archfit.dev/v1alpha1\n  kind: ArchFit\n"
    b"  metadata:\n    name: any\n  spec: {}\n"
)


def deployment(image):
    return DEPLOYMENT.replace(b"IMAGE", image)


@pytest.fixture
def run(archfit):
    with Registry(IMAGES) as served:
        mirrors = served.mirrors()

        def run(data, *words):
            return archfit(data, *mirrors, "--no-cache", *words)

        yield run


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(HEAD + CONFIG_MAP, HEAD + CONFIG_MAP, id="noop"),
        pytest.param(HEAD + CONFIG_MAP + CONFIG, HEAD + CONFIG_MAP + CONFIG, id="noop-function-config-is-echoed"),
        pytest.param(HEAD + CONFIG_MAP + deployment(b"amd") + CONFIG, HEAD + CONFIG_MAP + deployment(b"amd") + AFFINITY + CONFIG, id="edited-in-place"),
        pytest.param(
            HEAD.replace(b"/v1\n", b"/v1beta1\n") + deployment(b"amd") + b"somethingNew: {a: b}\n",
            HEAD.replace(b"/v1\n", b"/v1beta1\n") + deployment(b"amd") + AFFINITY + b"somethingNew: {a: b}\n",
            id="v1beta1-and-unknown-fields-are-kept",
        ),
        pytest.param(
            HEAD + b"- apiVersion: kpt.dev/v1\n  kind: Kptfile\n  metadata: {name: p}\n  pipeline: {mutators: []}\n",
            HEAD + b"- apiVersion: kpt.dev/v1\n  kind: Kptfile\n  metadata: {name: p}\n  pipeline: {mutators: []}\n",
            id="noop-kptfile",
        ),
        pytest.param(HEAD[:-1] + b" []\n", HEAD[:-1] + b" []\n", id="noop-no-items"),
    ],
)  # fmt: skip
def test_items_are_edited_in_place_and_nothing_else_changes(run, before, after):
    ran = run(before)
    assert (ran.status, ran.stdout) == (0, after)
    assert run(after).ok() == after


def test_a_list_in_json_is_answered_in_json(run):
    """Nothing but the list on stdout, in whatever YAML it came."""
    item = yaml.safe_load(deployment(b"amd"))[0]
    made = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [item]}
    out = json.loads(run(json.dumps(made).encode()).ok())
    terms = out["items"][0]["spec"]["template"]["spec"].pop("affinity")
    assert out == made
    assert list(terms) == ["nodeAffinity"]


def test_another_document_beside_the_list_makes_it_a_stream(run):
    """A ResourceList is the only document of its stream."""
    data = HEAD + CONFIG_MAP + b"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n"
    assert run(data).ok() == data


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        pytest.param(b"", "amd64", id="absent"),
        pytest.param(b"functionConfig: null\n", "amd64", id="null"),
        pytest.param(b"functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: f}\n  data: {}\n", "amd64", id="kpt-without-configuration"),
        pytest.param(
            b"functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n"
            b"  data: {affinity: never, strict: 'false', clusterArchitectures: 'amd64,arm64'}\n",
            "none",
            id="config-map-of-strings",
        ),
        pytest.param(b"functionConfig:\n  apiVersion: archfit.dev/v1alpha1\n  kind: ArchFit\n  spec: {affinity: never}\n", "none", id="our-kind"),
        pytest.param(b"functionConfig: {apiVersion: archfit.dev/v1alpha1, kind: ArchFit, metadata: {annotations: {x: y}}, spec: {affinity: never}}\n", "none", id="annotations-are-ignored"),
        pytest.param(rb'"functionC\x6fnfig": {apiVersion: archfit.dev/v1alpha1, kind: ArchFit, spec: {affinity: never}}' + b"\n", "none", id="spelt-with-an-escape"),
    ],
)  # fmt: skip
def test_the_function_config_is_read_before_anything_is_decided(run, config, outcome):
    out = run(HEAD + deployment(b"amd") + config).ok()
    assert (b"nodeAffinity" in out) == (outcome == "amd64")


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        pytest.param(rb'"Resource\x4cist"', True, id="an-escape"),
        pytest.param(b'"Resource\\\n  List"', True, id="two-lines"),
        pytest.param(b"List # no ResourceList", False, id="noop-a-comment"),
        pytest.param(b"List\nmetadata: {name: 'Resource\\x4cist'}", False, id="noop-a-name"),
    ],
)
def test_a_function_is_told_by_the_kind_that_is_read(run, kind, refused):
    """No run passes its configuration over."""
    api_version = HEAD if refused else HEAD.replace(b"config.kubernetes.io/v1", b"v1")
    ran = run(api_version.replace(b"ResourceList", kind) + deployment(b"amd") + CONFIG)
    assert ("spelt with an escape: write it out" in ran.stderr) == refused
    assert (ran.status, bool(ran.stdout)) == ((1, False) if refused else (0, True))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param(
            b"functionConfig:\n  apiVersion: archfit.dev/v1alpha1\n  kind: ArchFit\n  spec: {afinity: never}\n",
            "functionConfig, spec.afinity: there is no option 'afinity': ",
            id="unknown-key",
        ),
        pytest.param(
            b"functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: {mirror: '*=https://evil.example'}\n",
            "functionConfig, data.mirror: only the operator may set this",
            id="trust-config-map",
        ),
        pytest.param(
            b"functionConfig:\n  apiVersion: archfit.dev/v1alpha1\n  kind: ArchFit\n  operator: {offline: true}\n",
            "functionConfig, operator: only the operator may set this",
            id="trust-operator-part",
        ),
        pytest.param(b"functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: {strict: true}\n", "functionConfig, data.strict: has to be a string", id="config-map-value"),
    ],
)  # fmt: skip
def test_a_wrong_function_config_gives_the_list_back_with_an_error(run, config, message):
    """The whole list on stdout, the same message on stderr, and an exit code that is not 0."""
    before = HEAD + deployment(b"amd") + config
    ran = run(before)
    assert ran.status != 0
    assert message in ran.stderr
    assert ran.stdout.startswith(before)
    (result,) = yaml.safe_load(ran.stdout[len(before) :])["results"]
    assert (result["severity"], result["message"].startswith(message)) == ("error", True)


def test_an_error_is_a_result_with_its_object_field_and_file(run):
    before = HEAD + CONFIG_MAP + deployment(b"gone") + CONFIG
    ran = run(before)
    assert ran.status == 1
    assert ran.stdout.startswith(before)
    (result,) = yaml.safe_load(ran.stdout)["results"]
    assert {key: result[key] for key in ("severity", "resourceRef", "field", "file")} == {
        "severity": "error",
        "resourceRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "field": {"path": "spec.template.spec.containers[0].image"},
        "file": {"path": "web.yaml", "index": 1},
    }
    assert result["message"] in ran.stderr


def test_a_warning_is_a_result_and_stands_on_stderr_as_well(run):
    """Kustomize shows nothing of the results."""
    before = HEAD + deployment(b"amd").replace(b"kind: Deployment\n  m", b"kind: DaemonSet\n  m")
    ran = run(before)
    assert ran.status == 0
    (result,) = yaml.safe_load(ran.stdout)["results"]
    assert result["severity"] == "warning"
    assert result["message"] in ran.stderr


def test_results_that_were_there_are_kept(run):
    old = b"results:\n- message: old\n  severity: info\n"
    ran = run(HEAD + deployment(b"gone") + old)
    assert [result["message"][:3] for result in yaml.safe_load(ran.stdout)["results"]] == ["old", "h.e"]
    assert run(HEAD + CONFIG_MAP + old).ok() == HEAD + CONFIG_MAP + old


def test_results_may_stand_before_the_items(run):
    head = HEAD.replace(b"items:", b"results:\n- message: old\nitems:")
    before = head + deployment(b"amd").replace(b"kind: Deployment\n  m", b"kind: DaemonSet\n  m")
    after = yaml.safe_load(run(before).ok())
    assert [result["message"][:3] for result in after["results"]] == ["old", "thi"]
    assert "affinity" in after["items"][0]["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    "key", [b"'results':\n", b'"results": null\n', b"'results': []\n", rb'"resul\x74s": []' + b"\n"]
)
def test_results_without_a_value_are_filled_however_their_key_is_written(run, judge, key):
    ran = run(HEAD + deployment(b"gone") + key)
    for reader in ("kubectl", "kustomize"):
        (after,) = judge.read(reader, ran.stdout)
        assert [result["message"][:3] for result in after["results"]] == ["h.e"]


@pytest.mark.parametrize(
    "results", [b"results: {a: b}\n", b"results:\n  a: b\n", b"'results': {}\n", b"results: x\n"]
)
def test_results_that_are_no_list_are_an_error(run, results):
    before = HEAD + deployment(b"gone") + results
    ran = run(before)
    assert (ran.status, ran.stdout) == (1, before)
    assert "results of the ResourceList is not a list: make it one, or leave it out" in ran.stderr
    items = deployment(b"amd").replace(b"kind: Deployment\n  m", b"kind: DaemonSet\n  m")
    aliased = run(HEAD.replace(b"items:", b"items: &items") + items + b"results: *items\n")
    assert aliased.status == 1
    assert "results of the ResourceList is an alias of its items: write the results out" in aliased.stderr


def test_results_in_flow_style_are_added_to(run):
    before = json.dumps(yaml.safe_load(HEAD + deployment(b"gone"))).encode()
    before = before[:-1] + b', "results": [{"message": "old"}]}'
    once = run(before).stdout
    assert once.startswith(before[:-2])
    assert [result["message"][:3] for result in json.loads(once)["results"]] == ["old", "h.e"]


def test_a_key_of_the_list_may_be_an_alias(run):
    """Each is read from its own lines, where that suffices."""
    config = b"{apiVersion: archfit.dev/v1alpha1, kind: ArchFit, spec: {affinity: never}}"
    head = b"x: &config " + config + b"\ny: &said [{message: old}]\n" + HEAD
    items = deployment(b"amd")
    assert run(head + items + b"functionConfig: *config\n").ok().startswith(head + items)
    after = yaml.safe_load(run(head + deployment(b"gone") + b"results: *said\n").stdout)
    assert [result["message"][:3] for result in after["results"]] == ["old", "h.e"]


@pytest.mark.parametrize(
    ("before", "tail"),
    [
        pytest.param(HEAD + deployment(b"gone")[:-1], b"\nresults:\n- message: ", id="no-final-newline"),
        pytest.param(
            (HEAD + deployment(b"gone")).replace(b"\n", b"\r\n"), b"results:\r\n- message: ", id="crlf"
        ),
    ],
)
def test_results_are_written_with_the_line_endings_of_the_list(run, before, tail):
    assert run(before).stdout.startswith(before + tail)


def test_items_that_cannot_be_read_come_back_with_the_reason(run):
    before = HEAD + b"- apiVersion: apps/v1\n  kind: Deployment\n  spec: [\n"
    ran = run(before)
    assert (ran.status, ran.stdout[: len(before)]) == (1, before)
    assert b"this is not YAML" in ran.stdout[len(before) :]
