"""A CI/CD component as GitLab reads it: the header declares inputs, their values are put into the jobs' strings.

    jobs = component_jobs(text, {"path": "rendered"})
    ran = run_job(jobs["archfit"], folder, {"PATH": ..})

A string that is an input alone takes the input's type. A variable with `expand: false` reaches the job as it is; the
others are expanded, so one with a `$` is refused here. The lines of a script run in one shell that ends at the first
failure. Source: GitLab, doc/ci/inputs/_index.md; gitlab-runner, shells/bash.go.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import machine

_TYPES = {"string": str, "boolean": bool, "number": int, "array": list}
_USE = re.compile(r"\$\[\[ *inputs\.([a-z-]+) *\]\]")
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
SH = ("sh", "-e", "-c")


def component_jobs(text: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The component's part of the pipeline. Raises AssertionError for what GitLab would refuse."""
    header, body = yaml.safe_load_all(text)
    assert set(header) == {"spec"}
    known = header["spec"]["inputs"]
    assert set(inputs) <= set(known), "GitLab refuses unknown inputs"
    values = {}
    for name, row in known.items():
        assert name in inputs or "default" in row, f"GitLab demands the input {name}"
        values[name] = inputs.get(name, row.get("default"))
        assert type(values[name]) is _TYPES[row.get("type", "string")], name
        assert len(str(values[name])) < 1024
    found: dict[str, Any] = _put(body, values)
    return found


def run_job(
    job: Mapping[str, Any], folder: Path, environ: Mapping[str, str], shell: Sequence[str] = BASH
) -> subprocess.CompletedProcess[str]:
    """Run the script of a job."""
    variables = {}
    for name, value in job.get("variables", {}).items():
        if isinstance(value, dict):
            assert value["expand"] is False
            variables[name] = value["value"]
        else:
            variables[name] = str(value).lower() if isinstance(value, bool) else value
            assert "$" not in variables[name]
    return machine.run(
        [*shell, "\n".join(job["script"])],
        cwd=folder,
        env={**os.environ, "CI": "true", "GITLAB_CI": "true", **environ, **variables},
        stdin=subprocess.DEVNULL,
    )


def _put(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, dict):
        return {_put(key, values): _put(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_put(value, values) for value in node]
    if not isinstance(node, str):
        return node
    whole = _USE.fullmatch(node)
    if whole:
        return values[whole[1]]
    put = _USE.sub(lambda match: str(values[match[1]]), node)
    assert "$[[" not in put
    return put
