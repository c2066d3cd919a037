"""Objects that a controller made, as live lists hold them: left as they are, and said once."""

import pytest

from archfit.options.settings import Options
from archfit.reports.summary import lines, summary
from stream_edits import edited

OWNED = "ownerReferences: [{{apiVersion: {0}, kind: {1}, name: {2}, uid: u, controller: true}}]"
TEMPLATE = "spec: {template: {spec: {containers: [{name: a, image: amd:1}]}}}\n"
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n" + TEMPLATE
REPLICA_SET = (
    "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-NUMBER, "
    + OWNED.format("apps/v1", "Deployment", "web")
    + "}\n"
    + TEMPLATE
)
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1-x, "
    + OWNED.format("apps/v1", "ReplicaSet", "web-1")
    + "}\nspec: {nodeName: n, containers: [{name: a, image: amd:1}]}\n"
)
REVISION = (
    "apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: db-1, "
    + OWNED.format("apps/v1", "StatefulSet", "db")
    + "}\ndata: {spec: {template: {spec: {containers: [{name: a, image: amd:1}]}}}}\nrevision: 1\n"
)
SAID = "left as it is, because {} controls it and decides"


def replica_set(number: int) -> str:
    return REPLICA_SET.replace("NUMBER", str(number))


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        pytest.param([DEPLOYMENT], "", id="noop-none"),
        pytest.param([replica_set(1)], "info: apps/v1/ReplicaSet/web-1: " + SAID.format("Deployment/web"), id="one"),
        pytest.param([replica_set(1), POD], "info: apps/v1/ReplicaSet/web-1: " + SAID.format("Deployment/web") + "; so is 1 more with a controller", id="two"),
        pytest.param(
            [DEPLOYMENT, replica_set(1), replica_set(2), POD, REVISION],
            "info: apps/v1/ReplicaSet/web-1: " + SAID.format("Deployment/web") + "; so are 3 more with a controller",
            id="several",
        ),
        pytest.param([REVISION], "info: apps/v1/ControllerRevision/db-1: " + SAID.format("StatefulSet/db"), id="outside-of-the-table"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("listed", [False, True], ids=["stream", "list"])
def test_what_a_controller_made_is_left_and_said_once(documents, said, listed):
    text = "---\n".join(documents)
    if listed:
        items = ["- " + one.replace("\n", "\n  ").rstrip(" ") for one in documents]
        text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(items)
    done = edited(text.encode())
    assert lines(done.edits.messages) == ([said] if said else [])
    changed = [pod.ref.kind for pod, decision in done.edits.decisions if decision.patch]
    assert changed == (["Deployment"] if DEPLOYMENT in documents else [])
    words = summary(done.edits.decisions, {}, 0)
    if done.edits.decisions:
        counted = "1 of 1 pod template changes" if DEPLOYMENT in documents else "nothing changes"
        assert words.startswith(f"archfit: {counted}")


def test_images_of_what_a_controller_made_are_not_looked_up():
    assert edited(replica_set(1).encode()).edits.answers == {}


def test_without_a_controller_an_owner_is_nothing():
    data = replica_set(1).replace(", controller: true", "").encode()
    assert edited(data, Options(tolerate=())).data != data
