"""The part `helmfile`: helmfile and helm-diff go on with a release that began without archfit.

    helm install     without archfit
    helmfile         a diff that shows archfit's part alone; apply; a diff that shows nothing; apply; sync; destroy

The chart and the registry are those of the part `helm`. Wrong is a diff with another line, a workload that gets other
pods where the diff was empty, and what `destroy` leaves.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import machine
from helm_runs import start
from program import Ran
from whole.karpenter import digest
from whole.release_life import CHART, Release, Step, decoded
from whole.release_site import ReleaseSite, platforms_of

# What the plugin's own file says, without the hook that downloads the program.
_PLUGIN = """\
name: diff
version: "{version}"
usage: Preview helm upgrade changes as a diff
description: Preview helm upgrade changes as a diff
useTunnel: true
command: $HELM_PLUGIN_DIR/bin/diff
"""
_FILE = """\
helmDefaults:
  postRenderer: archfit
  wait: true
  timeout: 180
releases:
  - name: demo
    namespace: shop
    chart: {chart}
"""
# As Helm 4 writes the whole manifest anew where a post-renderer is set, only the values are compared.
_DIFF = "--normalize-manifests --no-hooks"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Under Helm 3 and then under Helm 4, in one cluster. Raises AssertionError."""
    with ReleaseSite(folder, platforms_of("helm")) as site:
        steps = [step for name in ("helm3", "helm4") for step in diffed(site, name)]
        streams = {name: digest(placed(site, name)) for name in ("helm3", "helm4")}
    rows = [
        {"helm": step.helm, "what": step.what, "rolled": step.rolled, "wrong": len(step.wrong)}
        for step in steps
    ]
    wrong = [f"{step.helm}, {step.what}: {line}" for step in steps for line in step.wrong]
    return {"streams": streams, "steps": rows}, wrong


def placed(site: ReleaseSite, name: str) -> bytes:
    return site.helm(name).template(CHART, "--no-hooks").ok()


def diffed(site: ReleaseSite, name: str) -> list[Step]:
    """All steps under one Helm. helm-diff ends with 2 where it shows a change."""
    release = Release(site, name)
    folder = site.folder / f"helmfile-{name}"
    folder.mkdir()
    _install_plugin(release, folder)
    (folder / "helmfile.yaml").write_text(_FILE.format(chart=CHART), encoding="utf-8")
    plain = release.helm.plain(CHART, "--no-hooks")
    ran = release.helm.run("install", "demo", str(CHART), "--no-hooks", "--wait", "--timeout", "180s")
    release.state = site.settled()
    wrong = [] if ran.status == 0 else [ran.stderr]
    release.steps.append(Step(name, "helm install, without archfit", [], len(site.pods()), wrong))

    def helmfile(*words: str) -> Ran:
        command = [machine.tool("helmfile"), "--no-color", "-b", release.helm.program, *words]
        return start(command, release.helm.environ, folder)

    def diff(what: str, status: int, expected: list[str]) -> None:
        ran = helmfile("diff", "--detailed-exitcode", "--context", "0", "--diff-args", _DIFF)
        shown = _changes(ran.stdout)
        more = [
            (ran.status == status, f"it ended with {ran.status}: {ran.stderr.strip()[-300:]}"),
            (shown == expected, f"it shows {shown}, not {expected}"),
        ]
        before = release.state
        now = site.settled()
        lines = [words for holds, words in more if not holds]
        lines += [] if now == before else ["an object changed"]
        release.steps.append(Step(name, what, [], len(site.pods()), lines))

    diff("helmfile diff, archfit is new", 2, _lines(plain, placed(site, name)))
    every = sorted(release.state)
    release.step("helmfile apply", helmfile("apply", "--skip-diff-on-install"), every)
    diff("helmfile diff again", 0, [])
    release.step("helmfile apply again", helmfile("apply"))
    release.step("helmfile sync", helmfile("sync"))
    ran = helmfile("destroy")
    left = [one for one in site.left() if not one.startswith(("Job/", "Pod/"))]
    wrong = [] if ran.status == 0 else [ran.stderr.strip()[-300:]]
    release.steps.append(Step(name, "helmfile destroy", [], 0, wrong + [f"{one} is left" for one in left]))
    site.empty()
    return release.steps


def _install_plugin(release: Release, folder: Path) -> None:
    """Beside archfit's own, for Helm 4; each Helm reads a list of folders."""
    plugin = folder / "plugins" / "diff"
    (plugin / "bin").mkdir(parents=True)
    (plugin / "bin" / "diff").symlink_to(machine.tool("helm-diff"))
    version = machine.TABLE["helm-diff"].version.removeprefix("v")
    (plugin / "plugin.yaml").write_text(_PLUGIN.format(version=version), encoding="utf-8")
    others = release.helm.environ.get("HELM_PLUGINS")
    release.helm.environ["HELM_PLUGINS"] = ":".join([str(folder / "plugins"), *([others] if others else [])])


def _lines(before: bytes, after: bytes) -> list[str]:
    """The changed lines between two renders, object by object, with sorted keys."""
    found: list[str] = []
    for old, new in zip(decoded(before), decoded(after), strict=True):
        was, now = (yaml.safe_dump(one, default_flow_style=False).splitlines() for one in (old, new))
        found += difflib.unified_diff(was, now, n=0, lineterm="")
    return sorted(line for line in found if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def _changes(output: bytes) -> list[str]:
    """The changed lines that helm-diff shows: `+` or `-`, a blank, the line."""
    text = _COLOURS.sub("", output.decode(errors="replace"))
    lines = (line for line in text.splitlines() if re.match(r"[+-] ", line))
    return sorted(line[0] + line[2:] for line in lines)
