"""The real kustomize, `kubectl kustomize` and a stand-in for docker, with archfit as their KRM function.

    site = Site(tmp_path, mirrors)
    site.example("exec")                         a copy of kustomize-plugin/examples/exec
    site.write("over/kustomization.yaml", ...)
    site.build("over")                           Ran: kustomize build --enable-alpha-plugins --enable-exec over
    site.kubectl("over", "--network")            kubectl kustomize --enable-alpha-plugins --network over
    site.docker                                  the arguments of each `docker` that was started

No container engine runs here. The stand-in keeps its arguments and starts archfit as a container would be: with the
environment that `-e` gives and nothing else, without a home, and for `--network none` in a network of its own.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import machine
from program import PROGRAM, Ran

EXAMPLES = machine.ROOT / "kustomize-plugin" / "examples"
_DOCKER = """\
#!/usr/bin/python3 -I
import json, os, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
environ = {{"PATH": "/usr/bin:/bin", "ARCHFIT_CACHE": "/tmp/archfit-none/lookups.sqlite", "ARCHFIT_NO_CACHE": "true"}}
for word, value in zip(words, words[1:]):
    if word in ("-e", "--env"):
        name, equals, text = value.partition("=")
        if equals or name in os.environ:
            environ[name] = text if equals else os.environ[name]
command = [{program!r}]
if words[words.index("--network") + 1] == "none":
    command = ["/usr/bin/unshare", *([] if os.geteuid() == 0 else ["-r"]), "-n", *command]
os.chdir("/")
os.execve(command[0], command, environ)
"""


class Site:
    """A folder of kustomizations. mirrors: the words that name the registry."""

    def __init__(self, folder: Path, mirrors: Sequence[str]) -> None:
        self.folder = folder / "site"
        self.folder.mkdir()
        self._log = folder / "docker.log"
        stand_in = folder / "bin" / "docker"
        stand_in.parent.mkdir()
        stand_in.write_text(_DOCKER.format(log=str(self._log), program=str(PROGRAM)), encoding="utf-8")
        stand_in.chmod(0o755)
        self.environ = {
            **os.environ,
            "PATH": f"{stand_in.parent}:{PROGRAM.parent}:/usr/local/bin:/usr/bin:/bin",
            "ARCHFIT_MIRROR": " ".join(mirrors[1::2]),
            "ARCHFIT_NO_CACHE": "true",
        }

    @property
    def docker(self) -> list[list[str]]:
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        return [json.loads(line) for line in lines]

    def example(self, name: str) -> Path:
        """A copy of an example, as the folder `name`."""
        return shutil.copytree(EXAMPLES / name, self.folder / name)

    def write(self, name: str, text: str) -> Path:
        """A file below the site."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def build(self, name: str, *words: str, flags: Sequence[str] = ("--enable-exec",), **environ: str) -> Ran:
        """`kustomize build`, from a directory that is not the kustomization's."""
        return self._run(
            [machine.tool("kustomize"), "build", "--enable-alpha-plugins", *flags, *words, name], environ
        )

    def kubectl(self, name: str, *words: str, **environ: str) -> Ran:
        """`kubectl kustomize`."""
        return self._run(
            [machine.tool("kubectl"), "kustomize", "--enable-alpha-plugins", *words, name], environ
        )

    def offline(self, name: str, *words: str) -> Ran:
        """`kustomize build` in a network of its own, which has no way out."""
        unshare = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-n"]
        words = (machine.tool("kustomize"), "build", "--enable-alpha-plugins", "--enable-exec", *words, name)
        return self._run([*unshare, *words], {"ARCHFIT_MIRROR": ""})

    def _run(self, words: list[str], environ: dict[str, str]) -> Ran:
        done = subprocess.run(
            words, cwd=self.folder, env={**self.environ, **environ}, capture_output=True, check=False
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode(errors="replace"))
