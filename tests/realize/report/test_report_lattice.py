"""The drawing of a word lattice."""

from __future__ import annotations

import re
from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.realize.report.drawings import order_graph
from karat.realize.report.word_graph import (
    GraphArc,
    _chains,
    _covered_area,
    _draw_arcs,
    _OccupiedGrid,
    _places,
    draw,
    graph_text,
)
from karat.report.charts.svg import frame as svg
from karat.report.render.text import TextLayout

CROSSING = [
    GraphArc(0, 1, "no"),
    GraphArc(0, 2, "cost"),
    GraphArc(1, 4, "estimate"),
    GraphArc(2, 3, "phase"),
    GraphArc(3, 5, "."),
    GraphArc(4, 5, "."),
]


def test_states_stand_beside_those_that_lead_to_them() -> None:
    places = _places(CROSSING, 0, compact=False)
    assert places[1][1] < places[2][1]
    assert places[4][1] < places[3][1]  # by number alone the arcs would cross


def test_the_best_path_is_straight() -> None:
    arcs = [arc._replace(best=arc.word in {"cost", "phase"} or arc.start == 3) for arc in CROSSING]
    for compact in (False, True):
        places = _places(arcs, 0, compact)
        assert len({places[state][1] for state in (0, 2, 3, 5)}) == 1
        assert places[1][1] != places[0][1]


def test_words_that_would_meet_stand_apart() -> None:
    places = {0: (0.0, 0.0), 1: (0.0, 54.0), 2: (92.0, 0.0), 3: (92.0, 54.0)}
    drawing = _draw_arcs([GraphArc(0, 3, "for"), GraphArc(1, 2, "the")], places)
    first, second = (part for part in drawing if "<text" in part)
    assert 'x="46' in first
    assert 'x="46' not in second
    assert _covered_area((46.0, 20.0), 20.0, [((50.0, 25.0), 20.0)]) == 16 * 6
    assert _covered_area((46.0, 20.0), 20.0, [((66.0, 25.0), 20.0), ((46.0, 31.0), 20.0)]) == 0


_SIDE = st.floats(-150, 150)
_SPOTS = st.tuples(st.tuples(_SIDE, _SIDE.map(lambda y: y / 4)), st.floats(1, 150))


@given(st.lists(_SPOTS, max_size=20), _SPOTS)
def test_the_grid_finds_all_that_a_word_would_cover(
    chosen: list[tuple[tuple[float, float], float]], item: tuple[tuple[float, float], float]
) -> None:
    grid = _OccupiedGrid()
    for spot, size in chosen:
        grid.add(spot, size)
    assert grid.covered_area(*item) == pytest.approx(_covered_area(*item, chosen))


@pytest.mark.parametrize("words", ["the cost no [… phase …]", "sent . yesterday [… plan …] it"])
def test_no_word_of_a_dense_lattice_hides_another(words: str) -> None:
    labels = re.findall(r"\[.*?\]|\S+", words)
    orders = list(permutations(range(len(labels))))
    arcs = [arc._replace(word=labels[int(arc.word)], best=False) for arc in order_graph(orders)]
    texts = [part for part in draw(arcs)[0] if part.startswith("<text")]
    result = [re.search(r'x="([\d.]+)" y="([\d.]+)".*>(.*?)</text>', text) for text in texts]
    placed = [((float(m[1]), float(m[2])), svg.extent(m[3])) for m in result if m]
    assert len(placed) == len(arcs)
    assert not sum(_covered_area(*item, [other]) for item, other in combinations(placed, 2))


def test_words_without_a_choice_stand_together_in_text() -> None:
    assert graph_text(CROSSING, TextLayout(80, False)) == [
        "   0  no estimate . → 1  |  cost phase . → 1"
    ]
    narrow = graph_text(CROSSING, TextLayout(30, False))
    assert narrow == ["   0  no estimate . → 1  |", "      cost phase . → 1"]


def test_states_that_are_not_shown_are_counted() -> None:
    words = ("a" * 15, "b" * 15)
    layout = TextLayout(30, False)
    for n_states, n_more in ((20, 0), (21, 1), (50, 30)):  # two lines each
        arcs = [GraphArc(k, k + 1, word) for k in range(n_states) for word in words]
        lines = graph_text(arcs, layout)
        assert lines[:40] == graph_text(arcs[:40], layout)
        more = [f"… and {n_more} more state{'s' * (n_more > 1)}"] if n_more else []
        assert lines[40:] == more
    wide = graph_text([GraphArc(0, 1, f"{word:015}") for word in range(60)], layout)
    assert (len(wide), wide[-1]) == (41, "… and 1 more state")
    uneven = [GraphArc(0, 1, word) for word in (*words, "c" * 15)]
    uneven += [GraphArc(k, k + 1, word) for k in range(1, 20) for word in words]
    lines = graph_text(uneven, layout)
    assert (len(lines), lines[-1]) == (40, "… and 1 more state")


def paths(arcs: list[GraphArc], state: int, last: int = 1) -> list[tuple[int, ...]]:
    if state == last:
        return [()]
    possible_paths = [arc for arc in arcs if arc.start == state]
    return [(int(arc.word), *rest) for arc in possible_paths for rest in paths(arcs, arc.end)]


@given(st.lists(st.permutations(range(5)), min_size=1, max_size=6, unique_by=tuple))
def test_the_graph_of_orders_has_exactly_these_paths(orders: list[list[int]]) -> None:
    graph = order_graph(orders)
    assert sorted(paths(graph, 0)) == sorted(map(tuple, orders))
    best = [arc for arc in graph if arc.best]
    assert sorted(paths(best, 0)) == [tuple(orders[0])]
    assert len(_chains(graph)) <= len(graph)


def test_common_parts_of_orders_are_drawn_once() -> None:
    orders = [[0, *middle, 4] for middle in permutations([1, 2, 3])]
    graph = order_graph(orders)
    assert len([arc for arc in graph if arc.word == "0"]) == 1
    assert len([arc for arc in graph if arc.word == "4"]) == 1


def test_arcs_between_the_same_states_hang_below_each_other_inside_the_drawing() -> None:
    words = ["in / 0.40", "to / 0.08", "from / 0.07", "on / 0.06"]
    arcs = [GraphArc(0, 1, word, word == words[0], "told") for word in words]
    parts, _, height = draw(arcs, compact=True)
    expected_drawing = "".join(parts)
    heights = [
        float(re.search(rf'y="([\d.]+)"[^>]*>{re.escape(word)}<', expected_drawing).group(1))  # type: ignore[union-attr]
        for word in words
    ]
    assert all(below - above >= 12 for above, below in pairwise(heights))
    assert heights[-1] < height
    assert expected_drawing.count("<title>told</title>") == 4
