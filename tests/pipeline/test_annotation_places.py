"""Where an annotation of archfit counts in a stream, and what is said of one that stands elsewhere."""

from typing import Any

import pytest
import yaml

from archfit.options.settings import Options
from case_files import rows
from pod_decisions import ARCH
from stream_edits import Failed, edited

CONTAINERS = "containers: [{name: a, image: both:1}]"


def two_levels(api_version: str, kind: str, *path: str) -> str:
    """A kind with a template of an object that has the template of a pod; `- x` is a list's item."""
    text, indent = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a%s}}\nspec:\n", "  "
    for name in path:
        text += f"{indent}{name}:\n"
        indent += "    " if name.startswith("- ") else "  "
    return text + (
        f"{indent}metadata: {{%s}}\n{indent}spec:\n{indent}  template:\n{indent}    metadata: {{%s}}\n"
        f"{indent}    spec: {{{CONTAINERS}}}\n"
    )


WRAPPED = f"""\
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {{name: w%s}}
spec:
  components:
  - template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {{name: d, %s}}
      spec:
        template:
          metadata: {{%s}}
          spec: {{{CONTAINERS}}}
"""
WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: w%s}
spec:
  entrypoint: a
  podMetadata: {%s}
  templates:
  - name: a
    metadata: {%s}
    container: {image: both:1}
"""
SHAPES = {
    "cron-job": two_levels("batch/v1", "CronJob", "jobTemplate"),
    "job-set": two_levels("jobset.x-k8s.io/v1alpha2", "JobSet", "replicatedJobs", "- template"),
    "advanced-cron-job": two_levels("apps.kruise.io/v1alpha1", "AdvancedCronJob", "template", "jobTemplate"),
    "app-wrapper": WRAPPED,
    "workflow": WORKFLOW,
}


def written(shape: str, *onlys: str) -> bytes:
    """The stream with `archfit.dev/only` in each of the three places, "" for none; the object's comes first."""
    notes = [f"annotations: {{archfit.dev/only: {only}}}" if only else "" for only in onlys]
    notes[0] = notes[0] and f", {notes[0]}"
    return (SHAPES[shape] % tuple(notes)).encode()


def demanded(data: bytes) -> list[str]:
    """The architectures that the only pod asks for after the run, [] for none."""
    found: list[Any] = []

    def search(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("key") == ARCH and value.get("operator") == "In":
                found.extend(value["values"])
            for member in value.values():
                search(member)
        elif isinstance(value, list):
            for item in value:
                search(item)

    search(list(yaml.safe_load_all(edited(data, Options(immutable="full", tolerate=())).data)))
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("onlys", "wanted"),
    [
        pytest.param(("", "", ""), [], id="noop-none"),
        pytest.param(("amd64", "", ""), ["amd64"], id="object"),
        pytest.param(("", "amd64", ""), ["amd64"], id="between"),
        pytest.param(("", "", "amd64"), ["amd64"], id="pod"),
        pytest.param(("arm64", "amd64", ""), ["amd64"], id="between-beats-object"),
        pytest.param(("amd64", "amd64", "arm64"), ["arm64"], id="pod-beats-all"),
        pytest.param(("amd64", "'amd64,arm64'", ""), [], id="the-nearest-allows-all"),
    ],
)
def test_the_annotation_nearest_to_the_pod_wins(shape, onlys, wanted):
    data = written(shape, *onlys)
    assert demanded(data) == wanted
    if not wanted:
        assert edited(data, Options(immutable="full", tolerate=())).data == data


DEPLOYMENT = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  template:
    spec: {{{CONTAINERS}}}
"""


def error(data: str) -> tuple[str, str]:
    """(field, message) of the only error."""
    with pytest.raises(Failed) as failed:
        edited(data.encode())
    (found,) = failed.value.messages
    assert found.severity == "error"
    assert found.ref is not None
    assert found.location is not None
    return found.field, found.text


@pytest.mark.parametrize(
    ("data", "field", "message"), rows("placement/annotation_places.yaml", "data", "field", "message")
)
def test_an_annotation_that_counts_nowhere_is_an_error(data, field, message):
    assert error(data) == (field, message)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("apiVersion: v1\nkind: Service\nmetadata: {name: s, annotations: {archfit.dev/skpi: x}}\n", id="an-object-without-pods"),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: s, annotations: "
            '{archfit.dev/skip: "true"}}}\n- {apiVersion: v1, kind: Pod, metadata: {name: p, annotations: '
            '{archfit.dev/skip: "true"}}, spec: {containers: [{name: a, image: amd:1}]}}\n',
            id="an-object-without-pods-beside-one-with",
        ),
        pytest.param(
            DEPLOYMENT.replace("name: web", "name: web, labels: {archfit.dev/team: a}").replace("both:1", "both:1, env: [{name: A, value: archfit.dev/skip}]"),
            id="a-name-and-a-value-of-the-user",
        ),
        pytest.param(
            DEPLOYMENT.replace(
                "name: web",
                "name: web, ownerReferences: [{kind: A, name: a, controller: true}], annotations: {archfit.dev/skpi: x}, labels: {archfit.dev/skip: x}",
            ),
            id="an-object-of-a-controller",
        ),
    ],
)  # fmt: skip
def test_what_is_no_annotation_of_a_pod_passes(data):
    assert edited(data.encode(), Options(tolerate=())).data == data.encode()


def test_an_error_on_an_object_with_several_pods_is_one_error():
    pod = f"{{template: {{spec: {{{CONTAINERS}}}}}}}"
    data = (
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r, annotations: {archfit.dev/onyl: amd64}}\n"
        f"spec: {{headGroupSpec: {pod}, workerGroupSpecs: [{pod}, {pod}]}}\n"
    )
    assert error(data) == (
        'metadata.annotations["archfit.dev/onyl"]',
        "there is no annotation archfit.dev/onyl; did you mean archfit.dev/only?",
    )


NAMES = ", ".join(f"archfit.dev/x{number}: a" for number in range(2400))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(
            f"metadata: {{name: a, annotations: {{{NAMES}}}}}\nspec: {{{CONTAINERS}}}", id="unknown"
        ),
        pytest.param(
            f"metadata: {{name: a}}\nspec: {{{CONTAINERS}, x: {{annotations: {{{NAMES}}}}}}}", id="misplaced"
        ),
    ],
)
def test_errors_of_one_kind_are_few(data):
    """One pod of 70 KB may not hold a process that many share."""
    with pytest.raises(Failed) as failed:
        edited(f"apiVersion: v1\nkind: Pod\n{data}\n".encode())
    assert len(failed.value.messages) == 6
    assert "2395 more names" in failed.value.messages[-1].text
