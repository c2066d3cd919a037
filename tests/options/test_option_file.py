"""The configuration file: what it may hold, and where an error points."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archfit.base.errors import Problem, UsageError
from archfit.images.platforms import ImagePlatforms, Platform
from archfit.options.config_file import from_file, from_values
from archfit.options.hosts import mirror
from archfit.options.layers import MOST_GLOBS, merge
from archfit.options.settings import (
    GKE,
    Exclude,
    Match,
    Operator,
    Options,
    Rule,
    Settings,
    Toleration,
    TolerationRule,
)
from archfit.yaml.config_yaml import DEPTH_LIMIT, parse_config, resolved
from case_files import rows

HEAD = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"
AMD64, ARM64 = Platform("linux", "amd64"), Platform("linux", "arm64")
ARCH = Toleration("arch", "Equal", "arm64", "NoSchedule")


def loaded(body: str) -> Settings:
    return merge([from_file((HEAD + body).encode(), "archfit.yaml")])


def complaint(body: str, head: str = HEAD) -> str:
    with pytest.raises(UsageError) as caught:
        from_file((head + body).encode(), "archfit.yaml")
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param("clusterArchitectures: [arm64, amd64, 386]", {"cluster_architectures": ("386", "amd64", "arm64")}, id="architectures, one of digits"),
        pytest.param(
            "clusterArchitectures: [windows/amd64, amd64]", {"cluster_architectures": ("amd64", "windows/amd64")}, id="architectures, one of Windows nodes"
        ),
        pytest.param("tolerate: [gke, 'arch=arm64:NoSchedule']", {"tolerate": (GKE, TolerationRule(("arm64",), ARCH))}, id="tolerations as taints"),
        pytest.param("tolerate: none", {"tolerate": ()}, id="none empties a list"),
        pytest.param("tolerate: []", {"tolerate": ()}, id="so does an empty list"),
        pytest.param(
            "tolerate: [{architectures: [arm64, amd64], toleration: {key: a, operator: Exists}}]",
            {"tolerate": (TolerationRule(("amd64", "arm64"), Toleration("a", "Exists", "", "")),)},
            id="a toleration written out, without an effect",
        ),
        pytest.param(
            "tolerate: [{architectures: [amd64], toleration: {key: a, effect: NoSchedule}, when: needed}]",
            {"tolerate": (TolerationRule(("amd64",), Toleration("a", "Equal", "", "NoSchedule"), needed=True),)},
            id="a toleration for pods that can run nowhere else",
        ),
        pytest.param(
            "tolerate:\n  - &one\n    architectures: [arm64]\n    toleration: {key: arch, value: arm64, effect: NoSchedule}\n  - *one",
            {"tolerate": (TolerationRule(("arm64",), ARCH),)},
            id="aliases are read, doubles fall",
        ),
        pytest.param("prefer: {arm64: 10, amd64: 5}", {"prefer": (("amd64", 5), ("arm64", 10))}, id="weights"),
        pytest.param("prefer: {386: 1}", {"prefer": (("386", 1),)}, id="a weight for an architecture of digits"),
        pytest.param("prefer: none", {"prefer": ()}, id="none empties a mapping"),
        pytest.param("onUnknown: assume\n  assume: [linux/arm64, amd64]", {"on_unknown": "assume", "assume": (AMD64, ARM64)}, id="assume"),
        pytest.param("strict: true", {"strict": True}, id="a switch"),
        pytest.param("strict: yes", {"strict": True}, id="a switch in YAML 1.1's words"),
        pytest.param("imagePlatforms: {'registry.local/*': [amd64]}", {"image_platforms": (ImagePlatforms("registry.local/*", (AMD64,)),)}, id="overrides"),
        pytest.param("exclude: [DaemonSet, '*/kube-system']", {"exclude": (Exclude("DaemonSet"), Exclude("*", "kube-system"))}, id="exclude keeps its order"),
        pytest.param("unlabelledNodes: [example.com/virtual]", {"unlabelled_nodes": ("example.com/virtual",)}, id="unlabelled nodes"),
        pytest.param("{lockFile: /l/archfit.lock, locked: true}", {"lock_file": "/l/archfit.lock", "locked": True}, id="a lock file"),
        pytest.param(
            "rules:\n"
            "    - match: {namespace: shop, kind: Job, name: 'a-*', labels: {tier: front, stage: 2}}\n"
            "      only: [amd64]\n      tolerate: false\n      prefer: {arm64: 1}\n      skip: false\n"
            "    - {match: {}, skip: true}",
            {
                "rules": (
                    Rule(Match("shop", "Job", "a-*", (("tier", "front"), ("stage", "2"))), ("amd64",), False, (("arm64", 1),), False),
                    Rule(Match(), skip=True),
                )
            },
            id="rules",
        ),
        pytest.param(
            "rules: [{match: {}, only: [arm64], when: offered}, {match: {}, only: [arm64], when: possible}]",
            {"rules": (Rule(Match(), only=("arm64",), offered=True), Rule(Match(), only=("arm64",)))},
            id="a rule where it is offered",
        ),
    ],
)  # fmt: skip
def test_reads_spec(spec, expected):
    """A key of spec becomes the option; everything else keeps its default."""
    assert loaded(f"spec:\n  {spec}\n").options == Options(**expected)


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        pytest.param(
            "mirror: {docker.io: 'https://hub.example/', '*': 'http://127.0.0.1:5000'}",
            {"mirrors": (mirror("docker.io", "https://hub.example"), mirror("*", "http://127.0.0.1:5000"))},
            id="mirrors keep their order",
        ),
        pytest.param(
            "{cacheTtl: 1h, maxStale: 0, timeout: 1500ms}", {"cache_ttl_seconds": 3600, "max_stale_seconds": 0, "timeout_seconds": 1.5}, id="durations"
        ),
        pytest.param("{cache: /c.db, authfile: a.json, report: r.json}", {"cache": "/c.db", "authfile": "a.json", "report": "r.json"}, id="paths"),
        pytest.param("{noCache: true, offline: on}", {"no_cache": True, "offline": True}, id="switches"),
    ],
)  # fmt: skip
def test_reads_operator(operator, expected):
    """A key of operator becomes the operator's option."""
    separator = " " if operator.startswith("{") else "\n  "
    assert loaded(f"operator:{separator}{operator}\n").operator == Operator(**expected)


