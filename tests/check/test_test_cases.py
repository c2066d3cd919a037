"""`archfit check --format junit`: what is a test case, which outcome it has, and what its name holds."""

import xml.etree.ElementTree as ET

import pytest

from archfit.base.results import ObjectRef
from archfit.check.findings import Check, Finding
from archfit.check.junit import MOST_CASES, MOST_WARNINGS, cases, junit


def pod(name: str, image: str, head: str = "", spec: str = "") -> bytes:
    return (
        f"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n{head}spec:\n{spec}"
        f"  containers:\n    - name: a\n      image: {image}\n"
    ).encode()


SKIP = '  annotations:\n    archfit.dev/skip: "true"\n'
WINDOWS = "  os:\n    name: windows\n"
UNREAD = (
    b"---\napiVersion: x.example/v1\nkind: Thing\nmetadata: {name: t}\n"
    b"spec: {podTemplate: {containers: [{image: a}]}}\n"
)


def outcomes(xml: bytes) -> dict[str, str]:
    """What each case of the file says: passed, or the name of the element in it."""
    found = {}
    for case in ET.fromstring(xml).iter("testcase"):
        said = [child.tag for child in case if child.tag != "system-out"]
        found[case.get("name")] = said[0] if said else "passed"
    return found


PLACED = [
    pytest.param(pod("p", "x.example/both:1"), [], "passed", 0, id="as-archfit-leaves-it"),
    pytest.param(pod("p", "x.example/amd:1"), [], "failure", 3, id="would-be-changed"),
    pytest.param(pod("p", "x.example/amd:1", SKIP), [], "skipped", 0, id="left-alone-is-not-passed"),
    pytest.param(pod("p", "$(TAG)"), [], "skipped", 0, id="placeholder-is-not-passed"),
    pytest.param(pod("p", "x.example/none:1"), ["--on-absent=leave"], "skipped", 0, id="left-as-absent"),
    pytest.param(pod("p", "x.example/none:1"), [], "error", 1, id="no-answer"),
    pytest.param(pod("p", "Bad:1"), [], "error", 1, id="malformed-image"),
]


@pytest.mark.parametrize(("text", "words", "outcome", "status"), PLACED)
def test_each_pod_spec_is_a_case_and_only_what_is_known_and_right_passes(check, text, words, outcome, status):
    ran = check(text, *words, "--tolerate=none", "--immutable=full", "--format=junit")
    assert (outcomes(ran.stdout), ran.status) == ({"v1/Pod/p spec": outcome}, status)


