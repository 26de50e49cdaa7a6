"""sacreBLEU's signatures: each is read whole and scores as sacreBLEU does, and is written alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.peers import streams
from oracles.strategies import Corpus, corpora
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

import karat as kt

BOOLS = st.booleans()
PEERS = (
    st.builds(
        BLEU,
        lowercase=BOOLS,
        force=st.just(True),
        tokenize=st.sampled_from(["13a", "intl", "zh", "char", "none"]),
        smooth_method=st.sampled_from(["exp", "floor", "add-k", "none"]),
        smooth_value=st.none() | st.integers(0, 300).map(lambda n: n / 100),
        effective_order=BOOLS,
    )
    | st.builds(
        CHRF,
        char_order=st.integers(1, 8),
        word_order=st.integers(0, 4),
        beta=st.integers(1, 4),
        lowercase=BOOLS,
        whitespace=BOOLS,
        eps_smoothing=BOOLS,
    )
    | st.builds(TER, normalized=BOOLS, no_punct=BOOLS, asian_support=BOOLS, case_sensitive=BOOLS)
)
TEXT = st.text(alphabet="ab AB.1,今\n", max_size=30).map(lambda text: text.replace("\n", " "))


@given(peer=PEERS, corpus=corpora(TEXT), short=BOOLS)
@settings(max_examples=150)
def test_a_signature_scores_as_sacrebleu_does(peer: Any, corpus: Corpus, short: bool) -> None:
    expected = peer.corpus_score(corpus.candidates, streams(corpus.references))
    signature = peer.get_signature()
    metric = kt.metric(f"{expected.name}|{signature.format(short)}")
    actual_score = metric.corpus(*corpus)
    assert actual_score.value == pytest.approx(expected.score, abs=1e-9)
    if not isinstance(peer, CHRF):  # whose beta stands in its name alone
        assert kt.metric(signature.format(short)) == metric
    number = {len(group) for group in corpus.references}
    written = metric.signature(number.pop() if len(number) == 1 else None, "sacrebleu")
    message = str(signature).replace("version:2.6.0", f"version:karat-{kt.__version__}")
    assert written == f"{expected.name}|{message}"
    assert kt.metric(written) == metric


CANDIDATES, REFERENCES = ["the cat sat", "a dog ran off"], ["the cat sat down", "the dog ran off"]


def test_a_whole_line_of_settings_counts() -> None:
    metric = kt.metric("bleu|nrefs:1|case:lc|tok:char|smooth:none|version:2.4.0")
    assert metric == kt.BLEU(case="lower", tok="char", smooth="none")


@pytest.mark.parametrize("test", ["bs", "ar"])
def test_signatures_of_tests_are_written_alike(test: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    systems = [("a", CANDIDATES), ("b", REFERENCES)]
    peer = PairedTest(systems, {"BLEU": BLEU()}, [REFERENCES], test_type=test, n_samples=20)
    message = str(peer()[0]["BLEU"]).replace("version:2.6.0", f"version:karat-{kt.__version__}")
    comparison = kt.compare(
        dict(systems),
        REFERENCES,
        "bleu",
        test={"bs": "sacrebleu-bootstrap", "ar": "sacrebleu-ar"}[test],
        trials=20,
        signature="sacrebleu",
    )
    assert comparison.rows[0].score.signature == f"BLEU|{message}"


def test_intervals_by_the_jackknife_are_not_signed(monkeypatch: Any) -> None:
    """sacreBLEU's form has only fields for the bootstrap and randomization."""
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    peer = BLEU()
    peer.corpus_score(CANDIDATES, [REFERENCES])
    actual_signature = str(peer.get_signature()).replace("2.6.0", f"karat-{kt.__version__}")
    scoring = kt.score(CANDIDATES, REFERENCES, "bleu", intervals=True, signature="sacrebleu")
    assert scoring.rows[0].score.signature == f"BLEU|{actual_signature}"
    again = kt.score(CANDIDATES, REFERENCES, f"BLEU|{actual_signature}", intervals=True)
    assert again.rows[0].score.value == scoring.rows[0].score.value


@pytest.mark.parametrize(
    "metric", ["rouge1", "bleu:n=3", "bleu:tok=rouge", "bleu:smooth=floor,smooth_value=0.123"]
)
def test_what_that_form_cannot_say_is_signed_by_karat(metric: str) -> None:
    actual_metric = kt.metric(metric)
    assert actual_metric.signature(1, "sacrebleu") == actual_metric.signature(1)
    with pytest.raises(kt.InputError, match="expected one of karat, sacrebleu"):
        actual_metric.signature(1, "sacreblue")
    with pytest.raises(kt.InputError, match="expected one of karat, sacrebleu"):
        kt.score(CANDIDATES, REFERENCES, actual_metric, signature="short")


REFUSED = {
    "BLEU|nrefs:1|tok:flores": "tok:flores: expected a tokeniser that Karat has too: 13a, ",
    "BLEU|nrefs:1|tok:spm": "tok:spm: expected a tokeniser that Karat has too",
    "BLEU|smooth:floor": r"smooth:floor: expected exp, none, floor\[0.10\] or add-k\[1.00\]",
    "BLEU|smooth:floor[x]": r"expected exp, none",
    "BLEU|case:upper": "case:upper: expected mixed or lc",
    "BLEU|eff:maybe": "eff:maybe: expected yes or no",
    "BLEU|nc:6": "sacreBLEU's BLEU has no field 'nc'",
    "BLEU|smoth:exp": "has no field 'smoth'; did you mean smooth",
    "BLEU|nrefs:0x": "nrefs:0x: expected a whole number",
    "BLEU|nrefs:1|test:wmt17|lang:en-de": "test:wmt17: Karat has none of sacreBLEU's test sets",
    "BLEU|seed:none": "seed:none: expected a whole number",
    "BLEU|case:lc|c:lc": "c is given twice",
    "BLEU|nrefs:1|version:1.5.1": "Karat's numbers are those of sacreBLEU 2.0 to 2.6",
    "BLEU|nrefs:1|version:3.0.0": "Karat's numbers are those of sacreBLEU 2.0 to 2.6",
    "BLEU|nrefs:1|version:2.6.0 = 41.2": "expected a version, such as 2.6.0",
    "BLEU|nrefs:1|version:karat-9.9.9": "a signature of Karat 9.9.9",
    "chrF2++|nw:1": "the name says words=2, its field words=1",
    "chrF2|nc:many": "nc:many: expected a whole number",
    "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no": r"as in chrF2\|nrefs:1",
    "TER|tok:13a": "tok:13a: expected tercom",
    "nrefs:1|version:2.6.0": "no metric is named",
    "rouge1|nrefs:1|case:lc": "whose metrics are BLEU, chrF and TER",
    "bleu:n=2|nrefs:1|case:lc": "whose metrics are BLEU, chrF and TER",
    "bleu|nrefs:1|karat=0.2.0": "write all in one form",
    "BLEU+case.mixed+numrefs.1+smooth.exp+tok.13a+version.1.5.1": "a signature of sacreBLEU 1",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items())
def test_what_cannot_be_read_is_refused_by_name(text: str, sentence: str) -> None:
    with pytest.raises(kt.MetricError, match=sentence) as caught:
        kt.metric(text)
    assert "\n" not in str(caught.value)
