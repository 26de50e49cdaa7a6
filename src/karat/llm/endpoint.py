"""Endpoints of language models: their address, their API key, and the parameters sent."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from base64 import b64encode
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from karat.errors import InputError, quoted
from karat.llm.requests import MAX_SECONDS, Request

EXAMPLE = "http://localhost:8000/v1"
_COMPLETIONS = "/chat/completions"
_PORTS = {"http": 80, "https": 443}
_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")
_HOST = re.compile(r"[A-Za-z0-9._%:-]+")


class Address(NamedTuple):
    """Parsed base URL of an endpoint; requests go to `path` + /chat/completions."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def secure(self) -> bool:
        """Whether the connection is encrypted."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The host, with its port unless it is the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The base URL in canonical form."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def target(self) -> str:
        """The path that requests are sent to."""
        return self.path + _COMPLETIONS


def parse_address(url: str) -> Address:
    """Parse the URL of an endpoint; messages do not quote a URL that may hold a secret."""

    def url_error(reason: str) -> InputError:
        problem = f"the endpoint's URL {quoted(url)} {reason}"
        return InputError(f"{problem}: expected one such as {EXAMPLE}")

    if "@" in url:
        raise InputError(
            "the endpoint's URL has a user name or password in it (`@`): take it out, and give the "
            "key by the environment variable"
        )
    if "?" in url or "#" in url:
        raise InputError(
            f"the endpoint's URL has a query (`?` or `#`), which may hold a key: expected a base "
            f"URL such as {EXAMPLE}, and the key in the environment variable"
        )
    if not (url.isascii() and url.isprintable()) or " " in url or "\\" in url:
        raise url_error("has a character that URLs do not have")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # unmatched brackets, or a port that is not a number or out of range
        raise url_error("has no valid host and port") from None
    if parts.scheme not in _PORTS or "://" not in url:  # not quoted: it may be the key
        raise InputError(
            f"the endpoint's URL does not begin with http:// or https://: expected {EXAMPLE}, for "
            "example"
        )
    if not _HOST.fullmatch(parts.hostname or ""):
        raise url_error("has no valid host")
    if port == 0:
        raise url_error("has the port 0")
    if not _PATH.fullmatch(parts.path):
        raise url_error("has a character in its path that must be percent-encoded")
    path = parts.path.rstrip("/").removesuffix(_COMPLETIONS).rstrip("/")
    return Address(parts.scheme, parts.hostname or "", port or _PORTS[parts.scheme], path)


DEFAULT_VARIABLE = "OPENAI_API_KEY"
MIN_SECRET_LENGTH = 8
"""Shorter keys are not secrets: servers without keys are often given `EMPTY` or `x`, which are
ordinary words in answers."""
PLACEHOLDERS = frozenset({"sk-no-key-required", "no-key-required", "not-needed", "placeholder"})
"""Longer keys from the manuals of servers without keys; they are not secrets either."""
FRAGMENT = 8
"""Length of the shortest part of a key that is hidden."""
_REPLACEMENT = "[key]"
_VENDOR_PREFIX = re.compile(r"sk-((proj|ant|or|svcacct|admin)-)?((api\d\d|v\d)-)?")
_ESCAPE_LENGTH = 6
"""Longest escape of one character, such as `&#x2F;`. Two hidden parts at most this far apart, with
no space between them, are one key in an unknown spelling."""
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class ApiKey:
    """The API key of an endpoint, possibly empty; no representation shows its text."""

    __slots__ = ("_fragments", "_public_prefix", "_text", "variable")

    def __init__(self, variable: str, text: str = "") -> None:
        self.variable, self._text = variable, text
        is_secret = len(text) >= MIN_SECRET_LENGTH and text not in PLACEHOLDERS
        self._fragments = _fragments(text) if is_secret else frozenset()
        prefix = _VENDOR_PREFIX.match(text)
        self._public_prefix = prefix[0] if prefix else ""

    def __repr__(self) -> str:
        return f"Key({self.variable!r}, hidden)"

    def __bool__(self) -> bool:
        return bool(self._text)

    def headers(self) -> dict[str, str]:
        """Return the header with the key, or no header without a key."""
        return {"Authorization": f"Bearer {self._text}"} if self._text else {}

    def redact(self, text: str) -> str:
        """Return `text` without the key and its parts of FRAGMENT characters or more.

        The key is recognised in every spelling of `_spellings`, in upper and lower case.
        """
        pieces, end = [], 0
        for start, stop in self._secret_ranges(text):
            pieces += [text[end:start], _REPLACEMENT]
            end = stop
        return "".join([*pieces, text[end:]])

    def is_in(self, text: str) -> bool:
        """Return whether `text` contains the key or a part of it."""
        return bool(self._secret_ranges(text))

    def _secret_ranges(self, text: str) -> list[tuple[int, int]]:
        """Return the disjoint ranges of `text` to hide, in order.

        A vendor's public prefix, such as `sk-proj-`, is not hidden if it occurs alone.
        """
        if not self._fragments:
            return []
        lowered = text.translate(_ASCII_LOWER)
        ranges: list[tuple[int, int]] = []
        for start in range(len(lowered) - FRAGMENT + 1):
            if lowered[start : start + FRAGMENT] not in self._fragments:
                continue
            gap = text[ranges[-1][1] : start] if ranges else ""  # empty if parts overlap
            if ranges and len(gap) <= _ESCAPE_LENGTH and not re.search(r"\s", gap):
                ranges[-1] = ranges[-1][0], start + FRAGMENT
            else:
                ranges.append((start, start + FRAGMENT))
        return [
            (start, stop)
            for start, stop in ranges
            if lowered[start:stop] not in self._public_prefix
        ]


def _fragments(key: str) -> frozenset[str]:
    """Return all substrings of FRAGMENT characters of all spellings, in lower case."""
    return frozenset(
        spelling[start : start + FRAGMENT].translate(_ASCII_LOWER)
        for spelling in _spellings(key)
        for start in range(len(spelling) - FRAGMENT + 1)
    )


def _spellings(key: str) -> set[str]:
    """Return the forms in which a server may quote the key: escaped, encoded or plain."""
    data = key.encode("utf-8")
    encoded = {b64encode(bytes(shift) + data).decode("ascii") for shift in range(3)}
    # The first and last base64 characters depend on the text around the key; those between do not.
    # Three shifts cover every position of the key in a longer text.
    url_safe = {text.replace("+", "-").replace("/", "_") for text in encoded}
    escaped = {json.dumps(key)[1:-1], key.replace("/", r"\/"), html.escape(key), repr(key)[1:-1]}
    quoted = {quote(key, safe=""), quote(key), data.hex()}
    return {key} | escaped | quoted | encoded | url_safe


def read_key(variable: str) -> ApiKey:
    """Return the key in an environment variable, without surrounding white space.

    The default variable may be unset: then no key is sent. Any other variable must be set.
    """
    text = os.environ.get(variable, "").strip()
    if not text and variable != DEFAULT_VARIABLE:
        raise InputError(
            f"the environment variable {variable} holds no key: set it, or leave its name out "
            "if the server needs no key"
        )
    position = next((at for at, char in enumerate(text, 1) if not "!" <= char <= "~"), 0)
    if position:
        raise InputError(
            f"the key in the environment variable {variable} has a space or another character at "
            f"position {position} that no key has: set it again"
        )
    return ApiKey(variable, text)


DEMO = "demo"
"""The URL of the offline stand-in."""
REPLICATES = 1000
"""Distance of the seeds of two replicates; retries of invalid answers use the seeds between."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint.

    Args:
        url: base URL, such as http://localhost:8000/v1, or `demo` for the offline stand-in.
        model: name of the model on the server.
        key_variable: environment variable that holds the key, if the server needs one.
        temperature, max_tokens, seed: parameters of the model; None is not sent.
        timeout: maximum seconds of an attempt.
        json_object: request a JSON object (`response_format`); False for servers that lack it.
    """

    url: str
    model: str
    key_variable: str = DEFAULT_VARIABLE
    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    timeout: float = 120.0
    seed: int | None = 0
    json_object: bool = True

    def __post_init__(self) -> None:
        for name in ("url", "model", "key_variable"):
            if not isinstance(value := getattr(self, name), str):
                raise InputError(f"{name}={quoted(value)}: expected a string")
        if not self.is_demo:
            parse_address(self.url)
        if not self.model.strip() or not self.model.isprintable():
            raise InputError("the model's name is empty or has hidden characters: name a model")
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", self.key_variable):  # it may be the key
            raise InputError(
                "the name of the environment variable that holds the key must be of capital "
                f"letters, digits and underscores, such as {DEFAULT_VARIABLE}; give its name, not "
                "the key itself"
            )
        if not 0 < self.timeout <= MAX_SECONDS:
            expected = f"expected seconds, more than 0 and at most {MAX_SECONDS:,}"
            raise InputError(f"timeout={quoted(self.timeout)}: {expected}")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(f"temperature={quoted(self.temperature)}: expected 0 to 2")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InputError(f"max_tokens={quoted(self.max_tokens)}: expected at least 1")

    @property
    def is_demo(self) -> bool:
        """Whether this is the offline stand-in."""
        return self.url == DEMO

    @property
    def address(self) -> Address:
        """The parts of the URL."""
        return parse_address(self.url)

    @property
    def name(self) -> str:
        """The canonical URL, for messages and cache keys."""
        return DEMO if self.is_demo else self.address.url

    def key(self) -> ApiKey:
        """Return the key from the environment; raise InputError if URL or model contain it."""
        if self.is_demo:
            return ApiKey(self.key_variable)
        key = read_key(self.key_variable)
        for subject, text in {"URL": self.url, "model's name": self.model}.items():
            if key.is_in(text):
                raise InputError(
                    f"the {subject} has the key of {self.key_variable} in it: take it out; the "
                    "environment variable alone holds the key"
                )
        return key

    def body(self, request: Request, rejections: int = 0) -> dict[str, object]:
        """Return the body of a request; replicates and retries of invalid answers differ in seed.

        Parameters that are None are left out.
        """
        body: dict[str, object] = {"model": self.model}
        body["messages"] = [{"role": role, "content": text} for role, text in request.messages]
        if self.temperature is not None:
            body["temperature"] = float(self.temperature)  # 0 is 0.0
        if self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        if self.seed is not None:
            body["seed"] = self.seed + REPLICATES * request.replicate + rejections
        if self.json_object:
            body["response_format"] = {"type": "json_object"}
        return body

    def cache_key(self, request: Request) -> str:
        """Return the hash of everything that determines an answer."""
        from karat import __version__

        version = __version__ if self.is_demo else ""  # the stand-in changes with Karat
        parts = [self.name, version, self.body(request), request.schema, request.replicate]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()
