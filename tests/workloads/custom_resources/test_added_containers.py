"""Containers that an operator adds to a pod, with an image of its own choice unless the object states it."""

import pytest

from stream_edits import edited

PROMETHEUS = """\
apiVersion: monitoring.coreos.com/v1
kind: {kind}
metadata: {{name: a}}
spec:
  image: both:1
"""
STATED = """\
  containers: [{name: config-reloader, image: 'both:1'}]
  initContainers: [{name: init-config-reloader, image: 'both:1'}]
"""
EVERY = ["Prometheus", "PrometheusAgent", "Alertmanager"]
ENVOY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: a}
spec: {provider: {type: Kubernetes, kubernetes: {envoyDeployment: {container: {image: 'both:1'}PATCH}}}}
"""


def said(text: str) -> list[str]:
    return [str(result) for result in edited(text.encode()).edits.messages]


@pytest.mark.parametrize("kind", EVERY)
def test_a_helper_of_the_operators_choice_leaves_the_toleration_out(kind):
    text = PROMETHEUS.format(kind=kind)
    assert edited(text.encode()).data == text.encode()
    assert any("config-reloader" in one for one in said(text))
    assert b"nodeAffinity" in edited(text.replace("both", "amd").encode()).data


@pytest.mark.parametrize("kind", EVERY)
def test_a_helper_whose_image_is_stated_counts(kind):
    text = PROMETHEUS.format(kind=kind) + STATED
    assert b"tolerations" in edited(text.encode()).data
    assert (
        b"nodeAffinity"
        in edited(text.replace("reloader, image: 'both", "reloader, image: 'amd").encode()).data
    )
    half = text.replace("init-config-reloader", "another")
    assert edited(half.encode()).data == half.encode()


def test_thanos_rules_have_a_helper_only_with_rules_that_it_reads():
    """It comes with the first PrometheusRule that ruleSelector finds, which nobody can see."""
    text = PROMETHEUS.format(kind="ThanosRuler")
    assert edited(text.encode()).data == text.encode()
    stated = text + "  containers: [{name: config-reloader, image: 'both:1'}]\n"
    assert b"tolerations" in edited(stated.encode()).data


def test_a_patch_may_state_the_image_of_a_helper():
    unstated = ENVOY.replace("PATCH", "")
    assert edited(unstated.encode()).data == unstated.encode()
    assert any("shutdown-manager" in one for one in said(unstated))
    containers = "{containers: [{name: shutdown-manager, image: 'both:1'}]}"
    stated = ENVOY.replace("PATCH", f", patch: {{value: {{spec: {{template: {{spec: {containers}}}}}}}}}")
    assert b"tolerations" in edited(stated.encode()).data


def test_the_agent_that_jaeger_injects_into_its_query_counts():
    text = (
        "apiVersion: jaegertracing.io/v1\nkind: Jaeger\nmetadata: {name: a}\n"
        "spec: {strategy: production, query: {image: 'both:1'QUERY}AGENT}\n"
    )
    unstated = text.replace("QUERY", "").replace("AGENT", "")
    assert edited(unstated.encode()).data == unstated.encode()
    stated = text.replace("QUERY", "").replace("AGENT", ", agent: {image: 'amd:1'}")
    assert edited(stated.encode()).data.count(b"nodeAffinity") == 2
    silent = text.replace("QUERY", ", tracingEnabled: false").replace("AGENT", ", agent: {image: 'amd:1'}")
    assert edited(silent.encode()).data.count(b"nodeAffinity") == 1


@pytest.mark.parametrize(
    ("storage", "found"),
    [
        pytest.param("type: cassandra", [], id="the operator chooses its image"),
        pytest.param(
            "type: cassandra, cassandraCreateSchema: {image: 'both:1'}",
            ["tolerations"],
            id="its image is stated",
        ),
        pytest.param(
            "type: cassandra, cassandraCreateSchema: {image: 'amd:1'}", ["amd64"], id="its image runs on one"
        ),
        pytest.param(
            "type: cassandra, cassandraCreateSchema: {enabled: false}", ["tolerations"], id="switched off"
        ),
        pytest.param("type: elasticsearch", ["tolerations"], id="another storage has no schema"),
    ],
)
def test_the_job_that_takes_the_tolerations_of_jaegers_collector_counts(storage, found):
    """The Job that creates the schema of Cassandra has them, and an affinity of its own (cassandra_dependencies.go)."""
    text = (
        "apiVersion: jaegertracing.io/v1\nkind: Jaeger\nmetadata: {name: a}\n"
        f"spec: {{strategy: production, collector: {{image: 'both:1'}}, storage: {{{storage}}}}}\n"
    )
    data = edited(text.encode()).data
    assert [word for word in ("tolerations", "amd64") if word.encode() in data] == found


RUNNERS = (
    "apiVersion: actions.summerwind.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("Runner", "{}"),
        ("RunnerDeployment", "template: {{spec: {{{}}}}}"),
        ("RunnerReplicaSet", "template: {{spec: {{{}}}}}"),
        ("RunnerSet", "{}, template: {{spec: {{initContainers: [{{name: i, image: 'both:1'}}]}}}}"),
    ],
)
@pytest.mark.parametrize(
    ("runner", "added"),
    [
        pytest.param("image: 'both:1'", True, id="by default"),
        pytest.param("image: 'both:1', dockerEnabled: true", True, id="asked for"),
        pytest.param("image: 'both:1', dockerdWithinRunnerContainer: false", True, id="beside the runner"),
        pytest.param("image: 'both:1', dockerEnabled: false", False, id="switched off"),
        pytest.param("image: 'both:1', dockerdWithinRunnerContainer: true", False, id="in the runner"),
        pytest.param("image: 'both:1', containerMode: kubernetes", False, id="in pods of its own"),
        pytest.param(
            "image: 'both:1', dockerEnabled: false, dockerdWithinRunnerContainer: true, containerMode: kubernetes",
            False,
            id="all at once",
        ),
        pytest.param("dockerEnabled: false", True, id="the controller chooses the runner's image"),
    ],
)
def test_a_runner_has_docker_beside_it_unless_it_is_switched_off(kind, spec, runner, added):
    output = edited(RUNNERS.format(kind=kind, spec=spec.format(runner)).encode())
    assert (b"tolerations" in output.data) is not added
    assert len(output.edits.decisions) == 1


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        pytest.param("containers: [{name: runner, image: 'both:1'}]", ["tolerations"], id="of the container"),
        pytest.param("containers: [{name: runner, image: 'amd:1'}]", ["amd64"], id="of the container alone"),
        pytest.param(
            "image: 'amd:1', containers: [{name: runner, image: 'both:1'}]",
            ["amd64"],
            id="the one beside it wins",
        ),
        pytest.param("containers: [{name: logs, image: 'both:1'}]", [], id="of another container"),
    ],
)
def test_the_image_of_a_runner_stands_in_two_places(spec, found):
    data = edited(RUNNERS.format(kind="Runner", spec=f"dockerEnabled: false, {spec}").encode()).data
    assert [word for word in ("tolerations", "amd64") if word.encode() in data] == found
