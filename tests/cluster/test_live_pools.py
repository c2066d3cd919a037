"""Pools of a live cluster: what is asked, and what becomes of what may not be read or is not there."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from archfit.base.errors import UsageError
from archfit.cluster import setup
from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.pools.live import KINDS, PoolObjects, nodes_and_pools, pool_objects
from machine import ROOT
from program import called

RECORDED = yaml.safe_load((ROOT / "fixtures" / "pools" / "karpenter.yaml").read_text(encoding="utf-8"))[
    "items"
]
PLURALS = {kind: resource for _group, resource, kind in KINDS} | {"Node": "nodes"}


class Cluster:
    """An API server that holds objects. refused: paths that the user may not read; missing: paths that are not there."""

    def __init__(
        self, items: Any = RECORDED, refused: tuple[str, ...] = (), missing: tuple[str, ...] = ()
    ) -> None:
        self.items, self.refused, self.missing = items, refused, missing
        self.asked: list[str] = []

    def get(self, path: str) -> Any:
        place = path.partition("?")[0]
        self.asked.append(place)
        if place in self.refused:
            raise ClusterError(f"kubectl get failed (you may not list {place})", "forbidden")
        if place in self.missing:
            raise ClusterError(f"no {place}", "not-found")
        if place == "/apis":
            return {"groups": [self._group(name) for name in ("apps", *self._groups())]}
        return {"items": [_bare(item) for item in self.items if _place(item) == place]}

    def _groups(self) -> list[str]:
        return sorted(
            {item["apiVersion"].partition("/")[0] for item in self.items if "/" in item["apiVersion"]}
        )

    def _group(self, name: str) -> dict[str, Any]:
        versions = (item["apiVersion"].partition("/") for item in self.items)
        version = next((version for group, slash, version in versions if slash and group == name), "v1")
        return {"name": name, "preferredVersion": {"groupVersion": f"{name}/{version}", "version": version}}


def _place(item: dict[str, Any]) -> str:
    root = "/api" if item["apiVersion"] == "v1" else "/apis"
    return f"{root}/{item['apiVersion']}/{PLURALS.get(item['kind'], '')}"


def _bare(item: dict[str, Any]) -> dict[str, Any]:
    """As a page of a list has it."""
    return {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}


def test_what_is_read_is_what_the_recorded_list_holds():
    cluster = Cluster()
    found = nodes_and_pools(cluster)
    assert sorted(map(str, found.values)) == sorted(map(str, RECORDED))
    assert found.unread == ()
    assert cluster.asked == [
        "/api/v1/nodes", "/apis", "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    ]  # fmt: skip


def test_a_cluster_without_such_groups_is_asked_once():
    cluster = Cluster([])
    assert pool_objects(cluster) == PoolObjects(())
    assert cluster.asked == ["/apis"]


@pytest.mark.parametrize(
    ("refused", "missing", "unread", "kinds"),
    [
        pytest.param(("/apis/karpenter.sh/v1/nodepools",), (), ["nodepools.karpenter.sh"], {"EC2NodeClass"}, id="a list that is refused"),
        pytest.param(("/apis",), (), ["node pools"], set(), id="nobody says which groups there are"),
        pytest.param((), ("/apis/karpenter.sh/v1/nodepools",), [], {"EC2NodeClass"}, id="a kind that is not there has no pools"),
    ],
)  # fmt: skip
def test_what_may_not_be_read_is_named(refused, missing, unread, kinds):
    found = pool_objects(Cluster(refused=refused, missing=missing))
    assert [what for what, _why in found.unread] == unread
    assert {value["kind"] for value in found.values} == kinds
    assert all("you may not list" in why for _what, why in found.unread)


@pytest.mark.parametrize("answer", [[], {"groups": {}}, {"groups": None}, "x"], ids=str)
def test_an_answer_that_is_no_list_of_groups_is_one_error(answer):
    class Odd:
        def get(self, _path: str) -> Any:
            return answer

    with pytest.raises(ClusterError, match="is no list of API groups"):
        pool_objects(Odd())


KUBECTL = """\
import json, sys
pages = json.load(open({pages!r}))
path = sys.argv[-1].partition("?")[0]
if path not in pages:
    sys.exit('Error from server (Forbidden): cannot list resource "' + path.rpartition("/")[2] + '"')
print(json.dumps(pages[path]))
"""


def _live(folder: Path, paths: tuple[str, ...], *words: str) -> tuple[str, str]:
    """`setup cluster --live` with a kubectl that answers these paths."""
    cluster = Cluster()
    (folder / "pages.json").write_text(
        json.dumps({path: cluster.get(path) for path in paths}), encoding="utf-8"
    )
    code = KUBECTL.format(pages=str(folder / "pages.json"))
    (folder / "kubectl").write_text(f"#!{sys.executable} -I\n{code}", encoding="utf-8")
    (folder / "kubectl").chmod(0o755)
    ran = called(setup.set_up_cluster, ["--live", *words], environ={"PATH": str(folder)})
    return ran.ok().decode(), ran.stderr


def test_live_writes_what_the_files_write(tmp_path):
    ran = called(setup.set_up_cluster, [str(ROOT / "fixtures" / "pools" / "karpenter.yaml")])
    paths = (
        "/api/v1/nodes",
        "/apis",
        "/apis/karpenter.sh/v1/nodepools",
        "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    )
    assert _live(tmp_path, paths) == (ran.stdout.decode(), ran.stderr)


def test_pools_that_may_not_be_listed_stand_in_the_file_and_in_the_messages(tmp_path):
    paths = ("/api/v1/nodes", "/apis", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses")
    text, said = _live(tmp_path, paths)
    line = 'nodepools.karpenter.sh: not read: kubectl get failed (Error from server (Forbidden): cannot list resource "nodepools")'
    assert f"  #   {line}" in text
    assert f"not used: {line}" in said
    assert "    - amd64    # 1 Linux node\n" in text
    assert "arm64" not in text


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        pytest.param(["--live", "nodes.json"], "--live reads the cluster: leave 'nodes.json' out, or leave --live out", id="files beside it"),
        pytest.param(["--context", "prod"], "--context needs --live: files are of no context", id="a context of files"),
        pytest.param(["--kubeconfig", "k"], "--kubeconfig needs --live: files are of no context", id="a kubeconfig of files"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_sentence(argv, message):
    with pytest.raises(UsageError) as caught:
        setup.set_up_cluster(argv, io.BytesIO(), io.BytesIO(), io.StringIO(), {})
    assert str(caught.value) == message
