"""The command line: parse arguments, call one library function, render."""

import sys


def run() -> None:
    """Start `karat`; Ctrl-C while modules are still imported is no error."""
    try:
        from karat.cli.main import run as start

        start()
    except KeyboardInterrupt:
        sys.stderr.write("karat: interrupted; nothing was written\n")
        sys.exit(130)
