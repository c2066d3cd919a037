"""Where the reports of `archfit check` say that a finding is: `--source-root`, the repository's root, files."""

import json
import os

import pytest

import file_runs
from archfit.check.source_roots import SourceRoots

POD = """\
---
# Source: {source}
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
    - name: a
      image: x.example/amd:1
"""
FILES = {
    "charts/web/Chart.yaml": """\
apiVersion: v2
name: web
dependencies:
  - name: redis
    version: 1.0.0
  - name: postgres
    alias: db
    version: 1.0.0
  - name: common
    repository: file://../shared
    version: 1.0.0
  - name: archive
    version: 1.0.0
""",
    "charts/web/templates/pod.yaml": "",
    "charts/web/templates/deep/job.yaml": "",
    "charts/web/crds/kind.yaml": "",
    "charts/web/charts/redis/templates/sts.yaml": "",
    "charts/web/charts/redis/charts/exporter/templates/pod.yaml": "",
    "charts/web/charts/postgres/templates/sts.yaml": "",
    "charts/web/charts/archive-1.0.0.tgz": "",
    "charts/shared/Chart.yaml": "name: common\n",
    "charts/shared/templates/pod.yaml": "",
    "charts/other-folder/Chart.yaml": "name: shop\n",
    "charts/other-folder/templates/pod.yaml": "",
    "charts/plain/templates/pod.yaml": "",
    "nameless/Chart.yaml": "{}\n",
    "base/web.yaml": "",
    "overlays/prod/kustomization.yaml": "resources: [../../base/web.yaml]\n",
    "overlays/prod/own.yaml": "",
    "secret.yaml": "",
}


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("roots", "source", "place"),
    [
        pytest.param("charts/web", "web/templates/pod.yaml", ("charts/web/templates/pod.yaml", 0), id="chart"),
        pytest.param("./charts/web/", "web/templates/pod.yaml", ("charts/web/templates/pod.yaml", 0), id="slashes"),
        pytest.param("charts/web", "web/templates/deep/job.yaml", ("charts/web/templates/deep/job.yaml", 0), id="deep"),
        pytest.param("charts/web", "web/crds/kind.yaml", ("charts/web/crds/kind.yaml", 0), id="crds"),
        pytest.param("charts", "web/templates/pod.yaml", ("charts/web/templates/pod.yaml", 0), id="folder-of-charts"),
        pytest.param("charts", "shop/templates/pod.yaml", ("charts/other-folder/templates/pod.yaml", 0), id="other-folder-name"),
        pytest.param("charts", "plain/templates/pod.yaml", ("charts/plain/templates/pod.yaml", 0), id="no-chart-file"),
        pytest.param("site=charts/plain", "site/templates/pod.yaml", ("charts/plain/templates/pod.yaml", 0), id="named"),
        pytest.param("site=charts/plain", "plain/templates/pod.yaml", ("", 0), id="named-otherwise"),
        pytest.param("charts/web charts/other-folder", "shop/templates/pod.yaml", ("charts/other-folder/templates/pod.yaml", 0), id="second-root"),
        pytest.param("charts/web", "web/charts/redis/templates/sts.yaml", ("charts/web/charts/redis/templates/sts.yaml", 0), id="dependency"),
        pytest.param("charts/web", "web/charts/redis/charts/exporter/templates/pod.yaml", ("charts/web/charts/redis/charts/exporter/templates/pod.yaml", 0), id="dependency-of-a-dependency"),
        pytest.param("charts/web", "web/charts/db/templates/sts.yaml", ("charts/web/charts/postgres/templates/sts.yaml", 0), id="alias"),
        pytest.param("charts/web", "web/charts/common/templates/pod.yaml", ("charts/shared/templates/pod.yaml", 0), id="beside-the-chart"),
        pytest.param("charts/web", "web/charts/archive/templates/pod.yaml", ("charts/web/Chart.yaml", 12), id="archive"),
        pytest.param("charts/web", "web/charts/unlisted/templates/pod.yaml", ("charts/web/Chart.yaml", 0), id="unlisted-archive"),
        pytest.param("charts/web", "web/charts/redis/templates/none.yaml", ("", 0), id="no-such-file-in-dependency"),
        pytest.param("charts/web", "web/templates/none.yaml", ("", 0), id="no-such-file"),
        pytest.param("charts/web", "web/templates", ("", 0), id="a-folder"),
        pytest.param("charts/web", "db/templates/pod.yaml", ("", 0), id="another-chart"),
        pytest.param("charts/web", "web", ("", 0), id="no-path"),
        pytest.param("charts/web", "web/../../secret.yaml", ("", 0), id="climbing"),
        pytest.param("charts", "../secret.yaml", ("", 0), id="climbing-at-once"),
        pytest.param("charts/web", "web//templates/pod.yaml", ("", 0), id="empty-part"),
        pytest.param("charts/web", "web/templates/\0.yaml", ("", 0), id="null"),
        pytest.param("charts", f"{'a' * 300}/{'b' * 300}.yaml", ("", 0), id="too-long"),
    ],
)  # fmt: skip
def test_a_source_is_found_in_the_repository_or_nowhere(roots, source, place):
    assert SourceRoots(roots.split()).place(source) == place


