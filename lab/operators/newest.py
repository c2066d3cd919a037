"""The newest version of an operator: a folder of its own beside the one that is recorded, until it is recorded too."""

import datetime as dt
import re
import shutil
from pathlib import Path

from operators.build import run
from operators.definition import Operator, operator

_RECORDED = re.compile(r"^recorded = .*$", re.MULTILINE)
_RELEASED = re.compile(r"^released = .*$", re.MULTILINE)
_VERSION = re.compile(r"^version = .*$", re.MULTILINE)


def newest(old: Operator) -> Operator:
    """The operator in its newest release of the same major version, itself where there is none newer. Raises Failed.

    Jars stay as they are: their repository is not asked.
    """
    if not old.module:
        return old
    words = ["go", "list", "-m", "-f", "{{.Version}} {{.Time}}", f"{old.module}@latest"]
    version, day, *_ = run(" ".join(words), words, old.folder).split()
    if version == old.version:
        return old
    name = old.folder.name.removesuffix(old.version.removeprefix("v")) + version.removeprefix("v")
    folder = old.folder.with_name(name)
    # What an earlier try left.
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(old.folder, folder, ignore=_recorded)
    text = (folder / "operator.toml").read_text(encoding="utf-8")
    text = _VERSION.sub(f'version = "{version}"', text, count=1)
    (folder / "operator.toml").write_text(_RELEASED.sub(f"released = {day}", text, count=1), encoding="utf-8")
    return operator(folder)


def dated(folder: Path, day: dt.date) -> None:
    """Write the day of the recording into its operator.toml."""
    path = folder / "operator.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(_RECORDED.sub(f"recorded = {day}", text, count=1), encoding="utf-8")


def _recorded(folder: str, names: list[str]) -> list[str]:
    """What the recorder writes, among the files of a folder."""
    if "object.yaml" not in names:
        return []
    return [name for name in names if name != "object.yaml"]
