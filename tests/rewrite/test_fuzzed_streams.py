"""Streams that a fuzzer found and that are refused, or lists; those that are edited are `fuzzed-*` in fixtures/edits."""

import io
import os

import pytest

from archfit.base.errors import ArchfitError
from archfit.options.settings import Options
from archfit.rewrite.command import transform as run
from stream_edits import Failed, edited

REFUSED = [
    pytest.param(
        "apiVersion: apps/v1\n'kind': Deployment\nspec:\n template:\n  spec:\n   containers:\n   - {image: n}\n"
        "   affinity:\n    nodeAffinity:\n     ? requiredDuringSchedulingIgnoredDuringExecution\n#:",
        "a key without ':' stands there",
        id="a key without a colon before a comment that has one",
    ),
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nspec:\n <<:\n  templates:\n  - script: {image: n}\n"
        "    e: !!float 1",
        "a value there has a tag, which would get lost",
        id="a float by its tag alone in what a merge supplies",
    ),
    pytest.param(
        " s:\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  spec: {containers: [{image: n}]}\n",
        "did not find expected <document start>",
        id="a list whose first line is indented",
    ),
    pytest.param(
        "kind: &a Deployment\napiVersion: apps/v1\nmetadata: *a\nspec: {template: {spec: {containers: [{image: n}]}}}\n",
        "metadata: is not a mapping, so what this run adds cannot be recorded",
        id="metadata that is a text",
    ),
    pytest.param(
        "kind: Pod\napiVersion: v1\nmetadata:\n  annotations:\n    archfit.dev/added: '[]' # c\nspec: {containers: [{image: n}]}\n",
        r'metadata.annotations\["archfit.dev/added"\] cannot be removed on its own: a comment stands there',
        id="a comment behind the stamp",
    ),
    pytest.param(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  spec:\n   template:\n    spec:\n"
        "     containers:\n     - image: n\n       args:\n#\n\t#\n        []\n",
        "found character that cannot start any token",
        id="a comment behind a tab between a key and its value in an item",
    ),
    pytest.param(
        "apiVersion: v1\nkind: PodTemplate\ntemplate:\n <<:\n  spec:\n  ? spec\n  :\n   containers:\n   - image: n\n",
        "the key stands twice: kubectl takes the last one, kustomize refuses the document",
        id="a pod spec that stands twice in what a merge supplies",
    ),
    pytest.param(
        "apiVersion: v1\nkind: PodTemplate\n<<:\n - template:\n   template:\n    spec:\n     containers:\n     - image: n\n",
        "the key stands twice: kubectl takes the last one, kustomize refuses the document",
        id="a template that stands twice in a list of mappings that a merge supplies",
    ),
    pytest.param(
        "apiVersion: apps/v1\nkind: Deployment\nspec:\n\ufefftemplate:\n  spec: {containers: [{image: n}]}\n",
        "a byte order mark at the start of a line",
        id="a byte order mark before a key inside of a document",
    ),
    pytest.param(
        "\ufeff\ufeffapiVersion: apps/v1\nkind: Deployment\nspec:\n template:\n  spec: {containers: [{image: n}]}\n",
        "a byte order mark stands at the start of this document",
        id="two byte order marks at the start of the stream",
    ),
    pytest.param(
        '---\n\ufeff{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"image":"n"}]}}]}',
        "a byte order mark stands at the start of this document",
        id="a byte order mark before a list behind the first line",
    ),
    pytest.param(
        "apiVersion: config.kubernetes.io/\nkind: ResourceList\nitems:\n-   '<<':\n    '<<':\n",
        "the key stands twice",
        id="a merge in quotes that stands twice",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_one_error_says_what_to_do(text, message):
    with pytest.raises(Failed, match=message):
        edited(text.encode(), Options(stamp=True))


LISTS = [
    pytest.param(
        "kind: ResourceList\nitems:\n- {apiVersion: apps/v1, kind: Deployment, metadata: {}, spec: {template: {spec: {containers: [{image: a}]}}}}\n"
        "results:\n? apiVersion\n: config.kubernetes.io/v1\n",
        id="an explicit key behind the results",
    ),
    pytest.param(
        "results:\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
        "- {apiVersion: apps/v1, kind: Deployment, metadata: {}, spec: {template: {spec: {containers: [{image: a}]}}}}\n",
        id="results before the items",
    ),
    pytest.param(
        "apiVersion: config.kubernetes.io/v1\n'kind': ResourceList\nitems:\n- apiVersion: argoproj.io/v1alpha1\n"
        "  kind: WorkflowTemplate\n  spec:\n   templates:\n   - {script: {image: x}}\n  z: |-\n   x",
        id="a quoted key and a block scalar at the end",
    ),
    pytest.param(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: Pod\n"
        "  spec: {containers: [{image: x}]}\n  z: |\n   x",
        id="a block scalar at the end",
    ),
]


@pytest.mark.parametrize("text", LISTS)
def test_items_and_results_of_a_list_both_arrive(text, judge):
    written = io.BytesIO()
    options = ["--offline", "--no-cache", "--image-platforms", "*=linux/amd64"]
    assert run(options, io.BytesIO(text.encode()), written, io.StringIO(), dict(os.environ)) == 0
    for read in (judge.kubectl, judge.kustomize):
        (before,), (after,) = read(text.encode()), read(written.getvalue())
        assert after.pop("results")
        before.pop("results", None)
        assert "amd64" in str(after)
        (old,), (new,) = before.pop("items"), after.pop("items")
        assert {key: new[key] for key in old if key != "spec"} == {
            key: old[key] for key in old if key != "spec"
        }
        assert before == after


def test_an_alias_in_the_configuration_may_have_its_anchor_in_the_list():
    text = (
        b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n"
        b"  data: &d {onConflict: leave}\nfunctionConfig: {apiVersion: v1, kind: ConfigMap, data: *d}\n"
    )
    written = io.BytesIO()
    assert run(["--offline"], io.BytesIO(text), written, io.StringIO(), dict(os.environ)) == 0
    assert written.getvalue() == text


def test_results_that_an_item_refers_to_are_not_written_anew():
    text = (
        b"results: &r []\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
        b"- {apiVersion: v1, kind: Pod, spec: {containers: [{image: a}]}}\n"
        b"- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: *r}\n"
    )
    written = io.BytesIO()
    options = ["--offline", "--no-cache", "--image-platforms", "*=linux/amd64"]
    with pytest.raises(
        ArchfitError, match="the results of the ResourceList have an anchor, &r, that other parts use"
    ):
        run(options, io.BytesIO(text), written, io.StringIO(), dict(os.environ))
    assert written.getvalue() == text
