"""docs/serve.md and the chart's README are true: their values, files, objects and examples exist."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from archfit.options.config_file import from_file
from machine import ROOT

CHART = ROOT / "charts" / "archfit"
PAGE = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
POLICY = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
README = (CHART / "README.md").read_text(encoding="utf-8")
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def known(path: str) -> bool:
    """Whether values.yaml has the value, or holds it in a mapping of the user's."""
    value: Any = VALUES
    for key in path.split("."):
        if value == {}:
            return True
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def leaves(value: Any, path: str = "") -> list[str]:
    if path in {
        "metrics.dashboard.labels",
        "configuration",
        "resources",
        "policy.resources",
        "audit.resources",
        "podSecurityContext",
        "nodeSelector",
    }:
        return [path]
    if not isinstance(value, dict) or not value:
        return [path]
    return [
        leaf for key, member in value.items() for leaf in leaves(member, f"{path}.{key}".removeprefix("."))
    ]


@pytest.mark.parametrize("page", [PAGE, POLICY, README], ids=["serve.md", "policy.md", "README.md"])
def test_the_values_that_a_page_sets_exist(page: str) -> None:
    found = re.findall(r"--set(?:-file|-json|-string)? '?([\w.]+)=", page)
    assert found
    assert [path for path in found if not known(path)] == []


def test_the_charts_readme_lists_every_value_and_no_other() -> None:
    table = README.partition("## Values\n")[2].partition("\n## ")[0]
    listed = {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", row)
    }
    assert listed == set(leaves(VALUES))


def test_the_values_of_the_chart_that_the_page_names_exist() -> None:
    table = PAGE.partition("| To | Value of the chart |")[2].partition("\n\n")[0]
    named = [
        name
        for row in table.splitlines()
        for name in re.findall(
            r"`(?:--set-file )?([\w.]+)(?:=[^`]*)?`", row.split("|")[-2:-1][0] if row else ""
        )
    ]
    assert len(named) >= 3
    assert [path for path in named if not known(path)] == []


def test_the_kinds_that_the_page_names_are_those_of_the_chart() -> None:
    folder = CHART / "templates" / "webhook"
    templates = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.yaml"))
    kinds = set(re.findall(r"^kind: (\w+)$", templates, re.MULTILINE))
    rows = PAGE.partition("| Object | What it does |")[2].partition("\n\n")[0]
    named = {
        word
        for row in re.findall(r"^\| (.+?) \|", rows, re.MULTILINE)
        for word in re.findall(r"[A-Z]\w+", row)
    }
    # A Role for each pull secret, the monitoring and the test are asked for by values.
    assert named - {"Object"} == kinds - {"Role", "RoleBinding", "ServiceMonitor", "Pod"}
    (name,) = re.findall(r"^  - name: (pods\.\S+)$", templates, re.MULTILINE)
    assert f'name="{name}"' in PAGE
    assert f'webhook "{name}"' in PAGE
    assert f"does not answer within {VALUES['webhook']['timeoutSeconds']} seconds" in PAGE


def test_the_configuration_for_those_who_come_from_k8smultiarcher_is_read() -> None:
    part = PAGE.partition("## Move from k8smultiarcher")[2].partition("\n## ")[0]
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    (rule,) = from_file(text.encode(), "archfit.yaml").given["tolerate"].value
    assert (rule.toleration.key, rule.toleration.value) == ("k8smultiarcher", "arm64Supported")
    assert tuple(rule.architectures) == ("arm64",)


def test_the_image_is_built_as_its_dockerfile_says() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^# +(docker buildx build .*)$", dockerfile, re.MULTILINE)
    assert command in PAGE.replace("\\\n  ", "")


def test_the_chart_names_no_template_that_does_not_exist() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert schema["additionalProperties"] is False
    helpers = (CHART / "templates" / "_helpers.tpl").read_text(encoding="utf-8")
    defined = set(re.findall(r'define "([\w.]+)"', helpers))
    used = {
        name
        for path in CHART.rglob("templates/**/*")
        if path.is_file()
        for name in re.findall(r'include "([\w.]+)"', path.read_text(encoding="utf-8"))
    }
    assert used == defined
