"""JSON and TSV: strict, with the documented columns, and the numbers of the Python interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

BLEU_PARTS = ["p1", "p2", "p3", "p4", "bp", "ratio", "length", "reference_length"]
TESTED = ["delta", "delta_low", "delta_high", "p", "wins", "losses", "ties"]
TESTED += ["verdict", "units", "is_leading", "unit", "detectable"]
EXAMPLE = ["system", "segment", "baseline_score", "system_score", "delta"]
METRICS = ("bleu", "chrf++", "rouge1", "rougeL:stem=porter-nltk", "rougeLsum", "aev", "rs:n=2")


def strict(text: str) -> Any:
    """Parsed JSON, refusing what is not in the standard and names that come twice."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


def options(metrics: Iterable[str]) -> list[str]:
    return [word for metric in metrics for word in ("-m", metric)]


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def pairs(*paths: Path) -> list[tuple[str, ...]]:
    """The references of each segment, as Python takes them."""
    return list(zip(*map(lines, paths), strict=True))


def test_score_has_the_documented_members_and_columns(output: Callable[..., str]) -> None:
    report = strict(output("score", "a.txt", "-r", "ref1.txt", "-m", "bleu", "-f", "json"))
    assert list(report) == ["command", "signature", "rows", "notes"]
    assert report["command"] == "karat score a.txt -r ref1.txt -m bleu -f json"
    assert report["signature"] == {"bleu": kt.metric("bleu").signature(1)}
    assert [list(row) for row in report["rows"]] == [["metric", "system", "score", *BLEU_PARTS]]


def test_intervals_add_low_and_high(output: Callable[..., str]) -> None:
    args = ("score", "a.txt", "-r", "ref1.txt", "-m", "bleu", "-f", "json", "--intervals")
    report = strict(output(*args))
    columns = ["metric", "system", "score", "low", "high", *BLEU_PARTS]
    assert [list(row) for row in report["rows"]] == [columns]
    assert report["signature"]["bleu"].endswith("|ci=jackknife")


def test_compare_has_the_documented_members_and_columns(output: Callable[..., str]) -> None:
    args = ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu", "-f", "json")
    report = strict(output(*args))
    assert list(report) == ["command", "signature", "summary", "rows", "segments", "notes"]
    columns = ["metric", "system", "score", "low", "high", *TESTED]
    assert [list(row) for row in report["rows"]] == [columns, columns]
    texts = ["reference", "baseline_text", "system_text"]
    assert {tuple(row) for row in report["segments"]} == {(*EXAMPLE, *texts)}
    baseline = next(row for row in report["rows"] if row["system"] == "a")
    about = {"is_leading": True, "unit": "segment"}  # the rest is about differences
    assert {key: baseline[key] for key in TESTED} == {**dict.fromkeys(TESTED), **about}


def test_segments_have_the_documented_columns(output: Callable[..., str]) -> None:
    args = ("score", "a.txt", "-r", "ref1.txt", "-m", "bleu", "--segments", "-f", "json")
    rows = strict(output(*args))["rows"]
    assert {tuple(row) for row in rows} == {("metric", "system", "segment", "score")}
    assert [row["segment"] for row in rows] == [1, 2, 3, 4]


def test_scores_are_those_of_the_python_interface(folder: Path, output: Callable[..., str]) -> None:
    references = ("-r", "ref1.txt", "-r", "ref2.txt")
    text = output("score", "b.txt", *references, *options(METRICS), "-f", "json")
    rows = strict(text)["rows"]
    candidates, reference_lists = (
        lines(folder / "b.txt"),
        pairs(folder / "ref1.txt", folder / "ref2.txt"),
    )
    for name, row in zip(METRICS, rows, strict=True):
        score = kt.metric(name).corpus(candidates, reference_lists)
        parts = {key: row[key] for key in score.parts}
        assert (row["metric"], row["score"], parts) == (
            str(kt.metric(name)), score.value, dict(score.parts)
        )  # fmt: skip


