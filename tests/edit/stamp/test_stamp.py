"""Runs in place with `stamp`: a later run takes back what an earlier one added, and nothing else.

Point 40 of the integration checklist; without `stamp` what is there counts as the user's.
"""

import json

import pytest
import yaml

from archfit.base.patch import apply
from archfit.options.settings import GKE, Options, Toleration, TolerationRule
from archfit.yaml.compose import parse
from corpus_streams import each_stream
from pod_decisions import REQUIRED, found
from stream_edits import IMAGES, Failed, edited

STAMP = Options(stamp=True, prefer=(("arm64", 1),))
HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
BLOCK = HEAD + "spec:\n  template:\n    spec:\n      containers:\n      - {name: a, image: moves}\n"
TERM = """\
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: zone, operator: Exists}
            - matchFields:
              - {key: metadata.name, operator: In, values: [n]}
"""
FLOW = (
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},"
    " spec: {template: {spec: {containers: [{name: a, image: moves}]SPEC}}}}\n"
)
OBJECT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"template": {"spec": {"containers": [{"name": "a", "image": "moves"}]}}},
}
STYLES = {
    "block": BLOCK,
    "block-with-a-comment-behind": BLOCK + "# the end\n",
    "no-final-newline": BLOCK[:-1],
    "crlf": BLOCK.replace("\n", "\r\n"),
    "crlf-no-final-newline": BLOCK.replace("\n", "\r\n")[:-2],
    "indented-lists": BLOCK.replace("      - {", "        - {"),
    "followed-by-keys": BLOCK + "      restartPolicy: Always\n  replicas: 1\n",
    "annotations": BLOCK.replace("  name: web\n", "  name: web\n  annotations:\n    a: b # kept\n"),
    "annotations-in-flow": BLOCK.replace("  name: web\n", "  name: web\n  annotations: {a: b}\n"),
    "no-annotations-in-flow": BLOCK.replace("  name: web\n", "  name: web\n  annotations: {}\n"),
    "annotations-without-value": BLOCK.replace("  name: web\n", "  name: web\n  annotations:\n"),
    "annotations-without-value-first": BLOCK.replace("  name: web\n", "  annotations:\n  name: web\n"),
    "annotations-null": BLOCK.replace("  name: web\n", "  annotations: null\n  name: web\n"),
    "own-tolerations": BLOCK + "      tolerations:\n      - key: mine\n      hostNetwork: true\n",
    "own-tolerations-in-flow": BLOCK + "      tolerations: [{key: mine}]\n",
    "no-tolerations": BLOCK + "      tolerations: []\n",
    "tolerations-without-value": BLOCK + "      tolerations:\n      hostNetwork: true\n",
    "tolerations-null": BLOCK + "      tolerations: null\n",
    "affinity-empty": BLOCK + "      affinity: {}\n",
    "affinity-without-value": BLOCK + "      affinity:\n",
    "affinity-null": BLOCK + "      affinity: null\n",
    "node-affinity-null": BLOCK + "      affinity: {nodeAffinity: null}\n",
    "pod-affinity": BLOCK + "      affinity:\n        podAffinity: {}\n",
    "own-terms": BLOCK + TERM,
    "flow": FLOW.replace("SPEC", ""),
    "flow-with-tolerations": FLOW.replace("SPEC", ", tolerations: [ ], hostNetwork: true"),
    "json": json.dumps(OBJECT),
    "json-on-many-lines": json.dumps(OBJECT, indent=2) + "\n",
    "a-list": "apiVersion: v1\nkind: List\nitems:\n"
    + "".join(
        "- " + BLOCK.replace("\n", "\n  ").rstrip(" ").replace("name: web", name)
        for name in ("name: a", "name: b")
    ),
    "a-list-in-flow": "{apiVersion: v1, kind: List, items: ["
    + FLOW.replace("SPEC", "").strip()
    + ", "
    + FLOW.replace("SPEC", ", tolerations: []").strip()
    + "]}\n",
    "a-stream": "---\n" + BLOCK + "---\napiVersion: v1\nkind: ConfigMap\n--- # more\n" + BLOCK + TERM,
    "a-pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: a, image: moves}]\n",
    "a-bare-pod-with-hook": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations: {helm.sh/hook: test}\n"
    "spec:\n  containers:\n    - image: moves\n",
    "a-cron-job": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec:\n  jobTemplate:\n    spec:\n"
    "      template:\n        spec:\n          containers: [{name: a, image: moves}]\n",
}
_SPEC = "    template:\n      spec:\n        containers:\n        - {name: a, image: moves}\n"