@pytest.mark.parametrize("body", ["", "spec:\n", "spec: {}\noperator:\n", "metadata: {name: x}\n"])
def test_a_file_that_says_nothing_changes_nothing(body):
    """Empty parts and metadata leave every default, and the file is no source."""
    assert loaded(body) == Settings()


BAD = rows("options/bad_files.yaml", "body", "message")


@pytest.mark.parametrize(("body", "message"), BAD)
def test_refuses(body, message):
    """Every error is one sentence with file, line and key."""
    assert complaint(body) == "archfit.yaml line " + message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "archfit.yaml: is empty: begin it with apiVersion: archfit.dev/v1alpha1 and kind: ArchFit", id="empty"),
        pytest.param("# nothing\n", "archfit.yaml: is empty: begin it with apiVersion: archfit.dev/v1alpha1 and kind: ArchFit", id="comment"),
        pytest.param("- a\n", "archfit.yaml: is not a configuration of archfit: begin it with apiVersion: archfit.dev/v1alpha1 and kind: ArchFit", id="list"),
        pytest.param("kind: ArchFit\n", "archfit.yaml: has no apiVersion: add apiVersion: archfit.dev/v1alpha1", id="version"),
        pytest.param(
            "apiVersion: archfit.dev/v1\nkind: ArchFit\n",
            "archfit.yaml line 1, apiVersion: 'archfit.dev/v1' is not known: write archfit.dev/v1alpha1",
            id="another version",
        ),
        pytest.param(
            "apiVersion: archfit.dev/v1alpha1\nkind: Archfit\n", "archfit.yaml line 2, kind: 'Archfit' is not known: write ArchFit", id="another kind"
        ),
        pytest.param(
            "apiVersion: v1\nkind: ConfigMap\ndata: {}\n", "archfit.yaml line 1, apiVersion: 'v1' is not known: write archfit.dev/v1alpha1", id="another object"
        ),
    ],
)  # fmt: skip
def test_refuses_what_is_no_configuration(text, message):
    """A file of another kind is never taken for an empty configuration."""
    assert complaint(text, head="") == message


