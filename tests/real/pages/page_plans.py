"""How each page is followed: what is prepared, what is stood in for, what is left out, each with its reason.

    PLANS          one row for each page that tests/real/pages follows
    NOT_FOLLOWED   pages whose commands no walk runs, with the reason or the test that runs them

A page with commands that is in neither fails.
"""

import json
import shutil
from pathlib import Path

import yaml
from tests.real.pages.page_walk import Because, Plan

import machine
from tls_files import tls_files

CHARTS = machine.ROOT / "fixtures" / "charts"
POOLS = machine.ROOT / "fixtures" / "pools"
IMAGES = {
    **json.loads((machine.ROOT / "fixtures" / "demo" / "platforms.json").read_text(encoding="utf-8")),
    "h.example/web:2": ["linux/amd64"],
    "nginx:1.27": ["linux/amd64", "linux/arm64"],
    "ghcr.io/team/app:1": ["linux/amd64"],
    "quay.io/team/app:1": ["linux/amd64"],
    "quay.io/team/new:1": ["linux/amd64"],
    "quay.io/argoproj/argocd:v3.5.1": ["linux/amd64", "linux/arm64"],
}


def _text(name: str) -> str:
    return (machine.ROOT / "fixtures" / "pages" / f"{name}.yaml").read_text(encoding="utf-8")


# What the pages find, in files and in the cluster. The operator's own definition was looked at once; there a resource
# of Argo's is any mapping.
WEB, PODS, JOB = _text("web"), _text("pods"), _text("job")
OTHER_WEBHOOK = _text("other_webhook")
ARGOCD, ARGOCD_KIND, ARGOCD_RESOURCE = _text("argocd"), _text("argocd_kind"), _text("argocd_resource")
_FINALIZE = """\
"$REAL" "$@" --wait=false; status=$?
for name in $("$REAL" get namespaces -o name --field-selector status.phase=Terminating | cut -d/ -f2); do
  "$REAL" get namespace "$name" -o json | jq '.spec.finalizers = []' |
    "$REAL" replace --raw "/api/v1/namespaces/$name/finalize" -f - > /dev/null
done
exit $status"""
_CLUSTER = Because(
    'case " $* " in *" rollout "*|*" wait "*|*" logs "*) exit 0;; *" exec "*) echo "{}"; exit 0;;\n'
    f'*" delete "*) {_FINALIZE};;\nesac\nexec "$REAL" "$@"',
    "no kubelet and no controllers run: nothing is ever ready, no container can be entered, no namespace ends",
)
DOCKER = Because(
    'while [ $# -gt 0 ]; do [ "$1" = -f ] && file=$2; shift; done; test -f "${file:-Dockerfile}"',
    "no container engine runs; the file that it is to build has to be there",
)
# Everything of archfit's in the cluster is taken away; the files stay.
_EMPTY = """kubectl delete -n archfit --all deployments,jobs,cronjobs,services,configmaps,secrets,serviceaccounts
kubectl delete -n archfit --all poddisruptionbudgets,networkpolicies,roles,rolebindings
kubectl delete --ignore-not-found namespace archfit
kubectl delete --all mutatingadmissionpolicybinding,mutatingadmissionpolicy
kubectl delete --all validatingadmissionpolicybinding,validatingadmissionpolicy
kubectl delete --ignore-not-found mutatingwebhookconfiguration archfit
kubectl delete --ignore-not-found clusterrole,clusterrolebinding -l app.kubernetes.io/name=archfit
until ! kubectl get namespace archfit; do sleep 0.1; done"""
# Until the API server refuses or warns of what the page shows.
_POLICY_COUNTS = """n=0
until kubectl run probe --image quay.io/team/new:1 --dry-run=server 2>&1 | grep -q "run archfit policy again"
do [ $((n+=1)) -lt 150 ] || exit 1; sleep 0.2; done; kubectl delete pod web --ignore-not-found"""
_NO_INDEX = "installs from a package index; tests/real/release installs the packages"
_HOME = "a folder of the machine"


def nothing(_folder: Path, _environ: dict[str, str]) -> None:
    """The page names no file."""


