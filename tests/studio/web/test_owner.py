"""The owner's page: numbers that are live, invitations, freeze and reveal, exports, the trail.

One server for all: the tests stand in the order of a project, which is open, then revealed.
"""

from __future__ import annotations

import http.client
import io
import zipfile
from collections.abc import Iterator
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.judged_store import judge_all, make_store, nugget_texts, texts
from studio.store_rows import events
from studio.web.browser_page import Visitor
from studio.web.judged_server import judged_server
from studio.web.studio_server import SYSTEMS, Client, StudioServer

from karat.studio.live import Coverage, LiveAgreement, LiveEstimate, ask_estimates, coverage
from karat.studio.store.people import assessors, invite
from karat.studio.store.projects import project
from karat.studio.store.store import Store
from karat.studio.web.calls import page
from karat.studio.web.owner import live_view, nothing_is_estimated, summary_sentences, warnings


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    judged = judged_server(tmp_path_factory.mktemp("owned"), "ratings", 6, most=10)
    yield judged
    judged.stop()


@pytest.fixture
def owner(browser: Any, server: StudioServer) -> Visitor:
    return Visitor(browser, server, "owner")


def agreed(shared: int = 10, **alphas: float) -> Any:
    rows = [
        SimpleNamespace(dimension=name, ordinal=value, shared=shared)
        for name, value in alphas.items()
    ]
    return LiveAgreement(SimpleNamespace(rows=rows, judges=()), None, None)  # type: ignore[arg-type]


NOTHING = LiveAgreement(None, None, None)
UNKNOWN = "Too few shared units to judge agreement: 0 so far, 10 needed."
EQUAL = "Agreement cannot be computed: all answers on shared units are equal."


@pytest.mark.parametrize(
    ("counts", "agreement", "state", "sentences"),
    [
        (
            Coverage(90, 0, 0, 1, 0, 90, 0, 0),
            NOTHING,
            "open",
            ["0 of 90 units are judged (0%).", UNKNOWN, "Still needed: 90 judgements."],
        ),
        (
            Coverage(90, 60, 30, 2, 90, 91, 1, 4),
            agreed(quality=0.517, fluency=nan),
            "open",
            [
                "60 of 90 units are judged (66%), 30 of them by 2 assessors as planned.",
                "Krippendorff's ordinal alpha is 0.52 in quality; 1 is perfect, 0 is chance.",
                "Still needed: 91 judgements and decisions on 1 dispute.",
            ],
        ),
        (
            Coverage(5, 5, 5, 1, 5, 0, 0, 0),
            agreed(quality=nan),
            "open",
            ["5 of 5 units are judged (100%).", EQUAL, "Nothing is needed any more."],
        ),
        (
            Coverage(1000, 999, 999, 1, 999, 1, 0, 0),
            agreed(shared=9, quality=1.0),
            "open",
            [
                "999 of 1,000 units are judged (99%).",
                "Too few shared units to judge agreement: 9 so far, 10 needed.",
                "Still needed: 1 judgement.",
            ],
        ),
        (
            Coverage(1000, 1, 0, 2, 1, 1999, 0, 0),
            agreed(shared=1, quality=nan, fluency=nan),
            "open",
            [
                "1 of 1,000 units is judged (under 1%), 0 of them by 2 assessors as planned.",
                "Too few shared units to judge agreement: 1 so far, 10 needed.",
                "Still needed: 1,999 judgements.",
            ],
        ),
        (
            Coverage(20, 20, 20, 2, 40, 0, 1, 0),
            LiveAgreement(agreed(quality=0.4).ratings, None, agreed(shared=2, nugget=1.0).ratings),
            "open",
            [
                "20 of 20 units are judged (100%), 20 of them by 2 assessors as planned.",
                "Krippendorff's ordinal alpha is 0.40 in quality; 1 is perfect, 0 is chance. "
                "Too few shared units in nugget (2 so far).",
                "Still needed: decisions on 1 dispute.",
            ],
        ),
        (
            Coverage(5, 4, 4, 1, 4, 1, 2, 0),
            agreed(a=1.0, b=-0.25),
            "frozen",
            [
                "4 of 5 units are judged (80%).",
                "Krippendorff's ordinal alpha is 1.00 in a, -0.25 in b; 1 is perfect, 0 is chance.",
                "The project is frozen. Still needed: decisions on 2 disputes.",
            ],
        ),
        (
            Coverage(5, 5, 5, 1, 5, 0, 2, 0),
            NOTHING,
            "revealed",
            ["5 of 5 units are judged (100%).", UNKNOWN, "The project is revealed."],
        ),
    ],
)
def test_the_answer(counts: Coverage, agreement: Any, state: str, sentences: list[str]) -> None:
    assert summary_sentences(counts, agreement, state) == sentences


