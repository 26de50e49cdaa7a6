"""`karat.compat.sacrebleu` equals the installed sacreBLEU, call by call and field by field."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import sacrebleu as theirs
import sacrebleu.metrics as their_metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.peers import streams
from oracles.strategies import Corpus, any_text, corpora

import karat
from karat.compat import sacrebleu as ours
from karat.compat.sacrebleu import metrics as our_metrics

FUNCTIONS = [
    *("corpus_bleu", "raw_corpus_bleu", "sentence_bleu", "corpus_chrf", "sentence_chrf"),
    *("corpus_ter", "sentence_ter"),
]
CLASSES = ["BLEU", "CHRF", "TER"]
BOOLS = st.booleans()
BLEU_SETTINGS = {
    "lowercase": BOOLS,
    "tokenize": st.sampled_from(["13a", "intl", "zh", "char", "none"]),
    "smooth_method": st.sampled_from(["exp", "floor", "add-k", "none"]),
    "smooth_value": st.none() | st.integers(0, 300).map(lambda n: n / 100),
}
CHRF_SETTINGS = {
    "char_order": st.integers(1, 8),
    "word_order": st.integers(0, 4),
    "beta": st.integers(1, 4) | st.sampled_from([0.5, 2.0]),
    "eps_smoothing": BOOLS,
}
TER_SETTINGS = dict.fromkeys(("normalized", "no_punct", "asian_support", "case_sensitive"), BOOLS)
OF_CLASS = {
    "BLEU": {
        **BLEU_SETTINGS,
        "force": BOOLS,
        "max_ngram_order": st.integers(1, 6),
        "effective_order": BOOLS,
        "trg_lang": st.sampled_from(["", "en", "zh"]),
    },
    "CHRF": {**CHRF_SETTINGS, "lowercase": BOOLS, "whitespace": BOOLS},
    "TER": TER_SETTINGS,
}
OF_FUNCTION = {
    "corpus_bleu": {**BLEU_SETTINGS, "force": BOOLS, "use_effective_order": BOOLS},
    "sentence_bleu": {**BLEU_SETTINGS, "use_effective_order": BOOLS},
    "raw_corpus_bleu": {"smooth_value": BLEU_SETTINGS["smooth_value"]},
    "corpus_chrf": {**CHRF_SETTINGS, "remove_whitespace": BOOLS},
    "sentence_chrf": {**CHRF_SETTINGS, "remove_whitespace": BOOLS},
    "corpus_ter": TER_SETTINGS,
    "sentence_ter": TER_SETTINGS,
}


def some_settings(of: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the arguments."""
    return st.fixed_dictionaries({}, optional=of)


def same_score(actual: Any, peer: Any) -> None:
    """All fields, to the last bit, and all string forms of two scores."""
    assert vars(actual) == vars(peer)
    signature = "nrefs:1|case:mixed"
    assert str(actual) == repr(actual) == str(peer) == repr(peer)
    for more in ({}, {"width": 4}, {"score_only": True}, {"is_json": True}):
        form = {"signature": signature, **more}
        assert actual.format(**form) == peer.format(**form)


def same_metric(actual: Any, peer: Any) -> None:
    """Attributes and signatures of two metrics that were used."""
    for name in {*vars(peer)} - {"tokenizer", "_ref_cache", "_force"}:
        assert getattr(actual, name) == getattr(peer, name), name
    signatures = actual.get_signature(), peer.get_signature()
    assert [*signatures[0].info.items()] == [*signatures[1].info.items()]
    for is_short in (False, True):
        assert signatures[0].format(is_short) == signatures[1].format(is_short)


# ------------------------------------------------------------------------- names and arguments


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_same_arguments(name: str) -> None:
    actual, peer = (inspect.signature(getattr(m, name)).parameters for m in (ours, theirs))
    assert [(p.name, p.default, p.kind) for p in actual.values()] == [
        (p.name, p.default, p.kind) for p in peer.values()
    ]


@pytest.mark.parametrize("name", [*CLASSES, "BLEUScore", "CHRFScore", "TERScore"])
def test_classes_have_the_same_methods_and_arguments(name: str) -> None:
    actual, peer = getattr(our_metrics, name), getattr(their_metrics, name)
    methods = ["__init__", *(n for n in dir(peer) if not n.startswith("_"))]
    for method in methods:
        other = getattr(peer, method)
        if callable(other):
            actual_parameters = inspect.signature(getattr(actual, method)).parameters.values()
            expected = inspect.signature(other).parameters.values()
            assert [(p.name, p.default) for p in actual_parameters] == [
                (p.name, p.default) for p in expected
            ]
        else:
            repeated = tuple if name == "BLEU" and method == "TOKENIZERS" else type(other)
            assert getattr(actual, method) == repeated(other)


