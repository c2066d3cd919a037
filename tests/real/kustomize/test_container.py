"""The Dockerfile, replayed without an engine: COPY, RUN and ENTRYPOINT in a scratch root with mounts of its own.

    /               read-only when archfit runs; the machine's own directories, its Python among them, bound below it
    /usr/local      empty at first: a virtual environment stands for the image's Python
    /src            what COPY lists, and nothing else of the repository
    /tmp            a file system of its own, the only one that can be written

archfit runs as UID 65534, and as any other, with the variables of ENV and no others. Building it needs the package
index, and this test root.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from registry import Registry

import machine
from archfit import __version__

DOCKERFILE = machine.ROOT / "kustomize-plugin" / "Dockerfile"
LIST = b"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec: {containers: [{name: a, image: h.example/amd:1}]}
"""
MOUNTS = """\
set -eu
root=$1
mount --bind "$root" "$root"
for path in /*; do
  name=${path#/}
  case $name in tmp|src) continue ;; esac
  if [ -L "$path" ]; then ln -sfn "$(readlink "$path")" "$root/$name"; continue; fi
  [ -d "$path" ] || continue
  mkdir -p "$root/$name"
  mount --rbind "$path" "$root/$name"
done
mkdir -p "$root/tmp"
mount --bind "$2" "$root/usr/local"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
"""
READ_ONLY = """\
for path in "$root/usr/local" "$root/usr" "$root/etc" "$root"; do mount -o remount,bind,ro "$path"; done
set +e
"""


def instructions():
    """(instruction, rest of its line) of the Dockerfile."""
    lines = DOCKERFILE.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]


def python():
    """A Python of this machine that every user may start."""
    for path in (sys._base_executable, "/usr/bin/python3"):
        real = Path(os.path.realpath(path))
        if real.exists() and all(above.stat().st_mode & 0o5 == 0o5 for above in real.parents):
            return str(real)
    return machine.missing("a Python that every user may start", "install python3 below /usr")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The image, built; run(command, ..) starts commands in it."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        machine.missing("root, for a scratch root", "run the suite as root on Linux")
    folder = tmp_path_factory.mktemp("image")
    root, local = folder / "root", folder / "local"
    (root / "src").mkdir(parents=True)
    local.mkdir()
    for name, rest in instructions():
        if name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                copy(machine.ROOT / source, root / target.lstrip("/"), directory=target.endswith("/"))
    script = [MOUNTS, f'chroot "$root" {shlex.quote(python())} -m venv /usr/local']
    script += [
        f'PATH=/usr/local/bin:$PATH chroot "$root" /bin/sh -c {shlex.quote(rest)} >&2'
        for name, rest in instructions()
        if name == "RUN"
    ]
    built = unshared(script, root, local, machine.ENVIRON)
    assert built.returncode == 0, built.stderr.decode()
    environ = dict(rest.split("=", 1) for name, rest in instructions() if name == "ENV")

    (root / "src" / "given").write_bytes(LIST)
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environ.items())

    def run(*commands, user="65534:65534", network=True):
        """The commands in turn, in one life of the container; the list is their standard input."""
        chroot = (
            f'chroot --userspec={user} "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin {variables}'
        )
        started = [f'{chroot} {command} < "$root/src/given"' for command in commands]
        return unshared([MOUNTS, READ_ONLY, *started], root, local, machine.ENVIRON, network=network)

    return run


def copy(source, target, *, directory):
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        target.mkdir(parents=True, exist_ok=True) if directory else target.parent.mkdir(exist_ok=True)
        shutil.copy(source, target)


