"""libyaml's parser from PyYAML's C extension, without the pure modules of PyYAML's package.

The extension asks the modules that are not loaded for their exceptions alone, when it is loaded itself, and gets the
classes of which they are made. Whoever imports `yaml` later gets the whole package, with the same events and errors.
Where anything is not as it is in PyYAML 6.0.1 to 6.0.3, the whole package is loaded. With `import yaml` a warm run of
one Deployment takes 1.59 times as long (3.13; 1.63 with 3.11). A PyYAML without its extension has a pure parser: the
same events, slower.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# module, exception, whether it has a mark
_EXCEPTIONS = (
    ("scanner", "ScannerError", True),
    ("parser", "ParserError", True),
    ("composer", "ComposerError", True),
    ("constructor", "ConstructorError", True),
    ("emitter", "EmitterError", False),
    ("serializer", "SerializerError", False),
    ("representer", "RepresenterError", False),
)


_kept: list[tuple[Any, Any, Any, Any]] = []


def load() -> tuple[Any, Any, Any, Any]:
    """(parser class, module of events, base of errors with a mark, error of the reader).

    A parser is made of a text and gives events by `get_event`. Each call gives the same: the extension raises the
    exceptions that there were when it was loaded.
    """
    if not _kept:
        _kept.append(_loaded())
    return _kept[0]


def _loaded() -> tuple[Any, Any, Any, Any]:
    if "yaml" not in sys.modules:
        try:
            return _without_package()
        except Exception:  # noqa: BLE001 - whatever another version does differently, the whole package works
            _forget()
    # `yaml.events` is no attribute of a package that was imported after `_without_package` had loaded that module.
    from yaml import SafeLoader, error, events, reader

    errors = error.MarkedYAMLError, reader.ReaderError
    try:
        from yaml._yaml import CParser
    except ImportError:
        return SafeLoader, events, *errors
    return CParser, events, *errors


def _without_package() -> tuple[Any, Any, Any, Any]:
    specs = (finder.find_spec("yaml", None) for finder in sys.meta_path)
    spec = next(filter(None, specs))
    package: Any = type(sys)("yaml")
    package.__path__ = spec.submodule_search_locations
    package.__spec__ = spec
    sys.modules["yaml"] = package
    try:
        from yaml import error, events, nodes, tokens  # noqa: F401 - the extension asks the package for them

        class ReaderError(error.YAMLError):
            """As that of `yaml.reader`."""

            def __init__(self, name: str, position: int, character: Any, encoding: str, reason: str) -> None:
                super().__init__(name, position, character, encoding, reason)
                self.name, self.position, self.character = name, position, character
                self.encoding, self.reason = encoding, reason

        package.reader = _namespace("reader", ReaderError=ReaderError)
        for module, name, marked in _EXCEPTIONS:
            base = error.MarkedYAMLError if marked else error.YAMLError
            setattr(package, module, _namespace(module, **{name: base}))
        from yaml._yaml import CParser
    finally:
        # It is not what others expect of `import yaml`.
        del sys.modules["yaml"]
    return CParser, events, error.MarkedYAMLError, ReaderError


def _namespace(name: str, **members: Any) -> Any:
    module = type(sys)(f"yaml.{name}")
    vars(module).update(members)
    return module


def _forget() -> None:
    for name in list(sys.modules):
        if (name == "yaml" or name.startswith("yaml.")) and sys.modules.get(name):
            del sys.modules[name]
