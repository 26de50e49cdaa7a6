"""Tokenisers and stemmers of other packages: functions that are found by their names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import karat as kt
from karat import registry
from karat.errors import InputError, MetricError
from karat.text.tokens import TOKENIZERS


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two functions of this program, forgotten afterwards."""
    with monkeypatch.context() as patch:
        for kind in ("tokenizers", "stemmers"):
            patch.setitem(registry._DECLARED, kind, {})
        kt.register(at_bars, "tokenizers", "bars")
        kt.register(first_letter, "stemmers", "letter")
        yield


def at_bars(text: str) -> list[str]:
    """cuts at bars"""
    return [token for token in text.split("/") if token]


def first_letter(word: str) -> str:
    return word[:1]


def test_a_tokeniser_written_in_python_cuts_text() -> None:
    tokens = kt.tokenize(["a b/c", "", "c/a b/é"], tok="bars")
    assert [tokens[i] for i in range(3)] == [["a b", "c"], [], ["c", "a b", "é"]]
    assert TOKENIZERS["bars"] == "cuts at bars"
    assert list(TOKENIZERS)[-1] == list(kt.tokenizers())[-1] == "bars"
    assert list(kt.stemmers())[-1] == "letter"
    assert "porter" in kt.stemmers()


def test_it_is_lower_cased_stemmed_and_threaded_as_others_are() -> None:
    texts = [f"Ab/B{i}/" for i in range(3000)]
    tokens = kt.tokenize(texts, tok="bars", case="lower", stem="letter", threads=2)
    assert tokens[2999] == ["a", "b"]
    assert kt.metric("bleu:n=2,tok=bars").corpus(texts, texts).value == pytest.approx(100)


def test_both_work_by_name_in_metrics_and_signatures() -> None:
    actual_metric = kt.metric("rouge1:tok=bars,stem=letter")
    assert actual_metric.corpus(["ab/cd"], ["ax/cy"]).value == 1
    signature = actual_metric.signature()
    assert f"tok=bars@{__name__}" in signature
    assert f"stem=letter@{__name__}" in signature
    assert kt.metric(signature.split("|")[0]) == actual_metric
    with pytest.raises(MetricError, match="bars is not the one of the signature"):
        kt.metric("rouge1:tok=bars@other-1.0")


def test_karats_own_have_no_origin_in_signatures() -> None:
    assert "@" not in kt.metric("rouge1:stem=porter").signature().split("|")[0]


def test_one_that_fails_is_named() -> None:
    kt.register(lambda text: text[9], "tokenizers", "tenth")
    with pytest.raises(InputError, match="tokeniser tenth failed: IndexError"):
        kt.tokenize(["a"], tok="tenth")
    kt.register(lambda word: word[9], "stemmers", "tenth")
    with pytest.raises(InputError, match="stemmer tenth failed: IndexError"):
        kt.tokenize(["a"], stem="tenth")


@pytest.mark.parametrize("tokens", ["ab", [1], ["a", None], None, iter("ab")])
def test_a_tokeniser_returns_a_list_of_words(tokens: object) -> None:
    kt.register(lambda text: tokens, "tokenizers", "odd")
    with pytest.raises(InputError, match=r"^tokeniser odd returned .*, expected a list of str$"):
        kt.tokenize(["a"], tok="odd")


@pytest.mark.parametrize("stem", [None, 1, ["a"]])
def test_a_stemmer_returns_a_word(stem: object) -> None:
    kt.register(lambda word: stem, "stemmers", "odd")
    with pytest.raises(InputError, match=r"^stemmer odd returned .*, expected a str$"):
        kt.metric("rouge1:stem=odd").corpus(["a"], ["a"])


def test_unknown_names_are_refused_with_all_that_are_known() -> None:
    with pytest.raises(InputError, match=r"tok=nonsense: expected one of 13a, .*, bars$"):
        kt.tokenize(["a"], tok="nonsense")
    with pytest.raises(InputError, match=r"stem=nonsense: expected one of none, .*, letter$"):
        kt.tokenize(["a"], stem="nonsense")


def test_entry_points_are_not_read_for_karats_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(kind: str) -> None:
        raise AssertionError(kind)

    monkeypatch.setattr(registry, "_entry_points", never)
    assert kt.tokenize(["cats sat"], stem="porter")[0] == ["cat", "sat"]
    assert kt.metric("rouge1:stem=porter").corpus(["cats"], ["cat"]).value == 1
