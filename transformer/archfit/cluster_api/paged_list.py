"""A list of the API, page by page: GET PATH?limit=500, then &continue=TOKEN until there is no token.

    410 Gone               the token is too old: what was read so far is dropped, and reading begins anew, once
    a token given twice    the API would be asked for ever: an error

What was read before a 410 may be gone in the meantime, so only the reader of a whole can begin anew: `anew_once`.
Source: kubernetes.io/docs/reference/using-api/api-concepts, retrieving large results sets in chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlencode

from archfit.cluster_api.cluster_connection import Connection
from archfit.cluster_api.cluster_error import ClusterError

LIMIT = 500
_MAX_PAGES = 4000
_Read = TypeVar("_Read")


def listed(connection: Connection, path: str, limit: int = LIMIT) -> Iterator[dict[str, Any]]:
    """Every object of a list. path: such as /apis/apps/v1/deployments. Raises ClusterError."""
    token = ""
    given: set[str] = set()
    while True:
        query = {"limit": str(limit), **({"continue": token} if token else {})}
        page = connection.get(f"{path}?{urlencode(query)}")
        items = page.get("items") if isinstance(page, dict) else None
        if not isinstance(items, list | None) or not isinstance(page, dict):
            raise ClusterError(f"{path} is no list of objects: is this the API server?")
        yield from (item for item in items or () if isinstance(item, dict))
        metadata = page.get("metadata")
        token = str(metadata.get("continue") or "") if isinstance(metadata, dict) else ""
        if not token:
            return
        if token in given:
            raise ClusterError(f"{path} gives the same page again and again: is this the API server?")
        given.add(token)
        if len(given) >= _MAX_PAGES:
            raise ClusterError(f"{path} has more than {_MAX_PAGES * limit} objects")


def anew_once(read: Callable[[], _Read]) -> _Read:
    """What `read` gives; it is called again, once, where a list changed too much while it was read."""
    try:
        return read()
    except ClusterError as error:
        if error.reason != "expired":
            raise
    return read()
