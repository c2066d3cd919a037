"""The recorder of operators, with an operator of one kind (pod_operator.py) and with operators that fail."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pytest

import recordings
from archfit.base.patch import pattern_text
from corpus_streams import Oracle
from operators import build as building
from operators import rows
from operators.build import Built, Failed
from operators.definition import BadDefinition, Operator, Program, operator
from operators.made import Made
from operators.recorder import record

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dragonflies.dragonflydb.io}
spec:
  group: dragonflydb.io
  names: {kind: Dragonfly, plural: dragonflies}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
OBJECT = """\
apiVersion: dragonflydb.io/v1alpha1
kind: Dragonfly
metadata: {name: cache}
spec:
  image: img.test/multi/dragonfly:1
  tolerations:
  - {key: memory, operator: Exists}
"""
WEBHOOK = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: dragonflies}
webhooks:
- name: dragonflies.dragonflydb.io
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: webhook, namespace: system, path: /validate}}
  rules:
  - {apiGroups: [dragonflydb.io], apiVersions: [v1alpha1], operations: [CREATE], resources: [dragonflies]}
"""
IDLE = "import time; print('no leader', flush=True); time.sleep(600)"
PODS = (sys.executable, str(Path(__file__).with_name("pod_operator.py")), "{kubeconfig}")


def _operator(folder: Path, *words: str, webhooks: str = "", crd: str = CRD) -> tuple[Operator, Built]:
    case = folder / "whole"
    case.mkdir(parents=True)
    (case / "object.yaml").write_text(OBJECT, encoding="utf-8")
    (folder / "crd.yaml").write_text(crd, encoding="utf-8")
    (folder / "webhook.yaml").write_text(webhooks, encoding="utf-8")
    made = Operator(
        folder=folder,
        operator="Dragonfly",
        module="",
        version="v1",
        recorded=dt.date(2026, 11, 23),
        programs=(Program("manager", arguments=words[1:]),),
        crds=("./crd.yaml",),
        webhooks=("./webhook.yaml",) if webhooks else (),
        patience_seconds=2.0 if words != PODS else 60.0,
        controllers=False,
    )
    return made, Built({"manager": [words[0]]}, None, 0.0, 0)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _children() -> set[str]:
    """The processes that this one has started and that still run."""
    return set(Path("/proc/self/task").glob("*/children").__next__().read_text(encoding="utf-8").split())


def test_a_second_recording_gives_the_same_bytes(tmp_path: Path, oracle: Oracle, real: None) -> None:
    folder = tmp_path / "dragonfly-1"
    given = _operator(folder, *PODS)
    record(*given)
    first = _files(folder)
    assert sorted(first) == [
        "crd.yaml",
        "webhook.yaml",
        *(
            f"whole/{name}"
            for name in ("made-placed.yaml", "made.yaml", "object.yaml", "outcome.json", "placed.yaml")
        ),
        "whole/turn-1/made-placed.yaml",
        "whole/turn-1/placed.yaml",
    ]
    assert b"arm64" in first["whole/made-placed.yaml"]
    assert b"amd64" in first["whole/turn-1/made-placed.yaml"]
    assert list(recordings.faults(folder / "whole", oracle, recordings.ALL)) == []
    record(*given)
    assert _files(folder) == first


_CONNECT = """\
apiVersion: sparkoperator.k8s.io/v1alpha1
kind: SparkConnect
metadata: {{name: connect}}
spec:
  server: {{template: {{spec: {{containers: [{{name: spark-kubernetes-driver, image: {0}}}]}}}}}}
  executor: {{template: {{spec: {{containers: [{{name: spark-kubernetes-executor, image: {1}}}]}}}}}}
"""
_SERVER = """\
apiVersion: v1
kind: Pod
metadata: {{name: server}}
spec: {{nodeSelector: {{{0}}}, containers: [{{name: a, image: img.test/amd/a:1}}]}}
"""


