"""Values of charts/archfit: mistakes end with their name and a remedy, whatever is null, and no key stands twice."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from case_files import rows
from chart_runs import CHART, GIVEN, Chart, NoKeyTwice, named


def refused(chart: Chart, *words: str) -> str:
    """What Helm says."""
    ran = chart.render(*words)
    assert (ran.status, ran.stdout) == (1, b"")
    return ran.stderr.partition("Error: ")[2].partition("\n\nUse --debug")[0]


@pytest.mark.parametrize(("words", "said"), rows("chart_mistakes.yaml", "words", "said"))
def test_a_mistake_is_named_with_its_remedy(chart, words, said):
    assert said in refused(chart, *words)


def test_every_mistake_is_named_not_only_the_first_and_lint_names_them_too(chart):
    words = ("--set", "ports.metrics=8443,podLabels.helm\\.sh/chart=x,lockFile=x")
    lines = refused(chart, *words).partition("): ")[2].splitlines()[:3]
    assert [line.partition(":")[0] for line in lines] == ["podLabels", "lockFile", "ports"]
    linted = chart.run("lint", str(CHART), *words)
    assert linted.status == 1
    assert all(line in linted.stdout.decode().replace("\\n", "\n").replace("\\", "") for line in lines)


def test_no_credential_in_a_mirror_is_repeated(chart):
    value = {"docker.io": "https://robot:hunter2@m.example"}
    ran = chart.render("--set-json", f"configuration.operator.mirror={json.dumps(value)}")
    assert ran.status == 1
    assert "at '/configuration/operator/mirror/docker.io'" in ran.stderr
    assert "hunter2" not in ran.stderr


# A map of the user's -> more words for Helm, under which it is rendered beside keys of the chart's.
MERGED = {
    "podLabels": (),
    "podAnnotations": (),
    "metrics.serviceMonitor.labels": ("--set", "metrics.serviceMonitor.enabled=true"),
    "metrics.prometheusRule.labels": ("--set", "metrics.prometheusRule.enabled=true"),
    "metrics.dashboard.labels": ("--set", "metrics.dashboard.enabled=true"),
    "webhook.annotations": ("--set", "certificate.source=cert-manager"),
}
POLICY_MERGED = {"podLabels": ("--set", "mode=policy")}


def keys_beside(objects: list[dict[str, Any]], probe: str) -> set[str]:
    """The keys of each mapping of the objects that has the key `probe`."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if probe in value:
                found.update(value)
            for member in value.values():
                walk(member)
        elif isinstance(value, list):
            for member in value:
                walk(member)

    walk(objects)
    return found - {probe}


@pytest.mark.parametrize(
    ("path", "words"),
    [*MERGED.items(), *POLICY_MERGED.items()],
    ids=[*MERGED, *(f"{path}-policy" for path in POLICY_MERGED)],
)
def test_a_key_of_the_charts_is_refused_in_a_map_of_the_users(chart, path, words):
    """Whatever the chart renders into the same mapping, in whatever object."""
    probe = "probe.example/a"
    own = keys_beside(chart.objects(*words, "--set-json", f'{path}={{"{probe}":"x"}}'), probe)
    own -= {"grafana_dashboard"}  # a default of the user's map
    assert own
    for key in own:
        said = refused(chart, *words, "--set-json", f'{path}={{"{key}":"x"}}')
        assert f"{path}: the chart sets {key} itself: take it out" in said


