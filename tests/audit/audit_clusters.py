"""Clusters for the tests of audits: facts as records, without an API server.

shop()          a cluster of a shop, of which two thirds are ready for arm64; the picture in docs/audit.md shows it
hostile()       names that attack terminals, spreadsheets, Markdown and pages
large(10_000)   that many workloads
shops(500, 3)     the shop's workloads over and over, so many in all, in several clusters of equal size
facts_of(..)    a small one from (name, pods, CPU, images)
written(facts)  a report of these facts and nothing else
"""

from typing import Any, Literal

from archfit.audit.report.json import facts_text
from archfit.facts.facts import (
    SCHEMA,
    AuditFacts,
    BuildFacts,
    ContainerImage,
    ImageFacts,
    NodeFacts,
    Snapshot,
    Term,
    WorkloadFacts,
)


def written(facts: AuditFacts) -> bytes:
    return f'{{"schema": "{SCHEMA}", "facts": {"".join(facts_text(facts))}}}'.encode()


GIB = 1 << 30
BOTH = ("amd64", "arm64")
HUB = "docker.io/library"
OWN = "registry.shop.example"

# reference -> architectures; a string is an answer without platforms
_SHOP_IMAGES: dict[str, tuple[str, ...] | str] = {
    f"{HUB}/nginx:1.29": (*BOTH, "arm", "386", "ppc64le", "s390x"),
    f"{HUB}/redis:8.2": (*BOTH, "arm", "386"),
    f"{HUB}/postgres:17": (*BOTH, "386"),
    f"{HUB}/busybox:1.37": (*BOTH, "arm"),
    f"{HUB}/rabbitmq:4.1": BOTH,
    f"{OWN}/checkout:2.14.0": BOTH,
    f"{OWN}/catalog:5.3.1": BOTH,
    f"{OWN}/frontend:2026.11": BOTH,
    f"{OWN}/accounts:1.9.4": BOTH,
    f"{OWN}/search-indexer:0.8.2": ("amd64",),
    f"{OWN}/recommender:3.2.0-cuda": ("amd64",),
    f"{OWN}/billing:4.0.7": ("amd64",),
    f"{OWN}/pdf-render:1.4": ("amd64",),
    f"{OWN}/ledger-sidecar:0.6": ("amd64",),
    f"{OWN}/legacy/stock-sync:2019.4": ("amd64",),
    f"{OWN}/mailer:2.2": BOTH,
    f"{OWN}/fraud-score:7.1": "Unknown",
    f"{OWN}/old-promo:3": "Absent",
    "quay.io/prometheus/node-exporter:v1.9.1": BOTH,
    "quay.io/prometheus/prometheus:v3.6.0": BOTH,
    "docker.io/grafana/grafana:12.2.0": BOTH,
    "docker.io/fluent/fluent-bit:4.1": BOTH,
    "registry.k8s.io/coredns/coredns:v1.12.1": BOTH,
    "docker.io/vendor/apm-agent:21.4": ("amd64",),
    "ghcr.io/cert-manager/controller:v1.19": BOTH,
    "mcr.microsoft.com/windows/servercore:ltsc2022": ("amd64",),
}
_SHOP = (  # namespace, kind, name, standing, pods, CPU of a pod, GiB of a pod, images, architecture of the nodes
    ("shop", "Deployment", "frontend", "running", 12, 500, 1, ["frontend:2026.11", "nginx:1.29"], "amd64"),
    ("shop", "Deployment", "checkout", "running", 8, 1000, 2, ["checkout:2.14.0"], "amd64"),
    ("shop", "Deployment", "catalog", "running", 10, 750, 2, ["catalog:5.3.1"], "arm64"),
    ("shop", "Deployment", "accounts", "running", 4, 500, 1, ["accounts:1.9.4", "redis:8.2"], "amd64"),
    ("shop", "Deployment", "recommender", "running", 4, 1500, 8, ["recommender:3.2.0-cuda"], "amd64"),
    ("shop", "Deployment", "search-indexer", "running", 6, 1250, 3, ["search-indexer:0.8.2"], "amd64"),
    ("shop", "StatefulSet", "search-cache", "running", 3, 250, 2, ["search-indexer:0.8.2"], "amd64"),
    ("shop", "Deployment", "promo-2023", "running", 2, 100, 1, ["old-promo:3"], "amd64"),
    ("payments", "Deployment", "billing", "running", 3, 1000, 2, ["billing:4.0.7", "ledger-sidecar:0.6"], "amd64"),
    ("payments", "Deployment", "ledger", "running", 2, 500, 2, ["accounts:1.9.4", "ledger-sidecar:0.6"], "amd64"),
    ("payments", "Deployment", "fraud-score", "running", 4, 500, 2, ["fraud-score:7.1"], "amd64"),
    ("payments", "CronJob", "statements", "idle", 0, 0, 0, ["pdf-render:1.4"], ""),
    ("payments", "Deployment", "pdf-render", "running", 3, 400, 1, ["pdf-render:1.4"], "amd64"),
    ("warehouse", "Deployment", "stock-sync", "running", 1, 250, 1, ["legacy/stock-sync:2019.4"], "amd64"),
    ("warehouse", "Deployment", "picker-api", "running", 3, 300, 1, ["accounts:1.9.4"], "amd64"),
    ("warehouse", "Job", "stocktake-2026", "finished", 1, 0, 0, ["busybox:1.37"], "amd64"),
    ("warehouse", "Deployment", "label-printer", "windows", 1, 500, 2, ["servercore:ltsc2022"], "amd64"),
    ("data", "StatefulSet", "postgres", "running", 3, 2000, 8, ["postgres:17"], "arm64"),
    ("data", "StatefulSet", "redis", "running", 3, 500, 4, ["redis:8.2"], "arm64"),
    ("data", "StatefulSet", "rabbitmq", "running", 3, 500, 2, ["rabbitmq:4.1"], "amd64"),
    ("data", "Deployment", "mailer", "pending", 2, 250, 1, ["mailer:2.2"], ""),
    ("monitoring", "StatefulSet", "prometheus", "running", 2, 1000, 8, ["prometheus:v3.6.0"], "amd64"),
    ("monitoring", "Deployment", "grafana", "running", 1, 0, 1, ["grafana:12.2.0"], "amd64"),
    ("monitoring", "DaemonSet", "node-exporter", "daemonset", 14, 50, 0, ["node-exporter:v1.9.1"], "amd64"),
    ("monitoring", "DaemonSet", "apm-agent", "daemonset", 14, 100, 0, ["apm-agent:21.4"], "amd64"),
    ("monitoring", "DaemonSet", "fluent-bit", "daemonset", 14, 100, 0, ["fluent-bit:4.1"], "amd64"),
    ("kube-system", "Deployment", "coredns", "running", 2, 100, 0, ["coredns:v1.12.1"], "amd64"),
    ("cert-manager", "Deployment", "cert-manager", "running", 1, 0, 0, ["controller:v1.19"], "amd64"),
)  # fmt: skip


