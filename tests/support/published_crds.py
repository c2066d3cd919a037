"""CustomResourceDefinitions that operators publish in their Go modules, pinned by version and checksum.

    files()     the YAML files of MODULES, or of the modules that are named: fetched by `go mod download` into Go's
                module cache and copied below .tools/crds

Go checks each module against its checksum database, and MODULES holds the sums once more. What is there already is
used without Go and without a network. All modules together are 110 MB; a download that takes longer than DEADLINE
fails.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import machine

DEADLINE_SECONDS = 240


class Module(NamedTuple):
    """sum: as in go.sum. patterns: of the files with definitions, from the module's root."""

    path: str
    version: str
    sum: str
    patterns: tuple[str, ...]


_TABLE = """
github.com/argoproj/argo-rollouts v1.8.0 h1:a427nBeVPMEdYnO9YpELV1mc4yhO9BLZLuTvq2QX8Ps= manifests/crds/*-crd.yaml
github.com/argoproj/argo-workflows/v3 v3.5.11 h1:omkwJ8hMeboY2vxRbMJVm5oCTbygNupMdYHI4ia9Fyc= manifests/base/crds/full/*.yaml
github.com/cert-manager/cert-manager v1.17.1 h1:Aig+lWMoLsmpGd9TOlTvO4t0Ah3D+/vGB37x/f+ZKt0= deploy/crds/*.yaml
github.com/cloudnative-pg/cloudnative-pg v1.25.1 h1:Yc6T7ikQ1AiWXBQht+6C3DoihrIpUN2OkM1dIwqadTo= config/crd/bases/*.yaml
github.com/crossplane/crossplane v1.19.0 h1:n+svTJlvGzuegXxigNLiId3HlvRV+igVhfNTQJq2njg= cluster/crds/pkg.*.yaml
github.com/elastic/cloud-on-k8s/v3 v3.5.0 h1:sR4oj+gNnwI9hgsKhBwjUlx+5F2T/kND40hrzaogtek= config/crds/v1/all-crds.yaml
github.com/grafana/grafana-operator/v5 v5.16.0 h1:AdKB5aL8RP1kwbZwObRW9OgtXYZbb0mgF43OXUq6iqk= config/crd/bases/*_grafanas.yaml
github.com/kedacore/keda/v2 v2.21.0 h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps= config/crd/bases/keda.sh_scaled*.yaml
github.com/kserve/kserve v0.15.0 h1:TK6lN8XVIzc/5KQ76GULEKYiJ2obkTRRI3Z2Iwuld5Y= config/crd/full/serving*.yaml
github.com/kubeflow/mpi-operator v0.6.0 h1:RzzG03oyQIiHe/SH2k19N+Hp4QkxEsG2l9G1T7US+ys= manifests/base/kubeflow.org_mpijobs.yaml
github.com/kubeflow/trainer/v2 v2.0.0 h1:mnQSR9iPKItxyUR8mq66XsmxqKNVHwr9YYOB7BTU9dU= manifests/base/crds/trainer*.yaml
github.com/kubeflow/training-operator v1.8.1 h1:mVvoBSCInbMBX0gGSn4+Ihj3ycwoLO1iEAw+0qPhQfc= manifests/base/crds/kubeflow.org_[ptx]*.yaml
github.com/openkruise/kruise v1.8.0 h1:cU5XG9tur17j/CuY+iCTlxOtJ0GNTtJjMLurhh+25YQ= config/crd/bases/*.yaml
github.com/operator-framework/api v0.30.0 h1:44hCmGnEnZk/Miol5o44dhSldNH0EToQUG7vZTl29kk= crds/*.yaml
github.com/project-codeflare/appwrapper v1.0.4 h1:364zQLX0tsi4LvBBYNKZL7PPbNWPbVU7vK6+/kVV/FQ= config/crd/bases/*.yaml
github.com/prometheus-operator/prometheus-operator v0.85.0 h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s= example/prometheus-operator-crd/*.yaml
github.com/ray-project/kuberay/ray-operator v1.3.0 h1:c7PKkepTtkDpnAXhZVt5MxSVZC8Jh2s2BvKUvtgCwR0= config/crd/bases/*.yaml
github.com/tektoncd/pipeline v1.0.0 h1:qq/BtjwtvZV7qhd6BnL5sGoBM4vVqpCtz/+hMbs6p94= config/300-crds/*.yaml
github.com/zalando/postgres-operator v1.14.0 h1:C8+n26C8v6fPB1SNW+Y8X6oQoEHufzGJXJzYPlix+zw= manifests/postgresql.crd.yaml
knative.dev/serving v0.51.0 h1:yN2Q7eYqJgoPfZkATjoBZyGbZ2P1Qhns9HIMU4mF+to= config/core/300-resources/[crs]*.yaml
open-cluster-management.io/api v0.16.0 h1:fToANqblBmWCn8f6JD4uRHFYJVVaN/usp9PeiRhex1s= work/v1/*_manifestworks.crd.yaml
sigs.k8s.io/jobset v0.8.0 h1:80cJcPld+IMdKFOqzEW4et3Y6lGAPcP8YmBZ+aiKGYA= config/components/crd/bases/*.yaml
sigs.k8s.io/lws v0.6.0 h1:qHvhm54daBzL1S/+e8bafp7BKRC3jhrqY+EgpDGf41o= config/crd/bases/*.yaml
"""
MODULES = tuple(
    Module(path, version, checksum, tuple(patterns))
    for path, version, checksum, *patterns in map(str.split, _TABLE.strip().splitlines())
)