def _two(first: str, second: str) -> str:
    """A list of two Deployments, of which the second repeats a part of the first. first, second: behind `spec:`."""
    items = zip("ab", (first, second), strict=True)
    head = "- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: "
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"{head}{name}\n  spec:{spec}" for name, spec in items
    )


SHARED = {
    "a-shared-spec": _two(f" &s\n{_SPEC}", " *s\n"),
    "a-shared-spec-with-nulls": _two(f" &s\n{_SPEC}        tolerations:\n        affinity: ~\n", " *s\n"),
    "a-shared-pod": _two("\n" + _SPEC.replace("spec:", "spec: &s"), "\n    template: {spec: *s}\n"),
    "a-shared-affinity": _two(f"\n{_SPEC}        affinity: &a {{}}\n", f"\n{_SPEC}        affinity: *a\n"),
    "a-shared-spec-in-flow": "{apiVersion: v1, kind: List, items: ["
    + FLOW.replace("SPEC", "").replace("spec: {t", "spec: &s {t").strip()
    + ", {apiVersion: apps/v1, kind: Deployment, metadata: {name: b}, spec: *s}]}\n",
}
STYLES |= SHARED
STYLES["a-list-with-shared-tolerations"] = _two(
    f"\n{_SPEC}        tolerations: &t\n        - key: mine\n", f"\n{_SPEC}        tolerations: *t\n"
)
PLATFORMS = ("amd64", "amd64 arm64", "arm64", "amd64 s390x", "s390x amd64 arm64")


@pytest.fixture
def moves(monkeypatch):
    """Moves the tag of the image `moves`."""

    def moves(platforms):
        monkeypatch.setitem(IMAGES, "moves", found(platforms))

    return moves


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("before", PLATFORMS)
def test_a_moved_image_gives_what_a_first_run_would_give(style, before, moves):
    """Byte for byte, from every state to every other; and a second run changes nothing."""
    data = STYLES[style].encode()
    moves(before)
    stamped = edited(data, STAMP).data
    assert (b"archfit.dev/added" in stamped) == (stamped != data)
    assert edited(stamped, STAMP).data == stamped
    for after in PLATFORMS:
        moves(after)
        again = edited(stamped, STAMP)
        assert again.data == edited(data, STAMP).data, after
        restored = again.data
        for span in reversed(again.spans):
            restored = restored[: span.start] + span.was + restored[span.end :]
        assert restored == stamped


@pytest.mark.parametrize(
    "style", [style for style in STYLES if "null" not in style and "without" not in style]
)
def test_what_is_not_wanted_any_more_leaves_no_trace(style, moves):
    data = STYLES[style].encode()
    for platforms in PLATFORMS:
        moves(platforms)
        stamped = edited(data, STAMP).data
        assert edited(stamped, Options(stamp=True, affinity="never", tolerate=())).data == data


@pytest.mark.parametrize(
    "null", ["", " null", " ~", " Null # why", " NULL", "\n          null", "\n          ~"]
)
@pytest.mark.parametrize("around", [f"{BLOCK}      KEY\n", FLOW.replace("SPEC", ", KEY\n")])
@pytest.mark.parametrize("key", ["affinity", "tolerations"])
def test_a_null_is_written_again_as_it_was(null, around, key, moves):
    """Also after a run that changed what was in its place."""
    data = around.replace("KEY", f"{key}:{null}").encode()
    moves("amd64")
    stamped = edited(data, STAMP).data
    moves("amd64 arm64")
    for there in (stamped, edited(stamped, STAMP).data):
        assert edited(there, Options(stamp=True, affinity="never", tolerate=())).data == data


TWINS = """\
apiVersion: clickhouse.altinity.com/v1
kind: ClickHouseInstallation
metadata:
  name: a
spec:
  templates:
    podTemplates:
"""


def twin(image, spec=""):
    return f"    - name: a\n      spec:\n        containers:\n        - {{name: clickhouse, image: {image}}}\n{spec}"


def test_items_of_one_name_are_told_apart_by_their_images(moves):
    """As two pod templates in an example of Altinity's operator are."""
    data = (TWINS + twin("moves") + twin("amd:1")).encode()
    moves("amd64")
    stamped = edited(data, STAMP).data
    assert stamped.count(b"nodeAffinity:") == 2
    assert edited(stamped, STAMP).data == stamped
    assert edited(stamped, Options(stamp=True, affinity="never", tolerate=())).data == data


