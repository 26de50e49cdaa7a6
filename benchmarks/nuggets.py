"""Nuggets: the paper's classifier against plain Python, tuning, and very many responses.

The work has the shape of the TREC RAG 2024 track: 21 questions of 14 nuggets, 45 runs, answers of
200 words. Nuggets are seven words of the corpus, answers consist of its words and carry a third of
the nuggets. Times are processor times and include tokenisation.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from corpus import Corpus, make, read
from jobs import peak_mb
from plain_nuggets import Question as Plain
from plain_nuggets import as_it_reads, tuned
from plan import Plan
from table import Row, duration
from timing import processor_time

from karat.nuggets.prediction.evidence import evidence
from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import FoldedCells, Pool, folds, make_pool
from karat.nuggets.prediction.predictions import predict_support
from karat.nuggets.results.tuning import settings, trial
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.scores.words import IdfSource, forget_texts, smoothed_idf
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

QUESTIONS, NUGGETS, RUNS, WORDS = 21, 14, 45, 200
MANY = 400_000


def _bare(line: str) -> list[str]:
    """The words of a line, cut so that all rules cut them alike."""
    return [word for word in line.lower().split() if word.isascii() and word.isalpha()]


def _random_questions(corpus: Corpus) -> list[Plain]:
    """Questions with nuggets and answers, the same on every run."""
    rng = random.Random(7)
    text = [word for line in read(corpus.references)[:20_000] for word in _bare(line)]

    def random_text(count: int) -> str:
        start = rng.randrange(len(text) - count)
        return " ".join(text[start : start + count])

    questions = []
    for _ in range(QUESTIONS):
        nuggets = [random_text(7) for _ in range(NUGGETS)]
        answers = [
            " ".join([*rng.sample(nuggets, NUGGETS // 3), random_text(WORDS - 28)])
            for _ in range(RUNS)
        ]
        questions.append((nuggets, answers))
    return questions


def _pool(questions: list[Plain]) -> Pool:
    key = make_key(
        Question(str(q), tuple(Nugget(str(g), (text,)) for g, text in enumerate(nuggets)))
        for q, (nuggets, _) in enumerate(questions)
    )
    runs = [
        make_run(
            f"run{k}", [(str(q), Response(answers[k])) for q, (_, answers) in enumerate(questions)]
        )
        for k in range(RUNS)
    ]
    return make_pool(key, runs)


def _judged(questions: list[Plain]) -> NuggetSet:
    """The same with all but five runs judged: answers that carry a nugget contain its words."""
    pool = _pool(questions)
    answers = [
        [(str(q), Response(responses[k])) for q, (_, responses) in enumerate(questions)]
        for k in range(RUNS)
    ]
    runs = {f"run{k}": make_run(f"run{k}", run_answers) for k, run_answers in enumerate(answers)}
    rows = [
        JudgedResponse(str(q), str(g), responses[k], float(text in responses[k]), f"run{k}")
        for q, (nuggets, responses) in enumerate(questions)
        for k in range(5, RUNS)
        for g, text in enumerate(nuggets)
    ]
    key = make_key(pool.questions)
    return NuggetSet("made", key, MappingProxyType(runs), Judgements(tuple(rows)))


def _with_intervals(nuggets: NuggetSet) -> None:
    """What `karat nuggets score` does after loading."""
    predictions, measure = predict_support(nuggets), OfficialSettings()
    for tag, run in nuggets.runs.items():
        decisions = decide_run(run, nuggets.key, nuggets.judgements, predictions.guess(tag))
        measure.score(run, nuggets.key, decisions)
        predictions.intervals(run, decisions, measure)


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Scores, evidence, tuning; then one run of very many responses."""
    questions = _random_questions(corpus)
    pool = _pool(questions)
    rule = Paper(2)
    cells = len(pool.cell_response)
    karat_time = _cpu(lambda: ngram_scores(pool, rule), plan.rounds)
    read_, tuned_ = (_cpu(partial(f, questions, 2), plan.peer_rounds) for f in (as_it_reads, tuned))
    apart = np.abs(ngram_scores(pool, rule) - np.array(tuned(questions, 2))).max()
    yield Row(
        f"Nuggeteer, {cells:,} pairs: as the formula reads",
        duration(karat_time),
        f"Python {duration(read_)}",
        read_ / karat_time,
        "x faster",
        at_least=50,
        note=f"scores apart by {apart:.0e}; a tuned Python takes {duration(tuned_)}",
    )
    yield Row(
        f"the same: {RUNS} runs scored", duration(karat_time), "", karat_time, " s", at_most=1
    )
    took = _cpu(lambda: evidence(pool), plan.rounds)
    yield Row("the same: all evidence", duration(took), "", took, " s", at_most=1)
    nuggets = _judged(questions)
    took = _cpu(lambda: _with_intervals(nuggets), plan.rounds)
    yield Row(
        f"the same: {RUNS} runs guessed from judgements of {RUNS - 5} of them, with intervals",
        duration(took),
        "",
        took,
        " s",
        at_most=1,
    )
    labels = (ngram_scores(pool, rule) > 60).astype(np.float64)
    cells = FoldedCells(pool, labels, folds(pool, "system"))
    source = IdfSource()
    took = _cpu(lambda: [trial(cells, rule, source) for rule in settings()], 1)
    yield Row("24 settings, one run left out at a time", duration(took), "", took, " s", at_most=60)
    yield from _many(plan)


