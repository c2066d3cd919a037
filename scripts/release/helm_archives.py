"""The Helm chart, as `helm package` makes it, and the plugin of Helm 4, signed.

The key is made for it and thrown away. In a release a job of its own, which builds nothing, signs the same message with
the project's key: the job `sign` of .github/workflows/release.yml.
"""

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
    values = ("--set", "certificate.source=cert-manager")
    rendered = run(helm, "template", "archfit", packed, "--namespace", "archfit", *values, **home)
    image = f"registry.example.com/archfit:{release.version}"
    if image not in rendered:
        raise Wrong(f"the chart does not use the image {image}")
    return "lint, package, template"


def plugin(release: Release) -> str:
    """The plugin, its signature and the public key in dist/plugin/; `helm plugin verify` has verified them."""
    folder = release.folder("plugin")
    script = ROOT / "scripts" / "plugin_archive.py"
    run(release.python, script, "--helm", tool("helm4"), "--into", folder, "--throw-away-key")
    release.only(f"plugin/archfit-{release.version}.tgz.prov")
    release.only("plugin/archfit-throw-away.gpg")
    return "signed with a throw-away key, and verified"
