"""What kubectl, Helm and kustomize find in a stream, archfit saw or refused."""

import base64
import io
from collections import Counter
from typing import Any

import pytest

import machine
from archfit.audit.running.collect import Collector
from archfit.base.errors import InvalidInput
from archfit.base.results import ObjectRef
from archfit.cluster.list_stream import items
from archfit.options.settings import Options
from fuzz import readers
from fuzz.asking import Asking
from fuzz.listings import listing
from fuzz.readers import READERS, Reading, Seen, Tally


@pytest.fixture(scope="module")
def asking():
    judge = machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")
    with Asking(judge, "streams", "read") as running:
        yield running


def _audited(text: bytes) -> Seen | None:
    """What `audit` finds in a file; None if it refuses the file."""
    collector = Collector("manifests", "stream", Options())
    try:
        for value, where in items(io.BytesIO(text), "stream"):
            collector.add(value, where)
    except InvalidInput:
        return None
    found = [
        (ObjectRef("", one.kind, one.namespace, one.name), Counter(use.image for use in one.images))
        for one in collector.facts().workloads
    ]
    return Seen(tuple(found), tuple(ObjectRef("", kind, "", "") for kind in collector.kinds))


def test_audit_finds_what_kubectl_creates(asking):
    compared = 0
    texts = [listing(4, number) for number in range(1500)]
    answers = asking.ask([base64.b64encode(text).decode() for text in texts])
    for text, answer in zip(texts, answers, strict=True):
        seen = _audited(text)
        if answer is None or seen is None:
            continue
        # An object that comes twice counts once there, and groups are not kept.
        yielded = {number: answer["objects"][number] for number in answer["kubectl"]["objects"]}
        holding = [one for one in yielded.values() if not readers.holds_none(one)]
        of_own_kinds = [{**one, "apiVersion": ""} for one in holding if one.get("own")]
        assert all(readers.missing(seen, [one]) == ([], 0) for one in of_own_kinds), text
        assert {ref.kind for ref in seen.named}.issuperset(one["kind"] for one in holding), text
        compared += len(of_own_kinds)
    assert compared > 300


@pytest.mark.parametrize("seed", [1, 2])
def test_no_reader_finds_what_archfit_neither_saw_nor_refused(asking, seed):
    unseen: list[Any] = []

    def made(number: int) -> bytes:
        return listing(seed, number)

    tally = Reading(asking).run(range(1500), made, 60, lambda *defect: unseen.append(defect), Tally())
    assert unseen == []
    assert tally.streams == 1500
    assert min(tally.objects[reader, "seen"] for reader in READERS) > 400
