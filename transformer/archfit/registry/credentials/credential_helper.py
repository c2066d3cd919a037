"""Credential helpers: `docker-credential-NAME get`, the server on stdin, JSON on stdout.

    exit 0    {"ServerURL": "...", "Username": "...", "Secret": "..."}   Username `<token>`: an identity token
    exit 1    "credentials not found in native keychain"                 there is none
    else      the helper failed: an error for that registry; it is not asked anonymously

Its output is never shown: it may hold the secret.
Source: docker/docker-credential-helpers, README.md, client/client.go.
"""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Mapping

from archfit.base.external_program import ExternalProgram, NoEnd
from archfit.registry.credentials.credential import VISIBLE
from archfit.registry.registry_errors import Misconfigured, RegistryError

LONGEST_SECONDS = 15.0
_MAX_OUTPUT = 64 * 1024
_NAME = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII).fullmatch
_NOT_FOUND = b"credentials not found in native keychain"


class Helper:
    """One helper and one server; asked once, by the first thread that needs it, while the others wait."""

    def __init__(self, name: str, server: str, environ: Mapping[str, str]) -> None:
        self.asked = False
        self._name = name
        self._server = server
        self._environ = environ
        self._asking = threading.Lock()
        self._answer: tuple[str, str] | RegistryError | None = None
        self._program: ExternalProgram | None = None

    def answer(self, seconds: float) -> tuple[str, str] | None:
        """User name and secret that the helper holds for the server, None if it holds none.

        Raises RegistryError when the helper cannot be run, fails, is too slow or its answer is not understood.
        """
        ends = time.monotonic() + min(seconds, LONGEST_SECONDS)
        if not self._asking.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise RegistryError(
                f"the credential helper docker-credential-{self._name} gave no answer in time"
            )
        try:
            if not self.asked:
                try:
                    self._answer = self._ask(max(0.0, ends - time.monotonic()))
                except RegistryError as error:
                    self._answer = error
                self.asked = True
        finally:
            self._asking.release()
        if isinstance(self._answer, RegistryError):
            raise type(self._answer)(str(self._answer))
        return self._answer

    def end(self) -> None:
        """End the program and its child processes, if it still runs."""
        if self._program is not None:
            self._program.end()

    def _ask(self, seconds: float) -> tuple[str, str] | None:
        program, server = f"docker-credential-{self._name}", self._server
        if _NAME(self._name) is None or VISIBLE(server) is None:
            raise Misconfigured(
                f"the credential helper {self._name!r} has a name that no program can have: "
                "correct the credentials file"
            )
        path = shutil.which(program, path=self._environ.get("PATH"))
        if path is None:
            raise Misconfigured(
                f"the credential helper {program}, configured for {server}, is not on PATH: "
                "install it, or remove it from the credentials file"
            )
        if seconds <= 0:
            raise RegistryError(
                f"the credential helper {program} was not run, because no time was left: allow more with --timeout"
            )
        again = f"run `echo {server} | {program} get` to see why"
        self._program = ExternalProgram([path, "get"], self._environ)
        try:
            ran = self._program.run(server.encode("ascii"), seconds=seconds, most_bytes=_MAX_OUTPUT)
        except NoEnd as error:
            kind = Misconfigured if error.reason == "start" else RegistryError
            raise kind(f"the credential helper {program} {error.problem}: {again}") from None
        if ran.status != 0:
            if _NOT_FOUND in ran.output:
                return None
            raise RegistryError(
                f"the credential helper {program} failed for {server} (exit {ran.status}): {again}"
            )
        return _parsed(ran.output, program)


def _parsed(output: bytes, program: str) -> tuple[str, str] | None:
    try:  # as Docker reads it, with Go's `encoding/json`: the first value, names in any case
        answer, _ = json.JSONDecoder().raw_decode(output.decode("utf-8-sig").lstrip())
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Misconfigured(f"the credential helper {program} did not answer in JSON")
    fields = {name.lower(): value or "" for name, value in answer.items()}
    user, secret = fields.get("username", ""), fields.get("secret", "")
    if not isinstance(user, str) or not isinstance(secret, str):
        raise Misconfigured(
            f"the credential helper {program} gave a user name or secret that is not a string"
        )
    # `pass` answers with empty strings where it holds nothing.
    return (user, secret) if secret else None
