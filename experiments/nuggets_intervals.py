"""Intervals of nugget scores: what they cover, for every score that `karat nuggets score` shows.

    KARAT_DATA=… python experiments/nuggets_intervals.py [--speed] [--part]

With --speed only what `karat nuggets score` takes on all runs of RAG24 after loading. With --part
only runs that were judged in part: all as `karat nuggets score` does it, each run of RAG24 in turn
with none or half of its own pairs judged (drawn, seed 2006).
Prints Markdown. Scores are A with partial support counting a half, A with it counting in full, F(3)
macro and F(3) micro. Each run in turn is taken for unjudged: how wrong guesses are is learned from
the other runs. LOSO guesses a run as `karat nuggets score` does (ten groups of runs, each left out
by one step of Newton's method); LOTO leaves questions out, with models fitted anew. Nothing is
drawn at random but the subsamples of topics (numpy's default generator, seed 2006).

Then: how far one step is from models fitted anew; how often identical responses are labelled
differently; and the errors of models that were learned on the other set, which are those of
intervals without judgements, rounded up. What was looked at: --part first took judgements of
identical responses for official ones too (none judged: A 93.3%, F macro 91.1%, F micro 88.9%);
with a run's own alone, half judged, F micro held 82.2% (another draw of pairs), after which the
errors of F micro were split into chance and a run's own as those of F macro are.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from nugget_sets import SETS, pooled

import karat as kt
from karat.cli.nuggets_score import score_runs
from karat.nuggets.calibrated import cross_validate, fit_calibrated
from karat.nuggets.classifier import forget_texts
from karat.nuggets.decisions import Decided, decide_run
from karat.nuggets.estimates import returned
from karat.nuggets.evidence import evidence
from karat.nuggets.held_out import hold_out
from karat.nuggets.intervals import score_errors, score_interval, whole_errors
from karat.nuggets.judgements import Judgements
from karat.nuggets.likeness import Likeness
from karat.nuggets.measured import Measured, label_noise
from karat.nuggets.modern import mean_shares, score_shares
from karat.nuggets.nuggeteer import GuessRule, _folds, nuggeteer
from karat.nuggets.official import Official
from karat.nuggets.pool import Floats, Pool
from karat.nuggets.runs import Run, forget_responses
from karat.nuggets.sentences import _cut as _cut_sentences
from karat.nuggets.sets import NuggetSet

SEED, SUBSAMPLES = 2006, 200
HOW = Official()


def tables(pool: Pool, cells: Floats, labels: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Runs x questions, guessed and official, by the name of the score."""
    yes = (labels > 0).astype(float)
    answered = ~np.isnan(pool.question_scores(cells))
    f = [np.where(answered, returned(pool, x, HOW).f(3.0), np.nan) for x in (cells, yes)]
    return {
        "A, partial 1/2": (pool.question_scores(cells), pool.question_scores(labels)),
        "A, partial 1": (pool.question_scores(cells), pool.question_scores(yes)),
        "F macro": (f[0], f[1]),
    }


def micro(pool: Pool, cells: Floats, labels: Floats) -> tuple[Floats, Floats]:
    yes = (labels > 0).astype(float)
    guessed, official = (returned(pool, x, HOW).summed().f(3.0) for x in (cells, yes))
    return guessed, official


