"""Shares of a text's words in windows of a response, by trying every window."""

from __future__ import annotations

from collections.abc import Sequence


def distinct(text: Sequence[int], weights: Sequence[Sequence[float]]) -> dict[int, list[float]]:
    """The weights of each distinct word: those of its first place."""
    word_weights: dict[int, list[float]] = {}
    for word, row in zip(text, weights, strict=True):
        word_weights.setdefault(word, list(row))
    return word_weights


def share(
    response: Sequence[int],
    text: Sequence[int],
    weights: Sequence[Sequence[float]],
    kind: int,
    window: int,
) -> float:
    """The best window's weight over the whole text's; 1 if the text weighs nothing."""
    words = distinct(text, weights)
    total = sum(row[kind] for row in words.values())
    if total <= 0:
        return 1.0
    size = window or max(len(response), 1)
    starts = range(max(1, len(response) - size + 1))
    inside = (set(response[i : i + size]) for i in starts)
    return (
        max(sum(words[w][kind] for w in words if w in window_words) for window_words in inside)
        / total
    )


def longest_run(response: Sequence[int], text: Sequence[int]) -> float:
    """The longest sequence of words in both, over the text's length."""
    best = 0
    for i in range(len(text)):
        for j in range(i + 1, len(text) + 1):
            part = list(text[i:j])
            places = range(len(response) - len(part) + 1)
            if any(list(response[k : k + len(part)]) == part for k in places):
                best = max(best, j - i)
    return best / len(text) if text else 0.0


def heaviest_miss(
    response: Sequence[int], text: Sequence[int], weights: Sequence[Sequence[float]]
) -> float:
    """The largest first weight of a word that the response has not."""
    words = distinct(text, weights)
    return max((row[0] for word, row in words.items() if word not in response), default=0.0)


def best_sentences(
    sentences: Sequence[Sequence[int]],
    text: Sequence[int],
    weights: Sequence[Sequence[float]],
    kinds: int,
    together: int,
) -> list[float]:
    """Shares, longest run and heaviest miss of the best run of sentences, number by number."""
    last = max(1, len(sentences) - together + 1)
    parts = [
        [word for sentence in sentences[i : i + together] for word in sentence] for i in range(last)
    ]
    shares = [max(share(part, text, weights, k, 0) for part in parts) for k in range(kinds)]
    run = max(longest_run(part, text) for part in parts)
    return [*shares, run, min(heaviest_miss(part, text, weights) for part in parts)]


def characters(response: Sequence[int], text: Sequence[int]) -> tuple[float, float]:
    """Shares of 4-grams in a window of twice the text and 10 more, and in all of the response."""
    response_grams, text_grams = (
        [tuple(x[i : i + 4]) for i in range(len(x) - 3)] for x in (response, text)
    )
    numbers = {gram: k for k, gram in enumerate({*response_grams, *text_grams})}
    response_ids, text_ids = (
        [numbers[gram] for gram in gram_list] for gram_list in (response_grams, text_grams)
    )
    weights = [[1.0] for _ in text_ids]
    window, full_window = 2 * len(text_ids) + 10, max(len(response_ids), 1)
    return share(response_ids, text_ids, weights, 0, window), share(
        response_ids, text_ids, weights, 0, full_window
    )
