"""What is made from the code agrees with it: man page, completion, schemas, and the pages' tables."""

from __future__ import annotations

import json
import shutil

from places import ROOT, Release, Wrong, run

_UPDATED = (
    ("docs/archfit.1", "archfit.usage.pages", ("man",)),
    ("docs/archfit.schema.json", "archfit.options.describe", ("schema",)),
    ("docs/configuration.md", "archfit.options.describe", ("update", "docs/configuration.md")),
)


def check(release: Release) -> str:
    """Raises Wrong with the command that renews a file."""
    for name, module, words in _UPDATED:
        fresh = run(release.python, "-m", module, *words)
        if fresh != (ROOT / name).read_text(encoding="utf-8"):
            raise Wrong(f"{name} is out of date: python -m {module} {' '.join(words)}")
    for name in ("docs/archfit.schema.json", "docs/audit.schema.json"):
        json.loads((ROOT / name).read_text(encoding="utf-8"))
    for shell in ("bash", "zsh", "fish"):
        script = run(release.python, "-m", "archfit", "completion", shell)
        place = release.work / f"completion.{shell}"
        place.write_text(script, encoding="utf-8")
        if shutil.which(shell):
            run(shell, "-n", place)
    return "man page, schemas, completion, tables"
