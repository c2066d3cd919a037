"""The pages, followed literally: tests/real/pages/page_walk.py runs their commands, page_plans.py says how.

All pages share a registry, a Redis and a control plane, as one user's machine would; each has a home of its own.
"""

from pathlib import Path

import pytest
from registry import Registry
from tests.real.pages.page_plans import IMAGES, KPT, NOT_FOLLOWED, PLANS
from tests.real.pages.page_walk import blocks, pages, walk

from control_plane import ControlPlane
from redis_server import RedisServer

NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {0}, labels: {{kubernetes.io/arch: {0}, kubernetes.io/os: linux}}}}
"""
FOLLOWED = [page for page in pages() if page not in NOT_FOLLOWED and blocks(page)]


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    """The variables that lead to the registry, the cache server and the cluster."""
    folder = tmp_path_factory.mktemp("surroundings")
    with Registry(IMAGES) as images, RedisServer(folder) as cache, ControlPlane(folder) as plane:
        for name in ("amd64", "arm64"):
            plane.apply(NODE.format(name))
        yield {
            "ARCHFIT_MIRROR": " ".join(images.mirrors()[1::2]),
            "REGISTRY": images.url,
            "REDIS": f"{cache.url()}/0",
            "KUBECONFIG": str(plane.kubeconfig),
        }


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_followed_literally(page, surroundings, tmp_path):
    assert page in PLANS, "its commands need a Plan in page_plans.py, or a reason in NOT_FOLLOWED"
    steps = walk(PLANS[page], tmp_path, surroundings)
    assert steps
    for step in steps:
        assert step.status == step.wanted, f"{step.command}\n{step.stdout}\n{step.stderr}"
        assert step.says in step.stdout + step.stderr, step.command
    for named, wanted in WRITTEN.get(page, {}).items():
        assert wanted in (tmp_path / "work" / named).read_text(encoding="utf-8"), named
    for begin, wanted in PRINTED.get(page, {}).items():
        assert any(step.command.startswith(begin) and wanted in step.stdout for step in steps), begin
    assert surroundings["REGISTRY"] not in "".join(left_in(tmp_path)), "what is committed names no mirror"


# Page -> file -> a part of it, once the page has been followed.
WRITTEN = {
    "kustomize": {
        "rendered.yaml": "nodeAffinity",
        "archfit/kustomization.yaml": "op: add",
        "sveltos-patches.yaml": "op: add",
        "kubevela-traits.yaml": "op: add",
        "patch.json": '"op":"add"',
        "package/web.yaml": "archfit.dev/added" if KPT else "kind: Deployment",
    },
    "flux": {"archfit-flux.yaml": "op: add", "release/archfit-flux.yaml": "op: add"},
    "clouds": {
        "live.yaml": "arch=arm64:NoSchedule@arm64",
        "archfit.yaml": "arch=arm64:NoSchedule@arm64",
        "first.yaml": "weight: ",
        "gke.yaml": "ComputeClass",
        "capi.yaml": "MachineDeployment",
        "openshift.yaml": "MachineSet",
    },
    "lock": {"placed.yaml": "kubernetes.io/arch", "archfit.lock": "h.example/web:2"},
    "custom-resources": {"placed.yaml": "nodeAffinity"},
    "files": {
        "placed.yaml": "kubernetes.io/arch",
        "placed/web/templates/deployment.yaml": "kubernetes.io/arch",
    },
    "policy": {"policy.yaml": "kind: MutatingAdmissionPolicy"},
    "fleet": {"shard-0.json": '"pods"'},
    "argocd": {"argocd-archfit/build-options/argocd-cm.yaml": "--enable-alpha-plugins --enable-exec"},
}
# Page -> how a command begins -> a part of what it prints.
PRINTED = {
    "helm": {"helm template web ./chart --post-renderer archfit": "key: kubernetes.io/arch"},
    "kustomize": {
        "kubectl kustomize": "nodeAffinity",
        "archfit setup kustomize --check": "ok: ",
        "kustomize build prod": "nodeAffinity",
    },
    "serve": {"kubectl run probe": "kind: Pod"},
    "audit": {"archfit audit --live": "arm64"},
    "limits": {"helm template . | archfit --diff": "- key: kubernetes.io/arch"},
}
# What a reader commits.
_COMMITTED = ("*.lock", "archfit/kustomization.yaml", "archfit-flux.yaml", "argocd-archfit/**/*.yaml")


def left_in(folder: Path) -> list[str]:
    """The texts of the files that a page has its reader commit."""
    return [
        path.read_text(encoding="utf-8") for pattern in _COMMITTED for path in (folder / "work").glob(pattern)
    ]
