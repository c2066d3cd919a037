"""The Helm chart, as `helm package` makes it, and the plugin of Helm 4, signed.

The variables KEYRING, KEY and PASSPHRASE_FILE name the key, as for `make plugin`. Without them a check signs with a key
that is made for it and thrown away; a release needs them.
"""

from __future__ import annotations

import os

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


def plugin(release: Release) -> str:
    """The plugin, its signature and the public key in dist/plugin/; `helm plugin verify` has verified them."""
    folder = release.folder("plugin")
    words = [
        release.python,
        ROOT / "scripts" / "plugin_archive.py",
        "--helm",
        tool("helm4"),
        "--into",
        folder,
    ]
    keyring, key = os.environ.get("KEYRING", ""), os.environ.get("KEY", "")
    if release.tag and not (keyring and key):
        raise Wrong(
            "a release signs the plugin: name the keyring and the key in the variables KEYRING and KEY"
        )
    if keyring:
        words += [
            "--keyring",
            keyring,
            "--key",
            key,
            "--passphrase-file",
            os.environ.get("PASSPHRASE_FILE", ""),
        ]
    else:
        words.append("--throw-away-key")
    run(*words)
    release.only(f"plugin/archfit-{release.version}.tgz.prov")
    release.only("plugin/archfit-plugin.gpg" if keyring else "plugin/archfit-throw-away.gpg")
    return "signed and verified" if keyring else "signed with a throw-away key, and verified"
