"""Records the cases of an operator: object and placed object through the real operator, in two control planes."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from control_plane import Refused
from operators import recordings
from operators.build import Built, Failed
from operators.definition import Operator
from operators.made import Object, stream
from operators.recordings import Placed
from operators.site import Site, documents

_MESSAGE_LENGTH = 240


class Wanted(NamedTuple):
    """Something to create in a namespace of its own. folder: where what is made of it is written, as `name`."""

    namespace: str
    text: bytes
    folder: Path
    name: str


def record(operator: Operator, built: Built, only: str = "") -> int:
    """Write the recordings of the operator's cases, all or none; how many. Raises Failed."""
    cases = [case for case in operator.cases if only in ("", case.name)]
    if not cases:
        raise Failed(f"reading {operator.folder}", "there is no CASE/object.yaml")
    with tempfile.TemporaryDirectory(prefix="archfit-operators-") as name:
        folder = Path(name)
        answers = {
            case: recordings.placed((case / "object.yaml").read_bytes(), recordings.ALL) for case in cases
        }
        written = _as_written(operator, built, folder, answers)
        wanted = _as_placed(folder, answers)
        outcomes: dict[str, str] = {}
        for number, plane in enumerate(_planes(wanted, _cluster_scoped(operator))):
            with Site(operator, built, _made(folder / f"plane-{number}")) as site:
                outcomes |= _made_of(site, plane)
        for case in cases:
            _publish(case, folder / case.name, written[case.name], outcomes)
    return len(cases)


def _as_written(
    operator: Operator, built: Built, folder: Path, answers: Mapping[Path, Placed]
) -> dict[str, str]:
    """What applying the placed object over the written one says, by case."""
    wanted = [
        Wanted(case.name, (case / "object.yaml").read_bytes(), folder / case.name, "made.yaml")
        for case in answers
    ]
    said = {}
    with Site(operator, built, _made(folder / "written")) as site:
        for name, message in _made_of(site, wanted, answers).items():
            if message:
                raise Failed(f"creating {name}/object.yaml", message)
        for case, answer in answers.items():
            placed = [] if answer.text is None else _documents(answer.text, case.name)
            refusals = (site.update(one, case.name) for one in placed)
            said[case.name] = _short(next(filter(None, refusals), ""))
    return said


def _as_placed(folder: Path, answers: Mapping[Path, Placed]) -> list[Wanted]:
    wanted = []
    for case, answer in answers.items():
        target, text = folder / case.name, (case / "object.yaml").read_bytes()
        if answer.text is not None:
            _write(target / "placed.yaml", answer.text)
            if answer.text != text:
                wanted.append(Wanted(case.name, answer.text, target, "made-placed.yaml"))
        if recordings.has_turns(case):
            for number, (_, stream_) in enumerate(recordings.turns(text), 1):
                turn = recordings.placed(stream_, recordings.ALL)
                _made(target / f"turn-{number}")
                if turn.text is not None:
                    _write(target / f"turn-{number}" / "placed.yaml", turn.text)
                    name = f"{case.name}-turn-{number}"
                    wanted.append(Wanted(name, turn.text, target / f"turn-{number}", "made-placed.yaml"))
    return wanted


def _planes(wanted: list[Wanted], cluster_scoped: set[str]) -> list[list[Wanted]]:
    planes: list[tuple[set[str], list[Wanted]]] = []
    for one in wanted:
        fixed = {
            f"{value['kind']}/{value['metadata'].get('name')}"
            for value in _documents(one.text)
            if value["kind"] in cluster_scoped
        }
        free = next((plane for plane in planes if not fixed & plane[0]), None)
        if free is None:
            planes.append((fixed, [one]))
        else:
            free[0].update(fixed)
            free[1].append(one)
    return [plane for _, plane in planes]


def _cluster_scoped(operator: Operator) -> set[str]:
    definitions = (
        one for one in documents(operator, operator.crds) if one["kind"] == "CustomResourceDefinition"
    )
    return {one["spec"]["names"]["kind"] for one in definitions if one["spec"]["scope"] == "Cluster"}


def _made_of(site: Site, wanted: list[Wanted], cases: Iterable[Path] = ()) -> dict[str, str]:
    """Create all, wait, and write what was made. What the API server said of each that it refused, by namespace.

    cases: whose earlier recordings say what to wait for.
    """
    said, expected = {}, {}
    earlier = {case.name: recordings.read(path) for case in cases if (path := case / "made.yaml").exists()}
    for one in wanted:
        site.namespace(one.namespace)
        said[one.namespace] = _created(site, one)
        if not said[one.namespace]:
            expected[one.namespace] = earlier.get(one.namespace, [])
    site.settle(expected)
    for one in wanted:
        if not said[one.namespace]:
            _write(one.folder / one.name, stream(site.made.of(one.namespace)))
    return said


def _created(site: Site, one: Wanted) -> str:
    for value in _documents(one.text, one.namespace):
        try:
            site.create(value, one.namespace)
        except Refused as error:
            return _short(f"{value['kind']} {value['metadata'].get('name', '')}: {error}")
    return ""


def _short(message: str) -> str:
    """A message without addresses in memory, and without the whole objects that some webhooks print."""
    plain = re.sub(r"0x[0-9a-f]+", "0x", message)
    return (
        plain
        if len(plain) <= _MESSAGE_LENGTH
        else f"{plain[: _MESSAGE_LENGTH // 2]} .. {plain[-_MESSAGE_LENGTH // 2 :]}"
    )


def _publish(case: Path, made: Path, update: str, outcomes: Mapping[str, str]) -> None:
    """Put a new recording in the place of an old one."""
    turned = {}
    for folder in sorted(made.glob("turn-*")):
        number = folder.name.removeprefix("turn-")
        turned[number] = {
            "create": outcomes.get(f"{case.name}-{folder.name}", ""),
            "digests": recordings.digests(folder),
        }
    outcome = {
        "create": outcomes.get(case.name, ""),
        "update": update,
        "digests": recordings.digests(made),
        "turns": dict(sorted(turned.items(), key=lambda one: int(one[0]))),
    }
    _write(made / "outcome.json", (json.dumps(outcome, indent=1, sort_keys=True) + "\n").encode())
    for path in case.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "object.yaml":
            path.unlink()
    shutil.copytree(made, case, dirs_exist_ok=True)


def _documents(text: bytes, namespace: str = "") -> list[Object]:
    """The objects of a stream; "{namespace}" in it is the one that they are put into."""
    return [one for one in yaml.safe_load_all(text.replace(b"{namespace}", namespace.encode())) if one]


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
