"""Planted errors: each kind by its rule, in several languages, deterministic, read back."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from random import Random

import pytest

import karat as kt
from karat.cli.main import main
from karat.errors import InputError, OutputError
from karat.meta.planting import PLANTERS, _Place, find_names, language_rules, languages
from karat.meta.settings import PHENOMENA

FRIEND = "On Monday, Ada Lovelace wrote to Charles Babbage in London about 12 machines."
WMT = Path(os.environ.get("KARAT_DATA", "/nowhere")) / "mt-wmt23-ende"


def plant(
    phenomenon: str, text: str, lang: str = "en", seed: int = 1, **more: object
) -> str | None:
    place = _Place(text, language_rules(lang), Random(seed), **more)  # type: ignore[arg-type]
    return PLANTERS[phenomenon](place)


def pairs_of(challenge: kt.ChallengeSet, phenomenon: str) -> list[kt.ChallengePair]:
    return [pair for pair in challenge.pairs if pair.phenomenon == phenomenon]


# --------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize("seed", range(20))
def test_a_number_is_replaced_by_one_of_as_many_digits(seed: int) -> None:
    bad = plant("number", "He paid 1750 euros.", seed=seed)
    number = re.fullmatch(r"He paid ([1-9][0-9]{3}) euros\.", bad or "")
    assert number
    assert number[1] != "1750"


def test_number_words_are_replaced_in_the_language_and_keep_their_capital() -> None:
    assert re.fullmatch(
        r"[A-ZÄÖÜ]\w+ Hunde bellen\.", plant("number", "Drei Hunde bellen.", "de") or ""
    )
    assert plant("number", "Drei Hunde bellen.", "en") is None
    assert plant("number", "三天以后", "zh") not in (None, "三天以后")
    assert plant("number", "三聚氰胺", "zh") is None  # part of a word
    assert plant("number", "A7 and B2B", "en") is None  # parts of names


@pytest.mark.parametrize(
    ("lang", "good", "bad"),
    [
        ("en", "The door is open.", "The door is not open."),
        ("en", "The door is not open.", "The door is open."),
        ("en", "She didn’t go.", "She did go."),
        ("en", "You can't swim.", "You can swim."),
        ("en", "Is it open?", None),
        ("en", "Nobody can swim.", None),
        ("en", "Open the door.", None),
        ("de", "Das Haus ist alt.", "Das Haus ist nicht alt."),
        ("de", "Kein Hund bellt.", "Ein Hund bellt."),
        ("fr", "La porte est ouverte.", "La porte n'est pas ouverte."),
        ("fr", "La porte n’est pas ouverte.", "La porte est ouverte."),
        ("es", "La puerta está abierta.", "La puerta no está abierta."),
        ("it", "La porta non è aperta.", "La porta è aperta."),
        ("pt", "A porta não está aberta.", "A porta está aberta."),
        ("nl", "Ik heb een hond.", "Ik heb geen hond."),
        ("ru", "Он может прийти.", "Он не может прийти."),
        ("zh", "这是真的。", "这不是真的。"),
        ("zh", "这不是真的。", "这是真的。"),
        ("zh", "但我们开会议。", None),
        ("ja", "雨が降りました。", "雨が降りませんでした。"),
        ("ja", "雨が降りません。", "雨が降ります。"),
    ],
)
def test_negation_follows_the_language(lang: str, good: str, bad: str | None) -> None:
    assert plant("negation", good, lang) == bad


def test_names_are_runs_of_capitals_within_a_sentence() -> None:
    rules = language_rules("en")
    names = [match[0] for match in find_names(FRIEND, rules)]
    assert names == ["Ada Lovelace", "Charles Babbage", "London"]
    assert find_names("The Last Man On Earth", rules) == []  # a title
    assert [m[0] for m in find_names("It is Ada's engine. Then I left.", rules)] == ["Ada"]
    assert find_names(FRIEND, language_rules("de")) == []


def test_a_name_is_replaced_by_one_of_as_many_words_from_another_text() -> None:
    names = ["Ada Lovelace", "Alan Turing", "Paris"]
    changed = {
        plant("name", FRIEND, seed=seed, names=names, avoided_texts=[FRIEND]) for seed in range(20)
    }
    assert changed == {
        FRIEND.replace("Ada Lovelace", "Alan Turing"),
        FRIEND.replace("Charles Babbage", "Alan Turing"),
        FRIEND.replace("London", "Paris"),
    }


@pytest.mark.parametrize("seed", range(10))
def test_general_errors_change_only_what_they_say(seed: int) -> None:
    text = "One two three four five six seven eight, nine ten."
    words = text[:-1].split()
    truncated = plant("truncation", text, seed=seed) or ""
    assert text.startswith(truncated)
    assert 5 <= len(truncated.split()) <= 7
    omitted = (plant("omission", text, seed=seed) or "")[:-1].split()
    assert 7 <= len(omitted) < 10
    assert [word for word in words if word in omitted] == omitted
    ordered = (plant("word order", text, seed=seed) or "")[:-1].split()
    assert sorted(ordered) == sorted(words)
    assert ordered != words
    repeated = (plant("repetition", text, seed=seed) or "")[:-1].split()
    assert 11 <= len(repeated) <= 13
    assert list(dict.fromkeys(repeated)) == words
    added = plant("addition", text, seed=seed, other_texts=["a b c d e f g.", text]) or ""
    extra = [word for word in added[:-1].split() if word not in words]
    assert 2 <= len(extra) <= 5
    assert "".join(extra) in "abcdefg"
    assert added.endswith("ten.")


def test_casing_and_punctuation() -> None:
    assert plant("casing", "Ada SAW it.") == "ada saw it."
    assert plant("punctuation", "Well, it's 9.40 (or so)!") == "Well it's 9.40 or so"
    assert plant("punctuation", "你好，世界。", "zh") == "你好世界"


def test_every_phenomenon_has_a_planter_and_every_language_its_rules() -> None:
    assert list(PLANTERS) == list(PHENOMENA)
    assert languages() == ["de", "en", "es", "fr", "it", "ja", "nl", "pt", "ru", "zh"]
    for lang in languages():
        rules = language_rules(lang)
        assert rules.negations
        assert rules.numbers
        assert rules.negators
        for phrase, negation in rules.negations:
            assert phrase != negation


# --------------------------------------------------------------------------------- whole sets


def test_good_texts_are_the_second_reference_and_the_others_are_compared_with() -> None:
    demo = kt.load_evalset("demo")
    challenge = kt.make_challenge(demo)
    assert {pair.phenomenon for pair in challenge.pairs} == {*PHENOMENA} - {"name"}
    for pair in challenge.pairs:
        references = demo.references[demo.segments.index(pair.item)]
        assert pair.good == references[1]
        assert pair.references == (references[0], *references[2:])
        assert pair.bad not in (pair.good, *references)
        assert pair.severity == PHENOMENA[pair.phenomenon]
    assert challenge.notes == ("No text offers a place for name.",)


def test_outputs_of_a_system_are_good_texts_on_demand() -> None:
    demo = kt.load_evalset("demo")
    challenge = kt.make_challenge("demo", system="atlas", phenomena=["truncation"])
    assert {pair.good for pair in challenge.pairs} <= set(demo.systems["atlas"])
    assert challenge.pairs[0].references == tuple(demo.references[0])


def test_a_single_reference_is_its_own_good_text_and_a_note_says_so(tmp_path: Path) -> None:
    demo = kt.load_evalset("demo").select(references=[0])
    challenge = kt.make_challenge(demo)
    assert all(pair.references == (pair.good,) for pair in challenge.pairs)
    assert challenge.notes[-1].startswith("12 of 12 good texts are references themselves")
    assert challenge.notes[-1] in kt.meta_challenge(challenge, "chrf").notes
    challenge.save(tmp_path / "planted.csv")
    (note,) = kt.read_challenge(tmp_path / "planted.csv").notes
    assert note.startswith("In all ")
    assert "the good text is a reference itself" in note


def test_the_seed_decides_and_phenomena_do_not_depend_on_each_other() -> None:
    first, again = (kt.make_challenge("demo", seed=3) for _ in range(2))
    assert first.pairs == again.pairs
    assert first.pairs != kt.make_challenge("demo", seed=4).pairs
    alone = kt.make_challenge("demo", seed=3, phenomena=["word order"])
    assert list(alone.pairs) == pairs_of(first, "word order")


def test_letters_that_match_others_by_case_are_planted_in() -> None:
    """Python's patterns take ı and İ for i, and ſ for s, where case does not count."""
    texts = ["It ıs here.", "Thiſ iſ ſo.", "İt İs not, we ſhould not go.", "It ıs not \u212aim."]
    rows = [{"id": i, "reference": text, "output": "x"} for i, text in enumerate(texts)]
    challenge = kt.make_challenge(rows, phenomena=["negation", "number"])
    assert len(pairs_of(challenge, "negation")) == len(texts)


