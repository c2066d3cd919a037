"""Once `make demo` has set itself up, it needs no network: it runs where there is nothing but loopback."""

import os
import shutil
import subprocess
import sys

import machine

# A new network namespace has a loopback device that is down; ioctl SIOCSIFFLAGS (netdevice(7)) brings it up.
UP_AND_RUN = """\
import fcntl, os, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))
print(*sorted(name for _, name in socket.if_nameindex()), file=sys.stderr)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def test_the_demo_runs_with_nothing_but_loopback():
    unshare = shutil.which("unshare", path=machine.ENVIRON.get("PATH"))
    alone = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    probe = [unshare or "unshare", *alone, "--net"]
    if unshare is None or subprocess.run([*probe, "true"], capture_output=True, check=False).returncode:
        machine.missing("a network namespace", "run where unshare(1) may make one")
    demo = machine.ROOT / "fixtures" / "demo" / "demo.py"
    done = machine.run([*probe, sys.executable, "-c", UP_AND_RUN, str(demo)])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.splitlines() == ["lo"]
    added = [line for line in done.stdout.splitlines() if line.startswith("+ ")]
    assert any("key: kubernetes.io/arch" in line for line in added)
    assert "roll once when applied" in done.stdout
    assert done.stdout.rstrip().endswith("| kubectl apply -f -")