def image(reference: str, known: tuple[str, ...] | str = BOTH) -> ImageFacts:
    """One image. known: its architectures, or the kind of answer."""
    if isinstance(known, str):
        detail = {"Unknown": "401 Unauthorized", "Absent": "manifest unknown"}.get(known, "")
        return ImageFacts(reference, known, detail=detail)  # type: ignore[arg-type]
    platforms = tuple(sorted(f"linux/{one}/v7" if one == "arm" else f"linux/{one}" for one in known))
    digest = f"sha256:{reference.encode().hex()[:8]:0<64}"
    kind: Literal["index", "manifest"] = "index" if len(known) > 1 else "manifest"
    return ImageFacts(reference, "Found", platforms, tuple(sorted(known)), True, digest, kind, "registry")


def uses(references: list[str]) -> tuple[ContainerImage, ...]:
    return tuple(
        ContainerImage(f"c{number}" if number else "main", "container", one, one)
        for number, one in enumerate(references)
    )


def asking(*architectures: str, key: str = "kubernetes.io/arch") -> tuple[Term, ...]:
    """The placement of pods that ask for one of these values of a label."""
    return (Term(((key, "In", architectures),)),)


def facts_of(
    *rows: tuple[str, int, int, dict[str, tuple[str, ...] | str]],
    nodes: tuple[NodeFacts, ...] = (),
    **more: Any,
) -> AuditFacts:
    """Workloads (name, pods, CPU of all together, image -> architectures) in one cluster, and what they use."""
    images = {reference: known for *_, own in rows for reference, known in own.items()}
    return AuditFacts(
        (Snapshot("0" * 16, "lists", "small", bool(nodes)),),
        nodes,
        tuple(
            WorkloadFacts(
                "0" * 16, "a", "Deployment", name, more.get("standing", "running"), uses(list(own)), pods=pods,
                cpu=cpu, without_cpu=more.get("without_cpu", 0), runs_on=more.get("runs_on", ()),
                terms=more.get("terms", ()),
            )
            for name, pods, cpu, own in rows
        ),
        (),
        tuple(image(reference, images[reference]) for reference in sorted(images)),
    )  # fmt: skip


