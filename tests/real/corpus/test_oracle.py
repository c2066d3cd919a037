"""lab/oracle: the judges say of its own pairs what is known of them."""

import machine
from corpus_streams import Oracle


def test_the_judges_agree_with_what_is_known():
    done = machine.run(
        ["sh", Oracle.folder / "selftest.sh"],
        env={**machine.ENVIRON, "ORACLE": str(machine.go_build(Oracle.folder, "oracle"))},
    )
    assert done.stdout.endswith(" cases, 0 failed\n"), done.stdout[-2000:] + done.stderr[-2000:]