def _cpu(function: Callable[[], object], rounds: int) -> float:
    """The best time of the processor, with nothing cut before."""
    return processor_time(function, rounds, forget_texts)


class _Texts(Sequence[str]):
    """Very many responses, generated on demand, each with a unique word."""

    def __init__(self, pieces: list[str], count: int) -> None:
        self.pieces, self.count = pieces, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self.count))]
        return f"{self.pieces[at % len(self.pieces)]} word{at}"


def _many(plan: Plan) -> Iterator[Row]:
    """One run with very many responses to one question: time and memory against a tenth of it."""
    count = MANY if plan.lines >= 100_000 else MANY // 10
    small, large = (_child(plan.lines, size) for size in (count // 10, count))
    yield Row(
        f"{count:,} responses of one run: time per response against {count // 10:,}",
        duration(large["seconds"]),
        duration(small["seconds"]),
        large["seconds"] / 10 / small["seconds"],
        at_most=1.3,
        note=f"peak memory {large['peak_mb']:.0f} MB, {small['peak_mb']:.0f} MB for a tenth; the "
        f"scores take {large['scores_mb']:.0f} MB, twice that while they are put together",
    )


def _child(lines: int, count: int) -> dict[str, float]:
    """Run the work in a separate process and measure its peak memory."""
    argv = [sys.executable, __file__, str(lines), str(count)]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    outcome: dict[str, float] = json.loads(done.stdout)
    return outcome


def main() -> None:
    """Score the given number of responses and print the cost."""
    lines, count = map(int, sys.argv[1:])
    nuggets, answers = _random_questions(make(lines))[0]
    texts = _Texts([answer[i : i + 120] for answer in answers for i in range(0, 600, 40)], count)
    question = Question("q", tuple(Nugget(str(g), (text,)) for g, text in enumerate(nuggets)))
    rule = Paper(2)
    none, starts = np.zeros(0, dtype=np.int64), np.array([0, count])
    pool = Pool((question,), (), texts, none, starts, ())  # type: ignore[arg-type]
    idf = smoothed_idf(texts[:1000], rule.words)
    start = time.process_time()
    scores = ngram_scores(pool, rule, idf)
    took = time.process_time() - start
    record = {"seconds": took, "peak_mb": peak_mb(), "scores_mb": scores.nbytes / 2**20}
    print(json.dumps(record))


if __name__ == "__main__":
    main()
