"""registries.conf and hosts.toml ask the servers that containers/image and containerd ask, in the same order."""

from collections import Counter
from random import Random

import mirror_files

_FILES = 300


def test_drawn_files_are_read_as_the_runtimes_read_them(runtimes, tmp_path):
    """Or there is a message. `make -C lab mirrors` draws more."""
    found, differ = Counter[str](), list[str]()
    for number in range(_FILES):
        folder = tmp_path / str(number)
        folder.mkdir()
        differ += mirror_files.judged(runtimes, Random(f"test/{number}"), folder, found)
    assert differ == []
    assert min(found["blocked"], found["refused"], found["2 servers"], found["4 servers"]) > 10
