"""Facts: worked values by language, spelled numbers, planted changes, bad input."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.number_spellers import SPELLERS

from karat.errors import InputError
from karat.facts.comparing import CHECKS, FactChange, fact_changes
from karat.facts.numbers import STRONG, WEAK
from karat.facts.rules import LANGUAGES, rules_for
from karat.facts.texts import text_facts


def numbers(text: str, lang: str = "en") -> list[str]:
    """The words of the numbers that can be changed."""
    facts = text_facts(text, lang)
    return [facts.words_of(x) for x in facts.numbers if x.strength == STRONG]


def values(text: str, lang: str = "en") -> list[object]:
    """The first value of every number that can be changed."""
    return [x.values[0] for x in text_facts(text, lang).numbers if x.strength > WEAK]


def negations(text: str, lang: str = "en") -> list[str]:
    facts = text_facts(text, lang)
    return [facts.words_of(x) for x in facts.negations if x.strength == STRONG]


def names(text: str, lang: str = "en") -> list[str]:
    facts = text_facts(text, lang)
    return [facts.words_of(x) for x in facts.names if x.strength == STRONG]


def evidence(candidate: str, *references: str, lang: str = "en", **more: object) -> list[str]:
    changes = fact_changes(candidate, references, lang, **more)  # type: ignore[arg-type]
    return [change.describe() for change in changes]


# --------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "twenty-five, two thousand three hundred", [25, 2300]),
        ("en", "one hundred and five; nineteen hundred; 5-10 km", [105, 1900, 5, 10]),
        ("en", "12 345 678 and 1'000 and 1,234,567.5", [12345678, 1000, 2469135 / 2]),
        ("en", "$3.5 billion, 3,500 million dollars", [3_500_000_000, 3_500_000_000]),
        ("en", "2019-07-24 at 15:30", [2019, 7, 24, 15, 30]),
        ("en", "٣٤ and ४५ and ７", [34, 45, 7]),
        ("en", "1/2 and 3/4", [1 / 2, 3 / 4]),
        ("de", "zweihundertfünfundzwanzigtausend, 1.234,5", [225_000, 2469 / 2]),
        ("de", "3,5 Millionen Euro um 15.30 Uhr, die zwanzigste", [3_500_000, 15, 30, 20]),
        ("fr", "quatre-vingt-dix-sept, soixante et onze, mille neuf cent", [97, 71, 1900]),
        ("es", "treinta y cinco, doscientos cincuenta mil", [35, 250_000]),
        ("it", "centoventitré, tremila, 3,5 milioni di euro", [123, 3000, 3_500_000]),
        ("pt", "trinta e cinco, duzentos e cinquenta mil", [35, 250_000]),
        ("nl", "vijfentwintig, tweeëntwintig, tweehonderdvijftig", [25, 22, 250]),
        ("ru", "двадцать пять, двести пятьдесят тысяч, 24", [25, 250_000, 24]),
        ("zh", "二十五个人，二〇一九年，3.5亿美元，两千三百公里", [25, 2019, 350_000_000, 2300]),
        ("zh", "百分之五十，12万，十分钟，气温零下5度", [50, 120_000, 10, -5]),
        ("ja", "二十五人、２０１９年、3.5億ドル、十分間", [25, 2019, 350_000_000, 10]),
        ("other", "двадцать пять 25", [25]),
    ],
)
def test_values_of_numbers(lang: str, text: str, expected: list[float]) -> None:
    assert values(text, lang) == expected


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "On Sunday, May 5, or in July 2019"),
        ("de", "Am Sonntag, dem 5. Mai, oder im Juli 2019"),
        ("fr", "Le dimanche 5 mai, ou en juillet 2019"),
        ("es", "El domingo 5 de mayo, o en julio de 2019"),
        ("it", "Domenica 5 maggio, o nel luglio 2019"),
        ("pt", "Domingo, 5 de maio, ou em julho de 2019"),
        ("nl", "Op zondag 5 mei, of in juli 2019"),
        ("ru", "В воскресенье, 5 мая, или в июле 2019"),
        ("zh", "星期日，五月五日，或者2019年7月"),
        ("ja", "日曜日、5月5日、または２０１９年７月"),
    ],
)
def test_dates_agree_between_languages(lang: str, text: str) -> None:
    english = "On Sunday, May 5, or in July 2019"
    assert fact_changes(text, [english], lang, check=["numbers"], reference_lang="en") == ()
    changed = english.replace("May", "June").replace("5", "6")
    flagged = fact_changes(text, [changed], lang, check=["numbers"], reference_lang="en")
    assert len(flagged) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1,000", "1000"),
        ("one thousand", "1000"),
        ("2 million", "2,000,000"),
        ("$5", "5 dollars"),
        ("20%", "20 percent"),
        ("5 km", "5,000 metres"),
        ("3 p.m.", "15:00"),
        ("3rd", "third"),
        ("the 19th century", "the 1800s"),
        ("0.5", "half"),
        ("25", "twenty five"),
        ("10-15", "10 to 15"),
        ("minus 5", "-5"),
        ("2", "both"),
        ("May 3", "3 May"),
        ("a single", "one"),
        ("1.50", "1.5"),
        ("2½ hours", "2.5 hours"),
        ("2 1/2 hours", "2.5 hours"),
        ("two and a half million", "2,500,000"),
        ("half past 3", "3:30"),
        ("½", "half"),
        ("two-thirds", "2/3"),
        ("three quarters", "¾"),
        (".5", "0.5"),
        ("1,00,000", "100,000"),
        ("Louis XIV", "Louis the Fourteenth"),
        ("World War II", "World War Two"),
        ("+1 555 123 4567", "+1 (555) 123-4567"),
        ("5 USD", "$5"),
        ("US$5", "$5"),
    ],
)
def test_forms_of_one_number_agree(first: str, second: str) -> None:
    pair = f"It was {first} there.", f"It was {second} there."
    assert fact_changes(pair[0], [pair[1]]) == fact_changes(pair[1], [pair[0]]) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("5 km", "5 miles"),
        ("$5", "€5"),
        ("$3", "£2"),
        ("5%", "5.5%"),
        ("-5", "5"),
        ("v1.2.3", "v1.2.4"),
        ("mp3", "mp4"),
        ("third", "fourth"),
        ("Monday", "Tuesday"),
        ("1900", "1990"),
        ("1/2", "1/3"),
        ("9" * 50, "9" * 49 + "8"),
        ("15:30", "15:40"),
        ("-" + "9" * 50, "-" + "9" * 49 + "8"),
        ("9" * 50 + " million", "9" * 49 + "8 million"),
        ("½", "¼"),
        ("2½", "3½"),
        ("two and a half", "two"),
        ("two-thirds", "three-quarters"),
        ("Louis XIV", "Louis XVI"),
        (".5", "5"),
    ],
)
def test_other_numbers_do_not(first: str, second: str) -> None:
    pair = f"It was {first} there.", f"It was {second} there."
    (change,) = fact_changes(pair[0], [pair[1]], check=["numbers"])
    assert change.kind == "changed"
    assert change.output
    assert change.reference


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("digits", ["1" * 41, "-" + "1" * 41, "1" * 41 + "k", "1" * 5000])
def test_digits_that_are_too_many_for_a_number_are_text(digits: str, lang: str) -> None:
    assert fact_changes(digits, [digits], lang) == ()
    (change,) = fact_changes(digits, [digits.replace("1", "2", 1)], lang)
    assert (change.check, change.kind) == ("numbers", "changed")


def test_numerals_of_centuries_and_fractions_of_other_languages() -> None:
    assert evidence("le XXIe siècle", "the 21st century", lang="fr", reference_lang="en") == []
    assert evidence("el siglo XXI", "the 21st century", lang="es", reference_lang="en") == []
    for lang, words, digits in [
        ("de", "zweieinhalb Millionen", "2,5 Millionen"),
        ("nl", "tweeënhalf", "2,5"),
        ("es", "dos horas y media", "2½ horas"),
        ("fr", "deux heures et demie", "2:30"),
        ("fr", "deux heures et demie", "2,5 heures"),
        ("ru", "два с половиной", "2,5"),
    ]:
        assert evidence(words, digits, lang=lang) == evidence(digits, words, lang=lang) == []


def test_words_within_names_of_numbers_count_nothing() -> None:
    assert numbers("a one-off, at first, hundreds of them, no one, once") == []
    assert numbers("三明治、一些、万一、四川", "zh") == []
    assert numbers("一番、十分、四国、二度と", "ja") == []


@pytest.mark.parametrize("lang", SPELLERS)
@given(st.integers(0, 999_999), st.integers(0, 999_999))
@example(80, 90)
@example(71, 91)
@example(100, 1000)
@example(1001, 1100)
@example(21, 28)
def test_spelled_numbers_are_read(lang: str, first: int, second: int) -> None:
    spell = SPELLERS[lang]
    (number,) = text_facts(spell(first), lang).numbers
    assert number.values[0] == first
    digits = str(second)
    changes = fact_changes(f"{spell(first)} km", [f"{digits} km"], lang, check=["numbers"])
    assert bool(changes) == (first != second)


words = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "in", "Rome", "and", "ate"]), max_size=8
)


@given(words, words, st.integers(2, 10**9), st.integers(2, 10**9))
def test_another_number_is_always_flagged(
    before: list[str], after: list[str], first: int, second: int
) -> None:
    def text(number: str) -> str:
        return " ".join(["so", *before, number, *after])

    changed = fact_changes(text(str(first)), [text(str(second))], check=["numbers"])
    assert bool(changed) == (first != second)
    grouped = f"{first:,}"
    assert fact_changes(text(grouped), [text(str(first))], check=["numbers"]) == ()
    added = fact_changes(text(str(first)), [text("")], check=["numbers"])
    assert [change.kind for change in added] == ["added"]


# -------------------------------------------------------------------------------- negation


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "He didn't go, can't stay and won’t eat.", ["didn't", "can't", "won’t"]),
        ("en", "She is no longer here, without doubt.", ["no"]),
        ("en", "not only good; no doubt; nonetheless", []),
        ("en", "i do n't , i can 't", ["n't", "'t"]),
        ("en", "neither tea nor milk", ["neither"]),
        ("de", "Er kam nicht und niemand ging ohne Hut.", ["nicht", "niemand", "ohne"]),
        ("de", "nicht nur gut", []),
        ("fr", "Il n'a jamais rien dit.", ["n'"]),
        ("fr", "Personne ne vient sans lui.", ["ne", "sans"]),
        ("fr", "Aucun.", ["Aucun"]),
        ("es", "No vino nadie nunca. ", ["No"]),
        ("es", "Nadie vino.", ["Nadie"]),
        ("it", "Non è venuto nessuno.", ["Non"]),
        ("pt", "Não veio ninguém.", ["Não"]),
        ("nl", "Hij komt niet, zonder geld.", ["niet", "zonder"]),
        ("ru", "Никто не пришёл.", ["не"]),
        ("zh", "他没有来，不过你不知道我别的。", ["没", "不"]),
        ("ja", "彼は来なかった。行かなければならない。", ["なかっ"]),
        ("other", "not nicht", []),
    ],
)
def test_negations(lang: str, text: str, expected: list[str]) -> None:
    assert negations(text, lang) == expected


@pytest.mark.parametrize(
    ("candidate", "reference", "is_flagged"),
    [
        ("He came.", "He did not come.", True),
        ("He didn't come.", "He did not come.", False),
        ("He is not able to come.", "He is unable to come.", False),
        ("He refused to come.", "He did not come.", False),
        ("It never failed.", "It failed.", True),
        ("It isn't hard, and it can be solved.", "It is hard, and cannot be solved.", True),
        ("It cannot be solved, which is hard.", "It is hard, and cannot be solved.", False),
        ("He came without a hat.", "He came with no hat.", False),
        ("I wonʼt come.", "I won't come.", False),
        ("I don`t know.", "I know.", True),
        ("Press `t` now.", "Press `t` then.", False),
        ("It isn't only me.", "It is not only me.", False),
    ],
)
def test_negation_is_compared(candidate: str, reference: str, is_flagged: bool) -> None:
    assert bool(fact_changes(candidate, [reference], check=["negation"])) == is_flagged


@given(words)
def test_an_added_negation_is_flagged(text: list[str]) -> None:
    plain = " ".join(["we go", *text])
    for negated in (plain.replace("we go", "we do not go"), plain.replace("we go", "we never go")):
        assert evidence(negated, plain)[0].startswith("negation: reference none, output ")
        assert evidence(plain, negated)[0].startswith("negation: reference n")


# ----------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "In May, Angela Merkel met people of GitHub.", ["Angela Merkel", "GitHub"]),
        ("en", "The BBC reported. Monday was cold.", ["BBC"]),
        ("en", "TRUE WORDS IN A TITLE OF CAPITALS", []),
        ("de", "Gestern traf Angela Merkel die Regierung mit SAP.", ["Angela Merkel", "SAP"]),
        ("fr", "Hier, Emmanuel Macron a vu Paris.", ["Emmanuel Macron", "Paris"]),
        ("ru", "Он видел Москву.", ["Москву"]),
        ("zh", "他在北京。", []),
    ],
)
def test_names(lang: str, text: str, expected: list[str]) -> None:
    assert names(text, lang) == expected


@pytest.mark.parametrize(
    ("candidate", "reference", "is_flagged"),
    [
        ("He saw Paris.", "He saw London.", True),
        ("He saw the Chinese team.", "He saw the team from China.", False),
        ("He works for the USGS.", "He works for the United States Geological Survey.", False),
        ("He came from the U.S.", "He came from the United States.", False),
        ("He saw Arun Banner.", "He saw Aron Banner.", False),
        ("He flew to Urumqi.", "He flew to Ürümqi.", False),
        ("He saw.", "He saw Paris.", True),
        ("The USA won.", "The United States won.", False),
        ("It cost 5 USD.", "It cost $5.", False),
        ("It cost US$5.", "It cost $5.", False),
        ("It was 5 GB.", "It was 5 gigabytes.", False),
        ("It was for GB.", "It was for Russia.", True),
        ("COVID was here.", "The coronavirus was here.", False),
    ],
)
def test_names_are_compared(candidate: str, reference: str, is_flagged: bool) -> None:
    assert bool(fact_changes(candidate, [reference], check=["names"])) == is_flagged


def test_names_in_short_german_sentences() -> None:
    first, second = "Der Mann traf Angela Merkel.", "Der Mann traf Olaf Scholz."
    flag = "names: reference Olaf Scholz, output Angela Merkel"
    assert evidence(first, second, lang="de") == [flag]
    assert evidence(first.upper(), first, lang="de") == []


# ------------------------------------------------------------------------------ comparison


def test_evidence_names_both_texts() -> None:
    candidate, reference = "The vote was 71 to 4 in Rome.", "The vote was not 17 to 4 in Paris."
    assert evidence(candidate, reference) == [
        "numbers: reference 17, output 71",
        "negation: reference not, output none",
        "names: reference Paris, output Rome",
    ]
    (change,) = fact_changes("It is 71.", ["It is 17."])
    assert change == FactChange("numbers", "changed", "17", "71")


def test_all_references_count_together() -> None:
    references = ["It took 5 days in Rome.", "It took days, 6 at least."]
    assert evidence("It took 6 days.", *references) == []
    assert evidence("It took 7 days.", *references) == ["numbers: reference none, output 7 days"]
    assert evidence("It took days.", *references) == []
    both = ["It took 5 days.", "It took five days."]
    assert evidence("It took days.", *both) == ["numbers: reference 5 days, output none"]
    assert evidence("It took 7 days.", "", " ") == []


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from([*LANGUAGES]))
@example("1" * 6000, "1,2,3" * 500, "en")
@example("\ud800 5", "-", "en")
@example("百" * 200, "零下", "zh")
def test_any_text_is_compared(first: str, second: str, lang: str) -> None:
    assert fact_changes(first, [first], lang) == ()
    changes = fact_changes(first, [second], lang)
    assert {change.check for change in changes} <= {*CHECKS}
    assert all(change.reference or change.output for change in changes)
    fact_changes(first, [second], lang, reference_lang="en")


def test_long_texts_take_time_by_their_length() -> None:
    text = "ne pas 5 km Rome Paris " * 20_000
    other = "ne pas 6 km Rome London " * 20_000
    for lang in ("fr", "en"):
        assert fact_changes(text, [other], lang)


def test_long_texts_of_distinct_facts_take_time_by_their_length() -> None:
    vowels, consonants = "aeiou", "bdklmnpr"
    syllables = product(vowels, consonants, vowels, consonants, "ao")
    names = ["".join(letters) for letters in syllables]
    text, other = (
        ", ".join(f"to {first}{name} {i} {unit}" for i, name in enumerate(names))
        for first, unit in (("W", "km"), ("Z", "miles"))
    )
    changes = fact_changes(text, [other])
    assert sum(change.check == "names" for change in changes) == len(names) == 3200
    assert sum(change.check == "numbers" for change in changes) > 3000


def test_unknown_language() -> None:
    with pytest.raises(InputError, match="language 'xx': expected one of en, de, "):
        rules_for("xx")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_rules_of_a_language(lang: str) -> None:
    rules = rules_for(lang)
    if lang == "other":
        assert not rules.cardinals
        return
    assert rules.negations is not None
    assert set(rules.months.values()) == (set() if rules.is_han else set(range(1, 13)))
    if not rules.is_han:
        assert {*range(1, 13), 100} <= {*rules.cardinals.values()}
        assert rules.common
        assert not {*rules.cardinals} & {*rules.support} - {"een", "sei"}
    assert {unit.name for unit in rules.units.values()} >= {"percent", "km", "year"}