def test_a_file_that_is_not_utf_8_is_refused_with_its_line():
    """Encodings are never guessed."""
    with pytest.raises(UsageError) as caught:
        from_file(HEAD.encode() + b"spec: {cache: \xff}\n", "a.yaml")
    assert str(caught.value) == "a.yaml line 3: is not UTF-8: save it in that encoding"


def test_a_byte_order_mark_is_allowed():
    """Editors on Windows write one."""
    assert merge([from_file(b"\xef\xbb\xbf" + HEAD.encode(), "a.yaml")]) == Settings()


def test_a_mirror_with_a_password_is_refused_without_repeating_it():
    """Neither the sentence nor the path to the key repeats it."""
    for written in ("{'https://user:hunter2@h': x}", "{docker.io: 'https://user:hunter2@h'}"):
        assert "hunter2" not in complaint(f"operator:\n  mirror: {written}\n")


def test_anyone_may_supply_spec():
    """The part about placement counts whoever supplies it."""
    values = {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit", "spec": {"strict": True}}
    assert merge([from_values(values, "functionConfig")]) == Settings(
        Options(strict=True),
        Operator(),
        ("functionConfig",),
        given=(("strict", "functionConfig, spec.strict"),),
    )


@pytest.mark.parametrize("part", [{}, None, {"mirror": {"*": "https://evil.example"}}, {"enforced": []}])
def test_only_the_operator_may_supply_trust(part):
    """The part about trust is refused, not ignored, where an application supplies it."""
    values = {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit", "operator": part}
    with pytest.raises(UsageError) as caught:
        from_values(values, "functionConfig")
    assert str(caught.value) == (
        "functionConfig, operator: only the operator may set this: write it into the file of --config"
    )


def test_an_operators_option_under_an_applications_spec_is_refused():
    """Trust cannot be smuggled in under spec either."""
    values = {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit", "spec": {"cache": "/x"}}
    with pytest.raises(UsageError) as caught:
        from_values(values, "functionConfig")
    assert str(caught.value) == "functionConfig, spec.cache: belongs under operator: move it there"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("[1.10, 12:30, 1e3, 012, 0x1f]", ["1.10", "12:30", "1e3", "012", "0x1f"], id="odd numbers: text"),
        pytest.param("[12, -3, 0]", [12, -3, 0], id="decimal integers"),
        pytest.param("[~, null, true, Off, y, n]", [None, None, True, False, "y", "n"], id="null and booleans"),
        pytest.param("['true', \"12\", ! 12, !!str 12]", ["true", "12", "12", "12"], id="quoted and tagged: text"),
        pytest.param("{on: 1, 12: 2, ~: 3}", {"on": 1, "12": 2, "~": 3}, id="keys: text"),
        pytest.param("{a: &x [b], c: *x}", {"a": ["b"], "c": ["b"]}, id="aliases"),
        pytest.param("|\n  a\n", "a\n", id="a block scalar"),
    ],
)  # fmt: skip
def test_values_are_plain(text, values):
    """Only null, booleans and decimal integers are more than text."""
    assert parse_config(text).values == values


@pytest.mark.parametrize(
    ("path", "lock"),
    [
        pytest.param("archfit.yaml", "archfit.lock", id="beside the file, in the working directory"),
        pytest.param("/repo/deploy/archfit.yaml", "/repo/deploy/archfit.lock", id="beside the file"),
        pytest.param("../archfit.yaml", "../archfit.lock", id="above"),
    ],
)
def test_a_lock_file_is_looked_for_from_the_file_that_names_it(path, lock):
    """The working directory never changes the output."""
    content = (HEAD + "spec: {lockFile: archfit.lock}\n").encode()
    assert merge([from_file(content, path)]).options.lock_file == lock


def test_lines_lead_to_keys_and_items():
    """The example of the module's docstring."""
    document = parse_config("spec:\n  exclude: [Job]\n")
    assert document.lines == {("spec",): 1, ("spec", "exclude"): 2, ("spec", "exclude", 0): 2}


@pytest.mark.parametrize("depth", [DEPTH_LIMIT + 1, 200_000])
def test_deep_nesting_is_an_error_not_a_crash(depth):
    """The composer of libyaml ends the process at some depth."""
    with pytest.raises(Problem, match="is nested deeper than 32 levels"):
        parse_config("[" * depth)


def test_an_alias_inside_its_own_anchor_is_an_error():
    """No value contains itself."""
    with pytest.raises(Problem, match="has no anchor before it"):
        parse_config("&a [*a]")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param(
            "tolerate: [{architectures: [arm64], toleration: {key: a}, when: sometimes}]",
            "tolerate[0].when: 'sometimes' does not say when to tolerate: known are possible, needed",
            id="a toleration",
        ),
        pytest.param(
            "rules: [{match: {}, only: [arm64], when: needed}]",
            "rules[0].when: 'needed' does not say when to narrow: known are possible, offered",
            id="a rule",
        ),
        pytest.param(
            "rules: [{match: {}, skip: true, when: offered}]",
            "rules[0]: says when, and not what: write it beside only, as only: [arm64], when: offered",
            id="a rule that does not narrow",
        ),
        pytest.param(
            "rules: [{match: {}, when: offered}]",
            "rules[0]: has no effect: write at least one of only, tolerate, prefer, skip",
            id="a rule without effect",
        ),
    ],
)
def test_when_is_one_of_two_words(spec, said):
    """Beside what it is about."""
    assert complaint(f"spec:\n  {spec}\n") == f"archfit.yaml line 4, spec.{said}"


