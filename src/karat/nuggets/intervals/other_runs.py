"""Where intervals from measured errors can be trusted: other runs tell of what is not judged.

Where other runs were judged on the questions that a run was not judged on, Nuggeteer's classifier
has seen what answers to them look like, and its errors were measured on such questions: its
intervals are narrower than estimates. Where nobody was judged on them, its guesses are worse than
those that errors were measured on, and its intervals are too narrow: on TREC RAG 2024, with all
runs judged on the same 10 of 21 questions, they hold the score in 75% of cases
(`experiments/estimates_nuggets.py`).

So Nuggeteer's intervals can be trusted for a run if

- on every question that it was not judged on, 5 other runs were judged or more, and
- these are, in the mean, at least 3/4 of the other runs that were judged on the same question where
  errors are measured.
"""

from __future__ import annotations

from karat.arrays import Flags, Ints, np
from karat.nuggets.intervals.intervals import FEWEST_RUNS
from karat.nuggets.sets.nugget_set import NuggetSet

LIKE_MEASURED = 0.75
"""The least ratio of other judged runs on open questions to those where errors are measured."""


def other_runs_tell(answered: Flags, judged: Flags, elsewhere: Ints) -> Flags:
    """Return for each run whether other runs were judged on what it was not judged on.

    `answered` and `judged` are runs x questions; `elsewhere` counts judged runs that are not among
    these, for each question.
    """
    total = judged.sum(axis=0) + elsewhere
    measured = float((total * (total - 1)).sum()) / max(int(total.sum()), 1)
    found = np.zeros(len(judged), np.bool_)
    for k, open_ in enumerate(answered & ~judged):
        others = total[open_]
        if len(others) and int(others.min()) >= FEWEST_RUNS:
            found[k] = float(others.mean()) >= LIKE_MEASURED * measured
    return found


def judged_elsewhere(nuggets: NuggetSet) -> Ints:
    """Return for each question how many runs were judged that judgements alone quote."""
    said: dict[tuple[str, str], set[str]] = {}
    for row in nuggets.judgements.deciding:
        if row.run and row.run not in nuggets.runs:
            said.setdefault((row.question, row.run), set()).add(row.nugget)
    counts = dict.fromkeys(nuggets.key.questions, 0)
    for (question, _), judged in said.items():
        if question in counts:
            every = nuggets.key.questions[question].nuggets
            counts[question] += all(nugget.id in judged for nugget in every)
    return np.array([*counts.values()], np.int64)