@pytest.mark.parametrize("image", ["both:1", "moves"])
def test_of_items_of_one_name_that_a_person_swaps_none_loses_what_the_person_wrote(image, moves):
    own = "        tolerations: [{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]\n"
    moves("amd64 arm64")
    stamped = edited((TWINS + twin("both:1") + twin(image, own)).encode(), Options(stamp=True)).data.decode()
    head, ours, theirs = stamped.split("    - name: a\n")
    assert ("tolerations:" in ours, own in theirs) == (True, True)
    swapped = f"{head}    - name: a\n{theirs}    - name: a\n{ours}".encode()
    assert own.encode() in edited(swapped, Options(stamp=True, tolerate=())).data


@pytest.mark.parametrize("style", STYLES)
def test_the_stamp_is_on_the_object_and_the_template_is_as_without(style, moves):
    """A change of the template would roll the pods."""
    moves("amd64 arm64")
    data = STYLES[style].encode()
    plain = Options(prefer=STAMP.prefer)
    stamped, without = (list(yaml.safe_load_all(edited(data, one).data)) for one in (STAMP, plain))
    for one in stamped:
        for item in one.get("items", [one]):
            annotations = item.get("metadata", {}).get("annotations", {})
            if "archfit.dev/added" in annotations:
                text = annotations.pop("archfit.dev/added")
                entries = json.loads(text)
                assert text == json.dumps(entries, separators=(",", ":"), sort_keys=True)
                if not annotations and any("value" not in entry for entry in entries):
                    del item["metadata"]["annotations"]
    for one in without:
        for item in one.get("items", [one]):
            if item.get("metadata", {}).get("annotations") is None:
                item.get("metadata", {}).pop("annotations", None)
    assert stamped == without


def test_noop_without_the_option_nothing_is_stamped(moves):
    moves("amd64")
    assert b"archfit.dev/added" not in edited(BLOCK.encode()).data


def test_noop_where_nothing_is_added_nothing_is_stamped(moves):
    moves("amd64 arm64")
    data = BLOCK.encode()
    assert edited(data, Options(stamp=True, tolerate=())).data == data


@pytest.mark.parametrize(
    ("old", "new", "gone", "stays", "yours"),
    [
        pytest.param(
            "      tolerations:\n",
            "      tolerations:\n      - key: mine\n",
            "key: kubernetes.io/arch",
            "- key: mine",
            False,
            id="a-toleration-of-the-users-in-our-list",
        ),
        pytest.param(
            "      affinity:\n", "      affinity:\n        podAffinity: {}\n", "nodeAffinity", "podAffinity: {}", False, id="another-affinity-beside-ours"
        ),
        pytest.param(
            "        value: arm64\n",
            "        value: arm64\n        tolerationSeconds: 5\n",
            "nodeAffinity",
            "tolerationSeconds: 5",
            True,
            id="our-toleration-changed",
        ),
        pytest.param(
            "        value: arm64\n", "        value: arm64 # since 2024\n", "nodeAffinity", "value: arm64 # since 2024", True, id="a-comment-in-our-toleration"
        ),
    ],
)  # fmt: skip
def test_what_the_user_changed_is_the_users(old, new, gone, stays, yours, moves):
    moves("amd64 arm64")
    stamped = edited(BLOCK.encode(), STAMP).data.decode()
    assert old in stamped
    changed = stamped.replace(old, new, 1).encode()
    again = edited(changed, Options(stamp=True, affinity="never", tolerate=()))
    assert gone not in yaml.safe_dump(yaml.safe_load(again.data)["spec"])
    assert stays in again.data.decode()
    said = [result.text for result in again.edits.messages]
    assert any("it stays as it is" in message for message in said) == yours
    assert edited(again.data, Options(stamp=True, affinity="never", tolerate=())).data == again.data


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(
            BLOCK + "      tolerations:\n      - key: mine\n",
            "      - key: mine\n",
            "",
            BLOCK + "      tolerations: []\n",
            id="the-only-other-item-taken-out",
        ),
        pytest.param(
            FLOW.replace("SPEC", ", tolerations: [ ]"),
            "effect: NoSchedule}",
            "effect: NoSchedule}, {key: mine}",
            FLOW.replace("SPEC", ", tolerations: [{key: mine} ]"),
            id="an-item-behind-ours-in-flow",
        ),
    ],
)
def test_what_the_user_left_of_a_list_stays(before, old, new, after, moves):
    moves("amd64 arm64")
    stamped = edited(before.encode(), Options(stamp=True)).data.decode()
    assert stamped.count(old) == 1
    again = edited(stamped.replace(old, new).encode(), Options(stamp=True, tolerate=()))
    assert again.data.decode() == after


