"""Refusals: replies with an error status, and which of them no other request can escape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.asking.client.bodies import as_json, error_said
from karat.asking.client.connection import Reply
from karat.asking.client.failures import Failure
from karat.asking.client.keys import Key
from karat.asking.client.retry_after import seconds_to_wait
from karat.errors import short

if TYPE_CHECKING:
    from karat.asking.endpoint import Endpoint

_PASSING = {408, 409, 425, 429}
"""Statuses of a request that may succeed later, beside all from 500 on."""


def as_refusal(reply: Reply, endpoint: Endpoint, key: Key) -> Failure:
    """Return the failure that a reply with an error status is."""
    said = error_said(as_json(reply.body), key)
    told = f"HTTP {reply.status}" + f": {said}" * bool(said)
    again = reply.status in _PASSING or reply.status >= 500
    wait = seconds_to_wait(reply.headers.get("retry-after")) if again else None
    return Failure(f"HTTP {reply.status}", said, again, _stop(reply, endpoint, key, told), wait)


def _stop(reply: Reply, endpoint: Endpoint, key: Key, told: str) -> str:
    """Return the sentence that ends the run, if no other request can succeed either."""
    where, text = endpoint.name, reply.body.decode("utf-8", "replace")
    variable = f"the environment variable {endpoint.key_variable}"
    completions = f"{where}/chat/completions"
    match reply.status:
        case 401 | 403 if key:
            found = f"{where} refuses the key of {variable} ({told})"
            todo = "set it to a key for this server"
        case 401 | 403:
            found, todo = f"{where} wants a key ({told})", f"set {variable}"
        case 404:
            found = f"the server does not know the model {short(endpoint.model)} or {completions}"
            found, todo = f"{found} ({told})", "check both names"
        case 402 | 429 if reply.status == 402 or "insufficient_quota" in text:
            found, todo = f"{where} refuses further requests ({told})", "check your account there"
        case 400 | 422 if endpoint.json_object and "response_format" in text:
            found = f"{where} refuses response_format ({told})"
            todo = "leave it out (--omit response_format; in Python json_object=False)"
        case status if 300 <= status < 400:
            found = f"{where} redirects elsewhere ({told}), and the key would go there, too"
            todo = "give the URL of the endpoint itself"
        case _:
            return ""
    return f"{found}: {todo}"
