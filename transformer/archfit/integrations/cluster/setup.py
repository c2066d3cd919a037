"""`archfit setup cluster [FILE|-] [--arch-taint KEY]... [-o FILE]`: an archfit.yaml from the cluster's nodes.

    kubectl get nodes -o json | archfit setup cluster -o archfit.yaml

    stdin or FILE    the nodes, JSON or YAML
    stdout or -o     the configuration file, with comments that say where each value comes from
    stderr           what was not used, and why; the same stands in the file as comments

What the nodes say is worked out in `options.cluster`. The same nodes give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import BinaryIO, TextIO

from archfit import standard_streams
from archfit.cluster.nodes import Cluster, counted, nodes, summarised
from archfit.errors import InvalidInput, UsageError
from archfit.files import write_new
from archfit.options.arguments import Parser, wanted
from archfit.options.config_yaml import read
from archfit.options.file import API_VERSION, KIND
from archfit.options.problem import Problem
from archfit.options.text_form import label_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ruamel.yaml.comments import CommentedSeq


_HEAD = """\
Written by `archfit setup cluster` from the nodes of a cluster. Use it with --config or ARCHFIT_CONFIG."""
_ARCHITECTURES = """\
The architectures of the cluster's Linux nodes, and of its Windows nodes as windows/amd64.
Add those of node pools that have no node at the moment."""
_TAINTS = "Tolerated where the images run on every architecture after the @."
_NO_TAINT = "No node has a taint that keeps pods of other architectures away."
HELP = """\
usage: archfit setup cluster [FILE|-] [--arch-taint KEY]... [-o FILE]

Writes a configuration file from the nodes of a cluster:

  kubectl get nodes -o json | archfit setup cluster -o archfit.yaml

  FILE                  Where `kubectl get nodes -o json` (or yaml) was stored; default: standard input.
  --arch-taint KEY      A taint that says something about architectures, beside kubernetes.io/arch and
                        beta.kubernetes.io/arch. May be repeated.
  -o, --output FILE     Where to write; default: standard output. An existing file is never overwritten.
  -h, --help            Shows this and ends.
"""


def run(argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO) -> int:
    """The command, after the words `setup cluster`. The exit code; raises UsageError and InvalidInput."""
    if wanted(argv) == "help":
        stdout.write(HELP.encode())
        return 0
    parser = Parser("archfit setup cluster")
    parser.add_argument("--arch-taint", dest="keys", action="append", default=[], metavar="KEY")
    parser.add_argument("-o", "--output", metavar="FILE")
    found, words = parser.read(argv)
    if len(words) > 1:
        raise UsageError(
            f"{words[1]!r} is one file too many: name one, or pipe `kubectl get nodes -o json` in"
        )
    content = _input(words[0] if words else "-", stdin)
    cluster = summarised(nodes(_decoded(content)), [_key(key) for key in found.keys])
    text = written(cluster).encode()
    if found.output is None:
        stdout.write(text)
    else:
        write_new(found.output, text)
    stderr.writelines(f"not used: {subject}: {reason}\n" for subject, reason in cluster.unused)
    if found.output is not None:
        stderr.write(f"written: {found.output}; use it with --config or ARCHFIT_CONFIG\n")
    return 0


def _key(text: str) -> str:
    try:
        return label_key(text)
    except Problem as problem:
        raise UsageError(f"--arch-taint: {problem.message}") from None


def _input(path: str, stdin: BinaryIO) -> bytes:
    if path == "-":
        if stdin.isatty():
            raise UsageError(
                "standard input is a terminal: pipe `kubectl get nodes -o json` in, or name a file"
            )
        return standard_streams.read(stdin)
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path!r} ({error.strerror}): name a file that can be") from None


def _decoded(content: bytes) -> object:
    """JSON, else YAML. Raises InvalidInput."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(
            "the list of nodes is not UTF-8: give it the output of kubectl unchanged"
        ) from None
    if not text.strip():
        raise InvalidInput(
            "the list of nodes is empty: see whether `kubectl get nodes -o json` prints anything"
        )
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput("the list of nodes is nested too deeply to be one") from None
    except ValueError as error:
        if text.lstrip()[0] in "{[":
            raise InvalidInput(f"the list of nodes is not complete JSON: {error}") from None
    try:
        return read(text).values
    except Problem as problem:
        message = f"the list of nodes is neither JSON nor YAML as kubectl writes it: {problem.message}"
        raise InvalidInput(message, line=problem.line) from None


def written(cluster: Cluster) -> str:
    """The configuration file, with comments that say where each value comes from."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    spec = CommentedMap()
    spec["clusterArchitectures"] = _list(
        (name, counted(count, "Windows node" if "/" in name else "Linux node"))
        for name, count in cluster.architectures
    )
    spec.yaml_set_comment_before_after_key("clusterArchitectures", indent=2, before=_ARCHITECTURES)
    spec["tolerate"] = (
        _list((rule.text, f"on {counted(rule.count, 'node')}") for rule in cluster.rules) or "none"
    )
    about = [_TAINTS if cluster.rules else _NO_TAINT]
    if cluster.unused:
        about += ["Not used:", *(f"  {subject}: {reason}" for subject, reason in cluster.unused)]
    spec.yaml_set_comment_before_after_key("tolerate", indent=2, before="\n".join(about))
    root = CommentedMap(apiVersion=API_VERSION, kind=KIND, spec=spec)
    root.yaml_set_start_comment(_HEAD)
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 4096
    text = StringIO()
    yaml.dump(root, text)
    return text.getvalue()


def _list(entries: Iterable[tuple[str, str]]) -> CommentedSeq:
    """A list with a comment behind each entry, aligned."""
    from ruamel.yaml.comments import CommentedSeq

    pairs = list(entries)
    found = CommentedSeq(entry for entry, _comment in pairs)
    column = max((len(entry) for entry, _comment in pairs), default=0) + len("    - ''  ")
    for index, (_entry, comment) in enumerate(pairs):
        found.yaml_add_eol_comment(comment, index, column)
    return found
