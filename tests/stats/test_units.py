"""Units: rows of one unit are added, whatever names it; scores never change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.stats.units import Units

LABELS = st.lists(st.sampled_from(["a", "b", "c", 1, 2.5]), min_size=1, max_size=20)

# --------------------------------------------------------------------------------- the class


@given(labels=LABELS, data=st.data(), fractions=st.booleans())
def test_sums_are_those_of_a_loop(labels: list[Any], data: st.DataObject, fractions: bool) -> None:
    numbers = st.integers(-99, 99)
    rows = np.array([[data.draw(numbers), data.draw(numbers)] for _ in labels])
    if fractions:
        rows = rows / 8
    units = Units.from_labels("document", labels)
    names = list(dict.fromkeys(map(str, labels)))
    assert list(units.labels) == names
    assert [units.labels[code] for code in units.codes] == [str(label) for label in labels]
    expected = [
        [sum(row[k] for row, x in zip(rows.tolist(), labels, strict=True) if str(x) == name)
         for k in range(2)]
        for name in names
    ]  # fmt: skip
    assert units.sums(rows).tolist() == expected


@given(labels=LABELS, data=st.data())
def test_chosen_segments_keep_their_units(labels: list[Any], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(labels) - 1), min_size=1, max_size=9))
    units = Units.from_labels("question", labels).take(chosen)
    assert units.name == "question"
    assert [units.labels[code] for code in units.codes] == [str(labels[i]) for i in chosen]


@pytest.mark.parametrize("missing", [None, "", float("nan"), np.float64("nan")])
def test_a_missing_label_is_refused(missing: object) -> None:
    with pytest.raises(kt.InputError, match="segment 3 has no document: every segment needs"):
        Units.from_labels("document", ["a", "b", missing, "c"])


def test_five_units_are_too_few() -> None:
    assert Units.from_labels("document", [*"abcdeeee"]).too_few
    assert not Units.from_labels("document", [*"abcdef"]).too_few


# ----------------------------------------------------------------------- kt.score, kt.compare

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "in", "mat", "house", "red", "old"]
SEGMENTS = 48


def noisy(texts: list[str], share: float, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        " ".join(str(rng.choice(WORDS)) if rng.random() < share else word for word in text.split())
        for text in texts
    ]


REFERENCES = [
    " ".join(np.random.default_rng(i).choice(WORDS, 4 + i % 9).tolist()) for i in range(SEGMENTS)
]
SYSTEMS = {"A": noisy(REFERENCES, 0.4, 1), "B": noisy(REFERENCES, 0.25, 2)}
PAGES = [f"page {i // 4}" for i in range(SEGMENTS)]
METRICS = ["bleu", "chrf", "rougeL", "ter"]


def test_units_change_no_score() -> None:
    plain, by_page = (
        kt.compare(SYSTEMS, REFERENCES, METRICS, units=units) for units in (None, PAGES)
    )
    for row, other in zip(plain.rows, by_page.rows, strict=True):
        assert row.score.value == other.score.value
        assert row.score.signature + "|unit=unit" == other.score.signature
        assert (row.delta, row.wins, row.losses, row.ties) == (
            other.delta,
            other.wins,
            other.losses,
            other.ties,
        )
    rows = [(row, by_page[row.system, str(row.metric)]) for row in plain.rows if row.units]
    assert [(row.units, other.units) for row, other in rows] == [(48, 12)] * 4
    assert all((row.delta_low, row.p) != (other.delta_low, other.p) for row, other in rows)


def test_units_of_one_segment_are_segments() -> None:
    plain = kt.compare(SYSTEMS, REFERENCES, METRICS)
    labelled = kt.compare(SYSTEMS, REFERENCES, METRICS, units=range(SEGMENTS))
    named = kt.compare(SYSTEMS, REFERENCES, METRICS, units="segment")
    for row, other, same in zip(plain.rows, labelled.rows, named.rows, strict=True):
        assert row == same
        assert row._replace(score=other.score, unit=other.unit) == other


def test_a_document_of_corpus_metrics_equals_its_joined_rows() -> None:
    """BLEU sums counts: a page of four segments has the row of their sum."""
    m = kt.metric("bleu")
    stats = {name: m.stats(texts, REFERENCES) for name, texts in SYSTEMS.items()}
    psi = []
    for name in ("B", "A"):
        rows = stats[name].reshape(12, 4, -1).sum(axis=1)
        full = m.score(rows.sum(axis=0)).value
        rest = [m.score(rows.sum(axis=0) - row).value for row in rows]
        influence = 11 * (full - np.array(rest))
        psi.append(influence - influence.mean())
    error = np.sqrt(((psi[0] - psi[1]) ** 2).sum() / (12 * 11))
    row = kt.compare(SYSTEMS, REFERENCES, "bleu", units=PAGES)["B", "bleu"]
    difference = row.delta_high - row.delta_low
    assert difference >= 2 * 2.2009 * error - 1e-9  # Student's t with 11 degrees of freedom
    assert difference == pytest.approx(2 * 2.2009 * error, rel=0.25)


def test_repeated_answers_are_no_new_questions() -> None:
    """Ten copies of every answer change nothing, by question."""
    once = kt.compare(SYSTEMS, REFERENCES, METRICS)
    copies = {name: texts * 10 for name, texts in SYSTEMS.items()}
    questions = [*range(SEGMENTS)] * 10
    again = kt.compare(copies, REFERENCES * 10, METRICS, units=questions)
    segments = kt.compare(copies, REFERENCES * 10, METRICS)
    for row in once.rows:
        other, wrong = again[row.system, str(row.metric)], segments[row.system, str(row.metric)]
        assert (other.low, other.high) == pytest.approx((row.low, row.high))
        if row.p is not None:
            assert (other.p, other.units) == (pytest.approx(row.p), SEGMENTS)
            assert wrong.p < row.p / 3


def test_score_has_intervals_by_unit() -> None:
    scores = kt.score(SYSTEMS, REFERENCES, METRICS, intervals=True, units=PAGES)
    comparison = kt.compare(SYSTEMS, REFERENCES, METRICS, units=PAGES)
    for row in scores.rows:
        other = comparison[row.system, str(row.metric)]
        assert (row.low, row.high) == (other.low, other.high)
        assert row.low <= row.score.value <= row.high
    assert scores.settings["unit"] == "unit"


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (PAGES[:-1], "units: found 47 labels, expected 48, one per segment"),
        ([*PAGES, "x"], "units: found 49 labels, expected 48, one per segment"),
        ([*PAGES[:-1], None], "segment 48 has no unit: every segment needs the label of its unit"),
        ([""] * SEGMENTS, "segment 1 has no unit"),
        ("document", "unit 'document': the document of each segment is unknown; give labels"),
        ("topic", "unit 'topic': the topic of each segment is unknown; give labels"),
    ],
)
def test_units_that_do_not_fit_are_refused(units: Any, message: str) -> None:
    for call in (kt.score, kt.compare):
        more: dict[str, Any] = {"intervals": True} if call is kt.score else {}
        with pytest.raises(kt.InputError) as caught:
            call(SYSTEMS, REFERENCES, "chrf", units=units, **more)
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------ sets and SGML


def made_set(folder: Path, per_page: int) -> kt.EvalSet:
    """A set whose segments belong to documents of `per_page` segments."""
    lines = [
        {"id": f"s{i}", "references": [REFERENCES[i]], "group": f"page {i // per_page}",
         "outputs": {name: texts[i] for name, texts in SYSTEMS.items()}}
        for i in range(SEGMENTS)
    ]  # fmt: skip
    path = folder / f"set{per_page}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return kt.load_evalset(path)


def test_documents_of_a_set_are_the_units(tmp_path: Path) -> None:
    evalset = made_set(tmp_path, 4)
    comparison = kt.compare(evalset, metrics="chrf")
    expected = kt.compare(SYSTEMS, REFERENCES, "chrf", units=PAGES)
    row, other = comparison["B", "chrf"], expected["B", "chrf"]
    assert row._replace(score=other.score, unit=other.unit) == other
    assert comparison.signature.endswith("|ci=jackknife|unit=document")
    assert "48 segments in 12 documents" in comparison.document().basis
    assert "error by document" in comparison.notes[0]
    named = kt.compare(evalset, metrics="chrf", units="document")
    assert named.rows == comparison.rows
    question = kt.compare(evalset, metrics="chrf", units="question")
    assert question["B", "chrf"].p == row.p
    assert question.signature.endswith("|unit=question")
    by_segment = kt.compare(evalset, metrics="chrf", units="segment")
    plain = kt.compare(SYSTEMS, REFERENCES, "chrf")
    assert by_segment["B", "chrf"].p == plain["B", "chrf"].p


def test_few_documents_decide_nothing_about_others(tmp_path: Path) -> None:
    evalset = made_set(tmp_path, 12)  # 4 documents
    comparison = kt.compare(evalset, metrics="chrf")
    assert comparison["B", "chrf"].units == SEGMENTS
    assert comparison["B", "chrf"].verdict == "better"
    remark = (
        "Intervals and verdicts describe the segments of these 4 documents. At least 6 are needed "
        "for a verdict about other documents."
    )
    assert remark in comparison.notes
    assert remark in kt.score(evalset, metrics="chrf", intervals=True).notes
    assert remark not in kt.score(evalset, metrics="chrf").notes
    asked = kt.compare(evalset, metrics="chrf", units="document")
    assert (asked["B", "chrf"].units, asked["B", "chrf"].verdict) == (4, "undecided")
    assert asked.summary == "4 documents are too few to tell systems apart: at least 6 are needed."


def test_a_set_knows_no_other_unit(tmp_path: Path) -> None:
    with pytest.raises(kt.InputError, match="unit 'topic': expected segment, document, question"):
        kt.compare(made_set(tmp_path, 4), metrics="chrf", units="topic")
    with pytest.raises(kt.InputError, match="units: found 2 labels, expected 48"):
        kt.compare(made_set(tmp_path, 4), metrics="chrf", units=["a", "b"])


def sgml(texts: list[str]) -> str:
    """Eight documents of six segments."""
    documents = []
    for document in range(8):
        segments = texts[6 * document : 6 * document + 6]
        lines = (f"<seg id={i}> {text} </seg>\n" for i, text in enumerate(segments, 1))
        documents.append(f'<doc docid="d{document}" sysid="x">\n{"".join(lines)}</doc>\n')
    return "".join(documents)


def test_documents_of_sgml_files_are_the_units(tmp_path: Path) -> None:
    for name, texts in {**SYSTEMS, "reference": REFERENCES}.items():
        (tmp_path / f"{name}.sgm").write_text(sgml(texts), encoding="utf-8")
    paths = {name: tmp_path / f"{name}.sgm" for name in SYSTEMS}
    texts = kt.load_texts(paths, [tmp_path / "reference.sgm"])
    comparison = kt.compare(texts, metrics="gtm")
    labels = [f"d{i // 6}" for i in range(SEGMENTS)]
    expected = kt.compare(SYSTEMS, REFERENCES, "gtm", units=labels)
    assert comparison["B", "gtm"].units == 8
    assert comparison["B", "gtm"].p == pytest.approx(expected["B", "gtm"].p)
    assert comparison.signature.endswith("|unit=document")


# --------------------------------------------------------------------------------- real data


def test_documents_of_wmt23_are_the_units(karat_data: Path) -> None:
    evalset = kt.load_evalset(karat_data / "mt-wmt23-ende")
    chosen = evalset.select(systems=list(evalset.systems)[:2])
    comparison = kt.compare(chosen, metrics="chrf")
    (row,) = [row for row in comparison.rows if row.units is not None]
    assert row.units == 192
    assert comparison.document().basis.startswith("557 segments in 192 documents")


def test_five_talks_are_too_few(karat_data: Path) -> None:
    evalset = kt.load_evalset("ted-zhen")
    chosen = evalset.select(systems=list(evalset.systems)[:2])
    scores = kt.score(chosen, metrics="chrf", intervals=True)
    assert any("the segments of these 5 documents" in note for note in scores.notes)
    by_talk = kt.score(chosen, metrics="chrf", intervals=True, units="document")
    widths = [
        sum(float(row.high or 0) - float(row.low or 0) for row in scoring.rows)
        for scoring in (scores, by_talk)
    ]
    assert widths[1] > 2 * widths[0]
