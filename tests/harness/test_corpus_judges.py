"""The judges of the corpus tell right from wrong: each is shown a stream it must pass and one it must not."""

import pytest

POD = b"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: web
          image: web:1
"""
PLACED = (
    POD
    + b"""\
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: kubernetes.io/arch
                    operator: In
                    values:
                      - amd64
"""
)
ONE = {"web:1": ["linux/amd64"]}
BOTH = {"web:1": ["linux/amd64", "linux/arm64"]}


@pytest.mark.parametrize(
    ("platforms", "after", "wrong"),
    [
        pytest.param(ONE, PLACED, "", id="constrained where an image needs it"),
        pytest.param(ONE, POD, "SAFETY", id="left free where an image needs a constraint"),
        pytest.param(BOTH, PLACED, "LIVENESS", id="constrained where no image needs it"),
        pytest.param(
            ONE, PLACED.replace(b"- name: web", b"- name: wob"), "NARROWNESS", id="something else changed"
        ),
        pytest.param(ONE, PLACED + b"      affinity: {}\n", "NARROWNESS PARSE SAFETY", id="a key twice"),
    ],
)
def test_oracle_tells_right_from_wrong(oracle, platforms, after, wrong):
    verdict = oracle(POD, after, platforms=platforms)
    assert verdict.pod_specs == 1
    assert {line.split()[0] for line in verdict.violations} == set(wrong.split())


def test_oracle_follows_the_policy_it_is_given(oracle):
    job = POD.replace(b"apps/v1", b"batch/v1").replace(b"Deployment", b"Job")
    taint = b"      tolerations:\n        - {key: kubernetes.io/arch, value: arm64, effect: NoSchedule}\n"
    assert oracle(job, job + taint, platforms=BOTH, policy={"immutable": "full"}).violations == []
    assert oracle(job, job, platforms=BOTH, policy={"immutable": "full"}).violations != []
    assert oracle(job, job, platforms=BOTH).violations == []
    assert oracle(job, job + taint, platforms=BOTH).violations != []


def test_oracle_looks_only_at_the_architectures_it_is_given(oracle):
    assert oracle(POD, POD, platforms=ONE, archs=("amd64",)).violations == []
    assert oracle(POD, POD, platforms=ONE, archs=("amd64", "s390x")).violations != []


@pytest.mark.parametrize(
    ("after", "faulty"),
    [
        pytest.param(PLACED, False, id="inserted lines"),
        pytest.param(POD, False, id="nothing changed"),
        pytest.param(POD.replace(b"web:1", b"web:2"), True, id="a changed line"),
        pytest.param(POD.rstrip(b"\n"), True, id="the final newline lost"),
        pytest.param(POD + b"# placed\n", True, id="an inserted comment"),
    ],
)
def test_textcheck_tells_right_from_wrong(textcheck, after, faulty):
    assert bool(textcheck(POD, after)) == faulty
