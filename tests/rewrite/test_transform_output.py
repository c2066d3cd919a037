"""`archfit FILE|DIR.. --in-place|-o PATH|--diff`: what is written, and what never is."""

import contextlib
import errno
import os
import signal
import stat
import struct

import pytest

from file_runs import AMD, BOTH, CONFIG_MAP, OPTIONS, SECRET, Site, placed, pod, run

TREE = {"r/a.yaml": AMD, "r/c.yaml": CONFIG_MAP, "r/sub/b.yaml": SECRET + b"---\n" + BOTH}


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    made.write(TREE)
    return made


def test_in_place_writes_what_standard_output_would_have(site):
    ran = site.run("--in-place", "r")
    assert (ran.status, ran.stdout) == (0, b"")
    assert site.files() == {name: placed(content, "--stamp") for name, content in TREE.items()}
    assert ran.stderr.endswith("archfit: 2 of 3 files written\n")


def test_noop_in_place_does_not_touch_files_that_stay_the_same(site):
    assert site.run("--in-place", "r").status == 0
    before = {path: path.stat() for path in site.folder.rglob("*.yaml")}
    ran = site.run("--in-place", "r")
    assert ran.stderr.endswith("archfit: 0 of 3 files written\n")
    after = {path: path.stat() for path in site.folder.rglob("*.yaml")}
    assert [(one.st_ino, one.st_mtime_ns) for one in before.values()] == [
        (one.st_ino, one.st_mtime_ns) for one in after.values()
    ]


def test_in_place_keeps_the_mode_and_leaves_nothing_behind(site):
    path = site.folder / "r" / "a.yaml"
    path.chmod(0o640)
    assert site.run("--in-place", "r/a.yaml").status == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(site.folder / "r")) == ["a.yaml", "c.yaml", "sub"]


def test_in_place_keeps_the_owner_where_it_may(site, monkeypatch):
    if os.geteuid() == 0:
        os.chown(site.folder / "r" / "a.yaml", 1234, 2345)
        assert site.run("--in-place", "r/a.yaml").status == 0
        about = (site.folder / "r" / "a.yaml").stat()
        assert (about.st_uid, about.st_gid) == (1234, 2345)
        site.write({"r/a.yaml": AMD})

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.chown", refused)
    monkeypatch.setattr("os.geteuid", lambda: 4321)
    assert site.run("--in-place", "r/a.yaml").status == 0
    assert site.files()["r/a.yaml"] == placed(AMD, "--stamp")


def _acl(*entries: tuple[int, int, int]) -> bytes:
    """The value of system.posix_acl_access. entries: (tag, permissions, user). Source: linux/posix_acl_xattr.h."""
    return b"".join([struct.pack("<I", 2), *(struct.pack("<HHI", *one) for one in entries)])


_NOBODY = 0xFFFFFFFF
_BY_4321 = _acl((1, 6, _NOBODY), (2, 4, 4321), (4, 4, _NOBODY), (0x10, 4, _NOBODY), (0x20, 0, _NOBODY))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("user.mime_type", b"application/yaml", id="text"),
        pytest.param("user.origin", b"\0\xff", id="bytes"),
        pytest.param("user.empty", b"", id="empty"),
        pytest.param("system.posix_acl_access", _BY_4321, id="access-control-list"),
    ],
)
def test_in_place_keeps_extended_attributes(site, name, value):
    path = site.folder / "r" / "a.yaml"
    os.setxattr(path, name, value)
    mode, before = path.stat().st_mode, os.listxattr(path)
    assert site.run("--in-place", "r/a.yaml").status == 0
    assert path.read_bytes() == placed(AMD, "--stamp")
    assert (os.listxattr(path), os.getxattr(path, name), path.stat().st_mode) == (before, value, mode)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        pytest.param(errno.EPERM, True, id="not-allowed"),
        pytest.param(errno.EACCES, True, id="denied"),
        pytest.param(errno.ENOTSUP, True, id="not-supported"),
        pytest.param(errno.ENOSPC, False, id="full"),
        pytest.param(errno.EDQUOT, False, id="quota"),
    ],
)
def test_in_place_an_attribute_that_cannot_be_set(site, monkeypatch, number, written):
    """One that this process may not set is lost, as with `cp -a`; on a full disk nothing is written."""
    os.setxattr(site.folder / "r" / "a.yaml", "user.origin", b"x")
    before = site.files()

    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.setxattr", refused)
    ran = site.run("--in-place", "r/a.yaml")
    if written:
        assert (ran.status, site.files()) == (0, {**before, "r/a.yaml": placed(AMD, "--stamp")})
        return
    assert (ran.status, ran.stdout) == (1, b"")
    assert f"a.yaml' cannot be written ({os.strerror(number)}); no file was changed" in ran.stderr
    assert site.files() == before
    assert os.getxattr(site.folder / "r" / "a.yaml", "user.origin") == b"x"