def write(folder: Path, name: str, text: str) -> None:
    """A file below the folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def cloud_objects(_folder: Path, environ: dict[str, str]) -> None:
    """The nodes of one cluster, and the pools of one of each sort, as kubectl prints them."""
    for file in POOLS.glob("*.yaml"):
        items = yaml.safe_load(file.read_text(encoding="utf-8"))["items"]
        parts = {file.stem: [item for item in items if item["kind"] != "Node"]}
        if file.stem == "karpenter":
            parts["nodes"] = [item for item in items if item["kind"] == "Node"]
        for name, part in parts.items():
            write(Path(environ["HOME"]), f"{name}.json", json.dumps({"kind": "List", "items": part}))


def chart(folder: Path, _environ: dict[str, str]) -> None:
    """The chart ./chart."""
    shutil.copytree(CHARTS / "small", folder / "chart")


def chart_and_pods(folder: Path, environ: dict[str, str]) -> None:
    """The chart ./chart, and pods in the cluster."""
    chart(folder, environ)
    apply(folder, environ, PODS)


def two_teams(folder: Path, environ: dict[str, str]) -> None:
    """A repository of two teams, one workload that is to be left alone, and pods in the cluster."""
    for name, image in {"shop": "nginx:1.27", "billing": "h.example/web:2", "legacy": "nginx:1.27"}.items():
        text = WEB.replace("h.example/web:2", image)
        write(folder, f"teams/{name}/kustomization.yaml", "resources: [web.yaml]\n")
        skip = '  name: web\n  annotations: {archfit.dev/skip: "true"}\n'
        write(
            folder,
            f"teams/{name}/web.yaml",
            text.replace("  name: web\n", skip, 1) if name == "legacy" else text,
        )
    write(
        folder,
        "teams/shop/team.yaml",
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {affinity: needed}\n",
    )
    (folder / "platform").mkdir()
    apply(folder, environ, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    first = PODS.split("---")[0].replace("namespace: default", "namespace: shop, labels: {team: shop}")
    apply(folder, environ, f"{PODS}---\n{first}")


def two_clusters(folder: Path, environ: dict[str, str]) -> None:
    """The nodes of two clusters, a chart with an image for both of them, an overlay, and a repository of two teams."""
    two_teams(folder, environ)
    write(folder, "chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n")
    write(folder, "chart/templates/deployment.yaml", WEB.replace("h.example/web:2", "nginx:1.27"))
    write(folder, "overlays/edge/web.yaml", WEB.replace("h.example/web:2", "nginx:1.27"))
    write(folder, "overlays/edge/kustomization.yaml", "resources: [web.yaml]\n")
    taint = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}
    nodes: dict[str, dict[str, list[dict[str, str]]]] = {
        "prod": {"amd64": [], "arm64": [taint]},
        "edge": {"arm64": []},
    }
    for name, taints in nodes.items():
        items = [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {
                    "name": f"{name}-{one}",
                    "labels": {"kubernetes.io/arch": one, "kubernetes.io/os": "linux"},
                },
                "spec": {"taints": there},
            }
            for one, there in taints.items()
        ]
        write(Path(environ["HOME"]), f"{name}.json", json.dumps({"kind": "List", "items": items}))
    pods = list(yaml.safe_load_all(PODS))
    write(
        Path(environ["HOME"]), "pods.json", json.dumps({"kind": "PodList", "apiVersion": "v1", "items": pods})
    )


def inside_chart(folder: Path, _environ: dict[str, str]) -> None:
    """The folder itself is a chart."""
    shutil.copytree(CHARTS / "small", folder, dirs_exist_ok=True)


def overlays(folder: Path, environ: dict[str, str]) -> None:
    """Kustomizations by the names of the pages, a package of kpt and a chart."""
    for name in ("overlay", "contained", "plain", "overlays/prod", "clusters/prod"):
        write(folder, f"{name}/web.yaml", WEB)
        write(folder, f"{name}/kustomization.yaml", "resources: [web.yaml]\n")
    write(folder, "package/web.yaml", WEB)
    write(folder, "package/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: package\n")
    write(folder, "values.yaml", "{}\n")
    chart(folder, environ)


def run(environ: dict[str, str], folder: Path, *words: str, stdin: str | None = None) -> None:
    """A command before the page begins. Raises AssertionError."""
    done = machine.run(words, cwd=folder, env=environ, input=stdin)
    assert done.returncode == 0, done.stderr


def released(folder: Path, environ: dict[str, str]) -> None:
    """The release `web` of the chart ./chart, which did not go through archfit."""
    words = ("upgrade", "--install", "web", "./chart", "--namespace", "default")
    run(environ, folder, machine.tool("helm3"), *words)


def apply(folder: Path, environ: dict[str, str], text: str) -> None:
    """Objects that the page finds in the cluster."""
    words = ("apply", "--server-side", "--force-conflicts", "-f", "-")
    run(environ, folder, machine.tool("kubectl"), *words, stdin=text)


def until(folder: Path, environ: dict[str, str], *words: str) -> None:
    """Repeat a command of kubectl until it works: a new kind is known a moment after its definition."""
    script = 'until "$@"; do [ $((n+=1)) -lt 200 ] || exit 1; sleep 0.05; done'
    run(environ, folder, "bash", "-c", script, "bash", machine.tool("kubectl"), *words)


def with_overlay_function(folder: Path, environ: dict[str, str]) -> None:
    """`overlay` with the function, as docs/kustomize.md leaves it."""
    overlays(folder, environ)
    run(environ, folder, "archfit", "setup", "kustomize", "--into", "overlay")


def checked(folder: Path, environ: dict[str, str]) -> None:
    """What docs/check.md names: releases, charts in two places, rendered files, in a folder and beside it."""
    with_overlay_function(folder, environ)
    shutil.copytree(CHARTS / "shop", folder / "charts" / "shop")
    write(folder, "charts/shop/templates/web.yaml", WEB)
    for name in ("rendered.yaml", "rendered/web.yaml", "more.yaml", "web.yaml"):
        write(folder, name, WEB.replace("  name: web\n", "  name: web\n  namespace: shop\n", 1))
    with (folder / "rendered.yaml").open("a", encoding="utf-8") as file:
        file.write("---\n" + JOB.replace("name: migrate", "name: migrate-1, namespace: shop"))
    released(folder, environ)


def rendered(folder: Path, environ: dict[str, str]) -> None:
    """A file rendered.yaml."""
    write(folder, "rendered.yaml", WEB)


def chart_and_rendered(folder: Path, environ: dict[str, str]) -> None:
    """The folder itself is a chart, and a file rendered.yaml."""
    inside_chart(folder, environ)
    rendered(folder, environ)


def after_a_run(folder: Path, environ: dict[str, str]) -> None:
    """A run that archfit last can show, a chart, its release without archfit, pods, and rendered manifests."""
    named = "  name: recommendations\n  namespace: shop\n"
    write(folder, "rendered.yaml", WEB.replace("  name: web\n", named, 1))
    chart(folder, environ)
    released(folder, environ)
    apply(folder, environ, PODS)
    run(environ, folder, "archfit", stdin=WEB)


def named_files(folder: Path, environ: dict[str, str]) -> None:
    """A chart `web`, a file of values, a file beside it, a kustomization, a configuration file and a lock file."""
    overlays(folder, environ)
    shutil.rmtree(folder / "chart")
    write(folder, "chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n")
    write(folder, "chart/templates/deployment.yaml", WEB.replace("h.example/web:2", "nginx:1.27"))
    write(folder, "extra.yaml", WEB.replace("name: web", "name: extra"))
    write(folder, "archfit.yaml", "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {strict: true}\n")
    run(environ, folder, "archfit", "lock", stdin=WEB)


def registries(folder: Path, environ: dict[str, str]) -> None:
    """Mirrors in hosts.toml, and a CA."""
    write(folder, "rendered.yaml", WEB.replace("h.example/web:2", "nginx:1.27"))
    shutil.copy(tls_files().ca, folder / "corp-ca.pem")
    (folder / "certs.d").mkdir()


def chart_and_jobs(folder: Path, environ: dict[str, str]) -> None:
    """The chart ./chart, the plugin's folder, and a release with a Job that was installed without archfit."""
    chart(folder, environ)
    shutil.copytree(machine.ROOT / "helm-plugin", folder / "helm-plugin")
    write(folder, "work/Chart.yaml", "apiVersion: v2\nname: work\nversion: 0.1.0\n")
    write(folder, "work/templates/job.yaml", JOB)
    run(environ, folder, machine.tool("helm3"), "install", "work", "./work")


