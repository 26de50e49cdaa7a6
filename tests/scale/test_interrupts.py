"""Interrupts while workers start: put off, and left alone where Python may not handle them."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from karat.progress import interrupts_later


def test_an_interrupt_comes_at_the_end() -> None:
    done = []

    def start() -> None:
        with interrupts_later():
            signal.raise_signal(signal.SIGINT)
            done.append("start")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        start()
    assert done == ["start"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_is_not_of_python_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int, handler: Any) -> Any:
        raise AssertionError("Python could not set the other handler again")

    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    monkeypatch.setattr(signal, "signal", refuse)
    done = []
    with interrupts_later():
        done.append("start")
    assert done == ["start"]


def test_another_thread() -> None:
    done = []

    def start() -> None:
        with interrupts_later():
            done.append("start")

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert done == ["start"]
