"""What Helm 3 and a pipe may rely on, with the real programs.

No cluster is here: `helm template`, and `helm install --dry-run=client` against bare discovery.
"""

import os
import re
import subprocess
from collections.abc import Callable

import pytest

import program
from helm_runs import sources
from kubernetes_discovery import Discovery
from program import Ran

Archfit = Callable[..., Ran]

ALLOWED = "--post-renderer-args=--on-blank=pass"
HIDDEN = b"---\n# Source: quiet/templates/secret.yaml\n# HIDDEN: The Secret output has been suppressed\n"


@pytest.mark.parametrize(
    ("chart", "words"),
    [
        pytest.param("quiet", (), id="nothing-holds-a-pod"),
        pytest.param("shop", ("--post-renderer-args=--exclude=*",), id="every-pod-excluded"),
        pytest.param("blank", (ALLOWED,), id="nothing-rendered"),
    ],
)
def test_bytes_in_bytes_out(helm3, chart, words):
    seen = helm3.recorded(chart, *words)
    seen.helm.ok()
    assert seen.written == seen.given
    assert seen.helm.stdout == helm3.plain(chart)


def test_a_source_line_follows_its_separator_after_a_change(helm3):
    seen = helm3.recorded("shop")
    seen.helm.ok()
    assert seen.written != seen.given
    assert sources(seen.written) == sources(seen.given)
    assert len(sources(seen.written)) > 10


@pytest.mark.parametrize("source", ["recommendations", "telemetry", "stores"])
def test_show_only_finds_what_changed(helm, judge, source):
    name = f"templates/{source}.yaml"
    shown = helm.template("shop", "--show-only", name).ok()
    whole = helm.template("shop").ok()
    named = f"# Source: shop/{name}\n".encode()
    documents = [piece for piece in whole.split(b"---\n") if piece.startswith(named)]
    assert documents
    assert judge.kubectl(shown) == judge.kubectl(b"---\n".join(documents))
    assert shown != helm.plain("shop", "--show-only", name)


def test_separators_come_back_as_they_came(helm):
    seen = helm.recorded("shop")
    seen.helm.ok()
    assert seen.written != seen.given
    written, given = (re.findall(rb"^---.*\n?", text, re.MULTILINE) for text in (seen.written, seen.given))
    assert written == given
    assert len(seen.written.split(b"\n---\n")) == len(seen.given.split(b"\n---\n"))  # as helm-diff splits


def test_helm_3_writes_files_before_it_calls_the_renderer(helm3, tmp_path):
    seen = helm3.recorded("small", "--output-dir", str(tmp_path))
    assert (seen.given.strip(), seen.written) == (b"", b"")
    assert (tmp_path / "small" / "templates" / "application.yaml").is_file()
    assert seen.helm.status == 1
    assert "the input holds no manifests" in seen.helm.stderr
    assert helm3.recorded("small", "--output-dir", str(tmp_path), ALLOWED).helm.status == 0


def test_a_hidden_secret_stays_hidden(helm3):
    words = ("--dry-run=client", "--hide-secret", "--disable-openapi-validation", "--kube-apiserver")
    with Discovery() as api:
        seen = helm3.recorded("quiet", *words, api.url, command="install")
    seen.helm.ok()
    assert seen.given.startswith(HIDDEN)
    assert seen.written == seen.given
    assert HIDDEN in seen.helm.stdout


def test_custom_resource_definitions_pass(helm):
    words = ("--include-crds",)
    assert helm.template("quiet", *words).ok().startswith(helm.plain("quiet", *words).split(b"\n---\n")[0])


def test_a_list_stays_a_list(helm3, judge):
    before = helm3.plain("shop", "--show-only", "templates/telemetry.yaml")
    after = helm3.template("shop", "--show-only", "templates/telemetry.yaml").ok()
    (was,), (found,) = judge.kubectl(before), judge.kubectl(after)
    assert [item["metadata"]["name"] for item in found["items"]] == ["demo-telemetry", "demo-sessions"]
    for old, new in zip(was["items"], found["items"], strict=True):
        tolerations = new["spec"]["template"]["spec"].pop("tolerations")
        assert [toleration["value"] for toleration in tolerations] == ["arm64"]
        assert new == old


def test_a_failure_writes_nothing_and_ends_with_one_sentence(helm3):
    seen = helm3.recorded("small", "--set", "sidecar=registry.k8s.io/gone:1")
    assert seen.written == b""
    error = seen.said.splitlines()[0]
    assert error.startswith(
        "archfit: error: apps/v1/Deployment/demo spec.template.spec.containers[1].image: "
        "registry.k8s.io/gone:1: there is "
    )
    assert "--on-absent" in error
    assert "small/templates/application.yaml" in error
    assert (seen.helm.status, seen.helm.stdout) == (1, b"")
    assert error in seen.helm.stderr.splitlines()


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--post-renderer-args=--affinity=always",), id="joined"),
        pytest.param(
            ("--post-renderer-args", "--affinity", "--post-renderer-args", "always"), id="two-words"
        ),
        pytest.param(
            (
                "--post-renderer-args=--affinity=always",
                "--post-renderer-args=--cluster-architectures=amd64,arm64",
            ),
            id="several",
        ),
        pytest.param(("--post-renderer-args=", "--post-renderer-args=--affinity=always"), id="one-empty"),
    ],
)
def test_arguments_arrive(helm, words):
    always = helm.template("small", *words).ok()
    assert always.count(b"- key: kubernetes.io/arch\n") > 4
    assert always != helm.template("small").ok()


@pytest.mark.parametrize("chart", ["quiet", "shop"])
def test_neither_directory_nor_home_nor_locale_count(helm, mirrors, chart):
    given = helm.recorded(chart).given
    words = [str(program.PROGRAM)]
    bare = {"PATH": os.environ["PATH"], "ARCHFIT_MIRROR": mirrors, "LANG": "C", "LC_ALL": "C"}
    unwritable = dict.fromkeys(("XDG_CACHE_HOME", "XDG_STATE_HOME"), "/proc/archfit")
    expected = program.archfit(given, ARCHFIT_MIRROR=mirrors).ok()
    done = subprocess.run(
        words, input=given, cwd="/proc", env=bare | unwritable, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
