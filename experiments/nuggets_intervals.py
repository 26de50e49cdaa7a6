"""Coverage of the intervals of all nugget scores that `karat nuggets score` shows.

    KARAT_DATA=… python experiments/nuggets_intervals.py [--speed]
    KARAT_DATA=… python experiments/nuggets_intervals.py --part [realsumm] [--once | --even]

With --speed: only the time of `karat nuggets score` on all runs of RAG24 after loading. With
--part: only partly judged runs of RAG24 or REALSumm, scored as in `karat nuggets score`; in each
run in turn, a random share of its pairs or questions is judged (seeds 2006, 2007 and 2008). Does
the interval contain the score shown once the run is fully judged (the most favourable judgement of
identical responses counts), and (own) the score from its own judgements alone? MSE is the error of
the probabilities of its unjudged pairs; "before" is the error for the same pairs when none were
judged. With --once: only the first of these draws; with --even: every other run and seed 1, for
making choices.

Prints Markdown. Scores are A with partial support counting a half, A with it counting in full, F(3)
macro and F(3) micro. Each run in turn is treated as unjudged: errors of guesses are estimated from
the other runs. LOSO predicts a run as `karat nuggets score` does (ten groups of runs, each left out
by one step of Newton's method); LOTO leaves questions out and refits the models. Only the
subsamples of topics are random (numpy's default generator, seed 2006).

Then: the distance of one step from refitted models, and how often identical responses are labelled
differently. Intervals without judgements are in `nuggets_base_rates.py`.

What was looked at: --part was first about scores as shown (none judged: A 93.3%, F macro 91.1%, F
micro 88.9%), then about a run's own judgements alone; half judged, F micro held 82.2% (another draw
of pairs), after which the errors of F micro were split into chance and a run's own as those of F
macro are. Now it is about scores as shown again, which are those of a run that was judged whole.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from nugget_sets import SETS, pooled
from numpy.typing import NDArray

import karat as kt
import karat.nuggets.prediction.predictions as module
from karat.nuggets.prediction.calibrated import cross_validate, hold_out, run_folds
from karat.nuggets.prediction.evidence import evidence
from karat.nuggets.prediction.intervals import (
    MeasuredErrors,
    RunIntervals,
    label_noise,
    score_errors,
    score_interval,
    whole_errors,
)
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.pool import Floats, FoldedCells, Pool, make_pool, run_labels
from karat.nuggets.prediction.predictions import predict_support
from karat.nuggets.scores.decisions import AnswerDecisions, decide_run
from karat.nuggets.scores.official import OfficialSettings, mean_shares, pool_stats, score_shares
from karat.nuggets.scores.words import forget_texts
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Run, forget_responses
from karat.nuggets.sets.nugget_set import NuggetSet

SEED, SUBSAMPLES = 2006, 200
SEEDS = (2006, 2007, 2008)
HOW = OfficialSettings()


def tables(pool: Pool, cells: Floats, labels: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Runs x questions, guessed and official, by the name of the score."""
    yes = (labels > 0).astype(float)
    answered = ~np.isnan(pool.question_scores(cells))
    f = [np.where(answered, pool_stats(pool, x, HOW).f(3.0), np.nan) for x in (cells, yes)]
    return {
        "A, partial 1/2": (pool.question_scores(cells), pool.question_scores(labels)),
        "A, partial 1": (pool.question_scores(cells), pool.question_scores(yes)),
        "F macro": (f[0], f[1]),
    }


def micro(pool: Pool, cells: Floats, labels: Floats) -> tuple[Floats, Floats]:
    yes = (labels > 0).astype(float)
    guessed, official = (pool_stats(pool, x, HOW).sums().f(3.0) for x in (cells, yes))
    return guessed, official


