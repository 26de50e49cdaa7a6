"""Values of settings in quotes: any text that can be printed survives its metric's name."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import karat as kt
from karat.errors import MetricError
from karat.gating.gates import setting_changes
from karat.report.model import metric_label
from karat.settings import quote_value, split_unquoted, unquote_value

printable = st.text(st.characters(exclude_categories=["Zl", "Zp", "Cc", "Cs"]), min_size=1)
troublesome = st.text(st.sampled_from('",|=:@\\ ax+{}[]*noe\u00a0'), min_size=1)
values = printable | troublesome


def compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError):
        return False
    return True


@pytest.mark.filterwarnings("ignore:Possible nested set")
@given(values.map(re.escape) | values.filter(compiles))
@example('"')
@example('""')
@example('a","b')
@example("none")
@example(" NONE ")
@example("a|nrefs=1|karat=0")
@example('="')
def test_names_and_signatures_parse_back(pattern: str) -> None:
    for metric in (kt.RegexMatch(pattern=pattern), kt.RegexMatch(pattern=pattern, full=True)):
        assert kt.metric(str(metric)) == metric
        assert str(kt.metric(str(metric))) == str(metric)
        assert kt.metric(f" {metric.signature(2)} ") == metric
        assert kt.metric(metric.full_name()) == metric


@given(values.filter(lambda text: "+" not in text and "." not in text), values)
def test_several_quoted_values(keys: str, column: str) -> None:
    for metric in (kt.ValidJSON(keys=keys), kt.ExternalScores(file=column, metric=keys)):
        assert kt.metric(str(metric)) == metric


PRINTED = {
    'regex:pattern="a{1,2}"': 'regex:pattern="a{1,2}"',
    'regex:pattern="abc"': "regex:pattern=abc",
    r'regex:pattern="\d"': r"regex:pattern=\d",
    r"regex:pattern=\d+:x": r"regex:pattern=\d+:x",
    "regex:pattern=yes or no": 'regex:pattern="yes or no"',
    "regex:pattern=a=b@c,full=yes": "regex:pattern=a=b@c,full=yes",
    'regex: pattern = "a, b" , full = "yes"': 'regex:pattern="a, b",full=yes',
    'regex:pattern="say ""hi"""': 'regex:pattern="say ""hi"""',
    'regex:pattern=say "hi"': 'regex:pattern="say ""hi"""',
    'regex:pattern="none"': 'regex:pattern="none"',
    "regex:pattern=none": "regex",
    'bleu:n="2"': "bleu:n=2",
    'given:file="my, scores.tsv",metric="My Metric"': (
        'given:file="my, scores.tsv",metric="My Metric"'
    ),
    "given:file=my scores.tsv": "given:file=my scores.tsv",
}


@pytest.mark.parametrize(("text", "expected"), PRINTED.items())
def test_names_print_canonically(text: str, expected: str) -> None:
    assert str(kt.metric(text)) == expected
    assert str(kt.metric(expected)) == expected


ERRORS = {
    "regex:pattern=a{1,2}": "'2}' is no setting; expected setting=value "
    "(a value with a comma needs quotes)",
    "regex:pattern=a|b": "'b' is not a field of a signature; expected Karat's form, as in "
    "bleu|nrefs=1, or sacreBLEU's, as in BLEU|nrefs:1|case:mixed; a value with a bar needs quotes",
    'regex:pattern="a': 'regex: pattern="a is not closed by a quote: write a quote inside',
    'regex:pattern="a"b': 'regex: pattern="a"b is not closed by a quote',
    'regex:pattern="a""': 'regex: pattern="a"" is not closed by a quote',
    'regex:pattern=""': "regex: pattern= is empty",
    'bleu:n="x"': "bleu: n=x: expected a whole number",
}


@pytest.mark.parametrize(("text", "sentence"), ERRORS.items())
def test_errors(text: str, sentence: str) -> None:
    with pytest.raises(MetricError, match=re.escape(sentence)):
        kt.metric(text)


@pytest.mark.parametrize("control", ["\n", "\t", "\0", "\x85", "\u2028", "\ud800"])
def test_control_characters_have_no_name(control: str) -> None:
    sentence = "holds a line end or another control character, which a name cannot carry"
    with pytest.raises(MetricError, match=sentence):
        kt.RegexMatch(pattern=f"a{control}b")


@given(st.lists(values, min_size=1, max_size=4))
def test_splitting_undoes_joining(listed: list[str]) -> None:
    joined = ",".join(f"name={quote_value(text)}" for text in listed)
    parts = [part.partition("=")[2] for part in split_unquoted(joined, ",|")]
    assert [unquote_value(part) for part in parts] == listed


def test_changes_of_quoted_settings_are_told_apart() -> None:
    old, new = (
        kt.metric(name).signature(1)
        for name in ('regex:pattern="a,b|c"', 'regex:pattern="a,b|d",full=yes')
    )
    changes = 'pattern="a,b|c", now pattern="a,b|d"; full=no, now full=yes'
    assert setting_changes(old, new) == changes


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("regex:pattern=t[h@]@correct", "regex:pattern=t[h@]@correct"),
        ('regex:pattern="t[h@]"', "regex:pattern=t[h@]@value"),
    ],
)
def test_terms_of_fits_with_an_at_sign(name: str, term: str) -> None:
    """`METRIC@PART` is a term: a sign in a pattern is in quotes, or a part follows it."""
    fit = kt.fit_scores("demo", ["bleu", name], ["fluency"])
    assert [row.term for row in fit.rows][1:] == ["bleu:eff=yes", term]


def test_names_of_given_scores_are_shown_without_quotes() -> None:
    metric = kt.external_scores("My Metric, v2", [1.0, 2.0])
    assert str(metric) == 'given:metric="My Metric, v2"'
    assert metric_label(metric) == "My Metric, v2"
    scoring = kt.score(["a", "b"], metrics=[metric])
    assert scoring.rows[0].score.value == 1.5
