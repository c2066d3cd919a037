"""The policy decides as archfit does: random pods through the API server, beside archfit's own patch, pod by pod."""

from __future__ import annotations

import pytest

from archfit.images.platforms import ImagePlatforms, parse_platform
from archfit.options.settings import GKE, Match, Options, Rule, Toleration, TolerationRule
from drawn_pods import at_creation
from drawn_pods.judging import POOL

LOCKED = at_creation.platforms()
LINUX = ("amd64", "arm64", "s390x")
WINDOWS = ("amd64", "arm64", "windows/amd64", "windows/arm64")
SUPPORTED = TolerationRule(
    ("amd64", "arm64"), Toleration("k8smultiarcher", "Equal", "arm64Supported", "NoSchedule")
)
WHOLE = TolerationRule(("arm64",), Toleration("kubernetes.io/arch", "Exists"))
SETS = {
    "default": Options(),
    "s390x": Options(cluster_architectures=LINUX),
    "prefer": Options(prefer=(("amd64", 1), ("arm64", 100))),
    "prefer-s390x": Options(cluster_architectures=LINUX, prefer=(("s390x", 5),)),
    "always": Options(affinity="always"),
    "never": Options(affinity="never", prefer=(("arm64", 10),)),
    "tolerations": Options(cluster_architectures=LINUX, tolerate=(GKE, POOL, SUPPORTED)),
    "tolerate-all": Options(tolerate=(WHOLE,), affinity="always"),
    "tolerate-none": Options(tolerate=()),
    "windows": Options(cluster_architectures=WINDOWS, affinity="always", prefer=(("arm64", 10),)),
    "one": Options(cluster_architectures=("arm64",)),
    "other": Options(cluster_architectures=("ppc64le", "riscv64")),
    "rules": Options(
        rules=(
            Rule(Match(labels=(("app", "web"),)), only=("amd64",)),
            Rule(Match(namespace="ru*", labels=(("tier", "front"),)), tolerate=False, prefer=(("arm64", 3),)),
            Rule(Match(namespace="other"), skip=True),
        )
    ),
    "overrides": Options(
        image_platforms=(
            ImagePlatforms("quay.io/team/*", (parse_platform("arm64"),)),
            ImagePlatforms("docker.io/library/all", (parse_platform("amd64"),)),
        ),
        unlabelled_nodes=("dedicated",),
    ),
}


@pytest.fixture(scope="module")
def installed(policies):
    """The policy of each set of options, for a namespace of its own."""
    return {name: policies.install(name, LOCKED, options) for name, options in SETS.items()}


@pytest.mark.parametrize("name", SETS)
def test_random_pods_are_changed_as_archfit_changes_them(name, installed, policies, drawn):
    plain = drawn(1, 1000)
    policies.await_change(installed[name], plain)
    judged = policies.judged(installed[name], plain)
    assert not judged.wrong, str(judged)
    assert judged.left_alone.total() < 20, judged.left_alone
