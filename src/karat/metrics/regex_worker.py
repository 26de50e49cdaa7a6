"""The process that matches regular expressions for `karat.metrics.patterns`.

Python's `re` cannot be interrupted from another thread. This process can be killed. It imports
nothing of Karat, so that it starts in milliseconds.

A request is 8 bytes with its length, then a JSON list: the pattern, whether the whole text must
match, the seconds of processor time per text, and the texts. The reply is one byte per text, sent
at once: `1` for a match, `0` for none. A text that takes longer ends the process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import warnings


def serve() -> None:
    """Answer requests until standard input is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process
    warnings.simplefilter("ignore")  # of `re`, on ambiguous patterns
    has_timer = hasattr(signal, "setitimer")
    if has_timer:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, even within a match
    while len(header := sys.stdin.buffer.read(8)) == 8:
        request = sys.stdin.buffer.read(int.from_bytes(header, "little"))
        pattern, full, seconds, *texts = json.loads(request)
        compiled = re.compile(pattern)
        match = compiled.fullmatch if full else compiled.search
        for text in texts:
            if has_timer:
                signal.setitimer(signal.ITIMER_PROF, seconds)
            os.write(1, b"0" if match(text) is None else b"1")
        if has_timer:
            signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    serve()
