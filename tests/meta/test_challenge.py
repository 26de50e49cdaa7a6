"""What metrics notice: worked values, oracles, tables, bad input, DEMETR, the command."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import challenge_pairs

import karat as kt
from karat.cli.main import main
from karat.errors import InputError
from karat.meta.challenge import _estimate, area_under_curve, challenge_intervals
from karat.report.documents.challenges import challenge_basis

DEMETR = Path(os.environ.get("KARAT_DATA", "/nowhere")) / "challenge-demetr"
needs_demetr = pytest.mark.skipif(not DEMETR.is_dir(), reason="DEMETR is not in KARAT_DATA")

REFERENCE = "the cat sat on the mat today"
ROWS = [
    {"reference": REFERENCE, "good": REFERENCE + " now", "bad": bad, "phenomenon": phenomenon}
    for phenomenon, bad in (
        ("omission", "the cat sat now"),
        ("casing", REFERENCE.upper() + " NOW"),
        ("casing", REFERENCE.title() + " now"),
    )
]


def row_of(result: kt.ChallengeResult, phenomenon: str) -> Any:
    return next(row for row in result.rows if row.phenomenon == phenomenon)


# ------------------------------------------------------------------------------ worked values


def test_accuracy_auc_and_ties_are_worked_by_hand() -> None:
    # Pairs (3, 1), (2, 2), (1, 4): right, tied, wrong. All pairs of scores: 3 above 1, 2; 2 above
    # 1 and tied with 2; 1 tied with 1: (2 + 1 + 2 * 0.5) / 9.
    good, bad = np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0, 4.0])
    accuracy, auc = challenge_intervals(good, bad)
    assert accuracy.value == pytest.approx(1 / 3)
    assert auc.value == pytest.approx(4 / 9)
    assert accuracy.low < 1 / 3 < accuracy.high
    assert auc.low < 4 / 9 < auc.high


def test_a_metric_of_lower_cased_words_does_not_notice_casing() -> None:
    result = kt.meta_challenge(ROWS, ["rouge1", "ter"])
    rouge = row_of(result, "casing")
    assert (rouge.metric, rouge.pairs, rouge.items) == ("rouge1", 2, 1)
    assert (rouge.accuracy, rouge.ties, rouge.auc) == (0.0, 1.0, 0.5)
    omission = row_of(result, "omission")
    assert (omission.accuracy, omission.auc) == (1.0, 1.0)


def test_scores_of_which_lower_is_better_are_turned() -> None:
    result = kt.meta_challenge(ROWS, "wer")
    assert row_of(result, "omission").accuracy == 1.0


def test_severities_are_means_over_their_phenomena() -> None:
    rows = [{**row, "severity": "Major"} for row in ROWS]
    result = kt.meta_challenge(rows, "rouge1")
    (severity,) = result.severities
    assert (severity.severity, severity.phenomena, severity.pairs) == ("major", 2, 3)
    assert severity.accuracy == pytest.approx(0.5)  # of 0 and 1, not of three pairs
    assert severity.auc == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("right", "pairs", "verdict"),
    [(90, 100, "noticed"), (52, 100, "missed"), (0, 12, "missed"), (5, 7, "undecided")],
)
def test_the_verdict_follows_from_the_interval(right: int, pairs: int, verdict: str) -> None:
    bad_texts = ["x" if i < right else REFERENCE + " y" for i in range(pairs)]
    rows = [
        {"id": i, "reference": REFERENCE, "good": REFERENCE, "bad": bad, "phenomenon": "p"}
        for i, bad in enumerate(bad_texts)
    ]
    for row in rows:
        if row["bad"] != "x":  # the good text shares less with the reference than the bad one
            row["good"] = "z"
    (row,) = kt.meta_challenge(rows, "rouge1").rows
    assert row.accuracy == pytest.approx(right / pairs)
    assert row.verdict == verdict


# ------------------------------------------------------------------------------------ oracles

SCORES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 4)), min_size=2, max_size=14
)


@given(SCORES)
def test_the_area_equals_loops_over_all_pairs(pairs: list[tuple[int, int, int]]) -> None:
    good, bad, _ = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    area = area_under_curve(good, bad)
    assert area.auc == pytest.approx(float(challenge_pairs.area(good, bad)))
    assert area.good == pytest.approx([float(challenge_pairs.area([g], bad)) for g in good])
    assert area.bad == pytest.approx([float(challenge_pairs.area(good, [b])) for b in bad])


@given(SCORES)
def test_its_error_equals_loops_by_item(pairs: list[tuple[int, int, int]]) -> None:
    good, bad, labels = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    items = np.unique(labels, return_inverse=True)[1]
    if items.max() == 0:
        return
    error = _estimate(good, bad, items, int(items.max()) + 1).auc.error
    assert error == pytest.approx(challenge_pairs.area_error(good, bad, items), abs=1e-12)


def test_scores_equal_the_metric_itself() -> None:
    challenge = kt.make_challenge("demo", phenomena=["omission"])
    (row,) = kt.meta_challenge(challenge, "chrf").rows
    chrf = kt.metric("chrf")
    references = [list(pair.references) for pair in challenge.pairs]
    good = chrf.segments([pair.good for pair in challenge.pairs], references)
    bad = chrf.segments([pair.bad for pair in challenge.pairs], references)
    right = sum(float(g) > float(b) for g, b in zip(good, bad, strict=True))
    assert row.accuracy == right / len(challenge.pairs)
    values = [[float(score) for score in scores] for scores in (good, bad)]
    assert row.auc == pytest.approx(float(challenge_pairs.area(*values)))


# ------------------------------------------------------------------------------------- tables


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize(("ending", "write"), [("csv", write_csv), ("jsonl", write_jsonl)])
def test_tables_of_all_kinds_are_read(
    tmp_path: Path, ending: str, write: Callable[[Path, list[dict[str, Any]]], Path]
) -> None:
    path = write(tmp_path / f"pairs.{ending}", ROWS)
    assert kt.read_challenge(path).pairs == kt.read_challenge(ROWS).pairs


def test_parquet_and_workbooks_are_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "pairs.parquet")
    assert kt.read_challenge(tmp_path / "pairs.parquet").pairs == kt.read_challenge(ROWS).pairs
    assert kt.read_challenge(frame).pairs == kt.read_challenge(ROWS).pairs
    pytest.importorskip("openpyxl")
    frame.to_excel(tmp_path / "pairs.xlsx", index=False)
    assert kt.read_challenge(tmp_path / "pairs.xlsx").pairs == kt.read_challenge(ROWS).pairs


def test_usual_names_and_named_columns_are_understood() -> None:
    aces = [
        {
            "good-translation": row["good"],
            "incorrect-translation": row["bad"],
            "reference": row["reference"],
            "phenomena": row["phenomenon"],
        }
        for row in ROWS
    ]
    expected = [pair[1:] for pair in kt.read_challenge(ROWS).pairs]
    assert [pair[1:] for pair in kt.read_challenge(aces).pairs] == expected
    odd = [dict(zip("abcd", row.values(), strict=True)) for row in ROWS]
    columns = {"reference": "a", "good": "b", "bad": "c", "phenomenon": "d"}
    assert [pair[1:] for pair in kt.read_challenge(odd, columns).pairs] == expected


def test_several_references_are_read_from_columns_and_lists() -> None:
    columns = [{**row, "reference2": "a cat sat"} for row in ROWS]
    lists = [{**row, "reference": [REFERENCE, "a cat sat"]} for row in ROWS]
    for rows in (columns, lists):
        assert kt.read_challenge(rows).pairs[0].references == (REFERENCE, "a cat sat")


def test_equal_pairs_references_and_marked_pairs_are_left_out_and_counted() -> None:
    rows = [{**row, "applies": "yes"} for row in ROWS]
    rows += [
        {**rows[0], "bad": rows[0]["good"]},
        {**rows[0], "bad": REFERENCE},
        {**rows[0], "applies": "False"},
    ]
    challenge = kt.read_challenge(rows)
    assert len(challenge) == 3
    assert sorted(note[:20] for note in challenge.notes) == ["Pairs left out: 1; t"] * 3


def test_metrics_that_need_no_reference_take_tables_without_one() -> None:
    rows = [{"good": '{"a": 1}', "bad": bad, "phenomenon": "broken"} for bad in ('{"a": 1', "{a}")]
    (row,) = kt.meta_challenge(rows, "json").rows
    assert (row.pairs, row.accuracy) == (2, 1.0)


def test_names_of_phenomena_are_one_in_any_case() -> None:
    rows = [{**ROWS[0], "phenomenon": name} for name in ("Word order", "word order ", "WORD_ORDER")]
    (row,) = kt.meta_challenge(rows, "chrf").rows
    assert (row.phenomenon, row.pairs) == ("Word order", 3)


def test_one_phenomenon_is_named_in_the_singular() -> None:
    result = kt.meta_challenge(ROWS[:1], "chrf")
    assert challenge_basis(result).startswith("1 pair, 1 phenomenon. ")


def test_the_signature_depends_on_every_text() -> None:
    changed = [*ROWS[:2], {**ROWS[2], "bad": "x"}]
    assert kt.read_challenge(ROWS).signature != kt.read_challenge(changed).signature


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("rows", "metrics", "message"),
    [
        (
            [{k: v for k, v in row.items() if k != "phenomenon"} for row in ROWS],
            "chrf",
            r"no column has the phenomenon of each pair \(it has reference, good, bad\): name it, "
            "as in --column phenomenon=NAME",
        ),
        (
            [{k: v for k, v in row.items() if k != "reference"} for row in ROWS],
            "chrf",
            "no column has references, which chrf needs",
        ),
        ([{**ROWS[0], "bad": None}], "chrf", "row 1: column 'bad' is empty: fill it"),
        ([{**ROWS[0], "reference": ""}], "chrf", "row 1: no reference in column 'reference'"),
        (
            [{**ROWS[0], "bad": ROWS[0]["good"]}],
            "chrf",
            r"no pair is left \(1 left out: the bad text equals",
        ),
        (
            [{"reference": "a", "phenomenon": "b", "text": "c"}],
            "chrf",
            "no column has the good text or the bad text of each pair",
        ),
        (ROWS, "given:column=x", "these are scores of given texts, .*: leave it out"),
        (ROWS, "length", "longer outputs are neither better nor worse"),
        (ROWS, "given:file=scores.tsv", "scores"),
        (ROWS, "chrff", "chrff"),
        ([], "chrf", "list is not a table"),
    ],
)
def test_bad_input_is_one_sentence(rows: Any, metrics: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        kt.meta_challenge(rows, metrics)
    assert "\n" not in str(error.value)


def test_unknown_roles_columns_and_empty_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no role 'goood'; did you mean good\?"):
        kt.read_challenge(ROWS, {"goood": "good"})
    with pytest.raises(InputError, match="has no column 'x'"):
        kt.read_challenge(ROWS, {"good": "x"})
    with pytest.raises(InputError, match=r"no table in this folder: expected files such as \.json"):
        kt.read_challenge(tmp_path)


def test_the_command_ends_with_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "p.csv", [{"reference": "a", "good": "b", "bad": "c"}])
    assert main(["meta", "challenge", str(path)]) == 2
    assert main(["meta", "challenge", str(tmp_path / "none.csv")]) == 2
    assert main(["meta", "challenge", str(path), "-o", str(path)]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert "phenomenon" in errors[0]
    assert "one of the inputs" in errors[2]


# -------------------------------------------------------------------------------- the command


def test_formats_and_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "pairs.csv", ROWS)
    command = ["meta", "challenge", str(path), "-m", "rouge1", "-m", "chrf"]
    assert main([*command, "-f", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["rows"]) == 4
    assert shown["rows"][0]["verdict"] == "undecided"
    for format in ("csv", "latex", "md", "tsv", "html"):
        assert main([*command, "-f", format]) == 0
        assert "casing" in capsys.readouterr().out
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "ROUGE-1 is weakest on casing: 0.0% of pairs, AUC 0.50" in " ".join(text.split())


def test_an_answer_names_what_is_missed_and_the_critical_errors_first() -> None:
    def pair(i: int, severity: str, phenomenon: str, bad: str) -> dict[str, Any]:
        texts = {"reference": f"{REFERENCE} {i}", "good": f"{REFERENCE} {i} now"}
        return {"id": i, "severity": severity, "phenomenon": phenomenon, **texts, "bad": bad}

    rows = [
        row
        for i in range(12)
        for row in (
            pair(i, "minor", "casing", f"{REFERENCE} {i} now".upper()),
            pair(i, "critical", "nonsense", "x y z"),
            pair(i, "critical", "order", f"now {REFERENCE} {i}"),
            pair(i, "base", "empty", "."),
        )
    ]
    result = kt.meta_challenge(rows, "rouge1")
    assert [row.phenomenon for row in result.rows] == ["order", "nonsense", "casing", "empty"]
    assert result.summary == (
        "ROUGE-1 misses order: 0.0% of pairs, AUC 0.50 [0.41, 0.59]; strongest on nonsense: "
        "100.0% of pairs, AUC 1.00 [0.81, 1.00]; it also misses casing."
    )
    assert "of the 2 critical ones" in result.document().basis


# ------------------------------------------------------------------------------------- DEMETR


@needs_demetr
def test_demetr_is_read_and_measured() -> None:
    challenge = kt.read_challenge(DEMETR)
    names = {phenomenon for _, phenomenon in challenge.phenomena}
    assert {"negation", "numbers replaced", "ne removed", "tokenized"} <= names
    assert "reference" not in names  # its bad texts are the references
    numbers = challenge.phenomena["critical", "numbers replaced"]
    assert len(numbers) == 199  # the pairs that `pert_check` marks as applicable
    assert all(pair.bad != pair.good for pair in challenge.pairs)
    result = kt.meta_challenge(challenge, ["chrf"])
    shown = {row.phenomenon: row for row in result.rows}
    assert shown["tokenized"].accuracy == 0.0  # chrF removes white space
    assert shown["tokenized"].verdict == "missed"
    assert shown["empty"].auc == 1.0
    assert shown["negation"].accuracy > 0.85
    assert shown["negation"].auc < 0.6
    assert [row.severity for row in result.severities] == ["critical", "major", "minor", "base"]


@needs_demetr
def test_a_file_of_demetr_is_read_alone() -> None:
    challenge = kt.read_challenge(DEMETR / "critical_id8_negation.json")
    assert {pair.phenomenon for pair in challenge.pairs} == {"negation"}
    assert {pair.severity for pair in challenge.pairs} == {"critical"}
    assert challenge.pairs[0].source
