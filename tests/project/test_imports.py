"""Start-up is part of the product: what a warm run must not load. The one list of it.

warm        every image is in the cache             locked      every image is in the lock file; no cache either
nothing     no document can hold a pod              no parser and no decisions
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from archfit.lookup.store.open import default_path
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
CONFIGURATION = """\
apiVersion: archfit.dev/v1alpha1
kind: ArchFit
spec:
  clusterArchitectures: [amd64, arm64]
operator:
  timeout: 20s
"""

NETWORK = {
    *("ssl", "socket", "http.client", "h11", "asyncio", "concurrent.futures"),
    *("urllib.parse", "ipaddress", "queue"),
}
HEAVY = {
    *("logging", "rich", "jsonpatch", "dataclasses", "typing", "ruamel", "argparse", "inspect", "difflib"),
    *("threading", "hashlib", "subprocess", "pathlib", "contextlib", "fnmatch", "jinja2"),
}
PRODUCTS = {
    "archfit.workloads.unsupported.unknown_kinds",
    "archfit.registry.client",
    "archfit.registry.http.http_client",
    "archfit.webhook.admitted_pod",
    "uvicorn",
    "prometheus_client",
}
ALWAYS = NETWORK | HEAVY | PRODUCTS
# Modules of the standard library that take 0.8 to 2.3 ms each. Methods of strings and C modules do for usual input.
PURE = {"re", "enum", "json"}
CACHE = {"sqlite3", "_sqlite3", "redis", "archfit.lookup.store.sqlite", "archfit.lookup.store.redis"}
PARSER = {"yaml", "yaml._yaml"}
OPTIONS = {"archfit.options.table", "archfit.options.option_types", "archfit.yaml.data_form"}

_RUN = """
import sys
from archfit.cli.main import main
code = main(sys.argv[1:])
loaded = sorted(sys.modules)
import json
sys.stderr.write("\\n" + json.dumps([code, loaded]))
"""


def modules(program, stream=b"", environ=(), words=()):
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, *words],
        input=stream,
        env={**os.environ, **dict(environ)},
        capture_output=True,
        check=True,
    )
    code, names = json.loads(done.stderr.decode().splitlines()[-1])
    assert code == 0, done.stderr.decode()
    assert b"affinity" in done.stdout or b"tolerations" in done.stdout or stream in {b"", CONFIG_MAP}
    return set(names)


@pytest.fixture(scope="module")
def empty():
    """What Python itself loads."""
    return modules("import sys; n = sorted(sys.modules); import json; sys.stderr.write(json.dumps([0, n]))")


@pytest.fixture
def warm_cache():
    warm({IMAGE: ["linux/amd64"]}, default_path(os.environ))


@pytest.mark.usefixtures("warm_cache")
@pytest.mark.parametrize(
    ("stream", "environ", "words", "never"),
    [
        pytest.param(POD, {}, [], OPTIONS, id="a-pod"),
        pytest.param(POD, {"ARCHFIT_MIRROR": "y.example=https://mirror.example/y"}, [], set(), id="a-pod-with-a-mirror"),
        pytest.param(RESOURCE_LIST, {}, [], set(), id="a-resource-list"),
        pytest.param(CONFIG_MAP, {}, [], PURE | CACHE | PARSER | {"archfit.placement.decide"}, id="nothing"),
        pytest.param(DEPLOYMENT, {}, [], PURE | OPTIONS, id="a-deployment"),
        pytest.param(FLOW, {}, [], PURE | OPTIONS, id="a-deployment-in-flow-style"),
        pytest.param(DEPLOYMENT, {}, ["helm"], PURE | {"yaml"}, id="the-plugin-of-helm-4"),
        pytest.param(DEPLOYMENT, {}, ["helm", "--tolerate", "arch=arm64:NoSchedule"], PURE | {"yaml"}, id="the-plugin-with-a-flag"),
        pytest.param(DEPLOYMENT, {}, ["--cluster-architectures", "amd64,arm64", "--timeout=20s", ""], PURE | {"yaml"}, id="flags"),
        pytest.param(DEPLOYMENT, {"ARCHFIT_CLUSTER_ARCHITECTURES": "amd64,arm64", "ARCHFIT_TIMEOUT": "20s"}, [], PURE | {"yaml"}, id="variables"),
        pytest.param(DEPLOYMENT, {"ARCHFIT_CONFIG": "{config}"}, [], PURE | {"yaml"}, id="a-configuration-file"),
    ],
)  # fmt: skip
def test_a_warm_run_loads_nothing_of_the_network_and_nothing_heavy(
    stream, environ, words, never, tmp_path, empty
):
    config = tmp_path / "archfit.yaml"
    config.write_text(CONFIGURATION, encoding="utf-8")
    environ = {name: text.format(config=config) for name, text in environ.items()}
    assert (modules(_RUN, stream, environ, words) - empty) & (ALWAYS | never) == set()


def test_a_locked_run_loads_no_cache_either(tmp_path, empty):
    path = tmp_path / "archfit.lock"
    entry = {"digest": "sha256:" + "a" * 64, "kind": "index", "platforms": ["linux/amd64"]}
    path.write_text(json.dumps({"version": 1, "images": {IMAGE: entry}}), encoding="utf-8")
    environ = {"ARCHFIT_LOCK_FILE": str(path), "ARCHFIT_LOCKED": "true", "HOME": "/nowhere"}
    assert (modules(_RUN, POD, environ) - empty) & (ALWAYS | CACHE) == set()


@pytest.mark.usefixtures("warm_cache")
def test_a_warm_run_leaves_the_cache_as_it_is():
    place = default_path(os.environ)
    os.utime(place, (1.0e9, 1.0e9))
    before = Path(place).read_bytes(), os.stat(place).st_mtime_ns
    modules(_RUN, POD)
    assert (Path(place).read_bytes(), os.stat(place).st_mtime_ns) == before
    assert os.listdir(os.path.dirname(place)) == [os.path.basename(place)]