def test_a_key_with_a_line_break_cannot_break_the_sentence():
    """One error is one line."""
    assert complaint('spec:\n  tolerate: [{"a\\nb": 1}]\n') == (
        r'archfit.yaml line 4, spec.tolerate[0]["a\nb"]: '
        r"there is no key 'a\nb' here: known are architectures, toleration, when"
    )


def test_a_control_character_is_an_error():
    """What the YAML reader itself refuses."""
    assert complaint("spec: {cache: \x01}\n").startswith("archfit.yaml")


@given(st.lists(st.sampled_from(["-", "0", "1", "9" * 9, "٣", "²", " ", "\n"]), max_size=4).map("".join))
def test_decimal_integers_follow_their_grammar(text):
    number = re.fullmatch(r"-?(?:0|[1-9][0-9]{0,17})", text)
    assert resolved(text) == (int(text) if number else None if text == "" else text)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("exclude: [%s]", id="exclude"),
        pytest.param("imagePlatforms: {%s}", id="imagePlatforms"),
        pytest.param("rules: [%s]", id="rules"),
    ],
)
def test_no_more_globs_than_each_object_can_be_compared_with(spec):
    """What has no wildcard is looked up: of that there may be more."""
    entry = {
        "exclude": "a{}",
        "imagePlatforms": "x.io/a{}: [linux/amd64]",
        "rules": "{match: {name: a{}}, skip: true}",
    }

    def body(globs: int, names: int) -> str:
        marks = [f"{number}*" for number in range(globs)] + [f"{number}" for number in range(names)]
        made = (entry[spec.partition(":")[0]].replace("{}", mark) for mark in marks)
        return f"spec:\n  {spec % ', '.join(made)}\n"

    loaded(body(MOST_GLOBS, 10))
    with pytest.raises(
        UsageError, match=f"{MOST_GLOBS + 1} entries have wildcards, of {MOST_GLOBS} that may"
    ):
        loaded(body(MOST_GLOBS + 1, 0))
