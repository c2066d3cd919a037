"""The line of a message is that of the image or field which it is about."""

import pytest

from program import archfit

STREAM = b"""\
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: a
        image: r/a:1
      - name: b
        image: r/b:1
      tolerations:
      - key: 1
"""
LIST = b"""\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    containers:
    - image: r/a:1
- apiVersion: v1
  kind: Pod
  metadata: {name: b}
  spec:
    containers: [{image: "r/a:1"}, {name: b,
      image: r/b:1}]
"""
A_ONLY = ("--no-cache", "--offline", "--image-platforms=*/r/a=linux/amd64,linux/arm64")


@pytest.mark.parametrize(
    ("stream", "options", "errors"),
    [
        pytest.param(STREAM.partition(b"      tol")[0], A_ONLY, ["document 2, line 16"], id="image"),
        pytest.param(STREAM, (*A_ONLY, "--image-platforms=*/r/b=linux/amd64"), ["document 2, line 18"], id="field"),
        pytest.param(LIST, A_ONLY, ["document 1, line 15"], id="item-of-a-list"),
        pytest.param(
            STREAM.partition(b"      tol")[0] + b"      nodeSelector:\n        kubernetes.io/arch: s390x\n",
            (*A_ONLY, "--image-platforms=*/r/b=linux/amd64"),
            ["document 2, line 18"],
            id="conflict",
        ),
    ],
)  # fmt: skip
def test_an_error_names_the_line_of_what_is_wrong(stream, options, errors):
    for command in ((), ("check",), ("patch",)):
        ran = archfit(stream, *command, *options)
        found = [line for line in ran.stderr.splitlines() if line.startswith("archfit: error: ")]
        assert [line.rpartition("(")[2].removesuffix(")") for line in found] == errors, command


def test_check_follows_a_stamp_of_which_not_all_can_be_taken_back():
    both = ("--no-cache", "--offline", "--stamp", "--image-platforms=*=linux/amd64,linux/arm64")
    stamped = archfit(STREAM.partition(b"      tol")[0], *both).ok()
    mine = stamped.replace(b"operator: Equal", b"operator: Equal # mine")
    ran = archfit(mine, "check", *both[:3], "--image-platforms=*=linux/amd64")
    assert ran.status == 3, ran.stderr
