"""docs/check.md and `archfit schema explain` are what archfit writes."""

import json
import re

import jsonschema
import pytest
from tests.explain.explained_pods import explained_stream, tree

from archfit.explain import command as explained_command
from archfit.explain.schema import schema
from archfit.images.platforms import Absent, Unknown
from archfit.options.rules import exclude
from archfit.options.settings import Options
from machine import ROOT
from pod_decisions import found

PAGE = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      containers:
      - {name: web, image: "nginx:1.29"}
      - {name: api, image: "ghcr.io/acme/api:2"}
"""
ANSWERS = {
    "nginx:1.29": found(
        "amd64 arm64", digest=f"sha256:{'ab12cd34ef56' * 5}", origin="cache", age_seconds=7300
    ),
    "ghcr.io/acme/api:2": found("amd64", digest=f"sha256:{'12ab34cd56ef' * 5}"),
}
PINNED = WEB.replace(
    "      containers:", "      nodeSelector: {kubernetes.io/arch: arm64}\n      containers:"
)
WIDGET = """\
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {template: {spec: {containers: []}}}
"""


def test_the_tree_of_the_page_is_written_so():
    assert tree(WEB, ANSWERS, name="rendered/web.yaml") in BLOCKS


@pytest.mark.parametrize(
    ("stream", "options"),
    [
        pytest.param("", Options(), id="nothing"),
        pytest.param(WEB, Options(prefer=(("arm64", 5),)), id="a-change"),
        pytest.param(PINNED + WIDGET, Options(), id="a-conflict-and-an-object-passed-over"),
        pytest.param(WEB, Options(exclude=(exclude("*"),)), id="left-alone"),
        pytest.param(WEB.replace("ghcr.io/acme/api:2", "gone:1"), Options(), id="an-image-that-is-absent"),
        pytest.param(WEB.replace("ghcr.io/acme/api:2", "asleep:1"), Options(), id="an-image-that-is-unknown"),
        pytest.param(WEB.replace("ghcr.io/acme/api:2", "$(x)"), Options(), id="an-image-that-is-unasked"),
        pytest.param(WEB.replace("ghcr.io/acme/api:2", "A@b"), Options(), id="an-image-that-is-malformed"),
    ],
)
def test_the_json_follows_the_schema(stream, options):
    images = {**ANSWERS, "gone:1": Absent("no such manifest"), "asleep:1": Unknown("no answer")}
    value = json.loads(explained_command.as_json(explained_stream(stream, images, options), 0))
    jsonschema.validate(value, schema())
    assert len(value["pods"]) == stream.count("Deployment")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**value, "secrets": []}, schema())
