"""The circuit breaker: a run ends when asking further is of no use."""

from __future__ import annotations

from karat.asking.client.failures import OF_THE_ANSWER, UNREACHABLE, Failure
from karat.asking.endpoint import Endpoint

MOST_IN_A_ROW = 10
"""Requests in a row that may stay without an answer."""


class Breaker:
    """Counts requests that stay without an answer, one after the other.

    A failure of the endpoint ends the run after ten. One of a single request (refused, or only
    invalid answers) does so only if nothing was ever answered.
    """

    def __init__(self, endpoint: Endpoint, answered: bool) -> None:
        self._endpoint, self._answered = endpoint, answered
        self._reached = False
        self._in_a_row = 0

    def answered(self) -> None:
        """Note an answer."""
        self._answered = self._reached = True
        self._in_a_row = 0

    def failed(self, failure: Failure) -> None:
        """Note a failed attempt."""
        self._reached |= failure.kind != UNREACHABLE

    def missing(self, failure: Failure, why: str) -> str:
        """Note a request without an answer; return the sentence that ends the run, if it does."""
        self._in_a_row += 1
        if failure.kind == UNREACHABLE and not self._reached:
            return f"cannot connect to {self._endpoint.name}: {why}: check the URL and the server"
        of_one = failure.kind in OF_THE_ANSWER or not failure.again
        if self._in_a_row < MOST_IN_A_ROW or (of_one and self._answered):
            return ""
        return (
            f"{self._in_a_row} requests in a row to {self._endpoint.name} stay without an answer, "
            f"the last because of {why}: {self._advice(failure)}"
        )

    def _advice(self, failure: Failure) -> str:
        if failure.kind in OF_THE_ANSWER:
            return f"check whether the model {self._endpoint.model} can do the task"
        if not failure.again:
            parameters = "temperature, max_tokens, seed and response_format"
            return f"check {parameters} (--omit leaves one out, None or False in Python)"
        return "check the server, and run the same again to go on"
