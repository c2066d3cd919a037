"""`archfit audit --format rules`: the configuration file of a wave, as archfit itself reads and applies it."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.audit import audit_clusters
from tests.audit.cluster_objects import as_json as listed
from tests.audit.cluster_objects import node, pod

from archfit.audit.findings import findings
from archfit.audit.report.rules import render
from file_runs import OPTIONS, run
from program import Ran

AMD, BOTH = "x.io/amd:1", "x.io/both:1"
ARM = {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
ALL = {"operator": "Exists"}


def workload(name: str, kind: str = "Deployment", image: str = BOTH, **spec: Any) -> dict[str, Any]:
    """A manifest with one container."""
    container = {"name": "a", "image": image, "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}}
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": {"template": template}}


MANIFESTS = (
    workload("agent", "DaemonSet"),
    workload("web"),
    workload("cart"),
    workload("old", image=AMD),
    workload("db", "StatefulSet"),
    workload("train", resources={"limits": {"hugepages-2Mi": "2Mi"}}),
)


def live(manifest: dict[str, Any], *tolerations: dict[str, str]) -> list[dict[str, Any]]:
    """The workload as the API server has it, and a pod of it."""
    name, kind = manifest["metadata"]["name"], manifest["kind"]
    spec = {**manifest["spec"]["template"]["spec"], "tolerations": list(tolerations)}
    whole = {**manifest, "metadata": {**manifest["metadata"], "uid": name}}
    return [whole, pod(f"{name}-0", owner=(kind, name), spec=spec, status={"containerStatuses": []})]


def audited(stream: bytes, *words: str) -> Ran:
    return run(("audit", *OPTIONS, "--own", "x.io/*", "--format", "rules", *words), stream)


def test_no_name_turns_the_file_around():
    """Real clusters have no such name; a snapshot of somebody may."""
    moved = {**workload("web"), "metadata": {"name": "web", "namespace": "a\u202eb"}}
    written = audited(listed(moved, workload("cart"))).stdout
    assert "\u202e" not in written.decode()
    assert "a\u202eb" in [rule["match"].get("namespace") for rule in yaml.safe_load(written)["spec"]["rules"]]


def placements(path: Path, rules: bytes, stream: bytes) -> list[tuple[bool, bool]]:
    """(has the toleration, has a preference) of each manifest, once archfit applied the rules."""
    file = path / "rules.yaml"
    file.write_bytes(rules)
    ended = run((*OPTIONS, "--config", str(file)), stream)
    assert (ended.status, "warning" in ended.stderr) == (0, False), ended.stderr
    found = []
    for document in yaml.safe_load_all(ended.stdout):
        spec = document["spec"]["template"]["spec"]
        affinity = spec.get("affinity", {}).get("nodeAffinity", {})
        found.append(
            (
                ARM in spec.get("tolerations", []),
                "preferredDuringSchedulingIgnoredDuringExecution" in affinity,
            )
        )
    return found


def placed(path: Path, rules: bytes) -> dict[str, tuple[bool, bool]]:
    """`placements` of MANIFESTS, by name."""
    found = placements(path, rules, yaml.safe_dump_all(MANIFESTS).encode())
    return dict(zip((one["metadata"]["name"] for one in MANIFESTS), found, strict=True))


NOT, TOLERATES, BOTH_OF_THEM = (False, False), (True, False), (True, True)


@pytest.mark.parametrize(
    ("wave", "there"),
    [
        pytest.param(0, {"agent": TOLERATES}, id="every node"),
        pytest.param(1, {"agent": TOLERATES, "web": BOTH_OF_THEM, "cart": BOTH_OF_THEM}, id="ready"),
        pytest.param(2, {"agent": TOLERATES, "web": BOTH_OF_THEM, "cart": BOTH_OF_THEM}, id="newer tag: none has one"),
        pytest.param(3, {"agent": TOLERATES, "web": BOTH_OF_THEM, "cart": BOTH_OF_THEM}, id="build it: an image that still lacks it gets nothing"),
        pytest.param(4, {"agent": TOLERATES, "web": BOTH_OF_THEM, "cart": BOTH_OF_THEM, "db": BOTH_OF_THEM}, id="stateful"),
    ],
)  # fmt: skip
def test_archfit_applies_the_rules_to_the_wave_and_to_nothing_behind_it(wave, there, tmp_path):
    ended = audited(yaml.safe_dump_all(MANIFESTS).encode(), "--wave", str(wave))
    assert ended.status == 0, ended.stderr
    names = [one["metadata"]["name"] for one in MANIFESTS]
    assert placed(tmp_path, ended.stdout) == {name: there.get(name, NOT) for name in names}


def without(manifest: dict[str, Any], *fields: str) -> dict[str, Any]:
    """The manifest without these fields of its metadata, as many charts write it."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in fields}
    return {**manifest, "metadata": metadata}


