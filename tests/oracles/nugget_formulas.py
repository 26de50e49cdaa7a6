"""Nuggeteer's score as the formula reads: every n-gram of the response, looked up as a tuple."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Words = Sequence[str]
Gram = tuple[str, ...]


def grams(words: Words, n: int) -> list[Gram]:
    """All n-grams of lengths 1 to n, as often as they stand there."""
    return [tuple(words[i : i + k]) for k in range(1, n + 1) for i in range(len(words) - k + 1)]


def weight(gram: Gram, idf: Mapping[str, float] | None) -> float:
    """W: the sum of the words' idf, or 1."""
    return sum(idf[word] for word in gram) if idf is not None else 1.0


def informativeness(gram: Gram, nuggets: Sequence[Sequence[Words]], n: int) -> float:
    """I: 1 - (nuggets that have the n-gram) / |G|; 1 for a single nugget."""
    if len(nuggets) == 1:
        return 1.0
    have = [any(gram in grams(text, n) for text in texts) for texts in nuggets]
    return 1 - sum(have) / len(nuggets)


def text_score(
    response: Words,
    text: Words,
    nuggets: Sequence[Sequence[Words]],
    n: int,
    idf: Mapping[str, float] | None,
    once: bool,
) -> float:
    """Recall(g, response), one text of g; `nuggets` are the texts whose n-grams each nugget has."""
    response_grams = grams(response, n)
    counted = list(dict.fromkeys(response_grams)) if once else response_grams
    inside = set(grams(text, n))
    return sum(
        weight(gram, idf) * informativeness(gram, nuggets, n) for gram in counted if gram in inside
    )


def score(
    response: Words,
    nuggets: Sequence[Sequence[Words]],
    g: int,
    n: int,
    idf: Mapping[str, float] | None = None,
    once: bool = False,
    normalised: bool = False,
    informed: Sequence[Sequence[Words]] | None = None,
) -> float:
    """The best text of a nugget; normalised: as a share of what the text itself would score.

    `informed` are the texts whose n-grams equation 1 counts, if those are others than describe.
    """
    has = nuggets if informed is None else informed

    def score_text(text: Words) -> float:
        recall = text_score(response, text, has, n, idf, once)
        if not normalised:
            return recall
        self_recall = text_score(text, text, has, n, idf, once)
        return recall / self_recall if self_recall > 0 else 0.0

    return max(map(score_text, nuggets[g]), default=0.0)