def test_one_output_of_two_assessors_tells_no_agreement(tmp_path: Path) -> None:
    with make_store(tmp_path / "store", texts(1, 1), people=0, overlap=2) as store:
        invite(store, "olga", "owner")
        owner = next(person.id for person in assessors(store) if person.role == "owner")
        for name, counted in (("ann", "1 judgement, 0 disputes"), ("bob", "2 judgements, 0 disp")):
            invite(store, name)
            judge_all(store, seed=len(counted))
            view = live_view(store, owner)
            assert counted in bytes(page("owner_live.html", **view).body).decode()
            assert view["answer"][0].startswith("1 of 1 unit is judged (100%), ")
            shared = "1 so far" if name == "bob" else "0 so far"
            assert view["answer"][1] == UNKNOWN.replace("0 so far", shared)
        assert len({row.mean for row in view["agreement"][0].judges}) > 1  # they differ


LABELLED = "Every segment of every system is labelled."


@pytest.mark.parametrize(
    ("segments", "judged", "complete"),
    [(6, 9, False), (6, 18, False), (12, 18, False), (12, 35, False), (12, 36, True)],
)
def test_labelled_segments_are_all_of_them(
    tmp_path: Path, segments: int, judged: int, complete: bool
) -> None:
    """Six segments are too few for an estimate, whether or not they are all judged."""
    with make_store(tmp_path / "store", texts(segments, 3), people=1) as store:
        judge_all(store, most=judged)
        invite(store, "olga", "owner")
        owner = next(person.id for person in assessors(store) if person.role == "owner")
        ask_estimates(store, owner)
        view = live_view(store, owner)
        assert view["coverage"].judged == judged
        html = bytes(page("owner_live.html", **view).body).decode()
        assert (LABELLED in html) is complete
        assert ("label at least 10" in html) is (judged < 20)


def estimated(*rows: tuple[int, int, float], notes: tuple[str, ...] = ()) -> LiveEstimate:
    """An estimate with labels, units and the upper end of an interval from 0 for each system."""
    systems = [
        SimpleNamespace(labels=labels, units=units, low=0.0, high=high)
        for labels, units, high in rows
    ]
    return LiveEstimate("quality", SimpleNamespace(rows=systems, notes=notes))  # type: ignore[arg-type]


def test_nothing_is_estimated_only_where_nothing_is() -> None:
    complete = estimated((12, 12, 0.0), (12, 12, 0.0))
    assert nothing_is_estimated([complete])
    assert not nothing_is_estimated([])
    assert not nothing_is_estimated([complete, LiveEstimate("fluency", None, "too few labels")])
    assert not nothing_is_estimated([complete, estimated()])
    assert not nothing_is_estimated([estimated((12, 12, 0.0), (11, 12, 0.0))])
    assert not nothing_is_estimated([estimated((12, 12, 0.1))])
    assert not nothing_is_estimated([estimated((12, 12, 0.0), notes=("Left out: system 2.",))])


def test_sentences_on_a_page_of_which_nothing_is_judged(tmp_path: Path) -> None:
    with make_store(tmp_path / "store", texts(12, 2), people=2) as store:
        invite(store, "olga", "owner")
        owner = next(person.id for person in assessors(store) if person.role == "owner")
        before = bytes(page("owner_live.html", **live_view(store, owner)).body).decode()
        judge_all(store)
        after = bytes(page("owner_live.html", **live_view(store, owner)).body).decode()
    for sentence in ("No unit is judged yet.", "There are no open disputes.", UNKNOWN):
        assert sentence in before
        assert sentence not in after
    for sentence in ("Krippendorff&#39;s ordinal alpha is ", "Decide "):
        assert sentence not in before
        assert sentence in after


def test_warnings_name_who_stands_apart() -> None:
    rows = [
        SimpleNamespace(judge="assessor-1", identical="assessor-2", flagged=False, dimension="a"),
        SimpleNamespace(judge="assessor-3", identical=None, flagged=True, dimension="a"),
        SimpleNamespace(judge="assessor-4", identical=None, flagged=False, dimension="a"),
    ]
    assert warnings(SimpleNamespace(judges=rows)) == [  # type: ignore[arg-type]
        "assessor-1 and assessor-2 gave the same answers (a).",
        "assessor-3 disagrees with the others in a.",
    ]


