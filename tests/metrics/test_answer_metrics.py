"""Metrics of right and wrong answers: worked values, oracles, bad input."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import answer_formulas as oracle

import karat as kt
import karat.metrics.pairs as pairs_module
from karat.errors import InputError, MetricError
from karat.metrics.answers import answer_words, read_numbers
from karat.metrics.patterns import match_texts

# ------------------------------------------------------------------------- em, f1, contains

words = st.lists(
    st.sampled_from(
        [
            *(
                "the",
                "a",
                "An",
                "cat",
                "Cat.",
                "cats",
                "the-cat",
                "(a)",
                "—the",
                "é",
                "ＡＮ",
                "a_an",
            ),
            *("'", "“a”", "The\u00a0dog", "\u2003", "1,5", "ÀN", "tHe", "中文", "ß", "İ"),
        ]
    ),
    max_size=6,
).map(" ".join)
texts = words | words | st.text(max_size=12)
segments = st.lists(
    st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=8
)


@given(segments)
@example([("", [""]), ("a", ["the", "an"]), ("x", ["the", "x"]), ("the", ["", "x"])])
def test_normalised_metrics_are_the_oracles(drawn: list[tuple[str, list[str]]]) -> None:
    candidates = [candidate for candidate, _ in drawn]
    references = [listed for _, listed in drawn]
    for name, formula in (
        ("em", oracle.exact_match),
        ("f1", oracle.word_f1),
        ("contains", oracle.contains),
    ):
        values = kt.metric(name).segments(candidates, references, threads=1)
        assert values.tolist() == [formula(*pair) for pair in drawn], name


WORKED = [  # candidate, references, em, f1, contains
    ("The Eiffel Tower!", ["Eiffel tower"], 1, 1, 1),
    ("in Paris, France", ["Paris"], 0, 0.5, 1),
    ("Parisian", ["Paris"], 0, 0, 0),
    ("new  york\tcity", ["a new york city.", "New York"], 1, 1, 1),
    ("cat cat dog", ["cat dog dog"], 0, 2 / 3, 0),
    ("don't", ["dont"], 1, 1, 1),
    ("state-of-the-art", ["stateoftheart"], 1, 1, 1),
    ("", [""], 1, 1, 1),
    ("the", ["", "."], 1, 1, 1),  # nothing is left of any
    ("", ["", "Paris"], 0, 0, 0),  # a reference without words counts only alone
    ("Paris", ["", "Paris"], 1, 1, 1),
    ("Paris", [""], 0, 0, 0),
    ("“quoted”", ["quoted"], 0, 0, 0),  # SQuAD removes ASCII punctuation alone
]


@pytest.mark.parametrize(("candidate", "references", "em", "f1", "contains"), WORKED)
def test_worked(
    candidate: str, references: list[str], em: float, f1: float, contains: float
) -> None:
    for metric, value in (("em", em), ("f1", f1), ("contains", contains)):
        scores = kt.metric(metric).segments([candidate], [references])
        assert scores.tolist() == [pytest.approx(value, abs=1e-15)], metric


def test_corpus_scores_are_means_with_counts() -> None:
    candidates, references = ["a cat", "dog", "the big cow"], ["cat", "mouse", "cow"]
    score = kt.metric("em").corpus(candidates, references)
    assert (score.value, dict(score.parts)) == (1 / 3, {"correct": 1, "segments": 3})
    score = kt.metric("f1").corpus(candidates, references)
    assert score.value == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert score.parts["precision"] == pytest.approx(0.5)
    assert score.parts["recall"] == pytest.approx(2 / 3)
    rows = kt.metric("em").stats(candidates, references)
    assert rows.tolist() == [[1, 1], [0, 1], [0, 1]]
    assert rows.dtype.kind == "i"


LANGUAGES = [
    ("en", "The “Cat”", "“cat”"),
    ("de", "Der „Hund“, eine Katze", "hund katze"),
    ("es", "¿La casa?", "casa"),
    ("vi", "những con mèo", "con mèo"),
    ("hi", "यह एक है।", "यह एक है"),
    ("ar", "الكتاب؟", "كتاب"),
    ("zh", "北京。in 中国", "北 京 in 中 国"),
]


@pytest.mark.parametrize(("lang", "text", "expected"), LANGUAGES)
def test_languages(lang: str, text: str, expected: str) -> None:
    assert " ".join(answer_words(text, lang)) == expected
    assert kt.metric(f"em:lang={lang}").segments([text], [text.upper()]).tolist() == [1]


def test_characters_are_chinese_words() -> None:
    f1 = kt.metric("f1:lang=zh").segments(["北京市"], ["北京"])
    assert f1.tolist() == [pytest.approx(0.8)]
    assert kt.metric("contains:lang=zh").segments(["在北京。"], ["北京"]).tolist() == [1]


def test_exact_text() -> None:
    contains = kt.metric("contains:exact=yes")
    candidates = ["Parisian", "paris", "x", "", "", "a, b"]
    references = [["Paris"], ["Paris"], [""], [""], ["", "x"], ["zz", ", "]]
    assert contains.segments(candidates, references).tolist() == [1, 0, 0, 1, 0, 1]


# ----------------------------------------------------------------------------------- numbers

NUMBERS = {
    "The answer is 1,234.5.": "1234.5",
    "12,345,678 people": "12345678",
    "1,2,3": "1 2 3",
    "-$5, $-6, US$7, €8.50": "-5 -6 7 8.50",
    "from 3-5": "3 5",
    "(-2) or [−3]": "-2 -3",
    "COVID-19": "19",
    "H2O and GPT4": "",
    "x=-3": "-3",
    "50% of 20 %": "0.5 0.2",
    r"12.5\%": "0.125",
    "1e-3, 2E5, 3e+2": "0.001 200000 300",
    "3.0 × 10^8 or 6.02 \\times 10^{23}": "3e8 6.02e23",
    "10⁻³ and 2·10²": "0.001 200",
    "10**3": "1000",
    "2 x 10 apples": "2 10",
    ".5 and -.25": "0.5 -0.25",
    "12.": "12",
    "1\u202f234\u00a0567": "1234567",
    "1 234": "1 234",
    "5'280 or 5’280": "5280 5280",
    "1,234,5678": "1234 5678",
    "٣ و ۴": "3 4",
    "no number": "",
    "答案是12": "12",
    "12cm": "12",
}


@pytest.mark.parametrize(("text", "expected"), NUMBERS.items())
def test_numbers_in_text(text: str, expected: str) -> None:
    assert read_numbers(text) == [Decimal(number) for number in expected.split()]


def test_decimal_commas_and_percent_signs() -> None:
    assert read_numbers("1.234,5 und 2,5", "comma") == [Decimal("1234.5"), Decimal("2.5")]
    assert read_numbers("50%", percent=False) == [Decimal(50)]
    number = kt.metric("number:percent=no")
    assert number.segments(["50%", "0.5"], ["50", "50%"]).tolist() == [1, 0]
    assert kt.metric("number").segments(["50%", "50"], ["0.5", "50%"]).tolist() == [1, 0]


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 10**9), st.integers(0, 6), st.booleans()),
        max_size=4,
    )
)
def test_written_numbers_are_read(drawn: list[tuple[bool, int, int, bool]]) -> None:
    written, expected = [], []
    for negative, digits, decimals, grouped in drawn:
        value = Fraction((-1) ** negative * digits, 10**decimals)
        head, tail = divmod(digits, 10**decimals)
        text = f"{head:,}" if grouped else str(head)
        text += f".{tail:0{decimals}d}" if decimals else ""
        written.append(f"{'-' * negative}{text}")
        expected.append(value)
    found = read_numbers(" is; ".join(written))
    assert [Fraction(number) for number in found] == expected


@given(
    st.decimals(-1000, 1000, places=3),
    st.decimals(-1000, 1000, places=3),
    st.decimals(0, 50, places=3),
    st.sampled_from(["0", "0.01", "0.5"]),
)
@example(Decimal("3.15"), Decimal("3.1"), Decimal("0.05"), "0")
def test_tolerance_is_exact(
    answer: Decimal, reference: Decimal, tolerance: Decimal, relative: str
) -> None:
    metric = kt.metric(f"number:tolerance={tolerance},relative={relative}")
    allowed = max(Fraction(tolerance), Fraction(relative) * abs(Fraction(reference)))
    expected = abs(Fraction(answer) - Fraction(reference)) <= allowed
    assert metric.segments([f"{answer:f}"], [f"{reference:f}"]).tolist() == [expected]


def test_the_number_that_counts() -> None:
    candidates = ["5, so 7", "7 or 5", "7", "none", "7 and 7"]
    references = [["7"], ["about 7"], ["5", "1 2 7"], ["7"], ["7", "no number"]]
    assert kt.metric("number").segments(candidates, references).tolist() == [1, 0, 1, 0, 1]
    only = kt.metric("number:take=only")
    assert only.segments(candidates, references).tolist() == [0, 0, 1, 0, 0]


def test_huge_numbers() -> None:
    number = kt.metric("number:relative=0.1")
    candidates = ["1e99999999", "9" * 5000, "1e-99999999", "1e99999999"]
    references = ["1", "9" * 4999 + "8", "0", "1e99999998"]
    assert number.segments(candidates, references).tolist() == [0, 1, 0, 0]
    assert kt.metric("number").segments(candidates[:2], references[:2]).tolist() == [0, 0]


def test_a_reference_without_a_number_is_refused() -> None:
    sentence = "segment 2: the reference 'many' has no number, and number compares numbers; "
    with pytest.raises(InputError, match=re.escape(sentence)):
        kt.metric("number").corpus(["1", "2"], [["1"], ["many", "few"]])


# -------------------------------------------------------------------------------------- JSON

VALID = ['{"a": 1}', " [1, 2]\n", '"x"', "null", "-1.5e3", "9" * 5000, '{"a": "\\u00e9"}', "[]"]
INVALID = [
    "",
    "{a: 1}",
    "{'a': 1}",
    '{"a": 1',
    "[1,]",
    "NaN",
    "[-Infinity]",
    "1 2",
    '"\n"',
    "\ufeff1",
]


def test_valid_json() -> None:
    metric = kt.metric("json")
    assert metric.segments(VALID).tolist() == [1] * len(VALID)
    assert metric.segments(INVALID).tolist() == [0] * len(INVALID)


KEYS = {
    '{"name": "x", "size": {"w": null}, "items": [{"id": 1}]}': 1,
    '{"name": "x", "size": {"w": 0}, "items": []}': 0,
    '{"name": "x", "size": 5, "items": [{"id": 1}]}': 0,
    '{"name": "x", "items": [{"id": 1}]}': 0,
    '[{"name": "x"}]': 0,
    '"name"': 0,
}


def test_keys() -> None:
    metric = kt.metric("json:keys=name+size.w+items.0.id")
    assert metric.segments(list(KEYS)).tolist() == list(KEYS.values())
    for keys in ("a++b", "+a", "a.", ".a"):
        with pytest.raises(MetricError, match=f"json: keys={re.escape(keys)} has an empty key"):
            kt.ValidJSON(keys=keys)


def test_deep_json_is_refused_at_one_depth() -> None:
    deep = ["[" * n + "]" * n for n in (300, 301, 100_000)]
    wide = "[" + ",".join(["[]"] * 1000) + "]"
    brackets = json.dumps("[" * 1000)
    metric = kt.metric("json")
    assert metric.segments([*deep, wide, brackets]).tolist() == [1, 0, 0, 1, 1]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
).filter(lambda value: "Infinity" not in json.dumps(value))


@given(json_values, st.integers(0, 40))
def test_what_python_writes_is_valid_and_its_beginning_is_as_python_says(
    value: object, length: int
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        json.loads(text[:length])
        expected = 1
    except ValueError:
        expected = 0
    encodable = [part.encode("utf-8", "replace").decode() for part in (text, text[:length])]
    assert kt.metric("json").segments(encodable).tolist() == [1, expected]


# ------------------------------------------------------------------------------------- regex

PATTERNS = ["a{1,2}", r"\d+$", "^$", "(?i)paris|london", r"(?s)a.b", r"\bx\b", "é", "中", '"|,']


@given(st.lists(texts, min_size=1, max_size=6), st.sampled_from(PATTERNS), st.booleans())
@settings(max_examples=60)
def test_patterns_match_as_in_python(listed: list[str], pattern: str, full: bool) -> None:
    listed = [text.encode("utf-8", "replace").decode() for text in listed]
    match = re.compile(pattern).fullmatch if full else re.compile(pattern).search
    expected = [match(text) is not None for text in listed]
    metric = kt.RegexMatch(pattern=pattern, full=full)
    assert metric.segments(listed).tolist() == expected
    assert match_texts(pattern, full, listed).tolist() == expected


def test_references_do_not_matter_to_regex() -> None:
    metric = kt.metric('regex:pattern="a,|b"')
    with_references = metric.corpus(["a, c", "c"], [["x", "y"], ["z"]])
    assert with_references.value == metric.corpus(["a, c", "c"]).value == 0.5
    assert "|nrefs=0|" in metric.corpus(["a"]).signature
    with pytest.raises(InputError, match="em needs references, and none were given"):
        kt.metric("em").corpus(["a"])


BACKTRACKING = "(a+)+$"
SLOW_TEXT = "a" * 40 + "!"


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pattern_that_backtracks_forever_is_stopped(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.metrics.patterns.SECONDS_PER_TEXT", 0.1)
    monkeypatch.setattr(pairs_module, "SEGMENTS_PER_BATCH", 256)
    metric = kt.RegexMatch(pattern=BACKTRACKING)
    listed = ["aa"] * 700
    listed[600] = SLOW_TEXT
    sentence = re.escape("segment 601: the pattern (a+)+$ takes more than 0.1 seconds on this text")
    with pytest.raises(InputError, match=sentence):
        metric.corpus(listed, threads=threads)
    assert metric.corpus(listed[:600], threads=threads).value == 1  # another process has started


def test_work_that_is_stopped_does_not_wait_for_a_match() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        match_texts(BACKTRACKING, False, [SLOW_TEXT], stop)


WRONG_PATTERNS = {
    "(": "missing ), unterminated subpattern at character 1",
    "a{99999999999}": "the repetition number is too large",
    "(" * 3000 + ")" * 3000: "it is nested too deeply",
    "[z-a]": "bad character range z-a at character 2",
}


@pytest.mark.parametrize(("pattern", "problem"), WRONG_PATTERNS.items())
def test_patterns_that_do_not_compile(pattern: str, problem: str) -> None:
    with pytest.raises(
        MetricError, match=re.escape(f"is no regular expression of Python: {problem}")
    ):
        kt.RegexMatch(pattern=pattern)


def test_a_pattern_is_needed_before_any_work() -> None:
    sentence = 'regex needs a pattern: write regex:pattern="PATTERN"'
    with pytest.raises(MetricError, match=sentence):
        kt.metric("regex").corpus(["a"])
    with pytest.raises(MetricError, match=sentence):
        kt.score({"A": ["a"]}, [["a"]], ["regex"])


# -------------------------------------------------------------------------------- everywhere

EVERY = [
    *("em", "f1", "contains", "contains:exact=yes", "number:tolerance=1", "json"),
    'regex:pattern="a|, "',
]


@pytest.mark.parametrize("name", EVERY)
def test_threads_and_batches_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    pool = ["a", "the cat, 5", "[1]", "", "Cat 4", "the", "7 a"]
    candidates = rng.choice(pool, 700).tolist()
    references = [[*rng.choice(pool, rng.integers(0, 3)).tolist(), "cat 5"] for _ in candidates]
    once = kt.metric(name).stats(candidates, references, threads=1)
    monkeypatch.setattr(pairs_module, "SEGMENTS_PER_BATCH", 256)
    again = kt.metric(name).stats(candidates, references, threads=3)
    assert np.array_equal(once, again)
    assert 0 < once[:, 0].mean() < 1


def test_intervals_and_tables_follow() -> None:
    rows = [
        {"system": s, "id": i, "candidate": c, "reference": "yes"}
        for s, answers in (("A", ["yes", "no", "Yes."] * 5), ("B", ["no", "no", "yes"] * 5))
        for i, c in enumerate(answers)
    ]
    scoring = kt.score(rows, metrics=["em", "json"], by="system", id="id", intervals=True)
    assert [round(row.score.value, 3) for row in scoring.rows] == [0.667, 0, 0.333, 0]
    assert scoring["A", "em"].low < 2 / 3 < scoring["A", "em"].high
    comparison = kt.compare({"A": ["yes"] * 9, "B": ["no"] * 9}, ["yes"] * 9, ["em"])
    assert comparison["B", "em"].delta == -1


def test_tables_without_references() -> None:
    rows = [{"id": 1, "candidate": "[1]"}, {"id": 2, "candidate": "oops"}]
    scoring = kt.score(rows, metrics=["json", "regex:pattern=o+"], id="id", segments=True)
    assert [row.score.value for row in scoring.rows] == [0.5, 0.5]
    assert scoring.references == 0
    with pytest.raises(InputError, match="no column has a usual name for references"):
        kt.score(rows, metrics=["json", "em"], id="id")