def node(name: str, architecture: str, cpu: int = 4000, **more: Any) -> NodeFacts:
    given = {"kubelet_architecture": architecture, "cpu": cpu, "ready": True, **more}
    return NodeFacts("0" * 16, name, "linux", architecture, **given)


def shop() -> AuditFacts:
    """The cluster of a shop."""
    snapshot = "5a0b11c3d4e5f607"
    full = {reference.rpartition("/")[2]: reference for reference in _SHOP_IMAGES}
    full |= {"legacy/stock-sync:2019.4": f"{OWN}/legacy/stock-sync:2019.4"}
    workloads, builds = [], []
    for namespace, kind, name, standing, pods, cpu, memory, images, architecture in _SHOP:
        references = [full[one] for one in images]
        on = (
            (("amd64", 10), ("arm64", 4)) if standing == "daemonset" else ((architecture, pods),) * bool(pods)
        )
        workloads.append(
            WorkloadFacts(
                snapshot, namespace, kind, name, standing, uses(references),  # type: ignore[arg-type]
                owner_by="controller", pods=pods, cpu=pods * cpu, memory=pods * memory * GIB,
                without_cpu=0 if cpu else pods,
                runs_on=on,
                terms=asking("amd64") if name == "rabbitmq" else (),
            )
        )  # fmt: skip
        if standing not in {"running", "daemonset"}:
            continue
        for number, reference in enumerate(references):
            known = _SHOP_IMAGES[reference]
            digest = image(reference).digest
            common = BuildFacts(
                snapshot, namespace, kind, name, f"c{number}" if number else "main", reference,
                f"{reference.rpartition(':')[0]}@{digest}", "linux", architecture, "containerd://2.1.4", pods,
            )  # fmt: skip
            if isinstance(known, str):
                builds.append(common.replace(verdict="unknown", reason="its registry could not be asked"))
            elif name == "apm-agent":
                builds.append(common.replace(verdict="proven", platform="linux/amd64", pods=10))
                builds.append(
                    common.replace(
                        verdict="mismatch", platform="linux/amd64", pods=4, node_architecture="arm64",
                        reason="linux/amd64 on arm64", evidence="exec format error",
                    )
                )  # fmt: skip
            else:
                moved = (
                    "the tag names another index now; it gains linux/arm64" if name == "stock-sync" else ""
                )
                builds.append(
                    common.replace(
                        verdict="proven", platform=f"linux/{architecture}", index=digest, moved=moved
                    )
                )
    nodes = [
        NodeFacts(
            snapshot, f"ip-10-0-1-{number}", "linux", "amd64", "amd64", "containerd://2.1.4",
            "m6i.2xlarge" if number < 17 else "m6a.xlarge", "on-demand" if number < 17 else "spot", "eu-west-1a",
            number == 16, (), 7910 if number < 17 else 3920, 30 * GIB if number < 17 else 15 * GIB, 58,
            5400 if number < 17 else 2900, 17 * GIB, 11, True,
        )
        for number in range(10, 20)
    ]  # fmt: skip
    nodes += [
        NodeFacts(
            snapshot, f"ip-10-0-2-{number}", "linux", "arm64", "arm64", "containerd://2.1.4", "m7g.2xlarge",
            "on-demand", "eu-west-1b", False, ("kubernetes.io/arch=arm64:NoSchedule",), 7910, 30 * GIB, 58,
            4100, 15 * GIB, 7, True,
        )
        for number in range(10, 14)
    ]  # fmt: skip
    nodes[-1] = nodes[-1].replace(name="ip-10-0-2-13", architecture="arm64", kubelet_architecture="amd64")
    nodes.append(
        NodeFacts(
            snapshot, "win-1", "windows", "amd64", "amd64", "containerd://2.1.4", "m6i.xlarge", "on-demand",
            "eu-west-1a", False, ("os=windows:NoSchedule",), 3920, 15 * GIB, 58, 500, 2 * GIB, 1, True,
        )
    )  # fmt: skip
    return AuditFacts(
        (Snapshot(snapshot, "lists", "prod-eu", True, "flag", "", "2026-11-20T06:00:00Z", "stated"),),
        tuple(sorted(nodes, key=lambda one: one.name)),
        tuple(sorted(workloads, key=lambda one: (one.namespace, one.kind, one.name))),
        tuple(builds),
        tuple(image(reference, _SHOP_IMAGES[reference]) for reference in sorted(_SHOP_IMAGES)),
    )