IMAGE = "v1/Pod/p spec.containers[0].image"
REQUIRED = [
    pytest.param(pod("p", "x.example/both:1"), [], {IMAGE: "passed"}, 0, id="runs-there"),
    pytest.param(pod("p", "x.example/amd:1"), [], {IMAGE: "failure"}, 3, id="does-not"),
    pytest.param(pod("p", "x.example/none:1"), [], {IMAGE: "failure"}, 3, id="there-is-no-such-image"),
    pytest.param(pod("p", "x.example/amd:1", SKIP), [], {IMAGE: "failure"}, 3, id="left-alone-counts"),
    pytest.param(pod("p", "$(TAG)"), [], {IMAGE: "failure"}, 3, id="not-known-fails"),
    pytest.param(pod("p", "$(TAG)"), ["--allow-unknown"], {IMAGE: "skipped"}, 0, id="not-known-never-passes"),
    pytest.param(pod("p", "x.example/both:1", "", WINDOWS), [], {"v1/Pod/p spec": "skipped"}, 0, id="another-system"),
    pytest.param(UNREAD, [], {"x.example/v1/Thing/t": "failure"}, 3, id="object-not-read"),
    pytest.param(UNREAD, ["--allow-unknown"], {"x.example/v1/Thing/t": "skipped"}, 0, id="object-allowed"),
    pytest.param(
        pod("p", "x.example/both:1", "  annotations:\n    archfit.dev/only: x\n"),
        [],
        {"v1/Pod/p spec": "error"},
        1,
        id="a-problem-of-the-pod",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words", "expected", "status"), REQUIRED)
def test_each_image_is_a_case_where_it_has_to_run(check, text, words, expected, status):
    ran = check(text, "--require=arm64", *words, "--format=junit")
    assert (outcomes(ran.stdout), ran.status) == (expected, status)


def test_an_unread_object_is_skipped_where_placement_is_the_question(check):
    ran = check(UNREAD, "--format=junit")
    assert (outcomes(ran.stdout), ran.status) == ({"x.example/v1/Thing/t": "skipped"}, 0)


@pytest.mark.parametrize("words", [[], ["--require=arm64"]], ids=["placement", "require"])
def test_a_failing_check_has_a_failing_case_and_a_passing_one_has_none(check, words):
    texts = [one.values[0] for one in (*PLACED, *REQUIRED)] + [b"a: [\n", b"\xff", UNREAD]
    for text in texts:
        ran = check(text, *words, "--format=junit")
        failing = {"failure", "error"} & set(outcomes(ran.stdout).values())
        assert bool(failing) == bool(ran.status), text
        assert ("error" in failing) == (ran.status == 1), text


def test_input_without_manifests_writes_no_suite(check, tmp_path):
    for text in (b"", b"---\n# nothing\n", b"apiVersion: v1\nkind: List\nitems: []\n"):
        ran = check(text, "--format=junit=out", cwd=tmp_path)
        assert (ran.status, ran.stdout, (tmp_path / "out").exists()) == (2, b"", False)


def test_a_stream_without_pods_is_no_green_suite(check):
    service = b"apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
    for words, said in (([], "no pod spec was looked at"), (["--require=arm64"], "no image was looked at")):
        ran = check(service, *words, "--format=junit")
        assert outcomes(ran.stdout) == {"manifests": "skipped"}
        assert f'message="{said}"' in ran.stdout.decode()


def test_the_name_stays_where_line_tag_and_message_change(check, tmp_path):
    names = []
    for text in (pod("p", "x.example/amd:1"), b"# more\n\n" + pod("p", "x.example/both:1")):
        (tmp_path / "web.yaml").write_bytes(text)
        ran = check(b"", "--require=arm64", "--format=junit", "web.yaml", cwd=tmp_path)
        names += outcomes(ran.stdout)
    assert names == [f"{IMAGE} (web.yaml)"] * 2


def test_equal_names_are_numbered_and_two_files_are_two_names(check, tmp_path):
    text = pod("p", "x.example/both:1")
    (tmp_path / "a.yaml").write_bytes(text + text)
    (tmp_path / "b.yaml").write_bytes(text)
    ran = check(b"", "--format=junit", "a.yaml", "b.yaml", cwd=tmp_path)
    assert list(outcomes(ran.stdout)) == [
        "v1/Pod/p spec (a.yaml)",
        "v1/Pod/p spec (a.yaml) (2)",
        "v1/Pod/p spec (b.yaml)",
    ]


def test_a_failure_says_what_where_and_the_platforms_are_its_class(check):
    ran = check(pod("p", "x.example/amd:1", SKIP), "--require=arm64,s390x", "--format=junit")
    (case,) = ET.fromstring(ran.stdout).iter("testcase")
    assert case.get("classname") == "archfit.linux/arm64+linux/s390x"
    (failure,) = case
    assert failure.get("type") == "required-platform"
    assert failure.get("message") == (
        "x.example/amd:1 does not run on linux/arm64, linux/s390x; it offers linux/amd64"
    )
    assert failure.text is not None
    assert failure.text.endswith(', which archfit leaves alone: archfit.dev/skip is "true"')
    assert "(document 1, line 11)" in failure.text


def _check(findings, code=3, **more):
    return Check(code, ("linux/arm64",), tuple(findings), 1, 1, cases=tuple(findings), **more)


def _lacking(name: str, image: str = "x.example/amd:1", severity: str = "error") -> Finding:
    ref = ObjectRef("v1", "Pod", "", name)
    return Finding("required-platform", severity, f"{image} does not run", ref, "spec", image=image)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a\x00\x08\x1b[31mb", id="control-characters"),
        pytest.param("<b>&amp;\"'>]]>", id="markup"),
        pytest.param("\ud800\ufffe\uffff", id="not-in-xml"),
        pytest.param("a # SKIP b \\# c", id="directive"),
        pytest.param("x\nnot ok 9 - more\n1..9\nBail out!", id="lines"),
        pytest.param("##vso[task.complete]", id="command-of-azure"),
        pytest.param("z" * 100_000, id="long"),
    ],
)
def test_no_text_of_others_becomes_markup_or_a_line_of_its_own(text):
    check = _check([_lacking(text, text)])
    xml = junit(check)
    (case,) = ET.fromstring(xml).iter("testcase")
    assert [child.tag for child in case] == ["failure"]
    assert len(xml) < 40_000
    assert b"##vso[" not in xml


def test_a_long_list_is_cut_and_what_failed_stays():
    passed = [
        Finding("passed", "info", "", ObjectRef("v1", "Pod", "", f"p{n}"), "spec") for n in range(MOST_CASES)
    ]
    found = cases(_check([*passed, _lacking("last")]))
    assert len(found) == MOST_CASES + 1
    assert [case.outcome for case in found].count("failed") == 1
    assert (found[-1].outcome, found[-1].finding.message) == (
        "skipped",
        "1 test case left out, the failed ones last",
    )


def test_warnings_stand_beside_the_cases_and_are_bounded():
    notices = [Finding("notice", "warning", f"warning {number}") for number in range(MOST_WARNINGS + 2)]
    check = Check(0, (), tuple(notices), 1, 1, cases=())
    assert (
        ET.fromstring(junit(check)).findtext("testsuite/system-err").splitlines()[-1] == "2 warnings left out"
    )


def test_numbers_of_the_suite_are_those_of_its_cases(check):
    text = pod("p", "x.example/both:1") + pod("q", "x.example/amd:1") + pod("r", "$(TAG)")
    root = ET.fromstring(check(text, "--require=arm64", "--allow-unknown", "--format=junit").stdout)
    (one,) = root
    told = {key: one.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert told == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    assert one.findtext("system-out") == "1 image runs on linux/arm64; 1 does not; 1 not known (placeholder)"
