"""The drawing of a word lattice."""

from __future__ import annotations

from karat.report.realize_lattice import _drawn, _free, _places

CROSSING = [
    (0, 1, "no"),
    (0, 2, "cost"),
    (1, 4, "estimate"),
    (2, 3, "phase"),
    (3, 5, "."),
    (4, 5, "."),
]


def test_states_stand_beside_those_that_lead_to_them() -> None:
    places = _places(CROSSING)
    assert places[1][1] < places[2][1]
    assert places[4][1] < places[3][1]  # by number alone the arcs would cross


def test_words_that_would_meet_stand_apart() -> None:
    places = {0: (0.0, 0.0), 1: (0.0, 54.0), 2: (92.0, 0.0), 3: (92.0, 54.0)}
    first, second = (
        part for part in _drawn([(0, 3, "for"), (1, 2, "the")], places) if "text" in part
    )
    assert 'x="46' in first
    assert 'x="46' not in second
    assert not _free((46.0, 20.0), 20.0, [((50.0, 25.0), 20.0)])
    assert _free((46.0, 20.0), 20.0, [((66.0, 25.0), 20.0), ((46.0, 31.0), 20.0)])
