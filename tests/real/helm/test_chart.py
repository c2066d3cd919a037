"""charts/archfit: both Helms take it, what it renders is what archfit reads, its schema refuses mistakes."""

import base64
import json
import os
import re
import shlex
from typing import Any

import pytest
import yaml
from registry import Registry

import machine
from archfit.cli.usage.command_table import BY_NAME
from archfit.options.config_file import from_file
from archfit.webhook.memory_budget import MIB, SMALLEST_LIMIT
from chart_runs import CERT_MANAGER, CHART, GIVEN, KUBERNETES, POLICY_VALUES, VALUES, Chart, named
from helm_runs import start
from program import PROGRAM

# With what Helm's templates and YAML could trip over.
LOCK = '{"version": 1, "images": {"a": "\\"{{ b }}"}}'


ALL_VALUES = VALUES | POLICY_VALUES


@pytest.mark.parametrize("words", list(ALL_VALUES.values()), ids=list(ALL_VALUES))
def test_lint_and_template_take_the_values(chart, words):
    chart.run("lint", "--strict", str(CHART), *words).ok()
    rendered = named(chart.objects(*words))
    assert {kind for kind, _ in rendered} >= {"ServiceAccount", "ConfigMap"}
    for value in rendered.values():
        assert value["metadata"]["labels"]


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        pytest.param((), [], id="default"),
        pytest.param(
            ("--set", "policy.carrier=crd,policy.name=shop.example,policy.maxAge=36h"),
            ["--carrier", "crd", "--name", "shop.example", "--max-age", "36h"],
            id="carrier-name-age",
        ),
        pytest.param(("--set", "policy.deny=true"), ["--deny"], id="deny"),
        pytest.param(
            ("--set", "policy.namespaceSelectors={team=web,!legacy},policy.apiVersion=v1beta1"),
            [
                *("--namespace-selector", "team=web", "--namespace-selector", "!legacy"),
                *("--api-version", "v1beta1"),
            ],
            id="selectors-and-version",
        ),
    ],
)
def test_the_job_of_the_policy_has_the_flags_of_the_values(chart, words, flags):
    _name, template = first_job(chart, *words)
    (container,) = template["spec"]["containers"]
    assert container["command"] == ["archfit", "policy", "--live", "--apply", *flags]
    assert BY_NAME["policy"].parser().parse_known_args(container["command"][2:])[1] == []


def first_job(chart: Chart, *words: str) -> tuple[str, dict[str, Any]]:
    """The name of the one Job, and its pods' template, which is that of the CronJob."""
    rendered = chart.objects("--set", "mode=policy", *words)
    (job,) = (value for value in rendered if value["kind"] == "Job")
    (cron_job,) = (value for value in rendered if value["kind"] == "CronJob")
    assert job["spec"]["template"] == cron_job["spec"]["jobTemplate"]["spec"]["template"]
    assert "helm.sh/hook" not in job["metadata"].get("annotations", {})
    kinds = [value["kind"] for value in rendered]
    assert kinds.index("Job") > kinds.index("ClusterRoleBinding")
    return job["metadata"]["name"], job["spec"]["template"]


def test_the_first_job_stays_until_its_pod_or_its_configuration_changes(chart):
    """A GitOps controller compares each render; a Job that exists cannot be changed."""
    name, template = first_job(chart)
    assert first_job(chart) == (name, template)
    assert first_job(chart, "--set", "policy.schedule=@daily") == (name, template)
    assert template["spec"]["enableServiceLinks"] is False
    changes = (
        ("--set", "policy.deny=true"),
        ("--set", "configuration.spec.prefer.arm64=1"),
        ("--set", f"image.digest=sha256:{'a' * 64}"),
        ("--set", "podLabels.team=a"),
    )
    names = {first_job(chart, *words)[0] for words in changes}
    assert len(names | {name}) == len(changes) + 1
    assert len(first_job(chart, "--set", f"fullnameOverride={'a' * 60}")[0]) <= 63


def test_the_first_job_can_be_left_out(chart):
    rendered = chart.objects("--set", "mode=policy,policy.firstJob=false")
    assert not any(value["kind"] == "Job" for value in rendered)


def test_the_network_policy_admits_the_api_server_from_where_it_calls(chart):
    def admits(*words: str) -> list[dict[str, Any]]:
        return named(chart.objects(*words))["NetworkPolicy", "archfit"]["spec"]["ingress"]

    webhook, probes = admits()
    assert "from" not in webhook
    sources = admits("--set", "networkPolicy.apiServer={10.0.0.5/32,fd00::/64}")
    blocks = [{"ipBlock": {"cidr": cidr}} for cidr in ("10.0.0.5/32", "fd00::/64")]
    assert sources == [{"from": blocks, **webhook}, probes]
    assert [port["port"] for rule in sources for port in rule["ports"]] == [8443, 8080]


