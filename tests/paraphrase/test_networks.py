"""The paper's Figures 1 and 2 from `paraphrase explain`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.small_tables import PAPER, table

import karat as kt
from karat.paraphrase.pem.scoring import PairExplanation, explain_pair
from karat.paraphrase.report import figures
from karat.paraphrase.report.figures import network_figure

R, P = "Morning , sir .", "Hello , Querrien ."


def labels(drawing: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing)


@pytest.fixture(scope="module")
def pair() -> PairExplanation:
    return explain_pair(table(PAPER), R, P, kt.PivotSettings(edge=0))


def test_the_networks_of_the_paper(pair: PairExplanation) -> None:
    drawing = network_figure(1, pair).svg
    words = labels(drawing)
    assert words[:3] == ["Original", R, "Bonjour , monsieur . / 1"]  # Figure 2
    assert words[3:] == [  # Figure 1
        *("Paraphrase", "Hello ,", "Bonjour , / 0.9", "Salut , / 0.1"),
        *("Querrien", "Querrien / 1", ".", ". / 1"),
    ]
    assert len(re.findall(r"<path", drawing)) == 1 + 4
    assert len(re.findall(r"<circle", drawing)) == 2 + 4
    assert drawing.count("stroke-dasharray") == 1  # the word that the table lacks
    assert "Paraphrase: 3 phrases, 4 translations" in drawing


def test_it_is_drawn_when_it_is_asked_for(
    pair: PairExplanation, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = network_figure(1, pair)
    monkeypatch.setattr(figures, "_network", None)  # drawing would fail from here on
    with pytest.raises(TypeError):
        _ = figure.svg


def test_a_long_sentence_has_several_rows() -> None:
    many = " ".join(f"word{i}" for i in range(40))
    figure = network_figure(1, explain_pair(table(PAPER), many, P))
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', figure.svg)
    assert len({y for _, y, _ in boxes}) > 3
    assert max(float(x) + float(width) for x, _, width in boxes) <= 720
    assert all(f"word{i}" in labels(figure.svg) for i in range(40))


def test_many_translations_are_cut() -> None:
    counts = {"a": {f"t{i}": 20 - i for i in range(12)}}
    figure = network_figure(1, explain_pair(table(counts), "a", "a", kt.PivotSettings(edge=0)))
    assert labels(figure.svg).count("and 4 more") == 2
    assert "t7 / " in " ".join(labels(figure.svg))
    assert "t8 / " not in " ".join(labels(figure.svg))


def test_commands_write_it(output: Callable[..., str], folder: Path) -> None:
    (folder / "in.txt").write_text(f"{R}\n<b>\n")
    (folder / "out.txt").write_text(f"{P}\n&\n")
    table(PAPER).save(folder / "paper.npz")
    arguments = ("paraphrase", "explain", "out.txt", "--originals", "in.txt", "-t", "paper.npz")
    output(*arguments, "--worst", "2", "-o", "why.svg")
    output(*arguments, "--worst", "2", "-o", "why.html")
    for name in ("why.svg", "why.html"):
        text = (folder / name).read_text("utf-8")
        assert "Phrases and pivot networks of pair 1" in text
        assert "Bonjour , monsieur . / 1" in text
        assert "&lt;b&gt;" in text
        assert "<b>" not in text
