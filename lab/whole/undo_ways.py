"""The part `undo`: archfit is taken out again, from each way in: what stays, what rolls, and where the pods are then.

    WAYS["helm3"](site)        Undone; docs/undo.md says the same for each way

Each way puts archfit in, takes it out, and puts it in once more where that asks for nothing new.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import machine
from control_plane import pod_in
from helm_runs import start
from mutating_webhooks import webhook
from program import PROGRAM
from webhook_server import WebhookServer
from whole.release_life import CHART, HOOKS, Release, decoded, templates_of
from whole.release_site import NAMESPACE, ReleaseSite, Workloads, platforms_of, rolled, written

MANIFESTS = machine.ROOT / "fixtures" / "whole" / "undo" / "workloads.yaml"
PLACED = ["DaemonSet/agent", "Deployment/api", "Deployment/web", "StatefulSet/db"]
OF_THE_CHART = sorted([*PLACED, "Deployment/cache", "Deployment/report"])
_RECORD = "archfit.dev/added"


class Undone(NamedTuple):
    """stays: workloads that keep something of archfit's. rolled: that got other pods. wrong: what does not hold.

    pods: on a node that cannot run them, or without one, once archfit is out: what it had kept from happening.
    """

    stays: list[str]
    rolled: list[str]
    pods: list[str]
    wrong: list[str]


def _release(name: str) -> Callable[[ReleaseSite], Undone]:
    """`helm upgrade` without the post-renderer."""

    def undo(site: ReleaseSite) -> Undone:
        release = Release(site, name)
        return _upgraded_without(site, release, release.render("install", "--no-hooks"))

    return undo


def _taken_over(site: ReleaseSite) -> Undone:
    """The same where Helm 3 made the release, and Helm 4 went on with it by server-side apply."""
    first = Release(site, "helm3").render("install", "--no-hooks").helm
    wrong = [] if first.status == 0 else [first.stderr]
    before = site.settled()
    release = Release(site, "helm4")
    made = release.render("upgrade", "--server-side=true", "--no-hooks")
    wrong += [f"{name} changed when Helm 4 took over" for name in written(before, site.settled())]
    undone = _upgraded_without(site, release, made)
    return undone._replace(wrong=[*undone.wrong, *wrong])


def _upgraded_without(site: ReleaseSite, release: Release, made: Any) -> Undone:
    before = site.settled()
    wrong = [*site.wrong(HOOKS), *([] if made.helm.status == 0 else [made.helm.stderr])]
    ran = release.helm.run("upgrade", "demo", str(CHART), "--timeout", "180s", "--no-hooks")
    wrong += [] if ran.status == 0 else [ran.stderr]
    plain = templates_of(decoded(release.helm.plain(CHART)))
    undone = _undone(site, before, plain, wrong, OF_THE_CHART)
    again = release.render("upgrade", "--no-hooks")
    wrong += _in_again(site, [] if again.helm.status == 0 else [again.helm.stderr])
    release.helm.run("uninstall", "demo", "--wait", "--timeout", "180s").ok()
    site.empty()
    return undone


def _stamped(*flags: str) -> Callable[[ReleaseSite], Undone]:
    """Files that `archfit --in-place --stamp` wrote, taken back by archfit itself."""

    def undo(site: ReleaseSite) -> Undone:
        file = _copy(site)
        _archfit(site, "--in-place", "--stamp", str(file))
        before = _applied(site, file, *flags)
        stamped = [name for name, one in _annotated(site).items() if one]
        wrong = [*site.wrong(HOOKS), *([] if stamped == PLACED else [f"stamped: {stamped}"])]
        _archfit(site, "--in-place", "--stamp", "--affinity=never", "--tolerate=none", str(file))
        if file.read_bytes() != MANIFESTS.read_bytes():
            wrong.append("the file is not what it was")
        _kubectl_apply(site, file, *flags)
        undone = _undone(site, before, _plain(), wrong, PLACED)
        _archfit(site, "--in-place", "--stamp", str(file))
        _kubectl_apply(site, file, *flags)
        wrong += _in_again(site, [])
        site.empty()
        return undone

    return undo


def _files(
    first: Sequence[str], then: Sequence[str], stays: Sequence[str] = ()
) -> Callable[[ReleaseSite], Undone]:
    """`archfit FILE | kubectl apply`, and then the file itself. first, then: flags of kubectl.

    stays: workloads that are as before afterwards; the flags of the first time take them back.
    """

    def undo(site: ReleaseSite) -> Undone:
        placed = site.folder / "placed.yaml"
        placed.write_bytes(_archfit(site, str(MANIFESTS)))
        before = _applied(site, placed, *first)
        wrong = site.wrong(HOOKS)
        _kubectl_apply(site, MANIFESTS, *then)
        rolls = [] if stays else PLACED
        undone = _undone(site, before, _plain(), wrong, rolls, stays)
        if stays:
            _kubectl_apply(site, MANIFESTS, *first)
            _undone(site, before, _plain(), wrong, PLACED)
        site.empty()
        return undone

    return undo


def _kustomize(site: ReleaseSite) -> Undone:
    """The function goes out of the kustomization."""
    folder = site.folder / "overlay"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(MANIFESTS, folder / "workloads.yaml")
    kustomization = folder / "kustomization.yaml"
    kustomization.write_text("resources: [workloads.yaml]\n", encoding="utf-8")
    without = kustomization.read_bytes()
    _archfit(site, "setup", "kustomize", "--into", str(folder))
    built = site.folder / "built.yaml"

    def build() -> None:
        environ = {**site.environ, "PATH": f"{PROGRAM.parent}:{site.environ['PATH']}"}
        flags = ("--enable-alpha-plugins", "--enable-exec")
        built.write_bytes(start([machine.tool("kustomize"), "build", *flags, str(folder)], environ).ok())

    build()
    before = _applied(site, built)
    wrong = site.wrong(HOOKS)
    with_function = kustomization.read_bytes()
    kustomization.write_bytes(without)
    build()
    _kubectl_apply(site, built)
    undone = _undone(site, before, _plain(), wrong, PLACED)
    kustomization.write_bytes(with_function)
    build()
    _kubectl_apply(site, built)
    wrong += _in_again(site, [])
    site.empty()
    return undone


def _policy(site: ReleaseSite) -> Undone:
    """The objects of the policy are deleted."""
    file = site.folder / "policy.yaml"
    file.write_bytes(_archfit(site, "policy", str(MANIFESTS)))
    site.plane.apply(file.read_text(encoding="utf-8"))
    _until_pods_are(site, placed=True)

    def remove() -> None:
        site.plane.kubectl("delete", "-f", str(file))

    return _admission(site, remove)


def _webhook(site: ReleaseSite) -> Undone:
    """The configuration of the webhook is deleted."""
    server_folder = site.folder / "server"
    with WebhookServer(server_folder, *site.registry.mirrors()) as server:
        configured = webhook(site.plane, "archfit", server.url, NAMESPACE)
        with configured:
            _until_pods_are(site, placed=True)
            return _admission(site, lambda: configured.__exit__(None, None, None))


def _is_placed(pod: dict[str, Any]) -> bool:
    """Whether admission changed it; no pod of the manifests asks for an architecture. A narrowing is not recorded."""
    return _RECORD in pod["metadata"].get("annotations", {}) or "kubernetes.io/arch" in str(
        pod["spec"].get("affinity")
    )


def _admission(site: ReleaseSite, remove: Callable[[], object]) -> Undone:
    """Pods stay as they are; those that come later are as their templates say."""
    before = _applied(site, MANIFESTS)
    wrong = site.wrong(HOOKS)
    placed = [one for one in site.pods() if _is_placed(one)]
    if not placed:
        wrong.append("no pod was placed")
    remove()
    _until_pods_are(site, placed=False)
    after = site.settled()
    wrong += [f"{name} rolled" for name in rolled(before, after)]
    wrong += site.wrong(HOOKS)
    kept = [one for one in site.pods() if _is_placed(one)]
    if len(kept) != len(placed):
        wrong.append(f"{len(placed) - len(kept)} pods lost what was added")
    site.plane.kubectl("rollout", "restart", "deployment/api", "-n", NAMESPACE)
    site.settled()
    left = [one["spec"] for one in site.pods() if one["metadata"].get("labels", {}).get("app") == "api"]
    if any(one.get("affinity") for one in left):
        wrong.append("a new pod of api is placed")
    pods = site.wrong(HOOKS)
    site.empty()
    return Undone([f"{len(kept)} pods until they are replaced"], [], pods, wrong)


def _until_pods_are(site: ReleaseSite, *, placed: bool) -> None:
    """Until a new pod of an image for amd64 alone is placed, or is not. A change of admission counts after a second."""
    pod = pod_in(NAMESPACE, "quay.io/shop/api:1")
    site.plane.until(
        f"new pods are{'' if placed else ' not'} placed",
        lambda: bool(site.plane.dry(pod)["spec"].get("affinity")) == placed,
    )


def _undone(
    site: ReleaseSite,
    before: Workloads,
    plain: Mapping[str, Any],
    wrong: list[str],
    rolls: Sequence[str],
    stays: Sequence[str] = (),
) -> Undone:
    """Judge the moment after archfit went. plain: the templates as they are written. wrong: grows."""
    after = site.settled()
    kept = [name for name, one in after.items() if _placement(one.template) != _placement(plain[name])]
    kept += [name for name, one in _annotated(site).items() if one]
    seen = rolled(before, after)
    if sorted(kept) != sorted(stays):
        wrong.append(f"these keep something: {kept}")
    if seen != sorted(rolls):
        wrong.append(f"these rolled: {seen}")
    return Undone(sorted(kept), seen, site.wrong(HOOKS), wrong)


def _in_again(site: ReleaseSite, wrong: list[str]) -> list[str]:
    site.settled()
    return [*wrong, *(f"in again: {line}" for line in site.wrong(HOOKS))]


def _placement(template: Mapping[str, Any]) -> tuple[Any, ...]:
    spec = template["spec"]
    return spec.get("affinity"), spec.get("tolerations"), spec.get("nodeSelector")


def _plain() -> dict[str, Any]:
    return templates_of(decoded(MANIFESTS.read_bytes()))


def _annotated(site: ReleaseSite) -> dict[str, bool]:
    return {
        f"{one['kind']}/{one['metadata']['name']}": any(
            name.startswith("archfit.dev/") for name in one["metadata"].get("annotations", {})
        )
        for one in site.objects("DaemonSet", "Deployment", "StatefulSet")
    }


def _copy(site: ReleaseSite) -> Path:
    file = site.folder / "workloads.yaml"
    shutil.copyfile(MANIFESTS, file)
    return file


def _archfit(site: ReleaseSite, *words: str) -> bytes:
    return site.archfit(*words).ok()


def _kubectl_apply(site: ReleaseSite, file: Path, *flags: str) -> None:
    site.plane.kubectl("apply", "-n", NAMESPACE, *flags, "-f", str(file))


def _applied(site: ReleaseSite, file: Path, *flags: str) -> Workloads:
    _kubectl_apply(site, file, *flags)
    return site.settled()


_SERVER_SIDE = ("--server-side", "--force-conflicts")
WAYS: dict[str, Callable[[ReleaseSite], Undone]] = {
    "helm3": _release("helm3"),
    "helm4": _release("helm4"),
    "helm3, then helm4 --server-side": _taken_over,
    "kubectl apply": _files((), ()),
    "kubectl apply --server-side": _files(_SERVER_SIDE, _SERVER_SIDE),
    "kubectl apply, then --server-side": _files((), _SERVER_SIDE),
    "another field manager": _files((*_SERVER_SIDE, "--field-manager=pipeline"), _SERVER_SIDE, PLACED),
    "files with --stamp": _stamped(),
    "files with --stamp, --server-side": _stamped(*_SERVER_SIDE),
    "kustomize": _kustomize,
    "policy": _policy,
    "webhook": _webhook,
}


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every way, one after the other in one cluster. Raises AssertionError."""
    with ReleaseSite(folder, platforms_of("helm")) as site:
        undone = {name: way(site) for name, way in WAYS.items()}
    ways = {
        name: {"stays": one.stays, "rolled": one.rolled, "pods": one.pods, "wrong": len(one.wrong)}
        for name, one in undone.items()
    }
    wrong = [f"{name}: {line}" for name, one in undone.items() for line in one.wrong]
    return {"ways": ways}, wrong
