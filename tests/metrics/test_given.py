"""Scores that were given elsewhere, as a metric: looked up, counted, compared, refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import karat as kt
from karat.cli.main import main
from karat.metrics.names import metric as parse

REFERENCES = ["one", "two", "three", "four"] * 2
SYSTEMS = {"A": REFERENCES, "B": ["uno", "dos", "tres", "cuatro"] * 2}
SCORES: dict[str, list[float | None]] = {
    "A": [0.5, None, 0.25, 1.0, 0.5, 0.75, 0.25, 1.0],
    "B": [0.25, 0.75, 0.5, 0.0, 0.25, 0.75, 0.5, 0.0],
}
MEAN = 4.25 / 7
"""Of A; that of B is 0.375."""
ROWS = [(s, i, x) for s, own in SCORES.items() for i, x in enumerate(own, 1)]


def written(folder: Path, ending: str) -> str:
    """A file with the same scores in one of the formats."""
    path = folder / f"mine.{ending}"
    by = "," if ending == "csv" else "\t"
    lines = [by.join([s, str(i), "" if x is None else str(x)]) for s, i, x in ROWS]
    header = by.join(["system", "segment", "score"])
    if ending == "parquet":
        records = ({"system": s, "segment": i, "score": x} for s, i, x in ROWS)
        pq.write_table(pa.Table.from_pylist(list(records)), path)
    elif ending == "jsonl":
        objects = ({"system": s, "segment": i, "score": x} for s, i, x in ROWS)
        path.write_text("".join(json.dumps(item) + "\n" for item in objects))
    elif ending == "seg.score":
        path.write_text("".join(f"{s}\t{x}\n" for s, _, x in ROWS))
    else:
        bare = ending == "bare.tsv"
        path.write_text("\n".join(lines if bare else [header, *lines]) + "\n")
    return str(path)


@pytest.mark.parametrize("ending", ["tsv", "bare.tsv", "csv", "jsonl", "parquet", "seg.score"])
def test_every_format_has_the_same_scores(tmp_path: Path, ending: str) -> None:
    name = f"given:file={written(tmp_path, ending)}"
    scoring = kt.score(SYSTEMS, None, [name], segments=True)
    assert scoring["A", name].score.value == pytest.approx(MEAN, abs=1e-15)
    assert scoring["B", name].score.value == 0.375
    assert scoring["A", name].score.notes == ("1 of 8 segments has no score",)
    assert scoring["B", name].score.notes == ()
    assert [i for i, x in enumerate(scoring.segment_scores("A", name)) if math.isnan(x)] == [1]
    assert scoring.segment_scores("B", name).tolist() == SCORES["B"]


def test_scores_of_python_are_those_of_a_file(tmp_path: Path) -> None:
    by_id = {
        s: {str(i): x for i, x in enumerate(system_scores, 1)}
        for s, system_scores in SCORES.items()
    }
    first, second = kt.external_scores("mine", SCORES), kt.external_scores("mine", by_id)
    for m in (first, second):
        assert kt.score(SYSTEMS, REFERENCES, [m])["B", "given:metric=mine"].score.value == 0.375
    assert kt.score(["a", "b"], None, kt.external_scores("x", [1, 3])).rows[0].score.value == 2
    from_file = kt.ExternalScores(file=written(tmp_path, "tsv"))
    assert (
        from_file.scores_by_system.digest
        == second.scores_by_system.digest
        != first.scores_by_system.digest
    )


@given(
    st.lists(
        st.lists(st.none() | st.floats(-1e6, 1e6), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    ).filter(lambda rows: all(any(x is not None for x in row) for row in rows))
)
def test_a_score_is_the_mean_of_those_that_are_there(rows: list[list[float | None]]) -> None:
    systems = {f"s{k}": ["x"] * 3 for k in range(len(rows))}
    m = kt.external_scores("mine", {f"s{k}": system_scores for k, system_scores in enumerate(rows)})
    scoring = kt.score(systems, None, m, segments=True)
    for k, system_scores in enumerate(rows):
        is_labelled = [x for x in system_scores if x is not None]
        assert scoring[f"s{k}", m].score.value == pytest.approx(
            math.fsum(is_labelled) / len(is_labelled)
        )
        assert scoring[f"s{k}", m].score.parts["known"] == len(is_labelled)
        displayed = scoring.segment_scores(f"s{k}", m)
        assert [None if math.isnan(x) else x for x in displayed] == system_scores


@pytest.mark.parametrize("spelled", ["", "None", "null", "NaN", "nan", "NA"])
def test_a_missing_score_is_spelled_alike_everywhere(tmp_path: Path, spelled: str) -> None:
    rows = [("A", "1", "0.5"), ("A", "2", spelled), ("A", "3", "0.25")]
    lines = "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "s.csv").write_text("system,segment,score\n" + lines)
    of_file = kt.metric(f"given:file={tmp_path / 's.csv'}")
    texts = {"A": ["a", "b", "c"]}
    rows_of_table = lines.replace("\n", ",x,y\n")
    (tmp_path / "t.csv").write_text("system,id,score,output,reference\n" + rows_of_table)
    columns = {"by": "system", "id": "id"}
    actual_score = [
        kt.score(texts, None, [of_file]),
        kt.score_table(str(tmp_path / "t.csv"), ["given:column=score"], **columns),
        kt.score(texts, None, [kt.external_scores("m", {"A": [0.5, float("nan"), 0.25]})]),
        kt.score(
            texts, None, [kt.external_scores("m", {"A": pd.array([0.5, None, 0.25], "Float64")})]
        ),
    ]
    for entry in actual_score:
        assert entry.rows[0].score.value == 0.375
        assert entry.notes[-1].endswith("1 of 3 segments has no score")


def test_a_comparison_leaves_missing_segments_out() -> None:
    m = kt.external_scores("mine", SCORES)
    comparison = kt.compare(SYSTEMS, REFERENCES, [m], examples=4)
    row = comparison["B", m]
    assert (row.wins, row.losses, row.ties) == (2, 4, 1)  # of all segments but the second
    assert row.delta == pytest.approx(2.25 / 7 - MEAN)  # of the same seven
    assert [item.segment for item in comparison.examples] == [3, 7, 0, 2]
    random = kt.compare(SYSTEMS, REFERENCES, [m], test="sacrebleu-ar")
    assert 0 < random["B", m].sacrebleu_p <= 1  # type: ignore[operator]


def test_a_single_score_has_no_interval() -> None:
    m = kt.external_scores("mine", {"A": [1.0, *[None] * 7], "B": SCORES["B"]})
    scores = kt.score(SYSTEMS, None, m, intervals=True)
    assert (scores["A", m].low, scores["A", m].high) == (None, None)
    assert scores["B", m].low < scores["B", m].score.value < scores["B", m].high
    row = kt.compare(SYSTEMS, None, m)["B", m]
    assert (row.units, row.verdict) == (1, "undecided")


# --------------------------------------------------------------------------------- system scores


def test_a_system_score_stands_unless_it_is_the_mean(tmp_path: Path) -> None:
    rows = [*ROWS, ("A", "", 9.0), ("B", "-", 0.3750000001)]
    path = tmp_path / "mine.tsv"
    path.write_text("".join(f"{s}\t{i}\t{'' if x is None else x}\n" for s, i, x in rows))
    name = f"given:file={path}"
    scoring = kt.score(SYSTEMS, None, name, segments=True)
    assert scoring["A", name].score.value == 9
    assert scoring["B", name].score.value == 0.375
    assert scoring.segment_scores("A", name)[0] == 0.5
    assert any("not the mean of their segments' scores" in note for note in scoring.notes)
    mean = f"{name},system=mean"
    assert kt.score(SYSTEMS, None, mean)["A", mean].score.value == pytest.approx(MEAN)
    assert kt.score(SYSTEMS, None, mean, intervals=True)["B", mean].low is not None
    with pytest.raises(kt.InputError, match=r"'A' does not come from .* system=mean takes"):
        kt.score(SYSTEMS, None, name, intervals=True)


def test_system_scores_alone(tmp_path: Path) -> None:
    path = tmp_path / "slide.sys.score"
    path.write_text("A\t2.5\nB\t3\nC\t7\n")
    scoring = kt.score(SYSTEMS, None, f"given:file={path}", segments=True)
    assert [row.score.value for row in scoring.rows] == [2.5, 3]
    assert np.isnan(scoring.segment_scores("A", f"given:file={path}")).all()
    assert scoring.notes[0].endswith("systems have scores, segments have none.")


# ------------------------------------------------------------------------------------- direction


@pytest.mark.parametrize(
    ("name", "values", "higher", "sign"),
    [
        ("COMET", [0.1, 0.2], None, 1),
        ("TER", [10, 20], None, -1),
        ("MetricX-24", [1.5, 20], None, -1),
        ("MetricX-23", [-1.5, -20], None, 1),
        ("wer_of_ours", [0.1, 0.2], None, -1),
        ("TER", [10, 20], True, 1),
        ("judge", [1, 2], False, -1),
        ("judge", [1, 2], None, 1),
    ],
)
def test_the_direction_is_stated_or_known(
    name: str, values: list[float], higher: bool | None, sign: int
) -> None:
    m = kt.external_scores(name, values, higher=higher)
    assert m.sign == sign
    is_labelled = higher is not None or name == "COMET"
    assert (m.remarks() == ()) is is_labelled


def test_the_best_of_an_error_rate_is_the_lowest() -> None:
    m = kt.external_scores("TER", {"A": [10, 20] * 4, "B": [5, 10] * 4})
    comparison = kt.compare(SYSTEMS, REFERENCES, m)
    assert comparison.rows[0].system == "B"
    assert comparison["B", m].wins == 8


# ----------------------------------------------------------------------------------------- names


def test_names_and_signatures_parse_back(tmp_path: Path) -> None:
    m = kt.metric(f"given:file={written(tmp_path, 'tsv')},higher=no")
    assert parse(str(m)) == m
    again = parse(m.signature())
    assert (again, hash(again)) == (m, hash(m))
    assert kt.metric("given:name=COMET") == kt.ExternalScores(metric="COMET")
    Path(m.file).write_text("A\t1\t5\n")  # type: ignore[attr-defined]
    with pytest.raises(kt.MetricError, match="the signature is of other scores"):
        kt.score(SYSTEMS, None, parse(m.signature()))


def test_one_name_has_one_set_of_scores() -> None:
    first, second = (kt.external_scores("x", {"A": [v] * 8, "B": [v] * 8}) for v in (1, 2))
    with pytest.raises(kt.InputError, match="given twice with different scores"):
        kt.score(SYSTEMS, None, [first, second])
    assert len(kt.score(SYSTEMS, None, [first, first]).rows) == 2


# ---------------------------------------------------------------------------------------- tables


def table() -> pa.Table:
    """Rows of both systems in a mixed order, with the scores in a column."""
    rows = [
        {"sys": s, "seg": i, "output": SYSTEMS[s][i - 1], "reference": REFERENCES[i - 1], "x": x}
        for s, i, x in reversed(ROWS)
    ]
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize("ending", ["memory", "parquet", "csv", "jsonl"])
def test_a_column_of_the_table_is_a_metric(tmp_path: Path, ending: str) -> None:
    data: Any = table()
    if ending != "memory":
        path = tmp_path / f"t.{ending}"
        if ending == "parquet":
            pq.write_table(data, path)
        elif ending == "csv":
            csv.write_csv(data, path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in data.to_pylist()))
        data = path
    scores = written(tmp_path, "tsv")
    options = {"by": "sys", "id": "seg"}
    names = ["given:column=x,metric=COMET", f"given:file={scores}"]
    scoring = kt.score_table(data, names, **options)
    for name in names:
        assert scoring["A", name].score.value == pytest.approx(MEAN)
        assert scoring["A", name].score.notes == ("1 of 8 segments has no score",)
    compared = kt.compare_table(data, names, **options)
    rows = [compared["B", name] for name in names]
    assert [(row.wins, row.losses, row.ties) for row in rows] == [(2, 4, 1)] * 2


# ------------------------------------------------------------------------------------- bad input

BAD: list[tuple[str, str]] = [
    ("system\tsegment\tscore\nA\t1\tx\n", "line 2: found the score 'x', expected a finite number"),
    ("system\tsegment\tscore\nA\t1\tinf\n", "line 2: found the score 'inf', expected a finite"),
    ("A\t1\t1\nA\t1\t2\n", "line 2: a second score of segment '1' of system 'A'"),
    ("A\t-\t1\nA\t\t2\n", "line 2: a second score of system 'A'"),
    ("A\t1\t1\n", "no scores of system 'B'; it has scores of A"),
    ("A\t1\t1\nB\t1\t\n", "all scores of system 'B' are missing"),
    ("A\t0\t1\nB\t1\t1\n", "line 1: a score of segment '0', which does not exist"),
    ("A\t1\t1\nB\t1\n", "line 2: found 2 fields, expected 3"),
    ("\t1\t1\n", "line 1: found the system '', expected a name"),
    (
        "segment\tscore\n1\t2\n",
        "line 1: found the columns segment, score, expected system, segment",
    ),
    ("system\tsegment\tx\ty\nA\t1\t1\t2\n", "any of x, y may be the column of scores: name it"),
    ("system\tsegment\tscore\n", "no scores: expected a row for each system and segment"),
    ("", "found the columns nothing, expected system, segment and score"),
    ("system\tsystem\tscore\nA\t1\t1\n", "two columns have the same name"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[told for _, told in BAD])
def test_bad_files_are_refused_in_a_sentence(
    run_karat: Callable[..., Any], folder: Path, text: str, message: str
) -> None:
    (folder / "s.tsv").write_text(text)
    done = run_karat("score", "A=a.txt", "B=b.txt", "-m", "given:file=s.tsv")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.startswith("karat: s.tsv")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("given", "given has no scores here: given:file=scores.tsv reads a file"),
        ("given:metric=COMET", "has no scores here"),
        ("given:column=x", "is a column of a table or of a set, and neither is scored"),
        ("given:file=none.tsv", "none.tsv: No such file"),
        ("given:file=s.tsv,column=scor", "no column of scores 'scor'; did you mean score?"),
        ("given:COMET", "'COMET' is no setting; expected setting=value"),
    ],
)
def test_metrics_without_scores_are_refused(
    run_karat: Callable[..., Any], folder: Path, name: str, message: str
) -> None:
    (folder / "s.tsv").write_text("system\tsegment\tscore\nA\t1\t1\n")
    done = run_karat("score", "A=a.txt", "-m", name)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"A": [1, 2]}, "found 2 scores, expected 8, one a segment"),
        (
            {"A": [1, 2, "x", 4, 5, 6, 7, 8]},
            "segment 3: found 'x', expected a finite number",
        ),
        ({"A": [1, math.inf]}, "segment 2: found inf, expected a finite number"),
        ({"A": 3}, "found 3, expected a score for each segment, or scores by id"),
        ({"A": {"1": 1, "9": 2}}, "a score of segment '9', which does not exist"),
        ({}, "no scores: expected scores of at least one system"),
    ],
)
def test_bad_scores_of_python_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.score({"A": SYSTEMS["A"]}, None, kt.external_scores("mine", scores))


def test_a_table_must_have_the_segments_of_the_scores() -> None:
    other = {s: {**{str(i): 1.0 for i in range(1, 9)}, "9": 2.0} for s in SYSTEMS}
    with pytest.raises(kt.InputError, match="no segments for 1 of 9 scores of system"):
        kt.score_table(table(), kt.external_scores("mine", other), by="sys", id="seg")
    with pytest.raises(kt.InputError, match="a table needs scores by the ids of segments"):
        kt.score_table(table(), kt.external_scores("mine", SCORES), by="sys", id="seg")
    with pytest.raises(kt.InputError, match="column 'output' is 'cuatro'; every row needs a fin"):
        kt.score_table(table(), "given:column=output", by="sys")


# ------------------------------------------------------------------------------- evaluation sets


def test_sets_without_references_take_given_scores() -> None:
    evalset = kt.make_evalset(
        "bare", SYSTEMS, judgements=[("A", "1", "j", "d", 1.0)], dimensions=["d"]
    ).with_scores("mine", SCORES)
    assert (
        kt.score(evalset, metrics="given:metric=mine")["B", "given:metric=mine"].score.value
        == 0.375
    )
    selection = evalset.select(segments=["1", "3"])
    by_id = {
        s: {str(i): x for i, x in enumerate(system_scores, 1)}
        for s, system_scores in SCORES.items()
    }
    assert (
        kt.score(selection, metrics=kt.external_scores("k", by_id)).rows[0].score.value == 0.375
    )  # of A
    with pytest.raises(kt.InputError, match="8 of 8 segments have no reference"):
        kt.score(evalset, metrics=["given:metric=mine", "bleu"])
    with pytest.raises(kt.InputError, match="no scores of 'mind'; did you mean mine"):
        kt.score(evalset, metrics="given:metric=mind")


def test_a_perfect_error_rate_is_no_negated_one() -> None:
    assert kt.external_scores("WER", {"A": [0.0, 0.0]}).sign == -1
    assert kt.external_scores("WER", {"A": [-0.5, 0.0]}).sign == 1
    assert kt.external_scores("WER", {"A": [0.5, 0.0]}).sign == -1


def test_comparisons_take_the_segments_that_all_systems_have() -> None:
    scores = {"A": [0.1, 0.2, 0.3, 0.4, 0.9, 0.9], "B": [0.2, 0.3, 0.4, 0.5, None, None]}
    texts = {name: ["x"] * 6 for name in scores}
    rows = kt.compare(texts, None, kt.external_scores("q", scores)).rows
    actual = {row.system: (round(row.score.value, 12), row.wins) for row in rows}
    assert actual == {"A": (0.25, None), "B": (0.35, 4)}
    assert next(row.delta for row in rows if row.system == "B") == pytest.approx(0.1)


def test_a_file_of_scores_is_an_input(tmp_path: Path) -> None:
    path = tmp_path / "q.tsv"
    path.write_text("system\tsegment\tscore\natlas\t1\t0.5\n")
    command = ["score", "atlas", "--set", "demo", "-m", f"given:file={path}", "-o", str(path)]
    assert main(command) == 2
    assert path.read_text().startswith("system")


def test_a_file_for_each_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores").mkdir()
    value = {"A": 3, "B": 2, "C": 1}
    judgements = [kt.Judgement(s, str(i), "j", "q", value[s]) for s in value for i in (1, 2)]
    for name, sign in (("one", 1), ("two", -1)):
        evalset = kt.make_evalset(
            name,
            {system: ["a", "b"] for system in value},
            references=["a", "b"],
            dimensions=[kt.Dimension("q")],
            judgements=judgements,
        )
        kt.save_evalset(evalset, tmp_path / f"{name}.jsonl", "jsonl")
        rows = (f"{s}\t{i}\t{sign * v}\n" for s, v in value.items() for i in (1, 2))
        (tmp_path / "scores" / f"{name}.tsv").write_text("".join(rows))

    def study(file: str) -> kt.MetaStudy:
        settings: Any = {"levels": ("system",), "statistics": ("pearson",), "resamples": 0}
        names = (f"given:file={file},higher=yes", "chrf")
        sets = ("one.jsonl", "two.jsonl")
        return kt.MetaStudy(tuple(kt.Experiment(s, names, trials=0, **settings) for s in sets))

    actual = kt.meta_average(study("scores/{set}.tsv"))
    (row,) = [row for row in actual.rows if "given" in str(row.metric)]
    assert row.value == pytest.approx(0)  # 1 on the first set, -1 on the second
    with pytest.raises(kt.InputError, match=r"name a file for each, as in given:file=scores/{set}"):
        study("scores/one.tsv")
    full_scoring = kt.score("one.jsonl", metrics=["given:file=scores/{set}.tsv"])
    assert [row.score.value for row in full_scoring.rows] == [3, 2, 1]
    with pytest.raises(kt.InputError, match=r"{set} stands for the name of an evaluation set"):
        kt.score({"A": ["a", "b"]}, None, ["given:file=scores/{set}.tsv"])


def test_a_name_that_stands_twice_is_told(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"system": "A", "segment": 1, "score": 1, "score": 2}\n')
    with pytest.raises(kt.InputError, match=r"line 1: .*the name 'score' occurs twice") as caught:
        kt.score({"A": ["a"]}, None, [f"given:file={tmp_path / 's.jsonl'}"])
    assert "\n" not in str(caught.value)
