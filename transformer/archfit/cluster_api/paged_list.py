"""A list of the API, page by page: GET PATH?limit=500, then &continue=TOKEN until there is no token.

    410 Gone    the token is too old: the list begins anew, once; its objects come again

Source: kubernetes.io/docs/reference/using-api/api-concepts, retrieving large results sets in chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from archfit.cluster_api.cluster_connection import Connection
from archfit.cluster_api.cluster_error import ClusterError

LIMIT = 500
_MAX_PAGES = 4000


def listed(connection: Connection, path: str, limit: int = LIMIT) -> Iterator[dict[str, Any]]:
    """Every object of a list. path: such as /apis/apps/v1/deployments. Raises ClusterError."""
    token, again = "", False
    for _ in range(_MAX_PAGES):
        query = {"limit": str(limit), **({"continue": token} if token else {})}
        try:
            page = connection.get(f"{path}?{urlencode(query)}")
        except ClusterError as error:
            if error.reason != "expired" or not token or again:
                raise
            token, again = "", True
            continue
        items = page.get("items") if isinstance(page, dict) else None
        if not isinstance(items, list | None) or not isinstance(page, dict):
            raise ClusterError(f"{path} is no list of objects: is this the API server?")
        yield from (item for item in items or () if isinstance(item, dict))
        metadata = page.get("metadata")
        token = str(metadata.get("continue") or "") if isinstance(metadata, dict) else ""
        if not token:
            return
    raise ClusterError(f"{path} has more than {_MAX_PAGES * limit} objects")
