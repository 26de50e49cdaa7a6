"""Each tokeniser gives exactly the tokens of the tool that defined it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from oracles import definers
from oracles.definers import TOKENIZERS
from oracles.strategies import hard_text

from karat import _kernel
from karat.errors import InputError
from karat.text.tokens import Tokens, Vocab, tokenize


@pytest.fixture(autouse=True, scope="module")
def _forget() -> Iterator[None]:
    yield
    definers.forget()


def cut(text: str, tok: str, case: str = "mixed") -> list[str]:
    """Karat's tokens of one text."""
    return tokenize([text], tok, case)[0]


KNOWN = [
    *("", " ", "\n", ".", ",", "-", "1.5", ".5", "5.", "1.", "1. ", "a.", ".a", "1.a", "a.1"),
    *("1..2", "1.,2", "a..1", "1...2", "..5", "5..", "...", "1-2", "1--2", "a-1", "1-", "1-.5"),
    *("3.-4", "&quot;x&quot;", "&amp;lt;", "&amp;quot;", "&lt;skipped&gt;", "a&b", "&AMP;"),
    *("<skipped>", "a<skipped>b", "<skip<skipped>ped>", "1<skipped>.5", "x-\ny", "x-\n", "-\n-\n"),
    *("1-\n.5", "a\nb", "a\r\nb", "\xa0.5", "1\u3000.5", "\u2028", "a\x1cb", "a\x85b", "a\u200bb"),
    *(
        "Kelvin \u212a",
        "\u0130stanbul",
        "ΑΣ ΑΣ. ΑΣΑ",
        "中文，1.5。",
        "。.5",
        "𠀀𠀁",
        "Ａ．５",
        "5．",
    ),
    *("'s", "(hi)", "!?", "a" * 16, "a" * 17, "٣٫١٤", "½.½", "€5.00", "\ud800.\udfff", "a\x00b"),
]


@pytest.mark.parametrize("tok", TOKENIZERS)
@pytest.mark.parametrize("text", KNOWN)
def test_known_difficulties(tok: str, text: str) -> None:
    assert cut(text, tok) == definers.words(tok, text)
    assert cut(text, tok, "lower") == definers.words(tok, text, lower=True)


@pytest.mark.parametrize("tok", TOKENIZERS)
@given(text=hard_text)
@settings(max_examples=300)
def test_equal_to_the_definer(tok: str, text: str) -> None:
    assert cut(text, tok) == definers.words(tok, text)


@pytest.mark.parametrize("tok", TOKENIZERS)
@given(text=hard_text)
@settings(max_examples=100)
@example("ΟΔΟΣ ΣΑΣ")
@example("<SKIPPED>")
def test_equal_to_the_definer_in_lower_case(tok: str, text: str) -> None:
    assert cut(text, tok, "lower") == definers.words(tok, text, lower=True)


def kernel_words(text: str, tok: str) -> list[str]:
    """The tokens of a tokeniser that only the kernel knows by name."""
    vocab = _kernel.Vocab()
    ids, _ = _kernel.tokenize(_kernel.Views.from_strings([text], 0, 1), vocab, tok)
    words = vocab.words(0, len(vocab))
    return [words[i] for i in ids.tolist()]


@given(text=hard_text)
@settings(max_examples=300)
@example("(hi) 's -- - a. .a é! !é 。!")
def test_the_words_of_chrf(text: str) -> None:
    assert kernel_words(text, "chrf") == definers.chrf_words(text)


@pytest.mark.parametrize("space", [False, True])
@given(text=hard_text)
@settings(max_examples=200)
def test_the_characters_of_chrf(space: bool, text: str) -> None:
    ids, offsets = _kernel.codepoints(_kernel.Views.from_strings([text], 0, 1), space)
    assert ids.tolist() == [ord(c) for c in (text if space else "".join(text.split()))]
    assert offsets.tolist() == [0, len(ids)]


# --------------------------------------------------------------------- every code point there is

EVERY = range(0x110000)
CHUNK = 8192


