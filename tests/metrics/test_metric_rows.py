"""Statistics are the currency: whatever is summed, the score of the sum is the score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import Corpus, corpora

from karat.errors import InputError
from karat.metrics.names import metric as parse
from karat.metrics.pairs import run_batches
from karat.text.references import as_references
from karat.text.segments import Strings

NAMES = [
    *("bleu", "bleu:n=2,eff=yes,tok=intl", "aev", "aev:refs=best", "aev:refs=average,n=2"),
    *("aev:preset=paper,stop_scope=unigrams,n=2", "chrf", "chrf++", "rouge1", "rougeL"),
    *("rougeLsum", "rouge2:stem=porter-nltk,stop=en", "rs:n=1,tok=zh", "chrf:eps=yes"),
]


# A corpus takes longer to draw than to score: all metrics have the same ones.


@given(corpus=corpora())
@settings(max_examples=25)
def test_the_score_of_the_sum_is_the_corpus_score(corpus: Corpus) -> None:
    for metric in map(parse, NAMES):
        rows = metric.stats(*corpus)
        assert rows.shape == (len(corpus.candidates), len(metric.columns())), metric
        actual_score, corpus_score = metric.score(rows.sum(axis=0)), metric.corpus(*corpus)
        assert actual_score.value == pytest.approx(corpus_score.value, abs=1e-12), metric
        assert dict(actual_score.parts) == pytest.approx(dict(corpus_score.parts), abs=1e-12), (
            metric
        )
        assert 0 <= corpus_score.value <= metric.full_scale + 1e-9, metric


@given(corpus=corpora())
@settings(max_examples=25)
def test_a_segments_score_is_the_score_of_its_row_and_of_it_alone(corpus: Corpus) -> None:
    for name in NAMES:
        metric = parse(name).of_segments()
        values = metric.segments(*corpus).tolist()
        assert parse(name).segments(*corpus).tolist() == values, name
        assert values == [metric.score(row).value for row in metric.stats(*corpus)], name
        alone = [metric.corpus([c], [r]).value for c, r in zip(*corpus, strict=True)]
        assert values == pytest.approx(alone, abs=1e-12), name


@given(corpus=corpora(segments=6), data=st.data())
@settings(max_examples=25)
def test_documents_add_up_however_the_corpus_is_cut(corpus: Corpus, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(corpus.candidates)))
    for metric in map(parse, NAMES):
        parts = [
            metric.stats(corpus.candidates[cut], corpus.references[cut])
            for cut in (slice(0, at), slice(at, None))
            if corpus.candidates[cut]
        ]
        total_score = metric.corpus(*corpus).value
        summed = metric.score(np.concatenate(parts).sum(axis=0)).value
        assert summed == pytest.approx(total_score, abs=1e-12), metric


@given(corpus=corpora())
@settings(max_examples=25)
def test_rows_of_counts_are_whole_numbers(corpus: Corpus) -> None:
    for name in ("bleu", "aev", "chrf++", "aev:refs=best"):
        assert np.issubdtype(parse(name).stats(*corpus).dtype, np.integer), name


@given(corpus=corpora())
@settings(max_examples=25)
def test_metrics_scored_together_are_those_scored_alone(corpus: Corpus) -> None:
    metrics = [parse(name) for name in NAMES]
    texts = Strings(corpus.candidates)
    refs = as_references(corpus.references, len(texts))
    (actual,) = run_batches(metrics, {"A": texts, "B": texts}, refs, lambda m, rows, first: rows)
    for metric, first, second in zip(metrics, *actual, strict=True):
        alone = metric.stats(*corpus)
        assert np.array_equal(first, alone), metric
        assert np.array_equal(second, alone), metric


def test_the_number_of_references_is_in_the_signature() -> None:
    metric = parse("bleu")
    assert "|nrefs=1|" in metric.corpus(["a"], ["a"]).signature
    assert "|nrefs=2|" in metric.corpus(["a"], [["a", "b"]]).signature
    assert "|nrefs=var|" in metric.corpus(["a", "b"], [["a", "b"], ["b"]]).signature


def test_a_score_is_a_number_and_says_what_it_is() -> None:
    score = parse("bleu").corpus(["a b c d"], ["a b c d"])
    assert float(score) == score.value == pytest.approx(100)
    assert str(score) == f"100.0000  {score.signature}"
    assert score.parts["bp"] == 1


@pytest.mark.parametrize("threads", [0, -1])
def test_fewer_than_one_thread_is_refused(threads: int) -> None:
    with pytest.raises(InputError, match=f"threads={threads}: expected a whole number, at least 1"):
        parse("bleu").corpus(["a"], ["a"], threads=threads)


def test_nothing_to_score_is_an_error() -> None:
    for call in (parse("bleu").corpus, parse("bleu").segments, parse("bleu").stats):
        with pytest.raises(InputError, match="no segments"):
            call([], [])


def test_progress_reaches_the_end() -> None:
    visited: list[tuple[int, int, str]] = []
    parse("bleu").corpus(
        ["a"] * 9000,
        ["a"] * 9000,
        progress=lambda done, total, what: visited.append((done, total, what)),
    )
    assert visited == [(4096, 9000, "scoring"), (8192, 9000, "scoring"), (9000, 9000, "scoring")]