@pytest.mark.parametrize(
    ("executor", "seen"),
    [
        pytest.param("img.test/amd/b:1", ["spec.server.template.spec"], id="an-image-of-its-own"),
        pytest.param("img.test/amd/a:1", [], id="one-image-for-two-roles-shows-neither"),
    ],
)
def test_a_row_is_seen_by_an_image_that_no_other_row_states(
    executor: str, seen: list[str], tmp_path: Path
) -> None:
    (tmp_path / "object.yaml").write_text(_CONNECT.format("img.test/amd/a:1", executor), encoding="utf-8")
    (tmp_path / "made.yaml").write_text(_SERVER.format(""), encoding="utf-8")
    (tmp_path / "made-placed.yaml").write_text(_SERVER.format("kubernetes.io/arch: amd64"), encoding="utf-8")
    assert [pattern_text(row.pod_spec) for row in rows.seen(tmp_path)] == seen


def test_what_the_api_server_tolerates_by_default_is_left_out_whatever_names_end_in() -> None:
    """`-ready` looks like the end of a name that differs from run to run."""
    defaults = [
        {
            "key": f"node.kubernetes.io/{name}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }
        for name in ("not-ready", "unreachable")
    ]
    own = {"key": "pool", "operator": "Exists"}
    made = Made(["-[a-z0-9]{5}$"])
    for name, tolerations in (("a-x7k2d", [own, *defaults]), ("b-x7k2d", defaults)):
        metadata = {"name": name, "namespace": "whole", "uid": name}
        made.add("Pod", {"metadata": metadata, "spec": {"tolerations": tolerations}})
    pods = made.of("whole")
    assert [(one["metadata"]["name"], one["spec"].get("tolerations")) for one in pods] == [
        ("a", [own]),
        ("b", None),
    ]


def test_a_script_beside_the_definition_needs_no_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "TOOLS", tmp_path / "tools")
    made, _ = _operator(tmp_path / "dragonfly-1", *PODS)
    built = building.build(made._replace(programs=(Program("server", script="server.py"),)))
    assert built.commands == {"server": [sys.executable, str(tmp_path / "dragonfly-1" / "server.py")]}
    assert built.seconds == 0.0


@pytest.mark.parametrize(
    ("words", "more", "said"),
    [
        ((sys.executable, "-c", "raise SystemExit('flag provided but not defined: -config')"), {}, "-config"),
        ((sys.executable, "-c", IDLE), {}, "waiting for pods of whole failed\n  no leader"),
        (
            (sys.executable, "-c", IDLE),
            {"webhooks": WEBHOOK},
            "waiting for the webhook on port 9443 failed\n  no leader",
        ),
        (
            (sys.executable, "-c", IDLE),
            {"crd": CRD.replace("type: object", "type: objects")},
            "creating CustomResourceDefinition dragonflies.dragonflydb.io failed",
        ),
    ],
    ids=["does-not-start", "makes-nothing", "webhook-does-not-listen", "crd-is-refused"],
)
def test_a_step_that_fails_is_named_and_nothing_is_left(
    tmp_path: Path, words: tuple[str, ...], more: dict[str, str], said: str, real: None
) -> None:
    folder = tmp_path / "dragonfly-1"
    given = _operator(folder, *words, **more)
    before, processes = _files(folder), _children()
    with pytest.raises(Failed) as raised:
        record(*given)
    assert said in str(raised.value)
    assert _files(folder) == before
    assert _children() == processes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("operator = ", "operator.toml: Invalid value"),
        ('operator = "x"', "operator.toml: a table of Operator lacks module, version, recorded"),
        ('operators = "x"', "operator.toml: a table of Operator does not know operators"),
        (
            '[[programs]]\nname = "x"\npackages = "./cmd"',
            "operator.toml: a table of Program does not know packages",
        ),
    ],
    ids=["no-toml", "lacks", "unknown", "unknown-of-a-program"],
)
def test_a_bad_definition_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "operator.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadDefinition) as raised:
        operator(tmp_path)
    assert said in str(raised.value)
