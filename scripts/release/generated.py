"""What the program makes when it is asked: completion scripts, which their shells take, and schemas."""

from __future__ import annotations

import json
import shutil

from places import Release, run

_SCHEMAS = ("config", "report", "check", "explain", "audit", "inspect", "lock")


def check(release: Release) -> str:
    """Raises Wrong where a shell refuses its script."""
    for name in _SCHEMAS:
        json.loads(run(release.python, "-m", "archfit", "schema", name))
    for shell in ("bash", "zsh", "fish"):
        script = run(release.python, "-m", "archfit", "completion", shell)
        place = release.work / f"completion.{shell}"
        place.write_text(script, encoding="utf-8")
        if shutil.which(shell):
            run(shell, "-n", place)
    return "schemas, completion"