def test_rules_that_a_language_lacks_are_named() -> None:
    german = kt.make_challenge("demo", lang="de")
    assert pairs_of(german, "name") == []
    assert german.notes[0] == "Left out: name, which the rules for de do not cover."
    unknown = kt.make_challenge("demo", lang="xh")
    assert unknown.notes[:2] == (
        "Left out: negation and name, which the rules for xh do not cover.",
        "Only digits are changed: there are no number words for xh.",
    )
    assert pairs_of(unknown, "omission")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_saved_set_is_read_back(tmp_path: Path, ending: str) -> None:
    challenge = kt.make_challenge("demo")
    path = tmp_path / f"planted.{ending}"
    challenge.save(path)
    assert kt.read_challenge(path).pairs == challenge.pairs
    with pytest.raises(OutputError, match="exists already"):
        challenge.save(path)


def test_a_set_can_be_corrected_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "planted.csv"
    assert main(["data", "challenge", "demo", str(path), "--phenomenon", "negation"]) == 0
    rows = [*csv.DictReader(path.open(encoding="utf-8", newline=""))]
    rows[0]["bad"] = "Corrected."
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows[:3])
    challenge = kt.read_challenge(path)
    assert len(challenge) == 3
    assert challenge.pairs[0].bad == "Corrected."


