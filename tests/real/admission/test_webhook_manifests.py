"""What the chart renders, judged by a real API server."""

import base64
import json
from typing import Any

import pytest
import yaml
from tests.real.admission.webhook_recorder import WebhookRecorder, as_external_name, request_of

import published_crds
from chart_runs import CERT_MANAGER, CHART, POLICY_VALUES, VALUES, Chart, named
from control_plane import ControlPlane, Refused
from webhook_pairs import Pair, examine, paired, printed_commands

NAMESPACE = "archfit"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_DEFINITIONS = (
    "crd-certificates.yaml",
    "crd-issuers.yaml",
    "monitoring.coreos.com_prometheusrules.yaml",
    "monitoring.coreos.com_servicemonitors.yaml",
)


@pytest.fixture(scope="module")
def plane(control_plane):
    """With the namespace, which takes restricted pods alone, and the kinds of cert-manager and of Prometheus."""
    control_plane.namespace(NAMESPACE)
    restricted = "pod-security.kubernetes.io/enforce=restricted"
    control_plane.kubectl("label", "namespace", NAMESPACE, restricted, "--overwrite")
    wanted = [path for path in published_crds.files() if path.name in _DEFINITIONS]
    assert len(wanted) == len(_DEFINITIONS)
    for path in wanted:
        (definition,) = (value for value in yaml.safe_load_all(path.read_text()) if value)
        name = definition["metadata"]["name"]
        definition["metadata"] = {"name": name}  # cert-manager's labels are templates
        control_plane.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(definition))
        control_plane.established(name)
    return control_plane


def accepted(plane: ControlPlane, *words: str, stdin: str | None = None) -> list[str]:
    """The lines of `kubectl apply --dry-run=server`, which warned of nothing."""
    done = plane.kubectl("apply", "--dry-run=server", "--validate=strict", *words, stdin=stdin)
    # Host namespaces are a value of the user's, which NOTES and values.yaml explain.
    assert [line for line in done.stderr.splitlines() if "host namespaces" not in line] == []
    return done.stdout.splitlines()


ALL_VALUES = VALUES | POLICY_VALUES


@pytest.mark.parametrize("words", list(ALL_VALUES.values()), ids=list(ALL_VALUES))
def test_the_api_server_takes_what_the_chart_renders(plane, words):
    chart = Chart("helm4")
    stream = chart.render(*words).ok().decode()
    assert len(accepted(plane, "-f", "-", stdin=stream)) == len(chart.objects(*words))


