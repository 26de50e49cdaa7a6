"""Labels never cover each other, nor a dot, nor the frame."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from karat.report.charts.svg.frame import DOT, Box, place_labels, space_out

FRAME = Box(0, 0, 400, 300)
PLACE = st.tuples(st.floats(0, 400), st.floats(0, 300))
SIZE = st.tuples(st.floats(1, 120), st.just(15.0))


@given(st.lists(st.tuples(PLACE, SIZE), max_size=30))
def test_labels_cover_nothing(
    items: list[tuple[tuple[float, float], tuple[float, float]]],
) -> None:
    dots, sizes = [dot for dot, _ in items], [size for _, size in items]
    places = place_labels(dots, sizes, FRAME)
    boxes = [place[0] for place in places if place]
    assert len(places) == len(dots)
    assert not [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])]
    assert all(box.inside(FRAME) for box in boxes)
    for x, y in dots:
        assert not [box for box in boxes if box.meets(Box(x - DOT, y - DOT, x + DOT, y + DOT))]


def test_a_lone_label_stands_at_the_right_of_its_dot() -> None:
    [place] = place_labels([(100, 100)], [(50, 15)], FRAME)
    assert place is not None
    assert place == (Box(108, 92.5, 158, 107.5), False)


def test_at_the_right_edge_it_stands_at_the_left() -> None:
    [place] = place_labels([(390, 100)], [(50, 15)], FRAME)
    assert place is not None
    assert place[0].right == 382


def test_a_label_without_any_room_is_left_out() -> None:
    assert place_labels([(100, 100)], [(500, 15)], FRAME) == [None]
    crowd = place_labels([(100.0, 100.0)] * 60, [(60.0, 15.0)] * 60, FRAME)
    assert 4 < sum(place is not None for place in crowd) < 60


def test_thirty_systems_find_their_places() -> None:
    dots = [(30 + 37.0 * (k % 10), 40 + 80.0 * (k // 10) + 3 * k % 7) for k in range(30)]
    assert None not in place_labels(dots, [(40, 15)] * 30, FRAME)


@given(st.lists(st.floats(0, 300), max_size=20))
def test_names_are_spread_with_a_gap_in_their_order(positions: list[float]) -> None:
    places = space_out(positions, 15, 0, 300)
    assert places is not None
    order = sorted(range(len(positions)), key=lambda k: positions[k])
    assert all(places[b] - places[a] >= 15 - 1e-9 for a, b in pairwise(order))
    assert all(-1e-9 <= place <= 300 for place in places)


def test_names_that_have_room_stay_where_they_are() -> None:
    assert space_out([200.0, 10.0, 100.0], 15, 0, 300) == [200.0, 10.0, 100.0]
    assert space_out([1.0, 2.0], 15, 0, 10) is None
