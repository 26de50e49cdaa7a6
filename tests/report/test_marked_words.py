"""Words are marked against every reference that the score used, on every page that marks any."""

from __future__ import annotations

from pathlib import Path

import karat as kt
from karat.report.model import Document, ExampleCase, Examples

LEGEND = "Marked: words that no reference contains as often."
FIRST = ["the fast fox ran home", "it rained all day long", "she read the letter"]
SECOND = ["a quick fox ran home", "rain fell all day", "she read that letter twice"]
REFERENCES = [[one, two] for one, two in zip(FIRST, SECOND, strict=True)]
GOOD = ["the quick fox ran home", "rain fell all day long", "she read the letter twice"]
ODD = ["the quick wolf ran home", "snow fell all day long", "she wrote the letter twice"]


def cases_of(document: Document) -> list[ExampleCase]:
    blocks = [block for block in document.blocks if isinstance(block, Examples)]
    assert blocks
    assert {block.marked for block in blocks} == {LEGEND}
    return [case for block in blocks for case in block.cases]


def marked_of(case: ExampleCase) -> dict[str, list[str]]:
    return {
        passage.label: [passage.text[a:b] for a, b in passage.marks] for passage in case.passages
    }


def test_a_comparison() -> None:
    comparison = kt.compare({"odd": ODD, "good": GOOD}, REFERENCES, "chrf", examples=3)
    cases = cases_of(comparison.document())
    assert len(cases) == 3
    for case in cases:
        number = int(case.title.split()[-1]) - 1
        words = marked_of(case)
        assert words["good"] == []  # every word is in one of the two references
        assert words["odd"] == [["wolf"], ["snow"], ["wrote"]][number]


def test_a_comparison_of_a_table() -> None:
    rows = [
        {"system": name, "id": n, "candidate": texts[n], "reference": [FIRST[n], SECOND[n]]}
        for name, texts in {"good": GOOD, "odd": ODD}.items()
        for n in range(3)
    ]
    comparison = kt.compare(rows, None, "chrf", by="system", id="id", examples=3)
    marks = [marked_of(case) for case in cases_of(comparison.document())]
    assert [words["good"] for words in marks] == [[], [], []]
    assert sorted(words["odd"][0] for words in marks) == ["snow", "wolf", "wrote"]


def test_worst_segments() -> None:
    for texts, expected in ((GOOD, []), (ODD, ["snow", "wolf", "wrote"])):
        ranked = kt.score({"A": texts}, REFERENCES, "chrf", segments=True).worst(3)
        marks = [marked_of(case)["candidate"] for case in cases_of(ranked.document())]
        assert sorted(word for words in marks for word in words) == expected


def test_worst_segments_do_not_add_up_counts_of_references() -> None:
    ranked = kt.score({"A": ["the the fox"]}, [["the fox", "the dog"]], "chrf", segments=True)
    (case,) = cases_of(ranked.worst(1).document())
    assert marked_of(case)["candidate"] == ["the"]


def test_items_of_a_gate(tmp_path: Path) -> None:
    path = tmp_path / "baseline.tsv"
    kt.write_baseline(GOOD, REFERENCES, baseline=path)
    gate = kt.gate(ODD, REFERENCES, baseline=path)
    marks = [marked_of(case)["output"] for case in cases_of(gate.document())]
    assert sorted(word for words in marks for word in words) == ["snow", "wolf", "wrote"]


def test_disagreements_of_metrics_and_humans() -> None:
    outputs = {"a": GOOD, "b": ODD, "c": ["x y z"] * 3}
    values = {"a": 1, "b": 3, "c": 2}
    evalset = kt.make_evalset(
        "set",
        outputs,
        references=REFERENCES,
        judgements=[
            (name, str(n), "judge", "quality", value + n / 10)
            for name, value in values.items()
            for n in (1, 2, 3)
        ],
        dimensions=["quality"],
    )
    experiment = kt.Experiment("set", ("chrf",), resamples=0, trials=0)
    cases = cases_of(kt.meta_report(experiment, evalset).document())
    texts = {case.passages[-1].text: marked_of(case)["output"] for case in cases}
    assert any(text in GOOD for text in texts)
    assert all(not marked for text, marked in texts.items() if text in GOOD)


def test_an_explanation() -> None:
    """Words without a match: a match with any reference is one."""
    explanation = kt.explain_segments(GOOD, REFERENCES, "gtm:e=2", segments=[2])
    passages = [
        passage
        for block in explanation.document().blocks
        for case in getattr(block, "cases", ())
        for passage in case.passages
        if passage.label == "candidate"
    ]
    (candidate,) = passages
    assert candidate.marks == ()


def test_items_of_a_gate_name_their_references(tmp_path: Path) -> None:
    path = tmp_path / "baseline.tsv"
    for references, label in ((REFERENCES, "reference 1 of 2"), (FIRST, "reference")):
        kt.write_baseline(GOOD, references, baseline=path)
        cases = cases_of(kt.gate(ODD, references, baseline=path).document())
        assert {case.passages[0].label for case in cases} == {label}
