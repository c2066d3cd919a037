"""The Helm chart, as `helm package` makes it."""

from __future__ import annotations

from places import ROOT, Release, Wrong, run, tool


def chart(release: Release) -> str:
    """The chart in dist/chart/; it renders, and its version is the release's."""
    helm = tool("helm4")
    home = {"HOME": str(release.work), "HELM_PLUGINS": str(release.work / "no-plugins")}
    source = ROOT / "charts" / "archfit"
    run(helm, "lint", "--strict", source, **home)
    run(helm, "package", source, "--destination", release.folder("chart"), **home)
    packed = release.only("chart/*.tgz")
    if packed.name != f"archfit-{release.version}.tgz":
        raise Wrong(f"the chart is {packed.name}, not of version {release.version}")
    rendered = run(helm, "template", "archfit", packed, "--namespace", "archfit", **home)
    image = f"registry.example.com/archfit:{release.version}"
    if image not in rendered:
        raise Wrong(f"the chart does not use the image {image}")
    return "lint, package, template"
