"""Contradictions of nuggets: what is one and what is not, lowered guesses, and their reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.facts.rules import rules_for
from karat.nuggets.formats.loading import load_nuggets
from karat.nuggets.prediction import contradictions
from karat.nuggets.prediction.calibrated import built_in_model
from karat.nuggets.prediction.contradictions import MAX_PROBABILITY, Contradictions
from karat.nuggets.prediction.evidence_groups import EvidenceSource
from karat.nuggets.prediction.pool import make_pool
from karat.nuggets.prediction.predictions import Calibrated, predict_support
from karat.nuggets.scores.words import ENGLISH, IdfSource
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

Output = Callable[..., str]

BACKGROUND = (
    "Farmers in Spain and Brasil talk about Lumora, a company. The Lumora plant pays well. "
    "Most people in Arden know that Brasil and Arden trade."
)


def find(nugget: str, response: str, question: str = "") -> str | None:
    """The contradiction of a nugget by a response, in words."""
    descriptions = tuple(nugget.split(" | "))
    key = make_key([Question("q", (Nugget("1", descriptions),), question)])
    texts = [response, BACKGROUND]
    pool = make_pool(key, [make_run(str(k), [("q", Response(t))]) for k, t in enumerate(texts)])
    change = Contradictions(pool, IdfSource().of_classifier(pool, ENGLISH)).find(0, 0, response)
    return change and change.describe("nugget")


@pytest.mark.parametrize(
    ("nugget", "response", "change"),
    [
        (
            "production of olives fell by 26%",
            "Production of olives fell by 62%.",
            "numbers: nugget 26%, output 62%",
        ),
        (
            "the output of mills was halved",
            "The output of mills was only 4% lower.",
            "numbers: nugget halved, output 4%",
        ),
        (
            "Arden has the highest cancer incidence",
            "Arden has the third-highest cancer incidence.",
            "numbers: nugget highest, output third highest",
        ),
        (
            "Arden has the second highest rate",
            "Arden has the ninth highest rate.",
            "numbers: nugget second highest, output ninth highest",
        ),
        (
            "a contract with Lumora was criticised",
            "People criticised a contract with Velanta.",
            "names: nugget Lumora, output Velanta",
        ),
        (
            "Arden has much cancer",
            "The state with much cancer is Brasil.",
            "names: nugget Arden, output Brasil",
        ),
        (
            "heat lowers the yield of trees",
            "Heat never lowers the yield of trees.",
            "negation: nugget heat, output never lowers",
        ),
        (
            "yogurt may decrease cholesterol levels",
            "Yogurt fails to lower cholesterol levels.",
            "negation: nugget cholesterol, output fails to lower cholesterol",
        ),
        (
            "the telephone did not replace letters",
            "The telephone replaced letters.",
            "negation: nugget not replace, output replaced",
        ),
        (
            "guards may arrest suspects",
            "Guards are forbidden to arrest suspects.",
            "negation: nugget arrest, output forbidden to arrest",
        ),
        (
            "marijuana enhances the sense of smell",
            "Marijuana impairs the sense of smell.",
            "negation: nugget enhances, output impairs",
        ),
    ],
)
def test_contradictions(nugget: str, response: str, change: str) -> None:
    actual = find(nugget, response)
    assert actual is not None
    check = change.partition(":")[0]
    if check == "negation":  # any of the negated words may be named
        assert actual.startswith("negation: nugget ")
        assert change.split("output ")[1].split(maxsplit=1)[0] in actual
    else:
        assert actual == change


@pytest.mark.parametrize(
    ("nugget", "response"),
    [
        ("production fell by 26%", "Production fell by 26%, and prices by 62%."),
        ("production fell by 26%", "Production fell. It was 26 percent."),
        ("production fell by 26%", "Production fell in Spain."),  # it lacks the number
        ("production fell by 26%", "Pickers earn 62% more."),  # about something else
        ("production fell by 26%", "Production fell in 1999."),  # a number of another kind
        ("Arden has the highest cancer incidence", "Arden has the highest cancer incidence."),
        ("a contract with Lumora was criticised", "People criticised a contract."),
        ("a contract with Lumora was criticised", "Lumora and Velanta have a criticised contract."),
        ("heat lowers the yield", "Heat lowers the yield. It never lowers the yield of wheat."),
        ("heat lowers the yield", "Heat lowers the yield, but not the price of land."),
        ("the telephone did not replace letters", "The telephone hardly replaced letters."),
        ("marijuana enhances the sense of smell", "Marijuana improves the sense of smell."),
        ("heat lowers the yield | heat never lowers the yield", "Heat never lowers the yield."),
        ("", "Heat."),
        ("of the", "Of the."),
    ],
)
def test_no_contradiction(nugget: str, response: str) -> None:
    assert find(nugget, response) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("30 acres", "12 hectares"),  # 12.14
        ("8 pounds", "3.6 kg"),  # 3.63
        ("26.2 miles", "42 km"),
        ("2 GB", "2048 MB"),
        ("$30 million", "€27 million"),
        ("212°F", "100°C"),
        ("212 degrees Fahrenheit", "100 degrees Celsius"),
        ("10 gallons", "38 litres"),
        ("40 square miles", "104 square kilometers"),
        ("200 horsepower", "149 kW"),
        ("1990s", "1994"),
        ("1,990's", "1,994"),
    ],
)
def test_other_units_and_decades_are_no_contradiction(first: str, second: str) -> None:
    for nugget, response in ((first, second), (second, first)):
        assert find(f"trees of the farm got {nugget}", f"Trees of the farm got {response}.") is None


@pytest.mark.parametrize(
    ("nugget", "response"),
    [
        ("30 acres", "30 hectares"),
        ("300 km", "300 miles"),
        ("5 km", "4.7 km"),  # no rounding between equal units
        ("$30 million", "$27 million"),
        ("212°F", "100°F"),
        ("10 gallons", "38 gallons"),
        ("10 gallons", "38 trees"),
        ("1990s", "1984"),
        ("1990s", "1980s"),
        ("1994", "1984"),
    ],
)
def test_other_numbers_are_contradictions(nugget: str, response: str) -> None:
    change = find(f"trees of the farm got {nugget}", f"Trees of the farm got {response}.")
    assert change is not None
    assert change.startswith("numbers: nugget ")


def test_names_of_the_question_do_not_count() -> None:
    nugget, response = (
        "a contract with Lumora was criticised",
        "A contract with Velanta, criticised.",
    )
    assert find(nugget, response) is not None
    assert find(nugget, response, "Why is Lumora in the news?") is None


def test_a_word_that_begins_a_text_is_a_name_if_it_usually_has_a_capital() -> None:
    response = "Much hay of the farm was sold by Brasil."
    assert find("Arden sold much hay of the farm", response) == "names: nugget Arden, output Brasil"
    assert find("Farmers sold much hay of the farm", response) is None


def test_a_negation_is_never_left_out_as_no_sentence_with_one() -> None:
    """The fast test for negations lets every marker and every word that negates through."""
    keys = ("markers", "concord", "negating")
    negation = rules_for("en").content["negation"]
    phrases = [word.replace("_", " ") for key in keys for word in negation[key].split()]
    assert len(phrases) > 50
    for phrase in phrases:
        text = f"The heat {phrase.replace('*', 'could')} lower it"
        assert contradictions._may_negate(text), phrase
        assert contradictions._may_negate(text.upper()), phrase
    assert not contradictions._may_negate("The heat lowers it now")


# ------------------------------------------------------------------------------------- guesses

OLD = (
    "The production of olives fell by 26% in Spain last year. Farmers criticised a contract with "
    "Lumora. Heat lowers the yield of the trees. Pickers are paid by the day."
)
NEW = OLD.replace("26%", "62%").replace("Lumora", "Velanta").replace("Heat", "Heat never")
KEY = {
    "1": "production of olives fell by 26% in Spain",
    "2": "a contract with Lumora was criticised by farmers",
    "3": "heat lowers the yield of the trees",
    "4": "pickers are paid by the day",
}
EXPECTED = {
    "1": "numbers: nugget 26%, output 62%",
    "2": "names: nugget Lumora, output Velanta",
    "3": "negation: nugget lowers, output never lowers",
    "4": None,
}


@pytest.fixture
def olives(tmp_path: Path) -> Path:
    nuggets = [
        {"id": id, "importance": "vital", "descriptions": [text]} for id, text in KEY.items()
    ]
    rows = [{"question": "prices", "text": "Why do olives cost more?", "nuggets": nuggets}]
    rows += [
        {"run": run, "question": "prices", "response": text}
        for run, text in (("old", OLD), ("new", NEW))
    ]
    path = tmp_path / "olives.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_contradicted_guesses_are_lowered_and_no_others(olives: Path) -> None:
    nuggets = load_nuggets(str(olives))
    plain = predict_support(nuggets, classifier=Calibrated(facts=False))
    lowered = predict_support(nuggets)
    assert plain.carried.all()
    assert plain.contradictions == {}
    change = lowered.probabilities < plain.probabilities
    pool = lowered.pool
    assert pool.answer(change, "old", "prices").tolist() == [[False] * 4]
    assert pool.answer(change, "new", "prices").tolist() == [[True] * 3 + [False]]
    assert np.array_equal(lowered.carried, plain.carried & ~change)
    assert set(lowered.probabilities[change].tolist()) == {MAX_PROBABILITY}
    for strict in (False, True):
        assert built_in_model(EvidenceSource(), strict).threshold > MAX_PROBABILITY


def test_judgements_win_over_contradictions(olives: Path) -> None:
    judged = {"question": "prices", "nugget": "1", "response": NEW, "value": 1, "run": "new"}
    with olives.open("a") as file:
        file.write(f"{json.dumps(judged)}\n")
    rows = {(r.run, r.nugget): r for r in kt.score_nuggets(str(olives)).decisions}
    assert (rows["new", "1"].support, rows["new", "1"].contradiction) == (1, None)
    assert rows["new", "2"].contradiction == EXPECTED["2"]


def test_another_response_that_carries_the_nugget_outweighs(olives: Path) -> None:
    with olives.open("a") as file:
        file.write(json.dumps({"run": "new", "question": "prices", "response": OLD}) + "\n")
    for row in kt.score_nuggets(str(olives)).decisions:
        assert (row.support, row.contradiction) == (1, None)


def test_scores_name_contradictions(olives: Path) -> None:
    done = kt.score_nuggets(str(olives), details=True)
    rows = {row.nugget: row.contradiction for row in done.decisions if row.run == "new"}
    assert rows == EXPECTED
    assert all(row.contradiction is None for row in done.decisions if row.run == "old")
    assert any(
        note.startswith("3 guesses were lowered, as the response has") for note in done.notes
    )
    plain = kt.score_nuggets(str(olives), classifier="calibrated:facts=no", details=True)
    assert ":facts=no," in plain.signature
    assert "facts" not in done.signature
    assert all(row.contradiction is None for row in plain.decisions)


def test_the_commands_name_contradictions(output: Output, olives: Path) -> None:
    inputs = ("old", "new", "-k", str(olives))
    text = " ".join(output("nuggets", "score", *inputs, "--nuggets").split())
    assert "Evidence Contradiction Description" in text
    assert "negation:" in text
    report = json.loads(output("nuggets", "diff", *inputs, "-f", "json"))
    contradictions = {row["nugget"]: row["new_contradiction"] for row in report["rows"]}
    assert contradictions == {id: text for id, text in EXPECTED.items() if text}
    assert {row["old_contradiction"] for row in report["rows"]} == {None}
    assert "new: numbers:" in output("nuggets", "diff", *inputs)
    page = olives.with_name("page.html")
    output("nuggets", "score", *inputs, "-o", str(page))
    tooltip = "new does not carry nugget 1 (guessed); numbers: nugget 26%, output 62%"
    assert tooltip in page.read_text()
    assert '"numbers: nugget 26%, output 62%"]' in page.read_text()  # for the script
    output("nuggets", "diff", *inputs, "-o", str(page))
    assert "new: numbers: nugget 26%, output 62%" in page.read_text()
