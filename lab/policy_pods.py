"""Random policies, each judged by random pods beside archfit's own decision.

    make policy-cel COUNT=100000 SEED=1      by the API server's own CEL without a server: some 200 pods a second
    make policies SECONDS=600 SEED=1         in a real API server, with its defaults and bindings

    python -m policy_pods [--count N | --seconds N] [--seed N]

A round draws options of placement and pods, with CEL alone also a lock file's answers, and right and wrong pods. One
line for each difference, then the number of pods by outcome, or by the reason why they are left alone; the exit status
is 1 if there is a difference.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from archfit.base.errors import UsageError
from archfit.images.platforms import Found
from archfit.options.settings import Options, Toleration
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from control_plane import ControlPlane, Refused
from drawn_pods import any_pods, at_creation
from policy_judge import PolicyJudge, judge_binary, outcome
from policy_runs import Policies, in_namespace

ARCHITECTURES = ("amd64", "arm64", "s390x", "ppc64le")
CARRIERS = (PolicySettings(), PolicySettings(carrier="crd"))
_BY_CEL, _BY_SERVER = 200, 300
_NOT_OBEYED = "overrides of an image of the lock file that cannot be obeyed"
_USUAL = 0.7
"""Of the pods; the others are as odd as drawn."""


def judged(judge: PolicyJudge, seed: str, number: int = _BY_CEL) -> tuple[Counter[str], list[str]]:
    """The outcomes of that many pods, and the differences, by CEL alone."""
    random = Random(seed)
    options, locked = any_pods.held_options(random), any_pods.locked(random)
    try:
        table, _ = platform_table(locked, options)
        refused = judge.compile(policy_objects(table, options, random.choice(CARRIERS)))
    except UsageError:
        return Counter({_NOT_OBEYED: 1}), []
    if refused:
        return Counter(), [f"seed {seed}: {refused}"]
    return _compared(judge, _pods(random, options, number), locked, options, seed)


def _pods(random: Random, options: Options, number: int) -> Iterator[dict[str, Any]]:
    for _ in range(number):
        pod = any_pods.pod(random, random.choice(any_pods.NAMESPACES))
        usual = random.random() < _USUAL
        yield any_pods.usual(random, pod, options.cluster_architectures) if usual else pod


def _compared(
    judge: PolicyJudge, pods: Iterable[Any], locked: Mapping[str, Found], options: Options, seed: str
) -> tuple[Counter[str], list[str]]:
    """The compiled policy beside archfit's own decision."""
    outcomes, wrong = Counter[str](), []
    for pod in pods:
        try:
            outcomes[outcome(judge, pod, locked, options, pod["metadata"]["namespace"])] += 1
        except AssertionError as error:
            wrong.append(f"seed {seed}: {error}")
    return outcomes, wrong


def judged_by_server(
    policies: Policies, seed: str, number: int = _BY_SERVER, **settings: Any
) -> tuple[Counter[str], list[str]]:
    """The same of pods as a real API server makes them, and whether it does with them what its CEL does.

    settings: of PolicySettings.
    """
    random = Random(seed)
    options = any_pods.held_options(random)
    options = options.replace(tolerate=tuple(one for one in options.tolerate if _is_taken(one.toleration)))
    carrier, name = random.choice(CARRIERS).carrier, f"round-{seed.replace('/', '-')}"
    share = random.choice((0.1, 0.1, 0.6))
    pods = [at_creation.pod(random, ARCHITECTURES, name, elsewhere=share) for _ in range(number)]
    plain = [in_namespace(pod, name) for pod in policies.plain(pods) if not isinstance(pod, Refused)]
    try:
        installed = policies.install(
            name, at_creation.platforms(), options, companion=True, carrier=carrier, **settings
        )
    except UsageError:
        return Counter({_NOT_OBEYED: 1}), []
    with PolicyJudge(judge_binary()) as judge:
        judge.compile(installed.objects)
        outcomes, wrong = _compared(judge, plain, installed.images, options, seed)
        expected = [judge.admit(pod, name).pod for pod in plain]
        changed = (pod for pod, after in zip(plain, expected, strict=True) if judge.normalised(pod) != after)
        if (probe := next(changed, None)) is not None:
            policies.await_change(installed, probe)
    different = policies.differences(installed, plain, expected)
    wrong += [
        f"seed {seed}, carrier {carrier}, {options!r}: {json.dumps(trio, default=str)}" for trio in different
    ]
    errors = policies.errors(installed)
    policies.remove(installed)
    wrong += [f"seed {seed}: {errors} errors of evaluation"] * bool(errors)
    wrong += [f"seed {seed}: the API server refuses {len(pods) - len(plain)} pods"] * (len(pods) > len(plain))
    return outcomes, wrong


def _is_taken(toleration: Toleration) -> bool:
    """Whether the API server takes it (ValidateTolerations)."""
    exists = toleration.operator == "Exists"
    return not toleration.value if exists else bool(toleration.key)


def _rounds(words: argparse.Namespace) -> Iterator[tuple[Counter[str], list[str]]]:
    if not words.seconds:
        with PolicyJudge(judge_binary()) as judge:
            for number in range(-(-words.count // _BY_CEL)):
                yield judged(judge, f"{words.seed}/{number}")
        return
    end = time.monotonic() + words.seconds
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder)) as plane:
        policies = Policies(plane)
        policies.runtime_classes()
        for number in count():
            if time.monotonic() > end:
                return
            yield judged_by_server(policies, f"{words.seed}/{number}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab policy-cel", description="Judges random policies by random pods."
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=0, help="in a real API server, for so long")
    parser.add_argument("--seed", type=int, default=1)
    totals, wrong = Counter[str](), 0
    for outcomes, differences in _rounds(parser.parse_args()):
        totals += outcomes
        wrong += len(differences)
        sys.stdout.writelines(f"{line}\n" for line in differences)
        sys.stdout.flush()
    sys.stdout.writelines(f"{number:8} {name}\n" for name, number in totals.most_common())
    sys.stdout.write(f"{totals.total() + wrong} pods, {wrong} differ\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
