"""`archfit setup cluster`: an archfit.yaml from nodes and pools, with comments that say where each value comes from.

The same objects give the same bytes.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import BinaryIO, TextIO

from ruamel.yaml.comments import CommentedSeq

from archfit.base.errors import Problem, UsageError
from archfit.base.printable import count, few
from archfit.cli.setup.yaml_files import mapping, written
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.cluster_connection import connect
from archfit.cluster.configuration_file import deliver
from archfit.cluster.nodes import ascii_text, nodes
from archfit.cluster.pools.karpenter import KIND as NODE_POOL
from archfit.cluster.pools.live import PoolObjects, nodes_and_pools
from archfit.cluster.pools.object_files import objects_of
from archfit.cluster.pools.read import PREFER, of_this_cluster, pools
from archfit.cluster.summary import SHOWN_POOLS, NodeSummary, summarised
from archfit.options.config_file import API_VERSION, KIND
from archfit.options.taints import label_key

_SOURCE = "kubectl get nodes -o json"
_HEAD = """\
Written by `archfit setup cluster` from the nodes of a cluster. Use it with --config or ARCHFIT_CONFIG."""
_ARCHITECTURES = """\
The architectures of the cluster's Linux nodes, and of its Windows nodes as windows/amd64.
Add those of node pools that have no node at the moment."""
_TAINTS = "Tolerated where the images run on every architecture after the @."
_NO_TAINT = "No node of the list has a taint. Add those of node pools that have no node at the moment."
_NO_TAINT_ANYWHERE = "No node and no pool has a taint."
_WINDOWS_TAINT = (
    "Every Windows node has this taint: a pod that tolerates it and names no system gets kubernetes.io/os."
)
_NONE_USED = "None of the nodes' taints is used."
_WITH_POOLS = """\
The architectures of the cluster's Linux nodes, of its Windows nodes as windows/amd64, and those that these pools may
bring. Add those of pools that are not here and have no node at the moment."""


def set_up_cluster(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after the words `setup cluster`. The exit code; raises ArchfitError."""
    flags, words = BY_NAME["setup cluster"].parser().parse(argv)
    keys = [_key(key) for key in flags.arch_taint]
    read = _objects(flags, words, stdin, environ)
    those = nodes(read.values)
    clusters = {node.cluster for node in those if node.cluster}
    cluster = summarised(those, keys, of_this_cluster(pools(read.values), clusters))
    unread = tuple((what, ascii_text(f"not read: {why}")) for what, why in read.unread)
    cluster = cluster.replace(unused=(*cluster.unused, *unread))
    messages = "".join(f"not used: {subject}: {reason}\n" for subject, reason in cluster.unused)
    advice = "use it with --config or ARCHFIT_CONFIG"
    deliver(configuration(cluster), flags.output, stdout, stderr, messages, advice)
    return 0


def _objects(
    flags: Namespace, words: Sequence[str], stdin: BinaryIO, environ: Mapping[str, str]
) -> PoolObjects:
    if not flags.live:
        for flag in ("context", "kubeconfig"):
            if getattr(flags, flag) is not None:
                raise UsageError(f"--{flag} needs --live: files are of no context")
        return PoolObjects(tuple(objects_of(words or ["-"], stdin, _SOURCE)))
    if words:
        raise UsageError(f"--live reads the cluster: leave {words[0]!r} out, or leave --live out")
    with closing(
        connect(environ, context=flags.context or "", kubeconfig=flags.kubeconfig or "")
    ) as connection:
        return nodes_and_pools(connection)


def _key(text: str) -> str:
    try:
        return label_key(text)
    except Problem as problem:
        raise UsageError(f"--arch-taint: {problem.message}") from None


def configuration(cluster: NodeSummary) -> str:
    """The configuration file, with comments that say where each value comes from."""
    spec = mapping(
        clusterArchitectures=_list(
            (name, _bringers(name, number, cluster)) for name, number in cluster.architectures
        ),
        tolerate=_list(
            (rule.text, f"on {_carriers(rule.count, 'node', rule.pools)}") for rule in cluster.rules
        )
        or "none",
    )
    if cluster.windows_taint:
        spec.insert(1, "systemTaints", mapping(windows=cluster.windows_taint))
        spec.yaml_set_comment_before_after_key("systemTaints", indent=2, before=_WINDOWS_TAINT)
    about_pools = [_WITH_POOLS, *(f"  {pool.title}: {pool.text}" for pool in cluster.pools)]
    if any(pool.kind == NODE_POOL for pool in cluster.pools):
        about_pools.append(PREFER)
    before = "\n".join(about_pools) if cluster.pools else _ARCHITECTURES
    spec.yaml_set_comment_before_after_key("clusterArchitectures", indent=2, before=before)
    tainted = any(subject.startswith("taint ") for subject, _ in cluster.unused)
    none = _NONE_USED if tainted else _NO_TAINT_ANYWHERE if cluster.pools else _NO_TAINT
    about = [_TAINTS if cluster.rules else none]
    if cluster.unused:
        about += ["Not used:", *(f"  {subject}: {reason}" for subject, reason in cluster.unused)]
    spec.yaml_set_comment_before_after_key("tolerate", indent=2, before="\n".join(about))
    root = mapping(apiVersion=API_VERSION, kind=KIND, spec=spec)
    root.yaml_set_start_comment(_HEAD)
    return written(root)


def _bringers(name: str, number: int, cluster: NodeSummary) -> str:
    pools = list(dict.fromkeys(pool.title for pool in cluster.pools if name in pool.architectures))
    return _carriers(number, "Windows node" if "/" in name else "Linux node", pools)


def _carriers(number: int, node: str, pools: Sequence[str]) -> str:
    """`2 Linux nodes, NodePool default`."""
    return ", ".join(filter(None, (count(number, node) if number else "", few(pools, SHOWN_POOLS))))


def _list(entries: Iterable[tuple[str, str]]) -> CommentedSeq:
    pairs = list(entries)
    sequence = CommentedSeq(entry for entry, _comment in pairs)
    column = max((len(entry) for entry, _comment in pairs), default=0) + len("    - ''  ")
    for index, (_entry, comment) in enumerate(pairs):
        sequence.yaml_add_eol_comment(comment, index, column)
    return sequence
