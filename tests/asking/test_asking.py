"""Answers: in order, stored, never asked for again, whatever the concurrency."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking.chats import asked, endpoint, request, requests
from asking.server import serving

from karat.errors import InputError
from karat.llm.endpoint import Endpoint
from karat.llm.requests import Limits, Message, Prices, Reply, Request
from karat.llm.run import ask, plan

MIX = {"429": 0.1, "500": 0.1, "reset": 0.1, "no json": 0.1, "slow": 0.2}


def test_answers_come_in_the_order_of_requests() -> None:
    with serving(shares={"slow": 0.3}) as server:
        run = asked(server.url, requests(40), limits={"concurrency": 8})
        assert [answer.id for answer in run.answers] == [f"request {i}" for i in range(40)]
        assert run.answers[7] == Reply("request 7", '{"echo": "request 7"}', "", False, 10, 3)
        assert 2 <= server.most_at_once <= 8


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_answers_do_not_depend_on_concurrency(concurrency: int) -> None:
    with serving(shares=MIX, seed=3, pause=0.01) as server:
        run = asked(server.url, requests(40), limits={"concurrency": concurrency, "attempts": 9})
    assert [answer.text for answer in run.answers] == [
        f'{{"echo": "request {i}"}}' for i in range(40)
    ]
    assert server.behaviours() == {"ok": 25, "slow": 15, **found_failures(run.usage.failures)}


def found_failures(failures: dict[str, int]) -> dict[str, int]:
    """Failures by the server's names."""
    names = {"HTTP 429": "429", "HTTP 500": "500", "dropped connection": "reset"}
    return {{**names, "invalid answer": "no json"}[kind]: n for kind, n in failures.items()}


def test_a_stored_answer_is_not_asked_for_again(tmp_path: Path) -> None:
    with serving() as server:
        first = asked(server.url, requests(6), tmp_path / "cache")
        second = asked(server.url, requests(8), tmp_path / "cache")
        assert all(server.times[f"request {i}"] == 1 for i in range(8))
    assert [answer.cached for answer in second.answers] == [True] * 6 + [False] * 2
    assert [answer.text for answer in first.answers] == [a.text for a in second.answers[:6]]
    assert second.answers[0].prompt_tokens == 10
    usage = second.usage
    assert (usage.requests, usage.cached, usage.sent, usage.missing) == (8, 6, 2, 0)
    assert (usage.prompt_tokens, usage.totals.prompt_tokens) == (20, 80)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "model-2"},
        {"temperature": 0.5},
        {"max_tokens": 7},
        {"seed": 1},
        {"json_object": False},
    ],
)
def test_other_parameters_are_another_request(tmp_path: Path, change: dict[str, object]) -> None:
    with serving() as server:
        asked(server.url, requests(1), tmp_path / "cache")
        other = Endpoint(**{"url": server.url, "model": "model-1", "timeout": 5.0, **change})  # type: ignore[arg-type]
        assert not asked("", requests(1), tmp_path / "cache", endpoint=other).answers[0].cached
        assert len(server.asked) == 2


@pytest.mark.parametrize("change", [{"schema": "s@1"}, {"replicate": 1}])
def test_another_schema_or_replicate_is_another_request(
    tmp_path: Path, change: dict[str, object]
) -> None:
    with serving() as server:
        asked(server.url, [request("a")], tmp_path / "cache")
        asked(server.url, [request("a", **change)], tmp_path / "cache")
        assert [came.body["seed"] for came in server.asked] == [0, 1000 * ("replicate" in change)]


def test_spellings_of_a_url_and_of_zero_are_one_request(tmp_path: Path) -> None:
    with serving() as server:
        asked(server.url, requests(1), tmp_path / "cache")
        for url in (f"{server.url}/", f"{server.url}/chat/completions"):
            equal = endpoint(url, temperature=0)
            assert asked("", requests(1), tmp_path / "cache", endpoint=equal).answers[0].cached
        assert {came.path for came in server.asked} == {"/v1/chat/completions"}


def test_what_is_sent() -> None:
    with serving() as server:
        messages = (Message("system", "Be brief."), Message("user", "Grüße \ud800"))
        ask([Request("1", messages)], endpoint(server.url), cache=None)
        assert server.asked[0].body == {
            "model": "model-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Grüße \ud800"},
            ],
            "temperature": 0.0,
            "max_tokens": 1024,
            "seed": 0,
            "response_format": {"type": "json_object"},
        }
        bare = endpoint(server.url, temperature=None, max_tokens=None, seed=None, json_object=False)
        ask([Request("1", messages)], bare, cache=None)
        assert set(server.asked[1].body) == {"model", "messages"}


