"""A server that misbehaves: retried, missing with a reason, or the end of the run."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from asking.chats import asked, endpoint, request, requests
from asking.server import serving

from karat.errors import EndpointError
from karat.llm.run import MAX_CONSECUTIVE_FAILURES, WAITING_PER_WORKER

KINDS = {
    "429": "HTTP 429",
    "429 after": "HTTP 429",
    "500": "HTTP 500",
    "503": "HTTP 503",
    "reset": "dropped connection",
    "closed": "dropped connection",
    "truncated": "dropped connection",
    "cut chunks": "dropped connection",
    "no http": "no completion",
    "invalid json": "no completion",
    "deep json": "no completion",
    "no completion": "no completion",
    "strange completion": "no completion",
    "not utf-8": "no completion",
    "half character": "invalid answer",
    "empty": "empty answer",
    "none": "empty answer",
    "no json": "invalid answer",
    "cut": "invalid answer",
    "wrong id": "invalid answer",
    "huge": "too large",
    "endless": "too large",
}


@pytest.mark.parametrize(("behaviour", "kind"), KINDS.items())
def test_a_failed_attempt_is_tried_again(behaviour: str, kind: str) -> None:
    with serving([behaviour, behaviour]) as server:
        run = asked(server.url, [request("a"), request("b")], limits={"concurrency": 1})
        assert len(server.asked) == 4
    assert [answer.text for answer in run.answers] == ['{"echo": "a"}', '{"echo": "b"}']
    assert run.usage.failures == {kind: 2}
    assert run.usage.retried == 2


@pytest.mark.parametrize("behaviour", ["hang", "drip", "drip headers"])
def test_a_time_out_is_for_the_whole_attempt(behaviour: str) -> None:
    with serving([behaviour], pause=0.02) as server:
        short = endpoint(server.url, timeout=0.8)
        run = asked("", [request("a")], endpoint=short)
    assert run.answers[0].text == '{"echo": "a"}'
    assert run.usage.failures == {"time-out": 1}


REASONS = {
    "error with 200": "no completion after 3 attempts (The provider is down)",
    "500": "HTTP 500 after 3 attempts (Internal error)",
    "429": "HTTP 429 after 3 attempts (Too many requests)",
    "truncated": "dropped connection after 3 attempts (the answer is cut short)",
    "no completion": "no completion after 3 attempts",
    "huge": "too large after 3 attempts (more than 8 MB)",
    "empty": "empty answer after 3 attempts",
    "none": "empty answer after 3 attempts (the server filtered it)",
    "no json": "invalid answer after 3 attempts (no JSON)",
    "wrong id": "invalid answer after 3 attempts (wrong id)",
    "cut": "invalid answer after 3 attempts (no JSON, cut at max_tokens=1024)",
    "400": "HTTP 400 (The prompt is too long)",
}


@pytest.mark.parametrize(("behaviour", "reason"), REASONS.items())
def test_an_answer_that_never_comes_is_missing(tmp_path: Path, behaviour: str, reason: str) -> None:
    attempts = 1 if behaviour == "400" else 3
    with serving([behaviour] * attempts) as server:
        run = asked(server.url, [request("a")], tmp_path / "cache", limits={"attempts": 3})
        assert run.answers == (("a", None, reason, False, 0, 0),)
        assert run.usage.missing == 1
        later = asked(server.url, [request("a")], tmp_path / "cache")  # by now the server is well
        assert later.answers[0].text == '{"echo": "a"}'
        assert (later.usage.cached, later.usage.repeated) == (0, 0)


def test_an_invalid_answer_is_asked_for_with_another_seed(tmp_path: Path) -> None:
    with serving(["no json", "500", "wrong id", "no json", "no json"]) as server:
        for _ in range(2):
            asked(server.url, requests(1), tmp_path / "cache", limits={"attempts": 4})
        # a failure of the server is no answer: the same seed again; the next run goes on
        assert [came.body["seed"] for came in server.asked] == [0, 1, 1, 2, 3, 4]


STOPS = {
    "401": "refuses the key of the environment variable OPENAI_API_KEY (HTTP 401: Invalid key)",
    "403": "refuses the key of the environment variable OPENAI_API_KEY (HTTP 403: Not allowed)",
    "404": "does not know the model model-1 or http://127.0.0.1:PORT/v1/chat/completions "
    "(HTTP 404: No such model): check both names",
    "402": "refuses further requests (HTTP 402: Pay first): check your account there",
    "quota": "refuses further requests (HTTP 429: You have no credit): check your account",
    "redirect": "redirects elsewhere (HTTP 307), and the key would go there, too",
    "response_format": "refuses response_format (HTTP 400: Unknown parameter: 'response_format'): "
    "leave it out (--omit response_format; in Python json_object=False)",
}


@pytest.mark.parametrize(("behaviour", "message"), STOPS.items())
def test_a_refusal_ends_the_run_and_keeps_what_was_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str, message: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with serving(["ok", "ok"], always=behaviour) as server:
        with pytest.raises(EndpointError) as caught:
            asked(server.url, requests(50), tmp_path / "cache", limits={"concurrency": 2})
        port = str(server.server_address[1])
        assert message in str(caught.value).replace(port, "PORT")
        assert "\n" not in str(caught.value)
        assert len(server.asked) <= 2 + 2 * 2
        server.always = "ok"
        run = asked(server.url, requests(50), tmp_path / "cache")
        assert run.usage.cached == 2
        assert run.usage.missing == 0


def test_without_a_key_the_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(always="401") as server:
        with pytest.raises(EndpointError, match=r"wants a key .*: set the environment variable"):
            asked(server.url, requests(1))
        assert "Authorization" not in server.asked[0].headers


def test_response_format_can_be_turned_off() -> None:
    with serving(always="response_format") as server:
        plain = endpoint(server.url, json_object=False)
        assert asked("", requests(3), endpoint=plain).usage.missing == 0


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_an_endpoint_that_is_down_ends_the_run_after_the_attempts() -> None:
    sent = []

    def progress(done: int, total: int, subject: str) -> None:
        sent.append(subject)

    url = f"http://127.0.0.1:{closed_port()}"
    with pytest.raises(EndpointError) as caught:
        asked(url, requests(10_000), limits={"attempts": 3}, progress=progress)
    message = f"cannot connect to {url}: no connection after 3 attempts (Connection refused"
    assert str(caught.value).startswith(message)
    failures = int(sent[-1].split()[-2])
    assert failures <= 3 * (4 + WAITING_PER_WORKER * 4)  # four at once


def test_a_proxy_is_not_used_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with pytest.raises(EndpointError, match="HTTPS_PROXY is set, but Karat uses no proxy"):
        asked(f"http://127.0.0.1:{closed_port()}", requests(1))


def test_a_host_that_nobody_knows() -> None:
    with pytest.raises(EndpointError, match=r"cannot connect to http://nowhere\.invalid/v1"):
        asked("http://nowhere.invalid/v1", requests(1))


@pytest.mark.parametrize("behaviour", ["500", "hang", "400", "no json", "no completion"])
def test_a_run_without_any_answer_ends_early(behaviour: str) -> None:
    with serving(always=behaviour) as server:
        impatient = endpoint(server.url, timeout=0.1)
        with pytest.raises(EndpointError, match=r"10 requests in a row .* stay without an answer"):
            asked("", requests(1000), endpoint=impatient, limits={"attempts": 2})
        assert len(server.asked) <= 2 * (MAX_CONSECUTIVE_FAILURES + 4 + WAITING_PER_WORKER * 4)


def test_a_server_that_breaks_down_ends_the_run(tmp_path: Path) -> None:
    with serving(["ok"] * 20, always="503") as server:
        with pytest.raises(EndpointError, match="run the same again to go on"):
            asked(server.url, requests(1000), tmp_path / "cache", limits={"attempts": 2})
        server.always = "ok"
        assert asked(server.url, requests(60), tmp_path / "cache").usage.cached == 20


@pytest.mark.parametrize("behaviour", ["no json", "400"])
def test_requests_that_fail_by_themselves_do_not_end_a_run(behaviour: str) -> None:
    with serving(["ok"], always=behaviour) as server:
        run = asked(server.url, requests(30), limits={"attempts": 1, "concurrency": 1})
    assert run.usage.missing == 29


def test_half_characters_are_replaced(tmp_path: Path) -> None:
    with serving(answer=lambda body: '{"echo": "a", "more": "\\ud83d\ud83d"}') as server:
        run = asked(server.url, [request("a")], tmp_path / "cache")
    assert run.answers[0].text == '{"echo": "a", "more": "\\ud83d\ufffd"}'
