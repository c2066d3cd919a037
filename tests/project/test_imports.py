"""Start-up is part of the product: what a run may import, counted and not timed. The one list of what it may not.

warm        every image is in the cache             locked      every image is in the lock file; no cache either
nothing     no document can hold a pod              no parser and no decisions
cold        one image is asked for over TLS         its connection first, then what asks
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from archfit.lookup.store.open import default_path
from fake_registry import FakeRegistry
from machine import ROOT
from tls_files import tls_files
from warm_cache import warm

IMAGE = "x.example/a:1"
POD = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers:
  - {{name: a, image: '{IMAGE}'}}
""".encode()
DEPLOYMENT = f"""\
---
# Source: shop/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app.kubernetes.io/version: "1.27"
spec:
  replicas: 2
  template:
    spec:
      containers:
        - name: web
          image: {IMAGE}
          args: ["--port", "80"]
          resources:
            limits:
              cpu: 100m
""".encode()
FLOW = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: a}}
spec: {{template: {{spec: {{containers: [{{name: a, image: '{IMAGE}'}}]}}}}}}
""".encode()
CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
RESOURCE_LIST = (
    b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- "
    + POD.rstrip().replace(b"\n", b"\n  ")
    + b"\nfunctionConfig:\n  apiVersion: archfit.dev/v1alpha1\n  kind: ArchFit\n  metadata: {name: a}\n"
)

NETWORK = {
    "ssl",
    "socket",
    "http.client",
    "httpx",
    "httpcore",
    "asyncio",
    "concurrent.futures",
    "urllib.parse",
    "ipaddress",
    "queue",
}
HEAVY = {
    "logging",
    "rich",
    "jsonpatch",
    "dataclasses",
    "typing",
    "ruamel",
    "argparse",
    "inspect",
    "difflib",
    "threading",
    "hashlib",
    "subprocess",
    "pathlib",
    "contextlib",
    "fnmatch",
}
OWN = {
    "archfit.workloads.unsupported.unknown_kinds",
    "archfit.registry.fetcher",
    "archfit.registry.http.transport",
    "archfit.admission.admitted_pod",
    "uvicorn",
    "prometheus_client",
}
FORBIDDEN = NETWORK | HEAVY | OWN
# Modules of the standard library that take 0.8 to 2.3 ms each. Methods of strings and C modules do for usual input.
PURE = {"re", "enum", "json", "functools", "collections", "argparse"}
CACHE = {"sqlite3", "_sqlite3", "redis", "archfit.lookup.store.sqlite", "archfit.lookup.store.redis"}
PARSER = {"yaml", "yaml._yaml"}

_RUN = """
import sys
def guard(event, arguments):
    if event.startswith("socket.") or event in {events!r}:
        raise RuntimeError(event)