@pytest.mark.parametrize("style", SHARED)
def test_what_one_pod_keeps_is_not_taken_from_both(style, moves):
    """Nothing is written where an alias repeats it in a pod that has to stay as it is."""
    moves("amd64")
    head, there, tail = edited(SHARED[style].encode(), STAMP).data.decode().rpartition("archfit.dev/added: ")
    skip = 'archfit.dev/skip: "true"'
    kept = f"{head}{skip}, {there}{tail}" if style.endswith("flow") else f"{head}{skip}\n      {there}{tail}"
    assert edited(kept.encode(), STAMP).data == kept.encode()
    moves("amd64 arm64")
    with pytest.raises(Failed, match=r"affinity.* cannot be removed on its own: an alias repeats it"):
        edited(kept.encode(), STAMP)


def test_what_a_formatter_moved_into_the_line_of_a_dash_stays_and_is_told(moves):
    moves("amd64")
    head = "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: w}\n"
    text = head + "spec:\n  templates:\n  - name: a\n    container: {image: moves}\n"
    sorted_keys = yaml.safe_dump(yaml.safe_load(edited(text.encode(), STAMP).data))
    assert "  - affinity:\n" in sorted_keys
    moves("amd64 arm64")
    again = edited(sorted_keys.encode(), STAMP)
    assert yaml.safe_load(again.data)["spec"] == yaml.safe_load(sorted_keys)["spec"]
    assert any("it stays as it is" in result.text for result in again.edits.messages)


def test_a_toleration_behind_ours_rolls_no_pods(moves):
    """Taking ours out and putting it behind the user's would change the template for nothing."""
    moves("amd64 arm64")
    stamped = edited(BLOCK.encode(), Options(stamp=True)).data + b"      - key: mine\n"
    assert edited(stamped, Options(stamp=True)).data == stamped


def test_what_the_user_took_out_comes_back(moves):
    moves("amd64 arm64")
    two = (GKE, TolerationRule(("arm64",), Toleration("arch", "Equal", "arm64", "NoSchedule")))
    options = Options(stamp=True, tolerate=two)
    stamped = edited(BLOCK.encode(), options).data
    first = b"\n        ".join(
        (b"      - key: kubernetes.io/arch", b"operator: Equal", b"value: arm64", b"effect: NoSchedule\n")
    )
    assert first in stamped
    tolerations = yaml.safe_load(edited(stamped.replace(first, b""), options).data)
    keys = [one["key"] for one in tolerations["spec"]["template"]["spec"]["tolerations"]]
    assert sorted(keys) == ["arch", "kubernetes.io/arch"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("containers:", "nodeName: n\n      containers:"), id="node-name"),
        pytest.param(("  name: web\n", "  name: web\n  labels: {a: b}\n"), id="noop-labels"),
        pytest.param(
            ("  annotations:\n", '  annotations:\n    archfit.dev/skip: "true"\n'),
            id="skip",
        ),
    ],
)
def test_a_pod_that_is_left_alone_keeps_what_it_has(change, moves):
    moves("amd64")
    stamped = edited(BLOCK.encode(), STAMP).data.decode().replace(*change).encode()
    assert edited(stamped, STAMP).data == stamped


def test_an_image_that_nobody_can_say_anything_about_leaves_the_stamp_alone(moves, monkeypatch):
    from archfit.images.platforms import Unknown

    moves("amd64")
    stamped = edited(BLOCK.encode(), STAMP).data
    monkeypatch.setitem(IMAGES, "moves", Unknown("no network"))
    assert edited(stamped, STAMP.replace(on_unknown="leave")).data == stamped


def test_a_list_of_ours_that_lost_an_item_goes_whole(moves):
    moves("amd64 arm64")
    amd = TolerationRule(("amd64",), Toleration("arch", "Equal", "amd64", "NoSchedule"))
    stamped = edited(BLOCK.encode(), STAMP.replace(tolerate=(GKE, amd), prefer=())).data
    value = yaml.safe_load(stamped)
    del value["spec"]["template"]["spec"]["tolerations"][0]
    shorter = yaml.safe_dump(value, sort_keys=False).encode()
    assert yaml.safe_load(edited(shorter, STAMP.replace(tolerate=(), prefer=())).data) == yaml.safe_load(
        BLOCK
    )


