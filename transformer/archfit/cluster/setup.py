"""`archfit setup cluster [FILE|-] [--arch-taint KEY]... [-o FILE]`: an archfit.yaml from the cluster's nodes.

    kubectl get nodes -o json | archfit setup cluster -o archfit.yaml

    stdin or FILE    the nodes, JSON or YAML
    stdout or -o     the configuration file, with comments that say where each value comes from
    stderr           what was not used, and why; the same stands in the file as comments

`cluster.nodes` draws the conclusions. The same nodes give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import BinaryIO, TextIO

from ruamel.yaml.comments import CommentedSeq

from archfit.base.errors import InvalidInput, UsageError
from archfit.base.printable import count
from archfit.cli.setup.yaml_files import mapping, written
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.configuration_file import deliver, read_input
from archfit.cluster.nodes import NodeSummary, nodes, summarised
from archfit.options.config_file import API_VERSION, KIND
from archfit.options.config_yaml import read
from archfit.options.text_form import Problem, label_key

_SOURCE = "kubectl get nodes -o json"
_HEAD = """\
Written by `archfit setup cluster` from the nodes of a cluster. Use it with --config or ARCHFIT_CONFIG."""
_ARCHITECTURES = """\
The architectures of the cluster's Linux nodes, and of its Windows nodes as windows/amd64.
Add those of node pools that have no node at the moment."""
_TAINTS = "Tolerated where the images run on every architecture after the @."
_NO_TAINT = "No node of the list has a taint. Add those of node pools that have no node at the moment."
_NONE_USED = "None of the nodes' taints is used."


def run(argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO) -> int:
    """The command, after the words `setup cluster`. The exit code; raises UsageError and InvalidInput."""
    found, words = BY_NAME["setup cluster"].parser().read(argv)
    if len(words) > 1:
        raise UsageError(f"{words[1]!r} is one file too many: name one, or pipe `{_SOURCE}` in")
    content = read_input(words[0] if words else "-", stdin, _SOURCE)
    cluster = summarised(nodes(_decoded(content)), [_key(key) for key in found.arch_taint])
    messages = "".join(f"not used: {subject}: {reason}\n" for subject, reason in cluster.unused)
    advice = "use it with --config or ARCHFIT_CONFIG"
    deliver(configuration(cluster), found.output, stdout, stderr, messages, advice)
    return 0


def _key(text: str) -> str:
    try:
        return label_key(text)
    except Problem as problem:
        raise UsageError(f"--arch-taint: {problem.message}") from None


def _decoded(content: bytes) -> object:
    """JSON, else YAML. Raises InvalidInput."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the list of nodes is not UTF-8: pass the output of kubectl unchanged") from None
    if not text.strip():
        raise InvalidInput(f"the list of nodes is empty: check that `{_SOURCE}` prints the nodes")
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(
            f"the list of nodes is nested too deeply: pass the output of `{_SOURCE}`"
        ) from None
    except ValueError as error:
        if text.lstrip()[0] in "{[":
            raise InvalidInput(f"the list of nodes is not complete JSON: {error}") from None
    try:
        return read(text).values
    except Problem as problem:
        message = f"the list of nodes is neither JSON nor YAML as kubectl writes it: {problem.message}"
        raise InvalidInput(message, line=problem.line) from None


def configuration(cluster: NodeSummary) -> str:
    """The configuration file, with comments that say where each value comes from."""
    spec = mapping(
        clusterArchitectures=_list(
            (name, count(number, "Windows node" if "/" in name else "Linux node"))
            for name, number in cluster.architectures
        ),
        tolerate=_list((rule.text, f"on {count(rule.count, 'node')}") for rule in cluster.rules) or "none",
    )
    spec.yaml_set_comment_before_after_key("clusterArchitectures", indent=2, before=_ARCHITECTURES)
    tainted = any(subject.startswith("taint ") for subject, _ in cluster.unused)
    about = [_TAINTS if cluster.rules else _NONE_USED if tainted else _NO_TAINT]
    if cluster.unused:
        about += ["Not used:", *(f"  {subject}: {reason}" for subject, reason in cluster.unused)]
    spec.yaml_set_comment_before_after_key("tolerate", indent=2, before="\n".join(about))
    root = mapping(apiVersion=API_VERSION, kind=KIND, spec=spec)
    root.yaml_set_start_comment(_HEAD)
    return written(root)


def _list(entries: Iterable[tuple[str, str]]) -> CommentedSeq:
    """A list with a comment behind each entry, aligned."""
    pairs = list(entries)
    found = CommentedSeq(entry for entry, _comment in pairs)
    column = max((len(entry) for entry, _comment in pairs), default=0) + len("    - ''  ")
    for index, (_entry, comment) in enumerate(pairs):
        found.yaml_add_eol_comment(comment, index, column)
    return found
