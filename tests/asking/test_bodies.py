"""Bodies and URLs of any content: a completion, a failure or one sentence, never another error."""

from __future__ import annotations

import json
from typing import Any

from asking.chats import request
from hypothesis import example, given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.llm.client import as_completion, parse_body, server_error_message
from karat.llm.endpoint import ApiKey, parse_address
from karat.llm.requests import Completion, EndpointFailure

KEY = ApiKey("K", "sk-secret-secret-secret")
NAMES = ["choices", "message", "content", "usage", "prompt_tokens", "error", "finish_reason", "x"]
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None))
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=12,
)


@given(ANYTHING)
@example({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": True}})
@example({"choices": [{"message": {}}]})
@example({"choices": {"0": {"message": {"content": "a"}}}})
@example({"error": ["a"]})
def test_any_json(run: Any) -> None:
    body = json.dumps(run).encode()
    done = as_completion(body, KEY, request("a"))
    assert isinstance(done, Completion | EndpointFailure)
    assert done.prompt_tokens >= 0
    assert len(server_error_message(parse_body(body), KEY)) < 200


@given(st.binary(max_size=60))
def test_any_bytes(body: bytes) -> None:
    assert isinstance(as_completion(body, KEY, request("a")), EndpointFailure)


@given(st.text(st.sampled_from("htps:/@[]?#%.0v1 \n\\é-")) | st.text(max_size=30))
@example("http://[::1]:80/v1/")
@example("http://a.b:1/c")
def test_any_url(url: str) -> None:
    for spelled in (url, f"http://{url}", f"https://localhost{url}"):
        try:
            address = parse_address(spelled)
        except InputError:
            continue
        assert parse_address(address.url) == address
        assert address.url.isascii()
        assert address.url.isprintable()
