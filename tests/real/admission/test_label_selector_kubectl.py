"""kubectl is the judge of --namespace-selector: what it takes, what it refuses, and which namespaces it means."""

from __future__ import annotations

from random import Random

from archfit.base.errors import UsageError
from archfit.policy.flags import match_expressions
from archfit.policy.installed.installed_policy import selected

LABELS = {
    "selector-1": {},
    "selector-2": {"team": "web"},
    "selector-3": {"team": "shop", "example.com/stage": "prod"},
    "selector-4": {"team": "", "in": "notin"},
    "selector-5": {"example.com/stage": "test", "legacy": ""},
}
SELECTORS = [
    *(
        "team",
        "!team",
        "team=web",
        "team==web",
        "team!=web",
        "team=",
        "team!=",
        "team in (web,shop)",
        "! team",
    ),
    *(
        "team in (web, shop ,)",
        "team notin (web)",
        "team notin(web)",
        "team in ()",
        "team in (,)",
        "in",
        "!in",
    ),
    *(
        "in in (notin)",
        "in=notin",
        "notin notin (in)",
        "example.com/stage=prod,team",
        "team,!legacy",
        "team, in",
    ),
    *(
        "a=b c",
        "a/b/c",
        "-a",
        "a=b_",
        "a in b",
        "a in (b",
        "a in (b c)",
        "a b",
        "a!b",
        "a=!b",
        "!a=b",
        "a,,b",
    ),
    *("team=web,", ",team", "team = web , !in", "a=(b)", "TEAM", "team=Web", "1", "a=1"),
]
TOKENS = [
    "team",
    "in",
    "notin",
    "web",
    "=",
    "==",
    "!=",
    "!",
    " in ",
    " notin ",
    "(",
    ")",
    ",",
    " ",
    "x.io/k",
    "-x",
]


def drawn(number: int) -> str:
    source = Random(number)
    return "".join(source.choice(TOKENS) for _ in range(source.randint(2, 6)))


def test_kubectl_takes_the_same_selectors_and_means_the_same_namespaces(control_plane):
    for name, labels in LABELS.items():
        control_plane.create({"kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    taken = 0
    for selector in [*SELECTORS, *(drawn(number) for number in range(60))]:
        done = control_plane.kubectl("get", "ns", "-l", selector, "-o", "name", check=False)
        try:
            requirements = match_expressions(selector)
        except UsageError:
            assert done.returncode or not selector.strip(), selector
            continue
        assert done.returncode == 0, (selector, done.stderr)
        kubectl = {line.removeprefix("namespace/") for line in done.stdout.split()} & set(LABELS)
        ours = {
            name for name, labels in LABELS.items() if selected({"matchExpressions": requirements}, labels)
        }
        assert ours == kubectl, selector
        taken += 1
    assert taken > 25
