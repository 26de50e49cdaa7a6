"""Judges of nuggets on the command line: their kinds, their votes, and how far they agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RESPONSES = ("No refunds at all.", "Refunds within 30 days.", "Ask the shop.", "Within a month.")
KEY = {"question": "q", "nuggets": [
    {"id": "1", "importance": "vital", "descriptions": ["refunds within 30 days"]},
    {"id": "2", "importance": "vital", "descriptions": ["ask the shop first"]},
]}  # fmt: skip


def judged(judge: str, values: str, nugget: str = "1", **more: str) -> list[dict[str, Any]]:
    """What a judge said of the responses, in order; - is nothing."""
    return [
        {"question": "q", "nugget": nugget, "response": text, "value": float(value), "run": "A"}
        | ({"judge": judge} if judge else {})
        | more
        for text, value in zip(RESPONSES, values, strict=True)
        if value != "-"
    ]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return written(
        tmp_path / "key.jsonl",
        [KEY, *({"run": "A", "question": "q", "response": text} for text in RESPONSES)],
    )


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """ann and a model; all kinds unknown."""
    return written(tmp_path / "both.jsonl", judged("gpt-4o", "1101") + judged("ann", "0100"))


def test_a_model_is_named_by_an_option(output: Callable[..., str], key: Path, both: Path) -> None:
    args = "nuggets", "score", "A", "-k", str(key), "-j", str(both), "-f", "json"
    plain, report = json.loads(output(*args)), json.loads(output(*args, "--model-judge", "gpt-4o"))
    assert "of unknown kind, so counted as a person: 2 judges (gpt-4o, ann)" in str(plain["notes"])
    assert "labels of models never count as judgements: gpt-4o (4)" in str(report["notes"])
    assert report["questions"][0]["judged"] == 4
    assert "models=gpt-4o|" in str(report)


@pytest.mark.parametrize("command", ["score", "diff", "describe", "convert", "tune", "evaluate"])
def test_an_unknown_model_is_refused_everywhere(
    run_karat: Callable[..., Any], key: Path, both: Path, command: str, tmp_path: Path
) -> None:
    places = {
        "score": ("A", "-k", key),
        "diff": ("A", "A", "-k", key),
        "convert": (key, tmp_path / "new"),
    }.get(command, (key,))
    arguments = (*map(str, places), "--judgements", str(both), "--model-judge", "gpt5")
    done = run_karat("nuggets", command, *arguments)
    assert done.returncode == 2
    message = done.stdout + done.stderr
    assert "no judgement is by a judge 'gpt5', named as a model" in " ".join(message.split())
    assert "Traceback" not in message


def test_ties_count_as_asked(output: Callable[..., str], key: Path, tmp_path: Path) -> None:
    rows = judged("ann", "1---", kind="person") + judged("bob", "0000", kind="person")
    place = str(written(tmp_path / "two.jsonl", rows))
    args = "nuggets", "score", "A", "-k", str(key), "-j", place, "--no-guess", "-f", "json"
    report = {
        ties: json.loads(output(*args, "--ties", ties))["rows"][0]["recall"]
        for ties in ("half", "yes", "no")
    }
    assert report == {"half": 0.25, "yes": 0.5, "no": 0}
    contents = json.loads(
        output("nuggets", "describe", str(key), "--judgements", place, "-f", "json")
    )
    assert [(row["votes"], row["value"], row["tie"]) for row in contents["disputes"]] == [
        ("ann 1, bob 0", 0.5, "tie")
    ]


def test_labels_of_models_alone_score_nothing_without_guesses(
    run_karat: Callable[..., Any], key: Path, tmp_path: Path
) -> None:
    place = written(tmp_path / "gpt.jsonl", judged("gpt", "1101", kind="model"))
    done = run_karat("nuggets", "score", "A", "-k", str(key), "-j", str(place), "--no-guess")
    assert done.returncode == 2
    assert "are labels of models, which are evidence for guesses alone" in done.stderr


def test_convert_says_what_it_leaves_out(
    run_karat: Callable[..., Any], key: Path, both: Path, tmp_path: Path
) -> None:
    arguments = str(key), str(tmp_path / "trec"), "--judgements", str(both), "--format", "trec"
    done = run_karat("nuggets", "convert", *arguments, "--model-judge", "gpt-4o")
    assert (done.returncode, "lacks 4 labels of models" in done.stderr) == (0, True)


def test_data_judges_reads_nuggets(output: Callable[..., str], key: Path, tmp_path: Path) -> None:
    rows = [
        *judged("ann", "0101", kind="person"),
        *judged("bob", "0100", kind="person"),
        *judged("gpt", "1101", kind="model"),
        *judged("dora", "01-1", kind="adjudicated"),
    ]
    place = str(written(tmp_path / "all.jsonl", rows))
    report = json.loads(output("data", "judges", str(key), "-j", place, "-f", "json"))
    assert report["rows"][0]["judges"] == 3
    assert report["rows"][0]["nominal"] == pytest.approx(1 - 11 * 2 * 2 / (2 * 6 * 6))
    ann, bob, gpt = report["kappa"]
    assert (ann["kind"], gpt["kind"], ann["labels"], ann["carried"]) == ("person", "model", 4, 0.5)
    assert (ann["adjudicated_units"], ann["adjudicated_kappa"]) == (3, 1)
    assert (bob["adjudicated_equal"], gpt["adjudicated_equal"]) == pytest.approx((2 / 3, 2 / 3))
    # The others of bob agree on the second, third and fourth response, and bob on two of these.
    assert (bob["others_units"], bob["others_equal"]) == (3, pytest.approx(2 / 3))
    assert [(row["first"], row["second"], row["equal"]) for row in report["pairs"]] == [
        ("ann", "bob", 0.75),
        ("ann", "gpt", 0.75),
        ("bob", "gpt", 0.5),
    ]


def test_adjudicated_judgements_alone_are_no_judges(
    run_karat: Callable[..., Any], key: Path, tmp_path: Path
) -> None:
    place = str(written(tmp_path / "a.jsonl", judged("dora", "01-1", kind="adjudicated")))
    done = run_karat("data", "judges", str(key), "-j", place)
    assert done.returncode == 2
    assert "found only what was adjudicated, expected judgements of judges" in done.stderr


def test_judges_without_a_common_pair_have_no_overlap(
    output: Callable[..., str], key: Path, tmp_path: Path
) -> None:
    place = str(written(tmp_path / "a.jsonl", judged("ann", "01--") + judged("bob", "--10")))
    (pair,) = json.loads(output("data", "judges", str(key), "-j", place, "-f", "json"))["pairs"]
    assert (pair["units"], pair["kappa"], pair["note"]) == (0, None, "no overlap")


def test_data_judges_knows_a_nugget_set_by_its_content(
    output: Callable[..., str], run_karat: Callable[..., Any], key: Path, both: Path
) -> None:
    set_path = written(key.parent / "whole.jsonl", [KEY, *judged("ann", "0101")])
    assert "The judges of whole.jsonl" in output("data", "judges", str(set_path))
    assert "Cohen's kappa" in output("data", "judges", "demo-nuggets")
    assert "kappa" not in output("data", "judges", "demo")
    refused = run_karat("data", "judges", str(set_path), "-d", "fluency")
    assert (refused.returncode, "no dimensions" in refused.stderr) == (2, True)
    refused = run_karat("data", "judges", "demo", "--model-judge", "gpt")
    assert (refused.returncode, "demo has no judge 'gpt'" in refused.stderr) == (2, True)
