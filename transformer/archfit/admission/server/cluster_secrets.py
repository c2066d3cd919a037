"""Secrets of the cluster that the server runs in, read by name with its service account.

    Secret shop/hub ── GET /api/v1/namespaces/shop/secrets/hub ── the object, kept in memory by the caller

Nothing of a Secret is logged, cached on disk or shown in an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from archfit.admission.server.shared_answers import PullSecret
from archfit.cluster_api.cluster_error import ClusterError
from archfit.cluster_api.service_account import FOLDER, HOST, ServiceAccount
from archfit.errors import ArchfitError, UsageError

_SECONDS = 5.0


class ClusterSecrets:
    """environ: of the process. folder: token and ca.crt of the service account.

    Raises UsageError outside of a cluster.
    """

    def __init__(self, environ: Mapping[str, str], folder: str = FOLDER) -> None:
        self._environ, self._folder = environ, folder
        if not environ.get(HOST) or not os.path.exists(os.path.join(folder, "token")):
            raise UsageError(
                "--pull-secret: archfit reads Secrets in a cluster only, with a service account: set "
                "automountServiceAccountToken: true, or mount the credentials and name them in --authfile"
            )

    def read(self, secret: PullSecret) -> dict[str, Any]:
        """The Secret as the API server writes it. Raises ArchfitError, which says nothing of its content."""
        try:
            account = ServiceAccount(self._environ, seconds=_SECONDS, folder=self._folder)
            try:
                found = account.get(f"/api/v1/namespaces/{secret.namespace}/secrets/{secret.name}")
            finally:
                account.close()
        except ClusterError as error:
            remedy = (
                ": allow the service account to get it by name (RBAC)" if error.reason == "forbidden" else ""
            )
            raise ArchfitError(
                f"--pull-secret: Secret {secret} cannot be read ({error.reason}){remedy}"
            ) from None
        if not isinstance(found, dict):
            raise ArchfitError(f"--pull-secret: Secret {secret} cannot be read: the answer is no JSON object")
        return found
