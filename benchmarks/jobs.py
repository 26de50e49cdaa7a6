"""Jobs that run in a separate process: `python jobs.py JOB CANDIDATES REFERENCES LINES`.

The peers cache tokenised text, so a second run in one process would not be a fair measurement; and
peak memory is per process. Prints the seconds of the work itself (without imports and reading) and
the peak memory with and without it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

Work = Callable[[], object]


def read(path: str, lines: int) -> list[str]:
    """The first lines of a file."""
    with Path(path).open(encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in islice(file, lines)]


def sacrebleu_bleu(candidates: list[str], references: list[str]) -> Work:
    """Corpus BLEU, 13a."""
    from sacrebleu.metrics import BLEU

    return lambda: BLEU().corpus_score(candidates, [references])


def sacrebleu_lower(candidates: list[str], references: list[str]) -> Work:
    """Corpus BLEU, lower-cased."""
    from sacrebleu.metrics import BLEU

    return lambda: BLEU(lowercase=True).corpus_score(candidates, [references])


def sacrebleu_intl(candidates: list[str], references: list[str]) -> Work:
    """Corpus BLEU, international tokenisation."""
    from sacrebleu.metrics import BLEU

    return lambda: BLEU(tokenize="intl").corpus_score(candidates, [references])


def sacrebleu_zh(candidates: list[str], references: list[str]) -> Work:
    """Corpus BLEU, Chinese."""
    from sacrebleu.metrics import BLEU

    return lambda: BLEU(tokenize="zh").corpus_score(candidates, [references])


def sacrebleu_refs(candidates: list[str], references: list[str]) -> Work:
    """Corpus BLEU with four references a segment, tab-separated in the file."""
    from sacrebleu.metrics import BLEU

    columns = [list(column) for column in zip(*(r.split("\t") for r in references), strict=True)]
    return lambda: BLEU().corpus_score(candidates, columns)


def sacrebleu_chrf(candidates: list[str], references: list[str]) -> Work:
    """Corpus chrF."""
    from sacrebleu.metrics import CHRF

    return lambda: CHRF().corpus_score(candidates, [references])


def sacrebleu_bootstrap(candidates: list[str], references: list[str]) -> Work:
    """Corpus BLEU with a bootstrap interval."""
    from sacrebleu.metrics import BLEU

    return lambda: BLEU(references=[references]).corpus_score(candidates, None, n_bootstrap=1000)


def sacrebleu_paired(candidates: list[str], references: list[str]) -> Work:
    """Paired bootstrap of five systems, tab-separated in the file."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    columns = zip(*(line.split("\t") for line in candidates), strict=True)
    systems = [(f"system {i}", list(column)) for i, column in enumerate(columns)]

    def work() -> object:
        metrics = {"BLEU": BLEU(references=[references])}
        return PairedTest(systems, metrics, [references], test_type="bs", n_samples=1000)()

    return work


def rouge_stemmed(candidates: list[str], references: list[str]) -> Work:
    """ROUGE-1, 2 and L with the stemmer, segment by segment."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    return lambda: [scorer.score(r, c) for c, r in zip(candidates, references, strict=True)]


def karat_bleu(candidates: list[str], references: list[str]) -> Work:
    """Corpus BLEU, 13a, one thread."""
    import karat as kt

    return lambda: kt.metric("bleu").corpus(candidates, references, threads=1)


JOBS: dict[str, Callable[[list[str], list[str]], Work]] = {
    job.__name__: job
    for job in (
        sacrebleu_bleu,
        sacrebleu_lower,
        sacrebleu_intl,
        sacrebleu_zh,
        sacrebleu_refs,
        sacrebleu_chrf,
        sacrebleu_bootstrap,
        sacrebleu_paired,
        rouge_stemmed,
        karat_bleu,
    )
}


def peak_mb() -> float:
    """Return the peak memory of this process.

    Not ru_maxrss: on Linux that starts with what the process held before exec, its parent's.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main() -> None:
    """Run one job and print its cost."""
    job, candidates, references, lines = sys.argv[1:]
    work = JOBS[job](read(candidates, int(lines)), read(references, int(lines)))
    before = peak_mb()
    start = time.perf_counter()
    work()
    took = time.perf_counter() - start
    print(json.dumps({"seconds": took, "peak_mb": peak_mb(), "before_mb": before}))


if __name__ == "__main__":
    main()
