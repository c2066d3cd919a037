"""`archfit policy`: from a lock file and from manifests, the same bytes again, every mistake with its remedy."""

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from registry import Registry

from archfit.cli.schema import schema
from archfit.options.settings import Operator, Options, Settings
from archfit.options.table import SPEC
from archfit.policy.command import write_policy as run
from archfit.policy.images import KINDS as KINDS_OF_LIVE
from archfit.policy.images import LiveImage, PolicyImages, from_cluster
from archfit.policy.table import installed_table
from lock_runs import Said, pod
from program import called

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
KINDS = [
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
]
LOCK = {
    "docker.io/library/nginx:1.27": {"digest": "sha256:" + "a" * 64, "kind": "index", "platforms": BOTH},
    "quay.io/team/app:1": {"digest": "sha256:" + "b" * 64, "kind": "manifest", "platforms": AMD},
}


class Policy:
    """`archfit policy` in a folder of its own. Lookups go to a registry of the tests."""

    def __init__(self, folder: Path, registry: Registry) -> None:
        self.folder, self.registry = folder, registry
        self.environ = {"HOME": str(folder), "PATH": str(folder)}

    def lock(self, images: Any = LOCK) -> str:
        path = self.folder / "archfit.lock"
        path.write_text(json.dumps({"version": 1, "images": images}), encoding="utf-8")
        return str(path)

    def run(self, *words: str, text: str = "", lock_file: bool = True) -> Said:
        locked = (self.folder / "archfit.lock").exists() and not any("--lock-file" in word for word in words)
        words = (*words, *(["--lock-file", "archfit.lock"] if locked and lock_file else []))
        ran = called(run, words, text.encode(), self.environ)
        return Said(ran.status, ran.stdout.decode(), ran.stderr)

    def asking(self, *words: str, text: str, lock_file: bool = True) -> Said:
        return self.run("--no-cache", *self.registry.mirrors(), *words, text=text, lock_file=lock_file)

    def live(
        self,
        *texts: str,
        lock_file: str = "",
        operator: Operator = Operator(offline=True),  # noqa: B008 - a value
    ) -> PolicyImages:
        """What archfit knows of a cluster's images, the most used first."""
        images = [LiveImage(text, ("v1", "Pod", "shop", "web"), "spec.containers[0].image") for text in texts]
        settings = Settings(options=Options(on_unknown="leave", lock_file=lock_file), operator=operator)
        return from_cluster(images, {}, settings, self.environ, io.StringIO())


@pytest.fixture
def registry():
    with Registry({"nginx:1.27": BOTH, "quay.io/team/app:1": AMD}) as served:
        yield served


