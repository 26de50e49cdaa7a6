"""The plane: 44 cells x 1,000 resamples from text, against a loop that scores every resample.

The loop does what one would write around sacreBLEU: for each resample, system and order N it scores
the drawn texts both ways (precision, and recall with the sides exchanged) and combines them at all
alphas for nothing. It is timed on a few resamples and scaled.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from corpus import DATA, Corpus
from plan import Plan
from sacrebleu.metrics import BLEU
from table import Row, duration
from ted import ted

RESAMPLES = 1000
SAMPLE = 2  # resamples that the loop is timed on


def _karat() -> float:
    """Processor time of the whole plane, texts and judgements in memory, on one thread."""
    from karat.evalset.loading import load_evalset
    from karat.meta.plane import fit_plane, plane_data
    from karat.meta.scores import score_evalset
    from karat.metrics.ngram import AEv

    evalset = load_evalset(DATA / "mt-ted-zhen" / "mqm_ted_zhen.tsv")
    start = time.process_time()
    metric = AEv()
    scored = score_evalset(evalset, metric, threads=1)
    fit_plane(plane_data(scored, metric, "fluency"), "fluency", resamples=RESAMPLES, permutations=0)
    return time.process_time() - start


def _loop() -> float:
    """Processor time of the loop for all resamples, from a few of them."""
    texts = ted()
    if texts is None:
        raise RuntimeError("TED is gone")
    rng = np.random.default_rng(12345)
    metrics = [BLEU(max_ngram_order=n, smooth_method="none") for n in (1, 2, 3, 4)]
    start = time.process_time()
    for _ in range(SAMPLE):
        indices = rng.integers(0, len(texts.good), len(texts.good))
        references = [texts.good[i] for i in indices]
        for outputs in texts.outputs.values():
            candidates = [outputs[i] for i in indices]
            for metric in metrics:
                metric.corpus_score(candidates, [references])
                metric.corpus_score(references, [candidates])
    return (time.process_time() - start) * RESAMPLES / SAMPLE


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """The plane on TED zh-en."""
    if ted() is None:
        return
    karat_time = min(_karat() for _ in range(3))
    loop_time = _loop()
    work = f"plane, TED, 13 systems x 529, 44 cells x {RESAMPLES:,} resamples"
    yield Row(f"{work}: processor time", duration(karat_time), "", karat_time, " s", at_most=3)
    yield Row(
        work,
        duration(karat_time),
        f"sacreBLEU in a loop {duration(loop_time)}",
        loop_time / karat_time,
        "x faster",
        at_least=300,
        note=f"the loop timed on {SAMPLE} resamples and scaled; processor time of both",
    )
