"""A metric is a value with one name: it parses back, hashes, and signs itself completely."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.errors import InputError, KaratError, MetricError
from karat.metrics.base import Metric
from karat.metrics.chrf import ChrF
from karat.metrics.names import METRICS, metric
from karat.metrics.names import metric as parse
from karat.metrics.ngram import BLEU, AEv
from karat.metrics.rouge import RougeL, RougeLsum, RougeN
from karat.text.tokens import REGISTRY, KernelTokenizer, stop_digest

ALL = [AEv, BLEU, ChrF, RougeN, RougeL, RougeLsum]
PATHS = st.text(st.characters(exclude_categories=["Zl", "Zp", "Cc", "Cs"]), min_size=1)


def values(f: Any) -> st.SearchStrategy[Any]:
    """Any value that a setting may have."""
    kind, choices = f.metadata["kind"], f.metadata["choices"]
    low, high = max(f.metadata["low"], f.metadata["above"]), f.metadata["high"]
    if choices is not None:
        return st.sampled_from(sorted(choices() if callable(choices) else choices))
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(int(low), int(high))
    if kind is float:
        open_below = f.metadata["above"] == low
        numbers = st.floats(low, high, allow_nan=False, exclude_min=open_below)
        return st.none() | numbers if f.default is None else numbers
    return st.sampled_from(["none", "en"]) | PATHS


@st.composite
def metrics(draw: st.DrawFn, cls: type[Metric]) -> Metric:
    """A metric of a class with any settings, most of them the default."""
    value: dict[str, Any] = {}
    for f in fields(cls):
        if f.metadata["kind"] is not tuple and draw(st.booleans()):
            value[f.name] = draw(values(f))
    if cls is AEv and draw(st.booleans()):
        n = value.get("n", 4)
        item = st.floats(0, 1e9, allow_nan=False)
        value["weights"] = tuple(draw(st.lists(item, min_size=n, max_size=n).filter(any)))
    return cls(**value)


@pytest.mark.parametrize("cls", ALL)
@given(data=st.data())
@settings(max_examples=80)
def test_a_name_parses_back(cls: type[Metric], data: st.DataObject) -> None:
    metric = data.draw(metrics(cls))
    again = parse(str(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert str(again) == str(metric)
    assert type(again) is cls


@pytest.mark.parametrize("cls", ALL)
@given(data=st.data())
@settings(max_examples=50)
def test_unequal_metrics_have_unequal_names(cls: type[Metric], data: st.DataObject) -> None:
    first, second = data.draw(metrics(cls)), data.draw(metrics(cls))
    assert (first == second) == (str(first) == str(second))


CANONICAL = {
    "bleu": BLEU(),
    "aev": AEv(),
    "ps": AEv(alpha=1),
    "rs": AEv(alpha=0),
    "chrf": ChrF(),
    "chrf++": ChrF(words=2),
    "rouge1": RougeN(),
    "rouge2": RougeN(n=2),
    "rouge9": RougeN(n=9),
    "rougeL": RougeL(),
    "rougeLsum": RougeLsum(),
    "aev:alpha=0.3,n=2": AEv(alpha=0.3, n=2),
    "aev:n=3,weights=0/0/1": AEv(n=3, weights=(0, 0, 1)),
    "aev:w=inf,b=inf": AEv(w=math.inf, b=math.inf),
    "bleu:n=2,tok=zh,case=lower,smooth=add-k,smooth_value=2,eff=yes": BLEU(
        2, "zh", "lower", "add-k", 2, True
    ),
    "rouge2:stem=porter-nltk": RougeN(n=2, stem="porter-nltk"),
}


@pytest.mark.parametrize(("text", "expected"), CANONICAL.items())
def test_names_and_aliases(text: str, expected: Metric) -> None:
    assert parse(text) == expected
    assert metric(text) == expected
    assert metric(expected) is expected


PRINTED = {
    "ps": "aev:alpha=1",
    "rs:n=2": "aev:alpha=0,n=2",
    "chrf++": "chrf:words=2",
    "ROUGE-3": "rouge3",
    "rouge_l": "rougeL",
    "Rouge-LSum": "rougeLsum",
    "BLEU": "bleu",
    "chrF++:beta=3": "chrf:words=2,beta=3",
    "aev:preset=paper": "aev:case=lower,stem=porter,stop=en,stop_scope=unigrams",
    "gtm:preset=paper": "gtm:e=2,search=exact,cap=whole",
    "gtm:preset=paper,e=3": "gtm:e=3,search=exact,cap=whole",
    "gtm:preset=gtm-1.4": "gtm:tok=gtm",
    "aev:alpha=.50": "aev",
    "aev:alpha=1e-1": "aev:alpha=0.1",
    " bleu:n = 2 , tok = none ": "bleu:n=2,tok=none",
    "bleu:eff=TRUE": "bleu:eff=yes",
    "bleu:eff=false": "bleu:eff=no",
    "bleu:eff=auto": "bleu",
    "bleu:smooth_value=none": "bleu",
    "rouge1:tok=13a,case=mixed": "rouge1:tok=13a,case=mixed",
}


@pytest.mark.parametrize(("text", "expected"), PRINTED.items())
def test_names_print_canonically(text: str, expected: str) -> None:
    assert str(parse(text)) == expected


SACREBLEU = {
    "bleu:max_ngram_order=2": BLEU(n=2),
    "bleu:tokenize=intl": BLEU(tok="intl"),
    "bleu:smooth_method=floor,smooth_value=0.5": BLEU(smooth="floor", smooth_value=0.5),
    "bleu:effective_order=true": BLEU(eff=True),
    "chrf:char_order=4,word_order=1": ChrF(n=4, words=1),
    "chrf:whitespace=true,eps_smoothing=true": ChrF(space=True, eps=True),
}


@pytest.mark.parametrize(("text", "expected"), SACREBLEU.items())
def test_other_tools_names_of_settings(text: str, expected: Metric) -> None:
    assert parse(text) == expected


ERRORS = {
    "blue": r"unknown metric 'blue'; did you mean bleu\? \(karat metrics lists them all; a column "
    r"of scores is given:column=blue\)",
    "rouge": r"unknown metric 'rouge'; did you mean rouge",
    "zzzzzz": r"unknown metric 'zzzzzz' \(karat metrics",
    "": r"unknown metric ''",
    "bleu:toc=13a": r"bleu has no setting 'toc'; did you mean tok\? \(it has n, tok, case,",
    "bleu:preset=paper": r"bleu has no setting 'preset'",
    "aev:preset=papers": r"aev: no preset 'papers'; there is paper",
    "gtm:preset=tool": r"gtm: no preset 'tool'; there is paper, gtm-1.4",
    "bleu:": r"bleu: '' is no setting; expected setting=value",
    "bleu:n": r"bleu: 'n' is no setting; expected setting=value",
    "bleu:n=": r"bleu: 'n=' is no setting",
    "bleu:=3": r"bleu: '=3' is no setting",
    "bleu:n=3,": r"bleu: '' is no setting",
    "bleu:n=3,n=4": r"n is given twice",
    "bleu:n=3,max_ngram_order=4": r"max_ngram_order is given twice",
    "bleu:n=x": r"bleu: n=x: expected a whole number",
    "bleu:n=2.5": r"bleu: n=2.5: expected a whole number",
    "bleu:eff=maybe": r"bleu: eff=maybe: expected yes or no",
    "aev:alpha=much": r"aev: alpha=much: expected a number",
    "aev:alpha=nan": r"aev: alpha=nan: expected a number",
    "aev:weights=1/x": r"aev: weights=1/x: expected numbers as in 0.5/0.5",
    "aev:n=2,weights=1": r"weights=1: expected 2 numbers of 0 or more \(one per order, n=2\)",
    "aev:n=2,weights=0/0": r"weights=0/0: expected 2 numbers .* used as they are.*",
    "aev:n=2,weights=-1/2": r"weights=-1/2: expected 2 numbers of 0 or more",
    "aev:n=2,weights=1/inf": r"weights=1/inf: expected 2 numbers",
    "bleu:n=0": r"bleu: n=0 is out of range: expected at least 1 and at most 20",
    "bleu:n=21": r"bleu: n=21 is out of range: expected at least 1 and at most 20",
    "aev:alpha=1.5": r"alpha=1.5 is out of range: expected at least 0 and at most 1",
    "aev:b=0": r"aev: b=0 is out of range: expected above 0",
    "rouge0": r"n=0 is out of range",
    "rouge21": r"n=21 is out of range",
    "bleu:tok=14a": r"tok=14a is not one of 13a, intl, zh, char, none, .*; did you mean 13a\?",
    "bleu:smooth=lin": r"smooth=lin is not one of none, exp, floor, add-k",
    "rouge1:stem=portr": r"stem=portr is not one of none, porter-nltk, .*did you mean porter\?",
}


@pytest.mark.parametrize(("text", "sentence"), ERRORS.items())
def test_errors_are_one_clear_sentence(text: str, sentence: str) -> None:
    with pytest.raises(MetricError, match=sentence) as caught:
        parse(text)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, InputError | KaratError | ValueError)


def test_constructors_validate_too() -> None:
    with pytest.raises(MetricError, match="n=2 is float, expected a whole number"):
        BLEU(n=2.0)  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="n=yes is bool, expected a whole number"):
        BLEU(n=True)
    with pytest.raises(MetricError, match="tok=none is missing"):
        BLEU(tok=None)  # type: ignore[arg-type]
    with pytest.raises(MetricError, match=r"stop='my\\nlist' holds a line end"):
        AEv(stop="my\nlist")
    with pytest.raises(MetricError, match="stop= is empty"):
        AEv(stop="")
    with pytest.raises(MetricError, match="alpha=nan is out of range"):
        AEv(alpha=math.nan)


def test_whole_numbers_become_floats() -> None:
    assert AEv(alpha=1) == AEv(alpha=1.0)
    assert isinstance(AEv(alpha=1).alpha, float)


@pytest.mark.parametrize("alpha", [0.3, 0.1 + 0.2, 1 / 3])
def test_numpys_floats_are_floats(alpha: float) -> None:
    metric = AEv(alpha=np.float64(alpha))
    assert str(metric) == str(AEv(alpha=alpha))
    assert parse(str(metric)) == metric


def test_metrics_are_values() -> None:
    assert len({BLEU(), BLEU(n=4), parse("bleu"), BLEU(n=3)}) == 2
    assert BLEU() != AEv()
    with pytest.raises(AttributeError):
        BLEU().n = 3  # type: ignore[misc]


def _needs_nothing(metric: Metric) -> bool:
    """Whether the signature of a metric digests no file and no package."""
    tok = REGISTRY[getattr(metric, "tok", "13a")]
    return getattr(metric, "stop", "none") in ("none", "en") and isinstance(tok, KernelTokenizer)


@pytest.mark.parametrize("cls", ALL)
@given(data=st.data())
@settings(max_examples=40)
def test_signatures_hold_every_setting(cls: type[Metric], data: st.DataObject) -> None:
    metric = data.draw(metrics(cls).filter(_needs_nothing))
    head, _, rest = metric.signature(3).partition(":")
    written, refs, version = rest.split("|")
    displayed = dict(item.split("=", 1) for item in written.split(","))
    names = {f.name for f in fields(cls)}
    assert displayed.keys() == (names - {"n"} if cls is RougeN else names)
    assert (refs, version) == ("nrefs=3", f"karat={karat.__version__}")
    displayed = {
        key: value.split("@")[0] if key == "stop" else value for key, value in displayed.items()
    }
    again = parse(head + ":" + ",".join(f"{k}={v}" for k, v in displayed.items()))
    assert again.signature(3) == metric.signature(3)
    auto = isinstance(metric, BLEU) and metric.eff is None  # a signature says what was done
    if (
        getattr(metric, "smooth", "none") not in ("floor", "add-k") and not auto
    ):  # show their default
        assert again == metric


def test_signatures_exist_before_anything_is_scored() -> None:
    assert BLEU().signature() == (
        "bleu:n=4,tok=13a,case=mixed,smooth=exp,smooth_value=none,eff=no"
        f"|nrefs=1|karat={karat.__version__}"
    )
    assert "|nrefs=var|" in BLEU().signature(None)
    assert RougeN(n=3).signature().startswith("rouge3:alpha=0.5,tok=rouge,")


def test_signatures_show_the_content_of_the_stop_list(tmp_path: Any) -> None:
    path = tmp_path / "stops"
    path.write_text("one\ntwo\n")
    other = tmp_path / "other"
    other.write_text("two\n# a comment\none\n")
    third = tmp_path / "third"
    third.write_text("one\n")
    digests = [stop_digest(str(p)) for p in (path, other, third)]
    assert digests[0] == digests[1] != digests[2]
    assert f",stop={path}@{digests[0]}," in AEv(stop=str(path)).signature()
    assert f",stop=en@{stop_digest('en')}" in RougeN(stop="en").signature()
    assert ",stop=none," in AEv().signature()


@pytest.mark.parametrize("name", list(METRICS))
def test_every_class_says_what_it_is(name: str) -> None:
    cls = METRICS[name]
    assert cls.name == name
    assert str(cls()) == name
    assert cls.__doc__
    assert all(f.metadata["help"] for f in fields(cls))
    assert all(alias not in {f.name for f in fields(cls)} for alias in cls.aliases)


def test_two_presets_are_refused() -> None:
    with pytest.raises(MetricError, match="preset is given twice"):
        karat.metric("gtm:preset=paper,preset=gtm-1.4")
