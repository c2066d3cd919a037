"""`--helm CHART [ARGUMENT]..` and `--kustomize DIR [ARGUMENT]..`: a renderer that archfit runs itself.

The words before the flag are archfit's. Of those behind it

    a flag that archfit has and the renderer lacks     is archfit's, with its value:  --helm ./chart --diff
    a flag that both have (BOTH_HAVE)                  is the renderer's
    what follows `--`                                  is the renderer's
    any other word                                     is the renderer's

A test compares BOTH_HAVE with the flags of Helm 3 and 4.
"""

from __future__ import annotations

import shlex
import shutil
import signal
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import ArchfitError, UsageError
from archfit.cli.inputs.input_files import Input, Inputs
from archfit.cli.inputs.renderer_process import check, end_on_term, start
from archfit.cli.usage.command_row import Command, flags_of
from archfit.startup.record import Record

HELM, KUSTOMIZE = "--helm", "--kustomize"
BOTH_HAVE = frozenset(
    ("--ca-file", "--color", "--kubeconfig", "--namespace", "-n", "--timeout", "--version", "--debug")
)
LONGEST_SECONDS = 300.0
_METAVARS = {HELM: "CHART", KUSTOMIZE: "DIR"}


class Rendering(Record):
    """A renderer to run. flag: HELM or KUSTOMIZE. words: what it gets, as the user wrote it."""

    flag: str
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """What runs, as the user would write it."""
        return "helm template" if self.flag == HELM else "kustomize build"


def taken_apart(argv: Sequence[str], switches: Mapping[str, bool]) -> tuple[list[str], Rendering | None]:
    """Archfit's words, and the renderer's. Raises UsageError.

    switches: every flag of the command, and whether it takes no value.
    """
    before = argv[: argv.index("--")] if "--" in argv else argv
    at = next((at for at, word in enumerate(before) if word.partition("=")[0] in _METAVARS), None)
    if at is None:
        return list(argv), None
    flag, equals, first = argv[at].partition("=")
    rest = list(argv[at + 1 :])
    if not equals:
        first = rest.pop(0) if rest else ""
    if not first or first.startswith("-"):
        raise UsageError(f"{flag}: has no value: write {flag} {_METAVARS[flag]}")
    own, theirs = list(argv[:at]), [first]
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.partition("=")
        if word == "--":
            theirs += rest
            break
        if name in _METAVARS:
            raise UsageError(f"{name}: archfit runs one renderer at a time: leave out {name}, or {flag}")
        if name in switches and name not in BOTH_HAVE:
            own.append(word)
            if not switches[name] and not equals and rest:
                own.append(rest.pop(0))
        else:
            theirs.append(word)
    return own, Rendering(flag, tuple(theirs))


def rendered(rendering: Rendering, stdin: bytes, stderr: TextIO, environ: Mapping[str, str]) -> bytes:
    """What the renderer writes; its warnings go to stderr. Raises ArchfitError with its last words if it fails."""
    before = signal.getsignal(signal.SIGTERM)
    end_on_term()
    try:
        child = start([*_program(rendering, environ), *rendering.words], environ, stdin)
        try:
            ended = child.finish(LONGEST_SECONDS)
        except ArchfitError as error:
            raise ArchfitError(f"{rendering.name}: {error}") from None
    finally:
        signal.signal(signal.SIGTERM, before)
    check(ended, rendering.name)
    stderr.write(ended.stderr.decode(errors="replace"))
    return ended.stdout


def _program(rendering: Rendering, environ: Mapping[str, str]) -> list[str]:
    path = environ.get("PATH")
    if rendering.flag == HELM:
        helm = shutil.which("helm", path=path)
        if helm:
            return [helm, "template"]
        raise ArchfitError(
            "--helm: helm is not on PATH: install it (https://helm.sh/docs/intro/install/), or render elsewhere: "
            f"helm template {_chart(rendering)} | archfit"
        )
    kustomize, kubectl = shutil.which("kustomize", path=path), shutil.which("kubectl", path=path)
    if kustomize:
        return [kustomize, "build"]
    if kubectl:
        return [kubectl, "kustomize"]
    raise ArchfitError(
        "--kustomize: neither kustomize nor kubectl is on PATH: install one "
        "(https://kubectl.docs.kubernetes.io/installation/kustomize/), or build elsewhere: "
        f"kustomize build {_chart(rendering)} | archfit"
    )


def _chart(rendering: Rendering) -> str:
    """The first word; the others may hold a password, as in `--set`."""
    return shlex.quote(rendering.words[0]) + (" .." if len(rendering.words) > 1 else "")


def without_renderer(command: Command, argv: Sequence[str]) -> tuple[list[str], Rendering | None]:
    """The words of a command line that are archfit's, and the renderer that the others ask for. Raises UsageError.

    command: one with the flags of `RENDERERS`.
    """
    return taken_apart(argv, {name: values is None for name, values in flags_of(command).items()})


def rendered_inputs(
    rendering: Rendering, words: Sequence[str], stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> Inputs:
    """The renderer's output as the only input. words: of the command, which must name none. Raises ArchfitError."""
    if words:
        raise UsageError(
            f"{words[0]!r}: name files, or a chart with {rendering.flag}, but not both: run archfit for each"
        )
    reads = any(word == "-" or word.endswith("=-") for word in rendering.words)  # as in `-f -`
    data = rendered(rendering, standard_streams.read(stdin) if reads else b"", stderr, environ)
    return Inputs((Input("", data, below=rendering.name.replace(" ", "-")),))
