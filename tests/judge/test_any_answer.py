"""Whatever a model answers, it is read or refused; whatever a text says, it stays a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge.judges import prompt_values

from karat.llm.interview import InvalidAnswer
from karat.llm.pairs import parse_preference
from karat.llm.ratings import RatingScale, parse_ratings
from karat.llm.supports import parse_supports
from karat.llm.task_prompts import RATINGS, task_prompt
from karat.nuggets.drafting import read_facts

TEXTS = {"1": "A cat sat.", "2": ""}
READERS: dict[str, Callable[[str], Any]] = {
    "ratings": partial(parse_ratings, TEXTS, RatingScale(1, 5, "higher")),
    "pairs": partial(parse_preference, TEXTS),
    "supports": partial(parse_supports, TEXTS["1"], ["1", "2"]),
    "facts": partial(read_facts, ["A cat sat.", "It ran."], 3),
}
words = st.sampled_from(["1", "2", "A cat", "cat sat.", "tie", "support", "vital", "", "\x00"])
plain = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), words, st.text(max_size=5))
keys = st.sampled_from(
    ["id", "evidence", "value", "label", "better", "fact", "quote", "document", "importance"]
)
entry = st.dictionaries(keys, st.one_of(plain, st.lists(plain, max_size=2)), max_size=6)
whole = st.fixed_dictionaries(
    {},
    optional={
        "answers": st.one_of(plain, st.lists(st.one_of(entry, plain), max_size=3)),
        "facts": st.one_of(plain, st.lists(st.one_of(entry, plain), max_size=3)),
        "better": plain,
        "evidence": plain,
    },
)


@pytest.mark.parametrize("task", READERS)
@given(answer=st.one_of(st.text(max_size=40), st.builds(json.dumps, st.one_of(whole, plain))))
def test_any_answer_is_read_or_refused(task: str, answer: str) -> None:
    with suppress(InvalidAnswer):
        READERS[task](answer)


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3), st.text(max_size=60))
def test_any_text_comes_out_of_the_prompt_as_it_was(texts: list[str], source: str) -> None:
    outputs = [{"id": str(k), "text": text} for k, text in enumerate(texts, 1)]
    values = {**dict.fromkeys(RATINGS.all), "outputs": outputs, "source": source, "scale": {}}
    messages = task_prompt(RATINGS).messages(values)
    output = prompt_values({"messages": [{"content": content} for _, content in messages]})
    assert (output["outputs"], output["source"]) == (outputs, source)
    assert [role for role, _ in messages] == ["system", "user"]
