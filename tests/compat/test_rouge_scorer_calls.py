"""`karat.compat.rouge_scorer` equals the installed rouge-score, call by call."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import any_text, summaries
from rouge_score import rouge_scorer as theirs
from rouge_score import scoring as their_scoring
from rouge_score import tokenizers as their_tokenizers

import karat
from karat.compat import rouge_scorer as ours
from karat.compat.rouge_scorer import scoring, tokenizers

TYPES = [*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum"]
TEXT = st.one_of(any_text, summaries())
SCORES = st.tuples(*[st.floats(0, 1)] * 3)


def check_same(actual: dict[str, Any], peer: dict[str, Any]) -> None:
    """The same types in the same order, with the same fields."""
    assert [*actual] == [*peer]
    for name, score in peer.items():
        assert actual[name]._asdict() == pytest.approx(score._asdict(), abs=1e-12), name
        assert type(actual[name]) is scoring.Score


class Dashes:
    """A tokeniser that is derived from nothing."""

    def tokenize(self, text: str) -> list[str]:
        """Cut at dashes."""
        return text.split("-")


class Letters(tokenizers.Tokenizer):
    """A tokeniser whose tokens are no strings."""

    def tokenize(self, text: str) -> list[Any]:
        return [ord(letter) for letter in text]


# --------------------------------------------------------------------------------- generated input


@given(
    types=st.lists(st.sampled_from(TYPES), max_size=4),
    stem=st.booleans(),
    targets=st.lists(TEXT, min_size=1, max_size=3),
    prediction=TEXT,
)
def test_scores(types: list[str], stem: bool, targets: list[str], prediction: str) -> None:
    actual, peer = (m.RougeScorer(types, use_stemmer=stem) for m in (ours, theirs))
    check_same(actual.score(targets[0], prediction), peer.score(targets[0], prediction))
    check_same(actual.score_multi(targets, prediction), peer.score_multi(targets, prediction))


@pytest.mark.parametrize("tokenizer", [Dashes(), Letters(), their_tokenizers.DefaultTokenizer()])
@given(targets=st.lists(TEXT, min_size=1, max_size=2), prediction=TEXT)
@settings(max_examples=30)
def test_scores_of_own_tokenisers(tokenizer: Any, targets: list[str], prediction: str) -> None:
    types = ["rouge1", "rouge3", "rougeL", "rougeLsum"]
    actual = (m.RougeScorer(types, True, tokenizer=tokenizer) for m in (ours, theirs))
    actual_actual, peer = (scorer.score_multi(targets, prediction) for scorer in actual)
    check_same(actual_actual, peer)


@given(text=any_text, stem=st.booleans())
def test_the_default_tokeniser(text: str, stem: bool) -> None:
    actual, peer = (m.DefaultTokenizer(stem).tokenize(text) for m in (tokenizers, their_tokenizers))
    assert actual == peer


def test_an_explicit_default_tokeniser_is_the_default() -> None:
    texts = "The cats\nwere running", "a cat ran\nruns"
    scorers = [
        m.RougeScorer(TYPES, tokenizer=t.DefaultTokenizer(use_stemmer=True))
        for m, t in ((ours, tokenizers), (theirs, their_tokenizers))
    ]
    check_same(*(scorer.score(*texts) for scorer in scorers))


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """NLTK with a Punkt model that was trained here, since its own has to be downloaded."""
    nltk = pytest.importorskip("nltk")
    punkt = pytest.importorskip("nltk.tokenize.punkt")
    folder = tmp_path_factory.mktemp("nltk_data")
    actual_folder = folder / "tokenizers" / "punkt_tab" / "english"
    actual_folder.mkdir(parents=True)
    trainer = punkt.PunktTrainer("Dr. Low saw Mr. High. It rained. Mr. High ran. " * 50)
    nltk.data.path.insert(0, str(folder))  # NLTK writes and reads in these folders only
    punkt.save_punkt_params(trainer.get_params(), dir=str(actual_folder))
    yield
    nltk.data.path.remove(str(folder))


def test_split_summaries(sentences: Any) -> None:
    texts = "Mr. High ran. It rained.", "It rained. Mr. High ran away."
    for types in (["rougeLsum"], ["rouge1", "rougeLsum", "rougeL"]):
        actual, peer = (m.RougeScorer(types, split_summaries=True) for m in (ours, theirs))
        check_same(actual.score(*texts), peer.score(*texts))
        check_same(actual.score_multi([*texts], texts[1]), peer.score_multi([*texts], texts[1]))
    corpus_score = ours.RougeScorer(["rougeLsum"]).score(*texts)
    assert corpus_score != ours.RougeScorer(["rougeLsum"], split_summaries=True).score(*texts)


# ------------------------------------------------------------------------------------ aggregation


@given(
    rows=st.lists(SCORES, min_size=1, max_size=12),
    level=st.sampled_from([0.0, 0.5, 0.95, 1.0]),
    samples=st.integers(1, 40),
    seed=st.integers(0, 1000),
)
def test_aggregates(rows: list[tuple[float, ...]], level: float, samples: int, seed: int) -> None:
    actual = []
    for module in (scoring, their_scoring):
        aggregator = module.BootstrapAggregator(level, samples)
        for row in rows:
            aggregator.add_scores({"b": module.Score(*row), "a": module.Score(*row[::-1])})
        np.random.seed(seed)
        actual.append(aggregator.aggregate())
    actual_actual, peer = actual
    assert [*actual_actual] == [*peer]
    for name, aggregate in peer.items():
        assert aggregate._fields == actual_actual[name]._fields
        for end in aggregate._fields:
            a, b = getattr(actual_actual[name], end), getattr(aggregate, end)
            assert a._asdict() == pytest.approx(b._asdict(), abs=1e-12)


def test_other_named_tuples_are_aggregated() -> None:
    aggregator = scoring.BootstrapAggregator(n_samples=9)
    assert aggregator.aggregate() == {}
    aggregator.add_scores({"x": scoring.AggregateScore(1.0, 2.0, 3.0)})
    assert aggregator.aggregate()["x"].low == scoring.AggregateScore(1.0, 2.0, 3.0)


@given(p=st.floats(0, 1), r=st.floats(0, 1))
def test_fmeasure(p: float, r: float) -> None:
    assert scoring.fmeasure(p, r) == pytest.approx(their_scoring.fmeasure(p, r))


# ---------------------------------------------------------------------------- names and real text


@pytest.mark.parametrize(
    ("mine", "peer"),
    [
        (ours.RougeScorer, theirs.RougeScorer),
        (scoring.BootstrapAggregator, their_scoring.BootstrapAggregator),
        (tokenizers.DefaultTokenizer, their_tokenizers.DefaultTokenizer),
    ],
)
def test_methods_have_the_same_arguments(mine: type, peer: type) -> None:
    for name, method in inspect.getmembers(peer, inspect.isfunction):
        if name == "__init__" or not name.startswith("_"):
            actual_parameters, expected = (
                inspect.signature(m) for m in (getattr(mine, name), method)
            )
            assert [(p.name, p.default) for p in actual_parameters.parameters.values()] == [
                (p.name, p.default) for p in expected.parameters.values()
            ]


def test_string_forms() -> None:
    texts = "the cat sat", "the cat"
    actual, peer = (m.RougeScorer(["rouge1"]).score(*texts) for m in (ours, theirs))
    assert str(actual) == str(peer)


def test_real_summaries(karat_data: Path) -> None:
    from data.real_texts import summeval

    document: Any = next(summeval(karat_data))
    actual, peer = (m.RougeScorer(TYPES, use_stemmer=True) for m in (ours, theirs))
    for system in document["systems"].values():
        texts = document["references"], system["summary"].replace(" . ", " .\n")
        check_same(actual.score_multi(*texts), peer.score_multi(*texts))


# ----------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize("name", ["rouge0", "rouge10", "rougel", "rouge", "rouge1 "])
def test_unknown_types_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="rouge"):
        theirs.RougeScorer([name]).score("a", "a")
    with pytest.raises(karat.InputError, match=f"rouge type '{name}': expected rouge1 to rouge9"):
        ours.RougeScorer([name]).score("a", "a")


def test_wrong_arguments_are_refused() -> None:
    scorer = ours.RougeScorer(["rouge1"])
    for call, sentence in (
        (lambda: scorer.score(None, "a"), "target is NoneType, expected str"),
        (lambda: scorer.score("a", 3), "prediction is int, expected str"),
        (lambda: scorer.score_multi([], "a"), "targets is empty"),
        (lambda: scorer.score_multi("ab", "a"), "targets is str, expected a list of str"),
        (lambda: scoring.BootstrapAggregator(1.5), "confidence_interval=1.5: expected 0 to 1"),
        (lambda: scoring.BootstrapAggregator(n_samples=0), "n_samples=0: expected a positive"),
        (lambda: ours.RougeScorer("rouge1").score("a", "b"), "rouge type 'r': expected"),
    ):
        with pytest.raises(karat.InputError, match=sentence):
            call()


def test_without_punkt_data_the_sentence_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [])
    nltk.tokenize._get_punkt_tokenizer.cache_clear()
    with pytest.raises(karat.InputError, match=r"nltk.download\('punkt_tab'\)"):
        ours.RougeScorer(["rougeLsum"], split_summaries=True).score("A. B.", "A. B.")


def test_scorers_can_be_pickled() -> None:
    scorer = pickle.loads(pickle.dumps(ours.RougeScorer(["rouge1"], use_stemmer=True)))
    assert scorer.score("cats", "dog")["rouge1"].fmeasure == 0.0
    assert scorer.score("walking", "walks")["rouge1"].fmeasure == pytest.approx(1.0)
