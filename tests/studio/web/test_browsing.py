"""Browsing: who may, what is found, and reports in a sandbox; one project, open then revealed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.browser_page import Visitor
from studio.web.judged_server import judged_server
from studio.web.studio_server import HOSTILE, SYSTEMS, Client, StudioServer

import karat as kt
from karat.studio.browsing import OFFERED_METRICS, Search, find_segments, make_output_table
from karat.studio.store.store import Store
from karat.studio.web.calls import answer, comment

PAGES = ("/browse", "/browse/segments/1", "/browse/outputs", "/browse/reports")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    judged = judged_server(tmp_path_factory.mktemp("browsed"), "ratings", 12, most=20)
    yield judged
    judged.stop()


@pytest.fixture(scope="module")
def owner(server: StudioServer) -> Client:
    return Client(server, "owner")


@pytest.fixture(scope="module")
def outputs(server: StudioServer, owner: Client) -> list[int]:
    with Store.reading(server.store) as store:
        return make_output_table(store).ids


def test_only_owners_browse_before_the_reveal(server: StudioServer, owner: Client) -> None:
    for name in ("ann", "zoe"):
        client = Client(server, name)
        for path in (*PAGES, "/browse/outputs.csv", "/browse/reports/agreement"):
            assert client.ask("GET", path).status == 403
    answers = [owner.ask("GET", path) for path in (*PAGES, "/browse/outputs.csv")]
    answers.append(owner.ask("GET", "/browse/reports/agreement"))
    assert [response.status for response in answers] == [200] * len(answers)
    for response in answers:
        assert not any(name in response.text + str(response.headers) for name in SYSTEMS)
        assert "<script>hostile" not in response.text or response.headers[
            "content-type"
        ].startswith("text/csv")
    assert owner.ask("GET", "/browse?system=x").status == 422
    assert "SECRET" not in owner.ask("GET", f"/browse?q={SYSTEMS[0]}").text.replace(
        f'value="{SYSTEMS[0]}"', ""
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"ratings": {"quality": 6, "fluency": 2}, "comment": "so"}, "quality 6, fluency 2"),
        ({"nuggets": {"1": {"label": "support", "evidence": []}}}, "1 support"),
        ({"choice": "tie"}, "tie"),
        ({"value": 4, "comment": "x"}, "4"),
        ({"spans": [], "score": 90}, "spans: none, score: 90"),
        ("first", "first"),
    ],
)
def test_answers_in_words(value: Any, words: str) -> None:
    assert answer(value) == words
    assert comment(value) in ("", "so", "x")


def test_segments_by_search_and_filter(server: StudioServer) -> None:
    with Store.reading(server.store) as store:

        def segments(**search: Any) -> list[str]:
            page = find_segments(store, Search(**search))
            return [row["segment"].partition(" ")[0] for row in page.rows]

        assert segments() == [str(k) for k in range(12)]
        assert segments(text="OUTPUT 3 of 2") == ["3"]
        assert segments(text="reference 11") == ["11"]
        assert segments(text="100%_") == []
        assert segments(text=f"source 4 {HOSTILE}") == ["4"]  # quotes within references, too
        judged, unjudged = segments(kind="judged"), segments(kind="unjudged")
        assert sorted([*judged, *unjudged]) == sorted(segments())
        assert {*segments(kind="disputed")} <= {*judged}
        table = make_output_table(store)
        best = [row for row in table.rows(table.ids) if row.values.get("quality", 0) >= 6]
        assert segments(dimension="quality", low=6) == list(
            dict.fromkeys(row.segment.partition(" ")[0] for row in best)
        )
        assert segments(dimension="quality", low=8) == []
        assert find_segments(store, Search(), 99).number == 1


def test_pages_of_segments_and_what_is_wrong(owner: Client, outputs: list[int]) -> None:
    page = owner.ask("GET", "/browse/segments/1").text
    assert "assessor-1" in page
    assert "&lt;script&gt;hostile" in page
    wrong = {
        "/browse/segments/999": 404,
        "/browse/segments/x": 404,
        "/browse/segments/1/outputs/999": 422,
        "/browse?page=x": 422,
        "/browse?page=-1": 422,
        "/browse?kind=no": 422,
        "/browse?low=nan": 422,
        "/browse?low=1e999": 422,
        f"/browse?q={'a' * 501}": 422,
        "/browse/outputs?metrics=nothing": 422,
        "/browse/outputs?metrics=bleu:stop=/etc/passwd": 422,
        "/browse/outputs.csv?metrics=given:file=judged.sqlite.keys": 422,
        "/browse/reports/nothing": 404,
    }
    assert {path: owner.ask("GET", path).status for path in wrong} == wrong
    assert owner.ask("GET", "/browse/outputs?sort=nothing&down=yes").status == 200


def test_the_table_has_metrics_and_is_a_file(server: StudioServer, owner: Client) -> None:
    text = owner.ask("GET", "/browse/outputs.csv?metrics=chrf&metrics=bleu&sort=chrf&down=yes").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 36
    assert [*rows[0]] == [
        "segment",
        "output",
        "system",
        "quality",
        "fluency",
        "chrf",
        "bleu",
        "text",
    ]
    assert {row["system"] for row in rows} == {""}
    values = [float(row["chrf"]) for row in rows]
    assert values == sorted(values, reverse=True)
    number = rows[0]["segment"].partition(" ")[0]
    reference = f"reference {number} {HOSTILE}"
    expected = kt.score({"a": [rows[0]["text"]]}, [[reference]], "chrf").rows[0].score.value
    assert values[0] == pytest.approx(expected)
    judged = owner.ask("GET", "/browse/outputs.csv?sort=quality").text
    scores = [row["quality"] for row in csv.DictReader(io.StringIO(judged))]
    numbers = [float(cell) for cell in scores if cell]
    assert numbers == sorted(numbers)
    assert scores[len(numbers) :] == [""] * (36 - len(numbers))  # those without come last


def test_every_metric_on_offer_scores_every_output(server: StudioServer) -> None:
    with Store.reading(server.store) as store:
        table = make_output_table(store, OFFERED_METRICS)
        rows = table.rows(table.ids)
    assert table.names[-len(OFFERED_METRICS) :] == [*OFFERED_METRICS]
    assert len(rows) == 36
    assert all(isinstance(row.values[name], float) for row in rows for name in OFFERED_METRICS)


def test_reports_tell_who_leads_only_when_asked(owner: Client) -> None:
    for name in ("compare", "meta", "plane-1"):
        assert owner.ask("GET", f"/browse/reports/{name}").status == 403
    assert owner.ask("POST", "/api/owner/estimates", {}).status == 200
    for name in ("meta", "plane-1", "plane-2"):
        assert owner.ask("GET", f"/browse/reports/{name}").status == 200
    report = owner.ask("GET", "/browse/reports/compare")
    assert report.status == 200
    assert "system 1" in report.text
    assert not any(name in report.text for name in SYSTEMS)


def test_estimates_are_a_report(owner: Client) -> None:
    pytest.importorskip("karat.report.documents.estimates")
    assert owner.ask("POST", "/api/owner/estimates", {}).status == 200
    report = owner.ask("GET", "/browse/reports/estimate-1")
    assert report.status == 200
    assert "system 3" in report.text
    assert not any(name in report.text for name in SYSTEMS)


def test_reports_run_in_a_sandbox(
    browser: Any, server: StudioServer, owner: Client, outputs: list[int]
) -> None:
    assert owner.ask("POST", "/api/owner/estimates", {}).status == 200
    policy = owner.ask("GET", "/browse/reports/compare").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "sandbox allow-scripts" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    reader = Visitor(browser, server, "owner", viewport={"width": 390, "height": 800})
    for path in ("/browse/reports/compare", f"/browse/segments/1/outputs/{outputs[0]}"):
        reader.open(path)
        reader.check_inert()
        assert reader.page.evaluate("origin") == "null"  # an origin of its own
        assert reader.page.locator("svg").count() > 0
        assert reader.page.evaluate("getComputedStyle(document.body).margin") == "0px"  # its style
    reader.faults.clear()
    for path in (*PAGES, "/browse?q=output+3&kind=all"):
        reader.open(path)
        reader.check_inert()


def test_a_grid_is_headed_by_its_segment(owner: Client) -> None:
    page = owner.ask("GET", "/browse/segments/2").text
    path = page.partition('<a href="/browse/segments/2/outputs/')[2].partition('"')[0]
    grid = owner.ask("GET", f"/browse/segments/2/outputs/{path}").text
    assert "Segment 1 " in grid  # the second segment is called 1 and so on
    assert "Segment 1<" not in grid


def test_search_and_sorting_by_keys(browser: Any, server: StudioServer) -> None:
    reader = Visitor(browser, server, "owner", color_scheme="dark")
    page = reader.page
    reader.open("/browse")
    page.focus("[name=q]")
    page.keyboard.type("output 7")
    reader.press("Enter")
    page.wait_for_url("**q=output*")
    assert page.locator("tbody tr").count() == 1
    page.focus("tbody a")
    reader.press("Enter")
    page.wait_for_selector("text=Judgements")
    reader.open("/browse/outputs")
    for sort in ("ascending", "descending"):
        page.focus("thead th:nth-child(2) a")
        reader.press("Enter")
        page.wait_for_selector(f"th[aria-sort={sort}]")
    reader.check_inert()


def test_everybody_browses_after_the_reveal(server: StudioServer, owner: Client) -> None:
    assert owner.ask("POST", "/api/owner/reveal", {"anyway": True}).status == 200
    ann = Client(server, "ann")
    answers = [ann.ask("GET", path) for path in (*PAGES, "/browse/reports/compare")]
    assert [response.status for response in answers] == [200] * 5
    assert all(SYSTEMS[0] in answers[at].text for at in (0, 1, 2, 4))
    assert ann.ask("GET", f"/browse?system={SYSTEMS[0]}&low=1").status == 200
    assert ann.ask("GET", "/owner").status == 403
    assert ann.ask("GET", "/owner/export/csv").status == 403