def test_the_names_that_are_refused_in_lists_are_those_of_the_chart(chart):
    words = (
        *("--set-literal", 'lockFile={"version": 1, "images": {}}'),
        *("--set", "registrySecret=a,clientCA.secret=b"),
    )
    rendered = named(chart.objects(*words))
    (container,) = rendered["Deployment", "archfit"]["spec"]["template"]["spec"]["containers"]
    volumes = rendered["Deployment", "archfit"]["spec"]["template"]["spec"]["volumes"]
    (webhook,) = rendered["MutatingWebhookConfiguration", "archfit"]["webhooks"]
    lists = {
        "extraEnv": [{"name": one["name"]} for one in container["env"]],
        "extraVolumes": [{"name": one["name"]} for one in volumes],
        "extraVolumeMounts": [{"mountPath": one["mountPath"]} for one in container["volumeMounts"]],
        "webhook.matchConditions": webhook["matchConditions"],
    }
    for path, values in lists.items():
        said = chart.render(*words, "--set-json", f"{path}={json.dumps(values)}").stderr
        assert said.count(f"{path}: the chart has ") == len(values), path


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Every value of the tree but the lists' members, maps first."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, member in value.items():
            yield from paths(member, f"{path}.{key.replace('.', chr(92) + '.')}".removeprefix("."))


# Each also where it counts: what one mode does not read, the other may.
PATHS = list(paths(yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))))
_EVERYTHING = (
    *("--set", "metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true"),
    *("--set", "metrics.dashboard.enabled=true,registrySecret=a,podLabels.a=b"),
    *("--set", "audit.cron.enabled=true,certificate.source=cert-manager"),
)
_SECTIONS = {path for path in PATHS if any(other.startswith(f"{path}.") for other in PATHS)}
_FREE = {"configuration.spec", "podSecurityContext", "podSecurityContext.seccompProfile", "nodeSelector"}
_FREE |= {path for path in PATHS if path.rpartition(".")[2] in {"resources", "requests", "limits", "labels"}}


@pytest.mark.parametrize("path", PATHS)
def test_whatever_is_null_is_its_absence_or_is_named(chart, path):
    """Helm takes a default away where a value is null. A map of the chart's own cannot be away."""
    refusals = []
    for mode in (_EVERYTHING, ("--set", "mode=policy,metrics.prometheusRule.enabled=true")):
        ran = chart.render(*mode, "--set", f"{path}=null")
        assert "nil pointer" not in ran.stderr
        assert "error calling" not in ran.stderr
        if ran.status:
            parent, _, key = path.replace("\\.", "\0").rpartition(".")
            said = f"at '{'/' if parent else ''}{parent.replace('.', '/')}': missing property '{key}'"
            assert said.replace("\0", ".") in ran.stderr
        else:
            for value in yaml.load_all(ran.stdout, NoKeyTwice):
                assert not list(nulls(value))
        refusals.append(ran.status)
    assert refusals in ([0, 0], [1, 1])
    assert refusals == [1, 1] or path not in _SECTIONS - _FREE, "a section of the chart's own"


_CLUSTER = ("--api-versions", "apiregistration.k8s.io/v1")
_BETA = "admissionregistration.k8s.io/v1beta1"
_SERVED = ("--api-versions", "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy")


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        pytest.param((), False, id="without-a-cluster"),
        pytest.param(_CLUSTER, True, id="a-cluster-without-policies"),
        pytest.param((*_CLUSTER, *_SERVED), False, id="a-cluster-with-policies"),
        pytest.param(
            (*_CLUSTER, *_SERVED, "--set", "policy.apiVersion=v1beta1"), True, id="of-another-version"
        ),
        pytest.param(
            (*_CLUSTER, *_SERVED, "--set", "policy.manifests=MutatingAdmissionPolicy of " + _BETA),
            True,
            id="the-version-of-manifests",
        ),
        pytest.param((*_CLUSTER, *GIVEN, "--set", "mode=webhook"), False, id="the-webhook-needs-none"),
    ],
)
def test_a_policy_is_refused_where_the_cluster_serves_none(chart, words, refused):
    ran = chart.render("--set", "mode=policy", *words)
    assert (ran.status != 0) is refused
    assert ("the cluster serves no MutatingAdmissionPolicy of admissionregistration" in ran.stderr) is refused


def nulls(value: Any, path: str = "") -> Iterator[str]:
    """Where an object says null: kubectl and Helm take that for an order to delete."""
    if value is None and path:
        yield path
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield from nulls(member, f"{path}.{key}")
