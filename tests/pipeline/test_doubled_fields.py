"""Time grows in proportion: each field that a stranger can repeat is doubled, one by one, and the steps are counted.

Of a Pod, of a sample of each kind, of the configuration, and of an index: every list, and every
mapping of texts. From n to 2n and from 2n to 4n, what is added doubles; what is quadratic adds four times as much.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from archfit.base.errors import ArchfitError
from archfit.options.config_file import from_file
from archfit.options.layers import merge
from archfit.options.settings import Options
from archfit.placement.filters import GLOBS, of_no_namespace, unmatched
from archfit.registry import manifest
from archfit.registry.resolve_platforms import resolve_platforms
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from interpreter_steps import steps
from pod_decisions import answers
from repeated_fields import POD, repeatable, repeated
from stream_edits import Failed, edited

SMALL = 24
SAMPLES = Path(__file__).parent.parent / "real" / "custom_resources" / "samples"
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "w"},
    "spec": {"template": POD},
}
LIST = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": "r"},
            "handler": "runc",
        },
        {**DEPLOYMENT, "metadata": {"name": "w", "namespace": "shop"}},
        {"apiVersion": "e.io/v1", "kind": "Unknown", "metadata": {"name": "u"}, "spec": {"template": POD}},
    ],
}
CONFIGURATION = {
    "clusterArchitectures": ["amd64", "arm64"],
    "tolerate": ["a=b:NoSchedule@arm64"],
    "prefer": {"arm64": 1},
    "imagePlatforms": {"both:1": ["linux/amd64", "linux/arm64"], "x.io/*": ["linux/amd64"]},
    "exclude": ["Job/none-*"],
    "unlabelledNodes": ["example.com/virtual"],
    "rules": [{"match": {"namespace": "shop", "labels": {"app": "web"}}, "only": ["amd64"]}],
    "workloads": [{"group": "e.io", "kind": "K", "podSpec": "spec.template.spec", "images": ["spec.image"]}],
}


def grows(run: Callable[[int], object]) -> tuple[int, int, int]:
    """The steps of n, 2n and 4n; what is made once in a process is made before."""

    def tried(times: int) -> None:
        with contextlib.suppress(ArchfitError, Failed):
            run(times)

    tried(4 * SMALL)
    return (steps(partial(tried, SMALL)), steps(partial(tried, 2 * SMALL)), steps(partial(tried, 4 * SMALL)))


def in_proportion(run: Callable[[int], object], of: str = "") -> None:
    first, second, third = grows(run)
    assert third - second <= 2.2 * (second - first) + 1500, (of, first, second, third)


def _shown(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path))


@pytest.mark.parametrize("stamp", [False, True], ids=["plain", "stamped"])
@pytest.mark.parametrize("path", list(repeatable(DEPLOYMENT)), ids=_shown)
def test_of_a_workload(path, stamp):
    options = Options(prefer=(("arm64", 1),), stamp=stamp, on_conflict="leave")
    in_proportion(lambda times: edited(json.dumps(repeated(DEPLOYMENT, path, times)).encode(), options))


@pytest.mark.parametrize("path", list(repeatable(POD)), ids=_shown)
def test_of_a_pod_at_admission(path):
    known = answers({"both:1": "amd64 arm64", "amd:1": "amd64"})
    options = at_admission(Options(prefer=(("arm64", 1),), on_unknown="leave", on_absent="leave"))

    def decided(times: int) -> None:
        pod = {"apiVersion": "v1", "kind": "Pod", **repeated(POD, path, times)}
        admitted = admitted_pod(pod, "shop", options)
        every = dict.fromkeys(admitted.questions, known["amd:1"])
        admitted.decide({**every, **known}, options)

    in_proportion(decided)


@pytest.mark.parametrize("path", [path for path in repeatable(LIST) if len(path) < 6], ids=_shown)
def test_of_a_list(path):
    in_proportion(lambda times: edited(yaml.safe_dump(repeated(LIST, path, times)).encode()))


@pytest.mark.parametrize("path", list(repeatable(CONFIGURATION)), ids=_shown)
def test_of_a_configuration(path):
    """With one pod; and the filters that match nothing are named in proportion, too."""
    data = json.dumps({**DEPLOYMENT, "metadata": {"name": "w", "namespace": "shop"}}).encode()

    def read(times: int) -> None:
        file = {
            "apiVersion": "archfit.dev/v1alpha1",
            "kind": "ArchFit",
            "spec": repeated(CONFIGURATION, path, times),
        }
        settings = merge([from_file(yaml.safe_dump(file).encode(), "x.yaml")])
        made = edited(data, settings.options).edits
        filters = tuple((name, "--" + name) for name in ("exclude", "imagePlatforms", "rules"))
        pods = [pod for pod, _ in made.decisions]
        unmatched(settings.replace(filters=filters), pods, [pod.ref for pod in pods] * times)

    in_proportion(read)


def _pod(number: int, image: str = "amd:1", **spec: Any) -> dict[str, Any]:
    metadata = {"name": f"p{number}", "namespace": f"ns{number}", "labels": {"app": f"a{number}", "all": "x"}}
    containers = [{"name": "c", "image": image}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
    }


def _matching(**match: Any) -> Callable[[int], dict[str, Any]]:
    """Rules that none but the last of the pods meets."""

    def rules(times: int) -> dict[str, Any]:
        rows = [
            json.loads(json.dumps(match).replace("%", str(times - 1 + number))) for number in range(times)
        ]
        return {"rules": [{"match": row, "skip": True} for row in rows]}

    return rules


BOTH_SIDES: dict[str, tuple[Callable[[int], dict[str, Any]], Callable[[int], list[dict[str, Any]]]]] = {
    "rules by name": (_matching(namespace="ns*", name="p%"), lambda n: list(map(_pod, range(n)))),
    "rules by namespace": (_matching(namespace="ns%", kind="pods"), lambda n: list(map(_pod, range(n)))),
    "rules by a label": (_matching(labels={"all": "x", "app": "a%"}), lambda n: list(map(_pod, range(n)))),
    "rules by kind": (_matching(name="p*", kind="K%"), lambda n: list(map(_pod, range(n)))),
    "exclude": (
        lambda n: {"exclude": [f"Pod/{'ns*/' * (number % 2)}p{n - 1 + number}" for number in range(n)]},
        lambda n: list(map(_pod, range(n))),
    ),
    "imagePlatforms": (
        lambda n: {"imagePlatforms": {f"x.io/i{n - 1 + number}": ["linux/amd64"] for number in range(n)}},
        lambda n: [_pod(number, f"x.io/i{number}:1") for number in range(n)],
    ),
    "tolerate": (
        lambda n: {"tolerate": [f"k{number}=a:NoExecute@arm64" for number in range(n)]},
        lambda n: [
            _pod(
                0, "both:1", tolerations=[{"key": f"k{n - 1 + number}", "value": "a"} for number in range(n)]
            )
        ],
    ),
    "workloads": (
        lambda n: {
            "workloads": [
                {"group": "e.io", "kind": "K", "podSpec": f"spec.t{number}{'[*]' * (number % 2)}.spec"}
                for number in range(n)
            ]
        },
        lambda _: [_pod(0)],
    ),
}


@pytest.mark.parametrize("name", BOTH_SIDES)
@pytest.mark.load
def test_of_rows_and_of_what_they_are_about_at_once(name):
    """Twice the rows and twice the pods: no row is asked about each pod."""
    spec, pods = BOTH_SIDES[name]

    def run(times: int) -> None:
        file = {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit", "spec": spec(4 * times)}
        settings = merge([from_file(json.dumps(file).encode(), "x.yaml")])
        data = "---\n".join(json.dumps(pod) + "\n" for pod in pods(4 * times))
        made = edited(data.encode(), settings.options).edits
        filters = tuple((name, "--" + name) for name in ("exclude", "imagePlatforms", "rules"))
        read = [pod for pod, _ in made.decisions]
        unmatched(settings.replace(filters=filters), read, [pod.ref for pod in read])
        of_no_namespace(settings, [pod.replace(ref=pod.ref.replace(namespace="")) for pod in read])
        only = settings.options.exclude[1:]
        assert not any(list(GLOBS.meaning(only, pod.ref)) for pod in read)

    in_proportion(run)


INDEX = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.index.v1+json",
    "manifests": [
        {
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": "sha256:" + "a" * 64,
            "size": 2,
            "platform": {"os": "linux", "architecture": "amd64", "os.features": ["f"]},
            "annotations": {"a": "b"},
        }
    ],
}


@pytest.mark.parametrize("path", list(repeatable(INDEX)), ids=_shown)
def test_of_an_index(path):
    def read(times: int) -> None:
        document = manifest.parse(json.dumps(repeated(INDEX, path, times)).encode())
        resolve_platforms(document, "sha256:" + "b" * 64, lambda _kind, _descriptor: b"{}")

    in_proportion(read)


def test_of_a_workflow_whose_templates_each_use_a_parameter():
    """The parameters of an object are worked out once."""

    def made(times: int) -> None:
        parameters = [{"name": f"p{number}", "value": f"x.io/a:{number}"} for number in range(times)]
        templates = [
            {"name": f"t{number}", "container": {"image": f"{{{{workflow.parameters.p{number}}}}}"}}
            for number in range(times)
        ]
        spec = {"entrypoint": "t0", "arguments": {"parameters": parameters}, "templates": templates}
        head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}}
        edited(json.dumps({**head, "spec": spec}).encode())

    in_proportion(made)


def _samples() -> Iterator[Any]:
    for file in sorted(SAMPLES.glob("*.yaml")):
        for number, value in enumerate(yaml.safe_load_all(file.read_bytes())):
            if isinstance(value, dict) and "kind" in value:
                yield pytest.param(value, id=f"{file.stem}-{number}-{value['kind']}")


@pytest.mark.parametrize("value", list(_samples()))
@pytest.mark.load
def test_of_a_sample_of_each_kind(value):
    for path in repeatable(value):
        if path[:1] != ("metadata",):
            in_proportion(partial(_edited, value, path), _shown(path))


def _edited(value: dict[str, Any], path: tuple[Any, ...], times: int) -> None:
    edited(json.dumps(repeated(value, path, times)).encode())
