"""`archfit patch` against a registry, and kustomize, real, as the judge of what it writes.

with runs(archfit, "patch") as run: run(stream)            how a command ended
built(folder, ["kustomize", "build"], base)                what it makes of a stream
built(folder, ["kustomize", "build"], base, component)     the same with a component, or Refused with its words
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from registry import Registry

import machine
from program import Ran

IMAGES = {"x.example/amd:1": ["linux/amd64"], "x.example/both:1": ["linux/amd64", "linux/arm64"]}


class Refused(Exception):
    """kustomize's own message."""


@contextmanager
def runs(archfit: Callable[..., Ran], *command: str) -> Iterator[Callable[..., Ran]]:
    """`run(stream, *words)` starts a command without a cache, while a registry serves IMAGES."""
    with Registry(IMAGES) as served:
        yield lambda text, *words, **more: archfit(
            text, *command, "--no-cache", *served.mirrors(), *words, **more
        )


def built(
    folder: Path,
    program: Sequence[str],
    base: bytes,
    component: bytes | None = None,
    kustomization: dict[str, Any] | None = None,
) -> list[str]:
    """The objects of a kustomization in `folder`, as sorted JSON texts. Raises Refused.

    component: the content of its file, in a folder of its own. kustomization: more of the outer one.
    """
    (folder / "archfit").mkdir(parents=True, exist_ok=True)
    (folder / "base.yaml").write_bytes(base)
    lines = {"resources": ["base.yaml"], **(kustomization or {})}
    if component is not None:
        lines["components"] = ["archfit"]
        (folder / "archfit" / "kustomization.yaml").write_bytes(component)
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(lines), encoding="utf-8")
    done = machine.run([*program, folder])
    if done.returncode:
        raise Refused(done.stderr)
    documents = yaml.load_all(done.stdout, Loader=yaml.CSafeLoader)
    return sorted(json.dumps(document, sort_keys=True, default=str) for document in documents)
