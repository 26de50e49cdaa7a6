"""`karat meta`, `plane`, `data judges` and `data flood`: what they show, and what they refuse."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.cli.commands.meta import meta_command
from karat.meta.experiment import Experiment, read_experiment
from karat.meta.plane import CELLS

Called = Callable[..., Any]
Output = Callable[..., str]
FORMATS = ("text", "json", "tsv", "md", "latex", "html")
FEW = ("--resamples", "20")
META = ("meta", "demo", "-m", "bleu", "-m", "ter", "--trials", "20", *FEW)
FIT = ("plane", "fit", "demo", "--splits", "4", *FEW)
SHOWN = {
    "meta": META,
    "fit": (*FIT, "--task", "mt", "--guideline", "fluency"),
    "recommend": ("plane", "recommend", "--task", "paraphrase", "--guideline", "fluency"),
    "judges": ("data", "judges", "demo"),
}


def left_behind(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".karat")]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", SHOWN)
def test_every_format_is_rendered(output: Output, name: str, format: str) -> None:
    text = output(*SHOWN[name], "--format", format)
    assert {"meta": "bleu", "fit": "AEv", "recommend": "aev", "judges": "anna"}[name] in text or (
        name == "fit" and format == "tsv" and "alpha" in text
    )
    assert "nan" not in text.lower().replace("finance", "")
    assert "Traceback" not in text


def test_rows_of_meta_for_programs(output: Output) -> None:
    report = json.loads(output(*META, "-d", "errors", "-l", "system", "-s", "r2", "-f", "json"))
    assert [row["metric"] for row in report["rows"]] == ["bleu", "ter"]
    assert {row["points"] for row in report["rows"]} == {4}
    (test,) = report["tests"]
    assert 16 * test["p"] == round(16 * test["p"])  # all exchanges of four systems


def test_rows_of_a_plane_for_programs(output: Output) -> None:
    report = json.loads(output(*SHOWN["fit"], "-d", "fluency", "-f", "json"))
    assert [(row["alpha"], row["n"]) for row in report["rows"]] == list(CELLS)
    assert sum(row["predicted"] for row in report["rows"]) == 8
    assert {row["dimension"] for row in report["rows"]} == {"fluency"}


def test_a_recommended_metric_can_be_used(output: Output) -> None:
    for task in ("mt", "paraphrase", "qa", "viewpoint-summary", "summary"):
        for guideline in ("adequacy", "coverage", "lenient", "strict", "fluency"):
            arguments = (
                "plane",
                "recommend",
                "--task",
                task,
                "--guideline",
                guideline,
                "-f",
                "json",
            )
            for row in json.loads(output(*arguments))["rows"]:
                metric = kt.metric(row["metric"])
                assert isinstance(metric, kt.AEv)
                assert (metric.alpha, metric.n) == (row["alpha"], row["n"])


def test_the_command_s_defaults_are_those_of_an_experiment() -> None:
    option_defaults = {p.name: p.default for p in meta_command.params}
    experiment_defaults = {f.name: f.default for f in fields(Experiment)}
    for name in ("normalise", "over", "resamples", "trials", "correction", "seed", "system_scores"):
        assert option_defaults[name] == experiment_defaults[name]


# -------------------------------------------------------------------------- experiments as files


def test_an_experiment_is_saved_and_run_again(output: Output, folder: Path) -> None:
    first = output(*META, "-d", "fluency", "--save", "x.toml", "-f", "tsv")
    assert output("meta", "--experiment", "x.toml", "-f", "tsv") == first
    saved = read_experiment((folder / "x.toml").read_text("utf-8"))
    assert saved.metrics == ("bleu", "ter")
    assert (saved.dimensions, saved.resamples, saved.trials) == (("fluency",), 20, 20)
    output("meta", "--experiment", "x.toml", "--save", "y.toml", "-o", "y.json")
    assert (folder / "y.toml").read_bytes() == (folder / "x.toml").read_bytes()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--experiment", "x.toml", "demo"), "--experiment x.toml has all settings"),
        (("--experiment", "x.toml", "--seed", "12345"), "--experiment x.toml has all settings"),
        (("--experiment", "x.toml", "--save", "x.toml"), "x.toml is one of the inputs"),
        (("--experiment", "none.toml"), "none.toml: No such file or directory"),
        (("--experiment", "."), "Is a directory"),
        (("--experiment", "bad.toml"), "bad.toml: metrics='bleu' is str, expected a list"),
        (("--experiment", "latin.toml"), "latin.toml, line 1: not valid UTF-8"),
        (("demo", "--save", "new/x.toml"), "there is no directory"),
        (("demo", "--save", "both", "-o", "both"), "--output and --save are both both"),
        ((), "no evaluation set was given"),
    ],
)
def test_experiments_that_cannot_be_run(
    run_karat: Called, folder: Path, args: tuple[str, ...], message: str
) -> None:
    (folder / "x.toml").write_text('evalset = "demo"\nmetrics = ["bleu"]\n')
    (folder / "bad.toml").write_text('evalset = "demo"\nmetrics = "bleu"\n')
    (folder / "latin.toml").write_bytes(b'evalset = "caf\xe9"\n')
    before = sorted(os.listdir(folder))
    done = run_karat("meta", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(folder)) == before


def test_several_sets_are_averaged_and_their_study_runs_again(output: Output, folder: Path) -> None:
    output("data", "convert", "demo", "copy")
    quick_options = ("-m", "bleu", "-m", "ter", "-d", "fluency", "--trials", "20", *FEW)
    first = output(
        "meta", "demo", "copy", *quick_options, "--weights", "1,3", "--save", "s.toml", "-f", "tsv"
    )
    again = json.loads(output("meta", "--experiment", "s.toml", "-f", "json"))
    assert output("meta", "--experiment", "s.toml", "-f", "tsv") == first
    single = json.loads(output("meta", "demo", *quick_options, "-f", "json"))
    assert {task["weight"] for task in again["tasks"]} == {0.25 / 6, 0.75 / 6}
    values = [task["value"] for task in again["tasks"][:12]]
    assert sorted(values) == sorted(row["value"] for row in single["rows"])
    assert [row["metric"] for row in again["rows"]] == ["bleu", "ter"]
    output("meta", "demo", "copy", *quick_options, "-o", "page.html")
    page = (folder / "page.html").read_text("utf-8")
    assert "Averages over all tasks" in page
    assert "<svg" in page


# ---------------------------------------------------------------------------- what is refused

HOSTILE = [
    (("meta", "demo", "-d", "taste"), "demo has no dimension 'taste' (it has adequacy, fluency, e"),
    (
        ("meta", "demo", "-d", "fluency", "-d", "fluency"),
        "dimensions=('fluency', 'fluency') has 'fluency' twice",
    ),
    (("meta", "demo", "-l", "word"), "level 'word': expected one of system, system-mean, segment,"),
    (("meta", "demo", "-s", "tau"), "statistic 'tau': expected one of pearson, spearman, tau-b"),
    (("meta", "demo", "--exclude", "x"), "demo has no system 'x' (it has atlas, beacon, cinder, d"),
    (("meta", "demo", "--exclude", "atals"), "demo has no system 'atals'; did you mean atlas?"),
    (("meta", "demo", "--reference", "9"), "segment 1 has none of the references that were chosen"),
    (("meta", "demo", "-m", "blue"), "unknown metric 'blue'; did you mean bleu?"),
    (("meta", "nowhere"), "nowhere"),
    (("meta", "demo", "nowhere"), "nowhere"),
    (("meta", "demo", "demo"), "the set demo is given twice"),
    (("meta", "demo", "e2e", "--weights", "1"), "found 1 weights, expected one for each of 2 sets"),
    (("meta", "demo", "e2e", "--weights", "1,x"), "found '1,x', expected numbers such as 2,1,0.5"),
    (("meta", "demo", "e2e", "--weights", "0,0"), "weights: expected numbers that are not negat"),
    (("meta", "demo", "e2e", "--charts", "x"), "--charts works with one set"),
    (("meta", "demo", "e2e", "--p-values"), "p_values: averages over several sets have none"),
    (("meta", "demo", "--system-scores", "some"), "some"),
    (("meta", "demo", "--resamples", "-1"), "-1"),
    (("meta", "demo", "--seed", "x"), "x"),
    (("plane", "fit", "demo", "-d", "taste"), "demo has no dimension 'taste' (it has adequacy, f"),
    (("plane", "fit", "demo", "-d", "errors", "-d", "errors"), "'errors' is named twice"),
    (("plane", "fit", "demo", "--task", "mt"), "--task and --guideline go together"),
    (("plane", "fit", "demo", "-m", "bleu"), "-m bleu: expected aev"),
    (("plane", "fit", "demo", "-m", "aev:n=2"), "the plane covers all alpha and n; leave them out"),
    (("plane", "fit", "demo", "-m", "aev:refs=best"), "a plane needs n=4, equal weights and refs="),
    (("plane", "fit", "demo", "-m", "aev:stem=x"), "stem=x"),
    (("plane", "fit", "demo", "--exclude", "atlas", "--exclude", "drift"), "2 systems with human"),
    (
        ("plane", "recommend", "--task", "poem", "--guideline", "fluency"),
        "task 'poem': expected one of mt, paraphrase, qa, viewpoint-summary, summary",
    ),
    (
        ("plane", "recommend", "--task", "mt", "--guideline", "beauty"),
        "guideline 'beauty': expected one of adequacy, coverage, lenient, strict, fluency",
    ),
    (("data", "judges", "demo", "-d", "taste"), "demo has no dimension 'taste' (it has adequacy"),
    (("data", "judges", "demo", "--exclude", "x"), "demo has no system 'x' (it has atlas, beacon"),
    (("data", "flood", "demo", "new", "-d", "taste"), "demo has no dimension 'taste'"),
    (("data", "flood", "demo", "new", "-d", "errors"), "errors: flooding needs a dimension in wh"),
    (("data", "flood", "demo", "new", "-d", "fluency", "--system", "x"), "demo has no system 'x'"),
    (("data", "flood", "demo", "new", "-d", "fluency", "--share", "nan"), "share=nan: expected 0"),
    (("data", "flood", "demo", "new", "-d", "fluency", "--correct", "nan"), "correct=nan: expect"),
    (("data", "flood", "demo", "a.txt", "-d", "fluency"), "a.txt exists already: name a new file"),
]


@pytest.mark.parametrize(("args", "message"), HOSTILE)
def test_what_cannot_be_done_is_one_sentence(
    run_karat: Called, folder: Path, args: tuple[str, ...], message: str
) -> None:
    before = sorted(os.listdir(folder))
    done = run_karat(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(folder)) == before


def write_rated_set(
    folder: Path, values: dict[str, tuple[float, ...]], text: str = "one two three"
) -> str:
    """A set with one judge, written to the folder `set`."""
    outputs = {name: [f"{text} {name}"] * len(v) for name, v in values.items()}
    rows = [(s, str(j), "me", "d", x) for s, v in values.items() for j, x in enumerate(v, 1)]
    count = len(next(iter(values.values())))
    kt.save_evalset(
        kt.make_evalset(
            "odd", outputs, references=[text] * count, judgements=rows, dimensions=["d", "never"]
        ),
        folder / "set",
    )
    return "set"


@pytest.mark.parametrize("format", ["text", "json", "html"])
@pytest.mark.parametrize(
    "values",
    [
        {"a": (1.0, 2.0, 3.0)},
        {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (1.0, 1.0)},
        {"a": (1.0,), "b": (2.0,), "c": (3.0,), "d": (4.0,)},
    ],
)
def test_odd_sets_have_no_correlation_and_no_traceback(
    output: Output, run_karat: Called, folder: Path, values: dict[str, Any], format: str
) -> None:
    name = write_rated_set(folder, values)
    text = output("meta", name, "-m", "bleu", "-m", "ter", *FEW, "--trials", "9", "-f", format)
    assert "undefined: " in text
    assert "undefined: " in output("meta", name, "-m", "bleu", "-d", "never", *FEW, "-f", format)
    assert "never" in output("data", "judges", name, "-f", format)
    done = run_karat("plane", "fit", name, *FEW, "-f", format)
    assert done.returncode == 2
    assert done.stderr.startswith("karat: ")


ODD: list[dict[str, tuple[float | None, ...]]] = [
    {"a": (1.0,), "b": (2.0,)},
    {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (1.0, 1.0)},
    {"a": (1.0, 2.0), "b": (3.0, None), "c": (None, 4.0), "d": (None, None)},
    {"a": (None, None), "b": (None, None), "c": (None, None)},
]


@pytest.mark.parametrize("values", ODD, ids=["tiny", "constant", "gaps", "unjudged"])
def test_odd_sets_have_a_report(run_karat: Called, folder: Path, values: dict[str, Any]) -> None:
    outputs = {s: [None if x is None else f"one {s} three" for x in v] for s, v in values.items()}
    texts = {s: v if any(v) else ["one two"] * len(v) for s, v in outputs.items()}
    rows = [
        (s, str(j), "me", "d", x)
        for s, v in values.items()
        for j, x in enumerate(v, 1)
        if x is not None
    ]
    references = ["one two three"] * len(values["a"])
    evalset = kt.make_evalset(
        "odd", texts, references=references, judgements=rows, dimensions=["d"]
    )
    kt.save_evalset(evalset, folder / "set")
    done = run_karat("meta", "set", "-m", "bleu", "-m", "ter", *FEW, "-o", "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    page = (folder / "page.html").read_text("utf-8")
    assert "undefined" in page
    assert not re.search(r"\bnan\b", page)
    constant = "d: all systems have the same human score"
    assert (constant in page) == (set(values["a"]) == {1.0} == set(values["b"]))


def test_the_report_says_what_it_leaves_out_and_names_its_curves(
    output: Output, folder: Path
) -> None:
    names = ("bleu", "chrf", "ter", "aev", *(f"rouge{n}" for n in (1, 2, 3, 4, "L")))
    many = [x for m in names for x in ("-m", m)]
    arguments = ("meta", "demo", *many, "-l", "system", "-s", "spa", "--resamples", "2")
    text = output(*arguments)
    assert output(*arguments, "-o", "page.html") == ""
    page = (folder / "page.html").read_text("utf-8")
    assert "the first 24 of 27 pairs of dimension and metric" in page
    caption = "24 of 27 plots are shown: a page has at most 24; choose fewer with --dimension"
    assert caption in page  # beside the plots
    assert "Reliability: fluency, pearson" in page  # pseudo-documents have no spa
    assert "No ranks by spa" in text
    assert "of systems and segments (for spa, of segments alone)" in " ".join(text.split())


@pytest.mark.parametrize(("statistic", "label"), [("pearson", "Pearson's r"), ("r2", "R^2")])
def test_a_chart_has_the_sign_of_its_table_and_of_its_axes(
    output: Output, folder: Path, statistic: str, label: str
) -> None:
    arguments = ("meta", "demo", "-m", "ter", "-d", "adequacy", "-l", "system", "--resamples", "0")
    text = output(*arguments, "-s", statistic, "--format", "json")
    output(*arguments, "-s", statistic, "-o", "r.html")
    (row,) = json.loads(text)["rows"]
    page = html.unescape((folder / "r.html").read_text("utf-8"))
    assert row["value"] > 0
    assert f">{label} {row['value']:.2f}<" in page
    assert ">-TER<" in page
    assert "Higher is better on both axes (TER negated)." in page
    assert "Signs: ter is lower for better outputs and negated here" in page


@pytest.mark.parametrize("resamples", [0, 1, 20])
def test_the_report_names_the_resamples_that_were_asked_for(
    output: Output, folder: Path, resamples: int
) -> None:
    arguments = ("meta", "demo", "-m", "bleu", "-d", "fluency", "--resamples", str(resamples))
    output(*arguments, "-o", "page.html")
    page = (folder / "page.html").read_text("utf-8")
    assert "1,000 bootstrap" not in page
    many = f"{resamples} bootstrap resample{'s' * (resamples != 1)}"
    assert page.count(many) >= (2 if resamples else 0)
    assert ("95% intervals from" in page) == (resamples > 0)


def test_headings_count_the_groups_that_are_used(output: Output, folder: Path) -> None:
    scores = {"a": (1.0, 1.0, 2.0, 5.0), "b": (1.0, 2.0, 1.0, 5.0), "c": (1.0, 3.0, 4.0, 5.0)}
    texts = {"a": "one two three four", "b": "one two x", "c": "x y z"}
    for name, chosen_segments in (("some", slice(0, 4)), ("all", slice(1, 3))):
        rows = [
            (s, str(j), "me", "d", x)
            for s, v in scores.items()
            for j, x in enumerate(v[chosen_segments], 1)
        ]
        count = len(rows) // 3
        outputs = {s: [text] * count for s, text in texts.items()}
        references = ["one two three four"] * count
        contents = {"references": references, "judgements": rows, "dimensions": ["d"]}
        kt.save_evalset(kt.make_evalset(name, outputs, **contents), folder / name)
    arguments = ("-m", "bleu", "-l", "item", "-s", "pearson", "--resamples", "0")
    text = output("meta", "some", *arguments)
    assert "d, item, pearson: 12 points, 2 of 4 groups" in text
    assert "Groups: the mean is over those in which the statistic is defined" in text
    text = output("meta", "all", *arguments)
    assert "d, item, pearson: 6 points, 2 groups" in text
    assert "Groups:" not in text


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("meta", "set", "--save", "set/karat.toml"), "karat.toml is inside the set set"),
        (("meta", "set", "-o", "set/human.tsv"), "human.tsv is inside the set set"),
        (("plane", "fit", "set", "-o", "set/human.tsv"), "human.tsv is inside the set"),
        (("data", "check", "set", "-o", "set/human.tsv"), "human.tsv is inside the set"),
        (("data", "judges", "set", "-o", "set/human.tsv"), "human.tsv is inside the set"),
        (("score", "--set", "set", "-o", "set/human.tsv"), "human.tsv is inside the set"),
        (("compare", "--set", "set", "-o", "set/human.tsv"), "human.tsv is inside the set"),
        (("meta", "set", "--save", "x.toml", "-o", "x.toml"), "cannot write .toml files"),
        (("meta", "set", "--save", "x", "-o", "x"), "--output and --save are both x"),
        (("meta", "bare", "-m", "bleu"), "bare: 1 of 2 segments have no reference, the first is"),
    ],
)
def test_no_output_harms_a_set(
    run_karat: Called, folder: Path, args: tuple[str, ...], message: str
) -> None:
    write_rated_set(folder, {"a": (1.0, 2.0), "b": (2.0, 3.0), "c": (4.0, 3.0)})
    bare = kt.make_evalset(
        "bare",
        {"a": ["x", "y"], "b": ["x", "z"]},
        references=[["x"], []],
        judgements=[("a", "1", "me", "d", 1)],
        dimensions=["d"],
    )
    kt.save_evalset(bare, folder / "bare")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run_karat(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_systems_that_are_all_alike_have_an_empty_plane(output: Output, folder: Path) -> None:
    outputs = {name: ["one two three four"] * 3 for name in "abcde"}
    rows = [(s, str(j), "me", "d", k * j) for k, s in enumerate("abcde") for j in (1, 2, 3)]
    evalset = kt.make_evalset(
        "same", outputs, references=["one two three four"] * 3, judgements=rows, dimensions=["d"]
    )
    kt.save_evalset(evalset, folder / "set")
    text = output("plane", "fit", "set", *FEW, "--task", "mt", "--guideline", "fluency")
    assert "No cell can be picked: none has a correlation above 0." in text
    assert "nan" not in text
    text = output("plane", "fit", "set", "--resamples", "0", "--splits", "3")
    assert "too few, or too much alike" in text


def test_without_resamples_no_number_is_made_up(output: Output) -> None:
    args = ("plane", "fit", "demo", "-d", "fluency", "--resamples", "0", "--task", "mt")
    text = output(*args, "--guideline", "fluency")
    assert "without resamples nothing can be said" in " ".join(text.split())
    assert "most wins" not in text
    assert "nan" not in text
    rows = json.loads(output(*args, "--guideline", "fluency", "-f", "json"))["rows"]
    assert {row["wins"] for row in rows} == {None}
    assert {row["low"] for row in rows} == {None}


# ------------------------------------------------------------------------------------ the others


def test_flooding_writes_a_set_that_is_read_again(output: Output, folder: Path) -> None:
    args = ("-d", "adequacy", "--correct", "4", "--system", "atlas", "--system", "drift")
    text = output("data", "flood", "demo", "new", *args)
    flooded = kt.load_evalset(folder / "new")
    before = kt.load_evalset("demo")
    changed = [
        name
        for name, texts in flooded.systems.items()
        for old, new in zip(before.systems[name], texts, strict=True)
        if old != new
    ]
    assert text == (
        f"new: {len(changed)} answers of atlas, drift flooded; they keep 0.5 of their adequacy\n"
        "Answers count as correct at or above adequacy 4.\n"
    )
    assert set(changed) <= {"atlas", "drift"}
    assert changed
    assert not left_behind(folder)
    lowest = {d.name: d.low for d in flooded.dimensions.values()}
    for row in flooded.judgements:
        assert row.value >= (lowest[row.dimension] or 0)


def test_controls_are_left_out_of_the_agreement(output: Output) -> None:
    all_systems, fewer = (
        json.loads(output("data", "judges", "demo", "-d", "fluency", *more, "-f", "json"))
        for more in ((), ("--exclude", "drift"))
    )
    assert (all_systems["rows"][0]["outputs"], fewer["rows"][0]["outputs"]) == (48, 36)
    assert "Systems left out: drift." in " ".join(fewer["notes"])


def test_a_caption_says_which_dimensions_have_no_plots(output: Output, folder: Path) -> None:
    """Nine systems: a gallery for each dimension, 24 plots in all."""
    names = [f"s{k}" for k in range(9)]
    dimensions = [f"d{k}" for k in range(5)]
    rows = [
        (name, str(i + 1), "ann", dimension, float((3 * k + i) % 7))
        for k, name in enumerate(names)
        for i in range(3)
        for dimension in dimensions
    ]
    texts = {name: [f"w{k} w{k + 1} w{i}" for i in range(3)] for k, name in enumerate(names)}
    evalset = kt.make_evalset(
        "many",
        texts,
        references=["w1 w2 w0", "w3 w4 w1", "w5 w6 w2"],
        judgements=rows,
        dimensions=dimensions,
    )
    kt.save_evalset(evalset, folder / "many")
    metrics = [x for n in (1, 2, 3, 4, "L") for x in ("-m", f"rouge{n}")]
    arguments = (
        "meta",
        "many",
        *metrics,
        "-m",
        "chrf",
        "-m",
        "gtm",
        "-l",
        "system",
        "--trials",
        "0",
    )
    assert output(*arguments, "--resamples", "0", "-o", "page.html") == ""
    page = (folder / "page.html").read_text("utf-8")
    assert "3 of 7 plots are shown and d4 has none: a page has at most 24" in page
    assert page.count("plots are shown") == 1  # the first three galleries are complete
