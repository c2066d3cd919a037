"""Real Helms on the project's charts, with archfit as their post-renderer, against a registry on loopback.

    helms("helm4").template("shop")                       Ran: how `helm template demo CHART` ended
    helms("helm4").template("shop", "--set", "a=b")       more words for Helm
    helms("helm4").recorded("shop")                       Recorded: what archfit was given and what it wrote

    helm3    PATH holds archfit; --post-renderer archfit
    helm4    HELM_PLUGINS names a directory that `archfit setup helm --into` wrote; PATH holds no archfit

The recorder is a script in archfit's place: it keeps both streams and starts the same program.
"""

import os
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import machine
from archfit.integrations.helm.setup_files import plugin as plugin_yaml
from program import PROGRAM, Ran

CHARTS = machine.ROOT / "fixtures" / "charts"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
RECORDER = """\
#!/bin/sh
cat > "$RECORDED/given"
{program} "$@" < "$RECORDED/given" > "$RECORDED/written" 2> "$RECORDED/said"
status=$?
cat "$RECORDED/written"
cat "$RECORDED/said" >&2
exit $status
"""


class Recorded(NamedTuple):
    """One call of archfit by Helm: its standard input, output and error, and how Helm ended."""

    given: bytes
    written: bytes
    said: str
    helm: Ran


def start(words: list[str], environ: dict[str, str], cwd: Path | None = None) -> Ran:
    """Run a program with no input and exactly this environment."""
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, env=environ, cwd=cwd, capture_output=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def set_up(directory: Path) -> None:
    """Install the plugin with the real command."""
    environ = {**os.environ, "PATH": SYSTEM_PATH}
    start([str(PROGRAM), "setup", "helm", "--into", str(directory)], environ).ok()


class Helm:
    """One Helm with archfit behind it. name: "helm3" or "helm4"; folder: of its own."""

    def __init__(self, name: str, folder: Path, mirrors: str) -> None:
        self.name = name
        self.program = machine.tool(name)
        self.folder = folder
        self.environ = {**os.environ, "ARCHFIT_MIRROR": mirrors, "PATH": SYSTEM_PATH}
        if name == "helm4":
            set_up(folder / "plugins")
            self.environ["HELM_PLUGINS"] = str(folder / "plugins")
        else:
            self.environ["PATH"] = f"{PROGRAM.parent}:{SYSTEM_PATH}"

    def run(self, *words: str, cwd: Path | None = None, **environ: str) -> Ran:
        """`helm WORDS`, without a post-renderer unless the words name one."""
        return start([self.program, *words], {**self.environ, **environ}, cwd)

    def plain(self, chart: str | Path, *words: str) -> bytes:
        """`helm template demo CHART` without archfit."""
        return self.run("template", "demo", str(CHARTS / chart), *words).ok()

    def template(self, chart: str | Path, *words: str, **environ: str) -> Ran:
        """`helm template demo CHART --post-renderer archfit`."""
        return self.run(
            "template", "demo", str(CHARTS / chart), "--post-renderer", "archfit", *words, cwd=None, **environ
        )

    def recorded(self, chart: str | Path, *words: str, command: str = "template", **environ: str) -> Recorded:
        """The same, and what archfit was given and wrote."""
        folder = self.folder / "recorded"
        renderer = self._recorder(folder)
        more = {"RECORDED": str(folder), **environ}
        if self.name == "helm4":
            more["HELM_PLUGINS"] = str(folder / "plugins")
        ran = self.run(
            command, "demo", str(CHARTS / chart), "--post-renderer", renderer, *words, cwd=None, **more
        )
        if not (folder / "given").exists():
            raise AssertionError(f"{self.name} did not start archfit: {ran.stderr}")
        given, written, said = ((folder / name).read_bytes() for name in ("given", "written", "said"))
        for name in ("given", "written", "said"):
            (folder / name).unlink()
        return Recorded(given, written, said.decode(), ran)

    def _recorder(self, folder: Path) -> str:
        """The recorder's name for `--post-renderer`."""
        plugin = folder / "plugins" / "archfit"
        script = plugin / "recorder"
        if not script.exists():
            plugin.mkdir(parents=True)
            program = self.folder / "plugins" / "archfit" / "archfit" if self.name == "helm4" else PROGRAM
            script.write_text(RECORDER.format(program=shlex.quote(str(program))), encoding="utf-8")
            script.chmod(0o755)
            (plugin / "plugin.yaml").write_text(plugin_yaml("${HELM_PLUGIN_DIR}/recorder"), encoding="utf-8")
        return "archfit" if self.name == "helm4" else str(script)


def sources(stream: bytes) -> list[bytes]:
    """The `# Source:` lines, each of which follows its separator directly."""
    lines = stream.splitlines()
    named = [index for index, line in enumerate(lines) if line.startswith(b"# Source: ")]
    if any(lines[index - 1] != b"---" for index in named):
        raise AssertionError("a `# Source:` line does not follow its separator")
    return [lines[index] for index in named]
