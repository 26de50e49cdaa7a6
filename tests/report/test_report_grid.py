"""The bitext grid and the edit alignment, drawn with letters, as SVG and as markup."""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.explanation import ExplainedSegment, SegmentExplanations
from karat.metrics.gtm import Explanation
from karat.report.render.renderers import render
from karat.report.render.text import TextLayout, display_width, split_letters
from karat.report.segment.document import grid_caption
from karat.report.segment.svg import edits_html, edits_story, edits_svg, grid_svg
from karat.report.segment.text import COUNTED, CUT, HIT, PARED, draw_edits, draw_grid

SVG = "{http://www.w3.org/2000/svg}"
LETTERS = ("a", "b", "c", "│", "日本", "e\u0301", "<i>")
WORDS = st.lists(st.sampled_from(LETTERS), max_size=9).map(" ".join)
ANY_WORDS = st.lists(st.text(st.characters(), max_size=6), max_size=6).map(" ".join)
PLAIN = TextLayout(80, False)


def explained(candidate: str, *references: str, **settings: float | str) -> Explanation:
    return kt.GTM(**{"e": 2, **settings}).explain(candidate, references)


def paper_example() -> Explanation:
    """The paper's three references with a cap of five."""
    return explained("G H I J L M C D E K", "A B C D E", "F G H I J", "K L M N P")


# ------------------------------------------------------------------------------ with letters


def test_the_papers_example_drawn_with_letters() -> None:
    assert draw_grid(paper_example(), PLAIN) == [
        "  A B C D E │ F G H I J │ K L M N P",
        "G           │   ■       │",
        "H           │     ■     │",
        "I           │       ■   │",
        "J           │         ■ │",
        "L           │           │   □",
        "M           │           │     □",
        "C     ■     │           │",
        "D       □   │           │",
        "E         □ │           │",
        "K           │           │ □",
        "",
        "■ counts; □ given up to the cap; │ barrier between references",
    ]


def test_a_hit_that_counts_in_part_and_one_that_is_not_chosen() -> None:
    cut = "".join(draw_grid(explained("a b c d", "a b c", "a b"), PLAIN))
    assert (cut.count(COUNTED), cut.count(CUT)) == (3, 2)  # once each in the legend
    other = "\n".join(draw_grid(explained("the the", "the"), PLAIN))
    assert f"{HIT} a hit that is not chosen" in other
    assert PARED not in other


def test_a_wide_grid_is_drawn_in_bands() -> None:
    lines = draw_grid(
        explained("x y", " ".join("abcdefghijklmnop") + " x y"), TextLayout(20, False)
    )
    assert lines[:7] == [
        "  a b c d e f g h i",
        "x",
        "y",
        "",
        "  j k l m n o p x y",
        "x" + " " * 15 + "■",
        "y" + " " * 17 + "■",
    ]
    assert max(map(display_width, lines)) <= 20


@pytest.mark.parametrize("texts", [("", "a"), ("a", ""), ("", "")])
def test_a_side_without_words_is_said(texts: tuple[str, str]) -> None:
    assert draw_grid(explained(*texts), PLAIN) == ["no words on one side: nothing to match"]


def test_what_is_too_large_for_letters_is_said() -> None:
    message = " ".join(draw_grid(explained("a " * 300, "a " * 200), PLAIN))
    assert message.startswith("300 x 200 words are too many to draw with letters: write")
    lines = draw_edits(kt.alignment("a " * 6000, "a"), PLAIN)
    assert lines == ["6,000 steps are too many to draw here"]


@given(ANY_WORDS, st.lists(ANY_WORDS, min_size=1, max_size=3), st.integers(24, 120))
def test_drawings_with_letters_fit_and_hold_no_control_characters(
    candidate: str, references: list[str], width: int
) -> None:
    try:
        explanation = explained(candidate, *references)
    except kt.InputError:  # a lone surrogate
        return
    edits = explanation.edits()
    for draw in (
        lambda layout: draw_grid(explanation, layout),
        lambda layout: draw_edits(edits, layout),
    ):
        plain = draw(TextLayout(width, False))
        for line in plain:
            assert display_width(line) <= max(width, 24)
            assert not [c for c in line if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]
        coloured = [re.sub(r"\x1b\[[0-9]*m", "", line) for line in draw(TextLayout(width, True))]
        assert coloured == plain


def test_edits_drawn_with_letters() -> None:
    alignment = kt.alignment("a long x b", "a b c b d")
    assert draw_edits(alignment, PLAIN)[:3] == [
        "reference  a b    c b d",
        "             S    S   D",
        "candidate  a long x b",
    ]
    moved = kt.alignment("b c d e a", "a b c d e")
    assert draw_edits(moved, PLAIN)[:3] == [
        "reference  a  b c d e",
        "           M1         M1",
        "candidate     b c d e a",
    ]


def test_letters_keep_their_marks() -> None:
    assert split_letters("e\u0301a日") == ["e\u0301", "a", "日"]


# ------------------------------------------------------------------------------------ as SVG


def test_the_drawing_shows_every_run_and_names_it() -> None:
    root = ET.fromstring(grid_svg(paper_example(), "T"))
    runs = [group for group in root.iter(f"{SVG}g") if group.get("class") == "run"]
    assert [run.get("aria-label") for run in runs] == [
        "G H I J: 4 words, candidate 1-4, words 2-5 of reference 2",
        "C D E: 3 words, candidate 7-9, words 3-5 of reference 1; counts as 1",
        "L M: 2 words, candidate 5-6, words 2-3 of reference 3; counts as 0",
        "K: 1 word, candidate 10, word 1 of reference 3; counts as 0",
    ]
    dashed = [line for line in root.iter(f"{SVG}line") if line.get("stroke-dasharray")]
    assert len(dashed) == 2  # the barriers between three references


