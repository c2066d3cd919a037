"""Pods that run archfit itself: what the manifests of `setup policy`, `setup webhook` and `setup fleet` share.

IMAGE stands for the image that the user builds from the Dockerfile. The pods of NAMESPACE are left out by policy and
webhook. LABEL is a name as of a Namespace, SUBDOMAIN one as of a Secret (RFC 1123).
"""

from __future__ import annotations

import re
from typing import Any

from archfit import __version__
from archfit.base.errors import InvalidReference, UsageError
from archfit.base.files import read_file
from archfit.cli.setup.yaml_files import mapping, written
from archfit.images import reference
from archfit.options.config_file import from_file

IMAGE = f"registry.example.com/archfit:{__version__}"
NAMESPACE = "archfit"


def image_advice(image: str) -> str:
    """What to say about an image that the user has not named, "" about another."""
    return f"{image} stands for your image: build it and name it with --image" if image == IMAGE else ""


LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def object_name(flag: str, text: str, form: re.Pattern[str]) -> str:
    """A name in Kubernetes. form: LABEL or SUBDOMAIN. Raises UsageError."""
    if not form.fullmatch(text):
        raise UsageError(
            f"{flag}: {text!r} is not a name in Kubernetes: write lower-case letters, digits and -"
        )
    return text


def image(text: str) -> str:
    """The value of --image. Raises UsageError."""
    try:
        reference.parse(text)
    except InvalidReference as error:
        raise UsageError(f"--image: {error}") from None
    return text


def content(flag: str, path: str) -> bytes:
    """The content of the file that a flag names. Raises UsageError."""
    if not path:
        raise UsageError(f"{flag}: is empty: write a path, or leave the flag out")
    try:
        return read_file(path)
    except OSError as error:
        raise UsageError(f"{flag}: cannot read {path!r} ({error.strerror}): name a readable file") from None


def configuration(path: str) -> str:
    """The text of the archfit.yaml that --configuration names. Raises UsageError."""
    text = content("--configuration", path)
    from_file(text, path, "--configuration")
    return text.decode("utf-8-sig")


def name_registry_secret(pod: Any, container: Any, secret: str) -> None:
    """Names the Secret that a manifest mounts as credentials for registries; "" takes it out of the manifest."""
    name_secret(pod, container, "registries", "ARCHFIT_AUTHFILE", secret)


def name_secret(pod: Any, container: Any, volume: str, variable: str, secret: str) -> None:
    """Names the Secret of a volume; "" takes out the volume, its mount, and the variable that names its file."""
    if secret:
        named(pod["volumes"], volume)["secret"]["secretName"] = secret
        return
    leave_out(pod["volumes"], volume)
    leave_out(container["volumeMounts"], volume)
    leave_out(container["env"], variable)


def named(items: Any, name: str) -> Any:
    """The item of that name in a list of volumes, mounts or variables."""
    (item,) = (item for item in items if item["name"] == name)
    return item


def leave_out(items: Any, name: str) -> None:
    """Removes the item of that name from such a list."""
    items[:] = [item for item in items if item["name"] != name]


def namespace(name: str) -> str:
    """The manifest of the namespace in which they run."""
    labels = {
        "app.kubernetes.io/name": "archfit",
        "app.kubernetes.io/instance": "archfit",
        "pod-security.kubernetes.io/enforce": "restricted",
    }
    metadata = mapping(name=name, labels=mapping(**labels))
    return written(mapping(apiVersion="v1", kind="Namespace", metadata=metadata))
