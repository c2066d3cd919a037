"""A Kustomization of Flux whose manifests went through archfit by one of three ways, and what becomes of it.

    NOTHING                   as written, without archfit
    flux-kustomization        spec.patches
    kustomize                 a component in the repository, named in spec.components
    rendered                  a repository of rendered files that `archfit --in-place` changed before the commit

first      -> again          reconciled many times: nothing may change
           -> edited by hand healed, without a loss of archfit's terms
image      -> old patches    an image moves: nothing fails, and the patches are out of date; then printed again
affinity   -> old patches    the author adds an affinity: refused, and what runs stays; then printed again
renamed    -> old patches    spec.patches pass it over, a component is refused; then printed again
last       -> suspended      nothing happens; then resumed
           -> taken out      without archfit, as the manifests are
"""

import yaml

from whole.flux import forms
from whole.flux.forms import AFFINITY, COMPONENT, FIRST, IMAGE, LAST, PATCHES, RENAMED, RENDERED
from whole.flux.site import NAMESPACE, Condition, FluxSite, Object
from whole.flux.steps import Door

NOTHING = "as-written"
AGAIN = 10
MANAGER = "kustomize-controller"


class Applied(Door):
    """form: NOTHING or one of forms."""

    def __init__(self, site: FluxSite, form: str) -> None:
        super().__init__(site, form)
        self.form = form
        self._commit = ""

    def run(self) -> None:
        """Every step. Raises Failed."""
        self._put(FIRST, FIRST)
        self.site.source(self.name, self._commit)
        self._object(FIRST)
        condition = self._reconciled()
        if self.form == NOTHING:
            found = self.see("first", condition, ())
            self.expect(found["ready"], f"first: {condition.message}")
            self.expect(found["wrong"], "as written, no pod is on a wrong architecture: it shows nothing")
            return
        self.fine(self.see("first", condition, self._expected(FIRST)))
        self.owners()
        self.expect(self.managers == {MANAGER}, f"first: managed by {sorted(self.managers)}")
        self._again()
        self._edited_by_hand()
        # In a rendered branch there is no patch that could be older than the manifests.
        old = self.form != RENDERED
        if old:
            condition = self._put(IMAGE, FIRST)
            found = self.see("image, old patches", condition, self._expected(IMAGE))
            self.expect(found["ready"], f"image, old patches: {condition.message}")
            self.expect(found["wrong"], "image, old patches: nothing is wrong: it shows nothing")
        self.fine(self.see("image", self._put(IMAGE, IMAGE), self._expected(IMAGE)))
        if old:
            self._refused(AFFINITY, IMAGE)
        self.fine(self.see("affinity", self._put(AFFINITY, AFFINITY), self._expected(AFFINITY)))
        if self.form == COMPONENT:
            self._refused(RENAMED, AFFINITY)
        if self.form == PATCHES:
            condition = self._put(RENAMED, AFFINITY)
            found = self.see("renamed, old patches", condition, self._expected(RENAMED))
            self.expect(found["ready"], f"renamed, old patches: {condition.message}")
            self.expect(
                found["unlike"] == ["Deployment/basket: affinity"],
                f"renamed, old patches: unlike are {found['unlike']}",
            )
        self.fine(self.see("renamed", self._put(RENAMED, RENAMED), self._expected(RENAMED)))
        self._suspended()
        self._taken_out()

    def _again(self) -> None:
        """Reconcile many times; nothing may come of it."""
        before, told = self.settled(), self.site.told(self.name, "configured", "created", "drift")
        for _ in range(AGAIN):
            condition = self._reconciled()
        self.same("again", before)
        more = self.site.told(self.name, "configured", "created", "drift") - told
        self.expect(not more, f"again: {more} events of a change")
        self.fine(self.see("again", condition, self._expected(FIRST), times=AGAIN, events=more))

    def _edited_by_hand(self) -> None:
        """`kubectl patch`: somebody takes tolerations and affinity away, and writes a constraint of his own."""
        own = {"kubernetes.io/os": "linux"}
        self.spoil("deployments/web", "deployments/cart", "statefulsets/legacy", nodeSelector=own)
        spoiled = self.unlike(self._expected(FIRST))
        self.expect(len(spoiled) == 3, f"edited by hand: it spoils {spoiled}")
        self.fine(self.see("edited by hand", self._reconciled(), self._expected(FIRST), spoiled=spoiled))

    def _refused(self, revision: str, patches: str) -> None:
        """Manifests that the patches no longer fit: an error, and nothing of the cluster changes."""
        before = self.settled()
        condition = self._put(revision, patches)
        found = self.see(f"{revision}, old patches", condition, self._expected(patches))
        self.fine(found, ready=False)
        self.same(f"{revision}, old patches", before)

    def _suspended(self) -> None:
        before = self.settled()
        self._object(RENAMED, suspend=True)
        self._put(LAST, LAST, suspended=True)
        self.same("suspended", before)
        self._object(LAST)
        self.fine(self.see("resumed", self._reconciled(), self._expected(LAST)))

    def _taken_out(self) -> None:
        """What archfit wrote goes where archfit goes: no other manager holds it."""
        if self.form == RENDERED:
            self._commit = self.site.commit(self.name, {"app/workloads.yaml": forms.plain(RENDERED, LAST)})
            self.site.fetched(self.name, self._commit)
        else:
            self._object(None)
        plain = [one for one in yaml.safe_load_all(forms.plain(self.form, LAST)) if one]
        found = self.see("taken out", self._reconciled(), plain)
        self.expect(found["ready"], f"taken out: {found.get('message')}")
        self.expect(not found["unlike"], f"taken out: unlike the manifests: {found['unlike']}")

    def _put(self, revision: str, patches: str, *, suspended: bool = False) -> Condition:
        """Commit a revision of the manifests with the patches that were printed for one, and reconcile."""
        files: dict[str, bytes | None] = {**forms.app(revision)}
        if self.form == RENDERED:
            files["app/workloads.yaml"] = forms.written(RENDERED, revision)
        if self.form == COMPONENT:
            files["archfit/kustomization.yaml"] = forms.written(COMPONENT, patches)
        first = not self._commit
        self._commit = self.site.commit(self.name, files)
        if first:
            return Condition("Unknown", "", "")
        if not suspended:
            # Before the commit is fetched, so that no new manifests meet older patches than these.
            self._object(patches, suspend=True)
        self.site.fetched(self.name, self._commit)
        if suspended:
            return Condition("Unknown", "", "")
        self._object(patches)
        return self._reconciled()

    def _object(self, patches: str | None, *, suspend: bool = False) -> None:
        """Apply the Kustomization. patches: the revision whose patches it has; None without archfit."""
        spec: Object = {
            "interval": "1h",
            "path": "./app",
            "prune": True,
            "wait": True,
            "timeout": "2m",
            "suspend": suspend,
            "targetNamespace": self.namespace,
            "sourceRef": {"kind": "GitRepository", "name": self.name},
        }
        if patches and self.form == PATCHES:
            spec |= yaml.safe_load(forms.written(PATCHES, patches))["spec"]
        if patches and self.form == COMPONENT:
            spec["components"] = ["../archfit"]
        self.site.apply(
            {
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "metadata": {"name": self.name, "namespace": NAMESPACE},
                "spec": spec,
            }
        )

    def _reconciled(self) -> Condition:
        self.requests += 1
        return self.site.reconciled("Kustomization", self.name)

    def _expected(self, revision: str) -> list[Object]:
        return forms.expected(self.form, revision)
