"""Phrase tables: what is counted is what is found; what is damaged is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.small_tables import PAPER, Counts, phrase_counts, table

from karat.errors import InputError
from karat.paraphrase.pem.features import pivot_statistics
from karat.paraphrase.table.phrase_table import KIND, VERSION, PhraseTable, table_digest
from karat.storage.store import write_store
from karat.text.tokens import Recipe

word = st.text("ab\u00e9\u732b", min_size=1, max_size=2)
phrase = st.lists(word, min_size=1, max_size=4).map(" ".join)
counts = st.dictionaries(
    phrase, st.dictionaries(phrase, st.integers(1, 5), min_size=1, max_size=4), max_size=12
)


@given(counts)
def test_what_is_counted_is_found(given_counts: Counts) -> None:
    phrase_table = table(given_counts)
    assert len(phrase_table) == len(given_counts)
    assert phrase_table.pairs == sum(map(len, given_counts.values()))
    assert phrase_table.total == sum(
        sum(translations.values()) for translations in given_counts.values()
    )
    for e, translations in given_counts.items():
        number = phrase_table.find(e.split())
        assert number is not None
        assert phrase_table.phrase(number) == tuple(e.split())
        N = sum(translations.values())
        assert phrase_table.count(number) == N
        expected = sorted((-n / N, tuple(f.split())) for f, n in translations.items())
        assert [(-p, words) for words, p in phrase_table.translations(number)] == expected
    assert phrase_table.find(["zzz"]) is None
    assert phrase_table.find([]) is None


def test_the_order_of_pairs_and_words_does_not_matter() -> None:
    turned = {
        e: dict(reversed(translations.items())) for e, translations in reversed(PAPER.items())
    }
    first, two = table(PAPER), table(turned)
    assert list(first.arrays) == list(two.arrays)
    for name in first.arrays:
        np.testing.assert_array_equal(first.arrays[name], two.arrays[name])


def test_words_in_no_phrase_are_left_out() -> None:
    counted, source, pivot = phrase_counts(PAPER)
    source.add(["never"])
    assert len(PhraseTable.from_counts(counted, source, pivot).source) == 5


def test_recipes_are_porter_stemmed_english_unless_said() -> None:
    phrase_table = PhraseTable.from_counts(*phrase_counts(PAPER), {"corpora": ["x"]})
    assert phrase_table.recipe == Recipe("13a", "lower", "porter")
    assert phrase_table.about["pivot"] == {"tok": "13a", "case": "lower", "stem": "none"}
    assert phrase_table.about["corpora"] == ["x"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "table.npz"
    table(PAPER).save(path)
    return path


def test_what_is_saved_is_opened(place: Path, tmp_path: Path) -> None:
    phrase_table = PhraseTable.open(place)
    assert phrase_table.about == table(PAPER).about
    assert phrase_table.find(["Hello", ","]) == table(PAPER).find(["Hello", ","])
    phrase_table.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == place.read_bytes()
    assert table_digest(str(place)) == table_digest(str(tmp_path / "again.npz"))


def test_digests_tell_tables_apart(place: Path, tmp_path: Path) -> None:
    table({**PAPER, ".": {".": 51}}).save(tmp_path / "other.npz")
    assert table_digest(str(place)) != table_digest(str(tmp_path / "other.npz"))


NAMES = sorted(set(table(PAPER).arrays))


def saved(path: Path, change: dict[str, Any], about: dict[str, Any] | None = None) -> Path:
    good = table(PAPER)
    write_store(path, KIND, VERSION, {**good.about, **(about or {})}, {**good.arrays, **change})
    return path


@pytest.mark.parametrize("name", NAMES)
def test_an_array_cut_short_is_refused(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path / "x", {name: table(PAPER).arrays[name][:-1].copy()})
    with pytest.raises(InputError, match="x: damaged"):
        PhraseTable.open(path)


@pytest.mark.parametrize("name", NAMES)
def test_an_array_of_another_type_is_refused(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path / "x", {name: table(PAPER).arrays[name].astype(np.float32)})
    with pytest.raises(InputError, match="x: damaged"):
        PhraseTable.open(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("phrase_ids", 99),
        ("phrase_ids", -1),
        ("phrase_offsets", 99),
        ("phrase_counts", 0),
        ("phrase_counts", np.nan),
        ("phrase_counts", np.inf),
        ("phrase_slots", 99),
        ("phrase_slots", -2),
        ("edge_offsets", -5),
        ("edge_pivots", 99),
        ("edge_pivots", -1),
        ("edge_probabilities", 1.5),
        ("edge_probabilities", 0),
        ("edge_probabilities", np.nan),
        ("pivot_phrase_ids", 99),
        ("pivot_phrase_offsets", 3),
    ],
)
def test_numbers_that_point_outside_are_refused(tmp_path: Path, name: str, value: float) -> None:
    array = table(PAPER).arrays[name].copy()
    array[1] = value
    with pytest.raises(InputError, match="x: damaged"):
        PhraseTable.open(saved(tmp_path / "x", {name: array}))


def test_an_index_without_an_empty_place_is_refused(tmp_path: Path) -> None:
    """Looking for a phrase that is not there would never end."""
    with pytest.raises(InputError, match="wrong size"):
        PhraseTable.open(saved(tmp_path / "x", {"phrase_slots": np.array([0, 1], np.int32)}))


@settings(max_examples=150)
@given(place=st.integers(0, 5000), value=st.integers(0, 255))
def test_no_byte_can_do_harm(tmp_path_factory: Any, place: int, value: int) -> None:
    """A changed byte is refused or makes another table; nothing is read out of bounds."""
    path = tmp_path_factory.getbasetemp() / "harmed.npz"
    table(PAPER).save(path)
    data = bytearray(path.read_bytes())
    data[place % len(data)] = value
    path.write_bytes(data)
    with suppress(InputError):
        phrase_table = PhraseTable.open(path)
        stats = pivot_statistics(phrase_table, ["Hello , Querrien ."], ["Morning , sir ."])
        assert np.isfinite(stats).all()


@pytest.mark.parametrize(
    "about",
    [
        {"source": None},
        {"source": {"tok": "13a"}},
        {"pivot": {"tok": "?", "case": "mixed", "stem": "none"}},
    ],
)
def test_unknown_recipes_are_refused(tmp_path: Path, about: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="x: damaged"):
        PhraseTable.open(saved(tmp_path / "x", {}, about))


def test_another_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    for read in (PhraseTable.open, table_digest):
        with pytest.raises(InputError, match="expected a phrase table of Karat"):
            read(str(tmp_path / "x"))
        with pytest.raises(InputError, match="No such file"):
            read(str(tmp_path / "none"))