GPU = {"resources": {"limits": {"hugepages-2Mi": "2Mi"}}}


@pytest.mark.parametrize(
    ("namesake", "gets"),
    [
        pytest.param(workload("web", **GPU), NOT, id="a workload that stays"),
        pytest.param(workload("web"), BOTH_OF_THEM, id="one of the same wave"),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["before", "behind"])
def test_the_rule_of_a_workload_without_a_namespace_moves_no_namesake(namesake, gets, first, tmp_path):
    own = without(workload("web"), "namespace")
    pair = [namesake, own] if first else [own, namesake]
    stream = yaml.safe_dump_all([workload("old", image=AMD), *pair]).encode()
    ended = audited(stream, "--wave", "1")
    assert ended.status == 0, ended.stderr
    found = placements(tmp_path, ended.stdout, stream)
    assert found == [NOT, *([gets, BOTH_OF_THEM] if first else [BOTH_OF_THEM, gets])]


def test_a_workload_without_a_name_has_no_rule_that_would_match_all_of_its_kind(tmp_path):
    nameless = without(workload("web"), "name", "namespace")
    stream = yaml.safe_dump_all([nameless, workload("train", **GPU), workload("old", image=AMD)]).encode()
    ended = audited(stream, "--wave", "1")
    assert placements(tmp_path, ended.stdout, stream) == [NOT, NOT, NOT]
    assert b"# 1 workload without metadata.name" in ended.stdout


def test_without_rules_all_that_are_ready_get_the_toleration(tmp_path):
    """The twin: the rules keep something back."""
    found = placed(tmp_path, b"apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {}\n")
    assert found == {**dict.fromkeys(found, TOLERATES), "old": NOT}


TAINT = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("tolerating", "wave"),
    [
        pytest.param((), "0 every node", id="nothing is done"),
        pytest.param(("agent",), "1 ready", id="every node is done"),
        pytest.param(("agent", "web"), "1 ready", id="a part of the wave is done"),
        pytest.param(("agent", "web", "cart"), "3 build it", id="what is ready is done"),
    ],
)
def test_the_next_wave_is_the_first_that_is_not_done(tolerating, wave):
    objects = [
        one
        for manifest in MANIFESTS
        for one in live(manifest, *[ALL] * (manifest["metadata"]["name"] in tolerating))
    ]
    ended = audited(listed(node("n", "arm64", taints=[TAINT]), *objects), "--cluster", "prod")
    assert ended.status == 0, ended.stderr
    head = ended.stdout.decode().splitlines()
    assert head[0].startswith("# prod: nodes arm64; ")
    assert head[1].startswith(f"# Wave {wave}, to arm64: ")


def test_what_is_not_ready_in_a_wave_is_named():
    broken = workload("apm", "DaemonSet", AMD)
    text = audited(yaml.safe_dump_all([*MANIFESTS, broken]).encode()).stdout.decode()
    assert "# Wave 0 every node: 1 of 2 is not ready (shop/DaemonSet/apm)\n" in text


def test_where_all_is_done_the_rules_of_all_waves_stay():
    objects = [one for manifest in (MANIFESTS[0], MANIFESTS[1]) for one in live(manifest, ALL)]
    text = audited(listed(node("n", "arm64", taints=[TAINT]), *objects)).stdout.decode()
    assert "# Waves 0 to 4 to arm64 are done, as far as they are known: their rules\n" in text
    rules = yaml.safe_load(text)["spec"]["rules"]
    assert [rule["match"].get("name") for rule in rules] == [None, "agent", "web"]


def test_the_rules_of_several_clusters_are_refused(tmp_path):
    for name in ("a", "b"):
        stream = listed(*live(workload(f"web-{name}")))
        words = ("audit", *OPTIONS, "--cluster", name, "-o", str(tmp_path / f"{name}.json"))
        assert run(words, stream).status == 0
    ended = run(("audit", "--merge", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--format", "rules"))
    assert (ended.status, ended.stdout) == (2, b"")
    assert "--format rules: a configuration file is for one cluster, and this audit is of 2" in ended.stderr


def test_hostile_names_are_values_of_one_rule_each():
    facts = audit_clusters.hostile()
    images = tuple(one.replace(answer="Found", architectures=audit_clusters.BOTH) for one in facts.images)
    found = findings(facts.replace(images=images))
    value = yaml.safe_load(render(found, number=4))
    moved = [one for one in found.workloads if one.waves[0] is not None and 0 <= one.waves[0] <= 4]
    assert len(moved) == len(found.workloads)
    patterns = [rule["match"]["name"] for rule in value["spec"]["rules"][1:]]
    assert len(patterns) == len(moved)
    for one in moved:
        assert len([pattern for pattern in patterns if fnmatchcase(one.facts.name, pattern)]) == 1