@pytest.fixture
def policy(tmp_path, registry, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Policy(tmp_path, registry)


def objects(said: Said) -> list[dict[str, Any]]:
    assert said.status == 0, said.stderr
    return list(yaml.safe_load_all(said.stdout))


def images(said: Said) -> dict[str, Any]:
    return installed_table(objects(said)[0], None)


def test_a_lock_file_becomes_a_policy(policy, registry):
    policy.lock()
    said = policy.run()
    assert [one["kind"] for one in objects(said)] == KINDS
    assert set(images(said)) == set(LOCK)
    assert said.stdout.startswith(
        "# Written by `archfit policy` 0.1.0 from archfit.lock (2 images). Do not edit it. To renew it:\n"
        "#   archfit policy --lock-file archfit.lock | kubectl apply --server-side -f -\n---\napiVersion: admissionregistration.k8s.io/v1\n"
    )
    assert said.stderr == "archfit: policy archfit.dev: 2 images with 2 different lists of platforms\n"
    assert registry.asked == []
    assert policy.run().stdout == said.stdout


def test_manifests_are_locked_first_and_no_file_is_written(policy):
    text = pod("nginx:1.27", "quay.io/team/app:1") + pod("nginx:1.27", name="b")
    said = policy.asking("-", text=text)
    assert set(images(said)) == set(LOCK)
    assert "from standard input (2 images)" in said.stdout
    assert "registry requests" in said.stderr
    assert not os.path.exists("archfit.lock")
    (policy.folder / "a.yaml").write_text(text, encoding="utf-8")
    assert objects(policy.asking("a.yaml", text="")) == objects(said)


def test_a_lock_file_answers_for_manifests_and_is_part_of_the_policy(policy, registry):
    lock = policy.lock({name: LOCK[name] for name in ["quay.io/team/app:1"]})
    said = policy.asking("--lock-file", lock, "-", text=pod("nginx:1.27"))
    assert set(images(said)) == set(LOCK)
    assert not any("app" in asked.path for asked in registry.asked)


def test_what_the_configuration_states_is_not_asked(policy, registry):
    said = policy.asking("--image-platforms", "docker.io/*=amd64", "-", text=pod("nginx:1.27"))
    assert said.status == 0
    assert registry.asked == []


def test_the_head_repeats_the_command_without_what_is_about_this_machine(policy):
    policy.lock()
    said = policy.run(
        *("--name", "x.example", "--namespace-selector", "team in (a, b)", "--namespace-selector", "!old"),
        *(
            "--deny",
            "--tolerate",
            "none",
            "--locked",
            "--no-cache",
            "--mirror",
            "docker.io=http://127.0.0.1:1",
        ),
    )
    line = (
        said.stdout.splitlines()[1].removeprefix("#   ").removesuffix(" | kubectl apply --server-side -f -")
    )
    assert line == (
        "archfit policy --namespace-selector 'team in (a, b)' --namespace-selector '!old' --name x.example "
        "--deny --tolerate none --lock-file archfit.lock --locked"
    )


def test_a_custom_resource_comes_with_its_definition(policy):
    policy.lock()
    said = policy.run("--carrier", "crd")
    assert [one["kind"] for one in objects(said)] == ["CustomResourceDefinition", "PlatformTable", *KINDS]
    assert "# The first time, apply it twice" in said.stdout


def test_an_older_api_version_names_the_feature_gate(policy):
    policy.lock()
    said = policy.run("--api-version", "v1beta1")
    versions = {one["kind"]: one["apiVersion"].rpartition("/")[2] for one in objects(said)}
    assert versions == dict(zip(KINDS[:4], ("v1beta1", "v1beta1", "v1", "v1"), strict=True))
    assert "--feature-gates=MutatingAdmissionPolicy=true" in said.stderr
    assert "--runtime-config=admissionregistration.k8s.io/v1beta1=true" in said.stderr
    assert "feature-gates" not in policy.run().stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        pytest.param([], 2, "no manifests and no lock file are named: write --lock-file archfit.lock", id="no lock file"),
        pytest.param(["--lock-file", "x.lock"], 2, "--lock-file: there is no 'x.lock'", id="no such lock file"),
        pytest.param(["no.yaml"], 2, "cannot read 'no.yaml'", id="no such manifests"),
        pytest.param(["--carrier", "configmap"], 2, "--carrier: 'configmap' is not one of literal, crd: write one of them", id="carrier"),
        pytest.param(["--api-version", "v2"], 2, "--api-version: 'v2' is not one of v1, v1beta1: write one of them", id="version"),
        pytest.param(["--name", "No Name"], 2, "--name: 'No Name' cannot name an object: write up to 253", id="name"),
        pytest.param(["--namespace-selector", "a>1"], 2, "--namespace-selector: 'a>1' is no requirement on a label", id="selector"),
        pytest.param(["--apply", "--check"], 2, "--check and --apply are two commands", id="two commands"),
        pytest.param(["--live", "--check"], 2, "--check sends the pods of manifests", id="live check"),
        pytest.param(["--live", "a.yaml"], 2, "--live reads the cluster, and 'a.yaml' is a file", id="live files"),
        pytest.param(["--json"], 2, "--json needs --check", id="json"),
        pytest.param(["--context", "x"], 2, "--context needs --live, --check or --apply", id="context"),
        pytest.param(["--live", "--kubeconfig="], 2, "--kubeconfig: is empty", id="an empty path"),
        pytest.param(["--live"], 1, "there is no kubectl on PATH: install it", id="no kubectl"),
        pytest.param(["--locked"], 2, "--locked: needs a lock file", id="locked without a file"),
        pytest.param(["--affinty", "never"], 2, "there is no flag '--affinty': write --affinity", id="a typo"),
        pytest.param(["--stamp"], 2, "there is no flag '--stamp'", id="an option of other commands"),
        pytest.param(["--affinity", "never", "--unlabelled-nodes", "x"], 2, "--affinity; --unlabelled-nodes: no policy can hold these: leave them out, or install archfit serve", id="options that CEL does not hold"),
        pytest.param(["--cluster-architectures", "amd64,windows/amd64"], 2, "--cluster-architectures (windows/amd64): no policy can hold this: leave it out, or install archfit serve", id="another system"),
        pytest.param([*("--exclude", "*/shop"), *("--exclude", "Job/shop/import"), *("--exclude", "*/shop/web"), *("--exclude", "po/cart")], 2, "--exclude (*/shop/web, po/cart): no policy can hold this", id="pods by name"),
        pytest.param(["--check", "--strict", "-"], 2, "--strict: no policy can hold this", id="the check holds no more"),
        pytest.param(["--max-age", "soon"], 2, "--max-age: 'soon' is not a duration: write '30s'", id="no age"),
        pytest.param(["--max-age", "500ms"], 2, "--max-age: '500ms' is not a whole number of seconds", id="an age below a second"),
        pytest.param(["--max-age", "99999999d"], 2, "--max-age: '99999999d' is more than 100 years: write 0 for no warning", id="an age of centuries"),
        pytest.param(["--deny", "--carrier", "crd"], 2, "--deny needs --carrier literal", id="a custom resource that refuses"),
        pytest.param(["--tolerate", "a=b:NoSchedule@arm64,s390x"], 2, "--tolerate (a=b:NoSchedule of s390x, which the cluster lacks): no policy can hold this", id="an architecture that the cluster lacks"),
        pytest.param(["--tolerate", "a=arm64:NoSchedule", "--tolerate", "a=arm64:NoSchedule@amd64"], 2, "a=arm64:NoSchedule, which another one covers", id="two that are one"),
        pytest.param(["--exclude", "*/[a-t]hop"], 2, "--exclude (*/[a-t]hop): no policy can hold this", id="a class of characters"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_remedy(policy, words, status, message):
    said = policy.run(*words)
    assert (said.status, said.stdout) == (status, "")
    assert message in said.stderr


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        pytest.param('{"version": 1, "images": {}}', 2, "archfit.lock holds no images, so a policy would change no pod: run `archfit lock`", id="no images"),
        pytest.param("", 1, "archfit.lock: is empty; delete it, then write it again with archfit lock", id="an empty file"),
        pytest.param("{", 1, "archfit.lock line 1: is not JSON", id="no JSON"),
    ],
)  # fmt: skip
def test_a_lock_file_without_use_is_named(policy, content, status, message):
    (policy.folder / "archfit.lock").write_text(content, encoding="utf-8")
    said = policy.run()
    assert (said.status, said.stdout) == (status, "")
    assert message in said.stderr


