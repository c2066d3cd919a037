"""SARIF of `archfit check` before Microsoft's validator: the rules of the standard, and those of GitHub."""

import json
import subprocess
from pathlib import Path

import pytest

from ci_checkout import WEB, pod

ACCEPTED = {
    "SARIF2005",  # an address of the tool: there is one once the pages are published
    "SARIF2017",  # a region: a finding in a template is about the whole file, and with a line codeql-action warns of
    # each fingerprint that is not the hash of that line
}


@pytest.fixture(scope="session")
def broken_rules(tool):
    """`broken_rules(path..)` are the rules that the validator finds broken, in all files at once."""
    program = Path(tool("sarif-multitool")).resolve().parent / "Sarif.Multitool"
    program.chmod(0o755)  # what the package does after it is installed, which nothing may do here

    def rules(folder: Path, *paths: Path) -> set[str]:
        names = [path.name for path in paths]
        words = ["validate", "--rule-kind", "Sarif;Ghas", "--output", "found.sarif", *names]
        subprocess.run(
            [program, *words],
            cwd=folder,
            env={"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "HOME": str(folder)},
            capture_output=True,
            check=False,
        )
        (run,) = json.loads((folder / "found.sarif").read_text())["runs"]
        assert not [one for one in run["invocations"] if not one["executionSuccessful"]]
        return {result["ruleId"] for result in run.get("results", [])}

    return rules


def test_the_validator_finds_nothing(archfit, lookups, broken_rules, tmp_path):
    files = {
        "web.yaml": WEB,
        "windows.yaml": pod("w", "x.example/both:1").replace("spec:\n", "spec:\n  os: {name: windows}\n"),
        "wrong.yaml": "a: 1\nb: 2\n",
        "a b\u00e9.yaml": "# Source: web/templates/pod.yaml\n" + WEB,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    runs = {
        "files.sarif": [*files, "--require=arm64,s390x"],
        "placement.sarif": ["web.yaml"],
        "outside.sarif": [str(tmp_path.parent / "outside.yaml")],
        "stream.sarif": ["-"],
        "clean.sarif": ["web.yaml", "--exclude=*"],
    }
    (tmp_path.parent / "outside.yaml").write_text(WEB)
    for name, words in runs.items():
        archfit(
            files["a b\u00e9.yaml"].encode(),
            "check",
            f"--format=sarif={name}",
            *words,
            cwd=tmp_path,
            **lookups,
        )
    assert broken_rules(tmp_path, *(tmp_path / name for name in runs)) <= ACCEPTED
