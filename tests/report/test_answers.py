"""Answers: the sentences that reports begin with say what the numbers say, and no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import karat as kt
from karat.comparison import CompareRow, Comparison
from karat.metrics.base import Score
from karat.metrics.differing import differing_words
from karat.report.documents.comparisons import comparison_answer, comparison_basis
from karat.report.model import (
    clear_labels,
    format_interval,
    format_signed,
    join_names,
    metric_label,
)
from karat.scoring import Inference
from karat.stats.units import Units

BLEU, CHRF, TER = map(kt.metric, ("bleu", "chrf", "ter"))


def row(system: str, m: kt.Metric, delta: float | None, verdict: str | None = None) -> CompareRow:
    """A row with an interval of the difference of one to each side."""
    score = Score(50.0 + (delta or 0.0), {}, f"{m}|karat")
    if delta is None:
        return CompareRow(system, m, score, 49.0, 51.0)
    ends = delta - 1, delta + 1
    return CompareRow(system, m, score, 49.0, 51.0, delta, *ends, 0.01, 3, 2, 1, verdict, 80)


def comparison(*rows: CompareRow, correction: str = "none", **more: Any) -> Comparison:
    bases = [
        row("base", m, None) for m in dict.fromkeys(compare_row.metric for compare_row in rows)
    ]
    return Comparison(
        (*rows, *bases), 2, {}, Inference(), "base", "jackknife", None, 1, correction, **more
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("A", BLEU, 4.6, "better")], "A beats base by BLEU +4.6 [3.6, 5.6]."),
        ([row("A", BLEU, -4.6, "worse")], "A is worse than base by BLEU -4.6 [-5.6, -3.6]."),
        (
            [row("A", BLEU, 0.5, "undecided")],
            "BLEU does not tell A and base apart: +0.5 [-0.5, 1.5].",
        ),
        (
            [row("A", BLEU, 4.6, "better"), row("A", CHRF, 0.5, "undecided")],
            "A beats base by BLEU +4.6 [3.6, 5.6]; chrF does not tell them apart.",
        ),
        (
            [row("A", BLEU, 4.6, "better"), row("A", TER, -3.0, "better")],
            "A beats base by both metrics: BLEU +4.6 [3.6, 5.6] and TER -3.0 [-4.0, -2.0].",
        ),
        (
            [row("A", BLEU, 4.6, "better"), row("A", CHRF, -2.0, "worse")],
            "A is better than base by BLEU +4.6 [3.6, 5.6], but worse by chrF -2.0 [-3.0, -1.0].",
        ),
        (
            [row("A", BLEU, 0.1, "undecided"), row("A", CHRF, 0.2, "undecided")],
            "No metric tells A and base apart (BLEU and chrF).",
        ),
    ],
)
def test_one_system(rows: list[CompareRow], expected: str) -> None:
    assert comparison_answer(comparison(*rows)) == (expected,)


def test_many_systems_are_counted() -> None:
    kinds = ["better"] * 3 + ["worse"] * 2 + ["undecided"]
    rows = [row(f"S{n}", BLEU, 9.0 - n, kind) for n, kind in enumerate(kinds)]
    assert comparison_answer(comparison(*rows))[1:] == (
        "3 of 6 systems beat base: S0, S1 and S2.",
        "2 of 6 systems are worse than base: S3 and S4.",
        "1 of 6 systems does not differ significantly from base: S5.",
        "These are 6 tests, not corrected for their number: where systems do not differ, about one "
        "test in 20 still shows a difference.",
    )


def test_a_single_system_of_many_takes_a_singular_verb() -> None:
    kinds = ["better", "worse", "undecided", "undecided", "undecided"]
    rows = [row(f"S{n}", BLEU, 9.0 - n, kind) for n, kind in enumerate(kinds)]
    assert comparison_answer(comparison(*rows))[1:4] == (
        "1 of 5 systems beats base: S0.",
        "1 of 5 systems is worse than base: S1.",
        "3 of 5 systems do not differ significantly from base: S2, S3 and S4.",
    )
    rows += [row("S0", CHRF, 1.0, "undecided"), row("S1", CHRF, -1.0, "undecided")]
    rows += [row("S2", CHRF, 5.0, "better")]
    rows[2] = row("S2", BLEU, -5.0, "worse")
    assert comparison_answer(comparison(*rows))[1:4] == (
        "1 of 5 systems beats base by at least one metric and is worse by none: S0.",
        "1 of 5 systems is worse than base by at least one metric and better by none: S1.",
        "1 of 5 systems is better than base by one metric and worse by another: S2.",
    )


def test_many_tests_of_few_systems_have_a_warning() -> None:
    metrics = [BLEU, CHRF, TER, *map(kt.metric, ("rouge1", "rouge2"))]
    rows = [row("A", m, 0.1, "undecided") for m in metrics[1:]]
    warning = "These are 5 tests, not corrected for their number"
    decided = row("A", BLEU, 4.6, "better")
    answer = comparison_answer(comparison(decided, *rows, correction="none"))
    assert answer[1].startswith(warning)
    corrected = comparison(decided, *rows, correction="simultaneous")
    assert len(comparison_answer(corrected)) == 1
    undecided = row("A", BLEU, 0.1, "undecided")
    assert len(comparison_answer(comparison(undecided, *rows, correction="none"))) == 1
    assert len(comparison_answer(comparison(decided, *rows[1:], correction="none"))) == 1


def test_nothing_is_said_about_chance_where_nothing_is_decided() -> None:
    rows = [row(f"S{n}", BLEU, 0.1, "undecided") for n in range(6)]
    _, sentence = comparison_answer(comparison(*rows))
    assert sentence.startswith("6 of 6 systems do not differ significantly from base: S0, S1")


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("none", "not corrected for the number of tests (2)."),
        ("simultaneous", "simultaneous for all tests (2)."),
    ],
)
def test_the_basis_names_the_rule_and_the_correction(correction: str, expected: str) -> None:
    rows = [row("A", BLEU, 4.6, "better"), row("A", CHRF, 0.5, "undecided")]
    basis = comparison_basis(comparison(*rows, correction=correction))
    rule = "95% interval of the difference by segment excludes zero (p < .05)"
    assert basis == f"2 references. Decided where the {rule}; {expected}"
    assert comparison_basis(comparison(rows[0])).endswith(f"{rule}.")


def test_the_basis_has_segments_and_units() -> None:
    units = Units.from_labels("document", [n // 3 for n in range(240)])
    result = comparison(row("A", BLEU, 4.6, "better"), segments=240)
    basis = comparison_basis(replace(result, inference=Inference(units)))
    assert basis.startswith("240 segments in 80 documents, 2 references. Decided where the 95% int")
    assert "of the difference by document excludes zero" in basis
    assert comparison_basis(replace(result, segments=80)).startswith("80 segments, 2 references.")


# ------------------------------------------------------------------------- the best systems


def leading(system: str, m: kt.Metric, delta: float | None, *more: Any) -> CompareRow:
    return row(system, m, delta, *more)._replace(is_leading=True)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [leading("A", BLEU, 5.0, "better"), row("B", BLEU, -5.0, "worse")],
            "Best by BLEU: A; all other systems are significantly worse.",
        ),
        (
            [leading("A", BLEU, 5.0, "better"), leading("B", BLEU, 4.0, "better")],
            "Best by BLEU: A; B does not differ significantly.",
        ),
        (
            [
                *(leading("A", m, 5.0, "better") for m in (BLEU, CHRF)),
                *(leading("B", m, 4.0, "better") for m in (BLEU, CHRF)),
                *(leading("C", m, 3.0, "better") for m in (BLEU, CHRF)),
            ],
            "Best by BLEU and chrF: A; B and C do not differ significantly.",
        ),
    ],
)
def test_the_best_system_and_those_that_do_not_differ(
    rows: list[CompareRow], expected: str
) -> None:
    assert comparison_answer(comparison(*rows))[0] == expected


def test_no_other_system_differs_from_the_best() -> None:
    rows = [leading(name, BLEU, delta, "undecided") for name, delta in {"A": 2.0, "B": 1.0}.items()]
    result = comparison(*rows)
    bases = [one._replace(is_leading=True) for one in result.rows if one.system == "base"]
    answer = comparison_answer(replace(result, rows=(*rows, *bases)))
    assert answer[0] == "Best by BLEU: A; no other system differs significantly."


def test_the_best_system_is_not_said_to_be_like_one_that_the_tests_find_worse() -> None:
    """Tests against the baseline are fewer, and may find what tests of all pairs do not."""
    rows = [row("B", BLEU, -1.0, "worse")._replace(is_leading=True), row("C", BLEU, -5.0, "worse")]
    result = comparison(*rows)
    ranked = (result.rows[-1], *rows)
    assert comparison_answer(replace(result, rows=ranked))[0] == (
        "Best by BLEU: base; all other systems are significantly worse."
    )


def test_two_systems_have_no_best_one() -> None:
    assert not any("Best" in s for s in comparison_answer(comparison(row("A", BLEU, 5, "better"))))


# ----------------------------------------------------------- margins, detectable differences


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("equivalent", "A is equivalent to base within 3 BLEU."),
        ("no loss", "A is not worse than base by more than 3 BLEU."),
        ("loss", "A loses more than 3 BLEU against base."),
        ("undecided", "Whether A loses more than 3 BLEU against base is undecided."),
    ],
)
def test_margins(found: str, expected: str) -> None:
    marked = row("A", BLEU, 0.5, "undecided")._replace(margin=3.0, margin_verdict=found)
    assert comparison_answer(comparison(marked))[1] == expected


def test_margins_of_many_systems_are_grouped() -> None:
    rows = [
        row(f"S{n}", BLEU, -n, "worse")._replace(
            margin=2.5, margin_verdict="loss" if n > 3 else "no loss"
        )
        for n in range(6)
    ]
    assert comparison_answer(comparison(*rows, correction="simultaneous"))[-2:] == (
        "Not worse than base by more than 2.5 BLEU: S0, S1, S2 and S3.",
        "Worse than base by more than 2.5 BLEU: S4 and S5.",
    )


def test_detectable_differences_are_told_where_any_is_undecided() -> None:
    rows = [
        row("A", BLEU, 0.5, "undecided")._replace(detectable=6.94),
        row("A", CHRF, 5.0, "better")._replace(detectable=1.0),
    ]
    answer = comparison_answer(comparison(*rows))
    assert answer[-1] == "80 segments can detect a difference of 6.9 BLEU or more (80% power)."
    decided = comparison_answer(comparison(rows[1]))
    assert not any("power" in sentence for sentence in decided)
    beyond = rows[0]._replace(detectable=135.3)
    answer = comparison_answer(comparison(beyond, rows[1]))
    assert answer[-1] == "80 segments cannot reliably detect any difference in BLEU (80% power)."
    # The difference that these units show for every undecided system is the largest.
    rows = [row(n, BLEU, 0.5, "undecided")._replace(detectable=x) for n, x in [("A", 1), ("B", 2)]]
    assert "a difference of 2.0 BLEU or more" in comparison_answer(comparison(*rows))[-1]


def test_few_segments_decide_nothing() -> None:
    texts = ["a b c d", "e f g h", "i j k l"]
    result = kt.compare({"A": ["x", "y", "z"], "B": texts}, texts, ["chrf"])
    assert result["B", "chrf"].verdict == "undecided"
    assert result.summary == "3 segments are too few to tell systems apart: at least 6 are needed."
    assert "At least 6 segments are needed for a verdict." in result.document().basis


def test_intervals_of_differences_are_paired() -> None:
    """The same outputs do not differ, however wide their own intervals are."""
    texts = ["a b c d", "e f g h", "i j k l", "m n o p"]
    other_texts = ["a b c x", "e f g h", "i y k l", "m n o p"]
    result = kt.compare({"A": texts, "B": other_texts, "C": texts}, other_texts, ["chrf"])
    assert result["C", "chrf"][5:8] == (0.0, 0.0, 0.0)
    better = result["B", "chrf"]
    assert better.delta_low < 0 < better.delta < better.delta_high  # only two segments differ
    assert result["C", "chrf"].verdict == "undecided"
    assert result["A", "chrf"].verdict is None


def test_summaries_are_in_python_too() -> None:
    texts = ["a b c d", "e f g h"]
    result = kt.score({"A": texts, "B": ["x", "y"]}, texts, ["bleu", "chrf"])
    assert result.summary.startswith("Best by both metrics: A.")
    assert replace(result, rows=result.rows[:1]).summary == ""  # one system: nothing to say


def test_a_summary_commands_no_terminal() -> None:
    texts = ["a b c d", "e f g h"]
    scores = kt.score({"A\x1b[31m\u202e": texts, "B": ["x", "y"]}, texts, ["bleu", "chrf"])
    assert scores.summary.startswith(r"Best by both metrics: A\x1b[31m\u202e.")


def test_phrases() -> None:
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names([str(n) for n in range(9)], most=4) == "0, 1, 2 and 6 more"
    assert [metric_label(m) for m in ("bleu", "bleu:n=2")] == ["BLEU", "bleu:n=2"]
    assert (format_signed(0.04, 1), format_signed(-0.04, 1), format_signed(0.06, 1)) == (
        "0.0",
        "0.0",
        "+0.1",
    )
    assert format_interval(-1.25, 1234.5, 1) == "[-1.2, 1,234.5]"


@pytest.mark.parametrize(
    ("text", "reference", "marked"),
    [
        ("Is there vegetarian court?", "Is there a vegetarian dish?", ["court"]),
        ("the the cat", "The cat", ["the"]),  # as often as the reference has it; case is ignored
        ("cat the", "the cat", []),  # order is ignored
        ("我喜欢茶", "我喜欢咖啡", ["茶"]),
        ("我爱茶叶", "我", ["爱茶叶"]),  # characters side by side are one mark
        ("", "a", []),
    ],
)
def test_words_that_differ(text: str, reference: str, marked: list[str]) -> None:
    assert [text[a:b] for a, b in differing_words(text, [reference])] == marked


@pytest.mark.parametrize(
    ("text", "references", "marked"),
    [
        ("the quick fox", ["the fast fox", "a quick fox"], []),  # each word is in a reference
        ("the slow fox", ["the fast fox", "a quick fox"], ["slow"]),
        ("the the fox", ["the fox", "the dog"], ["the"]),  # no reference has it twice
        ("the the fox", ["the fox", "the dog and the cat"], []),
        ("anything", [], []),
    ],
)
def test_words_are_marked_against_all_references(
    text: str, references: list[str], marked: list[str]
) -> None:
    assert [text[a:b] for a, b in differing_words(text, references)] == marked


REFERENCES = ["a b c d", "e f g h"]
WRONG = ["x", "y"]


def test_the_best_of_several_systems_is_named_and_no_test_is_claimed() -> None:
    scores = kt.score({"A": REFERENCES, "B": WRONG}, REFERENCES, ["bleu", "ter"])
    assert scores.summary == (
        "Best by both metrics: A. Differences are not tested: use karat compare."
    )


def test_no_system_is_called_best_where_all_score_the_same() -> None:
    scores = kt.score({"A": WRONG, "B": WRONG}, REFERENCES, ["bleu", "chrf"])
    assert scores.summary.startswith("All systems have the same score by both metrics.")
    assert "Best" not in scores.summary


def test_a_tie_by_one_metric_is_no_lead_by_it() -> None:
    """Both systems have all words, in another order: only BLEU tells them apart."""
    systems = {"A": REFERENCES, "B": ["d c b a", "h g f e"]}
    scores = kt.score(systems, REFERENCES, ["bleu", "rouge1"])
    assert scores.summary.startswith("Best by BLEU: A. All systems have the same score by ROUGE-1.")


def test_scores_that_differ_by_rounding_alone_are_a_tie() -> None:
    scores = kt.score({"A": REFERENCES, "B": WRONG}, REFERENCES, "bleu")
    first, second = scores.rows
    close = second._replace(score=replace(second.score, value=first.score.value * (1 - 1e-15)))
    assert close.score.value < first.score.value
    assert "Best" not in replace(scores, rows=(first, close)).summary
    apart = second._replace(score=replace(second.score, value=first.score.value * (1 - 1e-9)))
    assert replace(scores, rows=(first, apart)).summary.startswith("Best by BLEU: A.")


def test_a_system_without_a_score_is_not_the_best() -> None:
    scores = kt.score({"A": REFERENCES, "B": WRONG}, REFERENCES, "bleu")
    first, second = scores.rows
    missing = first._replace(score=replace(first.score, value=float("nan")))
    assert replace(scores, rows=(missing, second)).summary.startswith("Best by BLEU: B.")
    both = (missing, second._replace(score=missing.score))
    assert replace(scores, rows=both).summary == ""


def test_small_p_values_are_never_zero() -> None:
    """JSON has all digits; tables for people say that p is below the last digit shown."""
    rows = [row("A", BLEU, 4.6, "better")._replace(p=1e-9, sacrebleu_p=0.00004, wins=None)]
    rows.append(row("A", CHRF, 4.6, "better")._replace(p=0.00012, wins=None))
    made = replace(comparison(*rows), test="sacrebleu-ar", trials=100_000)
    for format in ("text", "md", "html"):
        text = made.render(format)
        assert "0.0000" not in text.replace("<0.0001", "").replace("&lt;0.0001", "")
        assert text.count("<0.0001") + text.count("&lt;0.0001") >= 2
        assert "0.0001" in text
    assert [record["p"] for record in made.records()][:2] == [1e-9, 0.00012]


def test_a_metric_of_one_model_has_a_short_label() -> None:
    small, large = (f"bertscore:model=models/{name}" for name in ("small", "large"))
    assert clear_labels([small, "chrf"]) == {small: "BERTScore", "chrf": "chrF"}
    assert clear_labels([small, large]) == {small: small, large: large}
    assert clear_labels([f"{small},part=r"]) == {f"{small},part=r": f"{small},part=r"}
