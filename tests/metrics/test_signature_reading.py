"""A signature names its metric again, and says only what is known."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import karat as kt

CANDIDATES, REFERENCES = ["the cat sat"], ["the cat sat down"]


@pytest.mark.parametrize(
    "name",
    ["bleu", "bleu:smooth=floor", "chrf++", "rouge3:stem=porter-nltk", "aev:preset=paper,n=1"],
)
def test_a_signature_parses_to_a_metric_of_the_same_numbers(name: str) -> None:
    metric = kt.metric(name)
    again = kt.metric(metric.corpus(CANDIDATES, REFERENCES).signature)
    assert again.signature(2) == metric.signature(2)
    assert (again.stats(CANDIDATES, REFERENCES) == metric.stats(CANDIDATES, REFERENCES)).all()


def test_a_stop_list_that_has_changed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("the\n")
    signature = kt.metric(f"aev:stop={path}").signature(1)
    with pytest.raises(kt.MetricError, match="not the one of the signature"):
        kt.metric(signature.replace(signature.split("@")[1][:8], "00000000"))


def test_the_amount_of_smoothing_is_shown_even_if_it_is_the_default() -> None:
    assert "smooth_value=0.1," in kt.BLEU(smooth="floor").signature()
    assert "smooth_value=1," in kt.AEv(smooth="add-k").signature()
    assert "smooth_value=none," in kt.BLEU().signature()


def test_a_bare_row_does_not_claim_a_number_of_references() -> None:
    metric = kt.BLEU()
    row = metric.stats(CANDIDATES, REFERENCES)[0]
    assert "|nrefs=unknown|" in metric.score(row).signature
    assert "|nrefs=3|" in metric.score(row, 3).signature


@pytest.mark.parametrize("row", [np.zeros(3), np.zeros((2, 10)), [1, 2]])
def test_what_is_no_row_is_refused_with_the_columns(row: object) -> None:
    with pytest.raises(kt.InputError, match=r"a row has 10 numbers \(c, r, match1"):
        kt.BLEU().score(row)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "says"),
    [("ps:alpha=0.3", "alpha=1"), ("chrf++:words=1", "words=2")],
)
def test_an_alias_cannot_be_contradicted(text: str, says: str) -> None:
    with pytest.raises(kt.MetricError, match=f"already says {says}"):
        kt.metric(text)


def test_scores_can_be_copied_hashed_and_sent_elsewhere() -> None:
    score = kt.BLEU().corpus(CANDIDATES, REFERENCES)
    assert pickle.loads(pickle.dumps(score)) == copy.deepcopy(score) == score
    assert hash(score) == hash(copy.deepcopy(score))


@pytest.mark.parametrize("given", [None, 5, ["bleu"], kt.BLEU, b"bleu"])
def test_what_is_no_metric_is_refused(given: object) -> None:
    with pytest.raises(kt.MetricError, match="is no metric: give its name"):
        kt.metric(given)  # type: ignore[arg-type]


def test_scores_from_python_say_how_their_intervals_were_made() -> None:
    scored = kt.score(CANDIDATES, REFERENCES, "bleu", bootstrap=5, seed=7)
    assert scored["candidate", "bleu"].score.signature.endswith("|bootstrap=5|seed=7")
    with pytest.raises(kt.InputError, match="segments=True"):
        scored.segment_scores("candidate", "bleu")
