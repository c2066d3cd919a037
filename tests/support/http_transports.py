"""A transport without a run around it, for tests of HTTP itself.

transport = transport_to(port)              the server at this port of loopback is one that the operator named
transport.send(Request("ping", "GET", ..))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archfit.registry.http.dialer import Dialer
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.limits import LargeBodies
from archfit.registry.http.transport import HttpTransport
from archfit.registry.http.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def dialer_to(
    *ports: int,
    environ: Mapping[str, str] | None = None,
    left: Callable[[], float] = lambda: 9.0,
    ahead: bool = True,
) -> Dialer:
    policy = HostPolicy({("127.0.0.1", port) for port in ports})
    return Dialer(left, policy, Trust(), environ or {}, ahead=ahead)


def transport_to(
    *ports: int, environ: Mapping[str, str] | None = None, left: Callable[[], float] = lambda: 9.0
) -> HttpTransport:
    return HttpTransport(dialer_to(*ports, environ=environ, left=left), LargeBodies(left))
