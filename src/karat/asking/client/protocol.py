"""The chat protocol: a request is sent, and what comes back is a completion or a failure."""

from __future__ import annotations

import json
import os
from http.client import HTTPException, IncompleteRead
from typing import TYPE_CHECKING

from karat.asking.client.completions import as_completion
from karat.asking.client.connection import LARGEST, Connection, TooLarge, Unreachable, Untrusted
from karat.asking.client.failures import (
    DROPPED,
    GARBAGE,
    TIMEOUT,
    TOO_LARGE,
    UNREACHABLE,
    Completion,
    Failure,
)
from karat.asking.client.keys import Key
from karat.asking.client.refusals import as_refusal
from karat.asking.requests import Request

if TYPE_CHECKING:
    from karat.asking.endpoint import Endpoint

_PROXIES = ("https_proxy", "http_proxy", "all_proxy")


def ask_once(
    connection: Connection, endpoint: Endpoint, key: Key, request: Request, rejections: int
) -> Completion | Failure:
    """Send a request and return what came of it; `rejections` answers to it were invalid.

    Failures are values: an exception's frames would hold the key.
    """
    body = json.dumps(endpoint.body(request, rejections)).encode("ascii")
    try:
        reply = connection.post(body, key.headers(), endpoint.timeout)
    except (OSError, HTTPException, ValueError, TooLarge, Unreachable, Untrusted) as error:
        return _without_reply(error, endpoint)
    if 200 <= reply.status < 300:
        return as_completion(reply.body, key, request)
    return as_refusal(reply, endpoint, key)


def _without_reply(error: Exception, endpoint: Endpoint) -> Failure:
    """Return the failure of an exchange that brought no whole reply."""
    if isinstance(error, Untrusted):
        return Failure(UNREACHABLE, stop=f"{endpoint.name} has no valid certificate ({error})")
    kinds: list[tuple[type[Exception], str, str]] = [
        (Unreachable, UNREACHABLE, f"{error}{_about_proxies()}"),
        (TimeoutError, TIMEOUT, f"no whole answer within {endpoint.timeout:g} s"),
        (TooLarge, TOO_LARGE, f"more than {LARGEST >> 20} MB"),
        (IncompleteRead, DROPPED, "the answer is cut short"),
        (OSError, DROPPED, ""),
    ]
    found = (Failure(name, told) for kind, name, told in kinds if isinstance(error, kind))
    return next(found, Failure(GARBAGE, "not HTTP"))


def _about_proxies() -> str:
    """Return a hint where the environment names a proxy, which is not used."""
    named = [name for name in os.environ if name.lower() in _PROXIES]
    return f"; {named[0]} is set, but Karat uses no proxy" if named else ""