sys.addaudithook(guard)
from archfit.cli.main import main
code = main(sys.argv[1:])
loaded = sorted(sys.modules)
import json
sys.stderr.write("\\n" + json.dumps([code, loaded]))
"""


def loaded(stream, environ=(), events=(), words=()):
    """What a run over the stream has loaded, less an empty interpreter's modules. words: its arguments.

    An event of PEP 578 that starts with `socket.` or is in `events` ends the run.
    """
    environ = {**os.environ, **dict(environ)}
    code = _RUN.format(events=set(events) or "{}")
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *words], input=stream, env=environ, capture_output=True, check=True
    )
    status, modules = json.loads(done.stderr.decode().splitlines()[-1])
    assert status == 0, done.stderr.decode()
    assert b"affinity" in done.stdout or b"tolerations" in done.stdout or stream == CONFIG_MAP
    empty = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(modules) - set(empty.stdout.split())


@pytest.fixture
def warm_cache():
    warm({IMAGE: ["linux/amd64"]}, default_path(os.environ))


@pytest.fixture
def lock(tmp_path):
    """The variables of a locked run, as Helm 3 starts it."""
    path = tmp_path / "archfit.lock"
    entry = {"digest": "sha256:" + "a" * 64, "kind": "index", "platforms": ["linux/amd64"]}
    path.write_text(json.dumps({"version": 1, "images": {IMAGE: entry}}), encoding="utf-8")
    return {"ARCHFIT_LOCK_FILE": str(path), "ARCHFIT_LOCKED": "true", "HOME": "/nowhere"}


@pytest.mark.usefixtures("warm_cache")
@pytest.mark.parametrize(
    ("stream", "environ"),
    [
        pytest.param(POD, {}, id="a-stream"),
        pytest.param(POD, {"ARCHFIT_MIRROR": "y.example=https://mirror.example/y"}, id="with-a-mirror"),
        pytest.param(RESOURCE_LIST, {}, id="a-resource-list"),
    ],
)
def test_a_warm_run_loads_nothing_of_the_network_and_nothing_heavy(stream, environ):
    assert loaded(stream, environ) & FORBIDDEN == set()


@pytest.mark.usefixtures("warm_cache")
@pytest.mark.parametrize(
    ("stream", "most"),
    [
        pytest.param(CONFIG_MAP, 33, id="nothing"),
        pytest.param(DEPLOYMENT, 76, id="pods"),
        pytest.param(FLOW, 77, id="pods-in-flow-style"),
    ],
)
def test_a_warm_run_of_usual_input_loads_few_modules_and_none_of_the_pure_ones(stream, most):
    """The maxima are what a run loads today: a module takes 0.06 ms and more."""
    found = loaded(stream)
    assert found & PURE == set()
    own = {name for name in found if name.partition(".")[0] == "archfit"}
    assert len(own) <= most


@pytest.mark.usefixtures("warm_cache")
@pytest.mark.parametrize(
    ("words", "environ"),
    [
        pytest.param(["helm"], {}, id="the-plugin-of-helm-4"),
        pytest.param(["helm", "--tolerate", "arch=arm64:NoSchedule"], {}, id="the-plugin-with-a-flag"),
        pytest.param(["--cluster-architectures", "amd64,arm64", "--timeout=20s", ""], {}, id="flags"),
        pytest.param(
            [], {"ARCHFIT_CLUSTER_ARCHITECTURES": "amd64,arm64", "ARCHFIT_TIMEOUT": "20s"}, id="variables"
        ),
        pytest.param([], {"ARCHFIT_CONFIG": "{config}"}, id="a-configuration-file"),
    ],
)
def test_usual_options_load_none_of_the_pure_ones_either(words, environ, tmp_path):
    config = tmp_path / "archfit.yaml"
    config.write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"
        "spec:\n  clusterArchitectures: [amd64, arm64]\noperator:\n  timeout: 20s\n",
        encoding="utf-8",
    )
    environ = {name: text.format(config=config) for name, text in environ.items()}
    assert loaded(DEPLOYMENT, environ, words=words) & (PURE | FORBIDDEN | {"yaml"}) == set()


@pytest.mark.usefixtures("warm_cache")
def test_a_warm_run_leaves_the_cache_as_it_is():
    place = default_path(os.environ)
    os.utime(place, (1.0e9, 1.0e9))
    before = Path(place).read_bytes(), os.stat(place).st_mtime_ns
    loaded(POD)
    assert (Path(place).read_bytes(), os.stat(place).st_mtime_ns) == before
    assert os.listdir(os.path.dirname(place)) == [os.path.basename(place)]


@pytest.mark.usefixtures("warm_cache")
def test_a_run_without_options_loads_no_table_of_options():
    assert loaded(POD) & {"archfit.options.table", "archfit.options.layers"} == set()


def test_a_locked_run_loads_no_cache_either(lock):
    found = loaded(POD, lock, {"sqlite3.connect"})
    assert "archfit.lookup.lockfile" in found
    assert found & (FORBIDDEN | CACHE) == set()


def test_a_run_with_nothing_to_do_loads_no_parser_no_decisions_and_no_cache():
    assert loaded(CONFIG_MAP) & (FORBIDDEN | CACHE | PARSER | {"archfit.placement.decide"}) == set()


NEVER = {
    "rich",
    "asyncio",
    "encodings.idna",
    "archfit.registry.credentials.credential_helper",
    "archfit.cli.inputs.renderer_command",
}
_COLD = """
import sys
order = []
def watch(event, arguments):
    if event == "import":
        order.append(arguments[0])
sys.addaudithook(watch)
import _thread
for name in ("start_new_thread", "start_joinable_thread"):  # the second from Python 3.13 on
    def start(*given, _start=getattr(_thread, name, None), **more):
        order.append("a thread")
        return _start(*given, **more)
    if hasattr(_thread, name):
        setattr(_thread, name, start)
from archfit.cli.main import main
code = main(sys.argv[1:])
import json
sys.stderr.write("\\n" + json.dumps([code, sorted(sys.modules), order]))
"""


@pytest.fixture
def distant():
    """A registry over TLS, and the variables of a run that trusts it."""
    files = tls_files()
    with FakeRegistry(files.context()) as running:
        running.index("a", "1", ["linux/amd64"])
        yield running, {**os.environ, "SSL_CERT_FILE": str(files.ca)}


@pytest.mark.real
@pytest.mark.parametrize(
    ("words", "stream"),
    [
        pytest.param(["--mirror=x.example={url}"], POD, id="a-stream"),
        pytest.param(["inspect", "--raw", "--mirror=x.example={url}", IMAGE], b"", id="inspect"),
    ],
)
def test_a_run_that_asks_connects_before_it_loads_what_asks(distant, words, stream):
    registry, environ = distant
    words = [word.format(url=registry.url) for word in words]
    done = subprocess.run(
        [sys.executable, "-I", "-c", _COLD, *words],
        input=stream,
        env=environ,
        capture_output=True,
        check=True,
    )
    status, modules, order = json.loads(done.stderr.decode().splitlines()[-1])
    assert status == 0, done.stderr.decode()
    assert registry.count() == 1
    assert set(modules) & NEVER == set()
    connecting = order.index("a thread")
    for later in ("ssl", "httpx", "archfit.registry.client"):
        assert order.index(later) > connecting, later
    assert order.index("ssl") < order.index("httpx"), "TLS begins while httpx is loaded"


def test_one_module_knows_which_http_library_it_is() -> None:
    """So that another one can take its place."""
    knows = {"httpx": set(), "httpcore": set(), "h11": set()}
    for path in (ROOT / "transformer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.partition(".")[0] in knows:
                    knows[name.partition(".")[0]].add(path.stem)
    assert knows == {"httpx": {"transport"}, "httpcore": {"transport", "streams"}, "h11": set()}