def test_a_run_lies_where_its_words_are() -> None:
    explanation = explained("x a b", "a b y")
    root = ET.fromstring(grid_svg(explanation, "T"))
    edge = next(rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "edge")
    left, top, wide = (float(edge.get(name) or 0) for name in ("x", "y", "width"))
    cell = wide / 3
    (run,) = (group for group in root.iter(f"{SVG}g") if group.get("class") == "run")
    area = run.find(f"{SVG}rect")
    assert area is not None
    place = [float(area.get(name) or 0) for name in ("x", "y", "width", "height")]
    assert place == pytest.approx([left, top + cell, 2 * cell, 2 * cell], abs=0.02)
    words = [text.text for text in root.iter(f"{SVG}text") if text.get("data-row")]
    assert words == ["x", "a", "b"]


def test_long_texts_have_numbers_instead_of_words_and_no_hits_beyond_the_limit() -> None:
    explanation = explained("a " * 400, "a " * 400)
    root = ET.fromstring(grid_svg(explanation, "T"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "160,000 hits are too many to draw" in texts
    assert "100" in texts
    assert "a" not in texts
    assert list(root.iter(f"{SVG}path")) == []


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_every_drawing_is_well_formed(candidate: str, references: list[str]) -> None:
    explanation = explained(candidate, *references)
    for drawing in (grid_svg(explanation, "<T>"), edits_svg(explanation.edits(), "<T>")):
        assert ET.fromstring(drawing).findtext(f"{SVG}title") == "<T>"
    document = SegmentExplanations(
        "x", kt.metric("gtm"), (ExplainedSegment(1, explanation),)
    ).document("karat")
    ET.fromstring(render(document, "svg"))


def test_references_without_room_for_their_names_have_their_numbers() -> None:
    root = ET.fromstring(grid_svg(explained("a", "a", " ".join("bcdefgh")), "T"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[texts.index("h") + 1 :][:2] == ["1", "reference 2"]


def test_words_that_read_like_signs_are_drawn_as_words() -> None:
    alignment = kt.alignment("b c d e S", "D b c d e M1 S")
    texts = ET.fromstring(edits_svg(alignment, "T")).iter(f"{SVG}text")
    looks = [(text.text, text.get("font-size"), text.get("text-decoration")) for text in texts]
    assert looks.count(("D", "12", "line-through")) == 1
    assert looks.count(("D", "10", None)) == 2
    assert looks.count(("M1", "12", "line-through")) == 1


def test_a_moved_word_is_struck_out_here_and_underlined_there() -> None:
    texts = ET.fromstring(edits_svg(kt.alignment("b c d a", "a b c d"), "T")).iter(f"{SVG}text")
    assert [t.get("text-decoration") for t in texts if t.text == "a"] == [
        "line-through",
        "underline",
    ]


def test_a_drawing_by_itself_knows_the_dark() -> None:
    drawing = render(
        SegmentExplanations(
            "x", kt.metric("gtm"), (ExplainedSegment(1, paper_example()),)
        ).document("karat"),
        "svg",
    )
    root = ET.fromstring(drawing)
    style = root.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in style
    used = set(re.findall(r"var\((--\w+),", drawing))
    assert used
    assert [name for name in used if f"{name}:" not in style] == []


def test_a_document_without_figures_cannot_be_drawn() -> None:
    from karat.report.model import Document

    with pytest.raises(kt.InputError, match="no figure to draw"):
        render(Document("T", (), "karat", {}), "svg")


# ---------------------------------------------------------------------------------- as markup


class Steps(HTMLParser):
    """The steps of an edit alignment: class, what is read out, what is seen."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.steps: list[tuple[str, str, list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if attributes.get("role") == "listitem":
            self.steps.append(
                (attributes.get("class") or "", attributes.get("aria-label") or "", [])
            )

    def handle_data(self, data: str) -> None:
        if self.steps:
            self.steps[-1][2].append(data)


def test_steps_are_read_out_as_sentences() -> None:
    steps = Steps(edits_html(kt.alignment("b c d e a <x>", "a b c d e")))
    assert [(kind, sentences) for kind, sentences, _ in steps.steps] == [
        ("step delete move", "a is deleted (move 1)"),
        *(("step keep", f"{word} stays") for word in "bcde"),
        ("step insert move", "a is inserted (move 1)"),
        ("step insert", "<x> is inserted"),
    ]
    assert steps.steps[0][2][:3] == ["a", "M1", "\xa0"]


def test_the_story_tells_what_changes() -> None:
    assert edits_story(kt.alignment("a b", "a b")) == "2 words stay; nothing changes."
    assert edits_story(kt.alignment("a c", "a b")) == "1 word stays; b becomes c."


@pytest.mark.parametrize(
    ("search", "ending"),
    [
        ("greedy", "The greedy search missed a matching of the size 2.828; search=exact finds it."),
        ("exact", "No matching is larger."),
    ],
)
def test_the_caption_says_how_certain_the_matching_is(search: str, ending: str) -> None:
    assert grid_caption(explained("a b a a", "a a a b", search=search)).endswith(ending)


def test_one_word_is_not_words() -> None:
    assert "size 1; 1 word against 1." in grid_caption(explained("a", "a"))


def test_markdown_holds_the_drawings_in_fences_that_no_word_closes() -> None:
    explanation = explained("``` a", "a ``` b")
    text = render(
        SegmentExplanations("x", kt.metric("gtm"), (ExplainedSegment(1, explanation),)).document(
            "karat"
        ),
        "md",
    )
    assert text.count("\n````\n") == 4  # two drawings, each opened and closed
    assert "  a ■\n" in text
    assert "## Segment 1: from the reference to the candidate" in text
