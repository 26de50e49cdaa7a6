"""Endpoints: where a language model is asked, which one, and with which parameters."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from karat.asking.client.address import Address, as_address
from karat.asking.client.keys import DEFAULT, Key, check_variable, key_of
from karat.asking.limits import LONGEST
from karat.asking.requests import Request
from karat.errors import InputError, quoted

DEMO = "demo"
"""The URL of the offline stand-in."""
REPLICATES = 1000
"""Seeds between two replicates: as many invalid answers may be asked again."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint.

    Parameters
    ----------
    url : str
        Base URL, such as http://localhost:8000/v1, or `demo` for the offline stand-in.
    model : str
        Name of the model, as the server knows it.
    key_variable : str
        Environment variable that holds the key. Without a key, none is sent.
    temperature, max_tokens, seed : float, int, int
        Parameters of the model; None is not sent.
    timeout : float
        Seconds that an attempt may take in all.
    json_object : bool
        Ask for a JSON object (`response_format`). Turn it off for servers that do not know it.
    """

    url: str
    model: str
    key_variable: str = DEFAULT
    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    timeout: float = 120.0
    seed: int | None = 0
    json_object: bool = True

    def __post_init__(self) -> None:
        for name in ("url", "model", "key_variable"):
            if not isinstance(given := getattr(self, name), str):
                raise InputError(f"{name}={quoted(given)}: expected a string")
        if not self.is_demo:
            as_address(self.url)
        if not self.model.strip() or not self.model.isprintable():
            raise InputError("the model's name is empty or has hidden characters: name a model")
        check_variable(self.key_variable)
        if not 0 < self.timeout <= LONGEST:
            told = f"expected seconds, more than 0 and at most {LONGEST:,}"
            raise InputError(f"timeout={quoted(self.timeout)}: {told}")
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
        return as_address(self.url)

    @property
    def name(self) -> str:
        """The URL in one spelling, for messages and cache keys."""
        return DEMO if self.is_demo else self.address.url

    def key(self) -> Key:
        """Return the key of the environment, which must be nowhere else."""
        if self.is_demo:
            return Key(self.key_variable)
        key = key_of(self.key_variable)
        for what, text in {"URL": self.url, "model's name": self.model}.items():
            if key.is_in(text):
                raise InputError(
                    f"the {what} has the key of {self.key_variable} in it: take it out; the "
                    "environment variable alone holds the key"
                )
        return key

    def parameters(self, request: Request, rejections: int = 0) -> dict[str, object]:
        """Return the parameters of a request; another answer is wanted of another seed."""
        seed = None
        if self.seed is not None:
            seed = self.seed + REPLICATES * request.replicate + rejections
        found: dict[str, object] = {
            "temperature": None
            if self.temperature is None
            else float(self.temperature),  # 0 is 0.0
            "max_tokens": self.max_tokens,
            "seed": seed,
            "response_format": {"type": "json_object"} if self.json_object else None,
        }
        return {key: value for key, value in found.items() if value is not None}

    def body(self, request: Request, rejections: int = 0) -> dict[str, object]:
        """Return what is sent; `rejections` answers to it were invalid."""
        messages = [{"role": role, "content": content} for role, content in request.messages]
        parameters = self.parameters(request, rejections)
        return {"model": self.model, "messages": messages, **parameters}

    def cache_key(self, request: Request) -> str:
        """Return the hash of everything that an answer depends on."""
        from karat import __version__

        version = __version__ if self.is_demo else ""  # the stand-in is a part of Karat
        parts = [self.name, version, self.body(request), request.schema, request.replicate]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()
