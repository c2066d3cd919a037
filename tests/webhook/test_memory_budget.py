"""How much memory the server may take: the limit, the shares, and connections that make room for others."""

import asyncio
import contextlib
import gc
import io
import resource
from pathlib import Path
from typing import Any

import pytest

from admission_reviews import body, decoded, pod, review
from archfit.base.errors import UsageError
from archfit.options.hosts import mirror_pair
from archfit.options.settings import Operator, Options, Settings
from archfit.webhook import server_process
from archfit.webhook.listen_address import ListenAddress
from archfit.webhook.memory_budget import MIB, PROGRAM, SHARES, MemoryLimit, Share, memory_limit
from archfit.webhook.server_log import ServerLog
from archfit.webhook.server_process import WatchedLock
from fake_registry import FakeRegistry


def files(root: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")
    return root


V2 = "sys/fs/cgroup/memory.max"
V1 = "sys/fs/cgroup/memory/memory.limit_in_bytes"
SELF = "proc/self/cgroup"


@pytest.mark.parametrize(
    ("stated", "texts", "mebibytes", "source"),
    [
        pytest.param("", {}, 512, "no limit is known", id="nothing"),
        pytest.param("1Gi", {V2: f"{330 * MIB}\n"}, 1024, "--memory-limit 1Gi", id="the flag wins"),
        pytest.param("536870912", {}, 512, "--memory-limit 536870912", id="bytes"),
        pytest.param("", {V2: f"{330 * MIB}\n"}, 330, f"/{V2}", id="version 2"),
        pytest.param("", {V2: "max\n"}, 512, "no limit is known", id="version 2 without one"),
        pytest.param("", {V1: f"{330 * MIB}\n"}, 330, f"/{V1}", id="version 1"),
        pytest.param("", {V1: "9223372036854771712\n"}, 512, "no limit is known", id="version 1 without one"),
        pytest.param("", {V1: f"{400 * MIB}", V2: f"{330 * MIB}"}, 330, f"/{V2}", id="the smallest"),
        pytest.param(
            "",
            {
                SELF: "0::/system.slice/archfit.service\n",
                "sys/fs/cgroup/system.slice/memory.max": f"{600 * MIB}",
                "sys/fs/cgroup/system.slice/archfit.service/memory.max": f"{700 * MIB}",
            },
            600,
            "/sys/fs/cgroup/system.slice/memory.max",
            id="a group above it, version 2",
        ),
        pytest.param(
            "",
            {
                SELF: "3:cpu:/x\n2:memory,hugetlb:/a\n",
                "sys/fs/cgroup/memory/a/memory.limit_in_bytes": f"{600 * MIB}",
            },
            600,
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
            id="its own group, version 1",
        ),
        pytest.param("", {V2: "nonsense"}, 512, "no limit is known", id="what is no number"),
    ],
)
def test_the_limit(stated, texts, mebibytes, source, tmp_path):
    found = memory_limit(stated, files(tmp_path, texts))
    assert (found.limit // MIB, found.source) == (mebibytes, source)


@pytest.mark.parametrize(
    ("stated", "texts", "message"),
    [
        pytest.param("lots", {}, "'lots' is not a quantity: write it as in a pod's resources, 512Mi", id="words"),
        pytest.param("-1Gi", {}, "-1024 MiB (--memory-limit -1Gi) are too little", id="negative"),
        pytest.param("319Mi", {}, "319 MiB (--memory-limit 319Mi) are too little", id="the flag"),
        pytest.param("", {V2: f"{64 * MIB}"}, f"64 MiB (/{V2}) are too little for archfit serve and its two lookup processes: give it 320Mi", id="v2"),
    ],
)  # fmt: skip
def test_a_limit_that_is_none_or_too_small_is_one_error(stated, texts, message, tmp_path):
    with pytest.raises(UsageError) as raised:
        memory_limit(stated, files(tmp_path, texts))
    assert message in str(raised.value)


@pytest.mark.parametrize("mebibytes", [320, 512, 2048])
def test_shares_and_program_are_half_of_the_limit(mebibytes):
    limit = MemoryLimit(mebibytes * MIB)
    total = PROGRAM + sum(limit.share(name) for name in SHARES)
    assert mebibytes * MIB // 2 - 1000 <= total <= mebibytes * MIB // 2


class TestShare:
    async def test_what_does_not_fit_waits_in_its_order(self):
        share = Share(80)
        assert await share.room(70, 50)
        waiting = [asyncio.ensure_future(share.room(size, 50)) for size in (70, 10)]
        await asyncio.sleep(0)
        assert share.take(10)
        assert not share.take(1)
        share.give(10)
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        share.give(70)
        assert await asyncio.gather(*waiting) == [True, True]
        assert share.held == 80

    async def test_what_does_not_fit_in_time_is_counted(self):
        counted: list[int] = []
        share = Share(80, lambda: counted.append(1))
        assert not await share.room(81, 50)
        assert await share.room(80, 50)
        assert not await share.room(1, 0.01)
        assert (counted, share.held) == ([1, 1], 80)

    @pytest.mark.parametrize("has_room", [False, True])
    async def test_one_who_is_gone_holds_nothing(self, has_room):
        share = Share(10)
        share.take(8)
        waiting = asyncio.ensure_future(share.room(5, 50))
        await asyncio.sleep(0)
        if has_room:
            share.give(8)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        if not has_room:
            share.give(8)
        assert share.held == 0


OF_AN_IMAGE = frozenset(
    {"Found", "PendingLookup", "Reference", "Future", "Task", "Semaphore", "dict", "list", "set"}
)


@pytest.mark.load
async def test_new_images_leave_no_objects_once_the_shares_are_full(tmp_path):
    """Less than one object for two images: what a server kept of each was never given back. Its processes keep none.

    Tuples and texts are not counted, because small memos of a fixed size have them.
    """
    steps = (400, 700)
    counts: list[int] = []

    with FakeRegistry() as fake:
        operator = Operator(cache=str(tmp_path / "lookups.sqlite"), mirrors=(mirror_pair(f"*={fake.url}"),))
        options = Options(on_absent="leave", on_unknown="leave", on_conflict="leave")
        log = ServerLog(io.StringIO().write, "error")
        anywhere = ListenAddress("127.0.0.1", 0)
        process = server_process.ServerProcess(
            Settings(options, operator),
            server_process.ServeOptions(anywhere, anywhere),
            log,
            {},
            WatchedLock(options),
            None,
        )
        await process._workers.start()
        for name in ("answers", "verdicts"):
            process._shares[name].size = 50_000
        sent: list[bytes] = []

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))

        for number in range(steps[-1]):
            fake.index("team/app", str(number), ("linux/amd64",))
            content = body(review(pod(f"quay.io/team/app:{number}")))
            messages = [{"type": "http.request", "body": content, "more_body": False}]

            async def receive(messages: list[dict[str, Any]] = messages) -> dict[str, Any]:
                return messages.pop()

            scope = {"type": "http", "method": "POST", "path": "/mutate", "query_string": b"timeout=30s"}
            headers = ((b"content-type", b"application/json"), (b"content-length", b"%d" % len(content)))
            await process._webhook(
                {**scope, "headers": headers, "state": {"abort": lambda: None}}, receive, send
            )
            assert decoded(sent[-1]).patch
            sent.clear()
            fake.documents.clear()
            fake.asked.clear()
            if number + 1 in steps:
                gc.collect()
                counts.append(sum(type(one).__name__ in OF_AN_IMAGE for one in gc.get_objects()))
        assert process._shares["answers"].held <= 50_000
        await process._workers.close()
        log.close()
    assert counts[1] - counts[0] < (steps[1] - steps[0]) / 2


def test_the_address_space_is_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (200 * MIB, 200 * MIB))
    with pytest.raises(UsageError, match=r"200 MiB \(ulimit -v\) are too little .* give it 320Mi or more"):
        memory_limit("", tmp_path)
