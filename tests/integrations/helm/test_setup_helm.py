"""`archfit setup helm`: what it writes, prints and refuses, and what `--check` finds, with the real Helms."""

import os
import re
import shutil
from pathlib import Path

import pytest

import archfit as package
import machine
from archfit.integrations.helm import setup_files
from helm_runs import CHARTS, SYSTEM_PATH, start
from program import PROGRAM, Ran

HELLO = "name: hello\nversion: 0.1.0\nusage: says hello\ndescription: says hello\ncommand: echo hello\n"


class User:
    """Somebody with a home of their own, and the Helms that a test gives them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        self.environ = {**kept, "HOME": str(self.home), "PATH": f"{self.bin}:{SYSTEM_PATH}"}
        self.own = self.home / ".local" / "share" / "archfit" / "helm-plugins"
        self.default = self.home / ".local" / "share" / "helm" / "plugins"

    def has(self, name: str, program: str | Path) -> Path:
        """Puts a program on PATH under a name."""
        (self.bin / name).symlink_to(program)
        return self.bin / name

    def script(self, name: str, text: str) -> Path:
        """The same with a script."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def plugin(self, directory: Path, name: str, text: str) -> None:
        """Somebody else's plugin."""
        (directory / name).mkdir(parents=True)
        (directory / name / "plugin.yaml").write_text(text, encoding="utf-8")

    def set_up(self, *words: str, **environ: str) -> Ran:
        """`archfit setup helm WORDS`."""
        return start([str(PROGRAM), "setup", "helm", *words], {**self.environ, **environ})

    def shell(self, text: str) -> Ran:
        """A POSIX shell of theirs."""
        return start(["/bin/sh", "-c", text], self.environ)

    def files(self) -> dict[str, bytes]:
        """Everything below their home but caches and the last report."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and path.relative_to(self.home).parts[:2] != (".local", "state")
            if path.relative_to(self.home).parts[0] != ".cache"
        }


@pytest.fixture
def user(tmp_path):
    return User(tmp_path)


@pytest.fixture
def user4(user, tool):
    """A user with Helm 4 alone."""
    user.has("helm", tool("helm4"))
    return user


def test_the_line_makes_helm_4_see_the_plugin_beside_the_others(user4):
    user4.plugin(user4.default, "hello", HELLO)
    line = user4.set_up().ok().decode()
    assert line == f"export HELM_PLUGINS={user4.own}:{user4.default}\n"
    pod = "template demo {} --set enabled=true --post-renderer archfit --post-renderer-args=--offline"
    chart = CHARTS / "blank"
    ran = user4.shell(f"{line}helm hello; helm plugin list; helm {pod.format(chart)} --debug >&2")
    said = ran.stdout.decode().splitlines()
    assert said[0] == "hello"
    assert [text.split()[0] for text in said[2:]] == ["archfit", "hello"]
    assert "not found" not in ran.stderr  # the plugin was found; offline, the image of the chart was not
    assert 'plugin "archfit" exited with error' in ran.stderr


def test_a_list_that_the_user_has_already_stays_in_the_line(user4, tmp_path):
    mine = f"{tmp_path / 'one'}:{tmp_path / 'it is two'}"
    line = user4.set_up(HELM_PLUGINS=mine).ok().decode()
    assert line == f"export HELM_PLUGINS='{user4.own}:{mine}'\n"
    assert user4.shell(f'{line}printf %s "$HELM_PLUGINS"').stdout.decode() == f"{user4.own}:{mine}"


def test_once_the_line_is_in_place_nothing_is_printed_or_changed(user4):
    line = user4.set_up().ok().decode()
    before = user4.files()
    times = {name: (user4.home / name).stat().st_mtime_ns for name in before}
    again = user4.set_up(HELM_PLUGINS=line.strip().partition("=")[2])
    assert again.ok() == b""
    assert "up to date" in again.stderr
    assert "HELM_PLUGINS names the directory already" in again.stderr
    assert user4.files() == before
    assert {name: (user4.home / name).stat().st_mtime_ns for name in before} == times


def test_no_file_but_the_plugins_own_is_written(user4):
    for name in (".profile", ".bashrc", ".zshrc"):
        (user4.home / name).write_text("# mine\n", encoding="utf-8")
    before = user4.files()
    user4.set_up().ok()
    written = {name: text for name, text in user4.files().items() if name not in before}
    folder = ".local/share/archfit/helm-plugins/archfit"
    assert sorted(written) == [f"{folder}/archfit", f"{folder}/plugin.yaml"]
    assert {name: text for name, text in user4.files().items() if name in before} == before


def test_what_is_out_of_date_is_written_anew(user4):
    user4.set_up().ok()
    before = user4.files()
    plugin = user4.own / "archfit"
    old = plugin.joinpath("plugin.yaml").read_text(encoding="utf-8")
    (plugin / "plugin.yaml").write_text(old.replace(package.__version__, "0.0.1"), encoding="utf-8")
    (plugin / "archfit").chmod(0o644)
    assert "written" in user4.set_up().stderr
    assert user4.files() == before
    assert os.access(plugin / "archfit", os.X_OK)


@pytest.mark.parametrize("name", ["plugin.yaml", "archfit"])
def test_a_file_of_the_users_is_never_overwritten(user4, name):
    plugin = user4.own / "archfit"
    plugin.mkdir(parents=True)
    (plugin / name).write_text("mine\n", encoding="utf-8")
    before = user4.files()
    ran = user4.set_up()
    assert (ran.status, ran.stdout) == (1, b"")
    assert f"{plugin / name} was not written by `archfit setup helm`: nothing was written" in ran.stderr
    assert user4.files() == before


def test_nor_what_a_link_points_to(user4, tmp_path):
    mine = shutil.copytree(machine.ROOT / "helm-plugin", tmp_path / "checkout")
    names, before = sorted(os.listdir(mine)), (mine / "plugin.yaml").read_bytes()
    user4.own.mkdir(parents=True)
    (user4.own / "archfit").symlink_to(mine)
    ran = user4.set_up()
    assert ran.status == 1
    assert "is a link" in ran.stderr
    assert (mine / "plugin.yaml").read_bytes() == before
    assert sorted(os.listdir(mine)) == names


def test_helm_3_alone_needs_no_plugin(user, tool):
    user.has("helm", tool("helm3"))
    ran = user.set_up()
    assert ran.ok() == b""
    assert "needs no plugin: add --post-renderer archfit. Nothing was written." in ran.stderr
    assert user.files() == {}


def test_beside_helm_3_the_line_is_for_helm_4_alone(user, tool):
    user.has("helm", tool("helm3"))
    four = user.has("helm4", tool("helm4"))
    user.plugin(user.default, "hello", HELLO)
    ran = user.set_up()
    line = ran.ok().decode()
    assert line == (f'helm4() ( export HELM_PLUGINS={user.own}:{user.default}; exec {four} "$@" )\n')
    assert "Then: helm4 upgrade --install web" in ran.stderr
    assert "would lose all its plugins" in ran.stderr
    shell = user.shell(f"{line}helm hello; helm4 hello; helm4 plugin list; helm plugin list")
    assert shell.stderr == ""
    assert [text.split()[0] for text in shell.stdout.decode().splitlines()] == [
        "hello", "hello", "NAME", "archfit", "hello", "NAME", "hello",
    ]  # fmt: skip


def test_a_shell_in_which_helm_3_reads_the_directory_is_told(user, tool):
    user.has("helm", tool("helm3"))
    user.has("helm4", tool("helm4"))
    user.set_up().ok()
    ran = user.set_up(HELM_PLUGINS=str(user.own))
    assert re.search(r"^archfit: warning: Helm v3[.0-9]+ at ", ran.stderr, re.MULTILINE)
    assert "so it loads none of its own plugins" in ran.stderr
    assert ran.ok().decode().count(str(user.own)) == 1


def test_into_a_directory_that_helm_3_reads_is_refused(user, tool):
    three = user.has("helm3", tool("helm3"))
    user.has("helm", tool("helm4"))
    for words, environ in (
        ((str(user.default),), {}),
        ((f"{user.home}/.local/share/../share/helm/plugins/",), {"HELM_PLUGINS": "/elsewhere"}),
        ((str(user.home / "listed"),), {"HELM_PLUGINS": f"/elsewhere:{user.home / 'listed'}"}),
    ):
        ran = user.set_up("--into", *words, **environ)
        assert (ran.status, ran.stdout) == (2, b"")
        assert re.search(f"is a plugins directory of Helm v3[.0-9]+ at {re.escape(str(three))}", ran.stderr)
        assert "one such file disables all its plugins" in ran.stderr
        assert user.files() == {}


def test_a_second_plugin_of_the_name_is_refused_as_helm_would_refuse_the_directory(user4):
    user4.plugin(user4.default, "helm-plugin", setup_files.plugin("archfit"))
    ran = user4.set_up("--into", str(user4.default))
    assert ran.status == 1
    assert "is a plugin named archfit too" in ran.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(("--into",), "--into: has no value", id="no-value"),
        pytest.param(("--into=",), "--into: is empty", id="empty"),
        pytest.param(("--intoo=x",), "write --into", id="no-such-flag"),
        pytest.param(("here",), "'here' is not expected", id="a-stray-word"),
        pytest.param(("--check=yes",), "--check: takes no value", id="a-value-too-many"),
        pytest.param(("--into", "a:b"), "which Helm reads as more than a letter", id="a-list"),
        pytest.param(("--into", "a[b]"), "which Helm reads as more than a letter", id="a-pattern"),
    ],
)
def test_wrong_usage_ends_with_2(user4, words, message):
    ran = user4.set_up(*words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert message in ran.stderr
    assert ran.stderr.startswith("archfit: error: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param((), "no Helm 4 was found on PATH", id="no-helm"),
        pytest.param(("--helm", "/none/helm"), "/none/helm cannot be run", id="no-such-program"),
        pytest.param(("--helm", "/bin/echo"), "/bin/echo does not answer as Helm does", id="another-program"),
        pytest.param(("--into", "/proc/here"), "cannot write /proc/here", id="cannot-be-written"),
    ],
)
def test_what_cannot_be_done_ends_with_1(user, words, message):
    ran = user.set_up(*words)
    assert (ran.status, ran.stdout) == (1, b"")
    assert message in ran.stderr
    assert user.files() == {}


def checked(ran: Ran) -> list[str]:
    """What `--check` found: "ok" for each line that is well, the sentence for each that is not."""
    assert ran.stderr == ""
    return [
        "ok" if line.startswith("ok: ") else line.removeprefix("wrong: ")
        for line in ran.stdout.decode().splitlines()
    ]


def test_check_renders_a_pod_through_helm_4(user4):
    line = user4.set_up().ok().decode()
    ran = user4.set_up("--check", HELM_PLUGINS=line.strip().partition("=")[2])
    assert (ran.status, checked(ran)) == (0, ["ok"] * 3)
    assert "a chart with one Pod, rendered through it: OptedOut: spec.nodeName is set" in ran.stdout.decode()
    assert not (user4.home / ".local" / "state").exists(), "the last report is left alone"


def test_check_renders_a_pod_through_helm_3(user, tool):
    user.has("helm", tool("helm3"))
    user.has("archfit", PROGRAM)
    ran = user.set_up("--check")
    assert (ran.status, checked(ran)) == (0, ["ok"] * 3)


def test_check_says_what_is_wrong_with_helm(user, tool):
    assert checked(user.set_up("--check")) == [
        "no helm is on PATH: install Helm, or name it with --helm PATH"
    ]
    assert "does not answer as Helm does" in checked(user.set_up("--check", "--helm", "/bin/echo"))[0]
    broken = user.script("helm", "echo 'No version is set for command helm'; exit 126")
    why = (
        f"{broken} does not answer as Helm does: `helm version` printed 'No version is set for command helm'"
    )
    assert checked(user.set_up("--check")) == [why]
    assert user.set_up().stderr == f"archfit: error: {why}: correct it, or name another with --helm PATH\n"
    old = user.script("helm", "echo v2.17.0")
    assert checked(user.set_up("--check")) == [
        f"Helm v2.17.0 at {old} is neither Helm 3 nor Helm 4: name another with --helm PATH"
    ]
    old.unlink()
    user.has("helm", tool("helm3"))
    assert checked(user.set_up("--check"))[1].startswith("no archfit is on PATH, where Helm 3 looks for it")


def test_check_says_what_is_wrong_with_the_plugin(user4):
    def wrong(**environ: str) -> str:
        ran = user4.set_up("--check", **environ)
        assert ran.status == 3
        return checked(ran)[-1]

    assert wrong() == f"the plugin is neither in {user4.own} nor where Helm looks: run `archfit setup helm`"
    user4.set_up().ok()
    assert "but HELM_PLUGINS is not set in this shell: run `archfit setup helm` for the line" in wrong()
    assert "but HELM_PLUGINS does not name it" in wrong(HELM_PLUGINS="/elsewhere")
    seen = {"HELM_PLUGINS": str(user4.own)}
    launcher, file = user4.own / "archfit" / "archfit", user4.own / "archfit" / "plugin.yaml"
    right = (launcher.read_text(encoding="utf-8"), file.read_text(encoding="utf-8"))
    launcher.write_text(right[0].replace("exec ", "exec /gone"), encoding="utf-8")
    assert "cannot start archfit" in wrong(**seen)
    assert "/gone" in wrong(**seen)
    launcher.unlink()
    assert f"starts {str(launcher)!r}, which is not there: run `archfit setup helm` again" in wrong(**seen)
    user4.set_up().ok()
    file.write_text(right[1].replace(package.__version__, "0.0.1"), encoding="utf-8")
    assert f"is of archfit 0.0.1, and this is {package.__version__}" in wrong(**seen)
    file.write_text("name: archfit\n", encoding="utf-8")
    assert f"{file} is not a plugin that Helm 4 can load" in wrong(**seen)
    file.write_text(right[1].replace("runtime:", "runtimes: x\nruntime:"), encoding="utf-8")
    assert "Helm did not run archfit: Error: invalid argument" in wrong(**seen)


def test_check_says_why_archfit_fails_in_its_own_words(user4, tmp_path):
    user4.set_up().ok()
    (tmp_path / "archfit.yaml").write_text("apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {stric: true}\n",
                                           encoding="utf-8")  # fmt: skip
    environ = {"HELM_PLUGINS": str(user4.own), "ARCHFIT_CONFIG": str(tmp_path / "archfit.yaml")}
    ran = user4.set_up("--check", **environ)
    assert ran.status == 3
    assert checked(ran)[:2] == ["ok", "ok"]
    assert checked(ran)[2].startswith("archfit failed: ")
    assert "strict" in checked(ran)[2]


def test_check_tells_a_shell_with_both_how_to_try_helm_4(user, tool):
    four = user.has("helm", tool("helm4"))
    user.has("helm3", tool("helm3"))
    user.set_up().ok()
    found = checked(user.set_up("--check"))
    command = f"HELM_PLUGINS={user.own} archfit setup helm --check --helm {four}"
    assert f"`{command}`" in found[-1]
    assert checked(user.set_up("--check", "--helm", str(four), HELM_PLUGINS=str(user.own))) == ["ok"] * 3


@pytest.mark.parametrize(
    ("content", "mine"),
    [
        pytest.param(b"name: archfit\n", True, id="plain"),
        pytest.param(b"apiVersion: v1\nname: 'archfit' # c\r\n", True, id="quoted"),
        pytest.param(b"name: archfit2\n", False, id="longer"),
        pytest.param(b"x:\n  name: archfit\n", False, id="deeper"),
    ],
)
def test_the_name_of_a_plugin_is_read_from_its_file(content, mine):
    assert setup_files.claims(content) is mine


def test_the_function_has_a_name_that_a_shell_takes():
    assert setup_files.function("/a", [], "/opt/it's/helm-4.3").startswith("helm4() ( ")
    assert setup_files.function("/a", ["/b"], "/opt/helm") == (
        'helm() ( export HELM_PLUGINS=/a:/b; exec /opt/helm "$@" )\n'
    )
