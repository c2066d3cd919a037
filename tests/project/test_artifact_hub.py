"""The files that Artifact Hub reads have the fields it documents, and the version of pyproject.toml.

Sources: artifacthub/hub, docs/metadata/artifacthub-{pkg,repo}.yml, docs/helm_annotations.md, and
docs/container_images_repositories.md. The schema is strict, as Artifact Hub's own reader is.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from typing import Any

import jsonschema
import yaml

from machine import ROOT

TEXT = {"type": "string", "minLength": 1}
CATEGORIES = [
    "ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking", "security",
    "storage", "streaming-messaging", "skip-prediction",
]  # fmt: skip


def strict(*required: str, **properties: Any) -> dict[str, Any]:
    """The schema of an object that has these members and no other."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*required],
        "properties": properties,
    }


def several(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def matching(pattern: str) -> dict[str, str]:
    return {"type": "string", "pattern": pattern}


LINKS = several(strict("name", "url", name=TEXT, url=matching("^https://")))
CHANGES = several(
    strict(
        "description",
        kind={"enum": ["added", "changed", "deprecated", "removed", "fixed", "security"]},
        description=TEXT,
        links=LINKS,
    )
)
PEOPLE = several(strict("name", "email", name=TEXT, email=TEXT))
_TEXTS = "displayName alternativeName description logoPath logoURL digest license homeURL appVersion readme install"
PACKAGE = strict(
    *("version", "name", "displayName", "createdAt", "description"),
    version=matching(r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$"),
    name=matching("^[A-Za-z0-9-]+$"),
    category={"enum": CATEGORIES},
    createdAt=matching(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"),
    keywords=several(TEXT),
    links=LINKS,
    changes=CHANGES,
    maintainers=PEOPLE,
    provider=strict(name=TEXT),
    deprecated={"type": "boolean"},
    prerelease={"type": "boolean"},
    **dict.fromkeys(_TEXTS.split(), TEXT),
)
REPOSITORY = strict(repositoryID=TEXT, owners=PEOPLE, ignore=several(strict("name", name=TEXT, version=TEXT)))
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
LISTING = yaml.safe_load((ROOT / "helm-plugin" / "artifacthub-pkg.yml").read_bytes())


def test_the_listing_has_the_documented_fields_and_the_projects_version() -> None:
    jsonschema.validate(LISTING, PACKAGE)
    assert LISTING["version"] == LISTING["appVersion"] == VERSION
    dt.datetime.fromisoformat(LISTING["createdAt"])


def test_the_repository_file_has_the_documented_fields() -> None:
    jsonschema.validate(
        yaml.safe_load((ROOT / "helm-plugin" / "artifacthub-repo.yml").read_bytes()), REPOSITORY
    )


def test_the_annotations_of_the_chart_are_those_of_artifact_hub() -> None:
    chart = yaml.safe_load((ROOT / "charts" / "archfit" / "Chart.yaml").read_bytes())
    given = {key.removeprefix("artifacthub.io/"): text for key, text in chart["annotations"].items()}
    assert given["category"] in CATEGORIES
    assert given["license"] == "Apache-2.0"
    jsonschema.validate(yaml.safe_load(given["changes"]), CHANGES)
    assert chart["version"] == chart["appVersion"] == VERSION


def test_the_image_has_the_labels_that_artifact_hub_requires() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    labels = dict(re.findall(r'^(?:LABEL)? +([\w./-]+)="([^"]*)"', text, re.MULTILINE))
    readme = labels["io.artifacthub.package.readme-url"].partition("/archfit/raw/main/")[2]
    assert (ROOT / readme).is_file()
    assert labels["org.opencontainers.image.description"]
    assert labels["io.artifacthub.package.category"] in CATEGORIES
