"""How a response is laid out for an assessor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.nuggets.judging.asking import Ask
from karat.nuggets.judging.likelihood import spoken
from karat.nuggets.report.asks import heading, laid_out, numbered, page_lines, page_range, telling
from karat.nuggets.sets.keys import Nugget, Question
from karat.nuggets.sets.runs import Response
from karat.report.render.text import Sheet, display_width

LENS = Nugget("1", ("the lens",))
TEXTS = st.text(st.sampled_from("abclens \t設計。ה\u05b7\u202e\x1b\u0301-"), max_size=80)


@given(TEXTS, st.integers(10, 40), st.booleans())
def test_nothing_is_lost_and_all_fits(text: str, width: int, color: bool) -> None:
    words = spoken(text, LENS)
    lines = laid_out(words, Sheet(width, color))
    pieces = [piece for line in lines for piece in line]
    assert sorted({piece.word for piece in pieces}) == list(range(len(words)))
    assert all(pieces[k].word <= pieces[k + 1].word for k in range(len(pieces) - 1))
    shown = page_lines(lines, range(len(lines)), Sheet(width, False))
    assert all(display_width(line) <= width for line in shown)
    assert not set("".join(shown)) & {"\x1b", "\u202e", "\t"}


def response(words: int, speaking: dict[int, str]) -> list[list[object]]:
    """Lines of one word each."""
    text = " ".join(speaking.get(k, "plain") for k in range(words))
    return laid_out(spoken(text, LENS), Sheet(9, True))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("speaking", "expected"),
    [
        ({}, range(10)),
        ({500: "lens"}, range(495, 505)),
        ({0: "lens"}, range(10)),
        ({999: "lens"}, range(990, 1000)),
        ({300: "lens", 700: "lens", 703: "lens"}, range(697, 707)),
    ],
)
def test_a_long_response_is_shown_where_it_speaks(
    speaking: dict[int, str], expected: range
) -> None:
    lines = response(1000, speaking)
    assert len(lines) == 1000
    found = telling(lines, 10)  # type: ignore[arg-type]
    assert len(found) == 10
    assert set(speaking) & set(found) == set(speaking) & set(expected)
    if len(speaking) == 1 and 10 < next(iter(speaking)) < 990:
        assert abs(found.start - expected.start) <= 1  # in the middle


def test_pages_show_everything_and_begin_again() -> None:
    lines = response(25, {})
    pages = [page_range(lines, 10, k) for k in range(4)]  # type: ignore[arg-type]
    assert pages == [range(10), range(10, 20), range(20, 25), range(10)]
    shown = page_lines(lines, pages[1], Sheet(30, False))  # type: ignore[arg-type]
    assert (shown[0], shown[-2]) == ("… 10 lines above", "… 5 lines below")
    assert page_range([], 10, 3) == range(0)
    assert page_lines([], range(0), Sheet(30, False)) == []


def test_stars_where_there_is_no_colour() -> None:
    words = spoken("a lens", LENS)
    for color, expected in ((False, "  a *lens*"), (True, "  a \x1b[36mlens\x1b[0m")):
        sheet = Sheet(40, color)
        lines = laid_out(words, sheet)
        assert page_lines(lines, range(1), sheet) == [expected, ""]


def test_chinese_is_joined_as_it_was() -> None:
    sheet = Sheet(40, False)
    words = spoken("她設計 lens燈塔。", LENS)
    assert page_lines(laid_out(words, sheet), range(1), sheet)[0] == "  她設計 *lens*燈塔。"


def test_words_have_their_own_numbers_on_every_page() -> None:
    text = " ".join(f"w{k}" for k in range(1, 101))
    words, sheet = spoken(text, LENS), Sheet(20, False)
    lines = laid_out(words, sheet)
    (first, *_) = numbered(words, lines, page_range(lines, 3, 1), sheet)
    assert first.split()[0] == f"{lines[3][0].word + 1}:w{lines[3][0].word + 1}"


def test_the_heading_names_all_descriptions() -> None:
    nugget = Nugget("7", ("the\x07lens", "its lamp"), False)
    ask = Ask(Question("q1", (nugget,), "Who?"), nugget, Response("x"), "A", 0.256, 0.1)
    assert heading(ask, 1234, Sheet(60, False)) == [
        "",
        "1,234 to go. Question q1: Who?",
        "",
        "Nugget 7 (okay): the\\x07lens",
        "or: its lamp",
        "",
        "Run A; guessed probability 0.26.",
        "",
    ]