def test_in_place_does_not_copy_what_the_kernel_computes_of_the_old_content(site, monkeypatch):
    monkeypatch.setattr("os.listxattr", lambda _: ["security.ima", "security.evm", "user.origin"])
    monkeypatch.setattr("os.getxattr", lambda _, name: name.encode())
    copied = set[str]()
    monkeypatch.setattr("os.setxattr", lambda _, name, __: copied.add(name))
    assert site.run("--in-place", "r/a.yaml").status == 0
    assert copied == {"user.origin"}


def test_in_place_writes_what_a_link_leads_to(site):
    (site.folder / "link.yaml").symlink_to("r/a.yaml")
    assert site.run("--in-place", "link.yaml").status == 0
    assert (site.folder / "link.yaml").is_symlink()
    assert site.files()["r/a.yaml"] == placed(AMD, "--stamp")


def test_in_place_leaves_the_old_contents_to_other_hard_links(site):
    path, other = site.folder / "r" / "a.yaml", site.folder / "other.yaml"
    os.link(path, other)
    assert site.run("--in-place", "r/a.yaml").status == 0
    assert (path.read_bytes(), other.read_bytes()) == (placed(AMD, "--stamp"), AMD)
    assert site.run("--in-place", "other.yaml").status == 0
    assert other.read_bytes() == placed(AMD, "--stamp")


def test_in_place_writes_no_file_where_one_cannot_be_written(site, monkeypatch):
    site.write({"r/z.yaml": pod("z")})
    before, whole = site.files(), os.replace

    def full(source: str, path: str) -> None:
        if path.endswith("z.yaml"):
            raise OSError(28, "No space left on device")
        whole(source, path)

    monkeypatch.setattr("os.replace", full)
    ran = site.run("--in-place", "r")
    assert (ran.status, ran.stdout) == (1, b"")
    assert "z.yaml' cannot be written (No space left on device); no file was changed" in ran.stderr
    assert site.files() == before
    assert run(("last",)).stdout.decode().splitlines()[1].startswith("exit 1")


