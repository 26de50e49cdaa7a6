"""Things people do by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.cli.main import main


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A candidate and a reference in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.txt").write_text("the cat\na dog\n")
    (tmp_path / "ref.txt").write_text("the cat\n\n")
    return tmp_path


@pytest.mark.parametrize("name", ["out.txt", "ref.txt", "./out.txt"])
def test_the_output_may_not_be_an_input(
    files: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (files / name).read_text()
    assert main(["score", "A=out.txt", "-r", "ref.txt", "-m", "bleu", "-o", name]) == 2
    assert (files / name).read_text() == before
    expected = f"karat: {name} is one of the inputs: choose another output file\n"
    assert capsys.readouterr().err == expected


def test_segments_have_no_intervals(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "out.txt", "-r", "ref.txt", "--segments", "--intervals"]) == 2
    assert "leave out --intervals" in capsys.readouterr().err


def test_optional_references(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "more.txt").write_text("a cat\nthe dog\n")
    args = ["score", "out.txt", "-r", "ref.txt", "-r", "more.txt", "-m", "rouge1", "-f", "tsv"]
    assert main(args) == 0
    assert main([*args, "--optional-references"]) == 0
    assert main(["score", "out.txt", "-r", "ref.txt", "--optional-references"]) == 2
    assert "segment 2 has no reference" in capsys.readouterr().err


def test_signatures_say_how_intervals_will_be_made(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["score", "out.txt", "-r", "ref.txt", "-m", "bleu", "--signature-only", "--intervals"])
    assert capsys.readouterr().out.endswith("|ci=jackknife\n")


def test_a_second_metric_after_m_is_told_apart_from_a_file(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "out.txt", "chrf", "-r", "ref.txt", "-m", "bleu"]) == 2
    expected = "karat: chrf: no such file; if it is meant as a metric, write -m chrf\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.html", "<!doctype"), ("r.json", "{"), ("r.tex", "%"), ("r.txt", "Scores")],
)
def test_the_ending_of_the_output_chooses_the_format(files: Path, name: str, start: str) -> None:
    assert main(["score", "out.txt", "-r", "ref.txt", "-m", "bleu", "-o", name]) == 0
    assert (files / name).read_text("utf-8").lower().startswith(start.lower())


def test_the_demonstration_texts_can_be_copied(files: Path) -> None:
    assert main(["demo", "--texts", "."]) == 0
    assert main(["compare", "atlas.txt", "drift.txt", "-r", "ref1.txt", "-m", "bleu"]) == 0


def test_text_that_a_tokeniser_does_not_know_is_explained(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "zh.txt").write_text("今天\n", "utf-8")
    assert main(["score", "zh=zh.txt", "-r", "zh.txt", "-m", "rouge1"]) == 0
    assert "tokeniser rouge knows a-z and 0-9 only" in capsys.readouterr().out
