"""What `customResources` makes of rows that were seen with their operators, and of rows that rest on reading."""

import json

import custom_kinds
import pytest

from archfit.options.settings import STATED, Options, Workload
from archfit.reports.report import decision_value
from archfit.reports.summary import summary
from archfit.workloads import custom_rows, known_rows
from seen_rows import rows_as_seen
from stream_edits import CustomResources, Failed, edited

pytestmark = pytest.mark.usefixtures("nothing_seen")

SEEN = ("apps.kruise.io", "CloneSet", "spec.template.spec")
BY = "OpenKruise 1.8.0 of 2025-02-17"
ARM = "a toleration of kubernetes.io/arch=arm64:NoSchedule"
SET = """\
apiVersion: apps.kruise.io/v1alpha1
kind: {kind}
metadata:
  name: {name}
spec:
  template:
    spec:
      containers:
      - {{name: a, image: '{image}'}}
"""
WIDGET = Workload("example.com", "Widget", ("spec", "template", "spec"), seen=STATED)
ALL, NEEDED, NOTHING = (True, True), (True, False), (False, False)


@pytest.fixture
def clone_set_seen(nothing_seen, monkeypatch):
    """CloneSets were recorded, StatefulSets of the same operator were not."""
    monkeypatch.setattr(custom_rows, "_ROWS", rows_as_seen({SEEN: BY}))


def of(kind: str, image: str, name: str = "a") -> bytes:
    return SET.format(kind=kind, name=name, image=image).encode()


def written(text: bytes, mode: CustomResources, options: Options | None = None) -> tuple[bool, bool]:
    """Whether affinity is written for an image of one architecture, and a toleration for one of both."""
    parts = [edited(text.replace(b"IMAGE", image), options, unseen=mode) for image in (b"amd:1", b"both:1")]
    return b"nodeAffinity" in parts[0].data, b"tolerations" in parts[1].data


@pytest.mark.usefixtures("clone_set_seen")
@pytest.mark.parametrize(
    ("mode", "seen", "read"),
    [("all", ALL, ALL), ("read", ALL, NEEDED), ("seen", ALL, NOTHING), ("none", NOTHING, NOTHING)],
)
def test_each_value_of_the_option(mode, seen, read):
    assert written(of("CloneSet", "IMAGE"), mode) == seen
    assert written(of("StatefulSet", "IMAGE"), mode) == read


@pytest.mark.parametrize("mode", ["all", "read", "seen", "none"])
def test_the_kinds_of_kubernetes_are_none_of_the_options_business(mode):
    deployment = of("Deployment", "IMAGE").replace(b"apps.kruise.io/v1alpha1", b"apps/v1")
    assert written(deployment, mode) == ALL
    assert edited(deployment.replace(b"IMAGE", b"both:1"), unseen=mode).edits.messages == ()


@pytest.mark.parametrize(
    ("mode", "expected"), [("all", ALL), ("read", ALL), ("seen", ALL), ("none", NOTHING)]
)
def test_the_users_rows_count_as_seen(mode, expected):
    widget = of("Widget", "IMAGE").replace(b"apps.kruise.io/v1alpha1", b"example.com/v1")
    assert written(widget, mode, Options(workloads=(WIDGET,))) == expected


def test_the_users_rows_replace_what_was_read():
    row = WIDGET.replace(group="apps.kruise.io", kind="StatefulSet")
    assert written(of("StatefulSet", "IMAGE"), "read", Options(workloads=(row,))) == ALL


WRAPPED = b"""\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: a}
objects:
- apiVersion: apps.kruise.io/v1alpha1
  kind: CloneSet
  metadata: {name: a}
  spec:
    template: {spec: {containers: [{name: a, image: 'IMAGE'}]}}
"""
WRAPPER = ("template.openshift.io", "Template", "objects[*]")


@pytest.mark.parametrize(
    ("seen", "expected"),
    [((), NEEDED), ((SEEN,), NEEDED), ((WRAPPER,), NEEDED), ((SEEN, WRAPPER), ALL)],
    ids=["neither", "inside", "around", "both"],
)
def test_a_pod_is_seen_if_every_row_on_its_way_is(monkeypatch, seen, expected):
    monkeypatch.setattr(custom_rows, "_ROWS", rows_as_seen(dict.fromkeys(seen, BY)))
    assert written(WRAPPED, "read") == expected
    of_kubernetes = WRAPPED.replace(b"apps.kruise.io/v1alpha1", b"apps/v1").replace(
        b"CloneSet", b"Deployment"
    )
    assert written(of_kubernetes, "read") == (ALL if WRAPPER in seen else NEEDED)
    assert written(of_kubernetes, "none") == NOTHING


def test_each_kind_is_named_once_however_many_objects_it_has():
    several = b"---\n".join(
        of(kind, "amd:1", f"{kind.lower()}-{number}")
        for number in range(3)
        for kind in ("CloneSet", "StatefulSet")
    )
    results = edited(several, unseen="read").edits.messages
    assert [(one.severity, one.ref and one.ref.name) for one in results] == [
        ("warning", "cloneset-0"),
        ("warning", "statefulset-0"),
    ]
    assert {one.text for one in results} == {
        "not seen with OpenKruise: check the pods (3 such pods), or let admission place them (archfit policy, "
        "archfit serve)"
    }
    left = edited(several, unseen="seen").edits.messages
    assert {(one.severity, one.text) for one in left} == {
        ("info", "not transformed: not seen with OpenKruise (--custom-resources seen) (3 such pods)")
    }
    assert len(left) == 2
    none = edited(several, unseen="none").edits.messages
    assert {(one.severity, one.text) for one in none} == {
        ("info", "not transformed: it is a custom resource (--custom-resources none) (3 such pods)")
    }


