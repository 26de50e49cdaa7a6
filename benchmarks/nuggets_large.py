"""Very many responses with judgements: time and peak memory of scoring.

    python benchmarks/nuggets_large.py [RESPONSES]

One run answers two questions of ten nuggets with RESPONSES responses (default: 400,000) of fifteen
words; two hundred responses of this run and of four small runs are judged. Measured for a tenth of
it and for all of it, in separate processes: guessing, deciding and scoring with intervals, without
loading. Times are processor times. Words are drawn with a fixed seed.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import random
import subprocess
import sys
import time
from types import MappingProxyType

from jobs import peak_mb

MANY, QUESTIONS, NUGGETS, WORDS, JUDGED = 400_000, 2, 10, 15, 40


def random_set(count: int):  # type: ignore[no-untyped-def]
    """The set: a key, a large run, four small ones, and judgements."""
    from karat.nuggets.sets.judgements import JudgedResponse, Judgements
    from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
    from karat.nuggets.sets.nugget_set import NuggetSet

    rng = random.Random(9)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "dklmnrst"]
    facts = {
        str(q): [" ".join(rng.sample(words, 5)) for _ in range(NUGGETS)] for q in range(QUESTIONS)
    }
    key = make_key(
        Question(q, tuple(Nugget(str(g), (text,)) for g, text in enumerate(descriptions)))
        for q, descriptions in facts.items()
    )
    rows: list[JudgedResponse] = []

    def responses(tag: str, size: int):  # type: ignore[no-untyped-def]
        for at in range(size):
            q = str(at % QUESTIONS)
            has = [g for g in range(NUGGETS) if rng.random() < 0.1]
            parts = [facts[q][g] for g in has[:2]] + [rng.choice(words) for _ in range(WORDS)]
            text = " ".join([*parts[: WORDS - 2], f"w{tag}{at}"])
            if at < JUDGED:
                rows.extend(
                    JudgedResponse(q, str(g), text, float(g in has[:2]), tag)
                    for g in range(NUGGETS)
                )
            yield q, Response(text)

    runs = [make_run("large", responses("large", count))]
    runs += [make_run(f"small{k}", responses(f"small{k}", JUDGED)) for k in range(4)]
    return NuggetSet(
        "large", key, MappingProxyType({run.tag: run for run in runs}), Judgements(tuple(rows))
    )


def score(count: int) -> dict[str, float]:
    from karat.nuggets.prediction.predictions import predict_support
    from karat.nuggets.scores.decisions import decide_run
    from karat.nuggets.scores.official import OfficialSettings

    nuggets = random_set(count)
    before, start = peak_mb(), time.process_time()
    predictions = predict_support(nuggets)
    run, scoring = nuggets.runs["large"], OfficialSettings()
    decisions = decide_run(run, nuggets.key, nuggets.judgements, predictions.guess("large"))
    scoring.score(run, nuggets.key, decisions)
    predictions.intervals(run, decisions, scoring)
    return {"seconds": time.process_time() - start, "peak_mb": peak_mb(), "before_mb": before}


def main() -> None:
    if len(sys.argv) > 2:
        print(json.dumps(score(int(sys.argv[2]))))
        return
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    print("| responses | CPU s | peak MB | of it the set |")
    print("|---|---|---|---|")
    for count in (largest // 10, largest):
        argv = [sys.executable, __file__, "score", str(count)]
        done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
        row = json.loads(done.stdout)
        print(
            f"| {count:,} | {row['seconds']:.1f} | {row['peak_mb']:.0f} | {row['before_mb']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
