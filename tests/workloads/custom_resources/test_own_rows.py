"""`workloads:` of the configuration: kinds that archfit does not know, and the row that it shows for them."""

import re

import pytest
from jsonschema import Draft202012Validator

from archfit.base.errors import UsageError
from archfit.options.config_file import from_file, from_values, schema
from archfit.options.layers import merge
from archfit.options.settings import Options
from archfit.yaml.config_yaml import parse_config as read_document
from stream_edits import edited, placed

HEAD = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"
AFFINITY = """\
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


def configured(text: str) -> Options:
    """The options of a configuration file with this `spec`, which its schema allows."""
    assert Draft202012Validator(schema()).is_valid(read_document(HEAD + text).values)
    return merge([from_file((HEAD + text).encode(), "archfit.yaml")]).options


def with_affinity(text: str) -> bytes:
    """`text` with AFFINITY in the place of each line `@`."""
    lines = []
    for line in text.splitlines(keepends=True):
        blank = line[: len(line) - len(line.lstrip())]
        lines += (
            [blank + added for added in AFFINITY.splitlines(keepends=True)] if line.strip() == "@" else [line]
        )
    return "".join(lines).encode()


def without(text: str) -> bytes:
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() != "@").encode()


UNKNOWN = [
    pytest.param(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  parts:\n  - template:\n      spec:\n"
        "        containers:\n        - image: app:1\n        @\n  - template:\n      spec:\n        containers:\n"
        "        - image: app:2\n        @\n",
        "spec.parts[*].template.spec",
        id="a pod template",
    ),
    pytest.param(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  server:\n    image: app:1\n"
        "    tolerations:\n    - operator: Exists\n      key: a\n    @\n",
        "spec.server",
        id="an image beside tolerations",
    ),
    pytest.param(
        "apiVersion: v1\nkind: Gadget\nmetadata:\n  name: a\nspec:\n  containers:\n  - image: app:1\n  @\n",
        "spec",
        id="a kind of the core group",
    ),
]


@pytest.mark.parametrize(("text", "path"), UNKNOWN)
def test_the_row_that_is_shown_works_when_it_is_pasted(judge, text, path):
    before, after = without(text), with_affinity(text)
    output = edited(before)
    assert output.data == before
    (said,) = output.edits.messages
    assert said.severity == "info"
    shown = re.search(r"add this to the configuration file: (.*)", said.text)
    assert shown
    assert f"podSpec: '{path}'" in shown[1]
    assert placed(judge, before, configured(shown[1] + "\n")) == after


def test_a_kind_is_named_once_however_many_there_are():
    one = "apiVersion: example.com/v1\nkind: Widget\nspec:\n  containers: [{image: 'app:1'}]\n---\n"
    (said,) = map(str, edited((one * 3).encode()).edits.messages)
    assert said == (
        "info: example.com/v1/Widget: not transformed: example.com/Widget seems to hold a pod template, but "
        "archfit does not know where; to change it, add this to the configuration file: spec: {workloads: [{group: "
        "'example.com', kind: Widget, podSpec: 'spec'}]} (3 such objects) (document 1, line 1)"
    )


def test_what_does_not_look_like_a_pod_is_passed_through_in_silence():
    text = b"apiVersion: example.com/v1\nkind: Widget\nspec: {image: {size: 3}, template: x}\n"
    assert edited(text).edits.messages == ()


WORKING = [
    pytest.param(
        "spec:\n  workloads:\n  - group: example.com\n    kind: Widget\n    podSpec: spec.placement\n"
        "    within: spec\n    images: [spec.image]\n",
        "apiVersion: example.com/v1\nkind: Widget\nspec:\n  image: app:1\n  placement:\n    @\n",
        id="a holder that is created, for an image elsewhere",
    ),
    pytest.param(
        "spec:\n  workloads:\n  - group: example.com\n    kind: Widget\n    podSpec: spec\n    images: [spec.image]\n"
        "    affinity: spec.where.affinity\n    nodeSelector: spec.nodes\n",
        "apiVersion: example.com/v1\nkind: Widget\nspec:\n  image: app:1\n  where:\n    zone: a\n    @\n",
        id="fields at places of their own",
    ),
    pytest.param(
        "spec:\n  workloads:\n  - {group: example.com, kind: Widget, podSpec: spec.a}\n"
        "  - {group: example.com, kind: Widget, podSpec: 'spec.many.*'}\n",
        "apiVersion: example.com/v1\nkind: Widget\nspec:\n  a:\n    containers:\n    - image: app:1\n    @\n"
        "  many:\n    x:\n      containers:\n      - image: app:1\n      @\n",
        id="several rows of a kind, members of a mapping",
    ),
    pytest.param(
        "spec:\n  workloads:\n  - {group: argoproj.io, kind: Rollout, podSpec: spec.other}\n",
        "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nspec:\n  other:\n    containers:\n    - image: app:1\n    @\n"
        "  template:\n    spec:\n      containers:\n      - image: app:1\n",
        id="instead of the rows that archfit has",
    ),
    pytest.param(
        "spec:\n  workloads:\n  - {group: '', kind: ConfigMap, podSpec: spec}\n",
        "apiVersion: v1\nkind: ConfigMap\nspec:\n  containers:\n  - image: app:1\n  @\n",
        id="a kind that is known to hold no pod",
    ),
]


@pytest.mark.parametrize(("spec", "text"), WORKING)
def test_rows(judge, spec, text):
    before, after = without(text), with_affinity(text)
    if "placement:" in text:
        before = before.replace(b"  placement:\n", b"")
    assert placed(judge, before, configured(spec)).decode() == after.decode()


@pytest.mark.parametrize(
    ("image", "asked"),
    [
        pytest.param("app", ["app:v2"], id="a name"),
        pytest.param("'registry.example:5000/app'", ["registry.example:5000/app:v2"], id="a port"),
        pytest.param("'app:v1'", ["app:v1"], id="a tag"),
        pytest.param(f"'app@sha256:{'0' * 64}'", [f"app@sha256:{'0' * 64}"], id="a digest"),
        pytest.param("''", [], id="no image"),
    ],
)
def test_a_version_completes_an_image_that_has_no_tag(image, asked):
    options = configured(
        "spec: {workloads: [{group: example.com, kind: Widget, podSpec: spec.pod, images: [spec.image+version]}]}\n"
    )
    text = f"apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: a}}\nspec: {{image: {image}, version: v2, pod: {{}}}}\n"
    ((pod, _),) = edited(text.encode(), options).edits.decisions
    assert [use.text for use in pod.images if use.text] == asked


def test_an_immutable_kind_gets_only_what_it_needs():
    text = b"apiVersion: example.com/v1\nkind: Widget\nspec:\n  containers:\n  - image: both:1\n"
    row = "spec:\n  workloads:\n  - {group: example.com, kind: Widget, podSpec: spec%s}\n"
    assert edited(text, configured(row % ", immutable: true")).data == text
    assert b"tolerations:" in edited(text, configured(row % "")).data


def test_anyone_may_supply_them():
    """As placement, in a functionConfig too."""
    spec = {"workloads": [{"group": "example.com", "kind": "Widget", "podSpec": "spec"}]}
    layer = from_values(
        {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit", "spec": spec}, "functionConfig"
    )
    (row,) = merge([layer]).options.workloads
    assert (row.group, row.kind, row.pod_spec) == ("example.com", "Widget", ("spec",))


WRONG = [
    pytest.param("{group: a.b, kind: W}", "has no podSpec: write it as {group: example.com,", id="no podSpec"),
    pytest.param("{kind: W, podSpec: spec}", "has no group: write it as", id="no group"),
    pytest.param("{group: a.b/v1, kind: W, podSpec: s}", "'a.b/v1' is not an API group", id="a version"),
    pytest.param("{group: a.b, kind: W X, podSpec: s}", "'W X' is not a kind", id="no kind"),
    pytest.param("{group: a.b, kind: W, podSpec: 'spec.a[0]'}", "'spec.a[0]' is not a path", id="an index"),
    pytest.param("{group: a.b, kind: W, podSpec: /spec/a}", "'/spec/a' is not a path", id="a pointer"),
    pytest.param("{group: a.b, kind: W, podSpec: spec..a}", "'spec..a' is not a path", id="an empty step"),
    pytest.param("{group: a.b, kind: W, podspec: s}", "there is no key 'podspec' here: write 'podSpec'", id="a typo"),
    pytest.param("{group: a.b, kind: W, podSpec: spec.a, within: spec.b}", "within: has to be podSpec or a part of it", id="within elsewhere"),
]  # fmt: skip


TWICE = [
    pytest.param("podSpec: spec.a", "podSpec: spec.a, images: [spec.b]", "spec.a.affinity.nodeAffinity", id="alike"),
    pytest.param("podSpec: spec.a", "podSpec: spec.b, affinity: spec.a.affinity", "spec.a.affinity", id="one field"),
    pytest.param("podSpec: 'spec.a[*].b'", "podSpec: spec.a.x.b", "spec.a.x.b.affinity", id="one of the items"),
    pytest.param("podSpec: spec.a.x.b", "podSpec: 'spec.a[*].b'", "spec.a[*].b.affinity", id="all of the items"),
    pytest.param(
        "podSpec: spec.a, affinity: none", "podSpec: spec.a, affinity: spec.x", "spec.a.tolerations", id="tolerations",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "path"), TWICE)
def test_two_rows_for_one_place_are_one_error_with_its_line(one, other, path):
    rows = [
        f"{{group: a.b, kind: {kind}, {row}}}"
        for kind, row in (("W", one), ("V", other), ("W", one), ("W", other))
    ]
    text = f"{HEAD}spec:\n  workloads:\n" + "".join(f"  - {row}\n" for row in rows)
    with pytest.raises(UsageError) as wrong:
        from_file(text.encode(), "archfit.yaml")
    said = str(wrong.value)
    assert said.startswith(f"archfit.yaml line 8, spec.workloads[3]: two rows for W write to {path}")
    assert said.endswith(": merge them into one row with all images of that pod")


@pytest.mark.parametrize(
    "rows",
    [
        ["podSpec: spec.a", "podSpec: spec.b"],
        ["podSpec: spec.a", "podSpec: spec.a.b"],
        ["podSpec: spec.a", "podSpec: spec.a"],
        ["podSpec: 'spec.a[*].b'", "podSpec: spec.a.x.c"],
        ["podSpec: spec.a", "podSpec: spec.a, affinity: none, tolerations: none"],
    ],
    ids=[
        "beside each other",
        "one inside of the other",
        "the same row twice",
        "other members",
        "nothing written",
    ],
)
def test_other_rows_of_a_kind_go_together(rows):
    text = f"{HEAD}spec:\n  workloads:\n" + "".join(f"  - {{group: a.b, kind: W, {row}}}\n" for row in rows)
    assert from_file(text.encode(), "archfit.yaml").given["workloads"].value


KAFKA = b"""\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
spec:
  kafka:
    image: both:1