def test_nothing_is_said_of_a_pod_that_needs_nothing():
    assert edited(of("CloneSet", "both:1"), unseen="read").edits.messages == ()
    skipped = of("CloneSet", "amd:1").replace(
        b"  name: a\n", b"  name: a\n  annotations: {archfit.dev/skip: 'true'}\n"
    )
    for mode in ("read", "seen", "none"):
        assert edited(skipped, unseen=mode).edits.messages == ()


def test_a_conflict_stays_one():
    pinned = of("CloneSet", "amd:1").replace(
        b"      containers:", b"      nodeSelector: {kubernetes.io/arch: arm64}\n      containers:"
    )
    with pytest.raises(Failed, match="pinned to arm64"):
        edited(pinned, unseen="read")


@pytest.mark.parametrize(("image", "withheld"), [("arm:1", ()), ("both:1", (ARM,)), ("amd:1", ())])
def test_a_toleration_is_written_only_where_each_architecture_needs_one(image, withheld):
    output = edited(of("CloneSet", image), unseen="read")
    ((_, decision),) = output.edits.decisions
    assert decision.withheld == withheld
    assert (b"tolerations" in output.data) == (image == "arm:1")
    assert output.data == edited(of("CloneSet", image)).data or withheld


@pytest.mark.parametrize("options", [Options(prefer=(("arm64", 5),)), Options(affinity="always")])
def test_no_preference_and_no_affinity_that_is_not_needed(options):
    text = of("CloneSet", "both:1")
    assert edited(text, options, unseen="read").data == text
    assert b"nodeAffinity" in edited(text, options).data


def test_a_stream_that_was_placed_with_all_is_left_as_it_is():
    text = edited(of("CloneSet", "both:1")).data
    (decision,) = (decision for _, decision in edited(text, unseen="read").edits.decisions)
    assert (decision.outcome, decision.withheld) == ("AlreadySet", ())


def test_the_summary_counts_what_is_no_longer_written():
    text = b"---\n".join(
        of("CloneSet", image, f"a{n}") for n, image in enumerate(["both:1", "both:1", "amd:1"])
    )

    def said(mode: CustomResources) -> str:
        made = edited(text, unseen=mode).edits
        return summary(made.decisions, made.answers, 0)

    assert (
        "; 2 pods of custom resources that were not seen with their operators get only what they cannot run without "
        "(--custom-resources all adds the rest); "
    ) in said("read")
    for mode in ("all", "seen", "none"):
        assert "custom resources" not in said(mode)


@pytest.mark.usefixtures("clone_set_seen")
def test_the_report_says_how_the_row_is_known():
    def value(text: bytes) -> dict[str, object]:
        (pair,) = edited(text, unseen="read").edits.decisions
        found: dict[str, object] = json.loads(json.dumps(decision_value(*pair)))
        return {name: found[name] for name in ("known", "withheld") if name in found}

    assert value(of("CloneSet", "both:1")) == {"known": f"seen with {BY}"}
    assert value(of("StatefulSet", "both:1")) == {
        "known": "read, not seen with OpenKruise",
        "withheld": ["a toleration of kubernetes.io/arch=arm64:NoSchedule"],
    }
    assert value(of("Deployment", "both:1").replace(b"apps.kruise.io/v1alpha1", b"apps/v1")) == {}


def test_a_kind_whose_row_gives_a_reason_keeps_it():
    text = (
        b"apiVersion: postgresql.cnpg.io/v1\nkind: ImageCatalog\nmetadata: {name: a}\nspec:\n"
        b"  images: [{major: 17, image: 'amd:1'}]\n"
    )
    for mode in ("all", "read", "seen", "none"):
        (said,) = edited(text, unseen=mode).edits.messages
        assert "it lists images for Clusters" in said.text


def test_each_group_has_an_operator_with_a_name():
    assert all(known_rows.operator_of(group) for group in custom_rows.groups())
    assert known_rows.operator_of("example.com") == "the operator of example.com"


def test_the_table_says_what_was_seen_and_what_is_written(monkeypatch):
    monkeypatch.setattr(custom_rows, "_ROWS", rows_as_seen({SEEN: BY}))
    lines = custom_kinds.markdown_table().splitlines()
    assert lines[2] == "| OpenKruise | `apps.kruise.io`: `CloneSet` | all (1.8.0, 2025-02-17) |"
    (unseen,) = (line for line in lines if "`AdvancedCronJob`" in line)
    assert unseen.endswith("| needed |")
    (never,) = (line for line in lines if "`SidecarSet`" in line)
    assert never.endswith("| nothing |")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("apps.kruise.io", "CloneSet"), f"seen with {BY}"),
        (("apps.kruise.io", "StatefulSet"), "read, not seen with OpenKruise"),
        (("apps.kruise.io", "SidecarSet"), "never changed"),
        (
            ("k6.io", "TestRun"),
            "seen with k6 operator 1.2.0 of 2025-09-02; other parts read, not seen with k6 operator",
        ),
    ],
)
def test_how_a_kind_is_known(monkeypatch, key, text):
    runner = ("k6.io", "TestRun", "spec.runner")
    monkeypatch.setattr(
        custom_rows, "_ROWS", rows_as_seen({SEEN: BY, runner: "k6 operator 1.2.0 of 2025-09-02"})
    )
    assert known_rows.known_kind(custom_rows.custom_rows(*key)) == text