def test_segment_scores_are_those_of_the_python_interface(
    folder: Path, output: Callable[..., str]
) -> None:
    args = ("score", "b.txt", "-r", "ref1.txt", "--segments", "-f", "json")
    rows = strict(output(*args, *options(METRICS)))["rows"]
    candidates, references = lines(folder / "b.txt"), lines(folder / "ref1.txt")
    for name in METRICS:
        metric = kt.metric(name)
        shown_as = str(metric.of_segments())
        scores = [row["score"] for row in rows if row["metric"] == shown_as]
        assert scores == metric.segments(candidates, references).tolist()


def test_comparison_is_that_of_the_python_interface(
    folder: Path, output: Callable[..., str]
) -> None:
    args = ("compare", "a.txt", "b.txt", "c.txt", "-r", "ref1.txt", "-m", "bleu", "-m", "rougeL")
    rows = strict(output(*args, "--baseline", "b", "-f", "json"))["rows"]
    systems = {name: lines(folder / f"{name}.txt") for name in "abc"}
    references = lines(folder / "ref1.txt")
    comparison = kt.compare(systems, references, ["bleu", "rougeL"], baseline="b")
    for row, expected in zip(rows, comparison.rows, strict=True):
        expected_row = expected._replace(metric=str(expected.metric), score=expected.score.value)
        left_out = {"sacrebleu_p", "margin", "margin_verdict"}  # columns that need an option
        assert row == {k: v for k, v in expected_row._asdict().items() if k not in left_out}


