"""Judging in a real browser, by the keyboard: one server and one browser for all tests.

Every assessor has a context of the browser, and every test an assessor of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.store_rows import history
from studio.web.browser_page import WIDER
from studio.web.person import Person, rows, values
from studio.web.studio_server import SYSTEMS, StudioServer, write_set

from karat.studio.store.store import Store

PEOPLE = ("ada", "ben", "cy", "dee", "eli", "fay")
INVITED = [word for name in PEOPLE for word in ("--assessor", name)]


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    folder = tmp_path_factory.mktemp("ratings")
    options = ("-d", "quality", "--scale", "7", "--scale", "fluency-100", "--overlap", "9")
    show_options = ("--show", "source", "--show", "reference")
    server = StudioServer(folder, write_set(folder), *options, *show_options, *INVITED)
    yield server
    server.stop()


def test_twenty_ratings_by_two_assessors_in_different_orders(
    browser: Any, ratings: StudioServer
) -> None:
    ada, ben = (Person(browser, ratings, name) for name in ("ada", "ben"))
    orders: dict[str, list[str]] = {"ada": [], "ben": []}
    for k in range(20):
        orders["ada"].append(ada.output())
        ada.press(str(k % 7 + 1), *str(40 + k))
        ada.go_on()
    for _ in range(3):
        orders["ben"].append(ben.output())
        ben.press("7", "9", "9")
        ben.go_on()
    answers = values(ratings, "ada")
    assert [answer["ratings"] for answer in answers] == [
        {"quality": k % 7 + 1, "fluency": 40 + k} for k in range(20)
    ]
    assert len({*orders["ada"]}) == 20
    assert orders["ada"][:3] != orders["ben"]
    assert all(0 < row.ms < 600_000 for row in rows(ratings, "ada"))
    assert ada.count() == "20 of 90"
    # Nothing names a system, and no text that was quoted ran.
    for person in (ada, ben):
        received = person.received()
        assert not any(name in text for text in received for name in SYSTEMS)
        assert any("output" in text for text in received)
        assert person.faults == []
        assert person.page.evaluate("window.hostile") is None
        assert person.page.locator("#judge script, #judge img").count() == 0
    assert "<script>hostile=1</script>" in ada.page.text_content("#judge .beside")


def test_comments_undo_and_going_back(browser: Any, ratings: StudioServer) -> None:
    cy = Person(browser, ratings, "cy")
    first = cy.output()
    cy.press("?")
    assert "pause" in cy.page.inner_text("#keys")
    cy.press("?")
    assert not cy.page.is_visible("#keys")
    cy.press("3", "5", "0", "Escape", "c")
    cy.page.keyboard.type("b u 7 <b>bold</b>?")  # keys of the page are letters here
    cy.press("Escape")
    cy.go_on()
    (row,) = rows(ratings, "cy")
    assert row.value == {
        "ratings": {"quality": 3, "fluency": 50},
        "comment": "b u 7 <b>bold</b>?",
        "done": True,
    }
    cy.press("b")
    cy.page.wait_for_function(
        "first => document.querySelector('#judge .output .text').textContent === first", arg=first
    )
    assert cy.page.input_value("textarea") == "b u 7 <b>bold</b>?"
    cy.press("6", "Escape", "u")
    cy.saved()
    assert cy.page.is_checked("input[name=d0][value='3']")
    cy.press("Enter")
    cy.saved()
    sent = [row.value["ratings"] for row in rows(ratings, "cy", history) if row.value]
    assert {"quality": 6, "fluency": 50} in sent
    assert values(ratings, "cy")[0]["ratings"] == {"quality": 3, "fluency": 50}


def test_a_comment_and_a_revision_stay_with_their_item(browser: Any, ratings: StudioServer) -> None:
    fay = Person(browser, ratings, "fay")
    first = fay.output()
    fay.press("3", "5", "0")
    fay.go_on()
    second = fay.output()
    fay.press("c")
    fay.page.keyboard.type("of the second")
    fay.press("Escape", "b")  # before the comment has rested
    shows = "text => document.querySelector('#judge .output .text').textContent === text"
    fay.page.wait_for_function(shows, arg=first)
    assert fay.page.input_value("textarea") == ""
    # A finished answer that is revised stays finished; a number off the scale is told.
    fay.press("6")
    fay.saved()
    assert values(ratings, "fay") == [{"ratings": {"quality": 6, "fluency": 50}, "done": True}]
    fay.page.fill("input[type=number]", "150")
    fay.press("Enter")
    assert fay.page.text_content("#told") == "Type a number from 0 to 100 for fluency."
    fay.page.fill("input[type=number]", "51")
    fay.press("Enter")
    fay.page.wait_for_function(shows, arg=second)
    assert fay.page.input_value("textarea") == "of the second"
    assert values(ratings, "fay") == [{"ratings": {"quality": 6, "fluency": 51}, "done": True}]


def test_a_lost_connection_a_reload_and_a_killed_server_lose_nothing(
    browser: Any, ratings: StudioServer
) -> None:
    dee = Person(browser, ratings, "dee")
    text = dee.output()
    dee.press("4")
    dee.saved()
    ratings.kill()
    dee.press("3", "0", "Escape", "ArrowUp", "5")
    dee.page.wait_for_selector("#saved.waiting")
    dee.page.wait_for_function(
        "() => document.getElementById('saved').textContent.startsWith('Not saved yet')"
    )
    n_kept = dee.page.evaluate("Object.keys(localStorage).length")
    assert n_kept == 2
    ratings.start()
    dee.page.reload()
    dee.page.wait_for_selector("#judge .output")
    dee.saved()
    assert dee.output() == text
    assert dee.page.is_checked("input[name=d0][value='5']")
    assert dee.page.evaluate("Object.keys(localStorage).length") == 0
    # Answers that get lost on the way are sent again, and stored once.
    lost = iter([True, True])
    dee.page.route(
        "**/api/judgements",
        lambda route: (route.fetch(), route.abort()) if next(lost, False) else route.continue_(),
    )
    dee.go_on()
    judgements = rows(ratings, "dee", history)
    assert [row.value["ratings"].get("quality") for row in judgements] == [4, 4, 5, 5]
    assert [row.value.get("done") for row in judgements] == [False, False, False, True]
    with Store.reading(ratings.store) as store:
        assert store.check().problems == ()


def test_phone_width_and_dark_mode(browser: Any, ratings: StudioServer) -> None:
    eli = Person(
        browser, ratings, "eli", viewport={"width": 390, "height": 800}, color_scheme="dark"
    )
    assert eli.page.evaluate(WIDER) == 0
    eli.page.click("input[name=d0][value='2']")
    eli.page.click("#next")  # leads to what is missing, and tells it where it is seen
    assert eli.page.text_content("#told") == "Rate fluency first."
    assert eli.page.evaluate("document.activeElement.name") == "d1"
    alert_box = eli.page.locator("#told").bounding_box()
    assert alert_box["y"] + alert_box["height"] <= 800
    eli.page.fill("input[type=number]", "10")
    eli.page.click("#pause")
    assert not eli.page.is_visible("#judge .output")
    eli.page.click("#pause")
    eli.page.click("#next")
    eli.page.wait_for_function(
        "() => document.getElementById('count').textContent.startsWith('1 of')"
    )
    assert values(ratings, "eli")[0]["ratings"] == {"quality": 2, "fluency": 10}
    unnamed = "[...document.querySelectorAll('button,input,textarea')].filter(one => !one.labels?.length && !one.ariaLabel && !one.textContent.trim()).length"  # noqa: E501
    assert eli.page.evaluate(unnamed) == 0


SHOWN = """[...document.querySelectorAll("fieldset :is(b, small, span, strong)")]
  .filter((one) => one.offsetWidth > 1)"""
BROKEN = f"""{SHOWN}.flatMap((one) =>
  [...one.childNodes].filter((node) => node.nodeType === 3).flatMap((node) =>
    [...node.data.matchAll(/[^\\s-]+/g)].filter((word) => {{
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      return range.getClientRects().length > 1;
    }}).map((word) => word[0])))"""
"""Words that a line break cuts."""


def test_words_of_scales_are_whole_at_every_width(browser: Any, tmp_path: Any) -> None:
    scale_names = ("quality-7", "understandability-7", "fluency-5", "dissimilarity-5")
    options = [word for name in scale_names for word in ("--scale", name)]
    server = StudioServer(tmp_path, write_set(tmp_path, 3), *options)
    try:
        owner = Person(browser, server, "owner", viewport={"width": 390, "height": 800})
        for width in (320, 390, 640, 800, 900, 1300):
            owner.page.set_viewport_size({"width": width, "height": 800})
            assert owner.page.evaluate(BROKEN) == []
            labels = owner.page.evaluate(f"{SHOWN}.map((one) => one.textContent)")
            assert sum("Incomprehensible" in text for text in labels) == 1
            assert owner.page.evaluate(WIDER) == 0
    finally:
        server.stop()


def test_twenty_nuggets_by_keys(browser: Any, tmp_path: Any) -> None:
    server = StudioServer(tmp_path, "demo-nuggets", "--assessor", "ada")
    try:
        ada = Person(browser, server, "ada")
        ada.press("ArrowRight", "ArrowRight", "Shift+ArrowRight", "e")
        for _ in range(3):
            count = ada.page.locator(".nuggets > li").count()
            for k in range(count):
                ada.press("ypn"[k % 3])
            ada.go_on()
        answers = values(server, "ada")
        labels = [label["label"] for value in answers for label in value["nuggets"].values()]
        assert len(labels) >= 20
        assert labels[:4] == ["support", "partial", "none", "support"]
        first = next(iter(answers[0]["nuggets"].values()))
        assert len(first["evidence"]) == 1
    finally:
        server.stop()


@pytest.mark.parametrize("task", ["pairs", "spans"])
def test_pairs_and_spans_by_keys(browser: Any, tmp_path: Any, task: str) -> None:
    scheme = ("--scheme", "mqm") if task == "spans" else ()
    server = StudioServer(tmp_path, write_set(tmp_path, 3), "--task", task, *scheme)
    try:
        owner = Person(browser, server, "owner")
        if task == "pairs":
            for key in ("ArrowLeft", "2", "t"):
                owner.press(key)
                owner.go_on()
            assert [part["choice"] for part in values(server, "owner")] == [
                "first",
                "second",
                "tie",
            ]
            return
        owner.press("ArrowRight", "Shift+ArrowRight", "2", "a", "ArrowLeft", "3", "b")
        owner.page.dblclick("#judge .output .text", position={"x": 30, "y": 25})
        owner.press("1", "c")
        assert owner.page.locator(".spans li").count() == 3
        owner.press("x")
        owner.go_on()
        (value,) = values(server, "owner")
        assert [part["severity"] for part in value["spans"]] == ["minor", "major"]
        assert value["spans"][0]["category"] == "Accuracy/Addition"
        assert (value["spans"][0]["start"], value["spans"][0]["end"]) == (0, 8)
        assert value["spans"][1]["start"] == 0  # the same word again: spans may overlap
        assert owner.faults == []
    finally:
        server.stop()
