"""From parallel text to a phrase table, on the bundled text and on toys."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from karat.errors import InputError
from karat.paraphrase.align.parallel_text import Links, Parallel, read_parallel
from karat.paraphrase.pem.features import PivotSettings, pivot_statistics, pooled_f1
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.paraphrase.table.training import train_pivot
from karat.text.segments import Strings
from karat.text.tokens import Recipe

WORDS = Recipe("none")


def toy(source: list[str], pivot: list[str]) -> Parallel:
    return Parallel(Strings(source, "toy.en"), Strings(pivot, "toy.fr"))


def test_given_links_make_the_table() -> None:
    text = toy(["a b", "a c", "a"], ["x y", "x z", "v"])
    links = Links.of([[(0, 0), (1, 1)], [(0, 0), (1, 1)], [(0, 0)]])
    phrase_table = train_pivot([text], WORDS, WORDS, links=links)
    number = phrase_table.find(["a"])
    assert number is not None
    assert phrase_table.count(number) == 3
    assert phrase_table.translations(number) == [(("x",), 2 / 3), (("v",), 1 / 3)]
    assert phrase_table.find(["a", "b"]) is not None
    assert phrase_table.about["corpora"] == [{"source": "toy.en", "pivot": "toy.fr", "segments": 3}]
    assert "aligner" not in phrase_table.about


def test_several_texts_are_one() -> None:
    sides = ["the dog", "the cat", "a dog"], ["le chien", "le chat", "un chien"]
    joined_table = train_pivot([toy(*sides)], WORDS, WORDS)
    parts = [toy(sides[0][:2], sides[1][:2]), toy(sides[0][2:], sides[1][2:])]
    both = train_pivot(parts, WORDS, WORDS)
    for name, array in joined_table.arrays.items():
        np.testing.assert_array_equal(array, both.arrays[name])
    assert len(both.about["corpora"]) == 2
    assert both.about["aligner"].startswith("fertility-joint:")


@pytest.fixture(scope="module")
def bundled() -> PhraseTable:
    with resources.as_file(resources.files("karat") / "data" / "paraphrase" / "en-fr.tsv") as path:
        return train_pivot([read_parallel(path)])


def test_the_bundled_text_finds_paraphrases(bundled: PhraseTable) -> None:
    """Other words for the same thing share pivot n-grams; other things do not."""
    original = ["I want to buy a new car."] * 2
    other_texts = ["I would like to purchase a new automobile.", "She was born in the spring."]
    alike, unlike = pooled_f1(
        pivot_statistics(bundled, original, other_texts, PivotSettings(renormalise=True))
    )
    assert alike > 0.6
    assert unlike < 0.3


def test_threads_change_nothing(bundled: PhraseTable, tmp_path: Path) -> None:
    with resources.as_file(resources.files("karat") / "data" / "paraphrase" / "en-fr.tsv") as path:
        again = train_pivot([read_parallel(path)], threads=3)
    bundled.save(tmp_path / "one")
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("sides", [([""], ["x"]), (["a"], [""])])
def test_nothing_to_link(sides: tuple[list[str], list[str]]) -> None:
    with pytest.raises(InputError, match="no phrase pair was found"):
        train_pivot([toy(*sides)], WORDS, WORDS)


def test_stop_words_are_refused() -> None:
    with pytest.raises(InputError, match="stop=en: phrase tables keep all words"):
        train_pivot([toy(["a"], ["b"])], Recipe(stop="en"))
