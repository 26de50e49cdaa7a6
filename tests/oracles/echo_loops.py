"""Echoes of nuggets, word by word, from sentences that are lists of words."""

from __future__ import annotations

from math import log


def passages(sentences: list[list[str]]) -> list[set[str]]:
    """Two neighbouring sentences each; the last one alone."""
    return [
        set(sentence) | set(following)
        for sentence, following in zip(sentences, [*sentences[1:], []], strict=True)
    ]


def best_passage(
    candidates: list[set[str]], nuggets: list[set[str]], nugget: int, idf: dict[str, float]
) -> set[str]:
    """The first of those with the most of the nugget."""

    def informative(word: str) -> float:
        have = sum(word in words for words in nuggets)
        return idf[word] * (1 - have / len(nuggets) if len(nuggets) > 1 else 1.0)

    def share(passage: set[str]) -> float:
        share_sum = 0.0
        for weight in (idf.__getitem__, informative):
            total = sum(weight(word) for word in nuggets[nugget])
            if total > 0:
                share_sum += sum(weight(word) for word in nuggets[nugget] & passage) / total
        return share_sum

    shares = [round(share(passage), 9) for passage in candidates]
    return candidates[shares.index(max(shares))]


def echo(
    responses: list[list[list[str]]],
    nuggets: list[set[str]],
    nugget: int,
    idf: dict[str, float],
    p: list[float],
    listener: int,
) -> float:
    """The echo of one response; a response is a list of sentences."""
    cut = [passages(response) for response in responses]
    everything = [passage for response_passages in cut for passage in response_passages]
    best = [best_passage(response_passages, nuggets, nugget, idf) for response_passages in cut]
    other_responses = [r for r in range(len(responses)) if r != listener]
    weights = {}
    for word in sorted(set().union(*everything) - nuggets[nugget]):
        b = (sum(word in passage for passage in everything) + 1) / (len(everything) + 2)
        word_mass = sum(p[r] ** 2 for r in other_responses if word in best[r])
        rate = (word_mass + 0.3 * b) / (sum(p[r] ** 2 for r in other_responses) + 0.3)
        weights[word] = round(max(0.0, rate - 1.5 * b) * max(0.0, log(0.5 / b)), 12)
    least = sorted(weights.values())[-12] if len(weights) > 12 else 0.0
    selected_weights = {
        word: weight for word, weight in weights.items() if weight >= least and weight > 0
    }
    if not selected_weights:
        return 0.0
    shares = [sum(selected_weights.get(word, 0.0) for word in passage) for passage in cut[listener]]
    return max(shares) / sum(selected_weights.values())
