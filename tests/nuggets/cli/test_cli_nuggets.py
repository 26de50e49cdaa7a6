"""`karat nuggets`: describe, score, tune, evaluate and convert."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.cli.group import COMMANDS
from karat.nuggets.prediction.predictions import classifiers
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import mean_shares
from karat.nuggets.scores.words import pooled_idf
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.nugget_set import NuggetSet

Called = Callable[..., Any]
Output = Callable[..., str]
FORMATS = ("text", "json", "tsv", "md", "latex", "html", "svg")

KEY = "q1 1 vital the lens\nq1 2 okay bees\nq2 1 okay salt\n"
RUN = "q1 new d A lens.\nq1 new d Unseen.\nq2 new d Salt.\n"
JUDGED = "q1 old 1 d a  lens.\nq1 old 1 1\nq2 old 1 d Salt.\nq2 old 1 1\n"


@pytest.fixture
def files(folder: Path) -> Path:
    for name, text in (("key.txt", KEY), ("new.run", RUN), ("judged.txt", JUDGED)):
        (folder / name).write_text(text)
    return folder


def test_the_group_lists_its_commands(output: Output) -> None:
    printed = output("nuggets")
    assert printed == output("nuggets", "--help")
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in printed
        assert summary in printed
        command_help = output("nuggets", name, "--help")
        assert command_help.startswith(f"Usage: karat nuggets {name} ")
        assert max(map(len, command_help.splitlines())) <= 80
        assert command_help.count(f"karat nuggets {name}") >= 3


@pytest.mark.parametrize("format", FORMATS)
def test_describe_in_every_format(output: Output, format: str) -> None:
    printed = output("nuggets", "describe", "demo-nuggets", "--format", format)
    assert "runs that carry" in printed or format in ("json", "tsv")


def test_describe_counts(output: Output) -> None:
    report = json.loads(output("nuggets", "describe", "demo-nuggets", "-f", "json"))
    (row,) = report["rows"]
    assert (row["questions"], row["vital"], row["okay"], row["runs"]) == (2, 6, 8, 4)
    assert (row["nuggets"], row["nuggets_half"], row["responses"]) == (7, 0, 5.25)
    assert [(b["systems"], b["nuggets"]) for b in report["difficulty"]] == [
        ("0", 0),
        ("1", 11),
        ("2", 2),
        ("3-4", 1),
    ]


def test_describe_lists_problems_and_fails(run_karat: Called, folder: Path) -> None:
    (folder / "bad.txt").write_text("q 1 vital a\nq 1 okay b\nq 2 maybe c\n")
    done = run_karat("nuggets", "describe", "bad.txt", "-f", "json", "-o", "report.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "karat: bad.txt cannot be used: 2 problems, see the report\n"
    problems = json.loads((folder / "report.json").read_text("utf-8"))["problems"]
    assert [row["problem"][:15] for row in problems] == ["bad.txt, line 2", "bad.txt, line 3"]


def test_describe_lists_contradictions(output: Output, files: Path) -> None:
    (files / "twice.txt").write_text(JUDGED + "q1 other 1 d A LENS.\n")
    args = ("nuggets", "describe", "key.txt", "--judgements", "twice.txt")
    report = json.loads(output(*args, "-f", "json"))
    assert report["contradictions"] == [
        {
            "question": "q1",
            "nugget": "1",
            "value": 1.0,
            "place": "twice.txt, line 2",
            "other_value": 0.0,
            "other_place": "twice.txt, line 5",
        }
    ]
    assert "twice.txt, line 5" in output(*args)


def scored(output: Output, *args: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(output("nuggets", "score", *args, "--format", "json"))
    return parsed


def test_score_a_run(output: Output, files: Path) -> None:
    args = ("new.run", "--key", "key.txt", "--judgements", "judged.txt")
    report = scored(output, *args, "--nuggets", "--no-guess")
    (row,) = report["rows"]
    assert (row["run"], row["micro"], row["macro"], row["A"], row["V"]) == ("new", 1, 1, 0.75, 1)
    # "Unseen." was not judged on q1; "A lens." carries its nugget 1, so only nugget 2 is open
    assert (row["known"], row["guessed"], row["undecided"]) == pytest.approx((2 / 3, 0, 1 / 3))
    assert [row["question"] for row in report["questions"]] == ["q1", "q2"]
    assert report["questions"][1].get("f") is None
    assert any("Skipped, not scored 0: q2" in note for note in report["notes"])
    assert [(r["nugget"], r["support"], r["by"], r["response"]) for r in report["nuggets"]] == [
        ("1", 1.0, "judgement", 1),
        ("2", None, "nothing", None),
        ("1", 1.0, "judgement", 1),
    ]


def test_score_is_what_the_library_says(output: Output) -> None:
    demo = kt.load_nuggets("demo-nuggets")
    report = scored(output, "plover", "wren", "-k", "demo-nuggets", "--weights", "pyramid")
    for row in report["rows"]:
        run = demo.runs[row["run"]]
        expected = kt.OfficialSettings(weights="pyramid").score(
            run, demo.key, decide_run(run, demo.key, demo.judgements)
        )
        assert (row["micro"], row["macro"]) == (expected.micro.f, expected.macro.f)
    done = kt.score_nuggets(demo.select("plover", "wren"), kt.OfficialSettings(weights="pyramid"))
    assert report["signature"] == {"nugget-f": done.signature}
    assert [row["A"] for row in report["rows"]] == [
        mean_shares(scored_run.shares).A for scored_run in done.scored
    ]


CONTRARY = "q1 new 1 d A lens.\nq1 old 1 d a lens.\nq1 old 1 1\n"
"""One run was judged to carry the nugget, the other, with the same words, was not."""


def test_judgements_are_corrected_or_stand_as_they_are(output: Output, files: Path) -> None:
    (files / "contrary.txt").write_text(CONTRARY)
    args = ("new.run", "-k", "key.txt", "-j", "contrary.txt", "--no-guess")
    plain, corrected, as_judged = (
        scored(output, *args, *m) for m in ((), CORRECTED, ("--as-judged",))
    )
    assert [report["rows"][0]["V"] for report in (plain, corrected, as_judged)] == [1, 1, 0]
    assert plain["signature"] == corrected["signature"] != as_judged["signature"]
    assert ",judgements=as-judged|key=" in as_judged["signature"]["nugget-f"]
    assert "|guess=none|" in as_judged["signature"]["nugget-f"]
    notes = [next(n for n in report["notes"] if "contra" in n) for report in (plain, as_judged)]
    assert "of which the highest counts:" in notes[0]
    assert "of which a run's own count, else the highest:" in notes[1]


CORRECTED = ("--corrected",)


@pytest.mark.parametrize("command", ["tune", "evaluate"])
def test_official_judgements_may_be_corrected(output: Output, folder: Path, command: str) -> None:
    key, runs, judged = world(questions=4, runs=4)
    with_copy = [replace(runs[0], tag="same"), *runs]
    no = [row._replace(run="same", value=0.0) for row in judged.rows if row.run == "run0"]
    rows = Judgements((*no, *judged.rows))
    nuggets = NuggetSet("s", key, MappingProxyType({run.tag: run for run in with_copy}), rows)
    kt.save_nuggets(nuggets, folder / "s.jsonl")
    args = ("nuggets", command, "s.jsonl", "-f", "json")
    plain, corrected = (json.loads(output(*args, *more)) for more in ((), CORRECTED))
    assert plain["rows"] != corrected["rows"]
    assert corrected["rows"][0]["f"] > plain["rows"][0]["f"]
    has_note = [
        any("are corrected" in note for note in report["notes"]) for report in (plain, corrected)
    ]
    assert has_note == [False, True]


def test_pourpre_scores_beside(output: Output) -> None:
    demo = kt.load_nuggets("demo-nuggets")
    args = ("plover", "wren", "-k", "demo-nuggets", "--beta", "5")
    plain, with_pourpre = (scored(output, *args, *more) for more in ((), ("--pourpre",)))
    assert "pourpre" not in plain
    assert with_pourpre["rows"] == plain["rows"]
    both = demo.select("plover", "wren")
    idf = pooled_idf(both.runs.values(), "porter")
    variants = {"count": kt.Pourpre(5), "idf": kt.Pourpre(5, weigh=idf)}
    for row in with_pourpre["pourpre"]:
        for name, pourpre in variants.items():
            expected = pourpre.score(demo.run(row["run"]), demo.key)
            assert row[f"{name}_micro"] == expected.micro.f
            assert row[f"{name}_macro"] == expected.macro.f
    assert with_pourpre["signature"] == {
        **plain["signature"],
        "pourpre-count": f"{variants['count'].signature}|key={demo.key.digest}",
        "pourpre-idf": f"{variants['idf'].signature}|key={demo.key.digest}",
    }


def test_beta_and_strictness_matter(output: Output) -> None:
    base = ("plover", "-k", "demo-nuggets", "--no-guess")
    plain, low = (
        scored(output, *base, *more)["rows"][0]["macro"] for more in ((), ("--beta", "1"))
    )
    assert plain != low
    pyramid = (*base, "--weights", "pyramid", "--nuggets")
    partial = [r["support"] for r in scored(output, *pyramid)["nuggets"] if r["nugget"] == "7"]
    strict = [
        r["support"] for r in scored(output, *pyramid, "--strict")["nuggets"] if r["nugget"] == "7"
    ]
    # strictly nothing carries it, and of one response nobody said so
    assert (partial, strict) == ([0, 0.5], [0, None])


@pytest.mark.parametrize("format", FORMATS[:-1])
def test_score_in_every_format(output: Output, format: str) -> None:
    assert "heron" in output(
        "nuggets", "score", "heron", "-k", "demo-nuggets", "--nuggets", "-f", format
    )


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("new.run", "-k", "key.txt", "--no-guess"), "key.txt comes without judgements"),
        (("gone.run", "-k", "key.txt"), "gone.run: no such file, and key.txt comes without runs"),
        (("new.run", "gone", "-k", "key.txt"), "gone: no such file"),
        (("herons", "-k", "demo-nuggets"), "demo-nuggets has no run 'herons'; did you mean heron?"),
        (("heron", "-k", "demo-nuggets", "--beta", "-1"), "beta=-1.0: expected a number of"),
        (("new.run", "-k", "nowhere"), "nowhere: no such folder or file, nor a known set"),
        (
            ("new.run", "-k", "key.txt", "-j", "judged.txt", "--weights", "pyramid"),
            "question q1, nugget 1 has no votes",
        ),
        (
            ("new.run", "-k", "demo-nuggets"),
            "new.run, line 1: a response to question 'q1', which is not in the key (and 2 more: "
            "karat nuggets describe lists them)",
        ),
    ],
)
def test_bad_calls(run_karat: Called, files: Path, args: tuple[str, ...], sentence: str) -> None:
    done = run_karat("nuggets", "score", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {sentence}")


def test_unknown_questions_may_be_left_out(output: Output, files: Path) -> None:
    report = scored(output, "new.run", "-k", "demo-nuggets", "--skip-unknown")
    assert report["rows"][0]["A"] == 0
    assert any(note.startswith("left out: 3 responses") for note in report["notes"])


def test_convert_through_all_formats(output: Output, folder: Path) -> None:
    demo = kt.load_nuggets("demo-nuggets")
    printed = output("nuggets", "convert", "demo-nuggets", "one.jsonl")
    assert printed == f"one.jsonl: {demo!r}\n"
    output("nuggets", "convert", "one.jsonl", "two", "--format", "trec")
    output("nuggets", "convert", "two", "three.jl", "--format", "rag")
    output("nuggets", "convert", "three.jl", "four", "--format", "units")
    again = kt.load_nuggets(folder / "two")
    assert (again.key, again.judgements.values) == (demo.key, demo.judgements.values)
    assert set(kt.load_nuggets(folder / "four").runs) == set(demo.runs)


def test_convert_puts_parts_together_and_overwrites_nothing(
    output: Output, run_karat: Called, files: Path
) -> None:
    parts = ("key.txt", "all.jsonl", "--run", "new.run", "--judgements", "judged.txt")
    output("nuggets", "convert", *parts)
    nuggets = kt.load_nuggets(files / "all.jsonl")
    assert (list(nuggets.runs), len(nuggets.judgements.rows)) == (["new"], 3)
    done = run_karat("nuggets", "convert", *parts)
    assert (done.returncode, done.stdout) == (2, "")
    assert "all.jsonl exists already" in done.stderr
    assert not [name for name in os.listdir(files) if name.startswith(".karat")]


def test_what_nobody_judged_is_guessed_with_an_interval(output: Output, files: Path) -> None:
    args = ("new.run", "--key", "key.txt", "--judgements", "judged.txt")
    (row,) = scored(output, *args)["rows"]
    assert (row["known"], row["guessed"], row["undecided"]) == pytest.approx((2 / 3, 1 / 3, 0))
    assert 0 <= row["low"] < row["high"] <= 1
    report = scored(output, "new.run", "--key", "key.txt")  # without any judgement
    assert report["rows"][0]["guessed"] == 1
    assert any("built-in classifier" in note for note in report["notes"])


def test_the_page_has_a_matrix_with_ways_to_the_responses(output: Output, files: Path) -> None:
    output("nuggets", "score", "heron", "wren", "-k", "demo-nuggets", "-o", "page.html")
    page = (files / "page.html").read_text("utf-8")
    places = set(re.findall(r'href="#(answer-[0-9-]+)"', page))
    assert places
    assert all(f'id="{place}"' in page for place in places)
    assert 'title="heron carries nugget 1 (judged)"' in page
    assert "<mark>lens</mark>" in page


def test_tune_takes_a_corpus_and_the_normalised_form(output: Output, tmp_path: Path) -> None:
    (tmp_path / "idf.txt").write_text("the a of\nthe keeper\nthe a\n")
    plain = json.loads(output("nuggets", "tune", "demo-nuggets", "-f", "json"))
    other = ("--classifier", f"paper:idf={tmp_path / 'idf.txt'}")
    corpus = json.loads(output("nuggets", "tune", "demo-nuggets", *other, "-f", "json"))

    def thresholds(tuning: dict[str, Any], weight: str) -> list[float]:
        rows = sorted(tuning["rows"], key=lambda row: (row["stem"], row["n"], row["stop"]))
        return [row["threshold"] for row in rows if row["weight"] == weight]

    assert thresholds(plain, "count") == thresholds(corpus, "count")
    assert thresholds(plain, "idf") != thresholds(corpus, "idf")
    normalised = ("--classifier", "paper:normalised=yes,once=yes")
    form = output("nuggets", "tune", "demo-nuggets", *normalised, "-f", "json")
    assert max(row["threshold"] for row in json.loads(form)["rows"]) <= 1


def test_the_paper_s_classifier_guesses(output: Output) -> None:
    report = scored(output, "heron", "wren", "-k", "demo-nuggets", "--classifier", "paper")
    assert report["models"][0]["model"] == "coin"
    text = " ".join(report["notes"])
    assert "the paper's classifier, n=2 weight=idf stem=none stop=none" in text
    likeliest = max(report["models"][1:], key=lambda row: row["log10"])["model"]
    assert {"global": "global threshold", "question": "per-question"}[likeliest] in text


def test_settings_of_the_paper_s_classifier_are_obeyed(output: Output, folder: Path) -> None:
    (folder / "idf.txt").write_text("the lens\nthe oil of the lamp\n")
    base = ("wren", "-k", "demo-nuggets", "--classifier")
    forms = [
        "paper",
        "paper:n=1",
        "paper:weight=count",
        "paper:stop=en",
        "paper:stem=english,n=1",
        "paper:normalised=yes",
        "paper:normalised=yes,once=yes",
        "paper:responses=yes",
        "paper:idf=idf.txt",
    ]
    tables = [scored(output, *base, form)["models"] for form in forms]
    assert all(table[0]["log10"] == tables[0][0]["log10"] for table in tables)  # the coin
    marks = {tuple(row["log10"] for row in table) for table in tables}
    assert len(marks) == len(forms)
    for model in ("global", "question", "nugget", "nugget-errors", "best-f"):
        notes = scored(output, *base, f"paper:threshold_model={model}")["notes"]
        assert not any("likeliest" in note for note in notes)
    (note,) = [n for n in scored(output, *base, "paper:threshold=2")["notes"] if "paper" in n]
    assert "threshold 2, as given" in note


def test_the_help_lists_the_settings_of_classifiers(output: Output) -> None:
    for command in ("score", "diff"):
        printed = output("nuggets", command, "--help-all")
        for name in classifiers:
            for setting in classifiers[name].settings():
                assert f"\n  {setting.name}=" in printed
    for command in ("tune", "evaluate"):
        printed = output("nuggets", command, "--help-all")
        assert "\n  stem=none" in printed
        assert "threshold_model" not in printed


PAPER = ("heron", "-k", "demo-nuggets", "--classifier", "paper")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ((*PAPER[:-1], "calibrated:n=1"), "calibrated has no setting 'n'"),
        ((*PAPER[:-1], "klingon"), "classifier 'klingon': expected one of calibrated, paper"),
        ((*PAPER[:-1], "paper:n=0"), "paper: n=0 is out of range: expected at least 1"),
        ((*PAPER[:-1], "paper:n=9000000000"), "paper: n=9000000000 is out of range: expected at"),
        ((*PAPER[:-1], "paper:stem=klingon"), "paper: stem=klingon is not one of none, porter-nl"),
        ((*PAPER[:-1], "paper:stop=gone.txt"), "stop list gone.txt: No such file"),
        ((*PAPER[:-1], "paper:idf=gone.txt"), "gone.txt: No such file"),
        ((*PAPER[:-1], "paper:idf=empty.run"), "empty.run is empty: expected one segment a line"),
        ((*PAPER[:-1], "paper:threshold=nan"), "paper: threshold=nan: expected a number"),
        ((*PAPER[:-1], "paper:threshold=-inf"), "paper: threshold=-inf is out of range"),
        (
            (*PAPER[:-1], "paper:threshold=1,threshold_model=global"),
            "threshold and threshold_model exclude each other",
        ),
        (("heron", "-k", ""), "--key is empty: give a KEY\n"),
        (("heron", "-k", "demo-nuggets", "-j", ""), "--judgements is empty: give a FILE, or"),
        ((*PAPER, "--no-guess"), "--no-guess and --classifier exclude each other"),
        (
            ("new.run", "-k", "key.txt", "--classifier", "paper:threshold_model=nugget"),
            "the paper's classifier learns",
        ),
        (("empty.run", "-k", "key.txt"), "empty.run: no response in it, expected a run of"),
        (("new.run", "empty.run", "-k", "key.txt"), "empty.run: no response in it, expected"),
        (("bare.jsonl", "-k", "key.txt"), "bare.jsonl: no response in it, expected a run of"),
        ((*PAPER[:-1], "paper:idf=idf.txt", "-o", "idf.txt"), "idf.txt is one of the inputs"),
    ],
)
def test_bad_choices(run_karat: Called, files: Path, args: tuple[str, ...], sentence: str) -> None:
    (files / "empty.run").write_text("")
    (files / "idf.txt").write_text("a b\n")
    (files / "bare.jsonl").write_text('{"run": "A"}\n')
    done = run_karat("nuggets", "score", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {sentence}")
    assert done.stderr.count("\n") == 1


def test_institutions_are_told_by_tags_or_by_a_pattern(output: Output, run_karat: Called) -> None:
    tune = ("nuggets", "tune", "demo-nuggets", "--leave-out", "institution", "-f", "json")
    plain = json.loads(output(*tune))
    assert any(note.startswith("4 institutions.") for note in plain["notes"])
    housed = json.loads(output(*tune, "--institution", ".*(n|l)"))
    assert any("together: heron, wren; kestrel, plover." in note for note in housed["notes"])
    done = run_karat(*tune, "--institution", "(")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: institution '(': no regular expression (")
    done = run_karat(*tune, "--institution", "")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "karat: --institution is empty: give a PATTERN, or leave out the option\n"
    for command in ("tune", "evaluate"):
        done = run_karat("nuggets", command, "demo-nuggets", "--institution", "x")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("karat: --institution needs --leave-out institution: add")


def test_tune_and_evaluate_take_every_source_of_idf(output: Output, folder: Path) -> None:
    (folder / "idf.txt").write_text("the lens\nthe oil of the lamp\nthe League\n")
    for command in ("tune", "evaluate"):
        args = ("nuggets", command, "demo-nuggets", "-f", "json", "--classifier")
        sources = ("pooled", "idf.txt")
        reports = [json.loads(output(*args, f"paper:idf={idf}")) for idf in sources]
        assert len({json.dumps(report["models"]) for report in reports}) == 2
        sentences = ["the responses themselves", "the texts of idf.txt"]
        assert all(
            t in " ".join(report["notes"]) for t, report in zip(sentences, reports, strict=True)
        )


def test_training_on_responses_changes_tuning(output: Output, run_karat: Called) -> None:
    args = ("nuggets", "tune", "demo-nuggets", "-f", "json")
    taught_by = ("--classifier", "paper:responses=yes")
    plain, taught = (json.loads(output(*args, *more)) for more in ((), taught_by))
    assert plain["rows"] != taught["rows"]
    done = run_karat(*args, *taught_by, "--leave-out", "question")
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave out systems or institutions" in done.stderr


@pytest.mark.parametrize("classifier", ["paper:n=1", "paper:threshold=2", "calibrated"])
def test_what_is_tried_cannot_be_chosen(run_karat: Called, classifier: str) -> None:
    for command in ("tune", "evaluate"):
        done = run_karat("nuggets", command, "demo-nuggets", "--classifier", classifier)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert f"--classifier {classifier}: expected paper, with settings other" in done.stderr


def test_evaluate_says_which_classifier_wins(output: Output) -> None:
    report = json.loads(output("nuggets", "evaluate", "demo-nuggets", "-f", "json"))
    calibrated, paper, likeliest = (row["f"] for row in report["rows"][:3])
    assert "(likeliest)" in report["rows"][2]["what"]
    winner = "the calibrated" if calibrated > max(paper, likeliest) else "the paper's"
    assert f"Chosen by F in this cross-validation: {winner}" in " ".join(report["notes"])


def test_tune_tries_24_settings_and_threshold_models(output: Output) -> None:
    report = json.loads(output("nuggets", "tune", "demo-nuggets", "-f", "json"))
    settings = {(r["stem"], r["n"], r["weight"], r["stop"]) for r in report["rows"]}
    assert len(settings) == len(report["rows"]) == 24
    f = [row["f"] for row in report["rows"]]
    assert f == sorted(f, reverse=True)
    assert report["models"][0]["model"] == "coin"


@pytest.mark.parametrize("by", ["system", "question"])
def test_evaluate_sets_classifiers_beside_baselines(output: Output, by: str) -> None:
    args = ("nuggets", "evaluate", "demo-nuggets", "--leave-out", by, "-f", "json")
    report = json.loads(output(*args))
    names = [row["what"] for row in report["rows"]]
    assert names[0] == "calibrated classifier"
    assert sum(name.startswith("Pourpre") for name in names) == 4
    assert sum(name.startswith("ROUGE") for name in names) == 2
    alone = [row for row in report["rows"] if "guesses alone" in row["what"]]
    assert len(alone) == (2 if by == "system" else 0)
    assert all(row["tau_b"] is None and 0 < row["f"] <= 1 for row in alone)
    assert all(-1 <= row["tau_b"] <= 1 for row in report["rows"] if row not in alone)


@pytest.mark.parametrize("command", ["tune", "evaluate"])
def test_partial_support_may_be_none(output: Output, command: str) -> None:
    args = ("nuggets", command, "demo-nuggets", "-f", "json")
    plain, strict = (json.loads(output(*args, *more)) for more in ((), ("--strict",)))
    assert plain["rows"] != strict["rows"]
    note = "Partial support counts as no support (strict)."
    assert [note in report["notes"] for report in (plain, strict)] == [False, True]


def test_what_has_no_judgements_cannot_be_evaluated(run_karat: Called, files: Path) -> None:
    done = run_karat("nuggets", "evaluate", "key.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected runs and judgements" in done.stderr


def test_every_nugget_comes_with_the_words_that_speak_for_it(output: Output, files: Path) -> None:
    (files / "key.txt").write_text("q1 1 vital the lamp of glass\nq1 2 okay bees\n")
    (files / "new.run").write_text("q1 new d Glass lamps, and a lamp.\n")
    (files / "judged.txt").write_text("q1 old 1 d Glass lamps, and a lamp.\nq1 old 1 1\n")
    args = ("new.run", "-k", "key.txt", "-j", "judged.txt", "--nuggets")
    rows = scored(output, *args)["nuggets"]
    assert [row["evidence"] for row in rows] == ["Glass lamps, … lamp.", None]
    assert "Glass lamps, … lamp." in output("nuggets", "score", *args)
