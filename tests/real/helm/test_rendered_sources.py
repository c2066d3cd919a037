"""`archfit check --source-root` on what Helm renders: each `# Source:` leads to the template it was made from."""

import json
import subprocess
from pathlib import Path

import pytest

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: a, image: x.example/amd:1}]}\n"
FILES = {
    "charts/web/Chart.yaml": """\
apiVersion: v2
name: shop
version: 1.0.0
dependencies:
  - name: redis
    version: 1.0.0
    repository: ""
  - name: postgres
    alias: db
    version: 1.0.0
    repository: ""
  - name: common
    alias: shared
    version: 1.0.0
    repository: file://../../library/common
""",
    "charts/web/templates/web.yaml": POD % "web",
    "charts/web/charts/redis/Chart.yaml": "apiVersion: v2\nname: redis\nversion: 1.0.0\n",
    "charts/web/charts/redis/templates/redis.yaml": POD % "redis",
    "charts/web/charts/postgres/Chart.yaml": "apiVersion: v2\nname: postgres\nversion: 1.0.0\n",
    "charts/web/charts/postgres/templates/db.yaml": POD % "db",
    "library/common/Chart.yaml": "apiVersion: v2\nname: common\nversion: 1.0.0\n",
    "library/common/templates/common.yaml": POD % "common",
    "library/packed/Chart.yaml": "apiVersion: v2\nname: packed\nversion: 1.0.0\n",
    "library/packed/templates/packed.yaml": POD % "packed",
}


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_every_template_is_found(archfit, tool, tmp_path, helm):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def run(*words: str) -> bytes:
        return subprocess.run([tool(helm), *words], cwd=tmp_path, capture_output=True, check=True).stdout

    run("package", "library/common", "--destination", "charts/web/charts")
    run("package", "library/packed", "--destination", "charts/web/charts")
    stream = run("template", "a", "charts/web")
    assert found_in(archfit, stream, ("--source-root=charts/web",), tmp_path) == FOUND


FOUND = {
    "web": ("charts/web/templates/web.yaml", 0),
    "redis": ("charts/web/charts/redis/templates/redis.yaml", 0),
    "db": ("charts/web/charts/postgres/templates/db.yaml", 0),
    "common": ("library/common/templates/common.yaml", 0),
    "packed": ("charts/web/Chart.yaml", 0),
}


def found_in(archfit, stream: bytes, words: tuple[str, ...], folder: Path) -> object:
    """The file and line of the finding about each pod."""
    ran = archfit(
        stream,
        "check",
        *("--no-cache", "--offline", "--format=json"),
        "--image-platforms=x.example/*=linux/amd64",
        *words,
        cwd=folder,
    )
    assert ran.status == 3, ran.stderr
    return {
        one["object"]["name"]: (one["file"], one.get("line", 0)) for one in json.loads(ran.stdout)["findings"]
    }
