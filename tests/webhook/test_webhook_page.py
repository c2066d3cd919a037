"""docs/serve.md and the chart's README are true: their values, files, objects and examples exist."""

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
def test_the_values_that_a_page_sets_exist(page):
    found = re.findall(r"--set(?:-file|-json|-string)? '?([\w.]+)=", page)
    assert found
    assert [path for path in found if not known(path)] == []


def test_the_charts_readme_lists_every_value_and_no_other():
    table = README.partition("## Values\n")[2].partition("\n## ")[0]
    listed = {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", row)
    }
    assert listed == set(leaves(VALUES))


def test_the_values_of_the_chart_that_the_page_names_exist():
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


def test_the_configuration_for_those_who_come_from_k8smultiarcher_is_read():
    part = PAGE.partition("## Move from k8smultiarcher")[2].partition("\n## ")[0]
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    (rule,) = from_file(text.encode(), "archfit.yaml").given["tolerate"].value
    assert (rule.toleration.key, rule.toleration.value) == ("k8smultiarcher", "arm64Supported")
    assert tuple(rule.architectures) == ("arm64",)
