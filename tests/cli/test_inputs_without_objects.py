"""An input without an object, in every command that reads manifests, and folders that are read as their files are."""

import pytest

from archfit.cli.usage.command_row import MANIFESTS
from archfit.cli.usage.command_table import COMMANDS
from file_runs import CONFIG_MAP, Site

# What the commands write, from an earlier run.
WRITTEN = {
    "archfit.lock": b'{"version": 1, "images": {\n"x.io/a:1": {"digest": "sha256:%s", "kind": "index", "platforms": '
    b'["linux/amd64"]}\n}}\n' % (64 * b"a"),
    "archfit-flux.yaml": b"# Written by `archfit patch`, for a Kustomization of Flux.\nspec:\n  patches: [a]\n",
}
READERS = {
    "audit": ("audit",),
    "audit-min-ready": ("audit", "--min-ready=80%"),
    "check": ("check",),
    "check-require": ("check", "--require=arm64"),
    "explain": ("explain",),
    "explain-only": ("explain", "--only=Pod"),
    "lock": ("lock",),
    "lock-prune": ("lock", "--prune"),
    "lock-check": ("lock", "--check"),
    "lock-add-missing": ("lock", "--add-missing"),
    "patch": ("patch",),
    "patch-json": ("patch", "--format=json"),
    "policy": ("policy", "-"),
    "policy-check": ("policy", "--check", "-"),
    "setup flux": ("setup", "flux"),
    "setup-flux-check": ("setup", "flux", "--check"),
}
NO_OBJECTS = {
    "blank": b"",
    "comment": b"# nothing\n---\n",
    "null": b"---\nnull\n",
    "values": b"web: {image: 'nginx:1.27'}\nreplicas: 2\n",
    "empty-list": b'{"apiVersion":"v1","kind":"List","items":[]}',
    "block-list": b"apiVersion: v1\nkind: List\nitems: []\n",
    "typed-list": b"apiVersion: apps/v1\nkind: DeploymentList\nitems:\n",
    "resource-list": b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n",
}


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    site.write(WRITTEN)
    return site


def test_every_command_that_reads_manifests_is_here():
    takers = {row.name for row in COMMANDS if MANIFESTS in row.arguments}
    assert takers - {"transform"} <= READERS.keys()


@pytest.mark.parametrize("text", NO_OBJECTS.values(), ids=NO_OBJECTS)
@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
def test_an_input_without_an_object_is_wrong_usage_and_writes_nothing(site, words, text):
    """Empty patches and a lock file without entries would take away what the run before added."""
    ran = site.run(*words, stdin=text, options=False)
    assert (ran.status, ran.stdout) == (2, b""), ran.stderr
    assert "the input holds no " in ran.stderr or "no pods in the input" in ran.stderr
    assert site.files() == WRITTEN


@pytest.mark.parametrize("text", [NO_OBJECTS["blank"], NO_OBJECTS["comment"]], ids=["blank", "comment"])
def test_a_lock_file_is_not_emptied_by_blank_input_that_may_be(site, text):
    ran = site.run("lock", "--prune", "--on-blank=pass", stdin=text, options=False)
    assert (ran.status, site.files()) == (2, WRITTEN)
    assert "on-blank" not in ran.stderr


@pytest.mark.parametrize("text", [NO_OBJECTS["empty-list"], NO_OBJECTS["resource-list"]], ids=["list", "krm"])
def test_noop_an_empty_list_is_transformed(site, text):
    ran = site.run(stdin=text)
    assert (ran.status, ran.stdout) == (0, text)


@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
def test_noop_an_object_without_pods_is_no_empty_input(site, words):
    ran = site.run(*words, stdin=CONFIG_MAP, options=False)
    assert "holds no Kubernetes object" not in ran.stderr
