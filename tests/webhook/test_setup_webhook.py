"""`archfit setup webhook`: the manifests, the certificate in them, and what --check finds wrong."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import base64
import os
import shutil
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from archfit.cli.setup.check_lines import Wrong
from archfit.options.config_file import from_file
from archfit.webhook.setup import setup as setup_command
from archfit.webhook.setup import setup_files
from archfit.webhook.setup.certificates import KeyPair, examine
from archfit.webhook.setup.setup_files import SECRET, WEBHOOK, WebhookChoices
from archfit.webhook.setup.webhook_folder import read
from lock_runs import setup_said
from program import Ran
from tls_files import tls_files

NAME = "archfit.archfit.svc"
DAY = timedelta(days=1)


def run(*words: str, **environ: str) -> Ran:
    """`archfit setup webhook` in this process."""
    said = setup_said(setup_command.run, words, {**os.environ, **environ})
    return Ran(said.status, said.stdout.encode(), said.stderr)


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real):
    """Runs the command in a folder of its own; openssl makes the certificates."""
    real.refuse_unmarked("openssl")
    if not shutil.which("openssl"):
        real.missing("openssl", "apt-get install openssl")

    monkeypatch.chdir(tmp_path)
    return run


def objects(folder: Path) -> dict[str, dict]:
    """File name -> object."""
    return {path.name: yaml.safe_load(path.read_text()) for path in folder.glob("*.yaml")}


def container_of(found: dict[str, dict]) -> dict:
    (container,) = found["50-deployment.yaml"]["spec"]["template"]["spec"]["containers"]
    return container


def pair_of(folder: Path) -> KeyPair:
    pair = read(str(folder)).pair
    assert pair
    return pair


def test_every_file_is_one_object_and_the_webhook_comes_last() -> None:
    texts = setup_files.files(WebhookChoices())
    assert min(texts) == "00-namespace.yaml"
    assert max(texts) == WEBHOOK
    for text in texts.values():
        assert {"apiVersion", "kind", "metadata"} <= set(yaml.safe_load(text))


def test_the_pods_need_no_right_and_no_writable_root() -> None:
    found = {name: yaml.safe_load(text) for name, text in setup_files.files(WebhookChoices()).items()}
    assert setup_files.PULL_SECRETS not in found
    pod = found["50-deployment.yaml"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    # The kubelet would set ARCHFIT_PORT and more for the Service `archfit`.
    assert pod["enableServiceLinks"] is False
    assert pod["securityContext"]["runAsUser"] == 65532
    assert container_of(found)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"topology.kubernetes.io/zone", "kubernetes.io/arch"} <= {
        one["topologyKey"] for one in pod["topologySpreadConstraints"]
    }


def test_the_webhook_fails_open_and_sees_new_pods_alone() -> None:
    (webhook,) = yaml.safe_load(setup_files.files(WebhookChoices())[WEBHOOK])["webhooks"]
    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["reinvocationPolicy"] == "IfNeeded"
    assert webhook["sideEffects"] == "None"
    assert webhook["timeoutSeconds"] == 5
    (rule,) = webhook["rules"]
    assert (rule["resources"], rule["operations"]) == (["pods"], ["CREATE"])
    conditions = [one["name"] for one in webhook["matchConditions"]]
    assert conditions == ["not-bound", "not-of-a-daemon-set", "not-static", "not-skipped"]


def test_the_configuration_is_one_that_archfit_reads() -> None:
    text = yaml.safe_load(setup_files.files(WebhookChoices())["30-configuration.yaml"])["data"][
        "archfit.yaml"
    ]
    assert from_file(text.encode(), "archfit.yaml").given["clusterArchitectures"].value == ("amd64", "arm64")


def test_the_flags_change_what_they_name(setup, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {onConflict: leave}\n"
    )
    (tmp_path / "a.lock").write_text('{"version": 1, "images": {}}\n')
    setup(
        *("--into", "out", "--namespace", "webhooks", "--image", "example.com/a:2"),
        *("--registry-secret", "pulls", "--priority-class", "system-cluster-critical"),
        *("--egress-port", "443", "--egress-port", "6379"),
        *("--configuration", "c.yaml", "--lock-file", "a.lock"),
    ).ok()
    found = objects(tmp_path / "out")
    assert {value["metadata"].get("namespace", "webhooks") for value in found.values()} == {"webhooks"}
    assert found["00-namespace.yaml"]["metadata"]["name"] == "webhooks"
    pod, container = found["50-deployment.yaml"]["spec"]["template"]["spec"], container_of(found)
    assert container["image"] == "example.com/a:2"
    assert pod["priorityClassName"] == "system-cluster-critical"
    environ = {one["name"]: one["value"] for one in container["env"]}
    assert environ["ARCHFIT_LOCK_FILE"] == "/etc/archfit/configuration/archfit.lock"
    assert environ["ARCHFIT_AUTHFILE"] == "/etc/archfit/registries/config.json"
    assert {mount["name"] for mount in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    data = found["30-configuration.yaml"]["data"]
    assert data["archfit.yaml"] == (tmp_path / "c.yaml").read_text()
    assert data["archfit.lock"] == (tmp_path / "a.lock").read_text()
    assert [one["port"] for one in found["70-network-policy.yaml"]["spec"]["egress"][1]["ports"]] == [
        443,
        6379,
    ]
    (webhook,) = found[WEBHOOK]["webhooks"]
    assert webhook["clientConfig"]["service"]["namespace"] == "webhooks"
    assert webhook["namespaceSelector"]["matchExpressions"][0]["values"] == ["kube-system", "webhooks"]
    examine(pair_of(tmp_path / "out"), "archfit.webhooks.svc")
    assert setup("--check", "--into", "out").status == 0


def test_a_pull_secret_is_readable_alone_and_by_name(setup, tmp_path: Path) -> None:
    setup(
        "--into", "out", "--pull-secret", "shop/a", "--pull-secret", "team/b.c", "--pull-secret", "shop/a"
    ).ok()
    found = list(yaml.safe_load_all((tmp_path / "out" / setup_files.PULL_SECRETS).read_text()))
    assert [(one["kind"], one["metadata"]["namespace"]) for one in found] == [
        ("Role", "shop"), ("RoleBinding", "shop"), ("Role", "team"), ("RoleBinding", "team"),
    ]  # fmt: skip
    (rule,) = found[2]["rules"]
    assert rule == {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["b.c"], "verbs": ["get"]}
    deployment = yaml.safe_load((tmp_path / "out" / "50-deployment.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is True
    assert pod["containers"][0]["args"][-2:] == ["--pull-secret=shop/a", "--pull-secret=team/b.c"]
    (policy,) = (yaml.safe_load(path.read_text()) for path in (tmp_path / "out").glob("70-*"))
    assert [one["port"] for one in policy["spec"]["egress"][-1]["ports"]] == [443, 6443]


def test_only_clients_of_a_ca_are_answered(setup, tmp_path: Path) -> None:
    setup("--into", "out", "--client-ca", str(tls_files().ca), "--namespace", "webhooks").ok()
    found = objects(tmp_path / "out")
    made = found[setup_files.CLIENT_CA]
    assert (made["kind"], made["metadata"]["namespace"]) == ("ConfigMap", "webhooks")
    assert made["data"] == {"ca.crt": tls_files().ca.read_text()}
    pod, container = found["50-deployment.yaml"]["spec"]["template"]["spec"], container_of(found)
    assert "--client-ca=/etc/archfit/clients/ca.crt" in container["args"]
    (volume,) = (one for one in pod["volumes"] if one["name"] == "clients")
    assert volume["configMap"]["name"] == made["metadata"]["name"]
    assert "clients" in {one["name"] for one in container["volumeMounts"]}
    assert (
        "up to date"
        in setup("--into", "out", "--client-ca", str(tls_files().ca), "--namespace", "webhooks").stderr
    )
    assert setup("--check", "--into", "out").status == 0


def test_without_a_client_ca_every_client_is_answered() -> None:
    texts = setup_files.files(WebhookChoices())
    assert setup_files.CLIENT_CA not in texts
    assert "client" not in texts["50-deployment.yaml"]


def test_the_memory_limit_is_that_of_the_container(setup, tmp_path: Path) -> None:
    setup("--into", "out", "--memory-limit", "1Gi").ok()
    assert container_of(objects(tmp_path / "out"))["resources"]["limits"] == {"memory": "1Gi"}


def test_the_network_policy_admits_the_addresses_that_are_named(setup, tmp_path: Path) -> None:
    setup("--into", "out", "--api-server", "10.0.0.1/28", "--api-server", "fd00::/64").ok()
    first, metrics = objects(tmp_path / "out")[setup_files.NETWORK_POLICY]["spec"]["ingress"]
    assert first == {
        "from": [{"ipBlock": {"cidr": "10.0.0.0/28"}}, {"ipBlock": {"cidr": "fd00::/64"}}],
        "ports": [{"port": 8443, "protocol": "TCP"}],
    }
    assert metrics["ports"] == [{"port": 8080, "protocol": "TCP"}]


def test_a_network_policy_of_before_is_not_left_in_the_folder(setup, tmp_path: Path) -> None:
    setup("--into", "out").ok()
    ran = setup("--into", "out", "--no-network-policy")
    assert (ran.status, "70-network-policy.yaml was written without --no-network-policy: remove it" in ran.stderr) == (
        1, True,
    )  # fmt: skip
    (tmp_path / "out" / setup_files.NETWORK_POLICY).unlink()
    setup("--into", "out", "--no-network-policy").ok()
    assert setup_files.NETWORK_POLICY not in objects(tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "holds no certificate in PEM", id="empty"),
        pytest.param("ca: none\n", "holds no certificate in PEM", id="no-certificate"),
        pytest.param("LEAF", "holds a certificate that is no CA", id="no-ca"),
        pytest.param("KEY", "holds a private key, which a ConfigMap would show", id="a-key"),
    ],
)
def test_a_client_ca_that_is_none_is_refused(setup, tmp_path: Path, text: str, said: str) -> None:
    tls = tls_files()
    known = {"LEAF": tls.certificate.read_text(), "KEY": tls.ca.read_text() + tls.key.read_text()}
    (tmp_path / "ca.crt").write_text(known.get(text, text))
    ran = setup("--client-ca", "ca.crt")
    assert ran.status == 2
    assert f"--client-ca: 'ca.crt' {said}" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["ca.crt"]


def test_another_configuration_is_another_checksum() -> None:
    def checksum(choices: WebhookChoices) -> str:
        template = yaml.safe_load(setup_files.files(choices)["50-deployment.yaml"])["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/configuration"]

    assert checksum(WebhookChoices()) != checksum(WebhookChoices(configuration="a"))
    # The pods read a changed lock file themselves.
    assert (
        checksum(WebhookChoices())
        == checksum(WebhookChoices(image="b"))
        == checksum(WebhookChoices(lock="a"))
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["x"], "'x' is not expected", id="a-word"),
        pytest.param(["--into="], "--into: is empty", id="empty-into"),
        pytest.param(["--namespace", "A_b"], "--namespace: 'A_b' is not a name", id="namespace"),
        pytest.param(["--namespace", "kube-system"], "not asked for pods of kube-system", id="kube-system"),
        pytest.param(["--image", "nginx@sha256:abc"], "--image: ", id="image"),
        pytest.param(["--registry-secret", "a b"], "--registry-secret: 'a b'", id="secret"),
        pytest.param(["--priority-class", "a:"], "--priority-class: 'a:'", id="class"),
        pytest.param(["--pull-secret", "a"], "'a' is not NAMESPACE/NAME", id="pull-secret"),
        pytest.param(["--egress-port", "0"], "--egress-port: '0' is not a port", id="port"),
        pytest.param(["--egress-port", "٣"], "is not a port", id="port-in-other-digits"),
        pytest.param(["--client-ca", "none"], "--client-ca: cannot read 'none'", id="no-client-ca"),
        pytest.param(["--client-ca="], "--client-ca: is empty", id="empty-client-ca"),
        pytest.param(["--memory-limit", "255Mi"], "255 MiB (--memory-limit 255Mi) are too little", id="too-little-memory"),
        pytest.param(["--memory-limit", "lots"], "--memory-limit: 'lots' is not a quantity", id="no-quantity"),
        pytest.param(["--memory-limit="], "--memory-limit: is empty", id="empty-memory"),
        pytest.param(["--api-server", "10.0.0.1"], "'10.0.0.1' is not a CIDR", id="an-address"),
        pytest.param(["--api-server", "10.0.0.0/255.0.0.0"], "is not a CIDR: write addresses as", id="a-mask"),
        pytest.param(["--api-server", "fe80::%eth0/64"], "is not a CIDR", id="a-scope"),
        pytest.param(["--no-network-policy", "--api-server", "10.0.0.0/8"], "--api-server is about the NetworkPolicy", id="addresses-without-policy"),
        pytest.param(["--no-network-policy", "--egress-port", "443"], "--egress-port is about the NetworkPolicy", id="ports-without-policy"),
        pytest.param(["--check", "--no-network-policy"], "--no-network-policy says what to write", id="check-and-policy"),
        pytest.param(["--renew", "--client-ca", "a"], "--client-ca says what to write", id="renew-and-client-ca"),
        pytest.param(["--days", "0"], "--days: '0' cannot be used", id="days"),
        pytest.param(["--days", "9999"], "write a number from 1 to 3650", id="too-many-days"),
        pytest.param(["--cert-manager", "--days", "9"], "cert-manager renews", id="days-of-others"),
        pytest.param(["--configuration", "none.yaml"], "cannot read 'none.yaml'", id="no-configuration"),
        pytest.param(["--configuration="], "--configuration: is empty", id="empty-configuration"),
        pytest.param(["--lock-file", "none"], "--lock-file: cannot read 'none'", id="no-lock"),
        pytest.param(["--check", "--renew"], "leave one out", id="check-and-renew"),
        pytest.param(["--live"], "write --check --live", id="live-without-check"),
        pytest.param(["--check", "--context", "a"], "write --check --live", id="context-without-live"),
        pytest.param(["--check", "--image", "a"], "--image says what to write", id="check-and-image"),
        pytest.param(["--check", "--days", "1"], "--days says what to write", id="check-and-days"),
        pytest.param(["--renew", "--egress-port", "1"], "--egress-port says what to write", id="renew-and-port"),
    ],
)  # fmt: skip
def test_wrong_usage_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(*words)
    assert ran.status == 2
    assert said in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_configuration_that_archfit_would_refuse_is_refused(setup, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {onConflct: leave}\n"
    )
    ran = setup("--configuration", "c.yaml")
    assert ran.status == 2
    assert "c.yaml line 3" in ran.stderr


def test_a_lock_file_larger_than_a_config_map_is_refused(setup, tmp_path: Path) -> None:
    (tmp_path / "a.lock").write_bytes(b"x" * 1_100_000)
    ran = setup("--lock-file", "a.lock")
    assert (ran.status, "--carrier crd" in ran.stderr) == (2, True)


def test_the_key_is_in_one_file_that_its_owner_alone_reads(setup, tmp_path: Path) -> None:
    ran = setup()
    folder = tmp_path / "archfit-webhook"
    assert stat.S_IMODE((folder / SECRET).stat().st_mode) == 0o600
    key = base64.b64decode(objects(folder)[SECRET]["data"]["tls.key"]).decode()
    assert "PRIVATE KEY" in key
    lines = [line for line in key.splitlines() if "KEY" not in line]
    everything = ran.stdout.decode() + ran.stderr + repr(pair_of(folder))
    everything += "".join(path.read_text() for path in folder.iterdir() if path.name != SECRET)
    assert not any(line in everything for line in lines)
    assert (folder / ".gitignore").read_text() == "20-secret.yaml\n"


def test_no_file_holds_the_key_of_the_ca(setup, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    setup("--into", "out", TMPDIR=str(temporary)).ok()
    assert list(temporary.iterdir()) == []
    secret = objects(tmp_path / "out")[SECRET]
    assert sorted(secret["data"]) == ["ca.crt", "tls.crt", "tls.key"]
    assert secret["type"] == "kubernetes.io/tls"


def test_a_client_with_strict_checks_takes_the_certificate(setup, tmp_path: Path) -> None:
    """As Python 3.13 checks by default, and Go always."""
    setup("--into", "out").ok()
    pair = pair_of(tmp_path / "out")
    (tmp_path / "pair.pem").write_bytes(pair.certificate + pair.key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "pair.pem")
    client = ssl.create_default_context(cadata=pair.ca.decode())
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = (
        client.wrap_bio(to_client, to_server, server_hostname=NAME),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(4):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert sides[0].version() == "TLSv1.3"


def test_a_second_run_changes_nothing(setup, tmp_path: Path) -> None:
    setup().ok()
    folder = tmp_path / "archfit-webhook"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = setup()
    assert "up to date: archfit-webhook" in ran.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_certificate_with_a_third_of_its_time_left_is_replaced(setup, tmp_path: Path, monkeypatch) -> None:
    setup("--days", "3").ok()
    folder = tmp_path / "archfit-webhook"
    served = examine(pair_of(folder), NAME)
    assert served.share_left(served.begins + 1.9 * DAY) > 1 / 3 > served.share_left(served.begins + 2.1 * DAY)

    class Later(datetime):
        @classmethod
        def now(cls, _zone):
            return served.begins + 2.1 * DAY

    monkeypatch.setattr(setup_command, "datetime", Later)
    old = pair_of(folder)
    pair, is_new = setup_command._pair(str(folder), WebhookChoices(), 365, os.environ)
    assert is_new
    # Both the last certificate and the new one are believed.
    examine(pair, NAME)
    examine(old.replace(ca=pair.ca), NAME)


def test_renewal_replaces_the_certificate_and_nothing_else(setup, tmp_path: Path) -> None:
    setup("--image", "example.com/a:2").ok()
    folder = tmp_path / "archfit-webhook"
    mine = (folder / WEBHOOK).read_text().replace("timeoutSeconds: 5", "timeoutSeconds: 3 # mine")
    (folder / WEBHOOK).write_text(mine)
    (folder / "50-deployment.yaml").write_text("# mine\n")
    first = pair_of(folder)
    setup("--renew", "--days", "10").ok()
    second = pair_of(folder)
    assert second.certificate != first.certificate
    assert second.ca.count(b"BEGIN") == 2
    examine(first.replace(ca=second.ca), NAME)
    assert "timeoutSeconds: 3 # mine" in (folder / WEBHOOK).read_text()
    assert (folder / "50-deployment.yaml").read_text() == "# mine\n"
    assert stat.S_IMODE((folder / SECRET).stat().st_mode) == 0o600
    setup("--renew").ok()
    third = pair_of(folder)
    # The bundle does not grow: the CA before the last one is gone.
    assert third.ca.count(b"BEGIN") == 2
    with pytest.raises(Wrong, match="does not prove"):
        examine(first.replace(ca=third.ca), NAME)


def test_files_that_somebody_changed_stay(setup, tmp_path: Path) -> None:
    setup().ok()
    folder = tmp_path / "archfit-webhook"
    mine = (folder / WEBHOOK).read_text().replace("timeoutSeconds: 5", "timeoutSeconds: 3")
    (folder / WEBHOOK).write_text(mine)
    ran = setup()
    assert ran.status == 1
    assert "90-webhook.yaml exists and differs: nothing was written. Replace it with --force" in ran.stderr
    assert (folder / WEBHOOK).read_text() == mine
    setup("--force").ok()
    assert (folder / WEBHOOK).read_text() != mine
    assert setup("--check").status == 0


@pytest.mark.parametrize(
    "content", ["", "[", "a: b", "kind: Secret"], ids=["empty", "no-yaml", "other", "half"]
)
def test_a_strange_secret_file_is_refused_without_a_traceback(setup, tmp_path: Path, content: str) -> None:
    setup().ok()
    (tmp_path / "archfit-webhook" / SECRET).write_text(content)
    for words in ([], ["--check"]):
        ran = setup(*words)
        assert (ran.status, "Traceback" in ran.stderr) == (1, False), ran.stderr


def test_two_ways_to_a_certificate_do_not_mix_in_a_folder(setup, tmp_path: Path) -> None:
    setup("--into", "own").ok()
    assert (
        "20-secret.yaml was written without --cert-manager" in setup("--into", "own", "--cert-manager").stderr
    )
    setup("--into", "theirs", "--cert-manager").ok()
    assert "was written with --cert-manager" in setup("--into", "theirs").stderr
    assert not (tmp_path / "theirs" / SECRET).exists()


def test_cert_manager_is_told_the_name_and_writes_ca_bundle(setup, tmp_path: Path) -> None:
    setup("--cert-manager", "--namespace", "hooks", PATH="/nowhere").ok()
    found = objects(tmp_path / "archfit-webhook")
    certificate, webhook = found["23-certificate.yaml"], found[WEBHOOK]
    assert certificate["spec"]["dnsNames"][0] == "archfit.hooks.svc"
    assert webhook["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": "hooks/archfit"}
    assert "caBundle" not in webhook["webhooks"][0]["clientConfig"]
    volumes = {one["name"]: one for one in found["50-deployment.yaml"]["spec"]["template"]["spec"]["volumes"]}
    assert volumes["tls"]["secret"]["secretName"] == certificate["spec"]["secretName"]
    assert setup("--check").status == 0


def test_without_openssl_the_remedy_is_said(setup, tmp_path: Path) -> None:
    ran = setup(PATH="/nowhere")
    assert ran.status == 1
    assert "openssl is not on PATH" in ran.stderr
    assert "--cert-manager" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_openssl_that_fails_is_named_with_what_it_said(setup, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "openssl"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho unknown option -x509 >&2\nexit 1\n")
    program.chmod(0o755)
    ran = setup(PATH=str(program.parent))
    assert ran.status == 1
    assert "failed: unknown option -x509" in ran.stderr


def _swapped(folder: Path) -> None:
    """The key of another certificate."""
    other = objects(folder.parent / "other")[SECRET]["data"]["tls.key"]
    mine = objects(folder)[SECRET]["data"]["tls.key"]
    (folder / SECRET).write_text((folder / SECRET).read_text().replace(mine, other))


def _other_bundle(folder: Path) -> None:
    (folder / WEBHOOK).write_text((folder.parent / "other" / WEBHOOK).read_text())


def _other_name(folder: Path) -> None:
    for name in (WEBHOOK, "40-service.yaml"):
        path = folder / name
        path.write_text(path.read_text().replace("name: archfit\n", "name: hook\n"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(_swapped, "the key does not belong to the certificate", id="key"),
        pytest.param(_other_bundle, "caBundle does not prove the certificate for archfit.archfit.svc", id="bundle"),
        pytest.param(_other_name, "caBundle does not prove the certificate for hook.archfit.svc", id="name"),
        pytest.param(lambda folder: (folder / SECRET).chmod(0o644), "others may read it: chmod 600", id="mode"),
        pytest.param(lambda folder: (folder / SECRET).write_text("kind: Secret\n"), "20-secret.yaml and caBundle hold no certificate", id="empty-secret"),
        pytest.param(
            lambda folder: ((folder / SECRET).unlink(), (folder / WEBHOOK).write_text((folder / WEBHOOK).read_text().replace("LS0t", "AAAA"))),
            "caBundle holds no certificates",
            id="no-secret-and-no-bundle",
        ),
        pytest.param(lambda folder: (folder / WEBHOOK).unlink(), "there is no ", id="no-webhook"),
        pytest.param(lambda folder: (folder / WEBHOOK).write_text("a: b"), "is not a Mutating", id="no-webhook-object"),
        pytest.param(lambda folder: (folder / "40-service.yaml").write_text("a"), "defines nothing", id="no-service"),
    ],
)  # fmt: skip
def test_check_names_what_does_not_fit(setup, tmp_path: Path, change, said: str) -> None:
    for name in ("mine", "other"):
        setup("--into", name).ok()
    change(tmp_path / "mine")
    ran = setup("--check", "--into", "mine")
    assert ran.status == 1
    wrong = [line for line in ran.stdout.decode().splitlines() if line.startswith("wrong: ")]
    assert len(wrong) == 1
    assert said in wrong[0]
    assert "PRIVATE" not in ran.stdout.decode()


@pytest.mark.parametrize(
    ("after", "code", "said"),
    [
        pytest.param(0, 0, "for 99 days", id="new"),
        pytest.param(80, 1, "expires on", id="soon"),
        pytest.param(101, 1, "expired on", id="over"),
    ],
)
def test_check_fails_before_the_certificate_does(
    setup, tmp_path: Path, after: int, code: int, said: str
) -> None:
    from io import BytesIO

    from archfit.webhook.setup.setup_check import check

    setup("--days", "100").ok()
    out = BytesIO()
    assert check(str(tmp_path / "archfit-webhook"), out, datetime.now(UTC) + after * DAY) == code
    assert said in out.getvalue().decode()
    if code:
        assert "archfit setup webhook --renew --into" in out.getvalue().decode()


def test_a_folder_from_version_control_lacks_the_secret_and_can_be_checked_and_renewed(
    setup, tmp_path: Path
) -> None:
    setup("--namespace", "hooks", "--into", "out").ok()
    folder = tmp_path / "out"
    first = pair_of(folder)
    (folder / SECRET).unlink()
    ran = setup("--check", "--into", "out")
    assert ran.status == 0
    assert "ok: 20-secret.yaml is not here: the certificate is judged by its CA" in ran.stdout.decode()
    assert "ok: the certificate is valid until" in ran.stdout.decode()
    setup("--renew", "--into", "out").ok()
    second = pair_of(folder)
    examine(second, "archfit.hooks.svc")
    examine(first.replace(ca=second.ca), "archfit.hooks.svc")
    assert objects(folder)[SECRET]["metadata"]["namespace"] == "hooks"
    assert stat.S_IMODE((folder / SECRET).stat().st_mode) == 0o600
    (folder / SECRET).unlink()
    setup("--namespace", "hooks", "--into", "out").ok()
    examine(second.replace(ca=pair_of(folder).ca), "archfit.hooks.svc")


@pytest.mark.parametrize(("last", "now"), [("40", "200"), ("200", "40")], ids=["longer", "shorter"])
def test_without_the_secret_the_newest_ca_counts(setup, tmp_path: Path, last: str, now: str) -> None:
    setup("--days", last, "--into", "out").ok()
    setup("--renew", "--days", now, "--into", "out").ok()
    (tmp_path / "out" / SECRET).unlink()
    assert f"for {int(now) - 1} days" in setup("--check", "--into", "out").stdout.decode()


def test_nothing_to_renew_is_said(setup) -> None:
    ran = setup("--renew", "--into", "none")
    assert ran.status == 1
    assert "there is no none/90-webhook.yaml" in ran.stderr
    setup("--into", "theirs", "--cert-manager").ok()
    ran = setup("--renew", "--into", "theirs")
    assert ran.status == 1
    assert "cert-manager renews the certificate of theirs by itself" in ran.stderr
