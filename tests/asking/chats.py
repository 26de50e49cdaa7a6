"""Requests to the server, the check of its answers, and a client in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from karat.llm.endpoint import Endpoint
from karat.llm.requests import Limits, Message, Prices, Request
from karat.llm.run import AskResult, ask

QUICK = Limits(backoff=0.001, longest_wait=0.05, grace=0.5)


def request(content: str, **more: Any) -> Request:
    """A request of one message; its id is the message."""
    return Request(content, (Message("user", content),), **more)


def requests(number: int) -> list[Request]:
    return [request(f"request {place}") for place in range(number)]


def echoed(request: Request, text: str) -> str:
    """The check: a JSON object with the message."""
    try:
        parsed = json.loads(text)
    except ValueError:
        return "no JSON"
    return "" if parsed.get("echo") == request.messages[-1].content else "wrong id"


def endpoint(url: str, **more: Any) -> Endpoint:
    return Endpoint(url, "model-1", **{"timeout": 5.0, **more})


def asked(
    url: str, expected: Iterable[Request], cache: Path | None = None, **more: Any
) -> AskResult:
    """Ask with short waits; `limits` are changes of them."""
    limits = Limits(**{**asdict(QUICK), **more.pop("limits", {})})
    settings = {"cache": cache, "limits": limits, "check": echoed, **more}
    of_endpoint = settings.pop("endpoint", None) or endpoint(url)
    return ask(expected, of_endpoint, **settings)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; a minute is too long."""
    for _ in range(12_000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come to that")


def start(url: str, cache: Path, number: int, **limits: Any) -> subprocess.Popen[str]:
    """Start a client that asks `number` requests and prints its usage as JSON."""
    return subprocess.Popen(
        [sys.executable, __file__, url, str(cache), str(number), json.dumps(limits)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def main(url: str, cache: str, number: str, limits: str) -> None:
    """Ask, and print the usage and how many answers are right."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started this ignores it
    expected = requests(int(number))
    parsed = json.loads(limits)
    if "prices" in parsed:
        parsed["prices"] = Prices(*parsed["prices"])
    place = endpoint(url, timeout=parsed.pop("timeout", 5.0))
    run = asked(url, expected, Path(cache), endpoint=place, limits=parsed)
    right = sum(
        answer.text is not None and not echoed(item, answer.text)
        for item, answer in zip(expected, run.answers, strict=True)
    )
    usage = run.usage._asdict() | {"totals": run.usage.totals._asdict(), "right": right}
    print(json.dumps(usage))


if __name__ == "__main__":
    main(*sys.argv[1:])
