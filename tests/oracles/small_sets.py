"""Small judged sets with everything that real ones have: ties, gaps, several references."""

from __future__ import annotations

import random
from collections.abc import Callable

import karat as kt

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "by", "mat", "road", "big", ",", "."]
Value = Callable[[str, int, str], float]


def sentence(rng: random.Random, base: list[str], noise: float) -> str:
    """A sentence with some of its words replaced and some left out."""
    noisy_words = [rng.choice(WORDS) if rng.random() < noise else w for w in base]
    return " ".join(w for w in noisy_words if rng.random() > noise / 3)


def small_set(
    seed: int,
    systems: int = 5,
    segments: int = 9,
    *,
    missing: float = 0.15,
    unjudged: float = 0.15,
    references: int = 2,
    value: Value | None = None,
) -> kt.EvalSet:
    """Systems of falling quality; some outputs are missing, some outputs nobody judged.

    Judges are ann and ben, who is milder; `value` gives the scores instead of them.
    """
    rng = random.Random(seed)
    sources = [[rng.choice(WORDS) for _ in range(rng.randint(6, 12))] for _ in range(segments)]
    refs = [[sentence(rng, s, 0.15) for _ in range(references)] for s in sources]
    outputs: dict[str, list[str | None]] = {}
    rows = []
    for k in range(systems):
        name = f"s{k}"
        outputs[name] = [
            None if rng.random() < missing else sentence(rng, s, 0.1 + 0.12 * k) for s in sources
        ]
        for j, text in enumerate(outputs[name]):
            for judge, bonus in (("ann", 0), ("ben", 1)):
                if text is None or rng.random() < unjudged:
                    continue
                random_score = rng.randint(1, 6) - k // 2 + bonus
                score = random_score if value is None else value(name, j, text)
                rows.append(kt.Judgement(name, str(j + 1), judge, "quality", score))
    return kt.make_evalset(
        "small",
        outputs,
        references=refs,
        segments=[str(j + 1) for j in range(segments)],
        groups=[f"d{j % 3}" for j in range(segments)],
        dimensions=[kt.Dimension("quality"), kt.Dimension("unjudged")],
        judgements=rows,
    )
