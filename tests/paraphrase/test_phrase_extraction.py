"""Phrases and joined alignments against their definitions; links as text; bad input."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import phrase_spans as oracle

from karat.errors import InputError
from karat.paraphrase.align.parallel_text import (
    RULES,
    Links,
    pharaoh_lines,
    read_pharaoh,
    symmetrize,
)
from karat.paraphrase.table import training as extract
from karat.paraphrase.table.phrase_table import PhraseCounts
from karat.paraphrase.table.training import extract_phrases
from karat.text.tokens import Tokens, Vocab, tokenize

Sentence = tuple[list[int], list[int], set[tuple[int, int]]]


def of_ids(rows: list[list[int]]) -> Tokens:
    vocab = Vocab()
    vocab.add([f"w{i}" for i in range(8)])
    ids = np.array([i for row in rows for i in row], dtype=np.int32)
    return Tokens(ids, np.cumsum([0, *map(len, rows)]).astype(np.int64), vocab)


def texts(sentence_pairs: list[Sentence]) -> tuple[Tokens, Tokens, Links]:
    links = Links.of(sorted(pairs) for _, _, pairs in sentence_pairs)
    return (
        of_ids([s for s, _, _ in sentence_pairs]),
        of_ids([p for _, p, _ in sentence_pairs]),
        links,
    )


def as_counter(phrase_counts: PhraseCounts) -> Counter[tuple[tuple[int, ...], tuple[int, ...]]]:
    counts: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for k in range(len(phrase_counts)):
        source = phrase_counts.source_ids[
            phrase_counts.source_offsets[k] : phrase_counts.source_offsets[k + 1]
        ]
        pivot = phrase_counts.pivot_ids[
            phrase_counts.pivot_offsets[k] : phrase_counts.pivot_offsets[k + 1]
        ]
        counts[tuple(source.tolist()), tuple(pivot.tolist())] = int(phrase_counts.counts[k])
    return counts


@st.composite
def linked(draw: st.DrawFn) -> Sentence:
    row = st.lists(st.integers(0, 3), max_size=7)
    source, pivot = draw(row), draw(row)
    cells = [(i, j) for i in range(len(source)) for j in range(len(pivot))]
    pairs = draw(st.sets(st.sampled_from(cells), max_size=7)) if cells else set()
    return source, pivot, pairs


# ---------------------------------------------------------------------------------- extraction


def test_the_words_of_a_textbook() -> None:
    # The example of Koehn's textbook, "Statistical Machine Translation", chapter 5.
    source = "michael geht davon aus , dass er im haus bleibt"
    pivot = "michael assumes that he will stay in the house"
    links = {(0, 0), (1, 1), (2, 1), (3, 1), (5, 2), (6, 3), (9, 4), (9, 5), (7, 6), (7, 7), (8, 8)}
    s, p = tokenize([source], tok="none"), tokenize([pivot], tok="none")
    phrases = as_counter(extract_phrases(s, p, Links.of([sorted(links)])))

    def has(a: str, b: str) -> bool:
        ids = (tuple(t.vocab.find(x.split()).tolist()) for t, x in ((s, a), (p, b)))
        return tuple(ids) in phrases

    assert has("michael", "michael")
    assert has("geht davon aus", "assumes")
    assert has("geht davon aus ,", "assumes")  # the comma has no link and may be had or not
    assert has("dass", "that")
    assert has(", dass", "that")
    assert has("im haus bleibt", "will stay in the house") is False  # five words
    assert has("bleibt", "will stay")
    assert has("geht", "assumes") is False


@given(st.lists(linked(), max_size=4), st.integers(1, 5))
def test_every_consistent_pair_of_spans(sentence_pairs: list[Sentence], longest: int) -> None:
    expected: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for sentence in sentence_pairs:
        expected += oracle.phrase_pairs(*sentence, longest)
    phrases = extract_phrases(*texts(sentence_pairs), longest, threads=1)
    counts = as_counter(phrases)
    assert counts == expected
    assert list(counts) == sorted(expected)  # each pair once, in order
    assert len(phrases) == len(expected)


@pytest.mark.parametrize("most_rows", [0, 1, 7, 100])
def test_runs_on_disk_change_nothing(monkeypatch: pytest.MonkeyPatch, most_rows: int) -> None:
    rng = np.random.default_rng(5)
    sentence_pairs: list[Sentence] = []
    for _ in range(40):
        n, m = rng.integers(0, 9, 2).tolist()
        cells = {(int(rng.integers(n)), int(rng.integers(m))) for _ in range(5 * bool(n and m))}
        sentence_pairs.append(
            (rng.integers(0, 4, n).tolist(), rng.integers(0, 4, m).tolist(), cells)
        )
    expected = extract_phrases(*texts(sentence_pairs))
    monkeypatch.setattr(extract, "_SENTENCES", 3)
    monkeypatch.setattr(extract, "_PIECE", 5)
    for threads in (1, 3):
        phrases = extract_phrases(*texts(sentence_pairs), most_rows=most_rows, threads=threads)
        for name in PhraseCounts.__dataclass_fields__:
            actual, expected_value = getattr(phrases, name), getattr(expected, name)
            np.testing.assert_array_equal(actual, expected_value)
            assert actual.dtype == expected_value.dtype


def test_the_types_that_are_promised() -> None:
    phrases = extract_phrases(*texts([([0], [1], {(0, 0)})]))
    kinds = [str(getattr(phrases, name).dtype) for name in PhraseCounts.__dataclass_fields__]
    assert kinds == ["int32", "int64", "int32", "int64", "int64"]
    empty = extract_phrases(*texts([]))
    assert len(empty) == 0
    assert empty.source_offsets.tolist() == [0]


# ------------------------------------------------------------------------------- symmetrisation


@given(linked(), st.data())
def test_rules(sentence: Sentence, data: st.DataObject) -> None:
    source, pivot, first = sentence
    cells = [(i, j) for i in range(len(source)) for j in range(len(pivot))]
    second = data.draw(st.sets(st.sampled_from(cells), max_size=9)) if cells else set()
    n, m = len(source), len(pivot)
    expected = {
        "intersection": first & second,
        "union": first | second,
        "grow-diag": oracle.grow_diag(n, m, first, second),
        "grow-diag-final-and": oracle.grow_diag_final_and(n, m, first, second),
    }
    assert set(expected) == set(RULES)
    both = Links.of([sorted(first)]), Links.of([sorted(second)])
    for rule, links in expected.items():
        symmetrized = symmetrize(of_ids([source]), of_ids([pivot]), *both, rule)
        assert symmetrized[0] == sorted(links)


def test_an_unknown_rule() -> None:
    nothing = Links.of([[]])
    with pytest.raises(InputError, match="rule=grow: expected one of intersection, "):
        symmetrize(of_ids([[0]]), of_ids([[0]]), nothing, nothing, "grow")


# ------------------------------------------------------------------------------- links as text


Rows = list[list[tuple[int, int]]]


@given(rows=st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)))))
def test_pharaoh_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: Rows) -> None:
    path = tmp_path_factory.mktemp("links") / "links.txt"
    links = Links.of([*rows, [(0, 0)]])
    path.write_text("".join(pharaoh_lines(links)))
    again = read_pharaoh(path)
    for name in ("source", "pivot", "offsets"):
        np.testing.assert_array_equal(getattr(again, name), getattr(links, name))


def test_pharaoh_as_it_is_written(tmp_path: Path) -> None:
    links = Links.of([[(0, 0), (1, 2)], [], [(10, 3)]])
    (tmp_path / "links.txt").write_text("".join(pharaoh_lines(links)))
    assert (tmp_path / "links.txt").read_text() == "0-0 1-2\n\n10-3\n"
    (tmp_path / "links.gz").write_bytes(gzip.compress(b"0-0\r\n 1-1  2-2 \n"))
    assert list(read_pharaoh(tmp_path / "links.gz")) == [[(0, 0)], [(1, 1), (2, 2)]]


@pytest.mark.parametrize("bad", ["0-0 1", "a-b", "0-0 1--2", "1-", "-1-2", "0-0-0", "9999999999-0"])
def test_what_are_no_links(tmp_path: Path, bad: str) -> None:
    (tmp_path / "bad.txt").write_text(f"0-0\n{bad}\n")
    with pytest.raises(InputError, match=r"bad\.txt, line 2: found .*, expected links as in 0-0"):
        read_pharaoh(tmp_path / "bad.txt")


@pytest.mark.parametrize(
    ("links", "sentence"),
    [
        ([[(0, 0)]], "the texts have 2 sentences and the links 1: "),
        ([[(0, 0)], [(1, 0)]], "sentence 2: a link names source word 1, and there are 1, "),
        ([[(0, 2)], []], "sentence 1: a link names pivot word 2, and there are 2, "),
        ([[(-1, 0)], []], "sentence 1: a link names source word -1, "),
    ],
)
def test_links_of_other_texts(links: list[list[tuple[int, int]]], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        extract_phrases(of_ids([[0, 1], [2]]), of_ids([[0, 1], [2]]), Links.of(links))


def test_no_words_at_all() -> None:
    with pytest.raises(InputError, match="longest=0: expected at least one word"):
        extract_phrases(*texts([]), 0)
