"""What has to happen before a change of a pod template reaches pods (`Pod.waits_for`)."""

import pytest

from stream_edits import edited

_POD = "template: {spec: {containers: [{name: a, image: 'amd:1'}]}}"
_DELETED, _MADE = "their pods are deleted", "they make their next pods"


@pytest.mark.parametrize(
    ("kind", "spec", "event"),
    [
        pytest.param("apps/v1 Deployment", _POD, "", id="deployment"),
        pytest.param("apps/v1 Deployment", f"paused: true, {_POD}", "they are resumed", id="paused"),
        pytest.param("apps/v1 Deployment", f"paused: false, {_POD}", "", id="not-paused"),
        pytest.param("apps/v1 Deployment", f"paused: 'true', {_POD}", "", id="a-string-that-pauses-nothing"),
        pytest.param("apps/v1 ReplicaSet", _POD, _DELETED, id="replica-set"),
        pytest.param("v1 ReplicationController", _POD, _DELETED, id="replication-controller"),
        pytest.param("apps/v1 DaemonSet", _POD, "", id="daemon-set"),
        pytest.param(
            "apps/v1 DaemonSet", f"updateStrategy: {{type: OnDelete}}, {_POD}", _DELETED, id="on-delete"
        ),
        pytest.param(
            "apps/v1 StatefulSet", f"updateStrategy: {{type: RollingUpdate}}, {_POD}", "", id="rolling"
        ),
        pytest.param("batch/v1 CronJob", f"jobTemplate: {{spec: {{{_POD}}}}}", _MADE, id="cron-job"),
        pytest.param("batch/v1 Job", _POD, "", id="job"),
        pytest.param("argoproj.io/v1alpha1 Rollout", f"paused: true, {_POD}", "", id="a-custom-resource"),
    ],
)
def test_the_event_that_makes_pods_follow_their_template(kind, spec, event):
    version, name = kind.split()
    text = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
    ((pod, _),) = edited(text.encode()).edits.decisions
    assert pod.waits_for == event
