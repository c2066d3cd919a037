"""The plugin as a package: signed by `make plugin`, verified by Helm, from a file and from a registry.

The commands of "Publish the plugin" and of "The signed plugin" in .github/RELEASING.md run as they stand, against a
registry on loopback: its address takes the place of ghcr.io, and plain HTTP that of TLS.
"""

import os
import re
import shutil
import sys
import tarfile
from pathlib import Path

import pytest
from places import unpack

import machine
from archfit import __version__
from helm_runs import CHARTS, SYSTEM_PATH, start
from helm_signing import signing_key
from program import PROGRAM, Ran
from real_registries import distribution, ggcr

SCRIPT = machine.ROOT / "scripts" / "plugin_archive.py"
ARCHIVE = f"archfit-{__version__}.tgz"
USER_PAGE = (machine.ROOT / ".github" / "RELEASING.md").read_text(encoding="utf-8")
PAGE = USER_PAGE.partition("\n## Publish the plugin\n")[2]
MESSAGES = dict(
    re.findall(r"^\| `(.+?)` \| (.+?) \|$", USER_PAGE.partition("## The signed plugin")[2], re.MULTILINE)
)


def package(into: Path, *words: str) -> Ran:
    command = [sys.executable, str(SCRIPT), "--helm", machine.tool("helm4"), "--into", str(into), *words]
    return start(command, dict(os.environ))


FAKE_HELM = """\
#!{python}
import pathlib, sys
if sys.argv[2] == "package":
    into = pathlib.Path(sys.argv[sys.argv.index("--destination") + 1])
    ends = into.parent / "ends"
    end, rest = ends.read_text().split(" ", 1)
    ends.write_text(rest)
    (into / "{archive}.prov").write_text(f"AAAA{{end}}\\n-----END PGP SIGNATURE-----")
"""


@pytest.mark.parametrize("end", ["A=", "==", "\n=AAAA"], ids=["padded", "padded-twice", "a-checksum"])
def test_a_signature_that_gnupg_reads_too_far_is_made_again(end, tmp_path):
    helm = tmp_path / "helm"
    helm.write_text(FAKE_HELM.format(python=sys.executable, archive=ARCHIVE), encoding="utf-8")
    helm.chmod(0o755)
    (tmp_path / "ends").write_text(f"AAAA AAAA {end} AAAA ", encoding="utf-8")
    package(tmp_path / "into", "--helm", str(helm), "--throw-away-key").ok()
    assert (tmp_path / "ends").read_text(encoding="utf-8") == "AAAA "
    assert f"{end}\n-----END" in (tmp_path / "into" / f"{ARCHIVE}.prov").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    with signing_key(tmp_path_factory.mktemp("key"), "me") as made:
        yield made


@pytest.fixture(scope="module")
def signed(key, tmp_path_factory):
    """A folder with the archive, its signature and the public key, as a release has them."""
    folder = tmp_path_factory.mktemp("dist")
    package(folder, "--keyring", str(key.secret), "--key", key.name).ok()
    assert (folder / "archfit-plugin.gpg").read_bytes() == key.public.read_bytes()
    return folder


class Home:
    """A user with Helm 4 and no plugin."""

    def __init__(self, folder: Path, mirrors: str) -> None:
        self.folder = folder
        bin_folder = folder / "bin"
        bin_folder.mkdir(parents=True)
        (bin_folder / "helm").symlink_to(machine.tool("helm4"))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "GNUPG"))}
        self.environ = {
            **kept,
            "HOME": str(folder),
            "PATH": f"{bin_folder}:{PROGRAM.parent}:{SYSTEM_PATH}",
            "ARCHFIT_MIRROR": mirrors,
        }
        self.plugins = folder / ".local" / "share" / "helm" / "plugins"

    def helm(self, *words: str, **environ: str) -> Ran:
        return start(["helm", *words], {**self.environ, **environ})

    def install(self, *words: str) -> Ran:
        return self.helm("plugin", "install", *words)

    def shop(self, **environ: str) -> Ran:
        return self.helm("template", "demo", str(CHARTS / "shop"), "--post-renderer", "archfit", **environ)


@pytest.fixture
def home(tmp_path, mirrors):
    return Home(tmp_path / "home", mirrors)


