"""What registries do in their own way: one row for a host, one name for what products answer on any host.

    registry                     its way
    Docker Hub                   three names, one API; its own listing of tags; a limit of pulls, which lasts hours
    ECR, ACR, Artifact Registry  a host for each account: what is below the same parent is somebody else's
    Alibaba, Scaleway            tokens from hosts of other domains
    ECR Public                   400 in place of 401 for a token that has expired
    Nexus 3.0, some proxies      405 or 501 for HEAD; HEAD without a digest (Artifactory, Red Hat)
    Google, ACR, Artifactory     404, 400 or 401 for a token that is asked for by POST
    Artifactory, Red Hat         a Content-Type that says nothing
    go-containerregistry         full pages of tags without Link

Sources: the registries' own documentation; containerd, core/remotes/docker; containers/image, docker/docker_client.go.
"""

from __future__ import annotations

import re

from archfit.images.reference import HUB_INDEX
from archfit.startup.record import Record


class HostQuirk(Record):
    r"""hosts: the hosts, without a port, as a regular expression in lower case.

    challenges: it answers a first request with 401: one thread asks first, and its 401 serves all threads.
    token_hosts: token services on other hosts that may have its credentials; `\1` for a group of `hosts`.
    of_account: it belongs to the account of a cloud's customer, whose own images are there.
    helper_server: what credential helpers are asked for in place of its host, "" for the host.
    listing: where it lists tags with their platforms, `{repository}` for the repository; "" where it does not.
    """

    hosts: str
    challenges: bool = False
    token_hosts: tuple[str, ...] = ()
    of_account: bool = False
    helper_server: str = ""
    listing: str = ""


HOSTS = (
    HostQuirk(
        r"docker\.io|index\.docker\.io|registry-1\.docker\.io",
        challenges=True,
        token_hosts=("auth.docker.io",),
        helper_server=f"https://{HUB_INDEX}/v1/",
        listing="https://hub.docker.com/v2/repositories/{repository}/tags?page_size=100&ordering=last_updated",
    ),
    HostQuirk(r"ghcr\.io|quay\.io|public\.ecr\.aws|registry\.(?:gitlab|suse)\.com|nvcr\.io", challenges=True),
    HostQuirk(r"(?:[a-z]+\.)?gcr\.io", challenges=True),
    HostQuirk(r"registry\.redhat\.io", challenges=True, token_hosts=("sso.redhat.com",)),
    HostQuirk(r"registry\.(?:connect|access)\.redhat\.com", token_hosts=("sso.redhat.com",)),
    HostQuirk(r"rg\.[a-z]{2}-[a-z]{3}\.scw\.cloud", challenges=True, token_hosts=("api.scaleway.com",)),
    HostQuirk(
        r"[a-z0-9-]+\.([a-z0-9-]+)(?:\.personal)?\.cr\.aliyuncs\.com",
        challenges=True,
        token_hosts=tuple(rf"dockerauth{kind}.\1.aliyuncs.com" for kind in ("", "-ee", "-vpc", "-ee-vpc")),
    ),
    HostQuirk(r"[a-z0-9-]+-docker\.pkg\.dev", challenges=True, of_account=True),
    HostQuirk(r"[a-z0-9-]+\.azurecr\.(?:io|cn|us)", challenges=True, of_account=True),
    HostQuirk(r"[0-9]{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?", challenges=True, of_account=True),
    HostQuirk(
        r"[0-9]{12}\.dkr[.-]ecr(?:-fips)?\.[a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|on\.aws)", of_account=True
    ),
)
_PLAIN = HostQuirk("")

SHARED_PARENTS = re.compile(
    r"(?:azurecr\.(?:io|cn|us)|amazonaws\.com(?:\.cn)?|pkg\.dev|aliyuncs\.com|github\.io|cloudfront\.net|"
    r"(?:co|com|net|org|gov|edu|ac|or|ne)\.[a-z]{2}|run\.app|appspot\.com|herokuapp\.com|azurewebsites\.net|"
    r"ngrok\.io|ngrok\.app|ocir\.io|nip\.io|sslip\.io)",
    re.ASCII,
).fullmatch
"""Parent domains that unrelated owners share: a host below one of them is not the same site."""

NO_HEAD = frozenset({405, 501})
EXPIRED_TOKEN = 400
"""With a token in the request, beside 401."""
NO_TOKEN_BY_POST = frozenset({400, 401, 404, 405})
TOO_MANY_TAGS = frozenset({400, 413})
FULL_PAGE = 50
"""A page of tags that has a multiple of so many may be full."""
GENERIC_TYPES = ("", "application/octet-stream", "application/json", "text/plain", "binary/octet-stream")
PULL_LIMIT = (b"pull rate limit", b"increase-rate-limit")
"""Words of a 429 that lasts hours."""


def quirk_of(host: str) -> HostQuirk:
    """The row of a host, which may have a port; an empty one where there is none."""
    name = host.lower().rpartition("]")[2].partition(":")[0]
    for row in HOSTS:
        if matched := re.fullmatch(row.hosts, name, re.ASCII):
            return row.replace(token_hosts=tuple(map(matched.expand, row.token_hosts)))
    return _PLAIN