_SPECIAL = regex.compile(r"\p{P}|\p{S}|\p{N}|\p{Z}|\p{Cc}|\p{Cf}")
TELLING = [chr(c) for c in EVERY if c % 97 == 0 or _SPECIAL.match(chr(c))]
"""Code points that are likely to be treated in a way of their own, and a sample of the others."""


def every_character(pattern: str) -> list[str]:
    """Texts that hold every code point in its company, thousands to a text."""
    parts = [pattern.replace("_", chr(c)) for c in EVERY]
    return ["".join(parts[at : at + CHUNK]) for at in range(0, len(parts), CHUNK)]


def same_tokens(texts: list[str], tok: str) -> None:
    """The definer's line, split at white space, must give the same ids."""
    vocab = Vocab()
    tokens = tokenize(texts, tok, vocab=vocab)
    expected_tokens = tokenize([definers.cut(tok, text) for text in texts], "none", vocab=vocab)
    bad = [
        i for i in range(len(texts)) if not np.array_equal(row(tokens, i), row(expected_tokens, i))
    ]
    assert not bad, (texts[bad[0]][:200], tokens[bad[0]][:50], expected_tokens[bad[0]][:50])


def row(tokens: Tokens, i: int) -> np.ndarray:
    """The ids of one text."""
    return tokens.ids[tokens.offsets[i] : tokens.offsets[i + 1]]


def test_white_space_is_pythons() -> None:
    texts = every_character("a_1")
    tokens = tokenize(texts, "none")
    words = tokens.vocab.words(0, len(tokens.vocab))
    for i, text in enumerate(texts):
        assert [words[k] for k in row(tokens, i).tolist()] == text.split()


@pytest.mark.parametrize("space", [" ", "  ", "\t", "\x1c", "\x85", "\u2003", "\u3000", "\u2019"])
def test_white_space_anywhere_in_a_block(space: str) -> None:
    """Text is looked at 64 bytes at a time; no place in such a block is special."""
    texts = ["a" * before + space + "b" * after for before in range(130) for after in (0, 1, 70)]
    tokens = tokenize(texts, "none")
    assert [tokens[i] for i in range(len(texts))] == [text.split() for text in texts]


@pytest.mark.parametrize("tok", [tok for tok in TOKENIZERS if tok != "none"])
def test_every_character_in_company(tok: str) -> None:
    same_tokens(every_character("a_." if tok == "intl" else "a_1"), tok)


@pytest.mark.parametrize("tok", TOKENIZERS)
def test_telling_characters_in_all_kinds_of_company(tok: str) -> None:
    patterns = "a{c}b 1{c}2 {c}.5 5.{c} {c}{c} 1{c}.a {c}-1 1-{c} .{c}, {c}"
    parts = [patterns.format(c=c) for c in TELLING]
    texts = ["".join(parts[k : k + 99]) for k in range(0, len(parts), 99)]
    same_tokens(texts, tok)


@pytest.mark.parametrize("tok", TOKENIZERS)
@pytest.mark.parametrize("pattern", ["{c}", "{c}1", "1{c}"])
def test_telling_characters_at_the_ends_of_the_line(tok: str, pattern: str) -> None:
    same_tokens([pattern.format(c=c) for c in TELLING], tok)


def test_telling_characters_as_part_of_a_chrf_word() -> None:
    text = " ".join(f"{c} a{c} {c}a {c}. !{c} {c}{c}" for c in TELLING)
    assert kernel_words(text, "chrf") == definers.chrf_words(text)


# ----------------------------------------------------------------------------- what is refused


def test_unknown_tokenizers_and_cases_are_refused() -> None:
    with pytest.raises(InputError, match="tok=14a: expected one of 13a, intl"):
        tokenize(["a"], "14a")
    with pytest.raises(InputError, match="case=upper: expected one of mixed, lower"):
        tokenize(["a"], case="upper")
    with pytest.raises(InputError, match="texts is one str: give a list of strings"):
        tokenize("a b c")
    with pytest.raises(InputError, match=r"texts\[1\] is int, expected str"):
        tokenize(["a", 1])  # type: ignore[list-item]