def test_names_of_the_package_are_here_or_refused_with_a_reason() -> None:
    inner = {"compat", "dataset", "metrics", "tokenizers", "utils", "version"}
    for name in {n for n in dir(theirs) if not n.startswith("_")} - inner:
        if not hasattr(ours, name):
            with pytest.raises(AttributeError, match=f"has no {name}: .{{20}}"):
                getattr(ours, name)
    assert our_metrics.METRICS.keys() == their_metrics.METRICS.keys()
    assert ours.__version__.startswith(f"{theirs.__version__}+karat.")
    with pytest.raises(AttributeError, match=r"has no corpus_blue$"):
        _ = ours.corpus_blue


# ------------------------------------------------------------------------------ generated input


@pytest.mark.parametrize("name", FUNCTIONS)
@given(corpus=corpora(references=3), data=st.data())
@settings(max_examples=25)
def test_functions(name: str, corpus: Corpus, data: st.DataObject) -> None:
    more = data.draw(some_settings(OF_FUNCTION[name]))
    actual, peer = getattr(ours, name), getattr(theirs, name)
    if name.startswith("sentence"):
        for texts in zip(*corpus, strict=True):
            same_score(actual(*texts, **more), peer(*texts, **more))
    else:
        texts = corpus.candidates, streams(corpus.references)
        same_score(actual(*texts, **more), peer(*texts, **more))


@pytest.mark.parametrize("name", CLASSES)
@given(corpus=corpora(references=3), data=st.data(), cached=BOOLS)
@settings(max_examples=40)
def test_classes(name: str, corpus: Corpus, data: st.DataObject, cached: bool) -> None:
    more = data.draw(some_settings(OF_CLASS[name]))
    value = streams(corpus.references)
    selected = {"references": value} if cached else {}
    actual, peer = (getattr(m, name)(**more, **selected) for m in (our_metrics, their_metrics))
    message = None if cached else value
    same_score(*(m.corpus_score(corpus.candidates, message) for m in (actual, peer)))
    same_metric(actual, peer)
    item = corpus.candidates[0], corpus.references[0]
    same_score(*(m.sentence_score(*item) for m in (actual, peer)))
    same_metric(actual, peer)


@given(
    length=st.integers(0, 12),
    other=st.integers(0, 12),
    misses=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    more=some_settings(
        {
            "smooth_method": BLEU_SETTINGS["smooth_method"],
            "smooth_value": BLEU_SETTINGS["smooth_value"],
            "effective_order": BOOLS,
        }
    ),
)
def test_compute_bleu(length: int, other: int, misses: list[int], more: dict[str, Any]) -> None:
    total = [max(length - n, 0) for n in range(4)]
    correct = [max(t - m, 0) for t, m in zip(total, misses, strict=True)]
    same_score(
        *(m.BLEU.compute_bleu([*correct], [*total], length, other, **more) for m in (ours, theirs))
    )


# ------------------------------------------------------------------------------------ intervals


def demo() -> tuple[list[str], list[list[str]]]:
    """Some outputs of a system of the demonstration, and two streams of references."""
    folder = resources.files("karat") / "data" / "demo"
    system = (folder / "systems" / "beacon.txt").read_text("utf-8").splitlines()
    files = [folder / f"reference-{k}.txt" for k in (1, 2)]
    return system[::4], [file.read_text("utf-8").splitlines()[::4] for file in files]


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("seed", [None, "7"])
def test_intervals_are_drawn_alike(
    name: str, seed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed is not None:
        monkeypatch.setenv("SACREBLEU_SEED", seed)
    actual, peer = (getattr(m, name)() for m in (ours, theirs))
    score, expected = (m.corpus_score(*demo(), n_bootstrap=200) for m in (actual, peer))
    same_score(score, expected)
    same_metric(actual, peer)
    assert score._ci > 0.1
    assert str(score) == str(expected)
    fields = [json.loads(s.format(signature="nrefs:2", is_json=True)) for s in (score, expected)]
    assert fields[0] == fields[1]
    assert {"confidence", "confidence_mean", "confidence_var"} <= fields[0].keys()
    same_score(*(m.corpus_score(*demo()) for m in (actual, peer)))
    same_metric(actual, peer)  # the resamples before stay in the signature, as in sacreBLEU


def test_a_seed_may_be_random_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "None")
    metric = ours.BLEU()
    means = {metric.corpus_score(*demo(), n_bootstrap=50)._mean for _ in range(4)}
    assert len(means) > 1
    assert "|seed:none|" in str(metric.get_signature())
    for wrong in ("x1", "9" * 5000):
        monkeypatch.setenv("SACREBLEU_SEED", wrong)
        with pytest.raises(karat.InputError, match=r"SACREBLEU_SEED=.*: expected a whole number"):
            metric.corpus_score(*demo(), n_bootstrap=50)


