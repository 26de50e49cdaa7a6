"""Reference files in which an empty line means that there is no reference."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt

CANDIDATES = ["the cat sat", "a dog", "rain fell"]
FIRST, SECOND = ["the cat sat down", "", "rain"], ["", "the dog", "it rained"]


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Two reference files with gaps."""
    actual = [tmp_path / "first", tmp_path / "second"]
    for path, lines in zip(actual, (FIRST, SECOND), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return actual


@pytest.mark.parametrize("name", ["bleu", "chrf", "rougeL", "aev:n=1"])
def test_empty_lines_are_missing_references(paths: list[Path], name: str) -> None:
    metric = kt.metric(name)
    varying = [["the cat sat down"], ["the dog"], ["rain", "it rained"]]
    references = kt.References([kt.Lines(path) for path in paths], optional=True)
    score = metric.corpus(CANDIDATES, references)
    assert score.value == metric.corpus(CANDIDATES, varying).value
    assert "|nrefs=var|" in score.signature
    assert references.strings([0, 2]) == [["the cat sat down"], ["rain", "it rained"]]


def test_a_segment_without_any_reference_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ref"
    path.write_text("a\n\nb\n")
    references = kt.References([kt.Lines(path)], optional=True)
    with pytest.raises(kt.InputError, match="segment 2 has no reference: its line is empty in"):
        kt.BLEU().corpus(CANDIDATES, references)


def test_several_paths_are_several_references(paths: list[Path]) -> None:
    together = [list(pair) for pair in zip(FIRST, SECOND, strict=True)]
    assert kt.BLEU().corpus(CANDIDATES, paths) == kt.BLEU().corpus(CANDIDATES, together)


def test_files_are_named_when_they_do_not_fit(paths: list[Path], tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("a\n")
    with pytest.raises(kt.InputError, match=r"short has 1 segment and .*first has 3 segments"):
        kt.BLEU().corpus(short, paths[0])
