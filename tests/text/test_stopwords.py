"""Stop lists: our own, files, and those of stopwordsiso."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
import stopwordsiso

from karat.errors import InputError
from karat.metrics.names import metric as parse
from karat.text.tokens import stop_digest, stop_words

SANE = 100


def test_our_list_is_lower_case_sorted_out_and_unique() -> None:
    text = resources.files("karat.text").joinpath("stopwords_en.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) > SANE
    assert lines == [line.strip().lower() for line in lines]
    assert len(set(lines)) == len(lines)
    assert not [line for line in lines if " " in line or "#" in line or "’" in line]
    assert stop_words("en") == frozenset(lines)


def test_our_list_holds_closed_classes_and_nothing_else() -> None:
    stops = stop_words("en")
    assert {"the", "a", "and", "of", "in", "he", "them", "is", "was", "not", "which"} <= stops
    assert not {"cat", "house", "run", "japan", "states", "good", "new", "time"} & stops


def test_many_words_at_once() -> None:
    words = ["the", "don’t", "cat", "", "Don't", "of"]
    stops = stop_words("en")
    assert stops.lacks(words) == [word not in stops for word in words]
    assert stops.lacks(words) == [False, False, True, True, True, False]


def test_none_is_empty() -> None:
    assert stop_words("none") == frozenset()


def test_a_file_of_our_own(tmp_path: Path) -> None:
    path = tmp_path / "stops.txt"
    path.write_bytes("\ufeff# ours\r\nThe\r\n\r\n  of  # often\nÉté\n".encode())
    assert stop_words(str(path)) == {"the", "of", "été"}


def test_typographic_apostrophes_are_read_as_plain_ones(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_text("don't\n", "utf-8")
    assert "don't" in stop_words(str(path))
    assert "don’t" in stop_words(str(path))
    assert "dont" not in stop_words(str(path))


def test_typographic_apostrophes_in_the_list_are_read_as_plain_ones_too(tmp_path: Path) -> None:
    path = tmp_path / "typographic"
    path.write_text("don’t\n", "utf-8")
    assert "don’t" in stop_words(str(path))
    assert "don't" in stop_words(str(path))


@pytest.mark.parametrize("language", sorted(stopwordsiso.langs()))
def test_every_iso_list_holds_its_own_words(language: str) -> None:
    stops = stop_words(f"iso-{language}")
    missing = [w for w in stopwordsiso.stopwords(language) if w.lower() not in stops]
    assert stops
    assert not missing


def test_lists_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No such file .* expected none, en, iso-LANGUAGE or the"):
        stop_words(str(tmp_path / "missing"))
    with pytest.raises(InputError, match="iso-xx: no such language; there are"):
        stop_words("iso-xx")
    with pytest.raises(InputError, match=r"stop list .*: Is a directory"):
        stop_words(str(tmp_path))
    path = tmp_path / "latin1"
    path.write_bytes(b"\xe9t\xe9\n")
    with pytest.raises(InputError, match="not valid UTF-8; convert the file"):
        stop_words(str(path))


def test_a_name_that_no_file_can_have_is_an_error_of_ours() -> None:
    with pytest.raises(InputError):
        stop_words("a\0b")


def test_the_digest_is_short_and_of_the_words_alone(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("a\nb\n")
    second.write_text("# b\nb\nA\n")
    assert stop_digest(str(first)) == stop_digest(str(second))
    assert len(stop_digest("en")) == 8
    assert stop_digest("en") != stop_digest(str(first))


def test_stop_words_are_removed_whatever_their_case_and_apostrophe(tmp_path: Path) -> None:
    path = tmp_path / "stops"
    path.write_text("the\ndon't\n")
    metric = parse(f"aev:n=1,tok=none,stop={path}")
    row = metric.stats(["The THE the don’t Don't cat"], ["cat"])[0]
    assert dict(zip(metric.columns(), row.tolist(), strict=True))["total_c1"] == 1
