"""RFC 6902: our three operations mean what python-jsonpatch makes of them."""

import jsonpatch
import pytest

from archfit.base.patch import Add, PatchConflict, Remove, Test, apply, dotted, pointer, to_json

BEFORE = {"a": {"b": [1, 2]}, "n": None, "s/~": "t"}


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        pytest.param([], BEFORE, id="noop"),
        pytest.param([Add(("c",), 1)], {**BEFORE, "c": 1}, id="new-member"),
        pytest.param([Add(("n",), [1])], {**BEFORE, "n": [1]}, id="null-is-replaced"),
        pytest.param([Add(("a", "b", "-"), 3)], {**BEFORE, "a": {"b": [1, 2, 3]}}, id="append"),
        pytest.param([Add(("a", "b", 0), 0)], {**BEFORE, "a": {"b": [0, 1, 2]}}, id="insert-first"),
        pytest.param([Add(("a", "b", 2), 3)], {**BEFORE, "a": {"b": [1, 2, 3]}}, id="insert-at-the-end"),
        pytest.param([Test(("a", "b"), [1, 2]), Add(("c",), 1)], {**BEFORE, "c": 1}, id="test-holds"),
        pytest.param([Remove(("n",))], {"a": {"b": [1, 2]}, "s/~": "t"}, id="remove-member"),
        pytest.param([Remove(("a", "b", 0))], {**BEFORE, "a": {"b": [2]}}, id="remove-item"),
        pytest.param([Remove(("a", "b"))], {**BEFORE, "a": {}}, id="remove-below"),
        pytest.param([Add(("s/~",), "u")], {**BEFORE, "s/~": "u"}, id="escaped-key"),
    ],
)
def test_apply_agrees_with_jsonpatch(patch, after):
    assert apply(BEFORE, patch) == after
    assert jsonpatch.apply_patch(BEFORE, to_json(patch)) == after
    assert BEFORE == {"a": {"b": [1, 2]}, "n": None, "s/~": "t"}


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param([Test(("a",), 1)], id="test-fails"),
        pytest.param([Test(("n", "x"), 1)], id="test-below-null"),
        pytest.param([Add(("x", "y"), 1)], id="parent-missing"),
        pytest.param([Add(("a", "b", 3), 1)], id="index-out-of-range"),
        pytest.param([Add(("s/~", "x"), 1)], id="parent-is-text"),
        pytest.param([Remove(("x",))], id="remove-what-is-missing"),
        pytest.param([Remove(("a", "b", 2))], id="remove-behind-the-end"),
    ],
)
def test_what_cannot_be_applied_is_a_conflict(patch):
    with pytest.raises(PatchConflict):
        apply(BEFORE, patch)
    with pytest.raises((jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError)):
        jsonpatch.apply_patch(BEFORE, to_json(patch))


def test_a_missing_member_is_tested_as_null_as_kustomize_reads_it():
    assert apply(BEFORE, [Test(("missing",), None)]) is BEFORE


@pytest.mark.parametrize(
    ("path", "as_pointer", "as_dotted"),
    [
        pytest.param((), "", "", id="root"),
        pytest.param(("spec", "containers", 0, "image"), "/spec/containers/0/image", "spec.containers[0].image", id="plain"),
        pytest.param(("metadata", "annotations", "a.b/c~d"), "/metadata/annotations/a.b~1c~0d", 'metadata.annotations["a.b/c~d"]', id="escaped"),
        pytest.param(("tolerations", "-"), "/tolerations/-", "tolerations[-]", id="end-of-list"),
    ],
)  # fmt: skip
def test_paths_are_written_as_rfc_6901_and_as_people_do(path, as_pointer, as_dotted):
    assert (pointer(path), dotted(path)) == (as_pointer, as_dotted)
