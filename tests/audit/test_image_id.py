"""What an imageID says, in the words of each runtime."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import pytest

from archfit.audit.builds import ImageId, image_id

HEX = "ab" * 32
DIGEST = f"sha256:{HEX}"
NGINX = "docker.io/library/nginx"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(f"{NGINX}@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="containerd"),
        pytest.param(f"nginx@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="short-name"),
        pytest.param(f"registry.example:5000/team/app@{DIGEST}", ImageId("digest", DIGEST, "registry.example:5000/team/app"), id="host-with-port"),
        pytest.param(f"docker-pullable://nginx@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="docker-pullable"),
        pytest.param(f"docker://{DIGEST}", ImageId("image", DIGEST), id="docker-config"),
        pytest.param(DIGEST, ImageId("image", DIGEST), id="bare-config-of-a-loaded-image"),
        pytest.param(HEX, ImageId("image", DIGEST), id="cri-o-after-a-restart"),
        pytest.param(f"docker.io/library/import-2026-03-15@{DIGEST}", ImageId("digest", DIGEST), id="name-that-containerd-makes-up"),
        pytest.param("", ImageId("none"), id="not-started"),
        pytest.param("  ", ImageId("none"), id="blank"),
        pytest.param("nginx:1.27", ImageId("malformed"), id="a-tag-proves-nothing"),
        pytest.param(f"nginx:1.27@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="tag-beside-the-digest"),
        pytest.param("sha256:abc", ImageId("malformed"), id="short-digest"),
        pytest.param(f"nginx@md5:{'a' * 32}", ImageId("malformed"), id="unknown-algorithm"),
        pytest.param("rocket://x", ImageId("malformed"), id="unknown-scheme"),
        pytest.param("</script>" * 200, ImageId("malformed"), id="hostile-and-long"),
        pytest.param(f"{'a' * 1100}@{DIGEST}", ImageId("malformed"), id="too-long"),
    ],
)  # fmt: skip
def test_an_imageid_is_read(text: str, found: ImageId) -> None:
    assert image_id(text) == found
