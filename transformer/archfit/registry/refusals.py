"""What a server's refusal means, and what several of them mean together.

Words of a server are short, printable, and dropped where they repeat a secret that was sent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from archfit.base.printable import visible
from archfit.registry.credentials.credential import Credential
from archfit.registry.http.http_client import is_pull_limit
from archfit.registry.http.request import NoTls, Reply, origin_of
from archfit.registry.registry_errors import ManifestUnknown, Misconfigured, RegistryError, Unauthorized
from archfit.registry.routing.endpoints import Endpoint

MAX_ERROR = 64 * 1024
_WANT_TLS = (b"HTTP request to an HTTPS server", b"plain HTTP request was sent to HTTPS port")


def refusal(
    reply: Reply, endpoint: Endpoint, what: str, credential: Credential | None, secrets: Sequence[str]
) -> RegistryError:
    """What a status other than 200 means. credential: for that server, None for none. secrets: that were sent."""
    where, words = origin_of(reply.url), _error_message(reply, secrets)
    if reply.status in {401, 403} and is_own(reply, endpoint):
        return Unauthorized(
            f"{where} {_denied(credential, endpoint)} {what} ({reply.status}{words and f', {words}'})",
            status=reply.status,
        )
    if reply.status == 429:
        limit = is_pull_limit(reply.headers, reply.body)
        advice = (
            "its pull limit is used up: log in, ask a mirror (--mirror), or wait some hours"
            if limit
            else "it is asked too often: try later, or ask a mirror (--mirror)"
        )
        return RegistryError(f"{where} answered 429 for {what}: {advice}", status=429)
    tls = wants_tls(reply)
    if tls:
        return Misconfigured(tls)
    advice = ": try again later" if reply.status >= 500 and not words else ""
    if reply.status in {401, 403}:
        mirror = f"--mirror {endpoint.host}={where}"
        advice = f": {endpoint.origin} redirects there; ask it in its place, with {mirror}"
    quoted = f" ({words})" if words else ""
    return RegistryError(f"{where} answered {reply.status} for {what}{quoted}{advice}", status=reply.status)


def wants_tls(reply: Reply) -> str:
    """What to write where a server says that it wants https, as Go's net/http and nginx do; "" where it does not."""
    where = origin_of(reply.url)
    if reply.status != 400 or not where.startswith("http://") or not any(map(reply.body.count, _WANT_TLS)):
        return ""
    return f"{where} speaks TLS, and was asked without: write {where.replace('http', 'https', 1)}"


def is_own(reply: Reply, endpoint: Endpoint) -> bool:
    """The answer is the registry's own, not that of a server it redirected to."""
    return origin_of(reply.url) == endpoint.origin


def because(endpoint: Endpoint) -> str:
    """What puts the server in the place of the registry, behind a sentence about it; "" for the registry itself."""
    if not endpoint.named_by:
        return ""
    return f" (it is asked for {endpoint.instead_of} because of {endpoint.named_by})"


def placed(error: RegistryError, endpoint: Endpoint) -> RegistryError:
    """The error of a server, with what puts it in the place of the registry."""
    if not endpoint.named_by:
        return error
    if isinstance(error, NoTls):
        flag = endpoint.named_by
        plain = flag.replace("=https://", "=http://", 1)
        return NoTls(error.server, f"write {plain}" if plain != flag else f"say so in the files of {flag}")
    copied = error.__class__.__new__(error.__class__, f"{error}{because(endpoint)}")
    copied.__dict__.update(error.__dict__)  # threads may share the error
    return copied


def joined(failed: Sequence[RegistryError]) -> RegistryError:
    """One error for all servers that were asked: the last one's kind, with the messages of all."""
    if len(failed) == 1:
        return failed[0]
    messages = "; ".join(dict.fromkeys(str(error) for error in failed))
    if not failed:
        return RegistryError("no server may be asked for it")
    if isinstance(failed[-1], ManifestUnknown):
        return ManifestUnknown(messages, status=404)
    return Misconfigured(messages) if all(error.mistake for error in failed) else RegistryError(messages)


def _denied(credential: Credential | None, endpoint: Endpoint) -> str:
    if credential:
        return f"found nothing, or gives the credentials from {credential.source} no access, for"
    return (
        f"found nothing, or gives no anonymous access (log in with `docker login {endpoint.host}`; where the nodes "
        "alone have the image, write imagePullPolicy: Never), for"
    )


def _error_message(reply: Reply, secrets: Sequence[str]) -> str:
    """The first error message of the body, short and printable (distribution-spec, Error Codes).

    "" where it repeats one of the secrets.
    """
    if len(reply.body) > MAX_ERROR:
        return ""
    try:
        first = json.loads(reply.body)["errors"][0]
        words = f"{first.get('code', '')} {first.get('message', '')}".strip()
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return ""
    if any(secret in words for secret in secrets):
        return ""
    return visible(words[:200])
