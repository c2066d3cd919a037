"""`archfit setup chart [--into DIR] [--force]`: the Helm chart that installs what runs in a cluster.

The chart is in the wheel, and in charts/archfit of a checkout. Helm makes the objects; this writes the chart out and
says how. `setup webhook`, `setup policy` and `setup fleet` of earlier versions answer with the same commands.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from archfit import __version__
from archfit.cli.setup.owned_files import remove_files, write_texts
from archfit.cli.usage.command_table import BY_NAME

_DEFAULT = "archfit-chart"
_IMAGE = "registry.example.com/archfit"
_INSTALLS = {
    "webhook": (("the webhook", "archfit", ""),),
    "policy": (("the policy, and the job that renews it", "archfit", "mode=policy"),),
    "fleet": (
        ("an audit each night", "archfit-nightly", "mode=audit,audit.cron.enabled=true"),
        ("an audit in parts, now", "archfit-audit", "mode=audit,audit.job.enabled=true --timeout 8h"),
    ),
}
"""The command of an earlier version -> what there is to install: its name, the release, more words for Helm."""


def write_chart(argv: Sequence[str], stderr: TextIO) -> int:
    """The command, after the words `setup chart`. The exit code; raises ArchfitError."""
    flags = BY_NAME["setup chart"].flags_alone(argv)
    folder = flags.into or _DEFAULT
    if flags.remove:
        stderr.write(remove_files(folder, _texts(), "chart"))
        return 0
    done = write_texts(folder, _texts(), force=flags.force)
    lines = [
        f"  {_command(folder, release, words)}   # {name}"
        for installs in _INSTALLS.values()
        for name, release, words in installs
    ]
    stderr.write(
        "\n".join((done, f"Build the image {_IMAGE}:{__version__}, name yours, and run one of:", *lines, ""))
    )
    return 0


def retired(tool: str) -> str:
    """What takes the place of `archfit setup TOOL`, "" for what there never was."""
    commands = [_command(_DEFAULT, release, words) for _name, release, words in _INSTALLS.get(tool, ())]
    if not commands:
        return ""
    return (
        f"archfit setup {tool}: the Helm chart installs it: run archfit setup chart --into {_DEFAULT}, and then "
        f"{', or '.join(commands)}"
    )


def _command(folder: str, release: str, words: str) -> str:
    settings = ",".join((f"image.repository={_IMAGE}", *filter(None, (words,))))
    install = f"helm upgrade --install {release} {shlex.quote(folder)}"
    return f"{install} --namespace archfit --create-namespace --set {settings}"


def chart_folder() -> Path:
    """Where the chart is that is part of this archfit."""
    package = Path(__file__).resolve().parents[2]
    own = package / "chart"
    return own if own.is_dir() else package.parents[1] / "charts" / "archfit"


def _texts() -> Mapping[str, str]:
    folder = chart_folder()
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {os.fspath(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}