"""
LESS = (
    "spec:\n  workloads:\n  - {group: kafka.strimzi.io, kind: Kafka, podSpec: spec.kafka.template.pod, "
    "within: spec.kafka, images: [%s]}\n"
)


def test_rows_that_read_less_than_archfits_own_are_told_once():
    """A row of the user's replaces those that archfit has, and with them what they read."""
    stream = KAFKA + b"---\n" + KAFKA
    said = [str(one) for one in edited(stream, configured(LESS % "spec.kafka.image")).edits.messages]
    (told,) = [one for one in said if "workloads:" in one]
    assert told.startswith(
        "warning: workloads: the rows for kafka.strimzi.io/Kafka replace archfit's own, which read "
        "spec.kafka.brokerRackInitImage, spec.cruiseControl.template.pod, "
    )
    assert told.endswith(" too: add it to your rows, or leave your rows out")


def test_rows_that_read_as_much_are_not_told():
    rollout = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\n"
        b"spec: {template: {spec: {containers: [{image: 'app:1'}]}}}\n"
    )
    row = "spec:\n  workloads:\n  - {group: argoproj.io, kind: Rollout, podSpec: spec.template.spec}\n"
    assert edited(rollout, configured(row)).edits.messages == ()
    assert edited(KAFKA).edits.messages == edited(KAFKA, configured(row)).edits.messages


