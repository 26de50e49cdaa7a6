"""Limits: waits, rates and budgets."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from asking.chats import asked, endpoint, request, requests
from asking.server import serving

from karat.errors import InputError
from karat.llm.client import seconds_to_wait
from karat.llm.requests import Limits, Prices, RequestJob
from karat.llm.run import Schedule


def test_retry_after_in_seconds_and_as_a_date() -> None:
    assert seconds_to_wait("7") == 7
    assert seconds_to_wait(" 0.25 ") == 0.25
    later = datetime.now(timezone.utc) + timedelta(seconds=100)
    wait = seconds_to_wait(format_datetime(later, usegmt=True))
    assert wait is not None
    assert 90 < wait <= 100
    assert seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert seconds_to_wait("Wed, 21 Oct 9999 07:28:00 -0000") > 1e9  # type: ignore[operator]


@pytest.mark.parametrize("wrong", [None, "", "soon", "-1", "nan", "inf", "1e9", "٣", "9" * 400])
def test_retry_after_that_says_nothing(wrong: str | None) -> None:
    assert seconds_to_wait(wrong) is None


def jobs(number: int) -> list[RequestJob]:
    return [
        RequestJob(item, item.id, [place], tries=1) for place, item in enumerate(requests(number))
    ]


def waits(limits: Limits) -> list[float]:
    """The waits of one request after each attempt."""
    (job,) = jobs(1)
    run = []
    for job.tries in range(1, 9):
        schedule = Schedule([], limits)
        schedule.retry(job, 100.0, None)
        run.append(schedule.ready_at(100.0) - 100.0)
    return run


def test_waits_double_with_jitter_from_the_seed_and_are_capped() -> None:
    run = waits(Limits(backoff=1.0, longest_wait=20.0))
    for wait, longest in zip(run, [1, 2, 4, 8, 16, 20, 20, 20], strict=True):
        assert longest / 2 <= wait <= longest
    assert len({round(wait, 9) for wait in run}) == 8
    assert run == waits(Limits(backoff=1.0, longest_wait=20.0))
    assert run != waits(Limits(backoff=1.0, longest_wait=20.0, seed=1))


def test_nothing_is_sent_before_the_time_that_the_server_names() -> None:
    first, second = jobs(2)
    schedule = Schedule([first, second], Limits(longest_wait=60.0))
    schedule.send(first, 0.0)
    schedule.retry(first, 0.0, 30.0)
    assert schedule.ready_at(0.0) == 30.0
    assert schedule.first(29.9) is None
    assert schedule.first(30.1) is first
    schedule.send(first, 30.1)
    assert schedule.first(30.1) is second


def test_a_wait_of_zero_seconds_is_no_reason_to_hurry() -> None:
    (job,) = jobs(1)
    schedule = Schedule([], Limits(backoff=8.0))
    schedule.retry(job, 0.0, 0.0)
    assert schedule.ready_at(0.0) >= 4.0


def test_a_long_wait_is_capped_and_that_is_said() -> None:
    with serving(["429 after"], retry_after="3600") as server:
        usage = asked(server.url, requests(1)).usage
    assert usage.missing == 0
    message = "the server asked for a wait of 3,600 s (Retry-After); the longest wait is 0.05 s"
    assert usage.notes == (message,)


def test_retry_after_is_waited_for() -> None:
    with serving(["429 after"], retry_after="0.3") as server:
        began = time.monotonic()
        asked(server.url, requests(1), limits={"longest_wait": 1.0})
        assert time.monotonic() - began >= 0.3


def test_the_rate_holds_across_threads() -> None:
    with serving() as server:
        began = time.monotonic()
        asked(server.url, requests(7), limits={"rate": 1200.0, "concurrency": 4})
        assert time.monotonic() - began >= 6 * 60 / 1200
        assert len(server.asked) == 7


def test_a_budget_of_requests_counts_retries(tmp_path: Path) -> None:
    with serving(["500", "500"]) as server:
        limits = {"budget_requests": 10}
        run = asked(server.url, requests(30), tmp_path / "cache", limits=limits)
        assert len(server.asked) == 10
        assert run.usage.sent == 10
        answered = [answer for answer in run.answers if answer.text is not None]
        assert len(answered) == 8
        assert {answer.reason for answer in run.answers if answer.text is None} == {"budget"}
        assert run.usage.missing == 22
        assert "22 missing" in run.usage.notes[0]
        later = asked(server.url, requests(30), tmp_path / "cache")
        assert (later.usage.cached, later.usage.sent) == (8, 22)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_budget_of_tokens_is_not_exceeded(concurrency: int) -> None:
    with serving() as server:
        small = endpoint(server.url, max_tokens=20)
        limits = {"budget_tokens": 200, "concurrency": concurrency}
        usage = asked("", requests(50), endpoint=small, limits=limits).usage
    # a request takes 13 tokens, and may take 3 + 20
    assert usage.prompt_tokens + usage.completion_tokens == 14 * 13
    assert usage.missing == 50 - 14


def test_a_budget_of_money() -> None:
    with serving() as server:
        small = endpoint(server.url, max_tokens=20)
        limits = {"budget_money": 0.001, "prices": Prices(2.0, 4.0)}
        usage = asked("", requests(50), endpoint=small, limits=limits).usage
    assert usage.cost is not None
    # a request costs 10 x 2 + 3 x 4 = 32 millionths, and may cost 3 x 2 + 20 x 4 = 86
    assert usage.cost == pytest.approx(29 * 32e-6)
    assert usage.cost <= 0.001
    assert usage.missing == 50 - 29


def test_a_budget_that_holds_nothing_says_so() -> None:
    with serving() as server:
        usage = asked(server.url, requests(2), limits={"budget_tokens": 5}).usage
        assert not server.asked
    assert usage.missing == 2
    assert usage.notes == (
        "the budget does not hold the next request (about 3 tokens and up to 1,024 of the answer); "
        "2 missing",
    )


def test_stored_answers_cost_no_budget(tmp_path: Path) -> None:
    with serving() as server:
        asked(server.url, requests(5), tmp_path / "cache")
        run = asked(server.url, requests(6), tmp_path / "cache", limits={"budget_requests": 1})
    assert run.usage.missing == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"concurrency": 0}, "concurrency=0: expected a whole number, at least 1"),
        ({"concurrency": 1000}, "concurrency=1000: expected at most 256"),
        ({"attempts": 0}, "attempts=0"),
        ({"rate": 0.0}, "rate=0.0: expected a number, more than 0"),
        ({"rate": float("nan")}, "rate=nan"),
        ({"budget_requests": 0}, "budget_requests=0"),
        ({"budget_tokens": 1.5}, "budget_tokens=1.5"),
        ({"budget_money": 1.0}, "a budget in money needs prices"),
        ({"budget_money": -1.0, "prices": Prices(1, 1)}, "budget_money=-1.0"),
        ({"prices": Prices(-1, 1)}, "price -1: expected a number, at least 0"),
        ({"longest_wait": float("inf")}, "longest_wait=inf: expected seconds"),
        ({"grace": 1e20}, "grace=1e\\+20: expected seconds, 0 to 86,400"),
    ],
)
def test_wrong_limits(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Limits(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0},
        {"timeout": 1e20},
        {"timeout": float("nan")},
        {"temperature": -1},
        {"max_tokens": 0},
    ],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected"):
        endpoint("http://localhost", **wrong)


def test_a_request_that_is_asked_again_does_not_hold_up_others() -> None:
    with serving(["500"]) as server:
        limits = {"concurrency": 1, "backoff": 0.2, "longest_wait": 1.0}
        asked(server.url, [request("a"), request("b")], limits=limits)
        assert [came.content for came in server.asked] == ["a", "b", "a"]
