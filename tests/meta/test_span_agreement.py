"""`compare_spans`: characters one by one, files of three kinds, and what is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.span_characters import micro

import karat as kt
from karat.meta.span_agreement import read_spans
from karat.stats.spans import MarkedSpan, span_credit

SPAN = st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from(["major", "minor"]))
SPANS = st.lists(SPAN.map(lambda s: (s[0], s[0] + s[1], s[2])), max_size=4)


@given(SPANS, SPANS, st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 4))
def test_credit_is_counted_by_character(
    gold: list[Any], predicted: list[Any], partial: float, edges: int
) -> None:
    shifted = [[MarkedSpan(a + 10, b + 10, s) for a, b, s in spans] for spans in (gold, predicted)]
    credit = span_credit(*shifted, partial, edges)
    if not credit.marked or not credit.reference_marked:
        assert (credit.credit, credit.reference_credit) == (0, 0)
        return
    item = [[(*span,) for span in spans] for spans in shifted]
    precision, recall = (
        credit.credit / credit.marked,
        credit.reference_credit / credit.reference_marked,
    )
    if precision + recall == 0:
        return
    expected = micro([(item[0], item[1])], partial, edges)
    assert (precision, recall) == pytest.approx(expected[:2])


def test_worked_values() -> None:
    """Characters 0-9 major, and 4-13 minor: 6 in common with another severity."""
    credit = span_credit([MarkedSpan(0, 10, "major")], [MarkedSpan(4, 14, "minor")])
    assert credit == (3.0, 10, 3.0, 10)
    same = span_credit([MarkedSpan(0, 10, "major")], [MarkedSpan(4, 14, "major")], edges=3)
    assert same == (9.0, 10, 9.0, 10)


def outputs(judge: str, seed: int, shift: int = 0) -> list[kt.MarkedOutput]:
    rng = np.random.default_rng(seed)
    marked = []
    for segment in range(40):
        starts = np.random.default_rng(segment).integers(0, 80, 3)
        spans = tuple(
            kt.MarkedSpan(int(a) + shift, int(a) + shift + 8, str(rng.choice(["major", "minor"])))
            for a in starts[: segment % 4]
        )
        marked.append(kt.MarkedOutput("A", str(segment), judge, spans, f"d{segment // 2}"))
    return marked


def test_judges_are_compared_with_the_other_people() -> None:
    ann, bob, gpt = outputs("ann", 1), outputs("bob", 2), outputs("gpt", 3, shift=2)
    comparison = kt.compare_spans([*ann, *bob, *gpt], model_judges=["gpt"])
    assert [row.judge for row in comparison.rows] == ["gpt", "ann", "bob"]
    row = comparison.rows[0]
    items = [
        ([(*s,) for s in person.spans], [(*s,) for s in model.spans])
        for people in (ann, bob)
        for person, model in zip(people, gpt, strict=True)
    ]
    assert (row.precision, row.recall, row.f) == pytest.approx(micro(items, 0.5, 0))
    assert row.f_edges == pytest.approx(micro(items, 0.5, 3)[2])
    assert row.f_edges > row.f
    assert (row.outputs, row.units) == (80, 20)
    assert row.f_low < row.f < row.f_high
    assert [(pair.judge, pair.reference) for pair in comparison.pairs] == [
        ("bob", "ann"),
        ("gpt", "ann"),
        ("gpt", "bob"),
    ]
    assert "gpt and people: F" in comparison.summary


def test_nothing_marked_has_no_values() -> None:
    empty = [output._replace(judge="eve", spans=()) for output in outputs("ann", 1)]
    comparison = kt.compare_spans([*outputs("ann", 1), *empty])
    by_judge = {row.judge: row for row in comparison.rows}
    assert math.isnan(by_judge["eve"].precision)
    assert by_judge["eve"].recall == 0
    assert math.isnan(by_judge["eve"].f)


def as_lines(marked: list[kt.MarkedOutput]) -> str:
    return "\n".join(
        json.dumps({**m._asdict(), "spans": [s._asdict() for s in m.spans]}) for m in marked
    )


def test_json_lines_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text(as_lines(outputs("ann", 1)), "utf-8")
    assert read_spans(path) == outputs("ann", 1)


def test_lines_may_be_blank_and_segments_numbers(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    lines = [{"system": "A", "segment": 1, "judge": judge, "spans": []} for judge in ("a", "b")]
    path.write_text("\n " + "\n\n".join(map(json.dumps, lines)), "utf-8")
    assert [(o.segment, o.judge) for o in read_spans(path)] == [("1", "a"), ("1", "b")]
    summary = kt.compare_spans([path]).summary
    assert summary == "a and b: F is undefined, because they marked 0 and 0 characters in 1 output."


def test_spans_in_another_order_are_the_same() -> None:
    [first, second] = MarkedSpan(0, 2, "major"), MarkedSpan(4, 6, "minor")
    ann = kt.MarkedOutput("A", "1", "ann", (first, second))
    bob = ann._replace(judge="bob")
    assert kt.compare_spans([ann, ann._replace(spans=(second, first)), bob]).rows[0].f == 1
    with pytest.raises(kt.InputError, match="twice, with different spans"):
        kt.compare_spans([ann, ann._replace(spans=(first,)), bob])


MQM = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    "A\tt\t1\t1\tr1\ts\tone <v>two</v> three\tFluency/Grammar\tMajor\n"
    "A\tt\t1\t1\tr1\ts\t<v>one</v> two three\tFluency/Grammar\tMinor\n"
    "A\tt\t1\t2\tr1\ts\tfour\tNo-error\tNo-error\n"
)


def test_tables_of_mqm_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mqm.tsv"
    path.write_text(MQM, "utf-8")
    first, second = read_spans(path)
    assert first.spans == (MarkedSpan(4, 7, "major"), MarkedSpan(0, 3, "minor"))
    assert (first.system, first.segment, first.judge, first.document) == ("A", "t 1", "r1", "t")
    assert second.spans == ()


def appraise_row(
    judge: str, item: int, spans: str, document: str = "d#A", kind: str = "TGT"
) -> str:
    quoted = spans.replace('"', '""')
    return f'{judge},w.A,{item},{kind},eng,deu,80,{document},False,"{quoted}",1.0,2.0\n'


def test_exports_of_appraise_are_read(tmp_path: Path) -> None:
    span = '[{"start_i":2,"end_i":5,"severity":"major","error_type":null}]'
    missing = '[{"start_i":"missing","end_i":"missing","severity":"major","error_type":null}]'
    rows = [
        appraise_row("ann", 9, missing),
        appraise_row("ann", 8, span),
        appraise_row("bob", 3, span),
        appraise_row("bob", 4, "[]"),
        appraise_row("cleo", 1, span),  # half of the document
        appraise_row("bob", 5, span, "d#A#bad1", "BAD"),
    ]
    path = tmp_path / "esa.csv"
    path.write_text("".join(rows), "utf-8")
    by_key = {(o.judge, o.segment): o.spans for o in read_spans(path)}
    mark = (MarkedSpan(2, 5, "major"),)
    assert by_key == {
        ("ann", "d 1"): mark,
        ("ann", "d 2"): (),
        ("bob", "d 1"): mark,
        ("bob", "d 2"): (),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bad.txt: found no text, expected JSON lines"),
        ("a,b\n", "expected JSON lines such as"),
        (
            '{"system": "A", "segment": null, "judge": "x", "spans": []}\n',
            '"segment": null, "judge"',
        ),
        (
            '[{"system": "A", "x": 1, "y": 1, "z": [1, 2, 3, 4, 5, 6, 7, 8]}]\n',
            "expected JSON lines",
        ),
        (
            '{"system": "A", "segment": "1", "judge": "x", "spans": [], "kind": "robot"}\n',
            "line 1: found the kind 'robot', expected one of person, model",
        ),
        (
            '{"system": "A", "segment": "1", "judge": "x"}\n',
            "line 1: found the spans null, expected",
        ),
        (
            '{"system": "A", "segment": "1", "judge": "x", "spans": [{"start": 5, "end": 2}]}\n',
            "line 1: found the spans",
        ),
        (
            '{"system": "A", "segment": "1", "judge": "x", "spans": [{"start": 0, "end": 1e9}]}\n',
            "line 1: found the spans",
        ),
        (MQM + "A\tt\n", "line 5: found 2 fields, expected 9"),
        (appraise_row("a", 1, "{}"), "line 1: found"),
        (appraise_row("a", 10**4000, "[]"), "line 1: found"),
        (
            '{"system": "A", "segment": "1", "judge": "x", "spans": []}\n',
            "no output that a person and another judge marked (people: 1, models: 0)",
        ),
    ],
)
def test_bad_files(run_karat: Callable[..., Any], folder: Path, text: str, message: str) -> None:
    (folder / "bad.txt").write_text(text, "utf-8")
    done = run_karat("judge", "spans", "bad.txt", "-o", "page.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "page.html").exists()


def test_the_command_writes_text_and_a_page(run_karat: Callable[..., Any], folder: Path) -> None:
    lines = as_lines([*outputs("ann", 1), *outputs("bob", 2), *outputs("gpt", 3, shift=2)])
    (folder / "spans.jsonl").write_text(lines, "utf-8")
    done = run_karat("judge", "spans", "spans.jsonl", "--model-judge", "gpt")
    assert (done.returncode, done.stderr) == (0, "")
    assert "gpt and people: F" in done.stdout
    assert run_karat("judge", "spans", "spans.jsonl", "-o", "page.html").returncode == 0
    assert "Every two judges" in (folder / "page.html").read_text("utf-8")
    done = run_karat("judge", "spans", "spans.jsonl", "--model-judge", "zoe")
    assert "no spans by 'zoe' (judges: ann, bob, gpt)" in done.stderr


def test_two_campaigns_of_wmt23(karat_data: Path) -> None:
    """ESA and MQM annotators marked the same outputs; few characters are marked by both."""
    marked = []
    for name in ("ESA", "MQM"):
        path = karat_data / "mt-wmt23-ende" / "appraise" / f"240315rc5{name}.scores.csv"
        campaign = {(o.system, o.segment): o._replace(judge=name) for o in read_spans(path)}
        marked += list(campaign.values())
    comparison = kt.compare_spans(marked)
    [row] = comparison.pairs
    assert row.outputs > 2000
    assert 0.1 < row.f < 0.4
    assert row.f < row.f_edges
