"""Values of charts/archfit: mistakes end with their name and a remedy, whatever is null, and no key stands twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from chart_runs import CHART, POLICY_VALUES, VALUES, Chart, named

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["helm3", "helm4"])
def chart(request: pytest.FixtureRequest, real) -> Chart:
    """Both Helms."""
    return Chart(request.param)


def refused(chart: Chart, *words: str) -> str:
    """What Helm says, and `helm lint` says the same."""
    ran, lint = chart.render(*words), chart.run("lint", str(CHART), *words)
    assert (ran.status, lint.status, ran.stdout) == (1, 1, b"")
    said = ran.stderr.partition("Error: ")[2].partition("\n\nUse --debug")[0]
    linted = unescaped(lint.stdout.decode())
    for line in said.splitlines()[1:]:
        assert unescaped(line).removeprefix("archfit:").strip() in linted
    return said


def unescaped(text: str) -> str:
    """The words alone: `helm lint` quotes a message, in which lines end."""
    return text.replace("\\n", "\n").replace("\\", "")


_ARCHITECTURES = "at '/configuration/spec/clusterArchitectures/0': value must be one of '386', 'amd64',"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ("--set", "configuration.spec.clusterArchitectures={amd6}"), _ARCHITECTURES, id="architecture"
        ),
        pytest.param(
            ("--set", "configuration.spec.tolerat=gke"),
            "at '/configuration/spec': additional properties 'tolerat' not allowed",
            id="unknown-option",
        ),
        pytest.param(
            ("--set", "configuration.operator.cacheTtl=soon"),
            "at '/configuration/operator/cacheTtl': 'soon' does not match pattern",
            id="duration",
        ),
        pytest.param(
            ("--set", "configuration.spec.onUnknown=asume"),
            "at '/configuration/spec/onUnknown': value must be one of",
            id="choice",
        ),
        pytest.param(("--set", "extraArgs={--lisen=:1}"), "at '/extraArgs/0': '--lisen=:1'", id="serve-flag"),
        pytest.param(
            ("--set", "mode=policy,extraArgs={--drain-delay=1s}"),
            "at '/extraArgs/0': '--drain-delay=1s'",
            id="flag-of-the-other-mode",
        ),
        pytest.param(
            ("--set", "extraArgs={--listen=:1}"),
            "extraArgs: the chart writes --listen itself: use the value ports.https",
            id="flag-of-the-chart",
        ),
        pytest.param(
            ("--set", "mode=policy,extraArgs={--name,x}"),
            "extraArgs: the chart writes --name itself: use the value policy.name",
            id="flag-of-the-policy",
        ),
        pytest.param(
            ("--set", "registrySecret=pulls,extraArgs={--authfile=/x}"),
            "extraArgs: the chart writes --authfile itself: use the value registrySecret",
            id="credentials-twice",
        ),
        pytest.param(
            ("--set", "ports.metrics=8443"),
            "ports: https and metrics are both 8443: use two ports",
            id="equal-ports",
        ),
        pytest.param(
            ("--set", "lockFile=text"),
            "lockFile: the text is not JSON (invalid character 'e' in literal true (expecting 'r')): write it with "
            "archfit lock, and give it with --set-file lockFile=archfit.lock",
            id="lock-file-that-is-no-json",
        ),
        pytest.param(
            ("--set-literal", 'lockFile={"version": 1}'),
            "lockFile: the text is not a lock file of archfit (version 1, images): write it with archfit lock",
            id="lock-file-without-images",
        ),
        pytest.param(
            ("--set-literal", 'lockFile={"version": 2, "images": {}}'),
            "lockFile: the text is not a lock file of archfit (version 1, images)",
            id="lock-file-of-another-version",
        ),
        pytest.param(
            ("--set-literal", "configuration=a: [b"),
            "configuration: the text is not a YAML mapping (",
            id="configuration-that-is-no-yaml",
        ),
        pytest.param(
            ("--set-literal", "configuration=kind: ArchFit"),
            "configuration: the text is not a configuration of archfit: begin it with apiVersion: archfit.dev/v1alpha1",
            id="configuration-of-another-kind",
        ),
        pytest.param(
            ("--set", "certificate.caBundle=-----BEGIN CERTIFICATE-----"),
            "certificate.caBundle: certificate.source helm brings its own CA: take caBundle out, or set "
            "certificate.source to secret",
            id="a-ca-beside-helms",
        ),
        pytest.param(
            ("--set", "certificate.issuerRef.name=ca"),
            "certificate.issuerRef: certificate.source helm asks no issuer: set certificate.source to cert-manager",
            id="an-issuer-that-nobody-asks",
        ),
        pytest.param(
            ("--set", "certificate.source=cert-manager,certificate.issuerRef.kind=ClusterIssuer"),
            "certificate.issuerRef: the issuer has no name: set certificate.issuerRef.name",
            id="an-issuer-without-name",
        ),
        pytest.param(
            ("--set", "clientCA.configMap=a,clientCA.secret=b"),
            "clientCA: configMap and secret are both set: name one",
            id="two-cas-of-clients",
        ),
        pytest.param(
            ("--set", "clientCA.secret=b,extraArgs={--client-ca=/x}"),
            "extraArgs: the chart writes --client-ca itself: use the value clientCA",
            id="client-ca-twice",
        ),
        pytest.param(
            ("--set", "mode=policy,clientCA.secret=b,memoryLimit=1Gi"),
            "clientCA: the mode policy has no use for it: take it out, or set mode to webhook\n"
            "memoryLimit: the mode policy has no use for it: take it out, or set mode to webhook",
            id="server-values-of-the-mode-policy",
        ),
        pytest.param(
            ("--set", "resources.limits.memory=128Mi"),
            "resources.limits.memory: 128Mi is too little for archfit serve: write 256Mi or more",
            id="memory-below-the-least",
        ),
        pytest.param(
            ("--set-json", "resources.limits.memory=268435455"),
            "is too little for archfit serve: write 256Mi or more",
            id="memory-in-bytes",
        ),
        pytest.param(
            ("--set", "memoryLimit=0.2Gi"),
            "memoryLimit: 0.2Gi is too little for archfit serve: write 256Mi or more",
            id="own-limit-below-the-least",
        ),
        pytest.param(
            ("--set", "memoryLimit=1G"),
            "memoryLimit: 1G is more than resources.limits.memory, 512Mi, at which the kernel ends the webhook: take "
            "memoryLimit out",
            id="own-limit-above-the-containers",
        ),
        pytest.param(
            ("--set", "memoryLimit=lots"), "at '/memoryLimit': 'lots' does not match pattern", id="no-quantity"
        ),
        pytest.param(
            ("--set", "podDisruptionBudget.maxUnavailable=0"),
            "podDisruptionBudget.maxUnavailable: 0 lets no node be drained: write 1",
            id="budget-of-none",
        ),
        pytest.param(
            ("--set", "podDisruptionBudget.maxUnavailable=2"),
            "podDisruptionBudget.maxUnavailable: with 2 all replicas may be away at once: write less than replicas, "
            "such as 1, or set podDisruptionBudget.enabled to false",
            id="budget-of-all",
        ),
        pytest.param(
            ("--set", "podDisruptionBudget.maxUnavailable=100%"),
            "podDisruptionBudget.maxUnavailable: with 100% all replicas may be away at once",
            id="budget-of-all-in-percent",
        ),
        pytest.param(
            ("--set", "networkPolicy.apiServer={10.0.0.1}"), "at '/networkPolicy/apiServer/0': '10.0.0.1'", id="no-cidr"
        ),
        pytest.param(
            ("--set", "networkPolicy.apiServer={10.0.0.256/32}"),
            "at '/networkPolicy/apiServer/0': '10.0.0.256/32'",
            id="no-address",
        ),
        pytest.param(
            ("--set", "networkPolicy.apiServer={10.0.0.1/32},networkPolicy.enabled=false"),
            "networkPolicy.apiServer: there is no NetworkPolicy: set networkPolicy.enabled to true",
            id="sources-of-no-policy",
        ),
        pytest.param(
            ("--set", "policy.manifests=MutatingAdmissionPolicy"),
            "policy.manifests: the mode webhook installs no policy: take it out, or set mode to policy",
            id="a-policy-in-the-mode-webhook",
        ),
        pytest.param(
            ("--set", "policy.carrier=crd,policy.deny=true"),
            "policy.carrier: the mode webhook installs no policy: take it out, or set mode to policy\n"
            "policy.deny: the mode webhook installs no policy: take it out, or set mode to policy",
            id="a-carrier-in-the-mode-webhook",
        ),
        pytest.param(
            ("--set", "mode=policy,policy.manifests=MutatingAdmissionPolicy,policy.namespaceSelectors={team=web}"),
            "policy.namespaceSelectors: policy.manifests is the whole policy: take it out, and give the flag to "
            "archfit policy",
            id="an-option-beside-a-whole-policy",
        ),
        pytest.param(
            (
                *("--set", "mode=policy,pullSecrets={a/b}"),
                *("--set", "metrics.serviceMonitor.enabled=true,metrics.dashboard.enabled=true"),
            ),
            "metrics.dashboard.enabled: the mode policy has no use for it: take it out, or set mode to webhook\n"
            "metrics.serviceMonitor.enabled: the mode policy has no use for it: take it out, or set mode to webhook\n"
            "pullSecrets: the mode policy has no use for it: take it out, or set mode to webhook",
            id="values-of-the-other-mode",
        ),
        pytest.param(
            ("--set", "mode=policy,policy.manifests=MutatingAdmissionPolicy,metrics.prometheusRule.enabled=true"),
            "metrics.prometheusRule.enabled: no job renews the policy of policy.manifests, so nothing has metrics: "
            "take it out",
            id="alerts-about-a-file",
        ),
        pytest.param(
            ("--set-json", 'extraEnv=[{"name":"ARCHFIT_CONFIG","value":"/x"}]'),
            "extraEnv: the chart has name ARCHFIT_CONFIG itself: take it out, or use another name",
            id="variable-of-the-chart",
        ),
        pytest.param(
            ("--set-json", 'extraEnv=[{"name":"A","value":"1"},{"name":"A","value":"2"}]'),
            "extraEnv: name A stands there twice: keep one",
            id="variable-twice",
        ),
        pytest.param(
            ("--set-json", 'extraVolumes=[{"name":"cache","emptyDir":{}}]'),
            "extraVolumes: the chart has name cache itself: take it out, or use another name",
            id="volume-of-the-chart",
        ),
        pytest.param(
            ("--set-json", 'extraVolumeMounts=[{"name":"a","mountPath":"/tmp"}]'),
            "extraVolumeMounts: the chart has mountPath /tmp itself: take it out, or use another mountPath",
            id="mount-of-the-chart",
        ),
        pytest.param(
            ("--set-json", 'webhook.matchConditions=[{"name":"not-bound","expression":"true"}]'),
            "webhook.matchConditions: the chart has name not-bound itself: take it out, or use another name",
            id="condition-of-the-chart",
        ),
        pytest.param(("--set", "spreadOver={a,a}"), "at '/spreadOver': items at 0 and 1 are equal", id="spread-twice"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_remedy(chart: Chart, words: tuple[str, ...], said: str) -> None:
    assert said in refused(chart, *words)


def test_every_mistake_is_named_not_only_the_first(chart: Chart) -> None:
    said = refused(chart, "--set", "ports.metrics=8443,podLabels.helm\\.sh/chart=x,lockFile=x")
    assert [line.partition(":")[0] for line in said.partition("): ")[2].splitlines()[:3]] == [
        "podLabels",
        "lockFile",
        "ports",
    ]


def test_no_credential_in_a_mirror_is_repeated(chart: Chart) -> None:
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
def test_a_key_of_the_charts_is_refused_in_a_map_of_the_users(
    chart: Chart, path: str, words: tuple[str, ...]
) -> None:
    """Whatever the chart renders into the same mapping, in whatever object."""
    probe = "probe.example/a"
    own = keys_beside(chart.objects(*words, "--set-json", f'{path}={{"{probe}":"x"}}'), probe)
    own -= {"grafana_dashboard"}  # a default of the user's map
    assert own
    for key in own:
        said = refused(chart, *words, "--set-json", f'{path}={{"{key}":"x"}}')
        assert f"{path}: the chart sets {key} itself: take it out" in said


class _NoKeyTwice(yaml.SafeLoader):
    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        assert len(keys) == len(set(keys)), (
            f"twice: {sorted(key for key in set(keys) if keys.count(key) > 1)}"
        )
        return super().construct_mapping(node, deep)


ALL_VALUES = VALUES | POLICY_VALUES


@pytest.mark.parametrize("words", list(ALL_VALUES.values()), ids=list(ALL_VALUES))
def test_no_key_is_rendered_twice(chart: Chart, words: tuple[str, ...]) -> None:
    stream = chart.render(*words).ok()
    assert len(list(yaml.load_all(stream, _NoKeyTwice))) > 3


def test_the_names_that_are_refused_in_lists_are_those_of_the_chart(chart: Chart) -> None:
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
)
_SECTIONS = {path for path in PATHS if any(other.startswith(f"{path}.") for other in PATHS)}
_FREE = {"configuration.spec", "podSecurityContext", "podSecurityContext.seccompProfile", "nodeSelector"}
_FREE |= {path for path in PATHS if path.rpartition(".")[2] in {"resources", "requests", "limits", "labels"}}


@pytest.mark.parametrize("path", PATHS)
def test_whatever_is_null_is_its_absence_or_is_named(chart: Chart, path: str) -> None:
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
            for value in yaml.load_all(ran.stdout, _NoKeyTwice):
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
        pytest.param((*_CLUSTER, "--set", "mode=webhook"), False, id="the-webhook-needs-none"),
    ],
)
def test_a_policy_is_refused_where_the_cluster_serves_none(
    chart: Chart, words: tuple[str, ...], refused: bool
) -> None:
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
