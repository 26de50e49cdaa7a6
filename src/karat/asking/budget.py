"""The budget of a run: a request is sent only if what it may cost at most is left."""

from __future__ import annotations

from karat.asking.jobs import Job
from karat.asking.limits import Limits


class Budget:
    """Costs so far, and the most that requests under way may cost.

    The prompt's tokens are estimated and the completion has `max_tokens`; without `max_tokens`, or
    where the estimate is low, the last requests may cost more than is left.
    """

    def __init__(self, limits: Limits, max_tokens: int | None) -> None:
        self._limits, self._completion = limits, max_tokens or 0
        self._sent = 0
        self._spent = (0, 0)
        self._held: dict[Job, tuple[int, int]] = {}

    def allows(self, job: Job) -> bool:
        """Return whether the request can be sent now."""
        return self._holds([*self._held.values(), self._most(job)])

    def is_out(self, job: Job) -> bool:
        """Return whether the request cannot be sent even if those under way cost nothing."""
        return not self._holds([self._most(job)])

    def send(self, job: Job) -> None:
        """Count a request as sent and hold back what it may cost."""
        self._sent += 1
        self._held[job] = self._most(job)

    def settle(self, job: Job, prompt_tokens: int, completion_tokens: int) -> None:
        """Count what a request cost."""
        self._held.pop(job, None)
        self._spent = (self._spent[0] + prompt_tokens, self._spent[1] + completion_tokens)

    def _most(self, job: Job) -> tuple[int, int]:
        return job.prompt_tokens, self._completion

    def _holds(self, more: list[tuple[int, int]]) -> bool:
        limits = self._limits
        prompt = self._spent[0] + sum(part for part, _ in more)
        completion = self._spent[1] + sum(part for _, part in more)
        cost = limits.cost(prompt, completion) or 0.0
        return (
            (limits.budget_requests is None or self._sent < limits.budget_requests)
            and (limits.budget_tokens is None or prompt + completion <= limits.budget_tokens)
            and (limits.budget_money is None or cost <= limits.budget_money)
        )
