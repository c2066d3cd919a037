"""The report holds JSON's own values: what a stream calls a number is a number there."""

import json

from archfit import stream
from archfit.images.platforms import Found, parse_platform
from archfit.options.settings import Options
from archfit.pipeline import transform
from archfit.report.run_report import RunReport, json_value
from archfit.source.values import plain

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
    read = stream.read(POD, "pass")
    done = transform(
        read.data, read.pieces, Options(prefer=(("arm64", 5),)), lambda texts: dict.fromkeys(texts, both)
    )
    made = json_value(RunReport("archfit", 0, done.results, done.decisions, done.answers), "")
    (decision,) = json.loads(json.dumps(made, default=plain))["decisions"]
    text = json.dumps(decision["patch"])
    assert '"weight": 5' in text
    assert '"tolerationSeconds": 300' in text
