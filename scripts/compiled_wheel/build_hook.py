"""The hook of hatchling for a compiled wheel: `HATCH_BUILD_HOOKS_ENABLE=1 python -m build --wheel`.

    transformer/archfit/*.py ── native_classes ──> mypyc ──> C ──> one library with all modules, and beside
                                                                   each module a small one that loads its part

The modules are those of warm_modules.txt, which a warm run loads. The wheel keeps their sources for tracebacks; Python
takes the compiled module beside a source. It needs a C compiler and the headers of Python. The same sources, compiler,
Python and SOURCE_DATE_EPOCH give the same bytes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = Path(__file__).parent
_PACKAGE = "archfit"
_OPTIONS = (
    "--config-file=",
    "--follow-imports=silent",
    "--disable-error-code=import-untyped",
    "--disable-error-code=import-not-found",
)


class CompiledWheel(BuildHookInterface[Any]):
    """Adds the compiled modules to the wheel, which is then for one Python and one machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is written. version: "standard", or "editable", which stays pure."""
        if version != "standard":
            return
        self._work = Path(tempfile.mkdtemp(prefix="archfit-compiled-"))
        built = compiled(Path(self.root) / "transformer" / _PACKAGE, self._work)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in sorted(built.rglob("*.so")):
            build_data["force_include"][str(path)] = path.relative_to(built).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Called when the wheel is written."""
        if version == "standard":
            shutil.rmtree(self._work)


def warm_modules() -> list[str]:
    """Paths below the package, such as `source/tree.py`."""
    return (PLACE / "warm_modules.txt").read_text(encoding="utf-8").split()


def compiled(package: Path, work: Path) -> Path:
    """Compiles the warm modules of the package in work; the folder of the libraries, as in the wheel."""
    sys.path.insert(0, str(PLACE))
    from native_classes import compilable, with_native_classes

    shutil.copytree(package, work / _PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PLACE / "native_record.py", work / _PACKAGE)
    chosen = [f"{_PACKAGE}/native_record.py"]
    for name in warm_modules():
        path = work / _PACKAGE / name
        source = path.read_text(encoding="utf-8")
        if compilable(source):
            path.write_text(with_native_classes(source), encoding="utf-8")
            chosen.append(f"{_PACKAGE}/{name}")
    before = Path.cwd()
    # mypyc writes the paths of the sources, as they are given, into the code that makes tracebacks.
    os.chdir(work)
    try:
        _build(chosen)
    finally:
        os.chdir(before)
    return work / "built"


def _build(paths: list[str]) -> None:
    from setuptools import Distribution  # isort: skip - mypyc looks whether it is loaded
    from mypyc.build import mypycify

    extensions = mypycify([*_OPTIONS, *paths], group_name=_PACKAGE, opt_level="3", debug_level="0")
    for extension in extensions:
        extension.extra_link_args.append("-Wl,-s")
    build: Any = Distribution({"name": _PACKAGE, "ext_modules": extensions}).get_command_obj("build_ext")
    build.build_lib, build.build_temp, build.parallel = "built", "temporary", os.cpu_count()
    build.ensure_finalized()
    build.run()
