"""The option `customResources` in every place where somebody may give it: each of its values, and a wrong one."""

import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from archfit.base.errors import UsageError
from archfit.integrations.argocd.plugin_environment import PARAMETERS, application_of
from archfit.options.config_file import schema
from archfit.options.settings import Layer
from archfit.rewrite import command as transform
from machine import ROOT

pytestmark = pytest.mark.usefixtures("nothing_seen")

HEAD = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {customResources: %s}\n"
STATED = "metadata: {name: %s}\nspec:\n  template:\n    metadata: {annotations: {archfit.dev/image-platforms: '%s'}}\n"
SPEC = "    spec: {containers: [{name: a, image: 'a.example/a:1'}]}\n"
ITEM = f"apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\n{STATED}{SPEC}"
STREAM = f"{ITEM % ('a', 'linux/amd64')}---\n{ITEM % ('b', 'linux/amd64,linux/arm64')}"
# Whether an affinity and a toleration are written for a kind that was not seen.
WRITTEN = {"all": (True, True), "read": (True, False), "seen": (False, False), "none": (False, False)}


def run(words: list[str], stream: str = STREAM, **environ: str) -> tuple[int, str, str]:
    out, err = io.BytesIO(), io.StringIO()
    status = transform.transform(words, io.BytesIO(stream.encode()), out, err, environ)
    return status, out.getvalue().decode(), err.getvalue()


def flag(value: str, folder: Path) -> tuple[int, str, str]:
    return run(["--custom-resources", value], HOME=str(folder))


def variable(value: str, folder: Path) -> tuple[int, str, str]:
    return run([], HOME=str(folder), ARCHFIT_CUSTOM_RESOURCES=value)


def file(value: str, folder: Path) -> tuple[int, str, str]:
    (folder / "archfit.yaml").write_text(HEAD % value, encoding="utf-8")
    return run(["--config", str(folder / "archfit.yaml")], HOME=str(folder))


def function(value: str, folder: Path) -> tuple[int, str, str]:
    """As kustomize and kpt start it: the option stands in the functionConfig."""
    items = "".join("- " + item.rstrip().replace("\n", "\n  ") + "\n" for item in STREAM.split("---\n"))
    config = "functionConfig:\n  " + (HEAD % value).rstrip().replace("\n", "\n  ") + "\n"
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
    return run([], f"{head}items:\n{items}{config}", HOME=str(folder))


@pytest.mark.parametrize("value", WRITTEN)
@pytest.mark.parametrize("door", [flag, variable, file, function])
def test_each_value_counts(door, value, tmp_path):
    status, out, err = door(value, tmp_path)
    assert status == 0, err
    assert ("nodeAffinity" in out, "tolerations" in out) == WRITTEN[value]


@pytest.mark.parametrize(
    ("door", "where"),
    [
        (flag, "--custom-resources"),
        (variable, "ARCHFIT_CUSTOM_RESOURCES"),
        (file, "spec.customResources"),
        (function, "spec.customResources"),
    ],
)
def test_a_wrong_value_names_the_place_and_the_values(door, where, tmp_path):
    with pytest.raises(UsageError) as caught:
        door("some", tmp_path)
    assert str(caught.value).endswith(
        f"{where}: 'some' is not one of all, read, seen, none: write one of them"
    )


@pytest.mark.parametrize("value", WRITTEN)
@pytest.mark.parametrize(
    "said",
    [
        lambda value: {PARAMETERS: json.dumps([{"name": "customResources", "string": value}])},
        lambda value: {"ARGOCD_ENV_ARCHFIT_CUSTOM_RESOURCES": value},
    ],
    ids=["parameter", "plugin.env"],
)
def test_an_application_of_argo_cd_may_give_it(said, value):
    placement = application_of({"ARGOCD_APP_NAME": "a", **said(value)}).placement
    assert isinstance(placement, Layer)
    assert {key: given.value for key, given in placement.given.items()} == {"customResources": value}
    with pytest.raises(UsageError, match="'some' is not one of all, read, seen, none"):
        application_of({"ARGOCD_APP_NAME": "a", **said("some")})


def test_the_operator_may_enforce_it(tmp_path):
    path = tmp_path / "archfit.yaml"
    path.write_text(HEAD % "none" + "operator: {enforced: [customResources]}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="--custom-resources: customResources is enforced by"):
        run(["--custom-resources=all"], HOME=str(tmp_path), ARCHFIT_CONFIG=str(path))


@pytest.mark.parametrize(
    "schema",
    [schema(), json.loads((ROOT / "charts/archfit/values.schema.json").read_text(encoding="utf-8"))],
    ids=["file", "chart"],
)
def test_the_schemas_know_the_values(schema):
    found = [one for one in _members(schema, "customResources") if isinstance(one, dict)]
    assert [one["enum"] for one in found] == [list(WRITTEN)]
    assert Draft202012Validator(found[0]).is_valid("seen")
    assert not Draft202012Validator(found[0]).is_valid("some")


def _members(value: object, name: str) -> list[object]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value[name]] if isinstance(value, dict) and name in value else []
    return [*own, *(one for member in inside for one in _members(member, name))]