def test_a_kind_of_kubernetes_that_is_replaced_is_told_too():
    job = b"apiVersion: batch/v1\nkind: CronJob\nspec: {x: {containers: [{image: 'app:1'}]}}\n"
    row = "spec:\n  workloads:\n  - {group: batch, kind: CronJob, podSpec: spec.x}\n"
    (told,) = edited(job, configured(row)).edits.messages
    assert (
        "batch/CronJob replace archfit's own, which read spec.jobTemplate.spec.template.spec too" in told.text
    )


@pytest.mark.parametrize(("row", "message"), WRONG)
def test_a_wrong_row_is_an_error_with_its_line(row, message):
    text = f"{HEAD}spec:\n  workloads:\n  - {row}\n"
    with pytest.raises(UsageError) as wrong:
        from_file(text.encode(), "archfit.yaml")
    assert str(wrong.value).startswith("archfit.yaml line 5, spec.workloads[0]")
    assert message in str(wrong.value)


def test_the_page_shows_rows_that_load():
    from machine import ROOT

    page = (ROOT / "docs" / "custom-resources.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(apiVersion: archfit.*?)```", page, re.DOTALL)
    assert blocks
    for block in blocks:
        assert Draft202012Validator(schema()).is_valid(read_document(block).values)
        assert merge([from_file(block.encode(), "archfit.yaml")]).options.workloads


def test_the_page_names_every_kind_that_archfit_knows():
    from archfit.workloads.custom_rows import all_custom_rows
    from machine import ROOT

    page = (ROOT / "docs" / "custom-kinds.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Za-z0-9]+)`", page))
    assert {kind for _, kind in all_custom_rows()} - named == set()
