"""Words that a response shares with nuggets."""

from __future__ import annotations

from karat.nuggets.scores.words import ResponseWord, excerpt, words_with_nuggets
from karat.nuggets.sets.keys_and_runs import Nugget


def words_with_support(text: str, nugget: Nugget) -> list[ResponseWord]:
    return words_with_nuggets(text, [nugget])


def test_words_that_speak_keep_their_places() -> None:
    text = "\tThe LAMP,  turned\x1b[31m on\n"
    words = words_with_support(text, Nugget("1", ("a lamp", "it turns")))
    assert [(word.text, bool(word.nuggets)) for word in words] == [
        ("The", False),
        ("LAMP,", True),
        ("turned\x1b[31m", False),
        ("on", False),
    ]
    assert all(text[word.start : word.end] == word.text for word in words)
    assert words_with_support("", Nugget("1", ("a",))) == []


def test_words_tell_all_nuggets_that_they_speak_for() -> None:
    nuggets = [Nugget("1", ("a lamp turns",)), Nugget("2", ("bees",)), Nugget("3", ("lamps",))]
    words = [(word.text, word.nuggets) for word in words_with_nuggets("Lamps and bees", nuggets)]
    assert words == [("Lamps", [0, 2]), ("and", []), ("bees", [1])]
    assert [word.text for word in words_with_nuggets("no nuggets", [])] == ["no", "nuggets"]


def test_chinese_characters_are_words() -> None:
    nugget = Nugget("1", ("設計燈塔",))
    words = words_with_support("她設計燈塔 lens。", nugget)
    assert [word.text for word in words if word.nuggets] == list("設計燈塔")
    assert words[-1].text == "lens。"


def test_an_excerpt_is_where_most_words_speak_for_the_nugget() -> None:
    nugget = Nugget("1", ("the red lens of glass",))
    short = "A red  lens."
    assert excerpt(short, nugget) == short
    text = " ".join([*["before"] * 50, "a red lens", *["between"] * 4, "of glass", *["after"] * 50])
    excerpt_text = excerpt(text, nugget, max_words=13)
    assert excerpt_text == f"… before a red lens {'between ' * 4}of glass after after after …"
    assert excerpt(text, Nugget("2", ("nothing",)), max_words=5).count("before") == 5
    assert excerpt("", nugget) == ""
