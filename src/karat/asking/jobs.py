"""Jobs: requests that are asked in a run, and what became of their attempts."""

from __future__ import annotations

from dataclasses import dataclass, field

from karat.asking.requests import Request, estimated_prompt


@dataclass(eq=False)
class Job:
    """A request that has no stored answer."""

    request: Request
    key: str
    """The cache's name of the request."""
    places: list[int] = field(default_factory=list)
    """The places of all requests of the run with this key."""
    tries: int = 0
    """Attempts in this run."""
    rejections: int = 0
    """Invalid answers in all runs."""
    in_flight: bool = False
    """Whether a run was killed while the request was under way."""

    @property
    def prompt_tokens(self) -> int:
        """The estimated tokens of the messages."""
        return estimated_prompt(self.request)
