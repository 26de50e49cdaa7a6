"""Run sacreBLEU's command: `python -m karat.compat.sacrebleu`."""

import signal

from karat.compat.sacrebleu.sacrebleu import main

if hasattr(signal, "SIGPIPE"):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the command silently
main()
