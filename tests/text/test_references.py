"""References: any number for each segment, segment by segment, never the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.metrics.names import metric as parse
from karat.text.references import References, VaryingReferences, as_references
from karat.text.segments import STRIDE, Lines, Strings

CANDIDATES = ["a b c d", "e f g h"]


def groups_of(references: References) -> list[list[str]]:
    """All references, read as scoring reads them."""
    views, starts = references.views(0, len(references))
    flat = views.strings()
    bounds = zip(starts.tolist(), starts.tolist()[1:], strict=False)
    return [flat[start:stop] for start, stop in bounds]


SAME = [
    ["x", "y"],
    ("x", "y"),
    [["x"], ["y"]],
    [("x",), ["y"]],
    ["x", ["y"]],
    (text for text in ("x", "y")),
    ([text] for text in ("x", "y")),
    {"x": 1, "y": 2}.keys(),
]


@pytest.mark.parametrize("value", SAME, ids=lambda g: type(g).__name__)
def test_one_reference_each_in_any_form(value: object) -> None:
    references = as_references(value, 2)  # type: ignore[arg-type]
    assert references.number == 1
    assert groups_of(references) == [["x"], ["y"]]


@given(
    groups=st.lists(
        st.lists(st.text(st.characters(exclude_categories=()), max_size=4), min_size=1, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_any_number_of_references(groups: list[list[str]]) -> None:
    references = as_references(groups, len(groups))
    assert groups_of(references) == groups
    assert references.strings(range(len(groups))) == groups
    numbers = {len(group) for group in groups}
    assert references.number == (numbers.pop() if len(numbers) == 1 else None)


def test_runs_of_varying_references_start_where_they_should() -> None:
    groups = [[f"{i}.{k}" for k in range(1 + i % 3)] for i in range(2 * STRIDE + 5)]
    references = VaryingReferences(groups)
    views, starts = references.views(STRIDE, 2 * STRIDE)
    expected = [text for group in groups[STRIDE : 2 * STRIDE] for text in group]
    assert views.strings() == expected
    assert starts[0] == 0
    assert starts[-1] == len(expected)


def test_files_of_references(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "ab"]
    paths[0].write_text("x\ny\n")
    paths[1].write_text("v\nw\n")
    references = References([Lines(path) for path in paths])
    assert (len(references), references.number, references.name) == (2, 2, str(paths[0]))
    assert groups_of(references) == references.strings([0, 1]) == [["x", "v"], ["y", "w"]]
    assert as_references(references, 2) is references
    assert groups_of(as_references(paths[0], 2)) == [["x"], ["y"]]
    assert groups_of(as_references(Lines(paths[1]), 2)) == [["v"], ["w"]]


def test_references_the_wrong_way_round_are_refused() -> None:
    turned = [["x", "y"], ["v", "w"], ["t", "u"]]
    with pytest.raises(InputError, match=r"holds 3 lists of 2: .* list\(zip\(\*references\)\)"):
        as_references(turned, 2)
    assert as_references(list(zip(*turned, strict=True)), 2).number == 3


def test_every_segment_needs_a_reference() -> None:
    with pytest.raises(InputError, match=r"references\[1\] is empty: every segment needs"):
        as_references([["x"], []], 2)
    with pytest.raises(InputError, match="no reference was given: at least one is needed"):
        References([])


def test_unequal_numbers_say_where_partners_end() -> None:
    with pytest.raises(
        InputError,
        match="candidates has 2 segments and references has 3 segments: they must be equal; "
        "segment 3 of references is the first without a partner in candidates",
    ):
        as_references(["x", "y", "z"], 2)
    with pytest.raises(InputError, match="segment 2 of candidates is the first without"):
        as_references(["x"], 2)


def test_unequal_files_are_named(tmp_path: Path) -> None:
    short, long = tmp_path / "short", tmp_path / "long"
    short.write_text("x\n")
    long.write_text("x\ny\n")
    with pytest.raises(InputError, match=r"short has 1 segment and .*long has 2 segments"):
        References([Lines(short), Lines(long)])


WRONG = [
    (["x", None], r"references\[1\] is NoneType, expected a str or a list of str"),
    ([["x"], 3], r"references\[1\] is int, expected a str or a list of str"),
    ([["x"], b"y"], r"references\[1\] is bytes, expected a str or a list of str"),
    ([["x"], {"y"}], r"references\[1\] is set, expected a str or a list of str"),
    ("xy", "references is one str: give a list of strings"),
    (b"xy", "references is one bytes: give a list of strings"),
]


@pytest.mark.parametrize(("value", "sentence"), WRONG)
def test_what_is_no_reference_is_refused(value: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        as_references(value, 2)  # type: ignore[arg-type]


def test_what_is_no_text_inside_a_group_is_named_by_its_segment() -> None:
    with pytest.raises(InputError, match=r"references\[1\]"):
        as_references([["v", "w"], ["x", 3]], 2)  # type: ignore[list-item]


def test_candidates_are_checked_before_references_are_read() -> None:
    with pytest.raises(InputError, match=r"candidates\[1\] is int, expected str"):
        parse("bleu").corpus(["a", 1], ["a", "b"])  # type: ignore[list-item]


def test_an_empty_reference_is_a_reference() -> None:
    assert parse("bleu").stats(["a"], [["", "a b"]]).tolist()[0][:2] == [1, 0]


def test_the_number_of_references_may_vary_in_a_corpus() -> None:
    metric = parse("bleu")
    score = metric.corpus(CANDIDATES, [["a b c d", "x"], "e f g h"])
    assert score.value == pytest.approx(100)


def test_strings_as_references_are_named_as_such() -> None:
    assert as_references(["x"], 1).name == "references"
    assert as_references(Strings(["x"], "gold"), 1).name == "gold"


@pytest.mark.parametrize(
    "value", [{"a": "x"}, {"x"}, frozenset("x")], ids=lambda g: type(g).__name__
)
def test_what_has_no_order_is_refused(value: object) -> None:
    with pytest.raises(InputError, match=f"references is {type(value).__name__}, expected a list"):
        as_references(value, 1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="which has no order: give a list of strings"):
        Strings(value)  # type: ignore[arg-type]
