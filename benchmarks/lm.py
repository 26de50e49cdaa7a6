"""The language model: training on a million words, opening, and scoring against KenLM.

The text is the same as in the first rows. Noisy copies of it are scored, lower-cased and with words
separated by spaces, so that both sides see the same words. KenLM is called once per sentence: its
Python package has no batch interface. Times are processor times.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from corpus import Corpus, make, read
from jobs import peak_mb
from plan import Plan
from table import Row, duration
from timing import processor_time

import karat as kt

WORDS = 1_000_000
ORDER = 5


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Measure training in a separate process, for its peak memory; then the rest."""
    folder = corpus.folder
    argv = [sys.executable, __file__, str(plan.lines), str(folder / "model.lm")]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    outcome = json.loads(done.stdout)
    yield Row(
        f"train on {outcome['words']:,} words, {ORDER}-gram, 1 thread",
        duration(outcome["seconds"]),
        "",
        outcome["seconds"],
        " s",
        at_most=10,
        note=f"{outcome['ngrams']:,} n-grams; peak memory {outcome['peak_mb']:.0f} MB, "
        f"{outcome['before_mb']:.0f} MB before; stored in {outcome['stored_mb']:.0f} MB",
    )
    opening = processor_time(lambda: kt.LanguageModel.open(folder / "model.lm"), plan.rounds)
    yield Row("open the same model", duration(opening), "", opening, " s", at_most=0.1)
    yield from _against_kenlm(corpus, folder, plan)


def _against_kenlm(corpus: Corpus, folder: Path, plan: Plan) -> Iterator[Row]:
    lines = [" ".join(line.lower().split()) for line in read(corpus.candidates)]
    kt.LanguageModel.open(folder / "model.lm").write_arpa(folder / "model.arpa")
    model = kt.LanguageModel.open(folder / "model.arpa")
    karat_time = processor_time(lambda: model.score(lines, threads=1), plan.rounds)
    work = f"score {len(lines):,} sentences, 1 thread"
    try:
        import kenlm
    except ImportError:
        yield Row(work, duration(karat_time), "KenLM", note="not measured: kenlm is not installed")
        return
    kenlm_model = kenlm.Model(str(folder / "model.arpa"))
    peer = processor_time(lambda: [kenlm_model.score(line) for line in lines], plan.rounds)
    scores = zip(model.score(lines).tolist(), map(kenlm_model.score, lines), strict=True)
    apart = max(abs(karat_score - kenlm_score) for karat_score, kenlm_score in scores)
    yield Row(
        work,
        duration(karat_time),
        f"KenLM {duration(peer)}",
        peer / karat_time,
        "x faster",
        at_least=1,
        note=f"from strings; sums of log10 p apart by at most {apart:.0e}, KenLM's are of 32 bits",
    )


def _a_million_words(corpus: Corpus) -> tuple[list[str], int]:
    lines, words = [], 0
    for line in islice(read(corpus.references), corpus.lines):
        lines.append(" ".join(line.lower().split()))
        words += lines[-1].count(" ") + 1
        if words >= WORDS:
            break
    return lines, words


def main() -> None:
    """Train and store one model and print the cost."""
    corpus, target = make(int(sys.argv[1])), Path(sys.argv[2])
    lines, words = _a_million_words(corpus)
    before = peak_mb()
    start = time.process_time()
    model = kt.LanguageModel.train(lines, ORDER, tok="none", threads=1)
    took = time.process_time() - start
    peak = peak_mb()
    model.save(target)
    record = {
        "words": words,
        "seconds": took,
        "peak_mb": peak,
        "before_mb": before,
        "ngrams": sum(model.counts),
        "stored_mb": target.stat().st_size / 2**20,
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
