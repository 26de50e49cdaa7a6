"""A small world of questions, runs and judgements that are lawful, with some noise."""

from __future__ import annotations

import numpy as np

from karat.nuggets.prediction.pool import Floats, Pool, make_pool, run_labels
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import (
    Nugget,
    NuggetKey,
    Question,
    Response,
    Run,
    make_key,
    make_run,
)

SUBJECTS = [
    "physicist",
    "reactor",
    "neutrino",
    "senate",
    "harbour",
    "orchard",
    "violin",
    "glacier",
    "comet",
    "vaccine",
]
VERBS = ["named", "built", "measured", "opposed", "painted", "sold", "crossed", "founded"]
FILLER = [
    "meanwhile",
    "people",
    "often",
    "talk",
    "about",
    "weather",
    "while",
    "others",
    "quietly",
    "read",
    "books",
]


def world(
    questions: int = 6, runs: int = 8, seed: int = 5
) -> tuple[NuggetKey, list[Run], Judgements]:
    """A run that is better carries more nuggets; carried ones are said in the key's words."""
    rng = np.random.default_rng(seed)
    key, judged = [], []
    answers_by_run: dict[str, list[tuple[str, Response]]] = {f"run{k}": [] for k in range(runs)}
    for q in range(questions):
        facts = [
            f"{rng.choice(SUBJECTS)}{q}{g} {rng.choice(VERBS)} item{q}x{g} in {1900 + g}"
            for g in range(4)
        ]
        key.append(
            Question(f"q{q}", tuple(Nugget(f"n{g}", (fact,)) for g, fact in enumerate(facts)))
        )
        for k, (run, answers) in enumerate(answers_by_run.items()):
            has = rng.random(4) < 0.2 + 0.6 * k / runs
            parts = [_retold(fact, rng) for fact, yes in zip(facts, has, strict=True) if yes]
            text = ". ".join([*parts, " ".join(rng.choice(FILLER, 6))])
            answers.append((f"q{q}", Response(text)))
            for g, yes in enumerate(has):
                judged.append(JudgedResponse(f"q{q}", f"n{g}", text, float(yes), run))
    all_runs = [
        make_run(tag, run_answers, f"house{k // 2}")
        for k, (tag, run_answers) in enumerate(answers_by_run.items())
    ]
    return make_key(key), all_runs, Judgements(tuple(judged))


def _retold(fact: str, rng: np.random.Generator) -> str:
    words = fact.split()
    return " ".join(word for word in words if rng.random() < 0.8)


def pooled(**options: int) -> tuple[Pool, Floats, Judgements]:
    """The world's pool, the labels of its cells, and the judgements."""
    key, runs, judged = world(**options)
    pool = make_pool(key, runs)
    return pool, run_labels(pool, judged), judged