def unshared(script, root, local, environ, *, network=True):
    """A shell script in a namespace of mounts, which ends with it."""
    return subprocess.run(
        [
            *("unshare", "-m", "--propagation", "private", *([] if network else ["-n"])),
            *("/bin/sh", "-c", "\n".join(script), "sh", root, local),
        ],
        env=environ,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


@pytest.fixture(scope="module")
def mirrors():
    with Registry({"h.example/amd:1": ["linux/amd64"]}) as served:
        yield served.mirrors()


def entrypoint(*words):
    """The command line of the container."""
    (rest,) = [rest for name, rest in instructions() if name == "ENTRYPOINT"]
    return shlex.join([*yaml.safe_load(rest), *words])


def test_any_user_a_read_only_root_and_no_home(image, mirrors):
    for user in ("65534:65534", "12345:0"):
        ran = image(entrypoint(*mirrors), user=user)
        assert ran.returncode == 0, ran.stderr.decode()
        (item,) = yaml.safe_load(ran.stdout)["items"]
        assert list(item["spec"]["affinity"]) == ["nodeAffinity"]
        assert b"warning" not in ran.stderr


def test_the_root_is_read_only_for_the_test_as_well(image):
    ran = image("/bin/sh -c 'touch /x /usr/local/x /src/x; touch /tmp/x && echo tmp'", user="0:0")
    assert ran.stdout == b"tmp\n"
    assert ran.stderr.count(b"Read-only file system") == 3


def test_the_cache_is_where_it_can_be_written(image, mirrors):
    """A second run in the same container asks nothing."""
    ran = image(entrypoint(*mirrors), entrypoint(*mirrors), entrypoint("cache", "path"))
    assert ran.stdout.decode().splitlines()[-1] == "/tmp/archfit/lookups.sqlite"
    said = [line for line in ran.stderr.decode().splitlines() if "registry requests" in line]
    assert [line.rpartition(", ")[2] for line in said][1:] == ["0 registry requests"], ran.stderr.decode()


def test_without_network_it_says_which_flag_it_lacks(image):
    ran = image(entrypoint(), network=False)
    assert ran.returncode == 1
    assert b"add --network to kustomize build" in ran.stderr
    assert yaml.safe_load(ran.stdout)["results"][-1]["severity"] == "error"


def test_without_network_it_works_where_every_image_is_known(image):
    ran = image(entrypoint("--image-platforms", "h.example/*=linux/amd64"), network=False)
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"nodeAffinity" in ran.stdout


def test_bytecode_is_in_the_image(image):
    """A read-only image could not keep it, and without it each start compiles anew."""
    ran = image(
        "python -c 'import archfit.cli, importlib.util, os, sys; "
        "print(os.path.exists(importlib.util.cache_from_source(archfit.cli.__file__)))'"
    )
    assert ran.stdout == b"True\n"


FIELDS = {
    (): {"apiVersion": str, "kind": str, "metadata": dict, "spec": dict},
    ("spec",): {
        "group": str, "names": dict, "versions": list, "description": str, "publisher": str, "home": str,
        "maintainers": [str], "tags": [str],
    },
    ("spec", "names"): {"kind": str},
    ("spec", "versions"): {
        "name": str, "schema": dict, "idempotent": bool, "usage": str, "examples": [str], "license": str,
        "maintainers": [str], "runtime": dict,
    },
    ("spec", "versions", "schema"): {"openAPIV3Schema": dict},
    ("spec", "versions", "runtime"): {"deferFailure": bool, "container": dict, "exec": dict},
    ("spec", "versions", "runtime", "exec"): {"path": str, "args": [str], "envs": [str]},
    ("spec", "versions", "runtime", "container"): {"image": str, "network": bool, "mounts": list, "envs": [str]},
}  # fmt: skip
"""Of KRMFunctionDefinition in sigs.k8s.io/kustomize/kyaml v0.21.1, fn/framework/function_definition.go."""


def unfit(value, path=()):
    """What the Go type has no place for."""
    if path not in FIELDS:
        return
    for holder in value if isinstance(value, list) else [value]:
        for name, member in holder.items():
            kind = FIELDS[path].get(name)
            of_items = isinstance(kind, list)
            fits = kind and isinstance(member, list if of_items else kind)
            if not fits or (of_items and not all(isinstance(one, kind[0]) for one in member)):
                yield (*path, name)
            else:
                yield from unfit(member, (*path, name))


def definition():
    text = (machine.ROOT / "kustomize-plugin" / "function.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def test_the_function_definition_has_the_fields_of_its_go_type():
    made = definition()
    assert list(unfit(made)) == []
    (version,) = made["spec"]["versions"]
    for path in (version["usage"], *version["examples"]):
        assert (machine.ROOT / path).exists(), path
    assert version["runtime"]["container"]["image"] == f"archfit:{__version__}"


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        pytest.param(("spec",), "requireNetwork", True, id="an-unknown-field"),
        pytest.param(
            ("spec", "versions", 0), "examples", [{"kind": "ArchFit"}], id="an-example-that-is-no-text"
        ),
        pytest.param(
            ("spec", "versions", 0, "runtime", "exec"), "platforms", [], id="an-unknown-field-of-exec"
        ),
    ],
)
def test_and_the_check_of_its_fields_can_fail(path, name, value):
    made = definition()
    holder = made
    for token in path:
        holder = holder[token]
    holder[name] = value
    assert len(list(unfit(made))) == 1