SAMPLES: dict[str, Any] = {
    "clusterArchitectures": ["amd64", "arm64", "s390x"],
    "systemTaints": {"windows": "os=windows:NoSchedule"},
    "tolerate": "none",
    "prefer": {"arm64": 1},
    "assume": ["linux/arm64"],
    "imagePlatforms": {"docker.io/*": ["linux/amd64"]},
    "exclude": ["*/shop"],
    "unlabelledNodes": ["example.com/virtual"],
    "lockFile": "archfit.lock",
    "rules": [{"match": {"namespace": "shop"}, "tolerate": False}],
    "workloads": [{"group": "example.com", "kind": "Shop", "podSpec": "spec.template.spec"}],
}
"""A value of each option that is no choice of words."""
BESIDE: dict[str, dict[str, Any]] = {
    "assume": {"onUnknown": "assume", "assume": ["linux/amd64"]},
    "locked": {"lockFile": "archfit.lock"},
}
IMAGES = {
    "onAbsent": "quay.io/team/gone:1",
    "onUnknown": "denied.example/app:1",
    "assume": "denied.example/app:1",
}


@pytest.mark.parametrize("option", SPEC, ids=lambda option: option.key)
def test_the_policy_holds_an_option_refuses_it_or_does_not_differ_by_it(policy, option):
    policy.lock({"docker.io/library/nginx:1.27": LOCK["docker.io/library/nginx:1.27"] | {"platforms": AMD}})
    words = [word for word in option.type.schema.get("enum", (True,)) if word != option.default]
    sample = SAMPLES[option.key] if option.key in SAMPLES else words[0]

    def run(spec: dict[str, Any]) -> Said:
        head = {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit", "spec": spec}
        (policy.folder / "archfit.yaml").write_text(json.dumps(head), encoding="utf-8")
        text = pod("nginx:1.27", IMAGES.get(option.key, "nginx:1.27"))
        config = ("--config", "archfit.yaml", "--deny-host", "denied.example", "-")
        return policy.asking(*config, text=text, lock_file=False)

    beside = BESIDE.get(option.key, {})
    plain, other = run(beside), run(beside | {option.key: sample})
    if option.admission == "python":
        assert (other.status, other.stdout) == (2, "")
        assert f"spec.{option.key}: no policy can hold this" in other.stderr
        assert "archfit serve" in other.stderr
    else:
        assert (plain == other) is (option.admission == "none")


def test_a_default_and_the_namespaces_of_exclude_are_held(policy):
    policy.lock()
    stated = policy.run("--affinity", "needed", "--no-strict")
    assert objects(stated) == objects(policy.run())
    assert "'^shop$'" in policy.run("--exclude", "*/shop").stdout


def test_the_summary_says_how_many_images_the_policy_does_not_know(policy):
    text = pod("nginx:1.27", "quay.io/team/gone:1", "ghcr.io/${OWNER}/x:1")
    said = policy.asking("--on-absent", "leave", "-", text=text)
    assert said.status == 0
    assert said.stderr.splitlines()[-1].startswith(
        "archfit: policy archfit.dev: 1 image with 1 different list of platforms; "
        "2 not known (1 no such image, 1 placeholder), "
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        pytest.param([], 1, "gone:1: there is no such image: ", id="absent"),
        pytest.param([], 1, "or leave it out with --on-absent leave", id="absent, and the remedy"),
        pytest.param(["--on-absent", "leave"], 0, "pods with it get no toleration", id="absent, and left"),
        pytest.param(["--offline"], 1, "its platforms are not known", id="unknown"),
        pytest.param(["--offline"], 1, "or leave it out with --on-unknown leave", id="unknown, and the remedy"),
        pytest.param(["--offline", "--on-unknown", "leave"], 1, "the manifests name no image with known platforms", id="unknown, and left"),
        pytest.param(["--offline", "--on-unknown", "assume", "--assume", "amd64"], 0, "those of --assume count", id="unknown, and assumed"),
    ],
)  # fmt: skip
def test_an_image_that_is_not_there_or_cannot_be_looked_up(policy, words, status, message):
    said = policy.asking(*words, "-", text=pod("nginx:1.27", "quay.io/team/gone:1"))
    assert (said.status, bool(said.stdout)) == (status, status == 0)
    assert message in said.stderr
    assert status or "or leave it out" not in said.stderr