@pytest.mark.parametrize(
    ("chart", "line"),
    [
        ("dependencies: [1, {name: [a]}, {alias: x}]\nname: web\n", 0),
        ("dependencies: {a: 1}\nname: web\n", 0),
        ("name: web\ndependencies:\n- alias: archive\n  name: other\n", 3),
        ("name: web\ndependencies: &a [{name: archive}, *a]\n", 0),
    ],
    ids=["odd-entries", "no-list", "alias-first", "cycle"],
)
def test_a_chart_file_may_hold_anything(repository, chart, line):
    (repository / "charts/web/Chart.yaml").write_text(chart)
    found = SourceRoots(["web=charts/web"]).place("web/charts/archive/templates/pod.yaml")
    assert found == ("charts/web/Chart.yaml", line)


@pytest.mark.parametrize(
    ("origin", "file"),
    [
        pytest.param("path: own.yaml\n", "overlays/prod/own.yaml", id="own"),
        pytest.param("path: ../../base/web.yaml\n", "base/web.yaml", id="base"),
        pytest.param("path: none.yaml\n", "", id="no-such-file"),
        pytest.param("path: ../../../outside.yaml\n", "", id="outside"),
        pytest.param("path: /etc/passwd\n", "", id="absolute"),
        pytest.param("path: own.yaml\nrepo: https://github.com/a/b\n", "", id="remote"),
        pytest.param("configuredIn: own.yaml\n", "", id="generated"),
        pytest.param("path: [own.yaml]\n", "", id="no-text"),
        pytest.param('path: "a\\0"\n', "", id="null"),
        pytest.param("{", "", id="not-yaml"),
        pytest.param("path", "", id="no-mapping"),
        pytest.param(1, "", id="no-string"),
    ],
)
def test_an_origin_of_kustomize_is_found_in_the_repository_or_nowhere(repository, origin, file):
    (repository.parent / "outside.yaml").write_text("")
    value = {"metadata": {"annotations": {"config.kubernetes.io/origin": origin}}}
    assert SourceRoots(["charts", "overlays/prod"]).origin(value) == file


@pytest.mark.parametrize("value", [None, {}, {"metadata": 1}, {"metadata": {"annotations": []}}], ids=repr)
def test_an_object_without_an_origin_has_no_file(value):
    assert SourceRoots(["overlays/prod"]).origin(value) == ""


def test_a_dependency_outside_of_the_repository_has_no_file(repository, monkeypatch):
    monkeypatch.chdir(repository / "charts" / "web")
    place = SourceRoots(["."]).place("web/charts/common/templates/pod.yaml")
    assert place == ("", 0)
    (repository / ".git").mkdir()
    place = SourceRoots(["."]).place("web/charts/common/templates/pod.yaml")
    assert place == ("../shared/templates/pod.yaml", 0)


@pytest.fixture
def check(mirrors, repository, monkeypatch):
    def run(source, *words, cwd=repository):
        monkeypatch.chdir(cwd)
        return file_runs.run(("check", "--no-cache", *mirrors, *words), POD.format(source=source).encode())

    return run


def test_github_annotates_the_template(check):
    ran = check("web/templates/pod.yaml", "--format=github", "--source-root=charts/web")
    assert ran.status == 3
    assert ran.stdout.decode() == (
        "::error file=charts/web/templates/pod.yaml,title=archfit placement::v1/Pod/p spec: archfit would change it: "
        "restricted to amd64 (arm64 is not offered by x.example/amd:1) (charts/web/templates/pod.yaml, "
        "document 1)\n"
    )


def test_github_annotates_the_entry_of_a_dependency_that_is_an_archive(check):
    line = check("web/charts/archive/templates/a.yaml", "--format=github", "--source-root=charts/web").stdout
    assert line.startswith(
        b"::error file=charts/web/Chart.yaml,line=12,title=archfit placement::v1/Pod/p spec: "
    )


