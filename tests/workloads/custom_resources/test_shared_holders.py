"""Several pods of an object that need the same mapping: it is created once."""

import pytest

from archfit.options.config_file import from_file
from archfit.options.layers import merge
from archfit.options.settings import Options
from stream_edits import edited, placed

CONNECT = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaConnect
metadata:
  name: c
spec:
  image: app:1
  build:
    output:
      image: app:1
"""
OWN = """\
apiVersion: archfit.dev/v1alpha1
kind: ArchFit
spec:
  workloads:
    - {group: a.b, kind: W, podSpec: spec.pods.one, within: spec, images: [spec.image]}
    - {group: a.b, kind: W, podSpec: spec.pods.two, within: spec, images: [spec.image]}
"""
WIDGET = """\
apiVersion: a.b/v1
kind: W
metadata:
  name: w
spec:
  image: {image}
"""


def affinities(value: object) -> int:
    if isinstance(value, dict):
        return ("nodeAffinity" in value) + sum(map(affinities, value.values()))
    return sum(map(affinities, value)) if isinstance(value, list) else 0


def test_two_templates_of_a_kafka_connect(judge):
    (made,) = judge.kubectl(placed(judge, CONNECT.encode()))
    assert set(made["spec"]["template"]) == {"pod", "buildPod"}
    assert affinities(made["spec"]["template"]) == 2


@pytest.mark.parametrize(("image", "count"), [("app:1", 2), ("both:1", 0)])
def test_two_rows_of_the_users(judge, image, count):
    options = merge([from_file(OWN.encode(), "archfit.yaml")]).options
    (made,) = judge.kubectl(placed(judge, WIDGET.format(image=image).encode(), options))
    assert set(made["spec"]["pods"]) == {"one", "two"}
    assert affinities(made["spec"]) == count


def test_one_that_stands_there_is_not_touched(judge):
    """The no-op twin: with the mapping in the text, and where nothing is needed."""
    there = CONNECT + "  template: {}\n"
    (made,) = judge.kubectl(placed(judge, there.encode()))
    assert set(made["spec"]["template"]) == {"pod", "buildPod"}
    assert edited(CONNECT.encode(), Options(affinity="never", tolerate=())).data == CONNECT.encode()


def test_the_same_mapping_in_another_object_is_another(judge):
    both = (CONNECT + "---\n" + CONNECT).encode()
    assert [affinities(one) for one in judge.kubectl(placed(judge, both))] == [2, 2]
    listed = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        "- " + CONNECT.replace("\n", "\n  ").rstrip() + "\n" for _ in range(2)
    )
    (made,) = judge.kubectl(placed(judge, listed.encode()))
    assert [affinities(one) for one in made["items"]] == [2, 2]


INHERITING = [
    pytest.param(
        "apiVersion: milvus.io/v1beta1\nkind: Milvus\nmetadata:\n  name: m\nspec:\n  components:\n    image: app:1\n"
        "    affinity:\n      podAntiAffinity: {}\n    dataNode:\n      image: app:1\n",
        id="a component of Milvus",
    ),
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  name: w\nspec:\n  templates:\n  - name: a\n"
        "    affinity:\n      podAntiAffinity: {}\n    container:\n      image: app:1\n    steps:\n    - - name: s\n"
        "        inline:\n          container:\n            image: app:1\n",
        id="an inline template of Argo",
    ),
]


@pytest.mark.parametrize("text", INHERITING)
def test_what_a_pod_inherits_may_be_edited_for_another_one(judge, text):
    (made,) = judge.kubectl(placed(judge, text.encode()))
    assert affinities(made) == 2
    assert str(made).count("podAntiAffinity") == 2
