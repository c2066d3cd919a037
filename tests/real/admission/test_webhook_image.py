"""The Dockerfile, replayed without an engine (see container_image): `archfit serve` as the pods start it.

The arguments and variables are those of the Deployment, with its folders below /src, as the scratch root has no /etc of
its own. What only an engine could show is not tested: the layers, other platforms, a registry that takes the image.
"""

import json
import re
import shlex

import machine
from archfit import __version__
from chart_runs import Chart, named
from container_image import entrypoint
from real_registries import free_port
from webhook_pairs import paired

DOCKERFILE = machine.ROOT / "Dockerfile"
TEXT = DOCKERFILE.read_text(encoding="utf-8")
# Starts the server, asks it once it is ready, ends it; prints (status of /readyz, the response, the exit code).
ASK = """\
import atexit, json, os, signal, ssl, subprocess, sys, time, urllib.error, urllib.request
ca, port, probes, *command = sys.argv[1:]
server = subprocess.Popen(command)
atexit.register(server.kill)
def get(url, data=None, context=None):
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, context=context, timeout=10) as answer:
        return answer.status, answer.read().decode()
for _ in range(2000):
    try:
        ready = get(f"http://127.0.0.1:{probes}/readyz")[0]
        break
    except OSError:
        assert server.poll() is None, server.returncode
        time.sleep(0.01)
pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"},
       "spec": {"containers": [{"name": "a", "image": "h.example/amd:1"}]}}
review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
    "uid": "u", "operation": "CREATE", "namespace": "shop", "object": pod,
    "kind": {"group": "", "version": "v1", "kind": "Pod"},
    "resource": {"group": "", "version": "v1", "resource": "pods"}}}
context = ssl.create_default_context(cafile=ca)
context.check_hostname = False
response = json.loads(get(f"https://127.0.0.1:{port}/mutate?timeout=5s", json.dumps(review).encode(), context)[1])
memory = next(line for line in open(f"/proc/{server.pid}/status") if line.startswith("VmRSS"))
server.send_signal(signal.SIGTERM)
print(json.dumps([ready, response, server.wait(20), int(memory.split()[1])]))
"""


def container() -> dict:
    deployment = named(Chart("helm4").objects())["Deployment", "archfit"]
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    return found


def test_the_pods_start_what_the_image_holds(image, tmp_path):
    _objects, pair = paired(Chart("helm4"), tmp_path)
    files = {
        "etc/archfit/tls/tls.crt": pair.certificate,
        "etc/archfit/tls/tls.key": pair.key,
        "etc/archfit/ca.crt": pair.ca,
        "etc/archfit/configuration/archfit.yaml": b"apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"
        b"spec: {imagePlatforms: {'h.example/*': [linux/amd64]}}\n",
        "ask.py": ASK.encode(),
    }
    for name, content in files.items():
        image.place(f"src/{name}", content)
    words = [word.replace("=/etc/", "=/src/etc/") for word in container()["args"]]
    port, probes = free_port(), free_port()
    words += [f"--listen=127.0.0.1:{port}", f"--probe-listen=127.0.0.1:{probes}", "--drain-delay=0s"]
    environ = {one["name"]: one["value"].replace("/etc/", "/src/etc/") for one in container()["env"]}
    environ["XDG_CACHE_HOME"] = "/tmp"  # the mount of /var/cache/archfit
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environ.items())
    server = entrypoint(DOCKERFILE, *words)
    ran = image.run(f"env {variables} python /src/ask.py /src/etc/archfit/ca.crt {port} {probes} {server}")
    assert ran.returncode == 0, ran.stderr.decode()
    ready, review, code, kibibytes = json.loads(ran.stdout)
    assert (ready, code) == (200, 0)
    assert review["response"]["allowed"] is True
    assert review["response"]["patchType"] == "JSONPatch"
    limit = container()["resources"]["limits"]["memory"]
    assert kibibytes * 2 < int(limit.removesuffix("Mi")) * 1024


def test_any_user_a_read_only_root_and_the_extras(image):
    for user in ("65532:65532", "12345:0"):
        ran = image.run(
            entrypoint(DOCKERFILE, "--version"),
            "python -c 'import uvicorn, httptools, uvloop, prometheus_client, redis, archfit.webhook.command'",
            entrypoint(DOCKERFILE, "cache", "path"),
            user=user,
        )
        assert ran.returncode == 0, ran.stderr.decode()
        assert ran.stdout.decode().split() == ["archfit", __version__, "/tmp/archfit/lookups.sqlite"]


def test_the_image_is_what_the_manifests_expect(image):
    assert image.user == "65532:65532"
    # A variable would win over the operator's file.
    assert not any(name.startswith("ARCHFIT_") for name in image.environ)
    assert f"-t registry.example.com/archfit:{__version__}" in TEXT
    assert container()["image"] == f"registry.example.com/archfit:{__version__}"
    exposed = re.findall(r"^EXPOSE (.*)$", TEXT, re.MULTILINE)[0].split()
    assert [str(port["containerPort"]) for port in container()["ports"]] == exposed
