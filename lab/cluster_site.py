"""What is opened for a system that runs beside a control plane, and closed with it.

class ShopSite(ClusterSite):
    def __init__(self, folder):
        super().__init__()
        self.plane = ControlPlane(folder, *UNROUTED)
    def _prepare(self):
        self._exit.enter_context(self.plane)

with ShopSite(folder) as site: ..      all that `_prepare` entered is closed in reverse, also where it fails
"""

import contextlib
from typing import Self

# Without a route there is no address that kube-apiserver could choose; Debian's etcd cannot say how far a watch is.
UNROUTED = ("--advertise-address=127.0.0.1", "--feature-gates=WatchList=false")


class ClusterSite:
    def __init__(self) -> None:
        self._exit = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._prepare()
        except BaseException:
            self._exit.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def _prepare(self) -> None:
        """Open what the site needs, in `_exit`."""
        raise NotImplementedError
