"""A composite action as GitHub's runner runs it: each step's script in bash, inputs as variables, files for outputs.

    runner = ActionRunner(ROOT / "action.yml", temporary folder, {"PIP_NO_INDEX": "1"})
    ran = runner.run(workspace, {"path": "rendered"})
    ran.status, ran.log, ran.commands, ran.outputs, ran.summary

Expressions are evaluated in `env` and in the action's outputs; one in a script is refused, as it would be code. A line
that begins with `::` is a command, up to `::stop-commands::TOKEN` and again from `::TOKEN::`. Source: actions/runner,
src/Runner.Worker: CompositeActionHandler.cs, ActionCommandManager.cs, FileCommandManager.cs and ScriptHandlerHelpers.cs
(bash --noprofile --norc -e -o pipefail).
"""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

_EXPRESSION = re.compile(r"\$\{\{ *(inputs|steps)\.([a-z-]+)(?:\.outputs\.([a-z-]+))? *\}\}")


class ActionRun(NamedTuple):
    """How the action ended.

    log: standard output and standard error of its steps. commands: the lines that the runner acts on.
    """

    status: int
    log: str
    commands: list[str]
    outputs: dict[str, str]
    summary: str


class ActionRunner:
    """An action. folder: RUNNER_TEMP, which all runs of a job share. environ: of the job."""

    def __init__(self, action: Path, folder: Path, environ: Mapping[str, str]) -> None:
        self.action: dict[str, Any] = yaml.safe_load(action.read_text(encoding="utf-8"))
        self._place, self._folder, self._environ = action.parent, folder, environ

    def run(self, workspace: Path, inputs: Mapping[str, str], **environ: str) -> ActionRun:
        """Run all steps, up to one that fails. Raises AssertionError for what the runner would refuse."""
        known = self.action["inputs"]
        assert set(inputs) <= set(known), "an unexpected input is only a warning to GitHub"
        values = {name: inputs.get(name, row.get("default", "")) for name, row in known.items()}
        steps: dict[str, dict[str, str]] = {}
        log, status, summary = "", 0, ""

        def evaluated(text: str) -> str:
            return _EXPRESSION.sub(
                lambda match: values[match[2]] if match[1] == "inputs" else steps[match[2]].get(match[3], ""),
                text,
            )

        for step in self.action["runs"]["steps"]:
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"
            output, told = self._file("output"), self._file("summary")
            steps[step["id"]] = {}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", self._script(step["run"])],
                cwd=workspace,
                env={
                    **os.environ,
                    **self._environ,
                    "GITHUB_ACTIONS": "true",
                    "CI": "true",
                    "RUNNER_TEMP": str(self._folder),
                    "GITHUB_WORKSPACE": str(workspace),
                    "GITHUB_ACTION_PATH": str(self._place),
                    "GITHUB_OUTPUT": str(output),
                    "GITHUB_STEP_SUMMARY": str(told),
                    **environ,
                    **{name: evaluated(str(value)) for name, value in step.get("env", {}).items()},
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            log += done.stdout.decode()
            summary += told.read_text(encoding="utf-8")
            pairs = [line.partition("=") for line in output.read_text(encoding="utf-8").splitlines()]
            assert all(equals for _, equals, _ in pairs), "GitHub refuses a line without ="
            steps[step["id"]] = {name: value for name, _, value in pairs}
            status = done.returncode
            if status:
                break
        outputs = {
            name: evaluated(row["value"])
            for name, row in self.action["outputs"].items()
            if _EXPRESSION.fullmatch(row["value"])[2] in steps  # type: ignore[index]
        }
        return ActionRun(status, log, _commands(log), outputs, summary)

    def _file(self, name: str) -> Path:
        path = self._folder / f"{name}-{os.urandom(6).hex()}"
        path.touch()
        return path

    def _script(self, text: str) -> Path:
        path = self._file("script")
        path.write_text(text, encoding="utf-8")
        return path


def _commands(log: str) -> list[str]:
    found, token = [], ""
    for line in (line.strip() for line in log.splitlines()):
        if token:
            token = "" if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.startswith("::"):
            found.append(line)
    assert not token, "the runner is left without commands"
    return found
