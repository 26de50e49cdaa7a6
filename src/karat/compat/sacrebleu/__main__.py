"""Run sacreBLEU's command: `python -m karat.compat.sacrebleu`."""

from karat.compat.sacrebleu.sacrebleu import main

main()