@pytest.mark.parametrize("extra", [(), ("--segments",), ("--intervals",)])
def test_tsv_holds_what_json_holds(output: Callable[..., str], extra: tuple[str, ...]) -> None:
    args = ("score", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu", "-m", "rouge1", *extra)
    header, *body = (line.split("\t") for line in output(*args, "-f", "tsv").splitlines())
    rows = strict(output(*args, "-f", "json"))["rows"]
    assert [list(row) for row in rows] == [header] * len(body)
    for cells, row in zip(body, rows, strict=True):
        values = [type(v)(cell) if v is not None else cell for cell, v in _pair_cells(cells, row)]
        assert values == ["" if value is None else value for value in row.values()]


def _pair_cells(cells: list[str], row: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(zip(cells, row.values(), strict=True))


def test_tsv_of_a_comparison_has_two_tables(output: Callable[..., str]) -> None:
    args = ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu")
    first, second = output(*args, "-f", "tsv").split("\n\n")
    report = strict(output(*args, "-f", "json"))
    assert first.split("\n")[0].split("\t") == list(report["rows"][0])
    assert second.split("\n")[0].split("\t") == list(report["segments"][0])
    assert len(second.splitlines()) == 1 + len(report["segments"])


def test_examples_are_the_largest_differences(folder: Path, output: Callable[..., str]) -> None:
    args = ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "chrf", "--examples", "2")
    rows = strict(output(*args, "-f", "json"))["segments"]
    metric = kt.metric("chrf")
    a, b = (metric.segments(folder / f"{name}.txt", folder / "ref1.txt") for name in "ab")
    expected = sorted(range(4), key=lambda i: -abs(b[i] - a[i]))[:2]
    assert [row["segment"] - 1 for row in rows] == expected
    assert [row["system_text"] for row in rows] == [lines(folder / "b.txt")[i] for i in expected]


def test_no_examples_make_no_table(output: Callable[..., str]) -> None:
    args = ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu", "--examples", "0")
    assert "segments" not in strict(output(*args, "-f", "json"))


@pytest.mark.parametrize("format", ["text", "json", "tsv"])
@pytest.mark.parametrize("name", ["score", "compare"])
@pytest.mark.parametrize("copies", [1200, pytest.param(3000, marks=pytest.mark.long)])
def test_any_number_of_threads_gives_the_same_bytes(
    folder: Path, output: Callable[..., str], name: str, format: str, copies: int
) -> None:
    for file in ("a", "b", "ref1"):  # enough segments for several runs of text
        text = (folder / f"{file}.txt").read_text("utf-8")
        (folder / f"long-{file}.txt").write_text(text * copies, encoding="utf-8")
    args = (name, "long-a.txt", "long-b.txt", "-r", "long-ref1.txt", *options(METRICS[:4]))
    args += ("-f", format, *(["--intervals"] if name == "score" else []))
    outputs = {_without_threads(output(*args, "--threads", n)) for n in ("1", "2", "7")}
    assert len(outputs) == 1


def _without_threads(text: str) -> str:
    """The output without the command, which names the number of threads."""
    return "\n".join(line for line in text.split("\n") if "--threads" not in line)


def test_the_seed_changes_only_the_p_of_sacrebleu(output: Callable[..., str]) -> None:
    args = ("compare", "c.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu", "--trials", "999")
    args += ("--test", "sacrebleu-bootstrap")
    first_result, two, again = (
        strict(output(*args, "-f", "json", "--seed", seed))["rows"] for seed in ("1", "2", "1")
    )
    assert first_result == again
    changed = [
        {name for name in row if row[name] != other[name]}
        for row, other in zip(first_result, two, strict=True)
    ]
    assert sorted(map(list, changed)) == [[], ["sacrebleu_p"]]


def test_a_metric_named_twice_is_scored_once(output: Callable[..., str]) -> None:
    args = ("score", "a.txt", "-r", "ref1.txt", "-m", "ps", "-m", "aev:alpha=1", "-f", "json")
    assert [row["metric"] for row in strict(output(*args))["rows"]] == ["aev:alpha=1"]


def test_metrics_lists_every_metric_and_setting(output: Callable[..., str]) -> None:
    from dataclasses import fields

    from karat.metrics.names import METRICS

    rows = strict(output("metrics", "-f", "json"))["rows"]
    listed = {(row["metric"].split(":")[0].split(",")[0], row["setting"]) for row in rows}
    for name in METRICS:
        settings = {f.name for f in fields(METRICS[name])}
        settings -= {"rouge1": {"n"}, "pass@1": {"k"}, "pass^1": {"k"}}.get(name, set())
        assert {(name, setting) for setting in settings} <= listed
    assert all(row["meaning"] for row in rows)


def test_signatures_are_those_of_the_scores(output: Callable[..., str]) -> None:
    args = ("score", "a.txt", "-r", "ref1.txt", "-r", "ref2.txt", *options(METRICS))
    signatures = output(*args, "--signature-only").splitlines()
    assert signatures == list(strict(output(*args, "-f", "json"))["signature"].values())


def test_signatures_of_intervals_are_those_of_the_scores(
    folder: Path, output: Callable[..., str]
) -> None:
    (folder / "units.txt").write_text("x\nx\ny\nz\n")
    for more in (
        ("a.txt", "-r", "ref1.txt"),
        ("a.txt", "-r", "ref1.txt", "--units", "units.txt"),
        ("a.txt", "-r", "ref1.txt", "--buckets", "2"),
        ("--set", "demo", "-m", "chrf"),
        ("--set", "demo", "--unit", "document"),
    ):
        args = ("score", *more, "-m", "bleu", "--intervals")
        signatures = output(*args, "--signature-only").splitlines()
        assert signatures == list(strict(output(*args, "-f", "json"))["signature"].values())
        assert ("unit=" in signatures[0]) == any(word.startswith("--unit") for word in more)


def test_signatures_are_given_as_json_too(output: Callable[..., str]) -> None:
    args = ("score", "a.txt", "-r", "ref1.txt", "-m", "bleu", "--signature-only", "-f", "json")
    assert strict(output(*args))["signature"] == {"bleu": kt.metric("bleu").signature(1)}
