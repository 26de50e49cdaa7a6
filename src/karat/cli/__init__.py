"""The command line: parse arguments, call one library function, render."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
"""As in `karat.exports`."""
if TYPE_CHECKING:
    from typing import NoReturn


def run() -> None:
    """Start `karat`; handle Ctrl-C even while modules are still being imported."""
    try:
        from karat.cli.main import run as start

        start()
    except KeyboardInterrupt:
        sys.stderr.write("karat: interrupted; nothing was written\n")
        sys.exit(130)
    except (ImportError, AttributeError) as error:
        from karat.installation import broken_installation, fail

        if problem := broken_installation(error):
            fail(problem)
        raise


def main() -> NoReturn:
    """Report the conflict: the command of the other distribution `karat` calls this name.

    The module `karat.cli.main` replaces it as an attribute once it is imported.
    """
    from karat.installation import refuse_replaced_package

    refuse_replaced_package()
