"""PyYAML's pure parser, for a Python without its C extension: the same events, slower."""

from __future__ import annotations

from yaml import MarkedYAMLError as MarkedError
from yaml import SafeLoader as Parser
from yaml import events
from yaml.reader import ReaderError

__all__ = ["MarkedError", "Parser", "ReaderError", "events"]
