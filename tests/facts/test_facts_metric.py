"""The metric `facts`: rows, parts, settings, evidence in reports, sources of sets, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.errors import InputError, MetricError
from karat.facts.comparing import CHECKS, fact_changes
from karat.facts.languages import has_other_language
from karat.facts.rules import LANGUAGES
from karat.metrics.facts import FactAgreement

Output = Callable[..., str]

REFERENCES = ["The vote was 17 to 4.", "She did not come to Paris.", "It is good.", "In 1990."]
CANDIDATES = ["The vote was 71 to 4.", "She came to Rome.", "It is good.", "Nothing in 1990."]
OTHERS = ["The vote was 17 to 4.", "She did not come to Rome.", "It is good.", "In 1990."]

sentences = st.sampled_from(
    [*REFERENCES, *CANDIDATES, "", "He met Ann 3 times.", "He never met Ann.", "He met Bob."]
)
drawn_segments = st.lists(
    st.tuples(sentences, st.lists(sentences, min_size=1, max_size=3)), min_size=1, max_size=6
)


def test_rows_and_parts() -> None:
    metric = kt.metric("facts")
    rows = metric.stats(CANDIDATES, REFERENCES)
    assert rows.dtype.kind == "i"
    assert metric.columns() == ("clean", *CHECKS, "other_language", "segments")
    assert rows.tolist() == [
        [0, 1, 0, 0, 0, 1],
        [0, 0, 1, 1, 0, 1],
        [1, 0, 0, 0, 0, 1],
        [0, 0, 1, 0, 0, 1],
    ]
    score = metric.corpus(CANDIDATES, REFERENCES)
    assert score.value == 0.25
    assert score.parts == {"numbers": 1, "negation": 2, "names": 1, "segments": 4}
    assert metric.segments(CANDIDATES, REFERENCES).tolist() == [0, 0, 1, 0]


@given(drawn_segments)
def test_rows_are_the_changes_of_each_segment(drawn: list[tuple[str, list[str]]]) -> None:
    candidates, references = [c for c, _ in drawn], [r for _, r in drawn]
    rows = kt.metric("facts").stats(candidates, references)
    for row, (candidate, listed) in zip(rows.tolist(), drawn, strict=True):
        flagged = {change.check for change in fact_changes(candidate, listed)}
        flags = [not flagged, *(check in flagged for check in CHECKS)]
        assert row == [*flags, has_other_language(candidate, "en"), 1]
    for check in CHECKS:
        single = kt.metric(f"facts:check={check}")
        values = single.segments(candidates, references)
        assert values.tolist() == (1 - rows[:, 1 + CHECKS.index(check)]).tolist()
        assert single.measure(rows)["value"].tolist() == values.tolist()


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "The man is in the house with the dog."),
        ("de", "Der Mann ist mit dem Hund im Haus."),
        ("fr", "L'homme est dans la maison avec le chien."),
        ("es", "El hombre está en la casa con el perro."),
        ("it", "L'uomo è nella casa con il cane della donna."),
        ("pt", "O homem está em casa com o cão da mulher."),
        ("nl", "De man is met de hond in het huis van zijn vader."),
        ("ru", "Мужчина в доме с собакой."),
        ("zh", "那个男人和狗在房子里。"),
        ("ja", "その男は犬と家の中にいる。"),
    ],
)
def test_texts_in_another_language_than_declared_are_noted(lang: str, text: str) -> None:
    for declared in LANGUAGES:
        is_other = declared not in (lang, "other")
        if (lang, declared) == ("zh", "ja"):  # both are written in Chinese characters
            is_other = False
        assert has_other_language(text, declared) == is_other, declared
        (note,) = kt.metric(f"facts:lang={declared}").corpus([text], [[text]]).notes or ("",)
        assert ("1 of 1 output seems to be in another language" in note) == is_other
    assert not any(has_other_language(short, lang) for short in ("", "5", "😀", "SAP", "..."))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("facts", "facts"),
        ("facts:check=numbers+negation", "facts:check=numbers+negation"),
        ("facts:lang=de,source_lang=en", "facts:lang=de,source_lang=en"),
        (
            "facts:lang=zh,against=source,source_lang=en",
            "facts:lang=zh,against=source,source_lang=en",
        ),
    ],
)
def test_names_and_signatures_are_read_back(name: str, expected: str) -> None:
    metric = kt.metric(name)
    assert str(metric) == expected
    assert kt.metric(metric.signature(1)) == metric
    assert metric.sign == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("facts:check=dates", "'dates' is unknown; expected some of numbers, negation, names"),
        ("facts:check=numbers+numbers", "a name occurs twice"),
        ("facts:check=names,lang=zh", "names are not compared in Chinese"),
        ("facts:check=names,source_lang=de", "names are not compared between languages"),
        ("facts:lang=xx", "lang=xx is not one of en, de"),
        ("facts:against=source", "add source_lang=en"),
    ],
)
def test_bad_settings(name: str, message: str) -> None:
    with pytest.raises(MetricError, match="facts: ") as error:
        kt.metric(name)
    assert message in str(error.value)


def test_names_are_left_out_with_a_note() -> None:
    metric = kt.metric("facts:lang=ja")
    assert isinstance(metric, FactAgreement)
    assert metric.checks == ("numbers", "negation")
    assert metric.remarks() == ("facts:lang=ja: names are not compared in Japanese.",)


# --------------------------------------------------------------------------------- sources


def small_set() -> kt.EvalSet:
    return kt.make_evalset(
        "votes",
        {"A": ["Es waren 17.", "Er kam nicht."], "B": ["Es waren 71.", "Er kam."]},
        references=[["Es waren 18."], ["Er kam."]],
        segments=["x", "y"],
        sources=["There were 17.", "He did not come."],
    )


def test_outputs_against_the_source() -> None:
    metric = "facts:lang=de,against=source,source_lang=en"
    results = kt.score(small_set(), metrics=[metric], segments=True)
    assert results["A", metric].score.value == 1.0
    assert results["B", metric].score.value == 0.0
    text = results.worst(1).render("text")
    assert "numbers: source 17, output 71" in text
    assert any("names are not compared between languages" in note for note in results.notes)
    against_references = kt.score(small_set(), metrics=["facts:lang=de"])
    assert against_references["B", "facts:lang=de"].score.value == 0.5


def test_sources_are_needed() -> None:
    with pytest.raises(InputError, match=r"texts have no sources: .* -r source\.txt -m facts:"):
        kt.score(["Es waren 17."], ["There were 17."], ["facts:against=source,source_lang=en"])
    texts = kt.make_evalset("bare", {"A": ["a"]}, references=["a"])
    with pytest.raises(InputError, match="bare has no sources"):
        kt.score(texts, metrics=["facts:against=source,source_lang=en"])


def test_a_source_given_as_the_reference() -> None:
    metric = kt.metric("facts:lang=de,source_lang=en")
    assert metric.segments(["Es waren 71."], ["There were 17."]).tolist() == [0]
    assert metric.segments(["Es waren siebzehn."], ["There were 17."]).tolist() == [1]


# --------------------------------------------------------------------------------- reports


def write(folder: Path, **texts: list[str]) -> None:
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")


def test_worst_segments_have_evidence(folder: Path, output: Output) -> None:
    write(folder, out=CANDIDATES, ref=REFERENCES)
    shown = output("score", "out.txt", "-r", "ref.txt", "-m", "facts", "--worst", "2")
    assert "candidate: The vote was 71 to 4.\n" in shown
    assert "numbers: reference 17, output 71\n" in shown
    assert "negation: reference not, output none\n" in shown
    without = output("score", "out.txt", "-r", "ref.txt", "-m", "chrf", "--worst", "2")
    assert "numbers:" not in without


def test_explain(folder: Path, output: Output) -> None:
    write(folder, out=CANDIDATES, ref=REFERENCES)
    explain = "explain", "out.txt", "-r", "ref.txt", "-m", "facts", "--worst", "4"
    assert "names: reference Paris, output Rome\n" in output(*explain)
    rows = json.loads(output(*explain, "-f", "json"))["rows"]
    first, last = rows[0], rows[-1]
    assert first == {
        "segment": 1,
        "score": 0.0,
        "check": "numbers",
        "kind": "changed",
        "reference": "17",
        "output": "71",
    }
    assert (last["segment"], last["score"], last["check"]) == (3, 1.0, None)
    output(*explain, "-o", "facts.html")
    page = (folder / "facts.html").read_text("utf-8")
    assert "reference 17, output 71" in page


def test_comparisons_count_segments_by_kind(folder: Path, output: Output) -> None:
    write(folder, out=CANDIDATES * 5, other=OTHERS * 5, ref=REFERENCES * 5)
    compare = "compare", "out.txt", "other.txt", "-r", "ref.txt", "-m", "facts", "-m", "chrf"
    shown = output(*compare)
    assert "Segments with changed facts, and the difference from out" in shown
    assert "numbers: reference 17, output 71\n" in shown
    rows = json.loads(output(*compare, "-f", "json"))["components"]
    by_key = {(row["component"], row["system"]): row for row in rows}
    assert [by_key[check, "out"]["segments"] for check in CHECKS] == [5, 10, 5]
    assert [by_key[check, "other"]["segments"] for check in CHECKS] == [0, 0, 5]
    numbers = by_key["numbers", "other"]
    assert numbers["share"] == 0
    assert numbers["delta"] == -0.25
    assert numbers["delta_low"] < -0.25 < numbers["delta_high"] < 0
    assert by_key["names", "other"]["delta"] == 0
    assert by_key["numbers", "out"]["delta"] is None
    output(*compare, "-o", "page.html")
    assert "reference 17, output 71" in (folder / "page.html").read_text("utf-8")
    single = output("compare", "out.txt", "other.txt", "-r", "ref.txt", "-m", "chrf", "-f", "json")
    assert "components" not in json.loads(single)


def test_component_intervals_are_those_of_the_single_metric() -> None:
    systems = {"A": CANDIDATES * 5, "B": OTHERS * 5}
    comparison = kt.compare(systems, REFERENCES * 5, ["facts"], baseline="A")
    for component in comparison.components:
        name = f"facts:check={component.component}"
        single = kt.compare(systems, REFERENCES * 5, [name], baseline="A")[component.system, name]
        assert component.share == pytest.approx(1 - single.score.value)
        if component.system == "B":
            assert single.delta is not None
            assert component.delta == pytest.approx(-single.delta)
            ends = component.delta_low, component.delta_high
            assert ends == pytest.approx((-single.delta_high, -single.delta_low))


def test_explaining_needs_a_metric_that_can() -> None:
    with pytest.raises(
        InputError, match="expected gtm, such as gtm:e=2, facts, support, or a tree accuracy"
    ):
        kt.explain_segments(["a"], ["a"], "bleu")


# -------------------------------------------------------------------------------- real data


@pytest.mark.parametrize(
    ("file", "check", "flagged", "alarms"),
    [
        ("critical_id10_numbers_replaced", "numbers", 0.97, 0.05),
        ("critical_id8_negation", "negation", 0.95, 0.03),
        ("critical_id9_ne_replaced", "names", 0.90, 0.12),
    ],
)
def test_demetr(karat_data: Path, file: str, check: str, flagged: float, alarms: float) -> None:
    items = json.loads((karat_data / "challenge-demetr" / f"{file}.json").read_text("utf-8"))
    metric = kt.metric(f"facts:check={check}")
    bad = [item for item in items if item["pert_check"]]
    planted = metric.segments([i["pert_sent"] for i in bad], [i["eng_sent"] for i in bad])
    correct = metric.segments([i["mt_sent"] for i in items], [i["eng_sent"] for i in items])
    assert 1 - np.mean(planted) >= flagged
    assert 1 - np.mean(correct) <= alarms