def argocd(folder: Path, environ: dict[str, str]) -> None:
    """The user's values, and an Argo CD in the cluster."""
    write(folder, "values.yaml", "global:\n  domain: argocd.example.com\n")
    apply(folder, environ, "apiVersion: v1\nkind: Namespace\nmetadata: {name: argocd}\n")
    apply(folder, environ, ARGOCD)
    apply(folder, environ, ARGOCD_KIND)
    write(folder, "resource.yaml", ARGOCD_RESOURCE)
    until(folder, environ, "apply", "-f", "resource.yaml")


def shop(folder: Path, environ: dict[str, str]) -> None:
    """The files of docs/kustomize.md, and a Deployment `web` in the namespace `shop`."""
    overlays(folder, environ)
    apply(folder, environ, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    apply(folder, environ, WEB.replace("  name: web\n", "  name: web\n  namespace: shop\n", 1))


def checkout(folder: Path, environ: dict[str, str]) -> None:
    """A checkout: the chart, the Dockerfile; a namespace to opt out, another webhook, and a server's certificate."""
    for name in ("charts", "Dockerfile"):
        (folder / name).symlink_to(machine.ROOT / name)
    namespaces = "\n---\n".join(
        f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}"
        for name in ("legacy", "k8smultiarcher")
    )
    apply(folder, environ, namespaces)
    apply(folder, environ, PODS)
    apply(folder, environ, OTHER_WEBHOOK)
    files = tls_files()
    (folder / "tls").mkdir()
    shutil.copy(files.certificate, folder / "tls" / "tls.crt")
    shutil.copy(files.key, folder / "tls" / "tls.key")


