"""A repository as a CI system checks it out, with manifests of pods."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from machine import ROOT

GIT = ("git", "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main")


def pod(name: str, image: str) -> str:
    """A manifest; its image stands in line 8."""
    return f"""\
apiVersion: v1
kind: Pod
metadata:
  name: {name}
spec:
  containers:
    - name: a
      image: {image}
"""


WEB, API = pod("web", "x.example/amd:1"), pod("api", "x.example/both:1")


CONFIG = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec:\n  clusterArchitectures: [amd64, s390x]\n"
LOCKED = "x.example/locked:1"
LOCK = json.dumps(
    {
        "version": 1,
        "images": {LOCKED: {"digest": f"sha256:{'0' * 64}", "kind": "index", "platforms": ["linux/amd64"]}},
    }
)
"""A lock file with one image, which no registry of the tests has."""


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files, with their folders."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def checkout(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder as a Git repository that holds the files, committed."""
    write_files(folder, files)
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Begin"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    return folder


_OWNED = "open({place!r}, 'a').write(__file__ + '\\n'); raise SystemExit(0)\n"
_BUILD = """\
[build-system]
requires = []
build-backend = "hook"
backend-path = ["."]
[tool.pytest.ini_options]
python_files = "*.py"
"""


def hostile_files(place: Path) -> dict[str, str]:
    """Files of a pull request which, if Python imports one, write a line to `place`.

    They have the names of modules that an installation and a check import: from the working folder, from PYTHONPATH or
    by a hook of Python, pip or pytest.
    """
    modules = (
        "archfit", "venv", "ensurepip", "pip", "json", "yaml", "httpx", "hatchling", "encodings", "re", "os",
        "sitecustomize", "usercustomize", "conftest", "setup", "hook",
    )  # fmt: skip
    owned = _OWNED.format(place=str(place))
    return {
        **{f"{name}.py": owned for name in modules},
        **{f"{name}/__init__.py": owned for name in ("archfit", "pip", "json", "encodings")},
        "pyproject.toml": _BUILD,
        "owned.pth": f"import os; open({str(place)!r}, 'a').write('pth')\n",
        "pyvenv.cfg": "home = .\ninclude-system-site-packages = true\n",
        "pip.conf": "[global]\nno-binary = :all:\n",
    }


def page_blocks(page: str, language: str) -> list[str]:
    """The blocks of a page of the documentation, as written."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
