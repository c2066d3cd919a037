"""What is made from the code agrees with it: man page, completion, schemas, and the pages' tables."""

from __future__ import annotations

import json
import shutil

from places import ROOT, Release, Wrong, run

_SCHEMAS = "transformer/archfit/cli/schemas"
_COMPLETIONS = "transformer/archfit/cli/completions/archfit"
_UPDATED = (
    ("docs/archfit.1", "command_pages", ("man",)),
    (f"{_SCHEMAS}/archfit.schema.json", "option_pages", ("schema",)),
    (f"{_SCHEMAS}/audit.schema.json", "record_schemas", ("audit",)),
    (f"{_SCHEMAS}/explain.schema.json", "record_schemas", ("explain",)),
    *((f"{_COMPLETIONS}.{shell}", "completion_scripts", (shell,)) for shell in ("bash", "zsh", "fish")),
    ("docs/configuration.md", "option_pages", ("update", "docs/configuration.md")),
)


def check(release: Release) -> str:
    """Raises Wrong with the command that renews a file."""
    for name, script, words in _UPDATED:
        fresh = run(release.python, ROOT / "scripts" / f"{script}.py", *words)
        if fresh != (ROOT / name).read_text(encoding="utf-8"):
            raise Wrong(f"{name} is out of date: python scripts/{script}.py {' '.join(words)}")
    for schema in (ROOT / _SCHEMAS).iterdir():
        json.loads(schema.read_text(encoding="utf-8"))
    for shell in ("bash", "zsh", "fish"):
        script = run(release.python, "-m", "archfit", "completion", shell)
        place = release.work / f"completion.{shell}"
        place.write_text(script, encoding="utf-8")
        if shutil.which(shell):
            run(shell, "-n", place)
    return "man page, schemas, completion, tables"
