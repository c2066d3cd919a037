"""Rook: file systems, object stores and the like run the image of the one CephCluster of their namespace."""

from __future__ import annotations

from archfit.options.settings import ANNOTATE
from archfit.workloads.operator_hooks import OperatorHooks
from archfit.workloads.pods import ImageLender, ImageUse, borrowed_from

_CLUSTER = ImageLender("ceph.rook.io", "CephCluster", "", (("spec", "cephVersion", "image"),))
_UNKNOWN = (
    "the CephCluster of the namespace names it, which archfit reads where it is in the same stream" + ANNOTATE
)
KINDS = dict.fromkeys(
    (
        "CephFilesystem",
        "CephFilesystemMirror",
        "CephNFS",
        "CephNVMeOFGateway",
        "CephObjectStore",
        "CephRBDMirror",
    ),
    OperatorHooks(
        images=lambda _: [ImageUse(borrowed_from(_CLUSTER.label), None, unasked=_UNKNOWN)],
        placement=lambda _, spec, paths: (spec, paths.replace(image_lender=_CLUSTER)),
    ),
)
