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
    [
        *("bleu", "bleu:smooth=floor", "chrf++", "rouge3:stem=porter-nltk", "aev:preset=paper,n=1"),
        *("gtm:preset=paper", "gtm:preset=gtm-1.4"),
    ],
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
    scored = kt.score(CANDIDATES, REFERENCES, "bleu", intervals=True)
    assert scored["candidate", "bleu"].score.signature.endswith("|ci=jackknife")
    with pytest.raises(kt.InputError, match="segments=True"):
        scored.segment_scores("candidate", "bleu")


REFUSED = {
    "bleu|nrefs=4|karat=9.9.9": "a signature of Karat 9.9.9, and this is",
    "bleu|": "'' is not a field of a signature",
    "bleu|nrefs": "'nrefs' is not a field of a signature",
    "bleu|nrefs=": "'nrefs=' is not a field of a signature",
    "bleu|refs=1": r"no field 'refs' in signatures; did you mean nrefs\?",
    "bleu|nrefs=many": "nrefs=many: expected a whole number",
    "bleu|nrefs=1|nrefs=1": "nrefs is given twice",
    "bleu|bootstrap=-1": "bootstrap=-1: expected a whole number",
    "bleu|test=t": "test=t: expected jackknife or sacrebleu-bootstrap or sacrebleu-ar",
    "bleu|test=bootstrap": "test=bootstrap: expected jackknife or sacrebleu-bootstrap or",
    "bleu|correction=holm": "correction=holm: expected simultaneous or none",
    "bleu|ci=bootstrap": "ci=bootstrap: expected jackknife",
    "bleu|buckets=many": "buckets=many: expected a whole number",
    "blue|nrefs=1": "unknown metric 'blue'; did you mean bleu",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items())
def test_fields_that_cannot_be_read_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(kt.MetricError, match=sentence):
        kt.metric(text)


TWO = [["the cat sat down", "a cat sat"]]


def test_the_number_of_references_must_be_the_signatures() -> None:
    metric = kt.metric("bleu|nrefs=2")
    assert metric.corpus(CANDIDATES, TWO).value == kt.BLEU().corpus(CANDIDATES, TWO).value
    for use in (metric.corpus, metric.segments, metric.stats):
        with pytest.raises(kt.MetricError, match="says nrefs=2, but every segment has 1 reference"):
            use(CANDIDATES, REFERENCES)
    with pytest.raises(kt.MetricError, match="says nrefs=2"):
        kt.score(CANDIDATES, REFERENCES, ["chrf", "bleu", metric])
    with pytest.raises(kt.MetricError, match="says nrefs=var, but there are 2"):
        kt.score(CANDIDATES, TWO, "bleu|nrefs=var")
    with pytest.raises(kt.MetricError, match="says nrefs=2, but the number of references varies"):
        kt.score([*CANDIDATES, "x"], [*TWO, ["x"]], "bleu|nrefs=2")


def test_a_metric_of_a_signature_is_the_metric() -> None:
    metric = kt.metric("bleu|nrefs=2|ci=jackknife|unit=document")
    assert metric == kt.BLEU()
    assert hash(metric) == hash(kt.BLEU())
    assert str(metric) == "bleu"
    assert kt.BLEU().claims == kt.metric("bleu").claims != metric.claims
    assert pickle.loads(pickle.dumps(metric)).claims == copy.deepcopy(metric).claims


TESTED = {
    "bleu|trials=6|seed=7": "says trials=6, but trials=5 was requested",
    "bleu|trials=5|seed=8": "says seed=8, but seed=7 was requested",
    "bleu|test=jackknife": "says test=jackknife, but test=sacrebleu-bootstrap was requested",
    "bleu|correction=none": "says correction=none, but correction=simultaneous was requested",
    "bleu|ci=jackknife|unit=page": "says unit=page, but no unit was requested: use that unit",
    "bleu|bootstrap=5": "says bootstrap=5, but no bootstrap was requested: intervals of scores",
    "BLEU|nrefs:1|bs:9|seed:7": "says trials=9, but trials=5 was requested",
    "BLEU|nrefs:1|ar:5|seed:7": "says test=sacrebleu-ar, but test=sacrebleu-bootstrap was",
}


@pytest.mark.parametrize(("text", "sentence"), TESTED.items())
def test_tests_must_be_those_of_the_signature(text: str, sentence: str) -> None:
    systems = {"a": CANDIDATES, "b": REFERENCES}
    test = {"test": "sacrebleu-bootstrap", "trials": 5, "seed": 7}
    with pytest.raises(kt.MetricError, match=sentence):
        kt.compare(systems, REFERENCES, text, **test)
    with pytest.raises(kt.MetricError, match=r"but no \w+ was requested: .* or leave "):
        kt.score(CANDIDATES, REFERENCES, text)
    with pytest.raises(kt.MetricError, match="given twice, with seed=7 and seed=8"):
        kt.score(CANDIDATES, REFERENCES, ["bleu|seed=7", "bleu|seed=8"])


def test_what_was_printed_can_be_asked_for_again() -> None:
    scored = kt.score(CANDIDATES, REFERENCES, "bleu", intervals=True).rows[0].score
    again = kt.score(CANDIDATES, REFERENCES, scored.signature, intervals=True).rows[0].score
    assert again == scored
    systems = {"a": CANDIDATES, "b": REFERENCES}
    for form in ("karat", "sacrebleu"):
        for test in ("sacrebleu-bootstrap", "sacrebleu-ar"):
            settings = {"test": test, "signature": form}
            first = kt.compare(systems, REFERENCES, "bleu", trials=9, **settings)
            signature = first.rows[0].score.signature
            second = kt.compare(systems, REFERENCES, signature, trials=9, **settings)
            assert [row.sacrebleu_p for row in second.rows] == [
                row.sacrebleu_p for row in first.rows
            ]
            with pytest.raises(kt.MetricError, match="says trials=9, but trials=8 was requested"):
                kt.compare(systems, REFERENCES, signature, trials=8, **settings)
    compared = kt.compare(systems, REFERENCES, "bleu", units=[1])
    signature = compared.rows[0].score.signature
    assert kt.compare(systems, REFERENCES, signature, units=[1]).signature == signature
