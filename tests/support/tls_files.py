"""A CA of the tests' own and a certificate for loopback and registry.test, made by the openssl program."""

import atexit
import contextlib
import functools
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import machine


class TlsFiles(NamedTuple):
    """Paths of PEM files."""

    ca: Path
    certificate: Path
    key: Path
    client: Path
    client_key: Path

    def context(self, *, wants_client: bool = False) -> ssl.SSLContext:
        """For a server, perhaps one that speaks only to whom the CA has certified."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.certificate, self.key)
        if wants_client:
            made.verify_mode = ssl.CERT_REQUIRED
            made.load_verify_locations(self.ca)
        return made


def handshake(
    server: ssl.SSLContext, client: ssl.SSLContext, name: str = "localhost"
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Both ends of a handshake in memory, the server's first. name: whom the client wants. Raises SSLError."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    asking = client.wrap_bio(to_client, to_server, server_hostname=name)
    for _ in range(8):
        for side in (asking, answering):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return answering, asking


def tls_files() -> TlsFiles:
    """Made once for each process. Skips or fails the running test where there is no openssl. Raises Unmarked."""
    machine.refuse_unmarked("openssl")
    return _made()


@functools.cache
def _made() -> TlsFiles:
    openssl = shutil.which("openssl") or machine.missing("openssl", "apt-get install openssl")
    folder = Path(tempfile.mkdtemp(prefix="archfit-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    def run(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True)

    subject = "subjectAltName=DNS:localhost,DNS:registry.test,IP:127.0.0.1"
    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run(*new, "-x509", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=archfit tests")
    (folder / "extensions").write_text(subject)
    for name in ("server", "client"):
        run(*new, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        run(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-out", f"{name}.crt", "-days", "2", "-extfile", "extensions"),
        )
    return TlsFiles(
        *(folder / name for name in ("ca.crt", "server.crt", "server.key", "client.crt", "client.key"))
    )
