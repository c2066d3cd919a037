"""A HelmRelease of Flux with the postRenderers that `archfit patch --format flux-helmrelease` prints.

first     -> again              reconciled many times with drift detection: no drift, no upgrade, no roll
          -> forced             a one-off upgrade of the same chart: nothing rolls
          -> edited by hand     `enabled` heals it, `warn` reports it; a forced upgrade of the same chart leaves it, too
image     -> old patches        an image moves: nothing fails, and the patches are out of date; then printed again
affinity  -> old patches        the chart adds an affinity: the upgrade fails, what runs stays; then printed again
broken    -> rolled back        the upgrade's pods never run: remediation rolls back, with archfit's terms
last      -> suspended          nothing happens; then resumed

Each upgrade runs a hook, a Job for amd64 alone, and the chart's test, a Pod for amd64 alone.
"""

import contextlib
from collections.abc import Mapping
from typing import Any

import yaml

from control_plane import Refused
from whole.flux import forms
from whole.flux.forms import AFFINITY, BROKEN, FIRST, IMAGE, LAST, RELEASE, RELEASES
from whole.flux.site import NAMESPACE, Condition, FluxSite, Object
from whole.flux.steps import Door

AGAIN = 5
MANAGER = "helm-controller"
_DRIFT = ("DriftDetected", "DriftCorrected", "DriftCorrectionFailed")
_ENABLED, _STAYS = "enabled", "Deployment/web: tolerations"
# In these the image of `web` has no arm64 build, so that the patches give it no toleration.
_WITHOUT = ("image", "affinity, old patches", "affinity")


