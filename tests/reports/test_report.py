"""The report holds JSON's own values: what a stream calls a number is a number there."""

import json

import pytest

from archfit.images.platforms import Found, parse_platform
from archfit.options.settings import Options
from archfit.pipeline import transform
from archfit.reports.report import RunReport, json_report
from archfit.yaml import stream
from archfit.yaml.json_output import json_output, json_parts

POD = b"""\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  template:
    spec:
      containers: [{name: a, image: 'x.example/a:1'}]
      tolerations: [{key: k, operator: Exists, tolerationSeconds: 300}]
"""


def test_numbers_and_booleans_of_the_stream_are_numbers_and_booleans():
    both = Found((parse_platform("linux/amd64"), parse_platform("linux/arm64")))
    read = stream.read_stream(POD, "pass")
    done = transform(
        read.data, read.pieces, Options(prefer=(("arm64", 5),)), lambda texts: dict.fromkeys(texts, both)
    )
    made = json_report(RunReport("archfit", 0, done.messages, done.decisions, done.answers), "")
    (decision,) = json.loads(b"".join(made))["decisions"]
    (own,) = [decision for _, decision in done.decisions]
    assert (decision["outcome"], decision["reason"]) == (own.outcome, own.reason)
    assert own.reason
    text = json.dumps(decision["patch"])
    assert '"weight": 5' in text
    assert '"tolerationSeconds": 300' in text


@pytest.mark.parametrize("length", [0, 1, 99, 100, 101, 250])
def test_a_list_is_written_item_by_item_as_it_would_be_at_once(length):
    items = [{"a": number, "b": ["ä\x85##", None]} for number in range(length)]
    made = b"".join(json_parts([("first", 1), ("items", iter(items)), ("last", {})]))
    assert made == json_output({"first": 1, "items": items, "last": {}}, indent=None)


def test_a_long_report_is_never_whole_in_memory():
    taken = []
    items = (taken.append(number) or "x" * 1000 for number in range(3000))
    parts = json_parts([("items", items)])
    assert len(next(parts)) < 400_000
    assert len(taken) < 1000
    assert json.loads(b"".join(json_parts([("items", iter(["x"] * 3))]))) == {"items": ["x"] * 3}
