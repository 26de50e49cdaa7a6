"""Colours keep their order in grey, stand out from the paper, and differ for every eye."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.report.charts.svg.frame import (
    DASHES,
    HEAT,
    MARKERS,
    SERIES,
    contrast,
    heat_color,
    ink_on,
    luminance,
    series_color,
    series_line,
)
from karat.report.markup import palette

Triple = tuple[float, float, float]

# How a colour, in linear channels, looks without one kind of cone (Machado and others 2009).
VISIONS: dict[str, tuple[Triple, Triple, Triple]] = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long cones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no middle cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no short cones": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(color: str) -> list[float]:
    channels = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def perceived_lab(color: str, vision: tuple[Triple, Triple, Triple]) -> Triple:
    """CIE L*a*b* of what an eye sees."""
    r, g, b = (
        min(max(sum(m * c for m, c in zip(row, linear(color), strict=True)), 0), 1)
        for row in vision
    )
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(a: Triple, b: Triple) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5


def series_in(block: str) -> list[str]:
    return re.findall(r"--series-\d: (#[0-9a-f]{6});", block)


def themes() -> dict[str, tuple[str, list[str]]]:
    """The paper and the series of each theme."""
    light, dark, printed = re.split(r"@media[^{]*", palette())
    sheets = zip(("light", "dark", "print"), (light, dark, printed), strict=True)
    return {name: (re.findall(r"--paper: (#\w+);", css)[0], series_in(css)) for name, css in sheets}


def test_known_contrasts() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert luminance("#ff0000") == pytest.approx(0.2126)


def test_the_scale_falls_in_equal_steps_of_lightness() -> None:
    lightness = [perceived_lab(color, VISIONS["all cones"])[0] for color in HEAT]
    steps = [a - b for a, b in pairwise(lightness)]
    assert lightness[0] > 95
    assert lightness[-1] < 30
    assert all(7 < step < 10 for step in steps)


@given(st.floats(0, 1))
def test_a_number_on_any_shade_is_legible(share: float) -> None:
    color = heat_color(share)
    assert contrast(color, ink_on(color)) >= 4.5


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_value_is_never_lighter(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert luminance(heat_color(low)) >= luminance(heat_color(high))


def test_the_ends_of_the_scale() -> None:
    assert [heat_color(share) for share in (-1, 0, 0.5, 1, 2)] == [
        *(HEAT[0], HEAT[0], HEAT[4], HEAT[-1], HEAT[-1]),
    ]


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_series_stand_out_from_the_paper(theme: str) -> None:
    paper, series = themes()[theme]
    assert len(series) == len(SERIES)
    assert min(contrast(color, paper) for color in series) >= 3


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
@pytest.mark.parametrize("vision", VISIONS)
def test_series_differ_for_every_eye(theme: str, vision: str) -> None:
    colors = [perceived_lab(color, VISIONS[vision]) for color in themes()[theme][1]]
    assert min(distance(a, b) for a, b in combinations(colors, 2)) >= 20


def test_a_drawing_on_its_own_has_the_colours_of_the_light_page() -> None:
    assert themes()["light"][1] == list(SERIES)
    assert series_color(9) == f"var(--series-2, {SERIES[1]})"


def test_series_differ_in_more_than_colour() -> None:
    looks = [(MARKERS[k % len(MARKERS)], *series_line(k).values()) for k in range(32)]
    assert len(set(looks)) == 32
    assert len(set(MARKERS)) == len(SERIES)
    assert len({(marker, dash) for marker, _, dash in looks}) == 8 * len(DASHES)
