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
    expected = f"karat: {name} is one of the inputs: name another file for the result\n"
    assert capsys.readouterr().err == expected


def test_segments_have_no_intervals(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "out.txt", "-r", "ref.txt", "--segments", "--bootstrap", "9"]) == 2
    assert "leave --bootstrap out" in capsys.readouterr().err


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
    main(
        ["score", "out.txt", "-r", "ref.txt", "-m", "bleu", "--signature-only", "--bootstrap", "7"]
    )
    assert capsys.readouterr().out.endswith("|bootstrap=7|seed=12345\n")