DEEP = "[" * 700 + "]" * 700


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("{", id="no-json"),
        pytest.param("{}", id="no-list"),
        pytest.param("[1]", id="no-entry"),
        pytest.param('[{"path":"/spec/replicas","value":1}]', id="a-path-that-archfit-never-writes"),
        pytest.param('[{"path":"spec","value":1}]', id="no-pointer"),
        pytest.param('[{"path":"/spec/template/spec/affinity"}]', id="no-value"),
        pytest.param('[{"value":1}]', id="no-path"),
        pytest.param('[{"path":"/metadata/annotations","null":1}]', id="null-that-is-not-true"),
        pytest.param('[{"path":"/metadata/annotations","null":"~ x"}]', id="a-null-that-is-none"),
        pytest.param('[{"path":"/metadata/annotations","op":"remove"}]', id="another-key"),
        pytest.param(f'[{{"path":"/spec/template/spec/affinity","value":{DEEP}}}]', id="a-deep-value"),
        pytest.param(f'[{{"path":{DEEP}}}]', id="a-deep-path"),
        pytest.param(DEEP, id="deep"),
    ],
)
def test_a_stamp_that_archfit_did_not_write_is_an_error(value, moves):
    moves("amd64")
    data = BLOCK.replace("  name: web\n", f"  name: web\n  annotations:\n    archfit.dev/added: '{value}'\n")
    with pytest.raises(Failed, match="not as archfit wrote it"):
        edited(data.encode(), STAMP)
    edited(data.encode())


@pytest.mark.parametrize("style", STYLES)
def test_the_patch_is_the_contract_here_too(style, moves):
    """RFC 6902: applied to what was, it gives what is written."""
    data = STYLES[style].encode()
    moves("amd64")
    stamped = edited(data, STAMP).data
    moves("amd64 arm64")
    again = edited(stamped, STAMP)
    first_pod, first = next((pod, decision) for pod, decision in again.edits.decisions if decision.patch)
    if style.startswith("a-"):
        return
    before, after = (parse(text.decode()).value for text in (stamped, again.data))
    from archfit.edit.prove import as_read

    assert first_pod.ref.name
    assert apply(before, [as_read(step) for step in first.patch]) == after


@each_stream
def test_in_the_corpus(stream, monkeypatch):
    """Real manifests, custom resources among them, whose images all move at once."""
    data, options = stream.read(), STAMP.replace(on_conflict="leave")
    monkeypatch.setitem(IMAGES, "amd:1", found("amd64"))
    stamped = edited(data, options).data
    for platforms in ("amd64", "amd64 arm64", "arm64 s390x"):
        monkeypatch.setitem(IMAGES, "amd:1", found(platforms))
        assert edited(stamped, options).data == edited(data, options).data


def _term(*values, more=""):
    expression = f"{{key: kubernetes.io/arch, operator: In, values: [{', '.join(values)}]}}{more}"
    required = f"{{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}"
    return f"{BLOCK}      affinity: {{nodeAffinity: {{{REQUIRED}: {required}}}}}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(_term("amd64"), True, id="narrower"),
        pytest.param(_term("amd64", "arm64"), False, id="as-wide"),
        pytest.param(
            _term("amd64", more=", {key: zone, operator: Exists}"), True, id="in-a-term-of-the-users"
        ),
        pytest.param(_term("amd64").replace("In,", "NotIn,"), False, id="another-operator"),
        pytest.param(
            BLOCK + "      nodeSelector: {kubernetes.io/arch: amd64}\n", False, id="a-node-selector"
        ),
        pytest.param(BLOCK, False, id="nothing"),
    ],
)
def test_without_stamp_a_narrow_term_of_our_shape_stays_and_is_told(text, said, moves):
    moves("amd64 arm64")
    run = edited(text.encode(), Options(tolerate=()))
    assert run.data == text.encode()
    messages = [str(result) for result in run.edits.messages]
    assert any("allows only amd64, though the images run on amd64, arm64" in one for one in messages) == said
    pinned = "nodeSelector:" in text
    assert any("this pins the pod to amd64" in one for one in messages) == pinned
    assert len(messages) == said + pinned