@pytest.fixture(params=["distribution", "ggcr"])
def plugins(request, tmp_path, signed):
    """A registry that the page's own command has pushed to."""
    folder = tmp_path / "registry"
    folder.mkdir()
    with {"distribution": distribution, "ggcr": ggcr}[request.param](folder) as running:
        block = next(text for text in blocks(PAGE) if text.startswith("regctl"))
        command = block.replace(
            "regctl ", f"{machine.tool('regctl')} --host reg={running.host},tls=disabled ", 1
        )
        environ = {**os.environ, "HOME": str(tmp_path)}
        start(
            ["/bin/sh", "-euc", command.replace("ghcr.io", running.host).replace("OWNER", "owner")],
            environ,
            signed,
        ).ok()
        yield running


def blocks(text: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_a_verified_plugin_renders_the_chart(home, signed, helm4):
    ran = home.install("--keyring", str(signed / "archfit-plugin.gpg"), str(signed / ARCHIVE))
    assert b"Signed by: me\n" in ran.ok()
    assert home.shop().ok() == helm4.template("shop").ok()
    assert re.search(
        rb"^archfit\s+\S+\s+postrenderer/v1\s+v1\s+signed\b", home.helm("plugin", "list").ok(), re.MULTILINE
    )


def _tampered(folder: Path) -> None:
    plugin = unpack(folder / ARCHIVE, folder / "x") / "archfit" / "plugin.yaml"
    text = plugin.read_text(encoding="utf-8")
    plugin.write_text(text.replace("command: archfit", "command: other"), encoding="utf-8")
    with tarfile.open(folder / ARCHIVE, "w:gz") as tar:
        tar.add(folder / "x" / "archfit", "archfit")


def _without_signature(folder: Path) -> None:
    (folder / f"{ARCHIVE}.prov").unlink()


@pytest.mark.parametrize(
    ("change", "keyring", "message"),
    [
        pytest.param(
            _tampered, "archfit-plugin.gpg", f"sha256 sum does not match for {ARCHIVE}", id="tampered"
        ),
        pytest.param(
            _without_signature, "archfit-plugin.gpg", "no provenance file (.prov) found", id="no-signature"
        ),
        pytest.param(None, "other.gpg", "openpgp: signature made by unknown entity", id="unknown-key"),
        pytest.param(None, "", "pubring.gpg: no such file or directory", id="no-keyring"),
    ],
)
def test_helm_refuses_and_the_page_says_what_to_do(home, signed, tmp_path, change, keyring, message):
    folder = shutil.copytree(signed, tmp_path / "copy")
    if keyring == "other.gpg":
        package(folder / "other", "--throw-away-key").ok()
        shutil.move(folder / "other" / "archfit-throw-away.gpg", folder / keyring)
    if change:
        change(folder)
    words = ("--keyring", str(folder / keyring)) if keyring else ()
    ran = home.install(*words, str(folder / ARCHIVE))
    assert ran.status == 1
    assert message in ran.stderr
    assert not (home.plugins / "archfit").exists()
    (remedy,) = [remedy for said, remedy in MESSAGES.items() if matches(said, ran.stderr)]
    assert remedy


def matches(said: str, stderr: str) -> bool:
    return all(part in stderr for part in said.replace("0.1.0", __version__).split("..."))


def test_without_archfit_on_path_the_message_names_it(home, signed):
    home.install("--keyring", str(signed / "archfit-plugin.gpg"), str(signed / ARCHIVE)).ok()
    ran = home.shop(PATH=f"{home.folder / 'bin'}:{SYSTEM_PATH}")
    assert (ran.status, ran.stdout) == (1, b"")
    assert [said for said in MESSAGES if matches(said, ran.stderr)] == [
        'exec: "archfit": executable file not found in $PATH'
    ]
    checked = start(
        [str(PROGRAM), "setup", "helm", "--check"],
        {**home.environ, "PATH": f"{home.folder / 'bin'}:{SYSTEM_PATH}"},
    )
    assert checked.status == 3
    assert b"put archfit on PATH" in checked.stdout


def test_installed_twice_the_page_says_what_to_do(home, signed):
    words = ("--keyring", str(signed / "archfit-plugin.gpg"), str(signed / ARCHIVE))
    home.install(*words).ok()
    again = home.install(*words)
    assert [said for said in MESSAGES if matches(said, again.stderr)] == ["plugin already exists"]
    home.helm("plugin", "uninstall", "archfit").ok()
    home.install(*words).ok()


def test_the_check_of_a_signed_plugin_is_right(home, signed):
    home.install("--keyring", str(signed / "archfit-plugin.gpg"), str(signed / ARCHIVE)).ok()
    checked = start([str(PROGRAM), "setup", "helm", "--check"], home.environ)
    assert checked.status == 0, checked.stdout
    plugin = home.plugins / "archfit" / "plugin.yaml"
    plugin.write_text(plugin.read_text(encoding="utf-8").replace(__version__, "0.0.9"), encoding="utf-8")
    older = start([str(PROGRAM), "setup", "helm", "--check"], home.environ)
    assert older.status == 3
    assert b"is of archfit 0.0.9" in older.stdout
    assert b"run `helm plugin uninstall archfit`" in older.stdout


def test_the_commands_of_the_users_page_run(home, signed, plugins, helm4):
    section = USER_PAGE.partition("## The signed plugin")[2].partition("\n#")[0]
    from_registry, from_files = blocks(section)
    from_registry = from_registry.replace("ghcr.io/OWNER", f"{plugins.host}/owner")
    script = from_registry.replace("helm plugin install", "helm plugin install --plain-http")
    for text in (script, f"helm plugin uninstall archfit\n{from_files}"):
        start(["/bin/sh", "-euc", text], home.environ, signed).ok()
        assert home.shop().ok() == helm4.template("shop").ok()


def test_the_makefile_signs_with_a_key_of_the_user(key, tmp_path):
    script = blocks(PAGE)[0].replace("you@example.com", key.name).replace("dist/", f"{tmp_path}/")
    script = script.replace("secret.gpg", f"{tmp_path}/secret.gpg").replace(
        "make plugin", f"make -o .venv/.ready plugin HELM4={machine.tool('helm4')} DIST={tmp_path}"
    )
    start(["/bin/sh", "-euc", script], {**os.environ, "GNUPGHOME": str(key.home)}, machine.ROOT).ok()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ARCHIVE,
        f"{ARCHIVE}.prov",
        "archfit-plugin.gpg",
        "secret.gpg",
    ]