def files(modules: Sequence[Module] = MODULES) -> list[Path]:
    """The published files, sorted. Skips or fails the running test where they cannot be had."""
    table = _TABLE if modules is MODULES else repr(modules)
    digest = hashlib.sha256(table.encode()).hexdigest()[:16]
    kept = machine.TOOLS / "crds" / digest
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            fresh = Path(folder) / "fresh"
            for module, source in zip(modules, _sources(Path(folder), modules), strict=True):
                _copy(module, source, fresh)
            if not kept.exists():
                fresh.replace(kept)
    return sorted(kept.rglob("*.yaml"))


def _sources(folder: Path, modules: Sequence[Module]) -> list[Path]:
    """Where Go's module cache has each module, which it fetches if need be. Raises AssertionError for a wrong sum."""
    go = machine.find("go") or machine.missing("go", "install Go 1.26 or later from https://go.dev/dl/")
    words = [f"{module.path}@{module.version}" for module in modules]
    try:
        done = machine.run(
            [go, "mod", "download", "-json", *words],
            cwd=folder,
            env=machine.ENVIRON,
            timeout=DEADLINE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        machine.missing("the operators' Go modules", f"`go mod download` took more than {DEADLINE_SECONDS} s")
    found = list(_answers(done.stdout))
    wrong = [answer["Error"] for answer in found if answer.get("Error")]
    if done.returncode or wrong:
        machine.missing(
            "the operators' Go modules", "go mod download: " + "; ".join(wrong or [done.stderr.strip()])
        )
    by_path = {answer["Path"]: answer for answer in found}
    for module in modules:
        assert by_path[module.path]["Sum"] == module.sum, f"{module.path}@{module.version} is not what it was"
    return [Path(by_path[module.path]["Dir"]) for module in modules]


def _answers(text: str) -> Iterator[dict[str, Any]]:
    """The JSON values of a text, one behind the other."""
    decoder, rest = json.JSONDecoder(), text.lstrip()
    while rest:
        answer, end = decoder.raw_decode(rest)
        yield answer
        rest = rest[end:].lstrip()


def _copy(module: Module, source: Path, into: Path) -> None:
    for pattern in module.patterns:
        found = sorted(source.glob(pattern))
        assert found, f"{module.path}@{module.version} has no {pattern}"
        for path in found:
            to = into / module.path / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
