"""Pods that run archfit itself: what the manifests of `setup policy`, `setup webhook` and `setup fleet` share.

IMAGE          stands for the image that the user builds from the Dockerfile
NAMESPACE      its pods are left out by policy and webhook
CREDENTIALS    where a Secret of type kubernetes.io/dockerconfigjson is mounted, for ARCHFIT_AUTHFILE
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml.comments import CommentedMap

from archfit import __version__
from archfit.integrations.yaml_files import mapping

IMAGE = f"registry.example.com/archfit:{__version__}"
NAMESPACE = "archfit"
CREDENTIALS = "/etc/archfit/registries"
AUTHFILE = f"{CREDENTIALS}/config.json"
_VOLUME = "registries"


def image_advice(image: str) -> str:
    """What to say about an image that the user has not named, "" about another."""
    return f"{image} stands for your image: build it and name it with --image" if image == IMAGE else ""


def secret_volume(volume: str, secret: str, key: str, path: str) -> CommentedMap:
    """One key of a Secret as a file."""
    source = mapping(secretName=secret, defaultMode=0o440, items=[mapping(key=key, path=path)])
    return mapping(name=volume, secret=source)


def registry_volume(secret: str) -> CommentedMap:
    """The credentials for registries."""
    return secret_volume(_VOLUME, secret, ".dockerconfigjson", "config.json")


def registry_mount() -> CommentedMap:
    """Where a container finds them."""
    return mapping(name=_VOLUME, mountPath=CREDENTIALS, readOnly=True)


def use_registry_secret(pod: Any, container: Any, secret: str) -> None:
    """Mounts the credentials for registries, and names them to archfit."""
    container["env"].append(mapping(name="ARCHFIT_AUTHFILE", value=AUTHFILE))
    container["volumeMounts"].append(registry_mount())
    pod["volumes"].append(registry_volume(secret))
