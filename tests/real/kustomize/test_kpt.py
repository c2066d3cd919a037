"""Runs in place, as kpt makes them: the package's files before and after, by git's own diff.

harness    what `kpt fn render` does with an exec function, as far as archfit can see it: one ResourceList with every
           object of the package, comments kept, path and index annotations added; what comes back is written file
           by file, without those annotations. It stands for kpt where kpt is not installed.
kpt        the real one, on machines that have it
"""

import re
import subprocess

import pytest
from registry import Registry

import machine
from kustomize_site import Site
from program import PROGRAM

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
FILES = {
    "web.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: # the front
  name: "web"
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: h.example/web:1 # moves
          args: ["on", '22:22', 1e3]
      tolerations: []
""",
    "two.yaml": """\
# a head
apiVersion: batch/v1
kind: CronJob
metadata:
  name: sweep
  annotations:
    note: |
      kept
spec:
  schedule: "5 4 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: sweep
            image: 'h.example/web:1'
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  time: "22:22"
""",
}
_ADDED = re.compile(rb"^ *(?:internal\.)?config\.kubernetes\.io/(?:path|index): .*\n", re.MULTILINE)


@pytest.fixture
def package(tmp_path):
    """A package under git, with archfit in its pipeline."""
    with Registry({"h.example/web:1": AMD}) as served:
        site = Site(tmp_path, served.mirrors())
        for name, text in FILES.items():
            site.write(f"pkg/{name}", text)
        site.write("pkg/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: pkg\n")
        subprocess.run(
            [PROGRAM, "setup", "kpt", "--into", site.folder / "pkg"], check=True, capture_output=True
        )
        site.served = served
        site.git = lambda *words: subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words],
            cwd=site.folder / "pkg", capture_output=True, check=True, text=True,
        ).stdout  # fmt: skip
        site.git("init", "-q")
        site.git("add", "-A")
        site.git("commit", "-q", "-m", "a package")
        yield site


def harness(site):
    """One run of the package's pipeline."""
    folder = site.folder / "pkg"
    pieces = [
        (path, number, text)
        for path in sorted(folder.glob("*.yaml"))
        for number, text in enumerate(path.read_text(encoding="utf-8").split("---\n"))
        if path.name != "archfit.yaml"
    ]
    items = "".join(_item(path.name, number, text) for path, number, text in pieces)
    config = (folder / "archfit.yaml").read_text(encoding="utf-8").replace("\n", "\n  ").rstrip(" ")
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
    stream = f"{head}{items}functionConfig:\n  {config}".encode()
    done = subprocess.run([PROGRAM], input=stream, env=site.environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    out = done.stdout.partition(b"\nfunctionConfig:")[0].partition(b"\nitems:\n")[2] + b"\n"
    returned = [_text(item) for item in re.split(rb"^(?=- )", out, flags=re.MULTILINE)[1:]]
    written = {}
    for (path, _, _), text in zip(pieces, returned, strict=True):
        written.setdefault(path, []).append(text)
    for path, texts in written.items():
        path.write_bytes(b"---\n".join(texts))


def _item(name, number, text):
    annotations = (
        f"    config.kubernetes.io/path: '{name}'\n    config.kubernetes.io/index: '{number}'\n"
        f"    internal.config.kubernetes.io/path: '{name}'\n    internal.config.kubernetes.io/index: '{number}'\n"
    )
    if "  annotations:\n" in text.partition("spec:")[0]:
        text = text.replace("  annotations:\n", f"  annotations:\n{annotations}", 1)
    else:
        text = re.sub(
            r"(  name: .*\n)", rf"\1  annotations: # made by the harness\n{annotations}", text, count=1
        )
    head, rest = re.match(r"((?:#.*\n)*)((?s:.*))", text).groups()
    comment = "".join(f"  {line}\n" for line in head.splitlines())
    return "- " + (comment[2:] + "  " if comment else "") + rest.replace("\n", "\n  ").rstrip(" ")


def _text(item):
    text = re.sub(rb"^(?:- |  )", b"", item, flags=re.MULTILINE)
    text = _ADDED.sub(b"", text)
    return re.sub(rb"  annotations: # made by the harness\n(?!    )", b"", text).replace(
        b"  annotations: # made by the harness\n", b"  annotations:\n"
    )


def kpt(site):
    subprocess.run(
        [machine.find("kpt"), "fn", "render", "--allow-exec", "pkg"],
        cwd=site.folder, env=site.environ, capture_output=True, check=True,
    )  # fmt: skip


WAYS = [pytest.param(harness, id="harness")]
if machine.find("kpt"):
    WAYS.append(pytest.param(kpt, id="kpt"))


def changed(site):
    """(removed, added) lines of the package's diff."""
    lines = site.git("diff", "-U0").splitlines()
    return tuple(
        [line[1:] for line in lines if line.startswith(sign) and not line.startswith(sign * 3)]
        for sign in "-+"
    )


@pytest.mark.parametrize("run", WAYS)
def test_only_inserted_lines_and_values_that_were_empty(run, package):
    package.served.put("h.example/web:1", BOTH)
    run(package)
    removed, added = changed(package)
    assert removed == ["      tolerations: []"]
    assert [line for line in added if "tolerations: [{" in line]
    assert sum("archfit.dev/added" in line for line in added) == 2
    assert package.git("status", "--short").split() == ["M", "two.yaml", "M", "web.yaml"]


@pytest.mark.parametrize("run", WAYS)
def test_a_moved_image_replaces_what_archfit_added(run, package):
    """And what is not needed any more leaves the files as they were."""
    run(package)
    assert changed(package)[0] == []
    first = package.git("diff")
    run(package)
    assert package.git("diff") == first
    package.served.put("h.example/web:1", BOTH)
    run(package)
    removed, added = changed(package)
    assert removed == ["      tolerations: []"]
    assert not any("nodeAffinity:" in line for line in added)
    package.served.put("h.example/web:1", AMD)
    run(package)
    assert package.git("diff") == first
