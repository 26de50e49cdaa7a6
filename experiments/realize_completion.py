"""Completion of content words: BLEU, speed, and F of every slot, of a model on a treebank.

python experiments/realize_completion.py model.npz dev.conllu
python experiments/realize_completion.py held-out TRAIN ORDERING

`model.npz` is from `karat realize train TRAIN -o model.npz --realizer ordering --inputs all
--complete-from all,relations`. The second form trains completion on the documents that are not held
out, orders with the ordering model in the file ORDERING, which should be of the same documents, and
scores the documents that are: what settings were chosen by.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from realize_ordering import held_out

from karat.realize.completer import train_completer
from karat.realize.evaluation import evaluate_completion
from karat.realize.model import RealizerModel, open_realizer
from karat.realize.treebank import Treebank, read_treebank


def show(model: RealizerModel, treebank: Treebank) -> None:
    """Print all figures of a model on a treebank."""
    for inputs in model.completion:
        outputs, slots = evaluate_completion(model, treebank, inputs)
        for row in (output.scores() for output in outputs):
            figures = f"BLEU {row.bleu:.2f}, exact {row.exact:.3f}, {row.speed:.0f} sentences/s"
            print(f"{inputs}, {row.model}: {figures}")
        for slot in slots:
            figures = f"P {slot.precision:.3f} R {slot.recall:.3f} F {slot.f:.3f} of {slot.words}"
            print(f"  {slot.complete}, {slot.slot}: {figures}", flush=True)


def main(arguments: list[str]) -> None:
    """Score a stored model, or one of a part of a treebank on the rest."""
    if arguments[0] != "held-out":
        show(open_realizer(arguments[0]), read_treebank(arguments[1]))
        return
    rest, away = held_out(read_treebank(arguments[1]))
    ordering = open_realizer(arguments[2])
    for inputs in ("all", "relations"):
        begin = time.process_time()
        completer = train_completer(rest, inputs)
        print(f"{inputs}: trained in {time.process_time() - begin:.0f} s of processor time")
        show(replace(ordering, completion={inputs: completer}), away)


if __name__ == "__main__":
    main(sys.argv[1:])
