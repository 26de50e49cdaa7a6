"""Text that tokenisers find difficult, corpora that have something in common, and ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

PIECES: Sequence[str] = (
    *"aAbBzZ019. ,-!\"#$%&'()*+/:;<=>?@[\\]^_`{|}~\t\r\n",
    *("..", ".,.", ",,", "...", "--", "-\n", "- ", "1.5", "1,000.", ".5", "5.", "3-4", "-1", "1-"),
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&apos;", "&", "<skipped>", "<SKIPPED>"),
    *("\xa0", "\u3000", "\u2028", "\u2029", "\x85", "\x1c", "\x1d", "\x1e", "\x1f", "\u200b"),
    *("\ufeff", "\u202f", "\u2009", "\x00", "\x0b", "\x0c", "\x7f"),
    *("e\u0301", "\u0301", "é", "ß", "İ", "I\u0307", "ı", "\u212a", "ſ"),
    *("Σ", "ΑΣ", "ΑΣ.", "ς", "σ"),
    *("中", "文", "，", "。", "、", "「", "㐀", "龥", "龦", "\U00020000", "\U0002f800", "⺀", "〇"),
    *("Ａ", "１", "．", "！", "ｱ", "한", "あ", "ア", "☀", "✂", "⁂", "∑", "€", "£", "¬", "«", "»"),
    *("“", "”", "’", "–", "—", "…", "¿", "٣", "½", "Ⅷ", "²", "〡", "٫", "।", "·"),
    *("😀", "👩\u200d💻", "🇩🇪", "\ud800", "\udfff", "\udc80", "\U0010ffff", "\U000e0001"),
    *("the", "The", "cat", "running", "Studies", "generalizations", "x" * 17, "y" * 40),
)
"""What a text is put together from."""

_pieces = st.sampled_from(PIECES)
hard_text = st.lists(
    st.one_of(_pieces, _pieces, st.characters(exclude_categories=())), max_size=24
).map("".join)
"""Pieces and any characters, lone surrogates included."""

_WORDS = (
    *("the", "a", "of", "cat", "cats", "sat", "mat", "on", "running", "runs", "The", "CAT", "."),
    *(",", "1.5", "mat.", "don't", "don’t", "x-y", "3-4", "&amp;", "中文", "é", "Σ", "😀", "!"),
)
easy_text = st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join)
"""A few words again and again, so that texts have n-grams in common."""

any_text = st.one_of(easy_text, easy_text, hard_text)


class Corpus(NamedTuple):
    """Candidates, and for each of them its references."""

    candidates: list[str]
    references: list[list[str]]


@st.composite
def corpora(
    draw: st.DrawFn,
    text: st.SearchStrategy[str] = any_text,
    segments: int = 5,
    references: int = 4,
    varying: bool = True,
) -> Corpus:
    """A small corpus; with `varying` the number of references differs between segments."""
    number = draw(st.integers(1, references))
    candidates = draw(st.lists(text, min_size=1, max_size=segments))
    groups = []
    for candidate in candidates:
        count = draw(st.integers(1, references)) if varying else number
        pool = st.one_of(text, text, st.just(candidate))
        groups.append(draw(st.lists(pool, min_size=count, max_size=count)))
    return Corpus(candidates, groups)


def summaries(text: st.SearchStrategy[str] = any_text) -> st.SearchStrategy[str]:
    """Sentences with line feeds between them, some of them empty."""
    return st.lists(text, max_size=4).map("\n".join)


def id_rows(alphabet: int, longest: int) -> st.SearchStrategy[list[int]]:
    """Ids for the kernel."""
    return st.lists(st.integers(0, alphabet - 1), max_size=longest)


def float_settings(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers for a setting: round ones, and any between two limits."""
    return st.one_of(
        st.sampled_from([low, high, (low + high) / 2]),
        st.floats(low, high, allow_nan=False, allow_infinity=False, allow_subnormal=False),
    )
