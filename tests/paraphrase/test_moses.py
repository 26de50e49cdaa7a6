"""Moses phrase tables: read, written, read again; bad lines are named."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.small_tables import PAPER, PLAIN, Counts, table

from karat.errors import InputError
from karat.paraphrase.table.moses import read_moses, write_moses
from karat.paraphrase.table.phrase_table import PhraseTable

ABOUT = {"source": PLAIN, "pivot": PLAIN}
LINES = """\
hello , ||| bonjour , ||| 0.6 0.4 0.9 0.5 ||| 0-0 1-1 ||| 15 10 9
hello , ||| salut , ||| 0.5 0.4 0.1 0.5 ||| 0-0 1-1 ||| 2 10 1 ||| |||
. ||| . ||| 1 1 1 1 |||  ||| 50 50 50
"""


def read(folder: Path, text: str, score: int = 3) -> PhraseTable:
    (folder / "table").write_text(text, "utf-8")
    return read_moses(folder / "table", ABOUT, score=score)


def has_same_arrays(first: PhraseTable, second: PhraseTable) -> bool:
    return all(np.array_equal(first.arrays[name], second.arrays[name]) for name in first.arrays)


def test_the_third_score_and_the_second_count(tmp_path: Path) -> None:
    phrase_table = read(tmp_path, LINES)
    number = phrase_table.find(["hello", ","])
    assert number is not None
    assert phrase_table.count(number) == 10
    assert phrase_table.translations(number) == [(("bonjour", ","), 0.9), (("salut", ","), 0.1)]
    assert phrase_table.total == 60
    other = read(tmp_path, LINES, score=2)
    assert [p for _, p in other.translations(number)] == [0.4, 0.4]


def test_without_counts_every_pair_was_seen_once(tmp_path: Path) -> None:
    bare = "a ||| x ||| 0.1 0.2 0.7\na ||| y ||| 0.1 0.2 0.2\nb ||| x ||| 0.1 0.2 0.9 ||| 0-0\n"
    phrase_table = read(tmp_path, bare)
    assert [phrase_table.count(i) for i in range(2)] == [2, 1]
    assert [p for _, p in phrase_table.translations(0)] == [0.7, 0.2]


word = st.text("ab\u00e9", min_size=1, max_size=2)
phrase = st.lists(word, min_size=1, max_size=3).map(" ".join)
counts = st.dictionaries(
    phrase, st.dictionaries(phrase, st.integers(1, 9), min_size=1, max_size=4), min_size=1
)


@settings(max_examples=30)
@given(counts)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, pair_counts: Counts
) -> None:
    path = tmp_path_factory.getbasetemp() / "moses.txt"
    write_moses(table(pair_counts), path)
    again = read_moses(path, ABOUT)
    assert has_same_arrays(again, table(pair_counts))
    for line in path.read_text("utf-8").splitlines():
        e, f, _, _, counts_text = line.split(" ||| ")
        n_f, n_e, n = map(int, counts_text.split())
        assert n == pair_counts[e][f]
        assert n_e == sum(pair_counts[e].values())
        assert n_f == sum(translations.get(f, 0) for translations in pair_counts.values())


def test_compressed_both_ways(tmp_path: Path) -> None:
    write_moses(table(PAPER), tmp_path / "t.gz")
    assert gzip.decompress((tmp_path / "t.gz").read_bytes()).count(b"\n") == 4
    assert has_same_arrays(read_moses(tmp_path / "t.gz", ABOUT), table(PAPER))


def test_progress_is_reported(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(LINES)
    reports: list[tuple[int, int]] = []
    read_moses(tmp_path / "t", progress=lambda done, all_, _: reports.append((done, all_)))
    assert reports[-1] == (3, 3)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hello", "expected phrase ||| translation ||| scores, found 1 column"),
        ("a ||| b", "found 2 columns"),
        ("||| b ||| 1 1 1", "a phrase of 0 words"),
        ("a ||| ||| 1 1 1", "a translation of 0 words"),
        ("a ||| b ||| 1 1", "2 scores, expected at least 3"),
        ("a ||| b ||| 1 1 x", "found 'x', expected a probability above 0 and up to 1"),
        ("a ||| b ||| 1 1 0", "found '0', expected a probability"),
        ("a ||| b ||| 1 1 1.5", "found '1.5', expected a probability"),
        ("a ||| b ||| 1 1 nan", "found 'nan', expected a probability"),
        ("a ||| b ||| 1 1 1 ||| ||| 3", "one count"),
        ("a ||| b ||| 1 1 1 ||| ||| 3 -1 2", "found '-1', expected a count above 0"),
        ("a ||| b ||| 1 1 1 ||| ||| 3 inf 2", "found 'inf', expected a count above 0"),
        (". ||| . ||| 1 1 1 ||| ||| 1 50 1", "the same pair as line 3"),
        (". ||| ! ||| 1 1 1 ||| ||| 1 40 1", "a count of 40 here and a count of 50 on line 3"),
        (". ||| ! ||| 1 1 1", "no count here and a count of 50 on line 3"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"{LINES}{line}\n")
    assert "table, line 4: " in str(caught.value)
    assert words in str(caught.value)


def test_counts_for_some_phrases_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="some phrases have counts and some have none"):
        read(tmp_path, LINES + "a ||| b ||| 1 1 1\n")


def test_a_word_that_no_moses_file_can_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a Moses file cannot contain the word 'a\|\|\|b'"):
        write_moses(table({"a|||b": {"x": 1}}), tmp_path / "t")
    assert not (tmp_path / "t").exists()
