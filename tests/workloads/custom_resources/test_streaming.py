"""Flink, Spark, Keycloak and others: which image runs in which pod, and which of several templates places it."""

from typing import Any

import pytest
import yaml

from stream_edits import edited

Found = dict[str, list[str]]

FLINK = """\
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {{name: a}}
spec: {{flinkVersion: v1_20, {spec}}}
"""
SPARK = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {{name: a}}
spec: {{{spec}}}
"""
KEYCLOAK = """\
apiVersion: k8s.keycloak.org/v2beta1
kind: Keycloak
metadata: {{name: a}}
spec: {{{spec}}}
"""
SIDECAR = "containers: [{name: flink-main-container}, {name: logs, image: 'both:1'}]"
MAIN = "containers: [{name: flink-main-container, image: 'both:1'}]"
COMMON, JOBS, TASKS = "podTemplate.spec", "jobManager.podTemplate.spec", "taskManager.podTemplate.spec"


def placements(template: str, spec: str) -> Found:
    """What was added to an object of the template: by path below `spec`, architectures or `tolerated`."""
    text = template.format(spec=spec)
    found: Found = {}
    _collect(yaml.safe_load(edited(text.encode()).data)["spec"], (), found)
    return found


def _collect(value: Any, at: tuple[str, ...], found: Found) -> None:
    if isinstance(value, list):
        for item in value:
            _collect(item, at, found)
    elif isinstance(value, dict):
        if value.get("key") == "kubernetes.io/arch":
            where = ".".join(at[: at.index("tolerations" if "tolerations" in at else "affinity")])
            found.setdefault(where, []).extend(value.get("values", ["tolerated"]))
        for key, member in value.items():
            _collect(member, (*at, key), found)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        pytest.param(f"podTemplate: {{spec: {{{SIDECAR}}}}}", {}, id="a sidecar is not the main container"),
        pytest.param(
            f"image: 'both:1', podTemplate: {{spec: {{{SIDECAR}}}}}", {COMMON: ["tolerated"]}, id="spec.image"
        ),
        pytest.param(
            f"flinkConfiguration: {{kubernetes.container.image.ref: 'amd:1'}}, podTemplate: {{spec: {{{SIDECAR}}}}}",
            {COMMON: ["amd64"]},
            id="the option",
        ),
        pytest.param(
            "flinkConfiguration: {kubernetes: {container: {image: {ref: 'amd:1'}}}}",
            {COMMON: ["amd64"]},
            id="the option, its name as mappings",
        ),
        pytest.param(
            "image: 'amd:1', flinkConfiguration: {kubernetes.container.image.ref: 'both:1'}",
            {COMMON: ["amd64"]},
            id="spec.image before the option",
        ),
        pytest.param(
            f"podTemplate: {{spec: {{{MAIN}}}}}",
            {COMMON: ["tolerated"]},
            id="the image of the main container",
        ),
        pytest.param(
            f"image: 'both:1', taskManager: {{podTemplate: {{spec: {{{SIDECAR.replace('both', 'amd')}}}}}}}",
            {COMMON: ["amd64"]},
            id="the common template places the sidecars of both roles",
        ),
    ],
)
def test_the_image_that_runs_in_flink_is_not_the_first_that_is_named(spec, found):
    assert placements(FLINK, spec) == found


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        pytest.param(
            "image: 'both:1', taskManager: {podTemplate: {spec: {tolerations: [{key: spot, operator: Exists}]}}}",
            {JOBS: ["tolerated"], TASKS: ["tolerated"]},
            id="one role has a list",
        ),
        pytest.param(
            "image: 'both:1', podTemplate: {spec: {tolerations: [{key: a, operator: Exists}]}}, "
            "taskManager: {podTemplate: {spec: {tolerations: [{key: spot, operator: Exists}]}}}",
            {JOBS: ["tolerated"]},
            id="both have one",
        ),
    ],
)
def test_lists_that_flink_merges_by_position_stand_in_one_place(spec, found):
    """A toleration of archfit in the common template would lend its value and effect to the first of the role."""
    assert placements(FLINK, spec) == found


def test_lists_that_stand_in_both_templates_of_flink_are_named():
    spec = (
        "image: 'both:1', podTemplate: {spec: {tolerations: [{key: a, operator: Exists}]}}, "
        "taskManager: {podTemplate: {spec: {tolerations: [{key: spot, operator: Exists}]}}}"
    )
    said = map(str, edited(FLINK.format(spec=spec).encode()).edits.messages)
    assert any(
        "spec.podTemplate.spec.tolerations and spec.taskManager.podTemplate.spec.tolerations item by item"
        in one
        for one in said
    )


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        pytest.param(
            "image: 'both:1', driver: {affinity: {podAffinity: {}}, "
            "template: {spec: {containers: [{name: logs, image: 'amd:1'}]}}}, executor: {}",
            {"driver": ["amd64"], "executor": ["tolerated"]},
            id="the sidecars of a template whose affinity is replaced",
        ),
        pytest.param(
            "driver: {}, executor: {}, sparkConf: {spark.kubernetes.container.image: 'amd:1', "
            "spark.kubernetes.executor.container.image: 'both:1'}",
            {"driver": ["amd64"], "executor": ["tolerated"]},
            id="images that the configuration names",
        ),
        pytest.param(
            "image: 'both:1', driver: {}, executor: {}, "
            "sparkConf: {spark.kubernetes.driver.container.image: 'amd:1'}",
            {"driver": ["tolerated"], "executor": ["tolerated"]},
            id="spec.image before the configuration",
        ),
    ],
)
def test_every_image_of_a_spark_pod_counts(spec, found):
    assert placements(SPARK, spec) == found


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        pytest.param(
            "image: 'amd:1', import: {scheduling: {}}, update: {scheduling: {}}",
            {"scheduling": ["amd64"], "import.scheduling": ["amd64"], "update.scheduling": ["amd64"]},
            id="jobs with a placement of their own",
        ),
        pytest.param(
            "image: 'both:1', import: {scheduling: {}}, update: {scheduling: {}}",
            {"scheduling": ["tolerated"], "import.scheduling": ["tolerated"]},
            id="the image from which an update comes is not known",
        ),
        pytest.param(
            "image: 'amd:1', import: {}, update: {strategy: Auto}",
            {"scheduling": ["amd64"]},
            id="jobs without one have the server's",
        ),
    ],
)
def test_the_jobs_of_keycloak_are_placed_too(spec, found):
    assert placements(KEYCLOAK, spec) == found


def test_the_import_of_a_realm_says_who_places_its_job():
    text = b"apiVersion: k8s.keycloak.org/v2alpha1\nkind: KeycloakRealmImport\nmetadata: {name: a}\nspec: {realm: {}}\n"
    (said,) = edited(text).edits.messages
    assert "placed by spec.import.scheduling of that Keycloak" in str(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "apiVersion: numaflow.numaproj.io/v1alpha1\nkind: MonoVertex\nmetadata: {name: a}\n"
            "spec: {udf: {container: {image: 'both:1'}}}\n",
            "Numaflow adds the container numa",
            id="Numaflow",
        ),
        pytest.param(
            "apiVersion: tailscale.com/v1alpha1\nkind: ProxyClass\nmetadata: {name: a}\n"
            "spec: {statefulSet: {pod: {tailscaleContainer: {image: 'both:1'}}}}\n",
            "adds the init container sysctler",
            id="Tailscale",
        ),
        pytest.param(
            "apiVersion: spark.apache.org/v1\nkind: SparkCluster\nmetadata: {name: a}\nspec: {sparkConf: {}, "
            "workerSpec: {statefulSetSpec: {template: {spec: {containers: [{name: logs, image: 'both:1'}]}}}}}\n",
            "the Spark operator chooses it",
            id="Apache Spark",
        ),
        pytest.param(
            "apiVersion: fission.io/v1\nkind: Environment\nmetadata: {name: a}\n"
            "spec: {runtime: {image: 'both:1', podspec: {terminationGracePeriodSeconds: 5}}}\n",
            "Fission adds the container fetcher",
            id="Fission",
        ),
        pytest.param(
            "apiVersion: actions.summerwind.dev/v1alpha1\nkind: Runner\nmetadata: {name: a}\n"
            "spec: {image: 'both:1'}\n",
            "the runner controller adds the container docker",
            id="legacy runners",
        ),
    ],
)
def test_an_image_that_the_operator_chooses_leaves_the_toleration_out(text, said):
    output = edited(text.encode())
    assert output.data == text.encode()
    assert any(said in str(result) for result in output.edits.messages)


def test_an_init_container_whose_image_is_stated_counts():
    text = (
        b"apiVersion: tailscale.com/v1alpha1\nkind: ProxyClass\nmetadata: {name: a}\nspec: {statefulSet: {pod: "
        b"{tailscaleContainer: {image: 'both:1'}, tailscaleInitContainer: {image: 'both:1'}}}}\n"
    )
    assert b"tolerations" in edited(text).data


def test_pods_of_apache_spark_without_a_template_get_one():
    spec = "sparkConf: {spark.kubernetes.container.image: 'amd:1'}"
    template = (
        "apiVersion: spark.apache.org/v1\nkind: SparkApplication\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
    )
    assert placements(template, spec) == {
        "driverSpec.podTemplateSpec.spec": ["amd64"],
        "executorSpec.podTemplateSpec.spec": ["amd64"],
    }
