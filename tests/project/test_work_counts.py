"""What a run may do, counted and not timed: the same on every machine, however busy it is.

    calls          the expensive functions, once for each document or pod        skipped documents: none of them
    events         what the YAML parser is asked for                              skipped documents: none
    steps          calls of functions, of Python and of C, for one document       twice the input: twice the steps
    searches       bytes that `find` and the like read: a constant times the input
    memory         bytes that are allocated beside the input
    system         statements of SQLite, files that are opened, calls that write

`tests/project/test_imports.py` counts modules. The maxima are what a run does today, or a little more: whoever spares
something lowers them.
"""

from __future__ import annotations

import io
import os
import sys
import tracemalloc
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from archfit import pod_stages
from archfit.edit import added_keys, insert
from archfit.lookup.store.open import default_path
from archfit.options.settings import Options
from archfit.placement import evidence, pod_patch, selection
from archfit.rewrite import command as transform
from archfit.yaml import block_lines, compose, stream, tree
from called_files import called
from counted_run import counted
from kubectl_output import to_json, to_yaml
from live_cluster import Applied, objects
from searched_text import counting, searched
from stream_edits import edited
from traced_lines import PACKAGE, lines
from warm_cache import warm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

MOST_STATEMENTS = 4
# Eight are SQLite's, which makes the shared memory of its log.
MOST_WRITES = 12
# Files whose functions a run of one Deployment calls, from the cache.
MOST_FILES = {"transform": 52, "check": 71, "explain": 73, "patch": 66}
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: a
        image: amd:1
        env:
        - name: A
          value: "1"
"""
READY = DEPLOYMENT.replace("amd:1", "both:1")
FLOW = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: a, image: 'amd:1'}]}}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: {app: web}
"""
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: |\n    image: amd:1\n"
LIST = "apiVersion: v1\nkind: List\nitems:\n"


def forget() -> None:
    """What this process has read before counts no more."""
    for memory in (
        added_keys._parsed,
        block_lines._entry_of.__self__,
        compose._resolved,
        insert._written,
        evidence._removed,
        evidence.in_order,
        pod_patch._usual,
        pod_stages._encoded,
        selection._no_reference,
    ):
        memory.clear()


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """The counts are the same whatever this process has read before."""
    forget()


def documents(*texts: str) -> bytes:
    return "---\n".join(texts).encode()