def test_a_missing_key_is_said_with_the_commands_that_make_one(tmp_path):
    ran = package(tmp_path)
    assert ran.status == 2
    assert "gpg --export-secret-keys" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_equal_sources_give_an_equal_archive(signed, tmp_path):
    package(tmp_path, "--throw-away-key").ok()
    assert (tmp_path / ARCHIVE).read_bytes() == (signed / ARCHIVE).read_bytes()
    with tarfile.open(tmp_path / ARCHIVE) as tar:
        assert tar.getnames() == ["archfit", "archfit/LICENSE", "archfit/README.md", "archfit/plugin.yaml"]


def test_what_setup_helm_writes_can_be_packaged_too(key, helm4, tmp_path):
    written = str(helm4.folder / "plugins" / "archfit")
    words = ("--keyring", str(key.secret), "--key", key.name, "--destination", str(tmp_path))
    start([helm4.program, "plugin", "package", "--sign", *words, written], dict(os.environ)).ok()
    start(
        [helm4.program, "plugin", "verify", "--keyring", str(key.public), str(tmp_path / ARCHIVE)],
        dict(os.environ),
    ).ok()


def test_a_key_with_a_passphrase_signs_with_the_file_that_has_it(tmp_path):
    (tmp_path / "passphrase").write_text("hush\n", encoding="utf-8")
    with signing_key(tmp_path, "guarded", "hush") as guarded:
        words = ("--keyring", str(guarded.secret), "--key", guarded.name)
        ran = package(tmp_path / "dist", *words, "--passphrase-file", str(tmp_path / "passphrase"))
    assert b"Signed by: guarded\n" in ran.ok()


@pytest.mark.parametrize("key_name", ["nobody", "me"])
def test_a_keyring_without_the_key_is_said(key, tmp_path, key_name):
    keyring = key.secret if key_name == "nobody" else tmp_path / "gone.gpg"
    ran = package(tmp_path / "dist", "--keyring", str(keyring), "--key", key_name)
    assert ran.status == 1
    assert f"gpg cannot read the key {key_name!r}" in ran.stderr
    assert not list((tmp_path / "dist").glob("*.tgz"))
