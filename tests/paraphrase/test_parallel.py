"""Parallel text: two files or two columns, several texts at once, each side by its own recipe."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.paraphrase.align.parallel_text import parallel_tokens, read_parallel
from karat.text.tokens import Recipe, Tokens

ENGLISH, FRENCH = "The cats sat.\nHello!\n", "Les chats.\nBonjour !\n"
EN, FR = Recipe("13a", "lower", "porter"), Recipe("none", "mixed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "en.txt").write_text(ENGLISH)
    (tmp_path / "fr.gz").write_bytes(gzip.compress(FRENCH.encode()))
    rows = zip(ENGLISH.splitlines(), FRENCH.splitlines(), strict=True)
    (tmp_path / "both.tsv").write_text("".join(f"{e}\t{f}\n" for e, f in rows))
    return tmp_path


def words(tokens: Tokens) -> list[list[str]]:
    return [tokens[i] for i in range(len(tokens))]


def test_two_files_and_two_columns_are_the_same(folder: Path) -> None:
    files = read_parallel(folder / "en.txt", folder / "fr.gz")
    columns = read_parallel(folder / "both.tsv")
    for text in (files, columns):
        source, pivot = parallel_tokens([text], EN, FR)
        assert words(source) == [["the", "cat", "sat", "."], ["hello", "!"]]
        assert words(pivot) == [["Les", "chats."], ["Bonjour", "!"]]


def test_several_texts_share_their_words(folder: Path) -> None:
    text = read_parallel(folder / "both.tsv")
    source, pivot = parallel_tokens([text, text], EN, FR)
    assert len(source) == len(pivot) == 4
    assert words(source)[2:] == words(source)[:2]
    assert source.ids[:6].tolist() == source.ids[6:].tolist()
    assert source.offsets.tolist() == [0, 4, 6, 10, 12]


def test_one_column_or_three(folder: Path) -> None:
    for bad, columns in (("a", "1 column"), ("a\tb\tc", "3 columns"), ("", "1 column")):
        (folder / "bad.tsv").write_text(f"x\ty\n{bad}\n")
        with pytest.raises(InputError, match=rf"bad\.tsv, line 2: found {columns}, expected two "):
            read_parallel(folder / "bad.tsv")


def test_unequal_files(folder: Path) -> None:
    (folder / "short.txt").write_text("Les chats.\n")
    with pytest.raises(InputError, match=r"en\.txt has 2 segments and .*short\.txt has 1 segment"):
        read_parallel(folder / "en.txt", folder / "short.txt")


def test_no_text_and_standard_input_twice() -> None:
    with pytest.raises(InputError, match="no parallel text was given"):
        parallel_tokens([], EN, FR)
    with pytest.raises(InputError, match="named twice"):
        read_parallel("-", "-")
