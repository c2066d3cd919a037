"""The files of `workloads/kinds`: what is wrong in one is named with file and line, and all of them fit the schema."""

import re

import jsonschema
import pytest
import yaml

from archfit.base.errors import InternalError
from archfit.base.patch import pattern_text, undotted
from archfit.options.workload_rows import schema
from archfit.workloads import custom_rows

HEAD = "operator: Widgets\napiVersions: [v1]\nworkloads:\n"
ROW = f"{HEAD}- kind: Widget\n  podSpec: spec.pod\n"
WRONG = [
    pytest.param("", "line 1: has to be a mapping", id="an empty file"),
    pytest.param("a: [\n", "line 2: this is not YAML", id="no YAML"),
    pytest.param("workloads: []\n", "line 1: has no operator", id="no operator"),
    pytest.param(
        "operator: a\nworkload: []\n", "line 2, workload: there is no key 'workload' here", id="another part"
    ),
    pytest.param(
        "operator: a\napiVersions: []\nworkloads: {}\n", "line 3, workloads: has to be a list", id="no list"
    ),
    pytest.param(
        f"{ROW}  podSpec: spec.b\n", "line 6: the key 'podSpec' is here a second time", id="a key twice"
    ),
    pytest.param(
        f"{ROW}  podspec: spec.b\n",
        "line 6, workloads[0].podspec: there is no key 'podspec' here",
        id="an unknown field",
    ),
    pytest.param(
        f"{ROW}  group: example.com\n",
        "line 6, workloads[0].group: there is no key 'group' here",
        id="the group of the file's name",
    ),
    pytest.param(f"{HEAD}- kind: Widget\n", "line 4, workloads[0]: has no podSpec", id="no place"),
    pytest.param(
        f"{ROW}  within: spec.other\n",
        "line 6, workloads[0].within: has to be podSpec or a part of it",
        id="within elsewhere",
    ),
    pytest.param(
        f"{ROW}  within: spec\n  exists: spec.a\n",
        "line 7, workloads[0].exists: says what within says",
        id="two conditions of one meaning",
    ),
    pytest.param(
        f"{ROW}  apiVersions: [example.com/v1]\n",
        "line 6, workloads[0].apiVersions[0]: 'example.com/v1' matches no version of an API",
        id="a version with its group",
    ),
    pytest.param(
        f"{ROW}  outside: {{nodeSelector: a}}\n",
        "line 6, workloads[0].outside.nodeSelector: 'nodeSelector' is none of affinity, tolerations",
        id="another field that comes from outside",
    ),
    pytest.param(
        f"{ROW}  embedding: {{compared: a}}\n",
        "line 6, workloads[0].embedding: means nothing without objects",
        id="what is done to objects without objects",
    ),
    pytest.param(
        f"{ROW}  images:\n  - spec.a\n  - spec..b\n",
        "line 8, workloads[0].images[1]: 'spec..b' is not a path",
        id="no path",
    ),
    pytest.param(
        f"{ROW}  pins: 'true'\n", "line 6, workloads[0].pins: 'true' is not a boolean", id="no boolean"
    ),
    pytest.param(
        f"{ROW}  when:\n    spec.a: true\n",
        'line 7, workloads[0].when["spec.a"]: true is a boolean in YAML',
        id="a boolean as text",
    ),
    pytest.param(
        f"{ROW}  objects: spec.a\n  embedding:\n    create: a\n",
        "line 8, workloads[0].embedding.create: there is no key 'create' here",
        id="an unknown field of what is done to objects",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path, text, message):
    path = tmp_path / "example.com.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InternalError, match=re.escape(f"{path} {message}")):
        custom_rows.KindsFile(str(path), "example.com").rows("Widget")


def test_a_right_file_has_its_rows(tmp_path):
    path = tmp_path / "example.com.yaml"
    path.write_text(ROW, encoding="utf-8")
    found = custom_rows.KindsFile(str(path), "example.com")
    (row,) = found.rows("Widget")
    assert (found.operator, found.kinds, row.group, row.pod_spec) == (
        "Widgets", ("Widget",), "example.com", ("spec", "pod"),
    )  # fmt: skip
    assert found.rows("Gadget") == ()


@pytest.mark.parametrize("group", custom_rows.groups())
def test_each_file_fits_the_schema_and_is_sorted_by_kind(group):
    with open(custom_rows.groups()[group], encoding="utf-8") as file:
        value = yaml.safe_load(file)
    jsonschema.Draft202012Validator(schema()).validate(value)
    kinds = [row["kind"] if isinstance(row["kind"], list) else [row["kind"]] for row in value["workloads"]]
    assert [listed[0] for listed in kinds] == sorted(listed[0] for listed in kinds)
    assert all(listed == sorted(listed) for listed in kinds)


@pytest.mark.parametrize("group", ["../kinds/k6.io", "k6.io/", "K6.IO", "k6.io.yaml", "", ".."])
def test_a_group_of_a_manifest_becomes_no_path(group):
    assert custom_rows.custom_rows(group, "TestRun") == ()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("spec.a[*].b", ("spec", "a", "*", "b")),
        ('metadata.annotations["example.com/a.b"]', ("metadata", "annotations", "example.com/a.b")),
        ('spec["a.b"].c', ("spec", "a.b", "c")),
        ('spec["a.b"][*].c', ("spec", "a.b", "*", "c")),
        ('["a.b"]["c.d"]', ("a.b", "c.d")),
    ],
)
def test_paths_as_text_and_back(text, path):
    assert undotted(text) == path
    assert pattern_text(path) == text


@pytest.mark.parametrize(
    "text", ['spec["a', 'spec[""]', 'spec["a"]b', 'spec.["a"]', 'spec["a"].', "[*].a", "a'b"]
)
def test_what_is_no_path(text):
    with pytest.raises(ValueError, match=r"."):
        undotted(text)
