"""Counts of n-grams of words and characters, in plain Python as in sacreBLEU's `metrics.helpers`.

The metrics count in the kernel and do not use them.
"""

from __future__ import annotations

from collections import Counter


def extract_all_word_ngrams(
    line: str, min_order: int, max_order: int
) -> tuple[Counter[tuple[str, ...]], int]:
    """Return the n-grams of words from `min_order` to `max_order`, and the number of words."""
    words = line.split()
    orders = range(min_order, max_order + 1)
    ngrams = [tuple(words[i : i + n]) for n in orders for i in range(len(words) - n + 1)]
    return Counter(ngrams), len(words)


def extract_word_ngrams(tokens: list[str], n: int) -> Counter[str]:
    """Return the n-grams of tokens, each with spaces between its tokens."""
    return Counter(" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def extract_char_ngrams(line: str, n: int, include_whitespace: bool = False) -> Counter[str]:
    """Return the n-grams of characters."""
    text = line if include_whitespace else "".join(line.split())
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))


def extract_all_char_ngrams(
    line: str, max_order: int, include_whitespace: bool = False
) -> list[Counter[str]]:
    """Return the n-grams of characters of each order up to `max_order`."""
    return [extract_char_ngrams(line, n, include_whitespace) for n in range(1, max_order + 1)]
