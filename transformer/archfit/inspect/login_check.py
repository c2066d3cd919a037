"""`archfit login-check HOST|IMAGE`: which credential would be used, from where, and whether the registry accepts it.

    HOST     ghcr.io, localhost, localhost:5000; or with "/" at its end, as in registry:5000/
    IMAGE    anything else, as in ghcr.io/team/app:1, for which a path in a credentials file may count

An image that has mirrors is asked for at each of them; all have to accept. The credential itself is never shown.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import BinaryIO, TextIO

from archfit.base.errors import InvalidReference, UsageError
from archfit.base.printable import visible
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.images.reference import HUB, HUB_NAMES, Reference, is_host, parse
from archfit.options.settings import Operator
from archfit.registry.client import RegistryClient
from archfit.registry.credentials.credential import Credential
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.http.request import Reply, Request, origin_of
from archfit.registry.http.servers import leads
from archfit.registry.lookup_context import Deadline, LookupContext
from archfit.registry.manifest import ACCEPT
from archfit.registry.refusals import MAX_ERROR, wants_tls
from archfit.registry.registry_errors import RegistryError, Unauthorized
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Routes
from archfit.startup.record import Record
from archfit.yaml.json_output import document_head, json_output

_COMMAND = BY_NAME["login-check"]


class Checked(Record):
    """One server. credential: what it is and where it is from, "" if there is none.

    good: the credential is accepted. answer: a sentence.
    known: False where the server or the credential could not be asked for, so that nothing is known.
    """

    origin: str
    credential: str
    good: bool
    answer: str
    known: bool = True


def check_login(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr)
    words, operator = invocation.words, invocation.settings.operator
    if len(words) != 1:
        program = _COMMAND.program
        raise UsageError(f"name one registry or image, as in {program} ghcr.io; see {program} --help")
    name, checked = _servers_checked(words[0], operator, environ)
    good = all(server.good for server in checked)
    if invocation.flags.format == "json":
        servers = [
            {
                "server": server.origin,
                "credential": server.credential or None,
                "good": server.good,
                "answer": server.answer,
            }
            for server in checked
        ]
        stdout.write(
            json_output({**document_head("login-check"), "for": name, "good": good, "servers": servers})
        )
    else:
        stdout.write("\n".join(_text(name, server) for server in checked).encode())
    stdout.flush()
    stderr.writelines(f"error: {server.origin}: {server.answer}\n" for server in checked if not server.good)
    return 0 if good else 3 if all(server.known for server in checked) else 1


def _servers_checked(word: str, operator: Operator, environ: Mapping[str, str]) -> tuple[str, list[Checked]]:
    """What is checked, and the servers in the order in which they would be asked."""
    host = _host(word)
    # A server is found as some repository of its would be.
    reference = Reference(host, "any", "latest", "", word) if host else _parsed(word)
    keychain = Keychain(operator.authfile, environ)
    deadline = Deadline()
    deadline.start(operator.timeout_seconds)
    context = LookupContext(
        environ, time.time, time.sleep, progress=None, named_hosts_only=False, deadline=deadline
    )
    client = RegistryClient(operator, context, lambda _reference, _digest: None, keychain, Routes(operator))
    with closing(client.http):
        route = client.route(reference)
        if route.refusal:
            raise RegistryError(f"archfit does not ask for {word}: {route.refusal}")
        endpoints = (
            [endpoint.replace(repository="") for endpoint in route.endpoints] if host else route.endpoints
        )
        tag = "" if host else reference.digest or reference.tag
        checked = [
            _one(endpoint, tag, keychain, None if operator.offline else client) for endpoint in endpoints
        ]
    return host or reference.normalised, checked


def _one(endpoint: Endpoint, tag: str, keychain: Keychain, client: RegistryClient | None) -> Checked:
    try:
        credential = keychain.find(endpoint.host, endpoint.repository)
    except RegistryError as error:
        return Checked(endpoint.origin, "", good=False, answer=str(error), known=False)
    words = _words(credential)
    if client is None:
        answer = (
            "not asked, as --offline forbids it" if words else "there is none, and --offline forbids asking"
        )
        return Checked(endpoint.origin, words, good=bool(words), answer=answer)
    try:
        reply = _asked(client, endpoint, tag)
    except RegistryError as error:
        refused = isinstance(error, Unauthorized)
        return Checked(endpoint.origin, words, good=False, answer=str(error), known=refused)
    status, other = reply.status, origin_of(reply.url)
    server = client.http.servers.of(endpoint.origin)
    good = status not in {401, 403}
    if not good and other != endpoint.origin:
        answer = (
            f"refused: {endpoint.origin} leads to {other}, which answers {status}; a login for {endpoint.host} changes "
            f"nothing there: write {other.partition('://')[2]} into the manifest, and log in there"
        )
    elif not good:
        advice = "log in again" if credential else f"log in with `docker login {endpoint.host}`"
        answer = f"refused: {endpoint.origin} answers {status}; {advice}, or ask for the right to pull"
    else:
        answer = "accepted" if server.challenge is not None else "accepted: it asked for no credential"
        answer = f"accepted: {leads(endpoint.origin, server.elsewhere)}" if server.elsewhere else answer
        answer += "; there is no such image" if status == 404 else ""
    return Checked(endpoint.origin, words, good=good, answer=answer)


def _asked(client: RegistryClient, endpoint: Endpoint, tag: str) -> Reply:
    """The registry's verdict: 401 and 403 refuse, 200 and others below 500 accept.

    HEAD of a manifest, which no registry counts as a pull; without a tag, GET of the API's root. Raises RegistryError
    where the server cannot be asked, Unauthorized where its token service refuses.
    """
    root, origin = f"{endpoint.origin}{endpoint.base}/", endpoint.origin
    headers = {**dict(endpoint.headers), "accept": ACCEPT if tag else "*/*"}
    request = Request("ping", "GET", root, headers, origin, MAX_ERROR)
    if tag:
        url = f"{root}{endpoint.repository}/manifests/{tag}"
        request = Request("head", "HEAD", url, headers, origin, 0)
    reply = client.authorizer.send(request, endpoint)
    status = reply.status
    if status == 429 or status >= 500:
        raise RegistryError(f"{origin} answers {status}: try again later", status=status)
    tls = wants_tls(reply)
    if tls:
        raise RegistryError(tls, status=status)
    if status not in {200, 401, 403} and not tag:
        raise RegistryError(
            f"{origin} answers {status} to /v2/, so it is no registry: correct the host", status=status
        )
    return reply


def _words(credential: Credential | None) -> str:
    """What kind of credential it is, and its place; "" if there is none."""
    if credential is None:
        return ""
    kind = "user and password"
    if credential.registry_token:
        kind = "a registry token"
    elif credential.identity_token:
        kind = "an identity token"
    return f"{kind} from {credential.source}"


def _host(word: str) -> str:
    """The host that the word names, "" where it is an image. Raises UsageError for a host that is malformed."""
    bare = word.removeprefix("https://")
    name = bare.removesuffix("/")
    first = name.partition(":")[0]
    if "/" in name or not (bare != name or bare != word or "." in first or first == "localhost"):
        return ""
    if not is_host(name):
        raise UsageError(f"{name!r} is not a host: write one as in ghcr.io or registry.example:5000")
    return HUB if name in HUB_NAMES else name


def _parsed(word: str) -> Reference:
    try:
        return parse(word)
    except InvalidReference as error:
        raise UsageError(f"neither a registry nor an image: {error}") from None


def _text(name: str, server: Checked) -> str:
    rows = (
        ("for", name),
        ("asked", server.origin),
        ("with", server.credential or "no credential"),
        ("answer", server.answer),
    )
    return "".join(f"{label:8}{visible(value)}\n" for label, value in rows)
