"""`make policy-cel COUNT=100000 SEED=1`: random policies, judged by the API server's own CEL without a server.

    python -m policy_cel [--count N] [--seed N]

Each round draws a lock file's answers, options of placement and 200 pods, right and wrong ones, and compares what the
policy makes of each with archfit's own decision (lab/policy_judge.py): some 200 pods a second. One line for
each difference, then the number of pods by outcome; the exit status is 1 if there is a difference.
"""

import argparse
import sys
from collections import Counter
from random import Random

from archfit.base.errors import UsageError
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from drawn_pods import any_pods
from policy_judge import PolicyJudge, judge_binary, outcome

_PODS = 200
_USUAL = 0.7
"""Of the pods; the others are as odd as drawn."""
_SETTINGS = (PolicySettings(), PolicySettings(carrier="crd"))


def judged(judge: PolicyJudge, seed: str) -> tuple[Counter[str], list[str]]:
    random = Random(seed)
    options, locked = any_pods.held_options(random), any_pods.locked(random)
    found, wrong = Counter[str](), []
    try:
        table, _ = platform_table(locked, options)
        refused = judge.compile(policy_objects(table, options, random.choice(_SETTINGS)))
    except UsageError:
        return Counter({"overrides that disagree about an image of the lock file": 1}), []
    if refused:
        return found, [f"seed {seed}: {refused}"]
    for _ in range(_PODS):
        namespace = random.choice(any_pods.NAMESPACES)
        pod = any_pods.pod(random, namespace)
        if random.random() < _USUAL:
            pod = any_pods.usual(random, pod, options.cluster_architectures)
        try:
            found[outcome(judge, pod, locked, options, namespace)] += 1
        except AssertionError as error:
            wrong.append(f"seed {seed}: {error}")
    return found, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab policy-cel",
        description="Judges random policies by random pods, without an API server.",
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    found, wrong = Counter[str](), 0
    with PolicyJudge(judge_binary()) as judge:
        for number in range(-(-words.count // _PODS)):
            outcomes, differences = judged(judge, f"{words.seed}/{number}")
            found += outcomes
            wrong += len(differences)
            sys.stdout.writelines(f"{line}\n" for line in differences)
            sys.stdout.flush()
    sys.stdout.writelines(f"{number:8} {name}\n" for name, number in found.most_common())
    sys.stdout.write(f"{found.total() + wrong} pods, {wrong} differ\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
