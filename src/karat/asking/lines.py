"""The two lines to a language model: an endpoint's, and the offline stand-in."""

from __future__ import annotations

import ssl
from collections.abc import Callable

from karat.asking.client.connection import Connection
from karat.asking.client.failures import Completion, Failure
from karat.asking.client.keys import Key
from karat.asking.client.protocol import ask_once
from karat.asking.endpoint import Endpoint
from karat.asking.jobs import Job
from karat.asking.requests import estimated_tokens
from karat.asking.workers import Line


class EndpointLine:
    """A connection to an endpoint."""

    def __init__(self, endpoint: Endpoint, key: Key, trusted: ssl.SSLContext | None) -> None:
        self._endpoint, self._key = endpoint, key
        self._connection = Connection(endpoint.address, trusted)

    def ask(self, job: Job) -> Completion | Failure:
        """Send the request of a job over HTTP."""
        return ask_once(self._connection, self._endpoint, self._key, job.request, job.rejections)

    def abort(self) -> None:
        """End what another thread is waiting for."""
        self._connection.abort()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class DemoLine:
    """The offline stand-in; its tokens are estimated."""

    def ask(self, job: Job) -> Completion:
        """Answer the request of a job."""
        from karat.asking.demo import answer

        text = answer(job.request.messages)
        return Completion(text, job.prompt_tokens, estimated_tokens(text), estimated=True)

    def abort(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""


def line_to(endpoint: Endpoint, key: Key) -> Callable[[], Line]:
    """Return the function that opens a worker's line."""
    if endpoint.is_demo:
        return DemoLine
    trusted = ssl.create_default_context() if endpoint.address.secure else None
    return lambda: EndpointLine(endpoint, key, trusted)
