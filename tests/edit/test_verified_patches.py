"""archfit patch prints nothing that python-jsonpatch reads otherwise than archfit."""

import io
import json

import pytest

from archfit.base.patch import Add, Operation, Remove, Test, apply
from archfit.base.results import Location, ObjectRef
from archfit.edit import object_patches
from archfit.edit.object_patches import ObjectPatch, wrong_patches
from archfit.patch import command
from archfit.yaml.values import Typed

WEB = ObjectRef("apps/v1", "Deployment", "shop", "web")
LIST = [Typed("bool", "yes"), None]
VALUE = {
    "kind": "Deployment",
    "spec": {
        "replicas": Typed("int", "0x10"),
        "odd": Typed("float", ".nan"),
        "list": [Typed("bool", "yes"), None],
    },
}


def entry(*steps: Operation) -> ObjectPatch:
    return ObjectPatch(WEB, Location(1, 1), False, steps, VALUE)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([Test(("spec", "new"), None), Add(("spec", "new"), [{"key": "a"}])], id="a new member"),
        pytest.param([Test(("spec", "list"), LIST), Add(("spec", "list", "-"), "b")], id="the end of a list"),
        pytest.param([Add(("spec", "list", 0), "b")], id="into a list"),
        pytest.param([Add(("spec", "a/b~c"), Typed("float", "1e3"))], id="an odd key"),
        pytest.param([Remove(("spec", "replicas"))], id="a member goes"),
        pytest.param([], id="nothing"),
    ],
)  # fmt: skip
def test_a_good_patch_passes(steps):
    assert wrong_patches([entry(*steps)]) == []


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([Add(("spec", "missing", "a"), "b")], id="no such member"),
        pytest.param([Test(("spec", "replicas"), Typed("int", "3"))], id="a test that fails"),
        pytest.param([Add(("spec", "list", 9), "b")], id="behind the end"),
        pytest.param([Remove(("spec", "a"))], id="nothing to remove"),
        pytest.param([Add(("spec", "replicas", "a"), "b")], id="below a number"),
    ],
)
def test_a_patch_that_cannot_be_applied_is_a_bug(steps):
    (wrong,) = wrong_patches([entry(*steps)])
    assert str(wrong).startswith(
        "error: apps/v1/Deployment/shop/web: the patch is wrong: it cannot be applied ("
    )


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda value, patch: apply(value, patch[:-1]), id="it forgets a step"),
        pytest.param(
            lambda value, patch: apply(value, (*patch, Add(("spec", "b"), 1))), id="it adds another"
        ),
        pytest.param(lambda value, patch: apply(value, (Add(patch[0].path, True),)), id="true for 1"),
    ],
)
def test_two_readings_of_a_patch_are_a_bug(monkeypatch, broken):
    monkeypatch.setattr(object_patches, "apply", broken)
    (wrong,) = wrong_patches([entry(Add(("spec", "a"), Typed("int", "1")))])
    assert "python-jsonpatch makes another object of it" in wrong.text


POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: a, image: 'x.example/a:1'}\n"
STATED = ("--image-platforms", "x.example/*=linux/amd64", "--offline", "--no-cache")


def test_a_broken_patch_is_never_printed(monkeypatch, tmp_path):
    """Exit code 1 and an empty standard output, as for any bug; the report says so."""
    monkeypatch.setattr(command, "entries", lambda *_: [entry(Add(("spec", "missing", "a"), "b"))])
    stdout = io.BytesIO()
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    code = command.patch(["--format", "json", *STATED], io.BytesIO(POD), stdout, io.StringIO(), environ)
    assert (code, stdout.getvalue()) == (1, b"")
    report = json.loads((tmp_path / "archfit" / "last.json").read_bytes())
    assert report["exit"] == 1
    assert "the patch is wrong" in report["results"][-1]["message"]
