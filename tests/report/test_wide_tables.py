"""Wide tables: systems by metrics, with intervals, marks, arrows and the best in bold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

import karat as kt

Called = Callable[..., CompletedProcess[str]]
GOOD = ["the cat sat on the mat", "a dog barked at us", "we went home late", "it rained all day"]
GOOD += ["she read the letter twice", "nobody came to the party", "the train left at nine"]
WEAK = ["cat mat", "dog us", "home", "rain day", "letter", "party", "train nine"]
SYSTEMS = {"base_1": WEAK, "good & new": GOOD, "copy": WEAK}


def rows_of(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_scores_by_hand() -> None:
    """TER of a perfect system is 0, and less is better; the two others are equal."""
    wide = kt.score(SYSTEMS, GOOD, ["bleu", "ter"]).wide()
    head, _, base, good, copy = rows_of(wide.render("md"))
    assert head == ["System", "bleu ↑", "ter ↓"]
    assert good == ["good \\& new", "**100.00**", "**0.00**"]
    assert base[1:] == copy[1:]
    assert "**" not in "".join(base)
    frame = wide.to_pandas()
    assert list(frame.columns) == ["system", "bleu", "ter"]
    assert frame["ter"][1] == 0


def test_marks_against_the_baseline() -> None:
    """Better is marked with one dagger by either direction, worse with two, equal with none."""
    compared = kt.compare(SYSTEMS, GOOD, ["chrf", "ter"], correction="none")
    wide = compared.wide()
    cells = {row[0]: row for row in rows_of(wide.render("md"))}
    assert cells["System"] == ["System", "chrf ↑", "95%", "ter ↓", "95%"]
    good = compared["good & new", "ter"]
    assert (good.p or 1) < 0.05
    assert cells["good \\& new"][1::2] == ["**100.00†**", "**0.00†**"]
    assert cells["good \\& new"][4] == "\\[0.00, 0.00\\]"
    assert "†" not in cells["copy"][1] + cells["base_1"][1]
    settings = {"baseline": "good & new", "correction": "none"}
    worse = kt.compare(SYSTEMS, GOOD, "ter", **settings).wide().render("md")
    assert "‡" in {row[0]: row for row in rows_of(worse)}["copy"][1]
    assert "not corrected for the number of tests (2)" in worse
    assert "Wins" not in worse
    record = wide.records()[0]
    assert record["chrf p"] == compared[record["system"], "chrf"].p
    assert record["ter low"] == compared[record["system"], "ter"].low


def test_latex_is_well_formed() -> None:
    text = kt.compare(SYSTEMS, GOOD, ["chrf", "ter"], correction="none").wide().render("latex")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert body.count("{") == body.count("}")
    (letters,) = re.findall(r"\\begin\{tabular\}\{@\{\}(\w+)@\{\}\}", body)
    assert letters == "lrrrr"
    lines = [line for line in body.splitlines() if line.endswith(r" \\")]
    assert len(lines) == 4
    assert {len(re.split(r"(?<!\\)&", line)) for line in lines} == {5}
    assert r"chrf $\uparrow$ & 95\% & ter $\downarrow$" in body
    assert r"good \& new & \textbf{100.00\textsuperscript{\dag}} & {[}100.00, 100.00{]}" in body
    assert r"base\_1" in body
    assert not re.search(r"[↑↓†‡]", text)
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert body.count(rule) == 1


def test_commands(run_karat: Called) -> None:
    arguments = ("a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu", "-m", "ter", "--wide")
    report = json.loads(run_karat("score", *arguments, "--intervals", "-f", "json").stdout)
    assert list(report["rows"][0]) == [
        *("system", "bleu", "bleu low", "bleu high", "ter", "ter low", "ter high")
    ]
    text = run_karat("compare", *arguments).stdout
    heads = next(line for line in text.splitlines() if line.startswith("System"))
    assert heads.split() == ["System", "bleu", "↑", "95%", "ter", "↓", "95%"]
    assert "<table" in run_karat("compare", *arguments, "-f", "html").stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [(("--segments",), "leave out --segments"), (("--worst", "2"), "leave out --wide")],
)
def test_what_does_not_go_together(run_karat: Called, more: tuple[str, ...], message: str) -> None:
    done = run_karat("score", "a.txt", "-r", "ref1.txt", "--wide", *more)
    assert done.returncode == 2
    assert message in done.stderr


def test_intervals_are_never_cut() -> None:
    """Where they do not fit beside each other, they go below."""
    text = kt.compare(SYSTEMS, GOOD, ["bleu", "chrf", "ter", "rouge1"]).wide().render("text")
    assert "…" not in text
    table = text.partition("\nScores\n")[2].partition("† better")[0]
    assert len(re.findall(r"\[[\d.]+, [\d.]+\]", table)) == len(SYSTEMS) * 4


def test_a_page_shows_the_scores_without_a_click() -> None:
    page = kt.compare(SYSTEMS, GOOD, "chrf").wide().render("html")
    before, _, rest = page.partition("<main>")[2].partition("<table")
    assert "<details" not in before
    assert "good &amp; new" in rest