@given(values=st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_estimate_ci(values: list[float]) -> None:
    actual = [m.BLEUScore(1.0, [1], [1], [100.0], 1.0, 1, 1) for m in (our_metrics, their_metrics)]
    for score in actual:
        other_texts = [copy.copy(score) for _ in values]
        for other, value in zip(other_texts, values, strict=True):
            other.score = value
        score.estimate_ci(other_texts)
    assert actual[0]._mean == pytest.approx(actual[1]._mean)
    assert actual[0]._ci == pytest.approx(actual[1]._ci)


def test_a_chrf_resample_of_zero_is_counted_where_sacrebleu_fails() -> None:
    texts = ["the cat sat", "x"], [["the cat sat", "y"]]
    with pytest.raises(TypeError):
        theirs.CHRF().corpus_score(*texts, n_bootstrap=50)
    assert 0 < ours.CHRF().corpus_score(*texts, n_bootstrap=50)._mean < 100


# ------------------------------------------------------------------------------------ real texts


@pytest.mark.parametrize("name", CLASSES)
def test_real_texts(name: str, karat_data: Path) -> None:
    from data.real_texts import ted

    talks = ted(karat_data)
    references = [talks.targets["ref"], talks.targets["refB"]]
    system = next(t for n, t in talks.targets.items() if not n.startswith("ref"))
    step = 6 if name == "TER" else 1
    texts = system[::step], [stream[::step] for stream in references]
    same_score(*(getattr(m, name)().corpus_score(*texts) for m in (ours, theirs)))


# -------------------------------------------------------------------------- refused, and allowed

TEXTS = ["the cat sat on the mat", "a dog"]
REFUSED = {
    "one string": (("the cat", [["a"]]), "hypotheses is one str"),
    "references as one string": ((TEXTS, "ab"), "references is str: give a list of streams"),
    "a stream that is a string": ((TEXTS, ["a", "b"]), r"references\[0\] is str: give a list of"),
    "too few references": ((TEXTS, [["a"]]), "hypotheses has 2 segments and references.0. has 1"),
    "too many references": ((TEXTS, [["a"] * 3]), "hypotheses has 2 segments and ref.* has 3"),
    "unequal streams": ((TEXTS, [["a", "b"], ["c"]]), "streams of references have 1 and 2"),
    "no streams": ((TEXTS, []), "references is empty: give a list of streams"),
    "nothing at all": (([], [[]]), "no segments"),
    "no reference of a segment": ((TEXTS, [["a", None], ["b", None]]), "segment 2 has no ref"),
    "no references": ((TEXTS, None), "no references: give them here or to the constructor"),
    "a number": (([1, "a"], [["a", "b"]]), r"hypotheses\[0\] is int, expected str"),
    "a missing hypothesis": ((["a", None], [["a", "b"]]), r"hypotheses\[1\] is NoneType"),
    "a number as reference": ((TEXTS, [["a", 3]]), r"references\[0\]\[1\] is int, expected str"),
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(("texts", "sentence"), REFUSED.values(), ids=[*REFUSED])
def test_what_cannot_be_scored_is_refused(name: str, texts: Any, sentence: str) -> None:
    with pytest.raises(karat.InputError, match=sentence):
        getattr(ours, name)().corpus_score(*texts)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ((["a"], ["a"]), "hypothesis is list, expected str"),
        (("a", "a"), "references is str, expected a list of str"),
        (("a", [["a"]]), r"references holds \['a'\], expected str"),
        (("a", [None]), "references is empty"),
    ],
)
def test_sentences_that_cannot_be_scored_are_refused(texts: Any, sentence: str) -> None:
    for name in CLASSES:
        with pytest.raises(karat.InputError, match=sentence):
            getattr(ours, name)().sentence_score(*texts)


def test_wrong_settings_are_refused() -> None:
    for wrong, sentence in (
        ({"smooth_method": "flor"}, "did you mean floor"),
        ({"tokenize": "14a"}, "did you mean 13a"),
        ({"max_ngram_order": 0}, "n=0 is out of range"),
        ({"max_ngram_order": 4.0}, "n=4 is float, expected a whole number"),
    ):
        with pytest.raises(karat.InputError, match=sentence):
            ours.BLEU(**wrong)  # type: ignore[arg-type]
    with pytest.raises(karat.InputError, match="n=0 is out of range"):
        ours.CHRF(char_order=0)
    with pytest.raises(karat.InputError, match="score something first"):
        ours.TER().get_signature()


def test_json_needs_no_signature() -> None:
    document = json.loads(ours.corpus_chrf(["a b"], [["a b"]]).format(is_json=True))
    assert document == {"name": "chrF2", "score": 100.0, "signature": ""}


@given(text=any_text)
def test_metrics_and_scores_can_be_copied_and_pickled(text: str) -> None:
    for name in CLASSES:
        metric = getattr(ours, name)()
        score = metric.sentence_score(text, [text])
        for again in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):
            assert str(again.sentence_score(text, [text])) == str(score)
        assert vars(pickle.loads(pickle.dumps(score))) == vars(score)
