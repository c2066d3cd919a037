"""What archfit says about a registry's certificate that it does not trust: why, and what to do about that."""

import ssl
import subprocess
from pathlib import Path

import pytest

import machine
from fake_registry import FakeRegistry
from program import archfit

POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: a, image: 'x.io/a:1'}\n"
ADVICE = "Correct this, or state the platforms with --image-platforms or archfit.dev/image-platforms"


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "days", "trusted", "message"),
    [
        pytest.param(
            "IP:127.0.0.1",
            1,
            False,
            "(unable to get local issuer certificate): name the CA with --ca-file or in SSL_CERT_FILE",
            id="a-CA-of-ones-own",
        ),
        pytest.param(
            "IP:127.0.0.1",
            -1,
            True,
            "(certificate has expired): renew it, or set the clock of this machine right",
            id="expired",
        ),
        pytest.param(
            "DNS:other.example",
            1,
            True,
            "(IP address mismatch, certificate is not valid for '127.0.0.1'): use a name that the certificate has, or "
            "let one be made for 127.0.0.1",
            id="for-another-name",
        ),
    ],
)
def test_a_certificate_that_is_refused(name, days, trusted, message, tmp_path):
    ca, context = _certified(tmp_path, name, days)
    with FakeRegistry(context) as registry:
        registry.index("a", "1", ["linux/amd64"])
        words = [f"--mirror=*=https://{registry.host}", "--no-cache", *(["--ca-file", ca] if trusted else [])]
        ran = archfit(POD, *words)
    assert (ran.status, ran.stdout) == (1, b"")
    assert ran.stderr.splitlines()[0] == (
        "archfit: error: v1/Pod/a spec.containers[0].image: x.io/a:1: its platforms are not known: the "
        "TLS certificate of "
        f"127.0.0.1 is not trusted {message} (it is asked for x.io because of --mirror *=https://{registry.host}). "
        f"{ADVICE} (document 1, line 6)"
    )


def _certified(folder: Path, name: str, days: int) -> tuple[str, ssl.SSLContext]:
    """The CA's file, and a server's context with a certificate for a name that is valid for some days from now."""
    openssl = machine.tool("openssl")

    def run(*words: str) -> None:
        subprocess.run([openssl, *words], cwd=folder, check=True, capture_output=True)

    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run(*new, "-x509", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=archfit tests")
    (folder / "extensions").write_text(f"subjectAltName={name}")
    run(*new, "-keyout", "own.key", "-out", "own.csr", "-subj", "/CN=registry")
    run(
        *("x509", "-req", "-in", "own.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
        *("-out", "own.crt", "-days", str(days), "-extfile", "extensions"),
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "own.crt", folder / "own.key")
    return str(folder / "ca.crt"), context
