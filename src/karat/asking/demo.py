"""The offline stand-in of a language model, for documents and tests without a network."""

from __future__ import annotations

import json
from collections.abc import Sequence

from karat.asking.requests import Message


def answer(messages: Sequence[Message]) -> str:
    """Return a JSON object that repeats the last message: no language model at all."""
    return json.dumps({"echo": messages[-1].content})