def test_an_image_none_of_whose_platforms_counts_is_named(policy):
    entry = {"digest": "sha256:" + "c" * 64, "kind": "index", "platforms": ["linux/amd64/v3"]}
    policy.lock({**LOCK, "quay.io/team/fast:1": entry})
    said = policy.run()
    assert set(images(said)) == set(LOCK)
    assert "quay.io/team/fast:1: " in said.stderr
    assert "pods with it get no toleration" in said.stderr


def test_an_exclude_that_no_pod_meets_is_named(policy):
    policy.lock()
    said = policy.run("--exclude", "Deployment/shop/web", "--exclude", "*/shop")
    assert said.status == 0
    assert "warning: exclude Deployment/shop/web has no effect in a policy, which sees Pods" in said.stderr
    assert said.stderr.count("has no effect") == 1


def test_locked_names_what_the_lock_file_lacks(policy, registry):
    lock = policy.lock()
    said = policy.asking("--lock-file", lock, "--locked", "-", text=pod("nginx:1.27", "quay.io/team/new:1"))
    assert (said.status, said.stdout, registry.asked) == (1, "", [])
    assert f"{lock} does not hold quay.io/team/new:1" in said.stderr
    assert policy.asking("--lock-file", lock, "--locked", "-", text=pod("nginx:1.27")).status == 0


