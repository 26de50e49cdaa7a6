"""The paraphraser: from originals to ranked texts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from karat.errors import InputError, Interrupted
from karat.lm.model import LanguageModel
from karat.paraphrase.generate import CONFIDENCE
from karat.paraphrase.generate.generator import learn_casing
from karat.paraphrase.generate.paraphraser import (
    MAX_ORIGINAL_WORDS,
    Original,
    Replacement,
    find_wordings,
    generate_lines,
)
from karat.paraphrase.pem.model import PEM
from karat.text.segments import Strings
from karat.text.tokens import Recipe

LINES = [
    "I want to buy a new car.",
    "",
    "Xyzzy!",
    "Could you help me, please?",
    "We often go to the cinema with our friends.",
]


@cache
def model() -> PEM:
    return PEM.open()


def test_the_best_come_first_and_have_their_parts() -> None:
    generated = model().generate(LINES, 4)
    assert len(generated) == len(LINES)
    assert "I want to purchase a new car." in [paraphrase.text for paraphrase in generated[0]]
    for original, paraphrases in zip(LINES[:1], generated[:1], strict=True):
        sure = [paraphrase.confidence for paraphrase in paraphrases]
        assert sure == sorted(sure, reverse=True)
        again = model().for_rewriting.score(
            [original] * len(paraphrases), [paraphrase.text for paraphrase in paraphrases]
        )
        for paraphrase, parts in zip(paraphrases, np.stack(again, axis=1), strict=True):
            np.testing.assert_allclose(paraphrase[1:5], parts)


def test_paraphrases_can_be_ranked_by_pem() -> None:
    (by_pem, *_), (surest, *_) = (
        list(generate_lines(model(), LINES, 64, rank_by=column)) for column in ("pem", "confidence")
    )
    assert sorted(by_pem.paraphrases) == sorted(surest.paraphrases)
    pem = [paraphrase.pem for paraphrase in by_pem.paraphrases]
    assert pem == sorted(pem, reverse=True)
    assert by_pem != surest
    with pytest.raises(InputError, match="rank_by=length: expected one of confidence, pem"):
        list(generate_lines(model(), LINES, rank_by="length"))


def test_the_original_is_never_given_as_its_own_paraphrase() -> None:
    generated = model().generate(LINES, 64, confidence=0.05)
    assert generated[1] == generated[2] == []
    texts = [paraphrase.text for paraphrase in generated[0]]
    assert len(set(texts)) == len(texts) > 1
    for line, paraphrases in zip(LINES, generated, strict=True):
        assert line not in [paraphrase.text for paraphrase in paraphrases]


def test_there_is_a_reason_where_there_is_no_paraphrase() -> None:
    generated = list(generate_lines(model(), LINES, confidence=0.25))
    reasons = [result.reason for result in generated]
    assert reasons[:3] == [None, "the line is empty", "no rewriting reaches confidence 0.25"]
    for result in generated:
        assert (result.reason is None) == bool(result.paraphrases)


def test_threads_and_neighbours_change_nothing() -> None:
    lines = LINES * 20
    single_threaded, three = (list(generate_lines(model(), lines, 3, threads=n)) for n in (1, 3))
    assert single_threaded == three
    assert [result.paraphrases for result in single_threaded[:5]] == model().generate(LINES, 3)


def test_progress_is_told() -> None:
    reports: list[tuple[int, int]] = []
    model().generate(LINES * 10, 1, progress=lambda done, all_, _: reports.append((done, all_)))
    assert reports == [(32, 50), (50, 50)]


def test_long_work_can_be_stopped() -> None:
    def stop() -> None:
        raise Interrupted("stopped")

    assert model().generator is not None
    with pytest.raises(Interrupted):
        find_wordings(model().generator, ["a car " * 100], 5, 0.3, check=stop)  # type: ignore[arg-type]


def test_a_model_that_only_scores_is_refused() -> None:
    with pytest.raises(InputError, match="train it with karat paraphrase train --generate"):
        replace(model(), generator=None).generate(LINES)


def test_without_judgements_there_is_an_order_but_no_score() -> None:
    generator = model().generator
    assert generator is not None
    generated = replace(model(), combination=None).generate(LINES, 3)
    texts = [
        paraphrase.text
        for paraphrase in find_wordings(generator.trusting(), LINES, 128, CONFIDENCE)[0]
    ]
    assert [paraphrase.text for paraphrase in generated[0]] == texts[:3]
    assert np.isnan(generated[0][0].pem)


def test_nothing_but_empty_lines() -> None:
    assert model().generate(["", " "]) == [[], []]
    assert model().generate([]) == []


@pytest.mark.parametrize("n", [0, 129])
def test_numbers_out_of_range(n: int) -> None:
    with pytest.raises(InputError, match="expected 1 <= n <= candidates"):
        model().generate(LINES, n)


def test_too_long_a_line_is_named() -> None:
    lines = ["short"] * 40 + ["word " * (MAX_ORIGINAL_WORDS + 1)]
    with pytest.raises(InputError, match="originals, line 41: 1,001 words, expected at most 1,000"):
        model().generate(lines)


def test_the_longest_line_that_is_allowed() -> None:
    line = "I want to buy a new car. " * 125
    (generated,) = model().generate([line], 2)
    assert len(generated) == 2


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_out_of_range(confidence: float) -> None:
    with pytest.raises(InputError, match="expected 0 to 1"):
        model().generate(LINES, confidence=confidence)


# ------------------------------------------------------------------------------------- writing


def written(original: Original, steps: list[Replacement]) -> str:
    return original.text(original.words_of(steps, lambda _: None))


def test_kept_words_keep_their_case_and_spaces() -> None:
    original = Original.of("The  MAN ,who", ["the", "man", ",", "who"], ["The", "MAN", ",", "who"])
    keep_word = Replacement(1, None)
    assert (
        written(original, [Replacement(1, ("a",)), keep_word, keep_word, keep_word]) == "A MAN ,who"
    )
    assert (
        written(original, [keep_word, Replacement(1, ("old", "man")), keep_word, keep_word])
        == "The old MAN ,who"
    )
    assert (
        written(original, [keep_word, keep_word, Replacement(2, (",", "that"))]) == "The MAN , that"
    )
    assert written(original, [Replacement(2, ("a", "man")), keep_word, keep_word]) == "A MAN ,who"


def test_a_line_in_capitals_stays_so() -> None:
    original = Original.of("BIG DOG!", ["big", "dog", "!"], ["BIG", "DOG", "!"])
    assert (
        written(original, [Replacement(1, ("large",)), Replacement(1, None), Replacement(1, None)])
        == "LARGE DOG!"
    )


def test_what_takes_the_place_of_another_kind_of_word_is_spaced_by_rule() -> None:
    original = Original.of("a, b.", ["a", ",", "b", "."], ["a", ",", "b", "."])
    keep_word = Replacement(1, None)
    assert (
        written(original, [keep_word, Replacement(1, ("and",)), keep_word, keep_word]) == "a and b."
    )
    assert (
        written(original, [keep_word, keep_word, keep_word, Replacement(1, ("now",))]) == "a, b now"
    )


def test_lines_that_lower_case_would_cut_elsewhere_are_written_in_it() -> None:
    original = Original.of("A dog <Skipped>", ["a", "dog"], ["A", "dog", "<Skipped>"])
    assert original.words == ["a", "dog"]
    assert written(original, [Replacement(1, None), Replacement(1, ("cat",))]) == "A cat"


def test_names_keep_their_capitals() -> None:
    text = Strings(["In Paris I saw Paris", "Dogs bark in paris", "The dogs and the Dog I am"])
    assert learn_casing([text], Recipe("13a", "lower")) == {
        "dog": "Dog",
        "i": "I",
        "paris": "Paris",
    }
    assert learn_casing([text], Recipe("13a", "mixed")) == {}
    small = Strings(["in paris i saw", "the dog i saw in paris"] * 9)  # has no capitals at all
    assert learn_casing([text, small], Recipe("13a", "lower")) == {
        "dog": "Dog",
        "i": "I",
        "paris": "Paris",
    }


# ------------------------------------------------------------------------------------- on disk


def test_a_model_comes_back_with_what_it_writes_with(tmp_path: Path) -> None:
    model().save(tmp_path / "m.npz")
    assert PEM.open(tmp_path / "m.npz").generate(LINES[:1]) == model().generate(LINES[:1])
    replace(model(), generator=None).save(tmp_path / "small.npz")
    assert PEM.open(tmp_path / "small.npz").generator is None


def test_damage_is_found(tmp_path: Path) -> None:
    generator = model().generator
    assert generator is not None
    table = generator.rewrites
    broken = {**table.arrays, "edge_pivots": table.arrays["edge_pivots"] + np.int32(1 << 20)}
    bad = replace(generator, rewrites=replace(table, arrays=broken))
    replace(model(), generator=bad).save(tmp_path / "bad.npz")
    with pytest.raises(InputError, match=r"bad\.npz: damaged \(a translation points outside"):
        PEM.open(tmp_path / "bad.npz")


def test_a_language_model_without_numbers_is_found(tmp_path: Path) -> None:
    generator = model().generator
    assert generator is not None
    words = generator.language
    odd = words.arrays["table_2"].copy()
    cell = int(np.flatnonzero(odd[::2] != 2**64 - 1)[0])  # a key (all bits set: empty), p, back-off
    odd.view(np.float32)[4 * cell + 2] = np.nan
    broken = LanguageModel(words.about, {**words.arrays, "table_2": odd})
    replace(model(), generator=replace(generator, language=broken)).save(tmp_path / "bad.npz")
    with pytest.raises(InputError, match=r"bad\.npz: damaged \(its language model has"):
        PEM.open(tmp_path / "bad.npz")
