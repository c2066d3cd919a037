"""What the bundle starts: the same as the console script, and the processes that `archfit serve` spawns."""

import sys

# multiprocessing starts this program again, with arguments for Python where there is no Python that takes them.
if sys.argv[1:2] == ["--multiprocessing-fork"]:
    from multiprocessing.spawn import freeze_support

    freeze_support()
elif "-c" in sys.argv[1:-1] and sys.argv[-1].startswith("from multiprocessing.resource_tracker import main"):
    from multiprocessing.resource_tracker import main

    main(int(sys.argv[-1].partition("main(")[2].rstrip(")")))
else:
    from archfit.cli.main import run

    run()