@pytest.mark.parametrize("words", [[], ["--check"]], ids=["write", "check"])
def test_input_that_is_no_manifest_is_an_error(policy, words):
    (policy.folder / "a.yaml").write_text("a: b\n", encoding="utf-8")
    said = policy.asking(*words, "a.yaml", text="")
    assert (said.status, said.stdout) == (1, "")
    assert "(a.yaml:1)" in said.stderr


def test_file_names_cannot_leave_the_head_comment(policy):
    name = "a\nkind: Evil\n.yaml"
    (policy.folder / name).write_text(pod("nginx:1.27"), encoding="utf-8")
    said = policy.asking(name, text="")
    assert [one["kind"] for one in objects(said)] == KINDS


def test_the_most_used_images_of_a_cluster_come_first(policy, registry):
    made = policy.live("quay.io/team/new:1", "quay.io/team/app:1", lock_file=policy.lock())
    assert list(made.images) == ["quay.io/team/app:1", "docker.io/library/nginx:1.27"]


def test_only_so_many_images_of_a_cluster_are_looked_up(policy, monkeypatch):
    monkeypatch.setattr("archfit.policy.images.MAX_ASKED", 1)
    made = policy.live("quay.io/team/app:1", "b:1", "c:1", lock_file=policy.lock())
    assert [one.text for one in made.messages] == [
        "2 images of the cluster were not looked up, as 1 others are used more, so that pods with them get no "
        "toleration: b:1, c:1"
    ]


def dates(said: Said) -> set[Any]:
    return {one["metadata"].get("annotations", {}).get("archfit.dev/date") for one in objects(said)}


def test_a_policy_has_the_date_that_the_environment_states_and_never_that_of_the_clock(policy):
    policy.lock()
    assert dates(policy.run()) == {None}
    policy.environ["SOURCE_DATE_EPOCH"] = "1795414620"
    said = policy.run()
    assert dates(said) == {None, "2026-11-23T06:17:00Z"}
    assert policy.run().stdout == said.stdout
    policy.environ["SOURCE_DATE_EPOCH"] = "yesterday"
    assert "SOURCE_DATE_EPOCH: 'yesterday' is not a number of seconds" in policy.run().stderr


def test_a_cluster_without_images_to_look_up(policy):
    assert [result.text for result in policy.live().messages] == [
        "no pod and no workload of the cluster names an image that can be looked up, so a policy would change no pod"
    ]


def test_images_of_a_cluster_do_not_choose_private_servers(policy, registry):
    host = registry.url.removeprefix("http://")
    made = policy.live(f"{host}/quay.io/team/app:1", operator=Operator(no_cache=True))
    assert registry.asked == []
    assert made.images == {}
    assert any("--allow-host" in result.text for result in made.messages)


