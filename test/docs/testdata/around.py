"""Runs blocks of a page, one after the other, each with a client of the page's database."""

import os
import sys

import weir
import weir.testing

weir.Worker.run = weir.testing.run_until_empty  # a reader's worker runs until it is told to stop

dsn = os.environ["WEIR_DSN"]
for name in sys.argv[1:]:
    path = os.path.join(os.path.dirname(__file__), name + ".py")
    with open(path) as file, weir.connect(dsn) as client:
        exec(compile(file.read(), path, "exec"), {"__name__": "__main__", "weir": weir, "client": client, "dsn": dsn})
    print("\x1e", flush=True)