class Released(Door):
    """mode: of spec.driftDetection, "enabled" or "warn"."""

    def __init__(self, site: FluxSite, mode: str) -> None:
        super().__init__(site, f"helmrelease-{mode}")
        self.mode = mode
        self._commit = ""

    def run(self) -> None:
        """Every step. Raises Failed."""
        self._commit = self.site.commit(self.name, forms.chart(FIRST))
        self.site.source(self.name, self._commit)
        self._object(FIRST)
        self._charted(FIRST)
        self.fine(self._see("first", self._reconciled(), FIRST))
        self.owners()
        self.expect(self.managers == {MANAGER}, f"first: managed by {sorted(self.managers)}")
        self._again()
        self._forced("forced")
        self._edited_by_hand()
        found = self._see("image, old patches", self._put(IMAGE, FIRST), IMAGE)
        self.expect(found["ready"], f"image, old patches: {found.get('message')}")
        self.expect(found["wrong"], "image, old patches: nothing is wrong: it shows nothing")
        self.fine(self._see("image", self._put(IMAGE, IMAGE), IMAGE))
        self._refused()
        self.fine(self._see("affinity", self._put(AFFINITY, AFFINITY), AFFINITY))
        self._rolled_back()
        self._suspended()

    def fine(self, found: Mapping[str, Any], *, ready: bool = True) -> None:
        """As ever, but for a toleration that a correction of drift has written: it stays, and harms nothing."""
        excused = {_STAYS} if self.mode == _ENABLED and found["step"] in _WITHOUT else set()
        unlike = [line for line in found["unlike"] if line not in excused]
        super().fine({**found, "unlike": unlike}, ready=ready)

    def _again(self) -> None:
        before, drifts, version = self.settled(), self.site.events(self.name, *_DRIFT), self._version()
        for _ in range(AGAIN):
            condition = self._reconciled()
        self.same("again", before)
        more = self.site.events(self.name, *_DRIFT) - drifts
        self.expect(not more, f"again: {more} events of drift")
        self.expect(self._version() == version, f"again: release {self._version()} came after {version}")
        self.expect(self._condition("Drifted") == "False", f"again: Drifted is {self._condition('Drifted')}")
        self.fine(self._see("again", condition, FIRST, times=AGAIN, events=more))

    def _forced(self, step: str) -> None:
        before, version = self.settled(), self._version()
        condition = self._reconciled(forced=True)
        self.same(step, before)
        self.expect(self._version() == version + 1, f"{step}: release {self._version()} came after {version}")
        self.fine(self._see(step, condition, FIRST))

    def _edited_by_hand(self) -> None:
        self.spoil("deployments/web", "statefulsets/worker")
        expected = forms.expected(RELEASE, FIRST)
        spoiled = self.unlike(expected)
        self.expect(len(spoiled) == 2, f"edited by hand: it spoils {spoiled}")
        drifts = self.site.events(self.name, *_DRIFT)
        condition = self._reconciled()
        more = self.site.events(self.name, *_DRIFT) - drifts
        self.expect(more, "edited by hand: no event of drift")
        found = self._see("edited by hand", condition, FIRST, events=more)
        if self.mode == _ENABLED:
            self.fine(found)
            return
        self.expect(found["unlike"] == spoiled, f"edited by hand: warn changed it to {found['unlike']}")
        # Helm writes what differs between two releases, and these are alike.
        found = self._see("edited by hand, forced", self._reconciled(forced=True), FIRST)
        self.expect(found["unlike"] == spoiled, f"edited by hand, forced: unlike are now {found['unlike']}")

    def _refused(self) -> None:
        """A chart that the patches no longer fit: the upgrade fails, and nothing of the cluster changes."""
        step = "affinity, old patches"
        before, version = self.settled(), self._version()
        found = self._see(step, self._put(AFFINITY, IMAGE), IMAGE)
        self.fine(found, ready=False)
        self.same(step, before)
        self.expect(self._version() == version, f"{step}: release {self._version()} came after {version}")

    def _rolled_back(self) -> None:
        """Pods that no node takes: the upgrade fails after its timeout, and what ran before is there again."""
        version = self._version()
        condition = self._put(BROKEN, BROKEN, timeout="15s", until="Remediated")
        found = self._see("broken, rolled back", condition, AFFINITY)
        self.fine(found, ready=False)
        self.expect(self._version() == version + 2, f"broken: release {self._version()} came after {version}")
        self.fine(self._see("last", self._put(LAST, LAST), LAST))

    def _suspended(self) -> None:
        before = self.settled()
        self._object(FIRST, suspend=True)
        self._put(FIRST, FIRST, suspended=True)
        self.same("suspended", before)
        self._object(FIRST)
        self.fine(self._see("resumed", self._reconciled(), FIRST))

    def _put(
        self, revision: str, patches: str, *, suspended: bool = False, timeout: str = "2m", until: str = ""
    ) -> Condition:
        """Commit a version of the chart with the patches that were printed for one, and reconcile."""
        if not suspended:
            # Before the chart is fetched, so that no new chart meets older patches than these.
            self._object(patches, suspend=True)
        self._commit = self.site.commit(self.name, forms.chart(revision))
        self.site.fetched(self.name, self._commit)
        self._charted(revision)
        if suspended:
            return Condition("Unknown", "", "")
        self._object(patches, timeout=timeout)
        condition = self._reconciled()
        if until:
            self.site.until(f"{self.name} is {until}", lambda: self._condition(until) == "True")
        return condition

    def _charted(self, revision: str) -> None:
        """Wait until source-controller has packed that version of the chart."""

        def is_packed() -> bool:
            # The HelmRelease makes the object, if it is new.
            with contextlib.suppress(Refused):
                status = self.site.get("HelmChart", f"{NAMESPACE}-{self.name}").get("status", {})
                packed: object = status.get("artifact", {}).get("revision")
                return packed == RELEASES[revision].number
            return False

        self.site.until(f"the chart of {self.name} is {RELEASES[revision].number}", is_packed)

    def _object(self, patches: str, *, suspend: bool = False, timeout: str = "2m") -> None:
        source = {"kind": "GitRepository", "name": self.name, "namespace": NAMESPACE}
        spec: Object = {
            "interval": "1h",
            "timeout": timeout,
            "suspend": suspend,
            "releaseName": "shop",
            "targetNamespace": self.namespace,
            "storageNamespace": self.namespace,
            "chart": {"spec": {"chart": "./chart", "sourceRef": source, "interval": "1h"}},
            "driftDetection": {"mode": self.mode},
            "upgrade": {"remediation": {"retries": 0, "remediateLastFailure": True, "strategy": "rollback"}},
            "test": {"enable": True},
            **yaml.safe_load(forms.written(RELEASE, patches))["spec"],
        }
        self.site.apply(
            {
                "apiVersion": "helm.toolkit.fluxcd.io/v2",
                "kind": "HelmRelease",
                "metadata": {"name": self.name, "namespace": NAMESPACE},
                "spec": spec,
            }
        )

    def _reconciled(self, *, forced: bool = False) -> Condition:
        self.requests += 1
        return self.site.reconciled("HelmRelease", self.name, forced=forced)

    def _version(self) -> int:
        """The number of the release that Helm deployed last."""
        history = self.site.get("HelmRelease", self.name)["status"].get("history") or [{"version": 0}]
        return int(history[0]["version"])

    def _condition(self, name: str) -> str:
        listed = self.site.get("HelmRelease", self.name).get("status", {}).get("conditions", ())
        return next((one["status"] for one in listed if one["type"] == name), "")

    def _see(self, step: str, condition: Condition, revision: str, **more: Any) -> dict[str, Any]:
        return self.see(step, condition, forms.expected(RELEASE, revision), release=self._version(), **more)
