"""ROUGE equals rouge-score's, part by part, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.definers import porter, words
from oracles.peers import rouge_segments
from oracles.rouge_formulas import best, rouge_l, rouge_lsum, rouge_n, weighted_f
from oracles.strategies import Corpus, any_text, corpora, float_settings, summaries
from sizes import examples

from karat.errors import InputError
from karat.metrics.base import Metric
from karat.metrics.names import metric as parse
from karat.metrics.rouge import RougeL, RougeLsum, RougeN

NAMES = [*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum"]
STEMS = {False: "none", True: "porter-nltk"}


def parts(metric: Metric, corpus: Corpus) -> list[tuple[float, float, float]]:
    """Precision, recall and F of every segment."""
    rows = metric.measure(metric.stats(*corpus))
    columns = [rows[key].tolist() for key in ("precision", "recall", "value")]
    return list(zip(*columns, strict=True))


def check(corpus: Corpus, stem: bool) -> None:
    """All names at segment and corpus level."""
    expected = rouge_segments(NAMES, *corpus, stem=stem)
    for name in NAMES:
        metric = parse(f"{name}:stem={STEMS[stem]}")
        actual = parts(metric, corpus)
        for actual_actual, peer in zip(actual, expected[name], strict=True):
            assert actual_actual == pytest.approx(peer, abs=1e-9), name
        mean = sum(f for _, _, f in expected[name]) / len(expected[name])
        assert metric.corpus(*corpus).value == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("stem", [False, True])
@given(corpus=corpora(st.one_of(any_text, summaries())))
@examples(25, 60)
def test_equal_to_rouge_score(stem: bool, corpus: Corpus) -> None:
    check(corpus, stem)


_LETTERS = st.lists(st.sampled_from("abc"), max_size=12).map(" ".join)


@given(corpus=corpora(summaries(_LETTERS), references=2))
@examples(25, 60)
def test_equal_to_rouge_score_on_few_words(corpus: Corpus) -> None:
    check(corpus, stem=False)


@given(corpus=corpora(), n=st.integers(1, 12), alpha=float_settings(0, 1), stem=st.booleans())
def test_rouge_n_equals_the_formula(corpus: Corpus, n: int, alpha: float, stem: bool) -> None:
    def cut(text: str) -> list[str]:
        return [porter(w) if stem else w for w in words("rouge", text)]

    expected = []
    for candidate, group in zip(*corpus, strict=True):
        chosen = best(lambda c, r: rouge_n(c, r, n), cut(candidate), [cut(r) for r in group])
        expected.append(weighted_f(chosen.p, chosen.r, alpha))
    metric = RougeN(n=n, alpha=alpha, stem=STEMS[stem])
    assert metric.segments(*corpus).tolist() == pytest.approx(expected, abs=1e-9)


@given(corpus=corpora(), alpha=float_settings(0, 1))
def test_rouge_l_of_another_tokeniser_equals_the_formula(corpus: Corpus, alpha: float) -> None:
    expected = []
    for candidate, group in zip(*corpus, strict=True):
        refs = [words("13a", text, lower=True) for text in group]
        chosen = best(rouge_l, words("13a", candidate, lower=True), refs)
        expected.append(weighted_f(chosen.p, chosen.r, alpha))
    metric = RougeL(alpha=alpha, tok="13a")
    assert metric.segments(*corpus).tolist() == pytest.approx(expected, abs=1e-9)


SEPARATORS = {"newline": "\n", "n-tag": "<n>", "q-tag": "<q>"}


@pytest.mark.parametrize("sep", SEPARATORS)
@given(texts=st.lists(st.lists(any_text, max_size=4), min_size=2, max_size=2))
def test_rouge_lsum_separators(sep: str, texts: list[list[str]]) -> None:
    candidate, reference = (SEPARATORS[sep].join(sentences) for sentences in texts)
    cut = [
        [words("rouge", sentence) for sentence in text.split(SEPARATORS[sep])]
        for text in (candidate, reference)
    ]
    segment_scores = RougeLsum(sep=sep).segments([candidate], [reference])
    assert segment_scores[0] == pytest.approx(rouge_lsum(*cut).f, abs=1e-9)


def test_the_best_f_chooses_the_reference_also_for_recall() -> None:
    # The second reference has the better recall, the first the better F.
    references = [["a b c d e f", "a"]]
    segment_scores = RougeN(n=1, alpha=0.0).segments(["a b c d"], references)
    assert segment_scores[0] == pytest.approx(4 / 6)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_common_and_nothing_at_all_give_zero(name: str) -> None:
    candidates, references = ["", "a", "", "x", "!"], ["", "", "a", "y", "!"]
    assert parse(name).segments(candidates, references).tolist() == [0.0] * 5


def test_too_large_a_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.metrics.pairs.MAX_LCS_CELLS", 11)
    candidates, references = ["a", "x a b c"], ["a", "b c y"]
    sentence = "segment 2: 12 pairs of tokens are too many .* leave {} out"
    with pytest.raises(InputError, match=sentence.format("rougeL")):
        RougeL().segments(candidates, references)
    with pytest.raises(InputError, match=sentence.format("rougeLsum")):
        RougeLsum().segments(candidates, references)
    monkeypatch.setattr("karat.metrics.pairs.MAX_LCS_CELLS", 12)
    assert RougeL().segments(candidates, references).tolist() == pytest.approx([1, 4 / 7])