def pod_specs(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The pod spec of each object that has one, by kind and name."""
    found = {}
    for (kind, name), value in named(objects).items():
        spec = value.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        spec = spec["template"]["spec"] if "template" in spec else spec
        if "containers" in spec:
            found[f"{kind} {name}"] = spec
    return found


@pytest.mark.parametrize(
    ("words", "number"),
    [
        pytest.param(CERT_MANAGER, 2, id="webhook-and-its-test"),
        pytest.param(("--set", "mode=policy"), 2, id="policy"),
        pytest.param(VALUES["audit"], 1, id="audit-each-night"),
        pytest.param(VALUES["audit-in-parts"], 3, id="audit-in-parts"),
    ],
)
def test_the_pods_meet_the_restricted_pod_security_standard(plane, words, number):
    specs = pod_specs(Chart("helm4").objects(*words))
    assert len(specs) == number
    for spec in specs.values():
        spec.pop("serviceAccountName", None)
        pod = {"kind": "Pod", "metadata": {"generateName": "a-", "namespace": NAMESPACE}, "spec": spec}
        assert plane.dry(pod)["spec"]["enableServiceLinks"] is False
        spec["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
        with pytest.raises(Refused, match="violates PodSecurity"):
            plane.dry(pod)


def test_the_account_of_the_audit_has_these_rights_and_no_more(plane, release):
    release("install", str(CHART), "--set", "audit.cron.enabled=true")

    def may(*words: str) -> bool:
        user = f"--as=system:serviceaccount:{NAMESPACE}:archfit-audit"
        return plane.kubectl("auth", "can-i", *words, user, check=False).stdout.strip() == "yes"

    for resource in (
        *("pods", "nodes", "services", "deployments.apps", "statefulsets.apps", "daemonsets.apps"),
        *("replicasets.apps", "jobs.batch", "cronjobs.batch"),
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    ):
        assert may("get", resource, "-A"), resource
        assert may("list", resource, "-A"), resource
    for words in (
        ("get", "secrets", "-A"),
        ("list", "secrets", "-n", NAMESPACE),
        ("list", "configmaps", "-A"),
        ("watch", "pods", "-A"),
        ("create", "pods", "-n", NAMESPACE),
        ("list", "nodepools.karpenter.sh", "-A"),
        ("list", "endpoints", "-A"),
        ("create", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
    ):
        assert not may(*words), words


@pytest.fixture
def installed(plane, tmp_path):
    """A webhook that notes its requests, installed as the chart renders it."""
    objects, pair = paired(Chart("helm4"), tmp_path)
    plane.namespace("shop")
    with WebhookRecorder(pair, tmp_path) as recorder:
        for value in as_external_name(objects, recorder.port):
            plane.apply(json.dumps(value))
        plane.until("the webhook is called", lambda: plane.dry(pod("probe")) and recorder.asked)
        recorder.asked.clear()
        yield recorder
        plane.delete(f"{WEBHOOKS}/archfit")
        plane.delete(f"/api/v1/namespaces/{NAMESPACE}/services/archfit")
        plane.until("the webhook is gone", lambda: not asked_again(plane, recorder))


def asked_again(plane: ControlPlane, recorder: WebhookRecorder) -> bool:
    before = len(recorder.asked)
    plane.dry(pod("probe"))
    return len(recorder.asked) > before


def pod(
    name: str, namespace: str = "shop", spec: dict[str, Any] | None = None, **metadata: Any
) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"containers": [{"name": "a", "image": "x.example/a:1"}], **(spec or {})},
    }


OWNER = {"apiVersion": "apps/v1", "name": "a", "uid": "1", "controller": True}


@pytest.mark.parametrize(
    ("value", "is_asked"),
    [
        pytest.param(pod("plain"), True, id="a-pod"),
        pytest.param(
            pod("owned", ownerReferences=[{**OWNER, "kind": "ReplicaSet"}]), True, id="of-a-replica-set"
        ),
        pytest.param(
            pod("second", ownerReferences=[{**OWNER, "kind": "DaemonSet", "controller": False}]),
            True,
            id="of-a-daemon-set-that-does-not-control-it",
        ),
        pytest.param(
            pod("daemon", ownerReferences=[{**OWNER, "kind": "DaemonSet"}]), False, id="of-a-daemon-set"
        ),
        pytest.param(pod("bound", spec={"nodeName": "n1"}), False, id="bound"),
        pytest.param(pod("skip", annotations={"archfit.dev/skip": "true"}), False, id="skipped"),
        pytest.param(pod("not-skipped", annotations={"archfit.dev/skip": "false"}), True, id="skip-false"),
        pytest.param(pod("noted", annotations={"a": "b"}), True, id="other-annotations"),
        pytest.param(pod("ignored", labels={"archfit.dev/webhook": "ignore"}), False, id="label-of-the-pod"),
        pytest.param(pod("disabled", labels={"archfit.dev/webhook": "disabled"}), False, id="label-disabled"),
        pytest.param(pod("other", labels={"archfit.dev/webhook": "on"}), True, id="another-label"),
        pytest.param(pod("away", namespace="left-out"), False, id="label-of-the-namespace"),
        pytest.param(pod("system", namespace="kube-system"), False, id="kube-system"),
    ],
)
def test_the_api_server_asks_for_pods_that_archfit_may_change(plane, installed, value, is_asked):
    plane.namespace("left-out", **{"archfit.dev/webhook": "ignore"})
    plane.namespace("kube-system")
    plane.dry(value)
    assert installed.names() == ([value["metadata"]["name"]] if is_asked else [])
    if is_asked:
        (asked,) = installed.asked
        assert asked.path == "/mutate?timeout=5s"
        assert request_of(asked)["dryRun"] is True


def test_other_requests_for_pods_are_not_asked(plane, installed):
    plane.create(pod("stays"))
    assert installed.names() == ["stays"]
    path = "/api/v1/namespaces/shop/pods/stays"
    there = plane.get(path)
    there["metadata"]["labels"] = {"a": "b"}
    plane.request("PUT", path, there)
    plane.delete(path)
    assert installed.names() == ["stays"]


def test_a_renewed_certificate_is_believed_before_and_after_the_pods_read_it(plane, installed, tmp_path):
    """By the commands again, and with the old certificate behind the new one in caBundle."""
    first = (tmp_path / "tls.crt").read_bytes()
    folder = tmp_path / "renewed"
    folder.mkdir()
    _objects, pair = paired(Chart("helm4"), folder)
    both = folder / "both.crt"
    both.write_bytes(pair.ca + first)
    words = ("--set", "certificate.source=secret,certificate.secretName=archfit-tls")
    renewed = Chart("helm4").objects(*words, "--set-file", f"certificate.caBundle={both}")
    for value in as_external_name(renewed, installed.port):
        plane.apply(json.dumps(value))
    assert asked_again(plane, installed)  # the old pair
    installed.load(pair)
    plane.until("the API server asks with the new caBundle", lambda: asked_again(plane, installed))


def test_while_the_webhook_is_down_pods_are_created_unchanged(plane, tmp_path):
    objects, _pair = paired(Chart("helm4"), tmp_path)
    for value in as_external_name(objects, 1):  # nothing listens at port 1
        plane.apply(json.dumps(value))
    plane.namespace("shop")
    try:
        assert "nodeSelector" not in plane.dry(pod("down"))["spec"]
    finally:
        plane.delete(f"{WEBHOOKS}/archfit")
        plane.delete(f"/api/v1/namespaces/{NAMESPACE}/services/archfit")


@pytest.fixture(params=["helm3", "helm4"])
def release(request, plane):
    """Runs `helm VERB` for the release `archfit`, in the real API server."""
    chart = Chart(request.param)

    def run(verb: str, *words: str) -> str:
        access = {"KUBECONFIG": str(plane.kubeconfig)}
        return chart.run(*verb.split(), "archfit", "--namespace", NAMESPACE, *words, **access).ok().decode()

    yield run
    chart.run("uninstall", "archfit", "--namespace", NAMESPACE, KUBECONFIG=str(plane.kubeconfig))


def certificate(plane: ControlPlane) -> tuple[Pair, dict[str, Any]]:
    """The installed pair with the CAs of caBundle, and the Secret."""
    secret = plane.get(f"/api/v1/namespaces/{NAMESPACE}/secrets/archfit-tls")
    (webhook,) = plane.get(f"{WEBHOOKS}/archfit")["webhooks"]
    bundle = webhook["clientConfig"]["caBundle"]
    data = (bundle, secret["data"]["tls.crt"], secret["data"]["tls.key"])
    return Pair(*map(base64.b64decode, data)), secret


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_without_a_cluster_the_chart_prints_the_commands_for_a_secret(plane, helm, tmp_path):
    """They make what the API server and its pods take."""
    _openssl, kubectl, _words = printed_commands(Chart(helm))
    objects, pair = paired(Chart(helm), tmp_path)
    examine(pair, "archfit.archfit.svc")
    words = [word.replace("tls.", f"{tmp_path}/tls.") for word in kubectl.split()[1:]]
    plane.kubectl(*words)
    (volume,) = (
        one
        for one in named(objects)["Deployment", "archfit"]["spec"]["template"]["spec"]["volumes"]
        if one["name"] == "tls"
    )
    path = f"/api/v1/namespaces/{NAMESPACE}/secrets/{volume['secret']['secretName']}"
    assert base64.b64decode(plane.get(path)["data"]["tls.crt"]) == pair.certificate
    plane.delete(path)


def test_a_secret_that_lacks_a_key_is_named_and_nothing_is_installed(plane, release):
    plane.kubectl("create", "secret", "generic", "half", "-n", NAMESPACE, "--from-literal=tls.crt=x")
    words = ("certificate.source=secret,certificate.secretName=half", "clientCA.secret=half")
    with pytest.raises(AssertionError) as refused:
        release("install", str(CHART), "--set", ",".join(words))
    said = str(refused.value)
    assert "certificate.secretName: the Secret half has no tls.key: put it in, or name another" in said
    assert "clientCA.secret: the Secret half has no ca.crt: put it in, or name another" in said
    assert "has no tls.crt" not in said
    plane.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/half")
    with pytest.raises(Refused):
        plane.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/archfit")


def test_helm_keeps_the_certificate_until_it_is_nearly_over(plane, release):
    notes = release("install", str(CHART))
    assert "kubectl label namespace NAME archfit.dev/webhook=ignore" in notes
    first, secret = certificate(plane)
    examine(first, "archfit.archfit.svc")
    rendered = release("get manifest")
    release("upgrade", str(CHART))
    assert release("get manifest") == rendered
    release("upgrade", str(CHART), "--set", "replicas=3")
    assert certificate(plane)[0] == first

    secret["metadata"]["annotations"]["archfit.dev/renew-after"] = "1700000000"
    del secret["metadata"]["managedFields"], secret["metadata"]["resourceVersion"]
    as_helm = ("--server-side", "--force-conflicts", "--field-manager=helm")
    plane.kubectl(
        "apply", *as_helm, "-f", "-", stdin=json.dumps({**secret, "kind": "Secret", "apiVersion": "v1"})
    )
    release("upgrade", str(CHART))
    second, _ = certificate(plane)
    assert second.certificate != first.certificate
    examine(second, "archfit.archfit.svc")
    examine(first._replace(ca=second.ca), "archfit.archfit.svc")  # pods that have not read the new one
    assert second.ca.count(b"BEGIN CERTIFICATE") == 2
    release("upgrade", str(CHART), "--set", "replicas=2")
    assert certificate(plane)[0] == second

    release("uninstall")
    with pytest.raises(Refused):
        plane.get(f"{WEBHOOKS}/archfit")


def test_a_service_of_another_name_gets_a_certificate_for_it(plane, release):
    secret = "certificate.secretName=pair"
    release("install", str(CHART), "--set", secret)
    release("upgrade", str(CHART), "--set", f"{secret},fullnameOverride=placement")
    data = plane.get(f"/api/v1/namespaces/{NAMESPACE}/secrets/pair")["data"]
    pair = Pair(*(base64.b64decode(data[key]) for key in ("ca.crt", "tls.crt", "tls.key")))
    examine(pair, "placement.archfit.svc")
    (webhook,) = plane.get(f"{WEBHOOKS}/placement")["webhooks"]
    assert webhook["clientConfig"]["caBundle"] == data["ca.crt"]


def test_helm_moves_from_its_own_certificate_to_cert_managers(plane, release):
    release("install", str(CHART))
    release("upgrade", str(CHART), "--set", "certificate.source=cert-manager")
    found = plane.get(f"{WEBHOOKS}/archfit")
    assert found["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == "archfit/archfit"


def test_a_release_may_go_from_the_webhook_to_the_policys_job_and_back(plane, release):
    release("install", str(CHART))
    notes = release("upgrade", str(CHART), "--set", "mode=policy")
    assert "wait --for=condition=Complete --timeout=5m job/archfit-policy-" in notes
    with pytest.raises(Refused):
        plane.get(f"{WEBHOOKS}/archfit")
    assert plane.get(f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs/archfit-policy")
    release("upgrade", str(CHART), "--set", "mode=webhook")
    assert plane.get(f"{WEBHOOKS}/archfit")
    with pytest.raises(Refused):
        plane.get(f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs/archfit-policy")
