""".ci/run: its steps, and what it gives the tests of the environment that it was started in."""

import shutil
import subprocess

from machine import ROOT

# `make` writes down its words, and the variables that the tests would get.
MAKE = """\
#!/bin/sh
[ "$*" = "-s lowest-python" ] && exec echo python3
echo "$*" >> steps
env > variables
"""
NEEDED = {
    "GOPROXY": "off",
    "https_proxy": "http://127.0.0.1:1",
    "PIP_INDEX_URL": "http://x/",
    "NPM_CONFIG_X": "1",
}
FOREIGN = {
    "PYTHONUNBUFFERED": "1",
    "HELM_DEBUG": "1",
    "ARCHFIT_CONFIG": "/x",
    "GOOGLE_CLOUD": "x",
    "LANG": "C",
}


def test_ci_tests_everything_with_what_package_clients_need_and_nothing_else(tmp_path):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "make").write_text(MAKE, encoding="utf-8")
    (tmp_path / "bin" / "make").chmod(0o755)
    given = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), **NEEDED}
    subprocess.run([tmp_path / ".ci" / "run"], env={**given, **FOREIGN}, check=True, capture_output=True)
    assert (tmp_path / "steps").read_text(encoding="utf-8").splitlines() == [
        *("lint", "test-all", "lowest", "wheel-test", "smoke"),
        "-C lab campaign COUNT=60 SEED=1",
    ]
    variables = dict(
        line.split("=", 1) for line in (tmp_path / "variables").read_text(encoding="utf-8").splitlines()
    )
    of_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert {name: text for name, text in variables.items() if name not in of_the_shell} == {
        **given,
        "ARCHFIT_TEST_MISSING": "fail",
        "PYTHON": "python3",
    }