def test_metrics_notice_what_they_must() -> None:
    result = kt.meta_challenge(kt.make_challenge("demo"), ["rouge1", "chrf"])
    shown = {(row.metric, row.phenomenon): row for row in result.rows}
    assert shown["rouge1", "word order"].ties == 1.0
    assert shown["rouge1", "casing"].ties == 1.0
    assert shown["chrf", "truncation"].accuracy == 1.0
    assert shown["chrf", "truncation"].verdict == "noticed"


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lang": "English"}, "lang='English': expected a code such as en, de or zh"),
        ({"lang": "../x"}, "expected a code"),
        ({"system": "atlsa"}, r"has no system 'atlsa'; did you mean atlas\?"),
        ({"phenomena": ["typo"]}, "typo"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kt.make_challenge("demo", **settings)  # type: ignore[arg-type]


def test_sets_without_references_need_a_system() -> None:
    bare = kt.make_evalset("bare", {"a": ["one two three four", "five six seven eight"]})
    with pytest.raises(
        InputError, match="bare has no references to plant errors in: name a system"
    ):
        kt.make_challenge(bare)
    challenge = kt.make_challenge(bare, system="a", phenomena=["omission"])
    assert {pair.references for pair in challenge.pairs} == {()}
    with pytest.raises(InputError, match="no text offers a place for number"):
        kt.make_challenge(bare, system="a", phenomena=["number"], lang="xh")


def test_the_command_checks_its_file_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "challenge", "demo", str(tmp_path / "planted.xlsx")]) == 2
    assert "use one of .csv, .tsv, .jsonl" in capsys.readouterr().err
    assert main(["data", "challenge", "demo", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