def halves(guessed: Floats, official: Floats) -> Iterator[tuple[str, bool, float]]:
    """Coverage and width, of all topics and of half of them."""
    rng = np.random.default_rng(SEED)
    N = official.shape[1]
    draws = [np.sort(rng.permutation(N)[: N // 2]) for _ in range(SUBSAMPLES)]
    for s in range(len(official)):
        others = np.arange(len(official)) != s
        errors = score_errors(guessed[others], official[others])
        answered = np.flatnonzero(~np.isnan(official[s]))
        truth = float(official[s][answered].mean())
        for name, some in (("all", [answered]), ("half", draws)):
            for draw in some:
                here = draw[np.isin(draw, answered)]
                if len(here) > 1:
                    found = score_interval(guessed[s][here], errors, len(answered))
                    yield name, found.low <= truth <= found.high, found.width


def wholes(guessed: Floats, official: Floats) -> Iterator[tuple[str, bool, float]]:
    for s in range(len(official)):
        others = np.arange(len(official)) != s
        errors = whole_errors(guessed[others], official[others])
        found = score_interval(guessed[s : s + 1], errors, 1)
        yield "all", found.low <= official[s] <= found.high, found.width


def shown(name: str, rows: Iterator[tuple[str, bool, float]]) -> None:
    some = list(rows)
    cells = []
    for kind in ("half", "all"):
        mine = [(inside, width) for what, inside, width in some if what == kind]
        inside, widths = zip(*mine, strict=True) if mine else ([], [])
        cells += [f"{100 * np.mean(inside):.1f}%", f"{np.mean(widths):.3f}"] if mine else ["", ""]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def coverage(pool: Pool, cells: Floats, labels: Floats) -> None:
    print("| score | half of the topics cover all | width | all topics | width |")
    print("|---|---|---|---|---|")
    for name, both in tables(pool, cells, labels).items():
        shown(name, halves(*both))
    shown("F micro", wholes(*micro(pool, cells, labels)))


def errors(pool: Pool, cells: Floats, labels: Floats) -> None:
    for name, both in tables(pool, cells, labels).items():
        print(f"| {name} | " + " | ".join(f"{x:.4f}" for x in score_errors(*both)[:3]) + " |")
    found = whole_errors(*micro(pool, cells, labels))
    print("| F micro | " + " | ".join(f"{x:.4f}" for x in found[:3]) + " |", flush=True)


def speed() -> None:
    """What is done for `karat nuggets score` after loading, the best of five times."""
    nuggets = kt.load_nuggets("rag24")
    times = []
    for _ in range(5):
        forget_texts()
        forget_responses()
        _cut_sentences.cache_clear()
        start = time.process_time()
        score_runs(nuggets, HOW, GuessRule(), lambda *told: None)
        times.append(time.process_time() - start)
    print(f"{len(nuggets.runs)} runs: {min(times):.2f} s of CPU")


def part() -> None:
    """Intervals of runs that were judged in part, all else as users see it."""
    nuggets = kt.load_nuggets("rag24")
    rng = np.random.default_rng(SEED)
    print(
        "| judged | A | width | F macro | width | F micro | width |\n|---|---|---|---|---|---|---|"
    )
    official = {
        tag: scores_shown(run, nuggets, decide_run(run, nuggets.key, own(nuggets, tag)))
        for tag, run in nuggets.runs.items()
    }
    for share in (0.5, 0.0):
        rows = []
        for tag, run in nuggets.runs.items():
            kept = tuple(
                row for row in nuggets.judgements.rows if row.run != tag or rng.random() < share
            )
            some = replace(nuggets, judgements=Judgements(kept))
            found = nuggeteer(some)
            decided = decide_run(run, some.key, some.judgements, found.guess(tag))
            ends = found.intervals(run, decided, HOW)
            pairs = zip(ends, official[tag], strict=True)
            rows.append([x for e, v in pairs for x in (e.low <= v <= e.high, e.width)])
        means = np.mean(rows, axis=0)
        cells = [f"{100 * x:.1f}%" if k % 2 == 0 else f"{x:.3f}" for k, x in enumerate(means)]
        print(f"| {share:.0%} | " + " | ".join(cells) + " |", flush=True)


def own(nuggets: NuggetSet, tag: str) -> Judgements:
    """What was judged of a run itself; identical responses of others say nothing here."""
    return Judgements(tuple(row for row in nuggets.judgements.rows if row.run == tag))


def scores_shown(run: Run, nuggets: NuggetSet, decided: dict[str, Decided]) -> list[float]:
    """A, F macro and F micro."""
    score = HOW.score(run, nuggets.key, decided)
    return [mean_shares(score_shares(run, nuggets.key, decided)).A, score.macro.f, score.micro.f]


def main() -> None:
    if "--part" in sys.argv:
        part()
        return
    if "--speed" in sys.argv:
        speed()
        return
    pools = {}
    for name in SETS:
        pool, labels = pooled(*SETS[name]())
        pools[name] = pool, evidence(pool), labels
    for name, (pool, X, labels) in pools.items():
        print(f"\n## {name}\n\nLOSO:\n")
        fold, near = _folds(pool, labels), Likeness(pool)
        held = hold_out(pool, X, labels, fold, near)
        coverage(pool, held.probabilities, labels)
        print("\nLOTO:\n")
        topics = pool.cell_question % 20
        coverage(pool, cross_validate(pool, X, labels, topics).probabilities, labels)
        exact = cross_validate(pool, X, labels, fold, near)
        apart = np.abs(held.probabilities - exact.probabilities)
        scores = [pool.run_scores(x) for x in (held.probabilities, exact.probabilities)]
        print(
            f"\nOne step and models fitted anew: probabilities are {apart.mean():.4f} apart in the "
            f"mean, {100 * (held.carried != exact.carried).mean():.1f}% of decisions differ, runs' "
            f"A by at most {np.abs(scores[0] - scores[1]).max():.4f}.\n"
        )
        print("| errors of A: | bias | between | within |\n|---|---|---|---|")
        for title, cells in (("one step", held.probabilities), ("anew", exact.probabilities)):
            found = score_errors(pool.question_scores(cells), pool.question_scores(labels))
            print(f"| {title} | " + " | ".join(f"{x:.5f}" for x in found[:3]) + " |")
        doubt = Measured(pool, held.probabilities, held.carried, labels).doubt()
        noise = label_noise(pool, labels)
        print(f"\nIdentical responses are labelled differently: {noise:.3f}; doubt {doubt:.2f}.")
    for source, target in (("realsumm", "rag24"), ("rag24", "realsumm")):
        model = fit_calibrated(*pools[source][1:])
        pool, X, labels = pools[target]
        print(f"\nLearned on {source}, errors on {target}:\n")
        print("| score | bias | between | within |\n|---|---|---|---|")
        errors(pool, model.probabilities(X), labels)


if __name__ == "__main__":
    main()