@pytest.fixture
def default_signals():
    """As in a process that a terminal started: a job in the background ignores SIGINT, other tests set handlers."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_in_place_puts_all_files_back_where_a_signal_ends_it(site, monkeypatch, number):
    site.write({"r/z.yaml": pod("z")})
    before, whole = site.files(), os.replace

    def interrupted(source: str, path: str) -> None:
        if path.endswith("z.yaml"):
            signal.raise_signal(number)
        whole(source, path)

    monkeypatch.setattr("os.replace", interrupted)
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        assert site.run("--in-place", "--report", "report.json", "r").status == 128 + number
    assert site.files() == before
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.usefixtures("default_signals")
def test_process_1_of_a_container_puts_all_files_back_too(site, monkeypatch):
    """It has a handler of its own for SIGTERM, which would end it without a word."""
    site.write({"r/z.yaml": pod("z")})
    before, whole = site.files(), os.replace

    def own(_number: int, _frame: object) -> None:
        raise AssertionError("process 1 ended while files were being replaced")

    def interrupted(source: str, path: str) -> None:
        if path.endswith("z.yaml"):
            signal.raise_signal(signal.SIGTERM)
        whole(source, path)

    monkeypatch.setattr("os.getpid", lambda: 1)
    signal.signal(signal.SIGTERM, own)
    monkeypatch.setattr("os.replace", interrupted)
    with contextlib.suppress(SystemExit):
        assert site.run("--in-place", "--report", "report.json", "r").status == 128 + signal.SIGTERM
    assert site.files() == before
    assert signal.getsignal(signal.SIGTERM) is own


def test_standard_output_by_its_path_keeps_what_the_file_holds(site):
    whole = site.run("r").stdout
    for flags, added in (((), whole), (("--diff",), site.run("--diff", "r").stdout)):
        with (site.folder / "out").open("wb") as file:
            file.write(b"# kept\n")
            file.flush()
            ran = site.run(*flags, "r", "-o", f"/dev/fd/{file.fileno()}")
        assert (ran.status, ran.stdout) == (0, b"")
        assert (site.folder / "out").read_bytes() == b"# kept\n" + added


def test_in_place_overwrites_no_change_of_somebody_else(site, monkeypatch):
    from archfit.rewrite import files as transform_files

    real = transform_files.read_manifests

    def edits_meanwhile(*words: object) -> object:
        site.write({"r/sub/b.yaml": CONFIG_MAP})
        return real(*words)

    monkeypatch.setattr("archfit.rewrite.files.read_manifests", edits_meanwhile)
    ran = site.run("--in-place", "r")
    assert ran.status == 1
    assert "r/sub/b.yaml changed while archfit ran, so no file was changed: run it again" in ran.stderr
    assert site.files() == {**TREE, "r/sub/b.yaml": CONFIG_MAP}


@pytest.mark.parametrize(
    ("edited", "said"),
    [
        pytest.param("r/sub/b.yaml", "no file was changed: run it again", id="not-yet-written"),
        pytest.param("r/a.yaml", "could not be put back: 'HERE/r/a.yaml'", id="written-and-edited-again"),
    ],
)
def test_an_edit_that_is_saved_while_files_are_written_stays(site, monkeypatch, edited, said):
    whole = os.replace

    def saves_after(source: str, path: str) -> None:
        whole(source, path)
        if path.endswith("r/a.yaml"):
            site.write({"r/sub/b.yaml": CONFIG_MAP, edited: BOTH})

    monkeypatch.setattr("os.replace", saves_after)
    ran = site.run("--in-place", "r")
    assert (ran.status, "r/sub/b.yaml changed while archfit ran" in ran.stderr) == (1, True)
    assert said in ran.stderr.replace(os.path.realpath(site.folder), "HERE")
    assert site.files() == {**TREE, "r/sub/b.yaml": CONFIG_MAP, edited: BOTH}


def test_a_folder_gets_a_file_for_each_input_by_its_path(site):
    site.write({"one.yaml": BOTH, "r/values.yaml": b"a: {b: c}\n"})
    ran = site.run("r", "one.yaml", "-o", "out/deep/")
    assert (ran.status, ran.stdout) == (0, b"")
    written = {name: content for name, content in site.files().items() if name.startswith("out/")}
    assert written == {
        "out/deep/a.yaml": placed(AMD),
        "out/deep/c.yaml": CONFIG_MAP,
        "out/deep/one.yaml": placed(BOTH),
        "out/deep/sub/b.yaml": placed(TREE["r/sub/b.yaml"]),
    }
    assert ran.stderr.endswith("archfit: 4 files written below out/deep/\n")
    assert {name: content for name, content in site.files().items() if name in TREE} == TREE


def test_a_folder_that_is_there_needs_no_slash_and_may_lie_in_the_input(site):
    (site.folder / "r" / "out").mkdir()
    for _ in range(2):
        assert site.run("r", "-o", "r/out").status == 0
    written = [name for name in site.files() if "/out/" in name]
    assert written == ["r/out/a.yaml", "r/out/c.yaml", "r/out/sub/b.yaml"]


def test_a_file_gets_the_stream_of_all_inputs(site):
    expected = site.run("r").stdout
    for content in (None, b"old\n"):
        if content is not None:
            site.write({"out.yaml": content})
        ran = site.run("r", "--output", "out.yaml")
        assert (ran.status, ran.stdout) == (0, b"")
        assert site.files()["out.yaml"] == expected


def test_a_dash_as_output_is_standard_output(site):
    assert site.run("r", "-o", "-").stdout == site.run("r").stdout


def test_standard_input_can_go_to_a_file_and_as_a_diff(site):
    assert site.run("-o", "x.yaml", stdin=AMD).stdout == b""
    assert site.files()["x.yaml"] == placed(AMD)
    ran = site.run("--diff", stdin=AMD)
    assert ran.stdout.startswith(b"--- a/stdin\n+++ b/stdin\n@@ -8,3 +8,12 @@ v1/ReplicationController/amd\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--in-place"], "--in-place: standard input is no file", id="in-place-of-stdin"),
        pytest.param(["--in-place", "r", "-"], "--in-place: standard input is no file", id="in-place-of-both"),
        pytest.param(["--in-place", "--diff", "r"], "leave out --in-place or --diff", id="in-place-and-diff"),
        pytest.param(["--in-place", "-o", "x", "r"], "leave out --in-place or --output", id="in-place-and-output"),
        pytest.param(["--in-place", "-o", "-", "r"], "leave out --in-place or --output", id="in-place-and-stdout"),
        pytest.param(["--diff", "-o", "out/", "r"], "'out/' is a folder, and a diff is one file", id="diff-to-folder"),
        pytest.param(["-o", "out/"], "standard input' has no path below 'out/'", id="stdin-to-folder"),
        pytest.param(["-o", "no/x.yaml", "r"], "there is no folder 'no'", id="no-folder"),
        pytest.param(["-o", "r/a.yaml", "r"], "'r/a.yaml' is an input: to change the files themselves, run archfit "
                     "--in-place r/a.yaml", id="over-an-input"),
        pytest.param(["-o", "link.yaml", "r/a.yaml"], "'link.yaml' is an input", id="over-an-input-by-a-link"),
        pytest.param(["-o", "r", "r/a.yaml"], "'r/a.yaml' is an input", id="folder-over-an-input"),
        pytest.param(["-o", "out/", "r", "q"], "r/a.yaml and q/a.yaml would both be written to 'out/a.yaml'", id="collide"),
        pytest.param(["-o", "taken", "r"], "'taken/a.yaml' is a folder, where r/a.yaml would be written", id="a-folder-there"),
        pytest.param(["-o", "leads", "r"], "'leads/sub/b.yaml' leads out of 'leads'", id="leads-out"),
        pytest.param(["-o"], "has no value", id="no-value"),
    ],
)  # fmt: skip
def test_wrong_usage_writes_nothing(site, words, said):
    site.write({"q/a.yaml": BOTH, "taken/a.yaml/x.yaml": BOTH, "leads/x": b""})
    (site.folder / "link.yaml").symlink_to("r/a.yaml")
    (site.folder / "leads" / "sub").symlink_to("../q")
    before = site.files()
    ran = site.run(*words, stdin=AMD, options=words[-1] != "-o")
    assert (ran.status, ran.stdout) == (2, b""), ran.stderr
    assert said in ran.stderr
    assert site.files() == before


def test_a_folder_that_cannot_be_made_leaves_nothing(site):
    site.write({"file": b"x"})
    before = site.files()
    ran = site.run("r", "-o", "file/")
    assert ran.status in (1, 2)
    assert site.files() == before


@pytest.mark.parametrize(
    ("words", "environ", "terminal", "expected"),
    [
        pytest.param([], {}, False, False, id="pipe"),
        pytest.param([], {"TERM": "xterm"}, True, True, id="terminal"),
        pytest.param([], {"TERM": "xterm", "NO_COLOR": "1"}, True, False, id="no-color"),
        pytest.param([], {"FORCE_COLOR": "1"}, False, True, id="force-color"),
        pytest.param(["--color", "always"], {"NO_COLOR": "1"}, False, True, id="always"),
        pytest.param(["--color", "never"], {"FORCE_COLOR": "1"}, True, False, id="never"),
        pytest.param(["--color", "always", "-o", "x.diff"], {}, False, False, id="to-a-file"),
    ],
)
def test_a_diff_has_colours_where_a_person_reads_it(site, words, environ, terminal, expected):
    ran = site.run("--diff", "r", *words, terminal=terminal, CI="", **environ)
    assert ran.status == 0
    text = ran.stdout or site.files()["x.diff"]
    assert (b"\x1b[32m+" in text) is expected
    assert (b"\x1b[1m--- a/r/a.yaml\x1b[0m\n" in text) is expected


def test_a_diff_on_a_terminal_shows_no_control_characters(site):
    site.write(
        {"a.yaml": AMD.replace(b"      containers", b"      # \xe2\x80\xae \x07\n      containers", 1)}
    )
    ran = site.run("--diff", "--color=always", "a.yaml")
    assert b"\x07" not in ran.stdout
    assert rb"\u202e" in ran.stdout or ran.status == 1


def test_a_diff_shows_no_value_of_a_secret_beside_a_workload(site):
    site.write({"r/s.yaml": SECRET + b"---\n" + AMD + b"---\n" + SECRET.replace(b"kind: Secret\n", b"")})
    text = site.run("--diff", "r/s.yaml").stdout
    assert b"+      affinity:" in text
    assert b"hunter2" not in text


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--report", "./r/a.yaml", "r"], id="report-over-an-input"),
        pytest.param(["--report", "hard", "r"], id="report-over-an-input-by-another-name"),
        pytest.param(["--report", "r/a.yaml", "--in-place", "r"], id="report-over-a-file-in-place"),
        pytest.param(["--report", "x", "-o", "./x", "r"], id="report-over-the-output"),
        pytest.param(["--report", "out/a.yaml", "-o", "out/", "r"], id="report-over-a-file-of-the-folder"),
        pytest.param(["check", "--report", "r/a.yaml", "r"], id="report-of-check"),
        pytest.param(["check", "--format", "json=r/a.yaml", "r"], id="format-of-check"),
    ],
)
def test_no_report_replaces_an_input_or_the_output(site, words):
    os.link(site.folder / "r" / "a.yaml", site.folder / "hard")
    before = site.files()
    ran = site.run(*words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert "is an input or the output: name another file" in ran.stderr
    assert site.files() == before


def test_behind_two_dashes_every_word_is_a_file(site):
    site.write({"-x.yaml": AMD, "--diff": AMD})
    for name in ("-x.yaml", "--diff"):
        assert site.run(*OPTIONS, "--", name, options=False).stdout == placed(AMD)
    assert site.run("--", "-o", "x", options=False).status == 2
    ran = site.run("-o", "./-x.yaml", "--", "-x.yaml", options=False)
    assert "--in-place ./-x.yaml\n" in ran.stderr
