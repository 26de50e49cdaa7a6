"""Intervals of nugget scores without judgements: their coverage under a different base rate.

    KARAT_DATA=… python experiments/nuggets_base_rates.py [--sets | --groups | --few]

Prints Markdown. The classifier has the four columns of the built-in one. It and the variances of
`karat.nuggets.prediction.base_rates` are learned on one set alone (each twentieth of its topics
predicted by a model of the others), and tested on all runs of the other set without its judgements,
in both directions. "before" is the interval from the errors of the previous release, which were
fitted to both sets. Last come the variances of both sets together, which are part of the package,
rounded.

--sets: sets with a different base rate, derived from the two without using judgements: RAG24 with
partial support as no support, its vital and its okay nuggets alone (okay ones have no F); of each
document of REALSumm the first five units, and the others. --groups: groups of 5, 10 and 20 topics,
drawn at random (30 of each size, numpy's default generator, seed 2006), and thirds of the topics by
the share of carried nuggets, which uses judgements: a hard case by design. --few: RAG24 as in
`karat nuggets score`, with the judgements of a few topics of some runs. Without an option, all of
them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from nugget_sets import SETS, pooled, strict
from numpy.typing import NDArray

import karat as kt
from karat.arithmetic import sigmoid
from karat.nuggets.prediction.base_rates import ShiftVariances
from karat.nuggets.prediction.calibrated import Logistic, fit_calibrated
from karat.nuggets.prediction.evidence import evidence
from karat.nuggets.prediction.evidence_groups import EvidenceSource
from karat.nuggets.prediction.intervals import RunIntervals, ScoreErrors, score_interval
from karat.nuggets.prediction.pool import Floats, Ints, Pool
from karat.nuggets.prediction.predictions import Predictions, predict_support
from karat.nuggets.scores.decisions import AnswerDecisions, decide_run
from karat.nuggets.scores.official import OfficialSettings, RunAnswers, run_answers
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Run, make_key

SEED, GROUPS, SIZES = 2006, 30, (5, 10, 20)
HOW = OfficialSettings()
BEFORE = (
    ScoreErrors(0, 0.0013, 0.036, 25),
    ScoreErrors(0, 0.0015, 0.037, 25),
    ScoreErrors(0, 0.0011, 0.0011, 25),
)
COLUMNS = np.flatnonzero(EvidenceSource().weights)
WAYS = (("realsumm", "rag24"), ("rag24", "realsumm"))


class Judged(NamedTuple):
    """A set that was judged whole, with its evidence."""

    runs: dict[str, Run]
    pool: Pool
    X: Floats
    labels: Floats

    def take(self, questions: Sequence[int]) -> Judged:
        """Some of its topics."""
        rows = np.flatnonzero(np.isin(self.pool.question, questions))
        cells = self.pool.cells(rows)
        return Judged(self.runs, self.pool.take(rows), self.X[cells], self.labels[cells])


def load(name: str, is_wanted=lambda number, nugget: True) -> Judged:
    """A set, and the nuggets of each topic to keep."""
    key, runs, judged = SETS[name]()
    selected_key = make_key(
        replace(q, nuggets=tuple(n for k, n in enumerate(q.nuggets) if is_wanted(k, n)))
        for q in key.questions.values()
    )
    selected_key = make_key(q for q in selected_key.questions.values() if q.nuggets)
    names = {(q.id, n.id) for q in selected_key.questions.values() for n in q.nuggets}
    rows = tuple(row for row in judged.rows if (row.question, row.nugget) in names)
    runs = [
        replace(run, answers={q: run.responses(q) for q in selected_key.questions}) for run in runs
    ]
    pool, labels = pooled(selected_key, runs, Judgements(rows))
    return Judged({run.tag: run for run in runs}, pool, evidence(pool)[:, COLUMNS], labels)


def shift_of(logits: Floats, yes: NDArray[np.bool_]) -> float:
    """The shift at which the expected count equals the actual one; NaN if it is none or all."""
    if yes.all() or not yes.any():
        return np.nan
    low, high = -20.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        short = sigmoid(logits + middle).sum() < yes.sum()
        low, high = (middle, high) if short else (low, middle)
    return (low + high) / 2


def shifts_of(logits: Floats, yes: NDArray[np.bool_], group: Ints) -> Floats:
    shifts = [shift_of(logits[group == k], yes[group == k]) for k in range(group.max() + 1)]
    return np.array(shifts)


def learn_spread(pool: Pool, logits: Floats, yes: NDArray[np.bool_]) -> ShiftVariances:
    """The variances of shifts of questions, and of runs within them, minus sampling variance."""
    question, run = pool.cell_question, pool.cell_run
    of_question = shifts_of(logits, yes, question)
    has_shift = ~np.isnan(of_question)[question]
    logits = logits[has_shift] + of_question[question[has_shift]]
    yes, question, run = yes[has_shift], question[has_shift], run[has_shift]
    of_run = shifts_of(logits, yes, run)
    p = sigmoid(logits + of_run[run])
    information = p * (1 - p)
    answer = question * len(pool.runs) + run
    dispersion = (np.bincount(answer, yes - p) ** 2).sum() / information.sum()
    variances = []
    for shifts, group in ((of_question, question), (of_run, run)):
        finite = shifts[~np.isnan(shifts)]
        chance = dispersion / np.bincount(group, information)[~np.isnan(shifts)]
        variances.append((max(0.0, float(finite.var(ddof=1) - chance.mean())), len(finite) - 1))
    (Q, questions), (R, runs) = variances
    return ShiftVariances(Q, R, float(dispersion), questions, runs)


def left_out(judged: Judged) -> Floats:
    """The logits of every twentieth of the topics by a model of the others."""
    fold = judged.pool.cell_question % 20
    logits = np.zeros(len(fold))
    for k in np.unique(fold):
        model = fit_calibrated(judged.X[fold != k], judged.labels[fold != k])
        logits[fold == k] = model.logits(judged.X[fold == k])
    return logits


def together(spreads: Sequence[ShiftVariances]) -> ShiftVariances:
    """The means of the variances of sets; degrees of freedom by Satterthwaite."""
    means = np.mean(spreads, axis=0)
    freedom = [
        sum(spread[k] for spread in spreads) ** 2
        / sum(spread[k] ** 2 / spread[3 + k] for spread in spreads)
        for k in (0, 1)
    ]
    return ShiftVariances(*means[:3].tolist(), *freedom)


class Outcome(NamedTuple):
    """One score of one run."""

    held: bool
    width: float
    held_before: bool
    width_before: float


def outcomes(
    model: Logistic, spread: ShiftVariances, target: Judged
) -> Iterator[list[Outcome | None]]:
    """A, F macro and F micro of every run, as they are shown without judgements."""
    pool, p = target.pool, model.probabilities(target.X)
    nothing = np.full(len(p), np.nan)
    predictions = Predictions(pool, p, p > model.threshold, nothing, 0, spread=spread)
    key = make_key(pool.questions)
    for tag in pool.runs:
        run = target.runs[tag]
        decisions = decide_run(run, key, Judgements(()), predictions.guess(tag))
        ends = predictions.intervals(run, decisions, HOW)
        if ends is None:
            continue
        chances = {q.id: predictions.pool.answer(p, tag, q.id) for q in pool.questions}
        expected, displayed = run_answers(pool.questions, run, decisions, HOW, chances)
        truth = _scores(_truth(predictions, target, run, chances))
        yield list(_compared(ends, before(expected, displayed, decisions), truth))


def _truth(
    predictions: Predictions, target: Judged, run: Run, chances: dict[str, Floats]
) -> RunAnswers:
    """The judgements of the run itself."""
    tables = {
        q.id: predictions.pool.answer(target.labels, run.tag, q.id) for q in target.pool.questions
    }
    decisions = {
        id: AnswerDecisions(table, np.ones(table.shape, bool)) for id, table in tables.items()
    }
    return run_answers(target.pool.questions, run, decisions, HOW, chances)[1]


def _scores(answers: RunAnswers) -> list[float | None]:
    has_nuggets = answers.official_stats.total > 0
    if not has_nuggets.any():
        return [float(answers.share.mean()), None, None]
    f = answers.official_stats.f(3.0)[has_nuggets]
    return [
        float(answers.share.mean()),
        float(f.mean()),
        float(answers.official_stats.sums().f(3.0)),
    ]


def before(
    expected: RunAnswers, displayed: RunAnswers, decisions: dict[str, AnswerDecisions]
) -> RunIntervals:
    """The intervals as they were."""
    answered = np.mean([len(answer.values) > 0 for answer in decisions.values()])
    share, macro, micro = (answer.scaled(1.0, 1.0, answered) for answer in BEFORE)
    has_nuggets = expected.official_stats.total > 0
    point_scores = _scores(displayed)
    first = score_interval(expected.share, share, len(expected.share)).around(point_scores[0])
    if not has_nuggets.any():
        return RunIntervals(first, None, None)
    f = expected.official_stats.f(3.0)[has_nuggets]
    pooled_f = np.array([expected.official_stats.sums().f(3.0)])
    return RunIntervals(
        first,
        score_interval(f, macro, len(f)).around(point_scores[1]),
        score_interval(pooled_f, micro, 1).around(point_scores[2]),
    )


def _compared(
    now: RunIntervals, then: RunIntervals, truth: list[float | None]
) -> Iterator[Outcome | None]:
    for interval, old, value in zip(now, then, truth, strict=True):
        if interval is None or old is None or value is None:
            yield None
        else:
            yield Outcome(
                interval.low <= value <= interval.high,
                interval.width,
                old.low <= value <= old.high,
                old.width,
            )


HEAD = "| learned on, tried on | runs | A held | before | width | before | F macro held | before "
HEAD += "| width | before | F micro held | before | width | before |"


def head() -> None:
    print(f"\n{HEAD}\n|{'---|' * HEAD.count(' |')}")


def row(title: str, run_outcomes: Sequence[list[Outcome | None]]) -> None:
    cells = [title, str(len(run_outcomes))]
    for k in range(3):
        outcomes_of_score = [
            run_outcome[k] for run_outcome in run_outcomes if run_outcome[k] is not None
        ]
        if not outcomes_of_score:
            cells += [""] * 4
            continue
        held, width, held_before, width_before = np.mean(outcomes_of_score, axis=0)
        cells += [f"{held:.1%}", f"{held_before:.1%}", f"{width:.3f}", f"{width_before:.3f}"]
    print("| " + " | ".join(cells) + " |", flush=True)


class Learned(NamedTuple):
    """What one set taught."""

    model: Logistic
    spread: ShiftVariances


def learn(judged: Judged) -> Learned:
    spread = learn_spread(judged.pool, left_out(judged), judged.labels > 0)
    return Learned(fit_calibrated(judged.X, judged.labels), spread)


def variances(sets: dict[str, Judged], learned: dict[str, Learned]) -> None:
    print("| set | Q | R | D | degrees of freedom | shift on the other set | carried |")
    print("|---|---|---|---|---|---|---|")
    for source, target in WAYS:
        to = sets[target]
        away = shift_of(learned[source].model.logits(to.X), to.labels > 0)
        show_spread(source, learned[source].spread, f"{away:.3f}", sets[source].labels)
    both = together([item.spread for item in learned.values()])
    show_spread("both", both, "", np.concatenate([item.labels for item in sets.values()]))


def show_spread(name: str, spread: ShiftVariances, away: str, labels: Floats) -> None:
    numbers = " | ".join(f"{x:.3f}" for x in spread[:3])
    freedom = f"{spread.question_freedom:.0f}, {spread.run_freedom:.0f}"
    print(f"| {name} | {numbers} | {freedom} | {away} | {(labels > 0).mean():.3f} |")


def other_sets(sets: dict[str, Judged], learned: dict[str, Learned]) -> None:
    """Sets with another base rate."""
    rag = sets["rag24"]

    def vital(k: int, nugget: Nugget) -> bool:
        return nugget.vital

    def okay(k: int, nugget: Nugget) -> bool:
        return not nugget.vital

    variants = {
        "RAG24, partial support is none": ("realsumm", rag._replace(labels=strict(rag.labels))),
        "RAG24, vital nuggets": ("realsumm", load("rag24", vital)),
        "RAG24, okay nuggets": ("realsumm", load("rag24", okay)),
        "REALSumm, first five units": ("rag24", load("realsumm", lambda k, nugget: k < 5)),
        "REALSumm, other units": ("rag24", load("realsumm", lambda k, nugget: k >= 5)),
    }
    head()
    for title, (source, target) in variants.items():
        rate = (target.labels > 0).mean()
        row(f"{title} ({rate:.0%} carried)", list(outcomes(*learned[source], target)))


def groups(sets: dict[str, Judged], learned: dict[str, Learned]) -> None:
    """Groups of topics, drawn, and by the share of carried nuggets."""
    head()
    for source, target in WAYS:
        rng, to = np.random.default_rng(SEED), sets[target]
        n = len(to.pool.questions)
        for size in SIZES:
            subsets = [to.take(rng.permutation(n)[:size]) for _ in range(GROUPS)]
            group_outcomes = [
                outcome for subset in subsets for outcome in outcomes(*learned[source], subset)
            ]
            row(f"{source}, {target}, {size} topics", group_outcomes)
        rates = [(to.labels[to.pool.cell_question == q] > 0).mean() for q in range(n)]
        thirds = np.array_split(np.argsort(rates, kind="stable"), 3)
        for name, subset in zip(("low", "middle", "high"), thirds, strict=True):
            third = to.take(subset)
            rate = (third.labels > 0).mean()
            group_outcomes = list(outcomes(*learned[source], third))
            row(f"{source}, {target}, {name} third ({rate:.0%})", group_outcomes)


def few_topics() -> None:
    """RAG24 with judgements of a few topics: the runs that none of them are about."""
    nuggets = kt.load_nuggets("rag24")
    tags, topics = list(nuggets.runs), list(nuggets.key.questions)
    print("\n| judged runs | topics | pairs | measured", end=" | ")
    print("A | width | F macro | width | F micro | width |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for runs, n_topics in (
        (0, 0),
        (1, 1),
        (1, 3),
        (1, 5),
        (1, 21),
        (2, 5),
        (3, 5),
        (5, 5),
        (22, 2),
    ):
        judged_runs, about = set(tags[1 : 2 * runs : 2]), set(topics[:n_topics])
        kept_rows = [
            r for r in nuggets.judgements.rows if r.run in judged_runs and r.question in about
        ]
        predictions = predict_support(replace(nuggets, judgements=Judgements(tuple(kept_rows))))
        cells = [
            str(runs),
            str(n_topics),
            str(len(kept_rows)),
            str(predictions.errors(HOW).share is not None),
        ]
        ends = []
        for tag in tags[::2]:
            run = nuggets.runs[tag]
            decisions = decide_run(
                run, nuggets.key, Judgements(tuple(kept_rows)), predictions.guess(tag)
            )
            own_judgements = Judgements(tuple(r for r in nuggets.judgements.rows if r.run == tag))
            score = decide_run(run, nuggets.key, own_judgements)
            chances = {
                q: predictions.pool.answer(predictions.probabilities, tag, q) for q in topics
            }
            truth = run_answers(list(nuggets.key.questions.values()), run, score, HOW, chances)[1]
            ends.append((predictions.intervals(run, decisions, HOW), _scores(truth)))
        for k in range(3):
            inside = [interval[k].low <= truth[k] <= interval[k].high for interval, truth in ends]
            cells += [
                f"{np.mean(inside):.1%}",
                f"{np.mean([interval[k].width for interval, _ in ends]):.3f}",
            ]
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    sets = {name: load(name) for name in SETS}
    learned = {name: learn(judged) for name, judged in sets.items()}
    variances(sets, learned)
    head()
    for source, target in WAYS:
        row(f"{source}, {target}", list(outcomes(*learned[source], sets[target])))
    run_all = len(sys.argv) == 1
    if run_all or "--sets" in sys.argv:
        other_sets(sets, learned)
    if run_all or "--groups" in sys.argv:
        groups(sets, learned)
    if run_all or "--few" in sys.argv:
        few_topics()


if __name__ == "__main__":
    main()