def test_a_policy_of_the_users_own_is_rendered_as_it_is(chart, tmp_path):
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "a"}]},
    }
    pod["spec"]["containers"][0]["image"] = "h.example/a:1"
    (tmp_path / "pod.json").write_text(json.dumps(pod))
    with Registry({"h.example/a:1": ["linux/amd64"]}) as served:
        words = [str(PROGRAM), "policy", *served.mirrors(), str(tmp_path / "pod.json")]
        text = start(words, dict(os.environ)).ok()
    (tmp_path / "policy.yaml").write_bytes(text)
    own = ("--set", "mode=policy", "--set-file", f"policy.manifests={tmp_path}/policy.yaml")
    given = [value for value in yaml.safe_load_all(text) if value]
    assert named(chart.objects(*own)) == named(given)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("--set", "mode=policy,policy.schedule=hourly"), "schedule", id="schedule"),
        pytest.param(("--set", "mode=policy,policy.carrier=configmap"), "carrier", id="carrier"),
        pytest.param(
            ("--set", "mode=policy,policy.manifests=text"), "manifests", id="manifests-without-a-policy"
        ),
        pytest.param(("--set", "mode=policy,policy.name=A"), "name", id="policy-name"),
        pytest.param(("--set", "mode=operator"), "mode", id="mode"),
        pytest.param(("--set", "replicaCount=3"), "replicaCount", id="a-name-of-other-charts"),
        pytest.param(("--set", "replicas=0"), "replicas", id="no-replicas"),
        pytest.param(("--set-string", "replicas=two"), "replicas", id="text-for-a-number"),
        pytest.param(("--set", "webhook.failurePolicy=Fial"), "failurePolicy", id="misspelt"),
        pytest.param(("--set", "webhook.timeoutSeconds=31"), "timeoutSeconds", id="timeout"),
        pytest.param(("--set", "webhook.ignoredNamespaces={A_B}"), "ignoredNamespaces", id="namespace"),
        pytest.param(("--set", "certificate.source=none"), "source", id="certificate"),
        pytest.param(("--set", "certificate.source=secret"), "secretName", id="secret-without-name"),
        pytest.param(("--set", "certificate.days=0"), "days", id="days"),
        pytest.param(("--set", "certificate.caBundle=abc"), "caBundle", id="bundle-that-is-no-PEM"),
        pytest.param(("--set", "image.repository="), "repository", id="no-image"),
        pytest.param(("--set", "image.digest=latest"), "digest", id="digest"),
        pytest.param(("--set", "image.pullPolicy=Sometimes"), "pullPolicy", id="pull-policy"),
        pytest.param(("--set", "ports.https=70000"), "https", id="port"),
        pytest.param(("--set", "networkPolicy.egressPorts={https}"), "egressPorts", id="port-by-name"),
        pytest.param(("--set", "fullnameOverride=UPPER"), "fullnameOverride", id="name"),
        pytest.param(("--set", "pullSecrets={pulls}"), "pullSecrets", id="pull-secret-without-namespace"),
        pytest.param(("--set", "configuration.kind=Other"), "configuration", id="configuration-kind"),
        pytest.param(("--set", "configuration.sepc.strict=true"), "configuration", id="configuration-key"),
        pytest.param(("--set", "configuration="), "configuration", id="empty-configuration"),
        pytest.param(("--set-json", 'nodeSelector={"a":1}'), "nodeSelector", id="number-in-selector"),
        pytest.param(("--set", "podDisruptionBudget.maxUnavailable=half"), "maxUnavailable", id="budget"),
        pytest.param(
            ("--set-json", 'webhook.matchConditions=[{"name":"a"}]'),
            "matchConditions",
            id="condition-without-text",
        ),
    ],
)
def test_the_schema_refuses(chart, words, said):
    ran = chart.render(*words)
    assert ran.status == 1
    assert "values don't meet the specifications of the schema" in ran.stderr
    assert said in ran.stderr


def test_a_kubernetes_without_match_conditions_is_refused(chart):
    ran = chart.run("template", "archfit", str(CHART), "--kube-version", "1.27.9")
    assert ran.status == 1
    assert "chart requires kubeVersion: >=1.28.0-0" in ran.stderr


def test_the_configuration_may_be_a_text_of_ones_own(chart, tmp_path):
    text = '# ours\napiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {onConflict: leave}\n# "end"\n'
    (tmp_path / "archfit.yaml").write_text(text)
    (tmp_path / "archfit.lock").write_text(f"{LOCK}\n")
    rendered = named(
        chart.objects(
            *("--set-file", f"configuration={tmp_path}/archfit.yaml"),
            *("--set-file", f"lockFile={tmp_path}/archfit.lock"),
        )
    )
    data = rendered["ConfigMap", "archfit"]["data"]
    assert data["archfit.yaml"].strip() == text.strip()
    assert data["archfit.lock"] == f"{LOCK}\n"
    assert from_file(data["archfit.yaml"].encode(), "archfit.yaml").given["onConflict"].value == "leave"


