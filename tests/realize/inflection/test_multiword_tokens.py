"""Multiword tokens: of two and three words written as one, and those that do not fit a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from karat.errors import InputError
from karat.realize.orthography import Spacing, format_fused, parse_fused_lines
from karat.realize.treebank import read_treebank


def rows(words: str, first: int = 1) -> str:
    """Return the rows of words; word 1 is the root."""
    return "".join(
        f"{n}\t{word}\t{word}\tX\t_\t_\t{n > 1:d}\tdep\t_\t_\n"
        for n, word in enumerate(words.split(), first)
    )


def token(words: str, text: str) -> str:
    """Return the row of a multiword token."""
    return f"{words}\t{text}\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"


def test_three_words_are_written_as_one(tmp_path: Path) -> None:
    three, two = token("1-3", "dámelo") + rows("da me lo ."), token("1-2", "dáme") + rows("da me .")
    (tmp_path / "t").write_text("\ufeff" + f"{three}\n{two}\n" * 9, "utf-8")
    bank = read_treebank(tmp_path / "t")
    learned = Spacing.train(bank.words, bank.upos, bank.surfaces, bank.offsets)
    assert learned.fused == {("da", "me", "lo"): "dámelo", ("da", "me"): "dáme"}
    assert parse_fused_lines(format_fused(learned.fused)) == learned.fused
    words = ["Da", "me", "lo", ".", "da", "me", ".", "da"]
    assert learned.text(words, ["X"] * 8, np.array([0, 4, 7, 8])) == ["Dámelo.", "dáme.", "da"]


def test_words_have_spaces_between_them_if_no_gap_was_ever_seen(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(f"{rows('yes')}\n" * 9, "utf-8")
    bank = read_treebank(tmp_path / "t")
    learned = Spacing.train(bank.words, bank.upos, bank.surfaces, bank.offsets)
    assert learned.text(["it", "rains"], ["X", "X"], np.array([0, 2])) == ["it rains"]


@pytest.mark.parametrize("line", ["a\tab", "a"])
def test_a_line_of_less_than_two_words_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="unpack"):
        parse_fused_lines(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (token("1-9", "ab") + rows("a b") + "\n" + rows("c"), 1),
        (token("1-2", "ab") + rows("a") + token("2-3", "bc") + rows("b c", 2), 1),
        (rows("a b") + token("1-2", "ab") + "\n" + rows("c d"), 3),
        (rows("a b") + token("3-4", "ab") + "\n" + rows("c d"), 3),
        (token("2-1", "ab") + rows("a b"), 1),
    ],
)
def test_a_token_apart_from_its_words_is_refused(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "t").write_text(f"{text}\n")
    with pytest.raises(InputError, match=rf"t, line {line}: a multiword token is separated from"):
        read_treebank(tmp_path / "t")
