"""Five systems compared by BLEU with 1000 paired resamples, as sacreBLEU does it."""

from __future__ import annotations

from collections.abc import Iterator

from corpus import Corpus, read
from plan import Plan
from table import Row, duration
from timing import best_in_child, command, script, take_turns

import karat as kt


def in_process(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """From strings to p-values, nothing cached."""
    systems = {path.stem: read(path) for path in corpus.systems}
    references = read(corpus.systems_reference)
    karat_time = take_turns(
        {"karat": lambda: kt.compare(systems, references, ["bleu"], threads=1)}, plan.rounds
    )["karat"]
    files = corpus.systems_table, corpus.systems_reference, len(references)
    peer_time = best_in_child(plan.peer_rounds, "sacrebleu_paired", *files)
    yield Row(
        f"compare 5 systems x {len(references):,}, in process",
        duration(karat_time),
        f"sacreBLEU {duration(peer_time)}",
        peer_time / karat_time,
        "x faster",
        at_least=50,
    )


def whole_command(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """The same from the command line, interpreter and imports included."""
    files = [str(path) for path in corpus.systems]
    reference = str(corpus.systems_reference)
    karat_command = [script("karat"), "compare", *files, "-r", reference, "-m", "bleu"]
    karat_command += ["--baseline", "a", "--examples", "0", "--format", "json"]
    peer_command = [script("sacrebleu"), reference, "-i", *files, "-m", "bleu", "--paired-bs"]
    karat_time = take_turns({"karat": command(karat_command)}, plan.rounds)["karat"]
    peer_time = take_turns({"peer": command(peer_command)}, plan.peer_rounds)["peer"]
    yield Row(
        "compare 5 systems x 2,000, whole command",
        duration(karat_time),
        f"sacreBLEU {duration(peer_time)}",
        peer_time / karat_time,
        "x faster",
        at_least=8,
    )
