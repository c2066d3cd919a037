"""The steps of an audit in parts, whatever engine runs them. Each is one command; files on one volume join them.

    snapshot    archfit audit --live --offline     the cluster's lists     -> /audit/snapshot.json
    shard I     archfit audit snapshot.json        asks for its images     -> /audit/shard-I.json        N at once
    merge       archfit audit --merge shard-*      one report              -> /audit/report.json
    page        archfit audit --merge report.json  the same as a page      -> /audit/report.html
    report      archfit audit --merge report.json  the same as text        -> log

Every shard reads the one snapshot, so all reports are of the same moment. A step that runs again writes the same file
again, as a whole.
"""

from __future__ import annotations

FOLDER = "/audit"
MOST_SHARDS = 500
"""A workflow of Argo has to stay below 1 MB, and a command line below 128 KiB."""

_AUDIT = ("archfit", "audit")
_REPORT = f"{FOLDER}/report.json"
PAGE = (*_AUDIT, "--merge", _REPORT, "--format", "html", "-o", f"{FOLDER}/report.html")
REPORT = (*_AUDIT, "--merge", _REPORT)


def snapshot(cluster: str = "") -> tuple[str, ...]:
    """The command that reads the cluster. cluster: its name in the report, "" for the uid of kube-system."""
    name = ("--cluster", cluster) if cluster else ()
    return (
        *(*_AUDIT, "--live", *name, "--offline", "--no-cache"),
        *("--format", "json", "-o", f"{FOLDER}/snapshot.json"),
    )


def shard(index: str, shards: int) -> tuple[str, ...]:
    """The command of one shard. index: from 0; a number, or what the engine replaces with one."""
    return (
        *(*_AUDIT, f"{FOLDER}/snapshot.json", "--shard", index, "--shards", str(shards)),
        *("--format", "json", "-o", f"{FOLDER}/shard-{index}.json"),
    )


def merge(shards: int) -> tuple[str, ...]:
    """The command that joins the reports of all shards."""
    reports = (f"{FOLDER}/shard-{index}.json" for index in range(shards))
    return (*_AUDIT, "--format", "json", "-o", _REPORT, "--merge", *reports)