def halves(guessed: Floats, official: Floats) -> Iterator[tuple[str, bool, float]]:
    """Coverage and width, of all topics and of half of them."""
    rng = np.random.default_rng(SEED)
    N = official.shape[1]
    draws = [np.sort(rng.permutation(N)[: N // 2]) for _ in range(SUBSAMPLES)]
    for s in range(len(official)):
        other_runs = np.arange(len(official)) != s
        errors = score_errors(guessed[other_runs], official[other_runs])
        answered = np.flatnonzero(~np.isnan(official[s]))
        truth = float(official[s][answered].mean())
        for name, topic_sets in (("all", [answered]), ("half", draws)):
            for draw in topic_sets:
                topics = draw[np.isin(draw, answered)]
                if len(topics) > 1:
                    interval = score_interval(guessed[s][topics], errors, len(answered))
                    yield name, interval.low <= truth <= interval.high, interval.width


def wholes(guessed: Floats, official: Floats) -> Iterator[tuple[str, bool, float]]:
    for s in range(len(official)):
        other_runs = np.arange(len(official)) != s
        errors = whole_errors(guessed[other_runs], official[other_runs])
        interval = score_interval(guessed[s : s + 1], errors, 1)
        yield "all", interval.low <= official[s] <= interval.high, interval.width


def print_row(name: str, rows: Iterator[tuple[str, bool, float]]) -> None:
    outcomes = list(rows)
    cells = []
    for kind in ("half", "all"):
        outcomes_of_kind = [(inside, width) for label, inside, width in outcomes if label == kind]
        inside, widths = zip(*outcomes_of_kind, strict=True) if outcomes_of_kind else ([], [])
        cells += (
            [f"{100 * np.mean(inside):.1f}%", f"{np.mean(widths):.3f}"]
            if outcomes_of_kind
            else ["", ""]
        )
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def coverage(pool: Pool, cells: Floats, labels: Floats) -> None:
    print("| score | half of the topics cover all | width | all topics | width |")
    print("|---|---|---|---|---|")
    for name, both in tables(pool, cells, labels).items():
        print_row(name, halves(*both))
    print_row("F micro", wholes(*micro(pool, cells, labels)))


def speed() -> None:
    """What is done for `karat nuggets score` after loading, the best of five times."""
    nuggets = kt.load_nuggets("rag24")
    times = []
    for _ in range(5):
        forget_texts()
        forget_responses()
        start = time.process_time()
        kt.score_nuggets(nuggets, HOW)
        times.append(time.process_time() - start)
    print(f"{len(nuggets.runs)} runs: {min(times):.2f} s of CPU")


class RunDraw(NamedTuple):
    """One run that was judged in part."""

    ends: RunIntervals
    guesses: Floats
    """Probabilities of its pairs."""
    judged: NDArray[np.bool_]
    """Which of them were."""


Rows = list[JudgedResponse]
Keep = Callable[[Rows], Rows]


def part(name: str, seeds: tuple[int, ...], step: int = 1) -> None:
    """Intervals of runs that were judged in part, all else as users see it."""
    remember_texts()
    nuggets = kt.load_nuggets(name)
    truth = Truth(nuggets)
    print(
        "| judged | of its | A | width | F macro | width | F micro | width | own | MSE | before |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    none = draw(nuggets, lambda rows: [], step)
    shown_part("none |", [none], none, truth)
    for label, keep in KEEP.items():
        for share in (0.25, 0.5, 0.75):
            draws = [
                draw(nuggets, partial(keep, np.random.default_rng(seed), share), step)
                for seed in seeds
            ]
            shown_part(f"{share:.0%} | {label}", draws, none, truth)


def remember_texts() -> None:
    """Texts are the same in every draw, so results that depend on them alone are cached."""
    for name in ("evidence", "Likeness"):
        function, memo = getattr(module, name), {}

        def remembered(pool: Pool, *options: Any, function=function, memo=memo) -> Any:
            if pool.texts not in memo:
                memo[pool.texts] = function(pool, *options)
            return memo[pool.texts]

        setattr(module, name, remembered)


def keep_pairs(rng: np.random.Generator, share: float, rows: Rows) -> Rows:
    return [row for row in rows if rng.random() < share]


def keep_questions(rng: np.random.Generator, share: float, rows: Rows) -> Rows:
    questions = list(dict.fromkeys(row.question for row in rows))
    order = rng.permutation(len(questions))[: round(share * len(questions))]
    selected = {questions[q] for q in order}
    return [row for row in rows if row.question in selected]


KEEP = {"pairs": keep_pairs, "questions": keep_questions}


def draw(nuggets: NuggetSet, keep: Keep, step: int) -> dict[str, RunDraw]:
    """Return each run with the judgements of it that are kept."""
    runs_drawn = {}
    for k, (tag, run) in enumerate(nuggets.runs.items()):
        kept_rows = keep(list(own_judgements(nuggets, tag).rows))
        if k % step:
            continue
        other_rows = (row for row in nuggets.judgements.rows if row.run != tag)
        reduced_set = replace(nuggets, judgements=Judgements((*other_rows, *kept_rows)))
        predictions = predict_support(reduced_set)
        decisions = decide_run(run, reduced_set.key, reduced_set.judgements, predictions.guess(tag))
        ends = predictions.intervals(run, decisions, HOW)
        assert ends is not None
        is_own = predictions.pool.cell_run == predictions.pool.runs.index(tag)
        runs_drawn[tag] = RunDraw(
            ends, predictions.probabilities[is_own], ~np.isnan(predictions.labels[is_own])
        )
    return runs_drawn


class Truth:
    """The scores of runs that were judged whole: as shown, and by their own judgements alone."""

    def __init__(self, nuggets: NuggetSet) -> None:
        self.shown, self.own, self.labels = {}, {}, {}
        for tag, run in nuggets.runs.items():
            for judgements, scores in (
                (nuggets.judgements, self.shown),
                (own_judgements(nuggets, tag), self.own),
            ):
                decisions = decide_run(run, nuggets.key, judgements)
                scores[tag] = scores_shown(run, nuggets, decisions)
            pool = make_pool(nuggets.key, [run])
            self.labels[tag] = run_labels(pool, own_judgements(nuggets, tag)) > 0


def shown_part(
    title: str, draws: list[dict[str, RunDraw]], none: dict[str, RunDraw], truth: Truth
) -> None:
    cells = [title]
    for k in range(3):
        inside = [holding(draw, truth.shown, k) for draw in draws]
        width = np.mean([run_draw.ends[k].width for draw in draws for run_draw in draw.values()])
        counts = " ".join(f"{sum(inside_draw)}" for inside_draw in inside)
        cells += [f"{100 * np.mean(inside):.1f}% ({counts})", f"{width:.3f}"]
    alone = [100 * np.mean([holding(draw, truth.own, k) for draw in draws]) for k in range(3)]
    cells.append(" ".join(f"{x:.1f}%" for x in alone))
    pairs = [(tag, run_draw) for draw in draws for tag, run_draw in draw.items()]
    for before in (False, True):
        wrong = [
            ((none[tag] if before else run_draw).guesses - truth.labels[tag])[~run_draw.judged] ** 2
            for tag, run_draw in pairs
        ]
        cells.append(f"{np.concatenate(wrong).mean():.4f}")
    print("| " + " | ".join(cells) + " |", flush=True)


def holding(draw: dict[str, RunDraw], truth: dict[str, list[float]], k: int) -> list[bool]:
    """Whether the interval of a score holds the true one, run by run."""
    return [
        run_draw.ends[k].low - 1e-9 <= truth[tag][k] <= run_draw.ends[k].high + 1e-9
        for tag, run_draw in draw.items()
    ]


def own_judgements(nuggets: NuggetSet, tag: str) -> Judgements:
    """The judgements of a run itself, without identical responses of other runs."""
    return Judgements(tuple(row for row in nuggets.judgements.rows if row.run == tag))


def scores_shown(
    run: Run, nuggets: NuggetSet, decisions: dict[str, AnswerDecisions]
) -> list[float]:
    """A, F macro and F micro."""
    score = HOW.score(run, nuggets.key, decisions)
    return [mean_shares(score_shares(run, nuggets.key, decisions)).A, score.macro.f, score.micro.f]


def main() -> None:
    if "--part" in sys.argv:
        name = "realsumm" if "realsumm" in sys.argv else "rag24"
        if "--even" in sys.argv:
            part(name, (1,), step=2)
        else:
            part(name, SEEDS[:1] if "--once" in sys.argv else SEEDS)
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
        cells, near = FoldedCells(pool, labels, run_folds(pool, labels)), Likeness(pool)
        _, held = hold_out(cells, X, near)
        coverage(pool, held.probabilities, labels)
        print("\nLOTO:\n")
        topics = FoldedCells(pool, labels, pool.cell_question % 20)
        coverage(pool, cross_validate(topics, X).probabilities, labels)
        exact = cross_validate(cells, X, near)
        apart = np.abs(held.probabilities - exact.probabilities)
        scores = [pool.run_scores(x) for x in (held.probabilities, exact.probabilities)]
        print(
            f"\nOne step and models fitted anew: probabilities are {apart.mean():.4f} apart in the "
            f"mean, {100 * (held.carried != exact.carried).mean():.1f}% of decisions differ, runs' "
            f"A by at most {np.abs(scores[0] - scores[1]).max():.4f}.\n"
        )
        print("| errors of A: | bias | between | within |\n|---|---|---|---|")
        for title, cells in (("one step", held.probabilities), ("anew", exact.probabilities)):
            errors = score_errors(pool.question_scores(cells), pool.question_scores(labels))
            print(f"| {title} | " + " | ".join(f"{x:.5f}" for x in errors[:3]) + " |")
        doubt = MeasuredErrors(pool, held.probabilities, held.carried, labels).doubt()
        noise = label_noise(pool, labels)
        print(f"\nIdentical responses are labelled differently: {noise:.3f}; doubt {doubt:.2f}.")


if __name__ == "__main__":
    main()
