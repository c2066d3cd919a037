"""Schemas into rows: each shape that operators use, and what no schema says."""

import sys
from typing import Any

import pytest

from archfit.cluster.crds.definitions import definitions
from archfit.cluster.crds.derive import PLACES_LIMIT, derived, entries
from archfit.cluster.crds.schema import facts
from archfit.yaml.values import typed
from crd_schemas import (
    AFFINITY,
    NODE_AFFINITY,
    NODES,
    OPEN,
    PLACEMENT,
    TEXT,
    TOLERATIONS,
    crd,
    listed,
    mapped,
    obj,
    pod_spec,
)


def rows_of(definition: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a definition, without group and kind, and the notes."""
    (found,) = definitions(typed(definition))
    one = derived(found)
    rows = [dict(entries(row)) for row in one.rows]
    return [{key: row[key] for key in row if key not in {"group", "kind"}} for row in rows], list(one.notes)


SHAPES = [
    pytest.param({"template": obj(spec=pod_spec())}, [{"podSpec": "spec.template.spec"}], id="a pod template"),
    pytest.param({"parts": listed(obj(template=obj(spec=pod_spec())))}, [{"podSpec": "spec.parts[*].template.spec"}], id="pod templates in a list"),
    pytest.param({"roles": mapped(obj(template=obj(spec=pod_spec())))}, [{"podSpec": "spec.roles[*].template.spec"}], id="pod templates by name"),
    pytest.param(
        {"template": obj(spec=pod_spec("nodeSelector"))}, [{"podSpec": "spec.template.spec", "nodeSelector": "none"}], id="a pod spec without nodeSelector"
    ),
    pytest.param({"template": obj(spec=pod_spec("affinity"))}, [{"podSpec": "spec.template.spec", "affinity": "none"}], id="a pod spec without affinity"),
    pytest.param(
        {**pod_spec(image=TEXT)["properties"], "thanos": obj(image=TEXT)},
        [{"podSpec": "spec", "images": ["spec.image", "spec.thanos.image"]}],
        id="Prometheus: images of its own beside containers",
    ),
    pytest.param({"image": TEXT, **PLACEMENT}, [{"podSpec": "spec", "images": ["spec.image"]}], id="an image beside placement"),
    pytest.param(
        {"baseImage": TEXT, "sidecarImages": listed(TEXT), "initImages": mapped(TEXT), "imageName": TEXT, **PLACEMENT},
        [{"podSpec": "spec", "images": ["spec.baseImage", "spec.imageName", "spec.initImages[*]", "spec.sidecarImages[*]"]}],
        id="names of images",
    ),
    pytest.param(
        {"image": obj(repository=TEXT, tag=TEXT, pullPolicy=TEXT), **PLACEMENT},
        [{"podSpec": "spec", "images": ["spec.image.repository+tag"]}],
        id="VictoriaMetrics: repository and tag",
    ),
    pytest.param(
        {"volumes": listed(obj(image=obj(reference=TEXT), rbd=obj(image=TEXT))), **PLACEMENT},
        [{"podSpec": "spec", "images": ["spec.volumes[*].image.reference"]}],
        id="image volumes, but no block devices of Ceph",
    ),
    pytest.param(
        {"affinity": obj(nodeAffinity=NODE_AFFINITY, tolerations=TOLERATIONS, nodeSelector=NODES), "imageName": TEXT},
        [{"podSpec": "spec", "images": ["spec.imageName"], "tolerations": "spec.affinity.tolerations", "nodeSelector": "spec.affinity.nodeSelector"}],
        id="CloudNativePG: tolerations in affinity",
    ),
    pytest.param(
        {"nodeAffinity": NODE_AFFINITY, "tolerations": TOLERATIONS, "dockerImage": TEXT},
        [{"podSpec": "spec", "images": ["spec.dockerImage"], "affinity": "spec", "nodeSelector": "none"}],
        id="Zalando: spec holds nodeAffinity",
    ),
    pytest.param(
        {"pxc": obj(image=TEXT, affinity=obj(advanced=AFFINITY, antiAffinityTopologyKey=TEXT), tolerations=TOLERATIONS)},
        [{"podSpec": "spec.pxc", "images": ["spec.pxc.image"], "affinity": "spec.pxc.affinity.advanced", "nodeSelector": "none"}],
        id="Percona: affinity.advanced is the affinity",
    ),
    pytest.param(
        {"kafka": obj(image=TEXT, template=obj(pod=obj(affinity=AFFINITY, tolerations=TOLERATIONS)))},
        [{"podSpec": "spec.kafka.template.pod", "within": "spec.kafka", "images": ["spec.kafka.image"], "nodeSelector": "none"}],
        id="Strimzi: template.pod is created where the image's mapping is",
    ),
    pytest.param(
        {"image": TEXT, "nodeSets": listed(obj(podTemplate=obj(spec=obj(**PLACEMENT))))},
        [{"podSpec": "spec.nodeSets[*].podTemplate.spec", "within": "spec.nodeSets[*]", "images": ["spec.image"]}],
        id="one image for the items of a list",
    ),
    pytest.param(
        {"image": TEXT, "podTemplate": obj(spec=pod_spec())},
        [{"podSpec": "spec.podTemplate.spec", "images": ["spec.image"]}],
        id="a pod spec that has to have containers is never created",
    ),
    pytest.param(
        {"image": TEXT, "exporter": obj(**PLACEMENT)},
        [{"podSpec": "spec.exporter", "images": ["spec.image"]}],
        id="a component is never created: that may switch it on",
    ),
    pytest.param(
        obj(rules=("self == oldSelf",), template=obj(spec=pod_spec())), [{"podSpec": "spec.template.spec", "immutable": True}], id="a spec that cannot change"
    ),
    pytest.param(
        {"name": obj(rules=("self == oldSelf",), a=TEXT), "template": obj(spec=pod_spec())},
        [{"podSpec": "spec.template.spec"}],
        id="no-op twin: another field cannot change",
    ),
    pytest.param(
        obj(rules=("self.replicas >= oldSelf.replicas",), template=obj(spec=pod_spec())), [{"podSpec": "spec.template.spec"}], id="no-op twin: another rule"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "rows"), SHAPES)
def test_a_shape_becomes_a_row(spec, rows):
    found, notes = rows_of(crd("example.com/Widget", spec=spec))
    assert found == rows
    assert notes == []


HOMELESS = (
    "no affinity or tolerations beside or above it; "
    "if a pod of a row runs it, add it to its images, else to neverRun"
)
NOTES = [
    pytest.param({"image": TEXT}, [], [f"spec.image: {HOMELESS}"], id="an image without a place"),
    pytest.param(
        PLACEMENT, [], ["spec: placement without an image; if an image at another path runs there, write a row with both"], id="a place without an image"
    ),
    pytest.param(
        {"image": TEXT, "tag": TEXT, **PLACEMENT},
        [{"podSpec": "spec", "images": ["spec.image"]}],
        ["spec.image: tag beside it may be a part of the image's name, which no row reads"],
        id="a tag beside the image",
    ),
    pytest.param(
        {"image": obj(registry=TEXT, repository=TEXT, tag=TEXT), **PLACEMENT},
        [{"podSpec": "spec", "images": ["spec.image.repository+tag"]}],
        ["spec.image.repository+tag: registry beside it may be a part of the image's name, which no row reads"],
        id="a registry beside the repository",
    ),
    pytest.param(
        {"image": TEXT, "podTemplate": OPEN},
        [],
        [
            "spec.podTemplate.spec: the schema leaves it open; if it is a pod spec, add this row: "
            "{group: 'example.com', kind: 'Widget', podSpec: 'spec.podTemplate.spec', within: 'spec', "
            "images: ['spec.image']}"
        ],
        id="ECK: an open pod template",
    ),
    pytest.param(
        {"jobTemplate": OPEN},
        [],
        [
            "spec.jobTemplate.spec.template.spec: the schema leaves it open; if it is a pod spec, add this row: "
            "{group: 'example.com', kind: 'Widget', podSpec: 'spec.jobTemplate.spec.template.spec'}"
        ],
        id="an open job template",
    ),
    pytest.param(
        {"image": TEXT, **PLACEMENT, "sidecars": listed(OPEN)},
        [{"podSpec": "spec", "images": ["spec.image"]}],
        ["spec.sidecars[*]: the schema leaves it open; if images stand there, add them to a row's images"],
        id="open containers",
    ),
    pytest.param({"values": OPEN, "replicas": TEXT}, [], ["spec.values: the schema leaves this open; a row is needed if a pod is in it"], id="an open part"),
    pytest.param(
        {"image": TEXT, **PLACEMENT, **{f"v{number:02}": OPEN for number in range(12)}},
        [{"podSpec": "spec", "images": ["spec.image"]}],
        [", ".join(f"spec.v{number:02}" for number in range(10)) + " and 2 more: the schema leaves this open; a row is needed if a pod is in it"],
        id="many open parts",
    ),
    pytest.param(
        {"manifests": listed({**OPEN, "x-kubernetes-embedded-resource": True})},
        [],
        ["spec.manifests[*]: a whole object is there, which a row cannot describe"],
        id="whole objects",
    ),
    pytest.param(
        {"image": TEXT, **PLACEMENT, "part": obj(image=TEXT, **PLACEMENT)},
        [{"podSpec": "spec", "images": ["spec.image"]}, {"podSpec": "spec.part", "images": ["spec.part.image"]}],
        ["spec.part: it may inherit or replace the placement of spec, which no row can express"],
        id="places inside of each other",
    ),
    pytest.param(
        {"image": TEXT, "nodeSelector": NODES},
        [],
        [f"spec.image: {HOMELESS}", "spec.nodeSelector: a nodeSelector alone; archfit writes affinity and tolerations"],
        id="a nodeSelector alone",
    ),
    pytest.param(
        {"image": TEXT, "affinity": TEXT, "tolerations": TOLERATIONS, "nodeSelector": NODES},
        [{"podSpec": "spec", "images": ["spec.image"], "affinity": "none"}],
        ["spec.affinity: its members are not those of Kubernetes, so that archfit cannot write there"],
        id="an affinity that is a text",
    ),
    pytest.param(
        {"image": TEXT, "kes": obj(image=TEXT, **PLACEMENT)},
        [{"podSpec": "spec.kes", "images": ["spec.kes.image"]}],
        [f"spec.image: {HOMELESS}"],
        id="an image above a place that has one of its own",
    ),
    pytest.param(
        {"a'b": obj(image=TEXT, **PLACEMENT)},
        [],
        ['"spec.a\'b.image": a key in this path cannot be written in a row', '"spec.a\'b": a key in this path cannot be written in a row'],
        id="a key with a quote",
    ),
    pytest.param(
        {"a.b": obj(image=TEXT, **PLACEMENT)},
        [{"podSpec": 'spec["a.b"]', "images": ['spec["a.b"].image']}],
        [],
        id="a key with a dot",
    ),
    pytest.param(
        {"tolerations": TOLERATIONS, "serverImage": TEXT, "podTemplateSpec": obj(spec=pod_spec())},
        [{"podSpec": "spec.podTemplateSpec.spec"}],
        ["spec: tolerations of the pods whose templates stand below it; the rows are those of the templates", f"spec.serverImage: {HOMELESS}"],
        id="Cassandra: tolerations above the template",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "rows", "notes"), NOTES)
def test_what_a_schema_does_not_say_is_a_note(spec, rows, notes):
    assert rows_of(crd("example.com/Widget", spec=spec)) == (rows, notes)


def test_versions_that_differ_are_told():
    image = {"image": TEXT, **PLACEMENT}
    rows, notes = rows_of(crd("example.com/Widget", spec=image, v2=image, v3={"part": obj(**image)}, v4=None))
    assert rows == [{"podSpec": "spec", "images": ["spec.image"]}]
    assert notes == [
        "version v3 differs (spec.part): the rows are those of v1",
        "version v4 has no schema, and was not read",
    ]


def test_v1beta1_has_one_schema_for_all_versions():
    schema = obj(spec=obj(image=TEXT, **PLACEMENT))
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget"},
            "version": "v1alpha1",
            "validation": {"openAPIV3Schema": schema},
        },
    }
    assert rows_of(definition) == ([{"podSpec": "spec", "images": ["spec.image"]}], [])


NONE = [
    pytest.param({"replicas": {"type": "integer"}, "skipImage": {"type": "boolean"}}, id="nothing of a pod"),
    pytest.param(
        {"imagePullPolicy": TEXT, "imagePullSecrets": listed(obj(name=TEXT))},
        id="words that begin with image",
    ),
    pytest.param({"env": listed(OPEN), "resources": OPEN, "labels": OPEN}, id="open parts that hold no pod"),
]


@pytest.mark.parametrize("spec", NONE)
def test_a_kind_without_a_pod_gets_neither_row_nor_note(spec):
    assert rows_of(crd("example.com/Widget", spec=spec)) == ([], [])


@pytest.mark.parametrize(
    "schema",
    [
        None,
        OPEN,
        obj(),
        obj(spec=OPEN),
        obj(spec=OPEN, status=obj(image=TEXT)),
        obj(apiVersion=TEXT, kind=TEXT, metadata=OPEN, status=OPEN),
        {"type": "string"},
    ],
)
def test_a_schema_that_says_nothing_has_no_version(schema):
    root = {} if schema is None else schema
    definition = crd("example.com/Widget", root=root or {"type": "object"})
    (found,) = definitions(typed(definition))
    assert derived(found).version == ""


ODD = [
    None,
    [],
    "x",
    3,
    {"properties": []},
    {"properties": {"spec": None}},
    {"items": 3},
    {"required": {"a": 1}},
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "at", [("spec",), ("spec", "versions"), ("spec", "names"), ("spec", "versions", 0, "schema")]
)
def test_an_odd_definition_is_no_bug(odd, at):
    definition = crd("example.com/Widget", spec={"image": TEXT, **PLACEMENT})
    holder: Any = definition
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = odd
    for found in definitions(typed(definition)):
        derived(found)


@pytest.mark.parametrize(
    ("group", "kind"),
    [("", "Widget"), ("example.com", ""), ("a\nb: c", "Widget"), ("a.b", "W\n"), ("a/b", "W")],
)
def test_a_definition_without_a_name_is_none(group, kind):
    definition = crd("example.com/Widget", spec={})
    definition["spec"]["group"], definition["spec"]["names"]["kind"] = group, kind
    assert list(definitions(typed(definition))) == []


def calls(schema: dict[str, Any]) -> int:
    """How many functions the walk calls: its work, without a clock."""
    count = 0

    def counted(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    value = typed(schema)
    sys.setprofile(counted)
    try:
        facts(value)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "many",
    [
        pytest.param(lambda n: obj(**{f"a{i}": obj(b=TEXT) for i in range(n)}), id="members"),
        pytest.param(lambda n: obj(**{f"a{i}": obj(image=TEXT, **PLACEMENT) for i in range(n)}), id="places"),
        pytest.param(lambda n: obj(**{f"a{i}": pod_spec() for i in range(n)}), id="pod specs"),
    ],
)
def test_twice_the_schema_is_twice_the_work(many):
    assert calls(many(400)) < 2.1 * calls(many(200))


def test_more_places_than_anybody_has_are_not_read():
    """Images and places are compared with each other, so their number has a limit."""
    many = {f"a{number}": obj(image=TEXT, **PLACEMENT) for number in range(PLACES_LIMIT + 1)}
    rows, (note,) = rows_of(crd("example.com/Widget", spec=many))
    assert rows == []
    assert note == "its schema has 501 places for pods and 501 images: too many to read"