def test_a_changed_configuration_starts_new_pods(chart):
    def checksum(*words: str) -> str:
        template = named(chart.objects(*words))["Deployment", "archfit"]["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/configuration"]

    assert checksum() == checksum("--set", "replicas=4")
    assert checksum() != checksum("--set", "configuration.spec.onConflict=leave")
    assert checksum() == checksum("--set-literal", f"lockFile={LOCK}")  # which the pods read themselves


def test_a_secret_of_ones_own_comes_with_its_ca(chart, tmp_path):
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")
    words = ("--set", "certificate.source=secret,certificate.secretName=pair")
    rendered = named(chart.objects(*words, "--set-file", f"certificate.caBundle={tmp_path}/ca.pem"))
    (webhook,) = rendered["MutatingWebhookConfiguration", "archfit"]["webhooks"]
    assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == (tmp_path / "ca.pem").read_bytes()
    assert not any(kind == "Secret" for kind, _ in rendered)
    assert (
        "caBundle"
        not in named(chart.objects(*words))["MutatingWebhookConfiguration", "archfit"]["webhooks"][0]
    )


def test_other_releases_have_other_names(chart):
    rendered = named(chart.objects(release="web"))
    assert ("Deployment", "web-archfit") in rendered
    assert ("MutatingWebhookConfiguration", "web-archfit") in rendered
    selector = rendered["Deployment", "web-archfit"]["spec"]["selector"]["matchLabels"]
    assert selector["app.kubernetes.io/instance"] == "web"


SMALLEST = f"{SMALLEST_LIMIT // MIB}Mi"


@pytest.mark.parametrize(
    "words",
    [
        ("--set", f"resources.limits.memory={SMALLEST}"),
        ("--set-json", f"resources.limits.memory={SMALLEST_LIMIT}"),
        ("--set", f"memoryLimit={SMALLEST}"),
        ("--set", "resources.limits=null,memoryLimit=1Gi"),
        ("--set", "resources=null,memoryLimit=0.3125Gi"),
        ("--set-string", "resources.limits.memory=300e6"),
    ],
    ids=lambda words: words[1],
)
def test_the_least_memory_that_the_server_takes_is_taken(chart, words):
    """Its twins are refused in test_chart_values.py. What Helm cannot count, the API server judges."""
    assert chart.objects(*words)


def test_what_the_container_is_told_is_what_the_server_reads(chart):
    words = (
        *CERT_MANAGER,
        "--set",
        "clientCA.secret=pair,clientCA.key=x.pem,memoryLimit=400Mi,pullSecrets={a/b}",
    )
    more = ("--set", "ports.https=9443,ports.metrics=9080,extraArgs={--log-level=debug,--mirror,a=https://b}")
    rendered = named(chart.objects(*words, *more))
    spec = rendered["Deployment", "archfit"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    command, *arguments = container["args"]
    options, rest = BY_NAME[command].parser().parse_known_args(arguments)
    assert rest == ["--mirror", "a=https://b"]  # an option of every command, which a run reads
    assert (options.client_ca, options.memory_limit) == ("/etc/archfit/clients/ca.crt", "400Mi")
    (volume,) = (one for one in spec["volumes"] if one["name"] == "clients")
    assert volume["secret"]["items"] == [{"key": "x.pem", "path": "ca.crt"}]
    (mount,) = (one for one in container["volumeMounts"] if one["name"] == "clients")
    assert mount["mountPath"] == "/etc/archfit/clients"
    # It asks the webhook without a client's certificate.
    assert ("Pod", "archfit-test") not in rendered
    assert ("Pod", "archfit-test") in named(chart.objects(*CERT_MANAGER))


def helm_lines() -> list[str]:
    """The commands of the pages that render the chart."""
    docs = machine.ROOT / "docs"
    pages = [docs / "serve.md", docs / "policy.md", docs / "fleet.md", CHART / "README.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages).replace("\\\n", " ")
    found = re.findall(
        r"^\s*helm ((?:install|upgrade(?: --install)?) [\w-]+ archfit-chart .*)$", text, re.MULTILINE
    )
    return [line for line in found if "#" not in line]


@pytest.mark.parametrize("line", helm_lines())
def test_the_commands_of_the_pages_render(chart, tmp_path, line):
    (tmp_path / "archfit.yaml").write_text("apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n")
    (tmp_path / "archfit-chart").symlink_to(CHART)
    words = [
        word
        for word in shlex.split(line.replace("upgrade --install", "upgrade"))[1:]
        if word not in {"--create-namespace", "--reset-then-reuse-values"}
    ]
    given = () if re.search("mode=|certificate.source=", line) else GIVEN
    chart.run("template", *words, *given, "--kube-version", KUBERNETES, cwd=tmp_path).ok()
