"""Places pods by the CPU architectures their images support, before manifests reach the cluster.

For programs (docs/python.md), loaded with the first of these names that is used:

    transform(manifests, **options) -> Result            what the command writes, for bytes or str
    decide(pod_spec, images, **options) -> Decision      an RFC 6902 patch for one pod spec; no network
    platforms(images, **options) -> dict                 what each image runs on
    Result, Decision, Options, ArchfitError
"""

__all__ = ["ArchfitError", "Decision", "Options", "Result", "decide", "platforms", "transform"]
__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.api import ArchfitError, Decision, Options, Result, decide, platforms, transform
else:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'archfit' has no attribute {name!r}")
        # The command starts without it, and without what stands behind a name.
        from importlib import import_module

        return getattr(import_module("archfit.api"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
