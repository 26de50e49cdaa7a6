"""TER against sacreBLEU, whose numbers are the definition."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import corpora, hard_text
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate
from sizes import examples

import karat as kt

OPTIONS = list(product([False, True], repeat=4))
names = st.sampled_from("abcdefgh")
sentence = st.lists(names, max_size=30).map(" ".join)


def peer_and_ours(normalized, no_punct, asian, sensitive):
    """sacreBLEU's metric and Karat's with the same options."""
    peer = TER(
        normalized=normalized, no_punct=no_punct, asian_support=asian, case_sensitive=sensitive
    )
    case = "mixed" if sensitive else "lower"
    return peer, kt.TER(norm=normalized, nopunct=no_punct, asian=asian, case=case)


def check(corpus, options):
    """Segments and corpus agree to 1e-9."""
    peer, actual = peer_and_ours(*options)
    segment_scores = actual.segments(*corpus)
    for value, candidate, group in zip(segment_scores, *corpus, strict=True):
        assert value == pytest.approx(peer.sentence_score(candidate, group).score, abs=1e-9)
    if len({len(group) for group in corpus.references}) == 1:
        columns = [list(column) for column in zip(*corpus.references, strict=True)]
        expected = peer.corpus_score(corpus.candidates, columns).score
        assert actual.corpus(*corpus).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("options", OPTIONS)
@given(corpus=corpora(hard_text, segments=3, references=2, varying=False))
@examples(15, 60)
def test_any_text_with_all_options(options, corpus):
    check(corpus, options)


@given(corpora(sentence, segments=2, references=3, varying=False))
def test_texts_with_many_shifts(corpus):
    check(corpus, (False, False, False, False))


@st.composite
def shuffled(draw, longest):
    """A reference of any length and a hypothesis made from it by moving blocks."""
    n = draw(st.integers(1, longest))
    words = [f"w{i % draw(st.sampled_from([7, 1000]))}" for i in range(n)]
    moved = list(words)
    for _ in range(draw(st.integers(0, 4))):
        i, j, k = sorted(draw(st.lists(st.integers(0, n), min_size=3, max_size=3)))
        moved = moved[:i] + moved[j:k] + moved[i:j] + moved[k:]
    cut = draw(st.integers(0, n))
    return moved[:cut] + draw(st.sampled_from([[], ["new"] * 3, ["new"] * 60])) + moved[cut:], words


@examples(6, 20)
@given(shuffled(100))
def test_long_texts_where_the_beam_and_the_limits_count(pair):
    hypothesis, reference = pair
    expected = translation_edit_rate(hypothesis, reference)[0]
    score = kt.TER().corpus([" ".join(hypothesis)], [" ".join(reference)])
    assert score.parts["edits"] == expected


@pytest.mark.parametrize(
    ("n", "m"), [(0, 3), (3, 0), (1, 200), (200, 1), (2, 130), (64, 64), (65, 65), (10, 64)]
)
def test_lengths_far_apart(n, m):
    hypothesis = [f"w{i % 5}" for i in range(n)]
    reference = [f"w{i % 7}" for i in range(m)]
    score = kt.TER().corpus([" ".join(hypothesis)], [" ".join(reference)])
    assert score.parts["edits"] == translation_edit_rate(hypothesis, reference)[0]


@pytest.mark.parametrize(
    "text",
    ["1..5", "a.,b", "&amp;lt;", "it's 's", "\n-x", "3-4-5", "。中文、かな", "ﾟ｡ｱ", "...", "a\n"],
)
def test_corners_of_the_tokeniser(text):
    for options in OPTIONS:
        peer, actual = peer_and_ours(*options)
        expected = peer.sentence_score(text, [text + " x"]).score
        assert actual.corpus([text], [text + " x"]).value == pytest.approx(expected, abs=1e-9)


def test_lower_is_better_and_aliases_are_the_definers():
    metric = kt.metric("ter:normalized=yes,no_punct=yes,asian_support=yes")
    assert str(metric) == "ter:norm=yes,nopunct=yes,asian=yes"
    assert metric.sign == -1


@pytest.mark.parametrize("segments", [12, pytest.param(60, marks=pytest.mark.long)])
def test_ted_system_outputs(karat_data, segments):
    texts = defaultdict(dict)
    with (karat_data / "mt-ted-zhen" / "mqm_ted_zhen.tsv").open(
        encoding="utf-8", newline=""
    ) as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            texts[row["system"]][int(row["seg_id"])] = re.sub("</?v>", "", row["target"])
    order = sorted(texts["refB"])[:segments]
    systems = sorted(name for name in texts if not name.startswith("ref"))
    columns = [[texts[name][i] for i in order] for name in ("refB", "ref")]
    for number, name in enumerate(systems):
        options = OPTIONS[number % len(OPTIONS)]
        peer, actual = peer_and_ours(*options)
        candidates = [texts[name][i] for i in order]
        expected = peer.corpus_score(candidates, columns).score
        actual_score = actual.corpus(candidates, list(zip(*columns, strict=True)))
        assert actual_score.value == pytest.approx(expected, abs=1e-9)