@pytest.mark.parametrize("behaviour", ["ok", "chunked", "old http"])
def test_connections_are_kept_where_the_server_keeps_them(behaviour: str) -> None:
    with serving(always=behaviour) as server:
        assert asked(server.url, requests(20), limits={"concurrency": 2}).usage.missing == 0
        assert len(server.asked) == 20
        assert server.connections == 20 if behaviour == "old http" else server.connections <= 2


def test_equal_requests_are_asked_once() -> None:
    with serving() as server:
        twins = [Request(name, (Message("user", "same"),)) for name in "abc"]
        answers = ask(twins, endpoint(server.url), cache=None)
        assert len(server.asked) == 1
    assert [answer.id for answer in answers.answers] == ["a", "b", "c"]
    assert [answer.cached for answer in answers.answers] == [False, True, True]
    assert answers.usage.cached == 2


def test_ids_differ_and_messages_are_there() -> None:
    with pytest.raises(InputError, match="'a' is there twice"):
        asked("http://127.0.0.1:9", [request("a"), request("a")])
    with pytest.raises(InputError, match="at least one message"):
        asked("http://127.0.0.1:9", [Request("a", ())])


def test_no_requests_need_no_server() -> None:
    assert asked("http://127.0.0.1:9", []).answers == ()


def test_the_demo_answers_offline(tmp_path: Path) -> None:
    answers = ask(requests(3), Endpoint("demo", "demo"), cache=tmp_path / "cache")
    assert all(answer.text for answer in answers.answers)
    assert (
        answers.usage.estimated_tokens
        == answers.usage.prompt_tokens + answers.usage.completion_tokens
    )
    assert ask(requests(3), Endpoint("demo", "demo"), cache=tmp_path / "cache").usage.cached == 3


@pytest.mark.parametrize("error", [InputError("no such task"), ZeroDivisionError("sk-secret")])
def test_an_error_of_a_worker_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def answer(messages: object) -> str:
        raise error

    monkeypatch.setattr("karat.llm.demo.answer", answer)
    message = "no such task" if isinstance(error, InputError) else "^a worker failed with ZeroDivis"
    with pytest.raises((InputError, RuntimeError), match=message):
        ask(requests(3), Endpoint("demo", "demo"), cache=None)


def test_a_plan_sends_and_writes_nothing(tmp_path: Path) -> None:
    limits = Limits(prices=Prices(1.0, 2.0))
    with serving() as server:
        place = endpoint(server.url, max_tokens=100)
        first = plan(requests(10), place, tmp_path / "cache", limits)
        assert not (tmp_path / "cache").exists()
        asked(server.url, requests(4), tmp_path / "cache", endpoint=place)
        second = plan(requests(10), place, tmp_path / "cache", limits)
        assert len(server.asked) == 4
    # "request 7" has 9 characters, about 3 tokens
    assert first == (10, 0, 10, 30, 1000, (30 + 2 * 1000) / 1e6)
    assert second == (10, 4, 6, 18, 600, (18 + 2 * 600) / 1e6)


def test_usage_counts_tokens_and_money(tmp_path: Path) -> None:
    prices = {"prices": Prices(5.0, 10.0)}
    with serving(["no json", "500"]) as server:
        usage = asked(server.url, requests(2), tmp_path / "cache", limits=prices).usage
    assert usage.failures == {"HTTP 500": 1, "invalid answer": 1}
    assert (usage.sent, usage.retried, usage.missing) == (4, 2, 0)
    assert (usage.prompt_tokens, usage.completion_tokens) == (30, 3 + 3 + 7)
    assert usage.cost == pytest.approx((30 * 5 + 13 * 10) / 1e6)
    total = usage.totals
    assert (total.sent, total.answered, total.cost) == (4, 2, usage.cost)


def test_tokens_that_nobody_counted_are_estimated() -> None:
    with serving(["no usage"]) as server:
        usage = asked(server.url, [request("12345")]).usage
    # 5 characters of the prompt; {"echo": "12345"} has 17
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated_tokens) == (2, 5, 7)


def test_progress_counts_requests_failures_and_tokens(tmp_path: Path) -> None:
    message: list[tuple[int, int, str]] = []
    with serving(["500"]) as server:
        asked(server.url, requests(3), progress=lambda *report: message.append(report))
    assert message[0] == (0, 3, "asking: 0 tokens, 0 failed")
    assert message[-1] == (3, 3, "asking: 39 tokens, 1 failed")
    assert [done for done, _, _ in message] == sorted(done for done, _, _ in message)