KUBECTL = """\
#!{python} -I
import json, sys
objects, words = json.load(open({objects!r})), sys.argv[1:]
path = words[-1].partition("?")[0]
if "create" in words:
    pods = [{{**pod, "metadata": {{"namespace": "shop", **pod["metadata"]}}}} for pod in json.load(sys.stdin)["items"]]
    print(json.dumps({{"kind": "List", "items": pods}}))
elif "--context=prod" not in words or path not in objects:
    sys.exit("Error from server (NotFound): the server could not find the requested resource")
else:
    print(json.dumps(objects[path]))
"""
ADMISSION = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture
def cluster(policy):
    """A cluster whose policy does not act, and knows app:1 alone. Its context is `prod`."""
    policy.lock({"quay.io/team/app:1": LOCK["quay.io/team/app:1"]})
    made = {one["kind"]: one for one in objects(policy.run())}
    known = {
        f"{ADMISSION}": {"resources": [{"name": "mutatingadmissionpolicies"}]},
        f"{ADMISSION}/mutatingadmissionpolicies/archfit.dev": made["MutatingAdmissionPolicy"],
        f"{ADMISSION}/mutatingadmissionpolicybindings/archfit.dev": made["MutatingAdmissionPolicyBinding"],
        "/api/v1/namespaces/shop": {"metadata": {}},
        **{kind.path(""): {"items": []} for kind in KINDS_OF_LIVE},
        "/api/v1/pods": {"items": list(yaml.safe_load_all(pod("quay.io/team/app:1", "nginx:1.27")))},
    }
    (policy.folder / "objects.json").write_text(json.dumps(known), encoding="utf-8")
    program, content = policy.folder / "kubectl", str(policy.folder / "objects.json")
    program.write_text(KUBECTL.format(python=sys.executable, objects=content), encoding="utf-8")
    program.chmod(0o755)
    policy.lock()
    return policy


def test_the_check_names_each_object_in_its_place(cluster):
    rollout = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "r"}}
    template = {"spec": {"containers": [{"name": "a", "image": "quay.io/team/app:1"}]}}
    text = json.dumps({**rollout, "spec": {"template": template}}) + "\n"
    text += pod("quay.io/team/app:1", name="a") + pod("nginx:1.27", name="b")
    said = cluster.run("--check", "--context", "prod", "--json", "-", text=text)
    assert said.status == 3, said.stderr
    jsonschema.validate(json.loads(said.stdout), json.loads(schema("policy-check")))
    found = json.loads(said.stdout)["pods"]
    assert [(one["object"]["name"], one["location"]["document"], one["outcome"]) for one in found] == [
        ("r", 1, "not-compared"),
        ("a", 2, "different"),
        ("b", 3, "left-alone"),
    ]
    assert found[2]["reason"] == "the policy does not know nginx:1.27: renew it with archfit policy"


def test_a_warning_of_the_check_names_the_object_and_not_the_pod_that_was_sent(cluster):
    (cluster.folder / "web.yaml").write_text(pod("ghcr.io/team/new:1", name="web"), encoding="utf-8")
    said = cluster.run("--check", "--context", "prod", "--offline", "web.yaml")
    assert "apps/v1/Deployment/web: ghcr.io/team/new:1" in said.stderr
    assert "(web.yaml" in said.stderr
    assert "archfit-check-" not in said.stderr


def test_the_check_needs_an_installed_policy(cluster):
    words = ("--check", "--context", "prod", "--name", "other.example", "-")
    said = cluster.run(*words, text=pod("nginx:1.27"))
    assert (said.status, said.stdout) == (1, "")
    assert "the cluster has no MutatingAdmissionPolicy other.example" in said.stderr
    assert "archfit policy --lock-file archfit.lock | kubectl apply --server-side -f -" in said.stderr


def test_the_cluster_of_that_context_is_read_and_what_its_policy_knows_is_kept(cluster):
    said = cluster.run("--live", "--context", "prod", "--offline", lock_file=False)
    assert list(images(said)) == ["quay.io/team/app:1"]
    assert "from the pods and workloads of a cluster (1 image)" in said.stdout.splitlines()[0]
    assert "those in the installed policy are kept" in said.stderr
    assert cluster.run("--live", "--context", "dev", lock_file=False).status == 2


def test_images_that_do_not_fit_are_counted(cluster, monkeypatch):
    monkeypatch.setattr("archfit.policy.table.MAX_LITERAL_IMAGES", 1)
    said = cluster.run("--live", "--context", "prod", "--offline")
    assert len(images(said)) == 1
    assert "1 image did not fit into the policy" in said.stderr
    assert "1 image with 1 different list of platforms; 1 image did not fit" in said.stderr.splitlines()[-1]
