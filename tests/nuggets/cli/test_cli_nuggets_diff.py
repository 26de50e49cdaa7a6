"""`karat nuggets diff`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]
Output = Callable[..., str]
FORMATS = ("text", "json", "tsv", "md", "latex", "html")

KEY = "q1 1 vital the lens\nq1 2 okay bees\nq2 1 okay salt\nq3 1 vital ships\n"
OLD = "q1 mine d A lens.\nq2 mine d Salt.\nq3 mine d Nothing.\n"
NEW = "q1 mine d Bees, a lens.\nq1 mine d Unseen.\nq2 mine d Salt.\nq3 mine d Ships!\n"
JUDGED = """\
q1 x 1 d A lens.
q2 x 1 d Salt.
q3 x 1 d Nothing.
q3 y 1 d Ships!
q1 x 1 1
q2 x 1 1
q3 y 1 1
"""


@pytest.fixture
def files(folder: Path) -> Path:
    texts = {"key.txt": KEY, "old.run": OLD, "new.run": NEW, "judged.txt": JUDGED}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


ARGS = ("nuggets", "diff", "--no-guess", "old.run", "new.run", "-k", "key.txt", "-j", "judged.txt")


def test_two_versions_of_one_tag(output: Output, files: Path) -> None:
    report = json.loads(output(*ARGS, "--all", "-f", "json"))
    assert [row["run"] for row in report["scores"]] == ["old.run", "new.run"]
    assert [tuple(row.values()) for row in report["counts"]] == [
        ("gained", 1, 0),
        ("lost", 1, 0),
        ("kept", 0, 1),
        ("missed", 0, 1),
    ]
    keys = ("change", "question", "nugget", "old_response", "new_response", "old_by", "new_by")
    assert [tuple(row[key] for key in keys) for row in report["rows"]] == [
        ("gained", "q3", "1", "", "Ships!", "judgement", "judgement"),
        ("lost", "q1", "1", "A lens.", "", "judgement", "nothing"),
        ("kept", "q2", "1", "Salt.", "Salt.", "judgement", "judgement"),
        ("missed", "q1", "2", "", "", "judgement", "nothing"),
    ]
    assert [(row["question"], row["old"]) for row in report["questions"]] == [
        ("q1", 1.0),
        ("q2", None),
        ("q3", 0.0),
    ]
    test, share = report["test"]
    assert (test["questions"], test["old"], test["new"], test["p"]) == (2, 0.5, 0.5, 1)
    assert [permutation_test["score"] for permutation_test in report["test"]] == ["F", "A"]
    assert (share["questions"], share["old"], share["new"]) == (3, 0.5, 2 / 3)
    assert all(row["low"] is None for row in report["scores"])
    assert any(note.startswith("1 of 2 changes rest on responses") for note in report["notes"])
    assert any("Skipped, not scored 0: q2" in note for note in report["notes"])
    assert "no vital nuggets, so no F and no V: question q2" in report["notes"]


def test_a_signature_is_that_of_the_scores(output: Output, files: Path) -> None:
    for more in ((), ("--classifier", "paper:stem=porter"), ("--no-guess", "--as-judged")):
        both = ("heron", "kestrel", "-k", "demo-nuggets", *more)
        diff, score = (
            json.loads(output("nuggets", name, *both, "-f", "json")) for name in ("diff", "score")
        )
        assert diff["signature"] == score["signature"]
        assert list(diff["signature"]) == ["nugget-f"]
        page = output("nuggets", "diff", *both, "-f", "html")
        assert diff["signature"]["nugget-f"] in page


def test_of_both_versions_own_judgements_may_stand(output: Output, files: Path) -> None:
    """The words of the old version were judged to carry the lens in another run alone."""
    (files / "judged.txt").write_text(
        "q1 x 1 d A lens.\nq1 mine 1 d A lens.\nq1 mine 2 d Bees, a lens.\n"
        "q1 x 1 1\nq1 mine 1 1=0\nq1 mine 2 1\n"
    )
    rows = [
        {(r["question"], r["nugget"]): r["change"] for r in json.loads(output(*args))["rows"]}
        for args in ((*ARGS, "--all", "-f", "json"), (*ARGS, "--all", "-f", "json", "--as-judged"))
    ]
    assert (rows[0]["q1", "1"], rows[1]["q1", "1"]) == ("kept", "gained")


def test_kept_and_missed_ones_on_request(output: Output, files: Path) -> None:
    report = json.loads(output(*ARGS, "-f", "json"))
    assert [row["change"] for row in report["rows"]] == ["gained", "lost"]
    assert len(report["counts"]) == 4


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(output: Output, files: Path, format: str) -> None:
    printed = output(*ARGS, "--all", "-f", format)
    assert "Ships!" in printed
    assert "gained" in printed


def test_a_file_against_a_run_that_comes_with_the_key(output: Output, folder: Path) -> None:
    (folder / "my.run").write_text("marlow mine - Ida Marlow kept bees.\n")
    args = ("nuggets", "diff", "--no-guess", "heron", "my.run", "-k", "demo-nuggets", "-f", "json")
    report = json.loads(output(*args))
    assert [row["run"] for row in report["scores"]] == ["heron", "mine"]
    assert {row["change"] for row in report["rows"]} == {"lost"}


def test_a_run_against_itself(output: Output) -> None:
    report = json.loads(
        output(
            "nuggets", "diff", "--no-guess", "heron", "heron", "-k", "demo-nuggets", "-f", "json"
        )
    )
    assert report["rows"] == []
    assert report["test"][0]["p"] == 1


def test_one_question_is_too_few_for_a_test(output: Output, files: Path) -> None:
    (files / "key.txt").write_text("q1 1 vital the lens\n")
    (files / "one.txt").write_text("q1 x 1 d A lens.\nq1 x 1 1\n")
    args = (*ARGS[:-1], "one.txt", "--skip-unknown", "-f", "json")
    report = json.loads(output(*args))
    assert report["test"][0]["p"] is None
    assert report["notes"][0].endswith("on one question: too few for a test.")


def test_no_question_is_scored(output: Output, files: Path) -> None:
    (files / "key.txt").write_text(KEY.replace("vital", "okay"))
    report = json.loads(output(*ARGS, "-f", "json"))
    assert report["scores"][0]["f"] is None
    assert report["notes"][0].startswith("No question has a nugget of any weight")
    assert "No question has" in output(*ARGS)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("old.run", "new.run", "-k", "key.txt"), "key.txt comes without judgements"),
        (("old.run", "gone", *ARGS[5:]), "gone: no such file, and key.txt comes without runs"),
        (("two.run", "new.run", *ARGS[5:]), "two.run holds 2 runs (a, b), expected one: give each"),
        (("empty.run", "new.run", *ARGS[5:]), "empty.run: no response in it, expected a run"),
        (("old.run", "new.run", *ARGS[5:], "--beta", "nan"), "beta=nan: expected a number"),
        (("old.run", "new.run", *ARGS[5:], "-o", "new.run"), "new.run is one of the inputs"),
        (("old.run", *ARGS[5:]), "Missing argument 'NEW'."),
    ],
)
def test_bad_calls(run_karat: Called, files: Path, args: tuple[str, ...], sentence: str) -> None:
    (files / "two.run").write_text("q1 a d x\nq1 b d y\n")
    (files / "empty.run").write_text("")
    done = run_karat("nuggets", "diff", "--no-guess", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {sentence}")


def test_what_nobody_judged_is_guessed(output: Output, files: Path) -> None:
    args = ("nuggets", "diff", "old.run", "new.run", "-k", "key.txt", "--all", "-f", "json")
    report = json.loads(output(*args))
    sources = {row[side] for row in report["rows"] for side in ("old_by", "new_by")}
    assert "guess" in sources
    assert sources <= {"guess", "no response"}


@pytest.mark.parametrize(
    ("options", "note_start"),
    [
        ((), "Guesses: the built-in classifier"),
        (("--classifier", "paper"), "Guesses: the paper's classifier, n=2 weight=idf"),
    ],
)
def test_the_classifier_that_guessed_is_named(
    output: Output, folder: Path, options: tuple[str, ...], note_start: str
) -> None:
    args = ("nuggets", "diff", "heron", "kestrel", "-k", "demo-nuggets", "-f", "json")
    notes = json.loads(output(*args, *options))["notes"]
    assert [note.startswith(note_start) for note in notes].count(True) == 1
    (note_start,) = [note for note in notes if note.startswith(note_start)]
    assert "Low and high: 95% intervals of A and of F macro on these questions" in note_start
    bare = json.loads(output(*args, "--no-guess"))["notes"]
    assert not any(note.startswith("Guesses") for note in bare)


def test_scores_come_with_intervals_and_guesses_are_counted(output: Output, files: Path) -> None:
    args = [arg for arg in ARGS if arg != "--no-guess"]
    narrow, wide = (json.loads(output(*args, "-f", "json", *m)) for m in ((), ("--general",)))
    for row, general in zip(narrow["scores"], wide["scores"], strict=True):
        assert row["low"] <= row["A"] <= row["high"]
        assert row["f_low"] <= row["f"] <= row["f_high"]
        assert general["low"] <= row["low"] <= row["high"] <= general["high"]
    by = [row["old_by"] == "guess" or row["new_by"] == "guess" for row in narrow["rows"]]
    sentence = f"{sum(by)} of {len(by)} changes rest on guesses, which may be wrong."
    assert any(note.startswith(sentence) for note in narrow["notes"]) == any(by)
    assert any("on questions like these." in note for note in wide["notes"])
    assert narrow["scores"] != wide["scores"]
    plain = output(*ARGS)
    assert "F low" not in plain
    assert "F low" in output(*args)
