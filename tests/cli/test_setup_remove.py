"""`archfit setup TOOL --remove`: what it wrote goes, what somebody changed stays, users' files are as before."""

import io
from pathlib import Path

import pytest

from archfit.base.errors import ArchfitError
from archfit.cli.dispatch import start

KUSTOMIZATION = "# ours\nresources: [a.yaml]\n"
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\n"
MANIFESTS = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.io/a:1'}]}\n"
)
TOOLS = [
    pytest.param(["argocd"], {}, id="argocd"),
    pytest.param(["argocd", "--discover", "--image", "r.example/a:1"], {}, id="argocd-with-flags"),
    pytest.param(["kustomize"], {"kustomization.yaml": KUSTOMIZATION}, id="kustomize"),
    pytest.param(["kustomize"], {"kustomization.yaml": f"{KUSTOMIZATION}transformers:\n- own.yaml # mine\n"}, id="kustomize-with-transformers"),
    pytest.param(["kustomize", "--container", "r.example/a:1"], {"Kustomization": KUSTOMIZATION}, id="container"),
    pytest.param(["kpt"], {"Kptfile": KPTFILE}, id="kpt"),
    pytest.param(["chart"], {}, id="chart"),
    pytest.param(["helm", "--into", "plugins"], {}, id="helm"),
]  # fmt: skip


def setup(*words: str, stdin: str = "") -> str:
    """What `archfit setup` says."""
    stdout, stderr = io.BytesIO(), io.StringIO()
    streams = {
        "stdin": lambda: io.BytesIO(stdin.encode()),
        "stdout": lambda: stdout,
        "stderr": lambda: stderr,
        "environ": lambda: {"HOME": str(Path.cwd()), "PATH": "/usr/bin:/bin", "ARCHFIT_OFFLINE": "true"},
    }
    assert start(["setup", *words], streams) == 0, stderr.getvalue()
    return stderr.getvalue()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "there"), TOOLS)
def test_nothing_of_it_is_left(folder, words, there):
    for name, text in there.items():
        (folder / name).write_text(text)
    before = files(folder)
    setup(*words)
    assert files(folder) != before
    said = setup(*words, "--remove")
    assert files(folder) == before
    assert "stays:" not in said
    with pytest.raises(ArchfitError, match=f"there is nothing of `archfit setup {words[0]}` in"):
        setup(*words, "--remove")


@pytest.mark.parametrize(("words", "there"), [tool for tool in TOOLS if "helm" not in str(tool.id)])
def test_noop_what_somebody_changed_stays_and_is_named(folder, words, there):
    for name, text in there.items():
        (folder / name).write_text(text)
    setup(*words)
    changed = next(path for path in sorted(folder.rglob("*.yaml")) if path.name not in there)
    changed.write_text(f"{changed.read_text()}# mine\nmine: true\n")
    said = setup(*words, "--remove")
    assert f"stays: {changed.relative_to(folder)}: " in said.replace("stays: ./", "stays: ")
    assert changed.read_text().endswith("mine: true\n")


def test_patches_for_flux_go_whatever_they_were_made_of(folder):
    setup("flux", stdin=MANIFESTS.replace("x.io/a:1", "{{later}}"))
    assert (folder / "archfit-flux.yaml").exists()
    assert "removed: ./archfit-flux.yaml" in setup("flux", "--remove")
    (folder / "archfit-flux.yaml").write_text("mine: true\n")
    assert "stays: ./archfit-flux.yaml" in setup("flux", "--remove")
