"""`--endpoint demo`: an offline stand-in for a language model, which compares words.

It reads the lines `name: JSON` of a prompt and answers by word overlap: of outputs with references
(or the source), and of responses with nuggets. Documents are cut into sentences.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

JUDGE = "demo (word overlap)"
"""Name of the stand-in as a judge."""
NOTE = "demo is the offline stand-in: it counts shared words and is not a language model."

_LINE = re.compile(r"^([a-z_]+): (.+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_MAX_SHORT_WORD = 3  # characters of words that carry little content
_WHOLE, _PART = 0.75, 0.5
"""Shares of a nugget's words from which a response supports it, fully or partially."""
_MAX_WORDS = 12


def answer(messages: Sequence[tuple[str, str]]) -> str:
    """Return the answer to a prompt, as JSON in the form of its task."""
    values = _values("\n".join(message[1] for message in messages))
    for key, reply in (("nuggets", _nuggets), ("documents", _facts), ("scale", _ratings)):
        if key in values:
            return json.dumps(reply(values), ensure_ascii=False)
    if "outputs" in values:
        return json.dumps(_preference(values), ensure_ascii=False)
    return "The stand-in finds no lines such as `outputs: [...]` in this prompt."


def _values(text: str) -> dict[str, Any]:
    """Return the values of the lines `name: JSON`; the last line with a name counts."""
    values: dict[str, Any] = {}
    for name, value in _LINE.findall(text):
        try:
            values[name] = json.loads(value)
        except ValueError:  # a line of the instructions
            continue
    return values


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def overlap(text: str, other: str) -> float:
    """Return the F1 of the words shared by two texts, 0 to 1."""
    words, other_words = _words(text), _words(other)
    shared = 2 * (words & other_words).total()
    return shared / (words.total() + other_words.total()) if shared else 0.0


def _closeness(values: dict[str, Any], text: str) -> float:
    """Return the overlap with the nearest reference, else with the source."""
    targets = values.get("references") or [values.get("source") or ""]
    return max(overlap(text, target) for target in targets)


def _first_words(text: str, most: int = 6) -> str:
    return " ".join(text.split()[:most])


def _ratings(values: dict[str, Any]) -> dict[str, Any]:
    scale = values["scale"]
    low, high = scale["low"], scale["high"]
    answers = []
    for output in values["outputs"]:
        share = _closeness(values, output["text"])
        share = share if scale.get("better") != "lower" else 1 - share
        value = low + (high - low) * share
        if high - low >= 1:  # a scale of whole numbers
            value = min(max(round(value), low), high)
        evidence = _first_words(output["text"])
        answers.append({"id": output["id"], "evidence": evidence, "value": value})
    return {"answers": answers}


def _preference(values: dict[str, Any]) -> dict[str, Any]:
    first, second = values["outputs"]
    first_score, second_score = (_closeness(values, output["text"]) for output in (first, second))
    if first_score == second_score:
        return {"evidence": "", "better": "tie"}
    better = first if first_score > second_score else second
    return {"evidence": _first_words(better["text"]), "better": better["id"]}


def _nuggets(values: dict[str, Any]) -> dict[str, Any]:
    response = values.get("response") or ""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(response) if sentence.strip()]
    answers = []
    for nugget in values["nuggets"]:
        key_words = {word for word in _words(nugget["text"]) if len(word) > _MAX_SHORT_WORD}
        key_words = key_words or set(_words(nugget["text"]))
        share = len(key_words & set(_words(response))) / max(len(key_words), 1)
        best = max(sentences, key=lambda text: len(key_words & set(_words(text))), default="")
        label, evidence = "not_support", ""
        if share >= _PART:
            label, evidence = "support" if share >= _WHOLE else "partial_support", best
        answers.append({"id": nugget["id"], "evidence": evidence, "label": label})
    return {"answers": answers}


def _facts(values: dict[str, Any]) -> dict[str, Any]:
    facts: list[dict[str, Any]] = []
    for document in values["documents"]:
        for sentence in _SENTENCE.findall(document["text"]):
            words = sentence.strip(" \n\t.!?").split()[:_MAX_WORDS]
            if len(words) > 1:
                fact = " ".join(words)
                importance = "okay" if facts else "vital"
                facts.append(
                    {"document": document["id"], "quote": fact, "fact": fact}
                    | {"importance": importance}
                )
    return {"facts": facts[: values.get("most") or None]}
