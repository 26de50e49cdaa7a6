"""The command line: parse arguments, call one library function, render."""

import sys


def run() -> None:
    """Start `karat`; handle Ctrl-C even while modules are still being imported."""
    try:
        from karat.cli.main import run as start

        start()
    except KeyboardInterrupt:
        sys.stderr.write("karat: interrupted; nothing was written\n")
        sys.exit(130)
