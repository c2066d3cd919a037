"""`make policies SECONDS=600 SEED=1`: random policies in a real API server, each judged by random pods.

    python -m policy_pods [--seconds N] [--seed N] [--count N]

Each round draws options of placement and `count` pods, and compares the pods that the API server makes under the policy
with archfit's own decisions (lab/policy_runs.py). A line for each round, then each disagreement; the exit
status is 1 if there is one.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from archfit.base.errors import ArchfitError
from archfit.options.settings import Toleration
from control_plane import ControlPlane, Refused
from drawn_pods import any_pods, at_creation
from drawn_pods.drawing import RUNTIME_CLASSES
from policy_runs import Policies

ARCHITECTURES = ("amd64", "arm64", "s390x", "ppc64le")


def judged(policies: Policies, seed: str, count: int) -> tuple[int, Counter[str], list[str]]:
    random = Random(seed)
    options = any_pods.held_options(random)
    options = options.replace(tolerate=tuple(one for one in options.tolerate if _is_taken(one.toleration)))
    carrier = random.choice(("literal", "crd"))
    name = f"round-{seed.replace('/', '-')}"
    share = random.choice((0.1, 0.1, 0.6))
    pods = [at_creation.pod(random, ARCHITECTURES, name, elsewhere=share) for _ in range(count)]
    plain = policies.plain(pods)
    refused = [f"refused: {pod}" for pod in plain if isinstance(pod, Refused)]
    plain = [pod for pod in plain if not isinstance(pod, Refused)]
    try:
        installed = policies.install(name, at_creation.platforms(), options, carrier=carrier)
    except ArchfitError as error:
        return 0, Counter(), [f"seed {seed}: {error} under {options!r}"]
    if any(
        pod["spec"] != after["spec"]
        for pod, after in zip(plain, policies.expected(installed, plain), strict=True)
    ):
        policies.await_change(installed, plain)
    found = policies.judged(installed, plain)
    policies.remove(installed)
    wrong = [f"seed {seed}, carrier {carrier}, {options!r}\n{one}" for one in found.wrong]
    return len(plain), found.left_alone, refused + wrong


def _is_taken(toleration: Toleration) -> bool:
    """Whether the API server takes it (ValidateTolerations)."""
    exists = toleration.operator == "Exists"
    return not toleration.value if exists else bool(toleration.key)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab policies", description="Judges random policies by random pods."
    )
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    words = parser.parse_args()
    give_up, number, pods, violations = time.monotonic() + words.seconds, 0, 0, 0
    left_alone: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder)) as plane:
        policies = Policies(plane)
        for name, scheduling in RUNTIME_CLASSES.items():
            policies.runtime_class(name, scheduling)
        while time.monotonic() < give_up:
            count, left, wrong = judged(policies, f"{words.seed}/{number}", words.count)
            number, pods, violations = number + 1, pods + count, violations + len(wrong)
            left_alone += left
            for line in wrong[:3]:
                sys.stdout.write(f"{line}\n\n")
            sys.stdout.flush()
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(left_alone.items())) or "none"
    sys.stdout.write(
        f"{number} policies, {pods} pods, {violations} differ; left alone by reason: {reasons}\n"
    )
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