def test_github_annotates_no_file_that_is_not_there(check):
    line = check("web/templates/gone.yaml", "--format=github", "--source-root=charts/web").stdout.decode()
    assert line.startswith("::error title=archfit placement::v1/Pod/p spec: ")
    assert line.endswith("(web/templates/gone.yaml, document 1)\n")


def test_text_names_the_template(check):
    text = check("web/templates/pod.yaml", "--source-root=charts").stdout.decode()
    assert "(charts/web/templates/pod.yaml, document 1)\n" in text


def test_a_rendered_file_stands_for_its_template_where_that_is_found(check, repository):
    (repository / "rendered").mkdir()
    for name, source in (("a", "web/templates/pod.yaml"), ("b", "db/templates/pod.yaml")):
        (repository / "rendered" / f"{name}.yaml").write_text(POD.format(source=source))
    ran = check("", "--format=json", "--source-root=charts/web", "rendered/a.yaml", "rendered/b.yaml")
    assert [(one["file"], one.get("line")) for one in json.loads(ran.stdout)["findings"]] == [
        ("charts/web/templates/pod.yaml", None),
        ("rendered/b.yaml", 7),
    ]


def test_a_folder_without_a_name_asks_for_one(check):
    ran = check("a/b.yaml", "--source-root=nameless")
    assert (ran.status, ran.stdout) == (2, b"")
    assert "write --source-root NAME=nameless" in ran.stderr


@pytest.fixture
def below(repository):
    """A folder below the root of the repository, where the command runs."""
    (repository / ".git").mkdir()
    (repository / "charts" / "web.yaml").write_text(POD.format(source="web/templates/pod.yaml"))
    return repository / "charts"


@pytest.mark.parametrize("form", ["github", "gitlab", "junit", "sarif"])
@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["web.yaml"], "charts/web.yaml"),
        (["../charts/web.yaml"], "charts/web.yaml"),
        (["--source-root=web"], "charts/web/templates/pod.yaml"),
    ],
    ids=["file", "climbing-file", "source-root"],
)
def test_code_hosts_get_paths_from_the_root_of_the_repository(check, below, form, words, file):
    told = check("web/templates/pod.yaml", f"--format={form}", *words, cwd=below).stdout.decode()
    if form == "github":
        assert f" file={file}," in told
    elif form == "gitlab":
        assert [one["location"]["path"] for one in json.loads(told)] == [file]
    elif form == "junit":
        assert f"({file})" in told
    else:
        (result,) = json.loads(told)["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == file


def test_people_get_paths_from_where_they_stand(check, below):
    assert b"(web.yaml:7)" in check("", "web.yaml", cwd=below).stdout


def test_a_file_outside_of_the_repository_has_its_whole_path(check, below, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "web.yaml"
    outside.write_text(POD.format(source="web/templates/pod.yaml"))
    (issue,) = json.loads(check("", "--format=gitlab", os.path.relpath(outside, below), cwd=below).stdout)
    assert issue["location"]["path"] == str(outside)


def test_one_run_writes_several_reports(check, repository):
    plain = check("web/templates/pod.yaml", "--source-root=charts/web")
    ran = check(
        "web/templates/pod.yaml",
        "--source-root=charts/web",
        "--format=sarif=found.sarif",
        "--format=gitlab=quality.json",
        "--format=markdown=summary.md",
        "--format=json=found.json",
    )
    assert (ran.status, ran.stdout) == (3, plain.stdout)
    assert json.loads((repository / "found.sarif").read_text())["version"] == "2.1.0"
    assert len(json.loads((repository / "quality.json").read_text())) == 1
    assert (repository / "summary.md").read_text().startswith("## archfit: 1 of 1 pod spec")
    assert json.loads((repository / "found.json").read_text())["exit"] == 3
    for form, name in (("sarif", "found.sarif"), ("json", "found.json")):
        again = check("web/templates/pod.yaml", "--source-root=charts/web", f"--format={form}")
        assert again.stdout == (repository / name).read_bytes()


def test_a_report_that_cannot_be_written_fails_and_says_so(check):
    ran = check("web/templates/pod.yaml", "--format=sarif=nowhere/found.sarif")
    assert (ran.status, ran.stdout) == (1, b"")
    assert "cannot write 'nowhere/found.sarif': there is no folder 'nowhere'" in ran.stderr