def calls(data: bytes) -> Counter[str]:
    """How often each function of archfit is called, as `module:name`, and those of C together, as `C`."""
    found: Counter[str] = Counter()

    def heard(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "c_call":
            found["C"] += 1
        elif event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            name = frame.f_code.co_filename.removeprefix(f"{PACKAGE}/").removesuffix(".py")
            found[f"{name}:{frame.f_code.co_qualname}"] += 1

    sys.setprofile(heard)
    try:
        edited(data)
    finally:
        sys.setprofile(None)
    return found


def steps(data: bytes) -> int:
    return sum(calls(data).values())


def ran(data: bytes) -> int:
    return lines(lambda: edited(data))


def more(of: Callable[[int], bytes]) -> Counter[str]:
    """The calls for ten more of something."""
    steps(of(1))  # what is loaded or kept at first
    found = calls(of(20))
    found.subtract(calls(of(10)))
    return found


ONCE_FOR_A_DOCUMENT = [
    "yaml/skip:identity",
    "yaml/block_lines:block_text",
    "workloads/documents:read",
    "workloads/sites:block_sites",
    "placement/decide:decide",
    "edit/insert:insertions",
]


@pytest.mark.parametrize("name", ONCE_FOR_A_DOCUMENT)
def test_each_document_is_read_decided_and_edited_once(name: str) -> None:
    assert more(lambda count: documents(*[DEPLOYMENT] * count))[name] == 10


def test_the_usual_edit_is_proven_without_reading_it_again() -> None:
    found = more(lambda count: documents(*[DEPLOYMENT] * count))
    assert (found["edit/prove:prove"], found["yaml/compose:parse"]) == (0, 0)


def test_a_process_that_proved_many_different_edits_still_remembers_the_next() -> None:
    different = [
        DEPLOYMENT.replace("      containers:", f"      key{number}: 1\n      containers:")
        for number in range(300)
    ]
    edited(documents(*different))
    assert more(lambda count: documents(*[DEPLOYMENT] * count))["yaml/compose:parse"] == 0


def test_an_unusual_edit_is_read_once_more() -> None:
    found = more(lambda count: documents(*[FLOW] * count))
    assert found["edit/prove:prove"] == 10
    assert found["yaml/compose:parse"] == 20


@pytest.mark.parametrize("text", [SERVICE, CONFIG_MAP], ids=["service", "words-of-a-pod"])
@pytest.mark.parametrize("name", ONCE_FOR_A_DOCUMENT)
def test_what_holds_no_pods_is_only_identified(name: str, text: str) -> None:
    expected = 10 if name == "yaml/skip:identity" else 0
    assert more(lambda count: documents(DEPLOYMENT, *[text] * count))[name] == expected


def test_items_of_a_list_are_read_one_by_one_and_proven_without_reading_them_again() -> None:
    item = "- " + DEPLOYMENT.rstrip().replace("\n", "\n  ") + "\n"
    found = more(lambda count: (LIST + item * count).encode())
    assert {name: found[name] for name in ONCE_FOR_A_DOCUMENT} == dict.fromkeys(ONCE_FOR_A_DOCUMENT, 10)
    assert found["yaml/compose:parse"] == 0


class Parser:
    """The parser, whose events are counted."""

    given = 0

    def __init__(self, text: str) -> None:
        self._parser = _REAL_PARSER(text)

    def get_event(self) -> Any:
        Parser.given += 1
        return self._parser.get_event()


_REAL_PARSER: Any = tree._Parser


def events(text: str) -> int:
    """How many events there are in the text, by PyYAML itself."""
    return sum(1 for _ in yaml.parse(text, Loader=yaml.CSafeLoader))


@pytest.mark.parametrize(
    ("text", "options", "most"),
    [
        pytest.param(DEPLOYMENT, Options(), 3, id="usual-edit-whose-proof-is-the-same-for-all"),
        pytest.param(READY, Options(tolerate=()), 0, id="nothing-to-change"),
        pytest.param(FLOW, Options(), 2 * events(FLOW) + 30, id="unusual-edit-with-what-it-adds"),
        pytest.param(SERVICE, Options(), 0, id="no-pod"),
        pytest.param(CONFIG_MAP, Options(), 0, id="text-like-a-pod"),
    ],
)
def test_the_parser_gives_each_event_once(
    text: str, options: Options, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_Parser", Parser)
    monkeypatch.setattr(Parser, "given", 0)
    edited(documents(*[SERVICE, text] * 20), options)
    assert bool(most) <= Parser.given <= 20 * most


MOST_STEPS = [
    pytest.param(DEPLOYMENT, 1100, id="deployment"),
    pytest.param(SERVICE, 125, id="service"),
    pytest.param(CONFIG_MAP, 125, id="config-map"),
]


@pytest.mark.parametrize(("text", "most"), MOST_STEPS)
def test_a_document_takes_few_steps(text: str, most: int) -> None:
    found = more(lambda count: documents(DEPLOYMENT, *[text] * count))
    assert sum(found.values()) / 10 <= most


def definition(number: int) -> str:
    """A CustomResourceDefinition whose schema holds the words of a pod."""
    field = "            containers:\n              description: image of\n              type: array\n"
    return (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n"
        f"  name: things.g{number}.example.com\nspec:\n  versions:\n  - schema:\n      openAPIV3Schema:\n"
        "        properties:\n          spec:\n" + field * 50
    )


def dense(count: int) -> bytes:
    return documents(*[DEPLOYMENT, SERVICE] * count)


def live_objects(count: int) -> list[dict[str, Any]]:
    manifests = tuple(yaml.safe_load_all(documents(DEPLOYMENT, SERVICE)))
    manifests[0]["spec"]["selector"] = {"matchLabels": {"app": "web"}}
    manifests[1]["spec"]["ports"] = [{"port": 80}]
    return objects([Applied(f"team-{number}", manifests) for number in range(count)], 1)


def live(count: int) -> bytes:
    return to_yaml(live_objects(count))


def crds(count: int) -> bytes:
    return documents(*map(definition, range(count)))


def crds_in_a_list(count: int) -> bytes:
    items = ("- " + definition(number).rstrip().replace("\n", "\n  ") + "\n" for number in range(count))
    return (LIST + "".join(items)).encode()


def list_in_a_list(count: int) -> bytes:
    """One item, which is read as one tree."""
    items = "".join(f"  - {DEPLOYMENT.rstrip().replace(chr(10), chr(10) + '    ')}\n" for _ in range(count))
    return f"{LIST}- apiVersion: v1\n  kind: List\n  items:\n{items}".encode()


def nothing(count: int) -> bytes:
    return documents(*[SERVICE, CONFIG_MAP] * count)


def live_json(count: int) -> bytes:
    return to_json(live_objects(count))


@pytest.mark.load
@pytest.mark.parametrize(
    ("make", "count"),
    [
        (dense, 50),
        (live, 10),
        (live_json, 10),
        (crds, 100),
        (crds_in_a_list, 100),
        (list_in_a_list, 50),
        (nothing, 100),
    ],
)
def test_twice_the_input_takes_twice_the_steps(make: Callable[[int], bytes], count: int) -> None:
    once, twice = make(count), make(2 * count)
    edited(
        make(6 * count)
    )  # what is loaded and kept for later, and constructors of records that are made often
    for of in (ran, steps):
        found = []
        for data in (twice, once):
            forget()
            found.append(of(data))
        assert found[0] <= 2.05 * found[1]


def workflow(count: int) -> bytes:
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  name: w\nspec:\n  templates:\n"
    items = (f"  - name: t{number}\n    container:\n      image: amd:1\n" for number in range(count))
    return (head + "".join(items)).encode()


def searches(data: bytes) -> int:
    """How many bytes are read by searches of archfit's."""
    with counting() as found:
        edited(searched(data))
    return found.total


@pytest.mark.parametrize(
    ("make", "count", "times"),
    [
        (dense, 50, 28),
        (live, 5, 36),
        (live_json, 5, 20),
        (crds, 100, 16),
        (crds_in_a_list, 100, 28),
        (list_in_a_list, 50, 40),
        (nothing, 100, 16),
        (workflow, 200, 32),
    ],
)
def test_searches_read_the_input_a_few_times(make: Callable[[int], bytes], count: int, times: int) -> None:
    once, twice = make(count), make(2 * count)
    edited(once)
    assert searches(twice) <= times * len(twice)
    assert searches(twice) <= 2.05 * searches(once) * len(twice) / (2 * len(once))


class Sink(io.RawIOBase):
    """Standard output. copied: bytes of parts that are no views of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.copied = self.taken = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self.copied += 0 if isinstance(part, memoryview) else len(part)
        self.taken += len(part)
        return len(part)


def peak(path: Path, folder: Path) -> tuple[int, Sink]:
    """The most bytes that are allocated at one time while archfit reads the file and writes what becomes of it."""
    tracemalloc.start()
    try:
        with path.open("rb") as stdin:
            sink = Sink()
            assert transform.run([], stdin, sink, io.StringIO(), {"HOME": str(folder)}) == 0
        return tracemalloc.get_traced_memory()[1], sink
    finally:
        tracemalloc.stop()


BIG = 20_000_000
LINE, UMLAUTS = "    " + "a" * 75 + "\n", "    " + "ä" * 38 + "\n"


@pytest.mark.load
@pytest.mark.parametrize(
    ("text", "most"),
    [
        pytest.param(CONFIG_MAP + LINE * 1000, 1.2, id="large-documents"),
        pytest.param(CONFIG_MAP + UMLAUTS * 1000, 1.2, id="not-ascii"),
        pytest.param(CONFIG_MAP + LINE * 50, 1.3, id="small-documents"),
    ],
)
def test_20_mb_without_pods_take_little_memory_beside_the_input(
    text: str, most: float, tmp_path: Path
) -> None:
    document = f"{text}---\n".encode()
    path = tmp_path / "big.yaml"
    path.write_bytes(document * (BIG // len(document)))
    peak(path, tmp_path)
    used, sink = peak(path, tmp_path)
    assert used <= most * path.stat().st_size
    assert sink.taken == path.stat().st_size


def test_what_does_not_change_is_written_from_the_input_itself() -> None:
    data = documents(*[SERVICE, DEPLOYMENT] * 5)
    output = edited(data)
    parts = stream.write(data, output.transformed.splices)
    views = [part for part in parts if isinstance(part, memoryview)]
    assert all(view.obj is data for view in views)
    assert sum(map(len, views)) == len(data)
    assert stream.write(data, ()) == [data]
    assert stream.write(data, ())[0] is data


IMAGE = "x.example/a:1"
WARM = DEPLOYMENT.replace("amd:1", IMAGE)


@pytest.fixture
def warm_cache() -> None:
    warm({IMAGE: ["linux/amd64"]}, default_path(os.environ))


@pytest.mark.usefixtures("warm_cache")
def test_a_warm_run_reads_the_cache_with_few_statements_and_writes_nothing_to_it() -> None:
    found = counted(documents(*[WARM] * 50))
    assert found.connections == 1
    assert len(found.statements) <= MOST_STATEMENTS
    assert [one for one in found.statements if not one.startswith(("SELECT", "PRAGMA"))] == []


@pytest.mark.usefixtures("warm_cache")
@pytest.mark.parametrize("command", MOST_FILES)
def test_one_deployment_goes_through_few_files(command: str) -> None:
    assert 30 < len(called([command], WARM.encode())) <= MOST_FILES[command]


@pytest.mark.usefixtures("warm_cache")
def test_a_warm_run_opens_no_file_but_the_report_of_the_last_run() -> None:
    found = counted(documents(WARM))
    assert ["last" in name for name in found.opened] == [True]


@pytest.mark.usefixtures("warm_cache")
@pytest.mark.parametrize("count", [1, 500])
def test_output_and_report_are_written_in_few_calls(count: int) -> None:
    found = counted(documents(*[WARM] * count))
    assert found.writes <= MOST_WRITES + found.written // 8192
    assert found.written >= len(found.output)


def test_a_run_with_nothing_to_do_opens_no_cache() -> None:
    found = counted(documents(*[SERVICE] * 50))
    assert (found.connections, list(found.statements)) == (0, [])
    assert found.output == documents(*[SERVICE] * 50)
    assert found.writes <= 3