def test_nuggets_have_kappa(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", nugget_texts(), people=2, tasks={"nuggets": {}})
    judge_all(store, most=3)
    owner = len(assessors(store)) + 1
    invite(store, "olga", "owner")
    view = live_view(store, owner)
    assert [(row.first, row.second) for row in view["kappa"].pairs] == [
        ("assessor-1", "assessor-2")
    ]
    assert "which is recorded" in view["hidden"]
    assert view["coverage"].answers == 6
    store.close()


def test_the_page_is_live_and_names_no_system(owner: Visitor, server: StudioServer) -> None:
    with Store.reading(server.store) as store:
        before = coverage(store)
    assert (before.units, before.overlap, before.answers) == (18, 3, 30)
    assert before.needed == 54 - 30
    owner.open("/owner")
    assert "Still needed: 24 judgements" in owner.page.text_content(".answer")
    owner.page.click("#each-assessor summary")
    owner.page.focus("#live .scroll")
    ann = Client(server, "ann")
    ann.judge(ann.next(), {"ratings": {"quality": 5, "fluency": 5}})
    owner.page.wait_for_function(
        "() => document.querySelector('.answer').textContent.includes('23 judgements')"
    )
    assert owner.page.evaluate("document.activeElement.className") == "scroll"
    assert owner.page.is_visible("#each-assessor table")  # what was open stays open
    assert owner.page.locator("#estimates-title ~ div").count() == 0  # not before it is asked for
    owner.page.focus("#ask-estimates")
    owner.press("Enter")
    owner.page.wait_for_selector("text=Systems have pseudonyms until the reveal.")
    owner.check_inert()
    assert not any(name in text for text in owner.received() for name in SYSTEMS)
    with Store.reading(server.store) as store:
        assert [event.what for event in events(store)].count("estimates") == 1


def test_links_are_renewed_and_exports_wait_for_the_reveal(server: StudioServer) -> None:
    owner, ann = Client(server, "owner"), Client(server, "ann")
    before = server.links["ann"]
    fresh = owner.ask("POST", "/api/owner/renew", {"assessor": 1}).json["link"]
    assert Client(server, None).ask("GET", before).status == 403
    assert Client(server, None).ask("GET", fresh).status == 200
    assert ann.ask("GET", "/api/progress").status == 401
    for wrong in (99, "1", None, [1]):
        assert owner.ask("POST", "/api/owner/renew", {"assessor": wrong}).status == 422
    assert owner.ask("POST", "/api/owner/withdraw", {"assessor": 5}).status == 422
    for name in ("csv", "set", "all"):
        assert owner.ask("GET", f"/owner/export/{name}").status == 403


def test_invitations_freeze_and_reveal_by_keys(owner: Visitor, server: StudioServer) -> None:
    page = owner.page
    owner.open("/owner")
    page.focus("#invite [name=name]")
    page.keyboard.type("kim <b>")
    owner.press("Tab", "ArrowDown", "Tab", "5", "Enter")
    page.wait_for_selector("input.link")
    link = page.input_value("input.link")
    server.links["kim"] = link.removeprefix(server.site)
    kim = Client(server, "kim")
    assert kim.ask("GET", "/adjudicate").status == 200  # the second role
    page.reload()
    assert page.locator("input.link").count() == 0  # it was shown once
    page.focus("[aria-label='Withdraw the invitation of kim <b>']")
    owner.press("Enter")
    page.wait_for_function(
        "() => document.getElementById('saved').textContent.startsWith('kim <b> can')"
    )
    assert kim.ask("GET", "/adjudicate").status == 401
    assert page.is_visible("text=They can be downloaded after the reveal.")
    for dialog, state in (("freezing", "frozen"), ("revealing", "revealed")):
        page.focus(f"[data-opens={dialog}]")
        owner.press("Enter")
        assert "cannot be undone" in page.text_content(f"#{dialog}")
        owner.press("Escape")
        assert not page.is_visible(f"#{dialog}")
        owner.press("Enter", "Enter")  # the first button of the dialog has the focus
        page.wait_for_selector(f"#state strong:text('{state}')")
    owner.check_inert()
    with Store.reading(server.store) as store:
        event_names = [event.what for event in events(store)]
        assert project(store).state == "revealed"
    assert event_names[-4:] == ["invite", "withdraw", "freeze", "reveal"]
    owner.open("/owner/events")
    assert [*page.locator("td:nth-child(3)").all_text_contents()][:2] == ["reveal", "freeze"]
    assert page.locator("tbody tr").count() == len(event_names)
    withdrawn = page.locator("tbody tr").nth(2).locator("td").all_text_contents()
    assert withdrawn[1:] == ["owner", "withdraw the invitation", "name: kim <b>"]
    owner.check_inert()


def test_exports_are_downloads(server: StudioServer) -> None:
    owner = Client(server, "owner")
    for step in ("freeze", "reveal"):  # done already where the test before ran here, too
        owner.ask("POST", f"/api/owner/{step}", {})
    assert owner.ask("GET", "/owner/export/mqm").status == 404  # no task of the project
    assert owner.ask("GET", "/owner/export/nothing").status == 404
    export = owner.ask("GET", "/owner/export/csv")
    assert export.headers["content-disposition"] == 'attachment; filename="judgements.csv"'
    assert SYSTEMS[0] in export.text
    assert "ann" in export.text
    hidden = owner.ask("GET", "/owner/export/csv?names=no").text
    assert ("ann" in hidden, "assessor-1" in hidden) == (False, True)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/owner/export/all", headers=owner.headers("GET"))
    with connection.getresponse() as answer:
        archive = zipfile.ZipFile(io.BytesIO(answer.read()))
    connection.close()
    names = archive.namelist()
    assert {"log.jsonl", "judgements.csv", "labels.tsv", "ties.tsv"} <= {*names}
    assert any(name.startswith("set/") for name in names)
    with Store.reading(server.store) as store:
        assert [event.what for event in events(store)].count("export") == 3
