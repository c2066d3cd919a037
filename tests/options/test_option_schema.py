"""Help, documentation and JSON Schema say what the table says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from archfit.options import option_types
from archfit.options.config_file import from_file, schema
from archfit.options.layers import merge
from archfit.options.settings import Operator, Options
from archfit.options.table import TABLE, default_text
from archfit.placement.filters import MISSED
from archfit.yaml.config_yaml import parse_config

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
SCHEMA = schema()
HEAD: dict[str, Any] = {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit"}


def example() -> str:
    """The full configuration file of the page."""
    return next(
        block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "kind: ArchFit" in block
    )


def valid(value: object) -> bool:
    return bool(Draft202012Validator(SCHEMA).is_valid(value))


def test_the_schema_is_a_schema():
    """By the meta-schema of draft 2020-12."""
    Draft202012Validator.check_schema(SCHEMA)


def test_an_option_that_is_a_filter_has_its_warning():
    """A row that says `filter`, and the sentences about entries that mean nothing of the input."""
    assert {option.key for option in TABLE if option.filter} == set(MISSED)


def test_the_example_of_the_page_loads_and_is_valid():
    """It changes most of what there is."""
    layer = from_file(example().encode(), "archfit.yaml")
    assert layer.enforced == ("clusterArchitectures", "onConflict", "mirror")
    assert merge([layer]).options != Options()
    assert valid(parse_config(example()).values)


def test_every_yaml_block_of_the_page_loads():
    """Fragments too, put under the head that they need."""
    for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL):
        whole = block
        if "kind: ArchFit" not in block:
            body = block if block.startswith("operator:") else "spec:\n" + re.sub("(?m)^", "  ", block)
            whole = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n" + body
        assert from_file(whole.encode(), "x.yaml").source == "file x.yaml (--config)"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({**HEAD, "spec": {"onConflikt": "fail"}}, id="a key of spec"),
        pytest.param({**HEAD, "spec": {"cache": "/x"}}, id="an operator's key under spec"),
        pytest.param({**HEAD, "operator": {"exclude": []}}, id="a key of spec under operator"),
        pytest.param({**HEAD, "specs": {}}, id="a part"),
        pytest.param({**HEAD, "spec": {"onConflict": "leav"}}, id="a word"),
        pytest.param({**HEAD, "spec": {"clusterArchitectures": ["amr64"]}}, id="an architecture"),
        pytest.param({**HEAD, "spec": {"clusterArchitectures": []}}, id="no architecture"),
        pytest.param({**HEAD, "spec": {"clusterArchitectures": ["windows/amd64"]}}, id="Windows nodes alone"),
        pytest.param(
            {**HEAD, "spec": {"clusterArchitectures": ["amd64", "windows/s390x"]}}, id="an OS's own"
        ),
        pytest.param({**HEAD, "spec": {"strict": "true"}}, id="a quoted boolean"),
        pytest.param({**HEAD, "spec": {"prefer": {"arm64": 101}}}, id="a weight"),
        pytest.param({**HEAD, "spec": {"tolerate": ["arch=arm64"]}}, id="a taint without effect"),
        pytest.param(
            {**HEAD, "spec": {"tolerate": [{"architectures": ["arm64"], "toleration": {}}]}},
            id="a toleration of all",
        ),
        pytest.param({**HEAD, "spec": {"rules": [{"match": {}}]}}, id="a rule without effect"),
        pytest.param({**HEAD, "spec": {"rules": [{"skip": True}]}}, id="a rule without match"),
        pytest.param({**HEAD, "operator": {"timeout": 30}}, id="a duration without unit"),
        pytest.param({**HEAD, "operator": {"mirror": {"a": "ftp://b"}}}, id="a mirror"),
        pytest.param({**HEAD, "operator": {"enforced": ["onConflikt"]}}, id="an enforced name"),
        pytest.param({"kind": "ArchFit"}, id="no version"),
    ],
)
def test_the_schema_and_the_loader_refuse_the_same(value):
    """An editor that knows the schema shows the mistake before archfit does."""
    from archfit.base.errors import UsageError

    assert not valid(value)
    with pytest.raises(UsageError):
        from_file(json.dumps(value).encode(), "x.yaml")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(HEAD, id="nothing"),
        pytest.param({**HEAD, "metadata": {"name": "x"}, "spec": None, "operator": None}, id="empty parts"),
        pytest.param({**HEAD, "spec": {"tolerate": "none", "prefer": "none", "exclude": "none"}}, id="none"),
        pytest.param(
            {**HEAD, "spec": {"clusterArchitectures": [386, "amd64"]}}, id="an architecture of digits"
        ),
        pytest.param(
            {**HEAD, "spec": {"clusterArchitectures": ["amd64", "windows/amd64"]}}, id="Windows nodes"
        ),
        pytest.param({**HEAD, "spec": {"tolerate": ["gke", "a:NoExecute@arm64,amd64"]}}, id="taints"),
        pytest.param({**HEAD, "operator": {"maxStale": 0, "cacheTtl": "1h30m"}}, id="durations"),
        pytest.param({**HEAD, "operator": {"mirror": "none", "enforced": []}}, id="no mirror"),
    ],
)
def test_the_schema_and_the_loader_accept_the_same(value):
    """What archfit accepts is not marked as wrong by an editor."""
    assert valid(value)
    merge([from_file(json.dumps(value).encode(), "x.yaml")])


@pytest.mark.parametrize("option", TABLE, ids=lambda option: option.key)
def test_the_documented_default_is_the_default(option):
    """The table's default, read as a file's value and as a flag's text, is that of Options and Operator."""
    actual = getattr(Options() if option.part == "spec" else Operator(), option.field)
    if option.default is None:
        assert actual == ""
    else:
        assert option.type.data(option.default) == actual
        text = default_text(option)
        assert not text or option.type.text([text]) == actual


def test_every_field_has_its_option():
    """And every option its field; `operator.enforced` has one of its own."""
    fields = {f"spec.{name}" for name in Options._fields} | {f"operator.{name}" for name in Operator._fields}
    derived = {"spec.enforced_annotations", "spec.on_unknown_is_enforced", "spec.stamps_present"}
    assert {f"{option.part}.{option.field}" for option in TABLE} == fields - derived


@pytest.mark.parametrize("option", TABLE, ids=lambda option: option.key)
def test_a_row_is_complete(option):
    """A sentence for help, a value in help unless it is a switch, and names that follow from the key."""
    assert re.fullmatch(r"[A-Z].*\.", option.help)
    assert bool(option.metavar) == (option.type is not option_types.SWITCH and not option.file_only)
    if not option.file_only:
        assert option.flags[0] == "--" + re.sub("([A-Z])", lambda found: "-" + found[1].lower(), option.key)
        assert option.variable == "ARCHFIT_" + option.flags[0][2:].replace("-", "_").upper()