def crds(folder: Path, environ: dict[str, str]) -> None:
    """A chart with the definitions of an operator, and rendered manifests."""
    rendered(folder, environ)
    apply(folder, environ, ARGOCD_KIND)
    write(folder, "charts/operator/crds/argocd.yaml", ARGOCD_KIND)
    write(folder, "more.yaml", ARGOCD_KIND)


def snapshot(folder: Path, environ: dict[str, str]) -> None:
    """Pods in the cluster."""
    apply(folder, environ, PODS)


def chart_and_snapshot(folder: Path, environ: dict[str, str]) -> None:
    """The folder itself is a chart, and pods are in the cluster."""
    inside_chart(folder, environ)
    snapshot(folder, environ)


KPT = machine.find("kpt") is not None
_OF_KPT = ("kpt fn render", "archfit setup kpt --check")
_HELM3 = {"helm": "helm3", "kubectl": "kubectl"}
_KUSTOMIZE = {**_HELM3, "kustomize": "kustomize"}
_FINDS = (3, "these manifests did not go through archfit, and archfit check finds that")
_ARGOCD_CHART = Because(
    'for word; do [ "$before" = -f ] && { test -s "$word" || exit 1; }; before=$word; done',
    "the chart of argo-helm is not part of the tests: its values file has to be there",
)
_STAND_IN = Because(
    """while [ $# -gt 0 ]; do
  case $1 in --network) network=$2;; -e|--env) case $2 in *=*) export "$2";; esac;; esac
  shift
done
test "$network" = host && exec archfit""",
    "no container engine runs: archfit itself, started with the environment that kustomize gives",
)
PLANS = {
    plan.page: plan
    for plan in (
        Plan("first-chart", chart, programs=_HELM3),
        Plan(
            "helm",
            chart_and_jobs,
            programs=_HELM3,
            under={"Helm 4": {"helm": "helm4"}},
            says={"helm upgrade work ./work --post-renderer archfit ||": "field is immutable"},
        ),
        Plan(
            "kustomize",
            shop,
            programs={**_KUSTOMIZE, "kpt": "kpt"},
            stand_ins={"docker": _STAND_IN},
            left_out={} if KPT else dict.fromkeys(_OF_KPT, "kpt has no package that installs everywhere"),
        ),
        Plan("undo", chart, programs=_HELM3),
        Plan("flux", overlays, programs=_KUSTOMIZE),
        Plan(
            "argocd",
            argocd,
            programs=_HELM3,
            stand_ins={
                "docker": DOCKER,
                "helm": _ARGOCD_CHART,
                "kubectl": Because(
                    "[ $1 = exec ] && exec archfit setup argocd --check --into argocd-archfit\n"
                    'exec "$REAL" "$@"',
                    "no container can be entered: the same check, here",
                ),
            },
            ends={
                "kubectl exec": (3, "the cache of the sidecar is on a volume that this machine does not have")
            },
        ),
        Plan(
            "argocd-install",
            argocd,
            programs=_HELM3,
            stand_ins={"helm": _ARGOCD_CHART},
            before={
                "kubectl create configmap archfit-plugin": Because(
                    "archfit setup argocd --into argocd-archfit", "step 1 of the page of Argo CD"
                )
            },
        ),
        Plan(
            "check",
            checked,
            programs=_KUSTOMIZE,
            replaced={"ghcr.io/acme/api:2": Because("nginx:1.27", "the image is the reader's own")},
            ends={
                "helm get manifest web": _FINDS,
                "archfit check rendered": _FINDS,
                "archfit check --format github": _FINDS,
                "archfit check --require arm64 --format junit": _FINDS,
                "helm template charts/shop | archfit": _FINDS,
                "kustomize build overlays/prod | archfit": _FINDS,
                "archfit check --source-root": _FINDS,
            },
        ),
        Plan("lock", chart_and_pods, programs=_HELM3),
        Plan(
            "cache",
            rendered,
            replaced={"rediss://cache.example:6379/0": Because("$REDIS", "the server is one on loopback")},
            left_out={"pipx install": _NO_INDEX},
        ),
        Plan(
            "registries",
            registries,
            stand_ins={
                "docker": Because(
                    """mkdir -p ~/.docker
echo '{"auths": {"ghcr.io": {"auth": "dTpw"}, "'"${REGISTRY#http://}"'": {"auth": "dTpw"}}}' > ~/.docker/config.json""",
                    "docker asks on a terminal: it stores what a login stores, also for the registry on loopback",
                )
            },
            replaced={
                "docker.io=https://mirror.corp.example": Because(
                    "docker.io=$REGISTRY/docker.io", "the mirror is a registry on loopback"
                ),
                "/etc/containerd/certs.d": Because("certs.d", _HOME),
                "harbor.corp.example": Because("h.example", "the images of the test are there"),
            },
        ),
        Plan(
            "audit",
            chart_and_snapshot,
            programs=_HELM3,
            stand_ins={
                "curl": Because(
                    "test -s archfit.prom", "no Pushgateway is here; test_metrics.py pushes to one"
                )
            },
            replaced={"/var/lib/prometheus/node-exporter/": Because("./", _HOME)},
        ),
        Plan(
            "fleet",
            snapshot,
            programs=_HELM3,
            stand_ins={"kubectl": _CLUSTER},
            left_out={"helm upgrade --install archfit-audit": "it waits for Jobs that no kubelet runs"},
            before={"archfit setup chart": Because(_EMPTY, "other pages have used this cluster")},
            replaced={"redis://cache.example:6379/0": Because("$REDIS", "the server is one on loopback")},
        ),
        Plan(
            "policy",
            inside_chart,
            programs=_HELM3,
            stand_ins={"kubectl": _CLUSTER},
            says={"kubectl run web": "run archfit policy again"},
            before={
                "helm template . | archfit lock": Because(_EMPTY, "other pages have used this cluster"),
                "kubectl run web": Because(_POLICY_COUNTS, "a policy counts a moment after it is applied"),
            },
        ),
        Plan(
            "serve",
            checkout,
            programs=_HELM3,
            stand_ins={"docker": DOCKER, "kubectl": _CLUSTER},
            replaced={
                "archfit serve": Because(
                    "timeout --preserve-status 2 archfit serve", "it serves until it is told to end"
                ),
                "/etc/archfit/tls": Because("tls", _HOME),
                "/etc/archfit/archfit.yaml": Because("archfit.yaml", _HOME),
            },
            left_out={
                "helm test archfit --namespace archfit": "its pod never runs without a kubelet",
                "pipx install": _NO_INDEX,
            },
            before={"kubectl get nodes": Because(_EMPTY, "other pages have used this cluster")},
        ),
        Plan(
            "clouds",
            cloud_objects,
            stand_ins={
                "kubectl": Because(
                    """case "$*" in
"get nodes "*|*"--raw /api/v1/nodes?"*) cat "$HOME/nodes.json";;
*"--raw /apis") echo '{"groups": [{"name": "karpenter.sh", "preferredVersion": {"version": "v1"}}]}';;
*nodepools*) cat "$HOME/karpenter.json";;
*computeclasses*) cat "$HOME/gke.json";;
*machinedeployments*) cat "$HOME/cluster-api.json";;
*machinesets*) cat "$HOME/openshift.json";;
"apply "*) test -s first.yaml;;
*) exit 1;;
esac""",
                    "no cluster of a cloud is here: it prints objects in the shape in which each of them stores them",
                )
            },
        ),
        Plan(
            "clusters",
            two_clusters,
            programs=_KUSTOMIZE,
            stand_ins={
                "kubectl": Because(
                    """context=
for word; do
  case $before in --context) context=$word;; esac
  case $word in --context=*) context=${word#*=};; esac
  before=$word
done
case "$*" in
"annotate secret "*) exit 0;;
esac
test "$context" || exec "$REAL" "$@"
case "$*" in
*"/api/v1/nodes"*) cat "$HOME/$context.json";;
*"/api/v1/pods"*) cat "$HOME/pods.json";;
*"--raw /apis") echo '{"groups": []}';;
*"--raw "*) echo '{"kind": "List", "items": [], "metadata": {}}';;
*" config "*|"config "*|*version*) exec "$REAL" "$@";;
*) exit 1;;
esac""",
                    "the two clusters that a context names are not here: it prints their nodes, and a few pods",
                )
            },
            ends={"archfit --diff teams/legacy": (1, "what `enforced: [skip]` forbids, as the page says")},
            says={"archfit --diff teams/legacy": "archfit.dev/skip"},
        ),
        Plan("configuration", rendered, programs={"kubectl": "kubectl"}),
        Plan("custom-resources", crds, programs={"kubectl": "kubectl"}),
        Plan("decisions", chart_and_rendered, programs=_HELM3),
        Plan("glossary", nothing),
        Plan(
            "troubleshooting",
            after_a_run,
            programs=_KUSTOMIZE,
            replaced={"inspect IMAGE": Because("inspect nginx:1.27", "the image is the reader's own")},
            ends={"helm get manifest web": _FINDS},
        ),
        Plan(
            "files",
            named_files,
            programs={**_KUSTOMIZE, "check-jsonschema": "check-jsonschema"},
            before={
                "archfit --diff rendered/ > arch.patch": Because(
                    "rm -r rendered; helm template web ./chart --output-dir rendered",
                    "the first lines of the page have written the changes already",
                )
            },
        ),
        Plan("index", inside_chart, programs=_HELM3, left_out={"pipx install .": _NO_INDEX}),
    )
}
_MAKE = "targets of make for those who develop archfit: make test and .ci/run are made of them"
NOT_FOLLOWED = {
    "ci": "tests/real/ci runs the files of this page and their commands",
    "install": "installs from a package index; tests/real/release builds and installs the packages",
    "migrate": "tests/real/pages/test_migrate_page.py follows it, with its undos, on a cluster of its own",
    "newer-tags": "asks registries for lists of tags; tests/inspect, check and audit run its commands on one",
    "proof": _MAKE,
    "tools": "tests/real/tools and make -C lab whole PART=tools run its blocks, each with its program",
}
