"""The chart's objects with a certificate, made by the commands that the chart prints for those without a cluster.

objects, pair = paired(Chart("helm4"), folder)     what it renders, and the pair that its caBundle proves
examine(pair, "archfit.archfit.svc")               SSLError where the API server would refuse it
"""

import os
import shlex
import ssl
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import machine
from chart_runs import CHART, KUBERNETES, Chart
from tls_files import handshake


class Pair(NamedTuple):
    """PEM. ca: what goes into caBundle."""

    ca: bytes
    certificate: bytes
    key: bytes


def printed_commands(chart: Chart) -> tuple[str, str, list[str]]:
    """Of openssl and kubectl, and the words for Helm, as the chart prints them for the release archfit."""
    place = ("--namespace", "archfit", "--kube-version", KUBERNETES)
    ran = chart.run("template", "archfit", str(CHART), *place)
    assert (ran.status, ran.stdout) == (1, b"")
    openssl, kubectl, words = (
        line.strip() for line in ran.stderr.splitlines() if line.startswith("  ") and line.strip()
    )
    return openssl, kubectl, shlex.split(words)


def paired(chart: Chart, folder: Path, *words: str) -> tuple[list[dict[str, Any]], Pair]:
    """See the module. words: more of them for Helm."""
    machine.refuse_unmarked("openssl")
    openssl, _kubectl, given = printed_commands(chart)
    subprocess.run(shlex.split(openssl), cwd=folder, check=True, capture_output=True)
    given = [word.replace("=tls.crt", f"={folder}/tls.crt") for word in given]
    certificate, key = ((folder / name).read_bytes() for name in ("tls.crt", "tls.key"))
    return chart.objects(*given, *words), Pair(certificate, certificate, key)


def examine(pair: Pair, name: str) -> None:
    """Raises SSLError where the API server would refuse the pair for this name."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pair.pem")
        path.touch(0o600)
        path.write_bytes(pair.certificate + pair.key)
        server.load_cert_chain(os.fspath(path))
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(cadata=pair.ca.decode("ascii"))
    handshake(server, client, name)