def shops(rows: int, clusters: int = 1) -> AuditFacts:
    """So many workloads in all; each cluster has the nodes of the shop. Labelled as `label=team`."""
    one = shop()
    (snapshot,) = one.snapshots
    names = [f"prod-{number}" for number in range(1, clusters + 1)]
    return AuditFacts(
        tuple(snapshot.replace(id=name, name=name, uid=name) for name in names),
        tuple(node.replace(snapshot=name) for name in names for node in one.nodes),
        tuple(
            like.replace(
                snapshot=name,
                namespace=f"{like.namespace}-{number // len(one.workloads):02}",
                labels=(("label=team", f"team-{number % 9}"),),
            )
            for name in names
            for number in range(rows // clusters)
            for like in [one.workloads[number % len(one.workloads)]]
        ),
        one.builds if clusters == 1 else (),
        one.images,
    )


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "--><svg onload=alert(1)>",
    "\u202egnp.exe",
    "\u05e9\u05dc\u05d5\u05dd-\u0645\u0631\u062d\u0628\u0627",
    "\x1b[31mred\x1b[0m\x07",
    '=HYPERLINK("http://x.example")',
    "@team #1 [a](javascript:alert(1)) | `x` ![](http://x.example/a.png)",
    "{{ 7*7 }}{% raw %}",
    "::error::owned",
    "a" * 300,
    "line\u2028break\r\nnext",
    "'\"&<>",
)


def hostile() -> AuditFacts:
    """A workload, a node, a build and an image with each hostile name."""
    one = "0" * 16
    workloads = tuple(
        WorkloadFacts(
            one, name, name, name, "running", (ContainerImage(name, "container", name, name),), pods=1, cpu=100,
            runs_on=((name, 1),), terms=asking(name, key=name), where=name,
        )
        for name in HOSTILE
    )  # fmt: skip
    nodes = tuple(
        NodeFacts(one, name, "linux", name, "arm64", name, name, name, name, False, (name,), 1000, GIB, 10)
        for name in HOSTILE
    )
    builds = tuple(
        BuildFacts(
            one, name, name, name, name, name, name, "linux", name, name, 1,
            "mismatch", name, name, name, name, name, name,
        )
        for name in HOSTILE
    )  # fmt: skip
    images = tuple(
        ImageFacts(
            name, "Unknown" if number % 2 else "Found", (name,), (name,), True, name, "index", name, name
        )
        for number, name in enumerate(sorted(HOSTILE))
    )
    return AuditFacts((Snapshot(one, "lists", HOSTILE[0], True),), nodes, workloads, builds, images)


def large(rows: int) -> AuditFacts:
    """Many workloads of some thousand images; every third image lacks arm64."""
    one = "0" * 16
    names = [
        f"registry.example/team-{number % 90}/service-{number:05}:1.{number % 7}"
        for number in range(rows // 3)
    ]
    return AuditFacts(
        (Snapshot(one, "lists", "large", False),),
        (),
        tuple(
            WorkloadFacts(
                one, f"team-{number % 90:02}", "Deployment", f"service-{number:05}", "running",
                uses([names[number % len(names)], names[number * 7 % len(names)]]),
                pods=number % 5 + 1, cpu=(number * 37 % 4000), memory=GIB,
            )
            for number in range(rows)
        ),
        (),
        tuple(image(name, BOTH if number % 3 else ("amd64",)) for number, name in enumerate(names)),
    )  # fmt: skip
