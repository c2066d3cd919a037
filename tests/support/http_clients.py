"""An HTTP client without a run around it, for tests of HTTP itself.

http = http_to(port)                        the server at this port of loopback is one that the operator named
http.exchange(Request("ping", "GET", ..))   one request, one answer
"""

from collections.abc import Callable, Mapping

from archfit.registry.http.connections import ConnectionPool
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.http_client import HttpClient
from archfit.registry.http.limits import LargeBodies
from archfit.registry.http.trust import Trust


def pool_to(
    *ports: int, environ: Mapping[str, str] | None = None, left: Callable[[], float] = lambda: 9.0
) -> ConnectionPool:
    policy = HostPolicy({("127.0.0.1", port) for port in ports})
    return ConnectionPool(left, policy, Trust(), environ or {})


def http_to(
    *ports: int, environ: Mapping[str, str] | None = None, left: Callable[[], float] = lambda: 9.0
) -> HttpClient:
    return HttpClient(pool_to(*ports, environ=environ, left=left), LargeBodies(left))
