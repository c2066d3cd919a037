"""What a release changes of the files that Artifact Hub reads is as it documents it.

Sources: artifacthub/hub, docs/metadata/artifacthub-pkg.yml, docs/helm_annotations.md, and
docs/container_images_repositories.md.
"""

import datetime as dt
import re

import pytest
import yaml

from machine import ROOT

CATEGORIES = {
    "ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking", "security",
    "storage", "streaming-messaging", "skip-prediction",
}  # fmt: skip
FIELDS = {
    "version", "name", "displayName", "alternativeName", "createdAt", "description", "logoPath", "logoURL", "digest",
    "license", "homeURL", "appVersion", "readme", "install", "category", "keywords", "links", "changes", "maintainers",
    "provider", "deprecated", "prerelease",
}  # fmt: skip
KINDS = {"added", "changed", "deprecated", "removed", "fixed", "security"}
LISTING = yaml.safe_load((ROOT / "helm-plugin" / "artifacthub-pkg.yml").read_bytes())
CHART = yaml.safe_load((ROOT / "charts" / "archfit" / "Chart.yaml").read_bytes())["annotations"]


def test_the_listing_has_documented_fields_alone():
    assert set(LISTING) <= FIELDS
    assert {"version", "name", "displayName", "createdAt", "description"} <= set(LISTING)
    assert LISTING["category"] in CATEGORIES
    assert dt.datetime.fromisoformat(LISTING["createdAt"]).tzinfo


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(LISTING["changes"], id="plugin"),
        pytest.param(yaml.safe_load(CHART["artifacthub.io/changes"]), id="chart"),
    ],
)
def test_changes_are_of_the_kinds_that_are_shown(changes):
    for change in changes:
        assert set(change) <= {"kind", "description", "links"}
        assert change["kind"] in KINDS
        assert change["description"]


def test_the_annotations_of_the_chart_are_those_of_artifact_hub():
    assert CHART["artifacthub.io/category"] in CATEGORIES
    assert CHART["artifacthub.io/license"] == "Apache-2.0"


def test_the_image_has_the_labels_that_artifact_hub_requires():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    labels = dict(re.findall(r'^(?:LABEL)? +([\w./-]+)="([^"]*)"', text, re.MULTILINE))
    readme = labels["io.artifacthub.package.readme-url"].partition("/archfit/raw/main/")[2]
    assert (ROOT / readme).is_file()
    assert labels["org.opencontainers.image.description"]
    assert labels["io.artifacthub.package.category"] in CATEGORIES
