"""The parts of the scores that `karat score` shows: all, a wide table, the worst segments."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.cli import options
from karat.cli.parameters import OUTPUT, option, whole
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.results import Result
    from karat.scoring import Scoring


class Layout(NamedTuple):
    """The options that say what is shown."""

    worst: int | None
    best: int | None
    sort: str | None
    wide: bool

    @property
    def ranks(self) -> bool:
        """True if segments are ranked."""
        return (self.worst, self.best, self.sort) != (None, None, None)

    def check(self, **others: bool) -> None:
        """Refuse other options that do not go with these."""
        names = {f"--{name.replace('_', '-')}": given for name, given in others.items()}
        shows = "--worst, --best and --sort show segments" if self.ranks else "--wide shows systems"
        refused = [*names, "--wide"] if self.ranks else ["--segments"] if self.wide else []
        for name in refused:
            if names.get(name, self.wide):
                raise InputError(f"{shows}: leave out {name}")

    def of(self, found: Scoring) -> Result:
        """Return what is shown; all segments if no number of them was given."""
        if not self.ranks:
            return found.wide() if self.wide else found
        worst = self.worst or 0
        if self.worst is None and self.best is None:
            worst = max(map(len, found.values.values()))
        return found.ranked(worst=worst, best=self.best or 0, by=self.sort)


def layout(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--worst`, `--best`, `--sort` and `--wide`: `layout`."""

    @wraps(function)
    def called(**more: Any) -> Any:
        return function(layout=Layout(*(more.pop(name) for name in Layout._fields)), **more)

    told = "Show the N {} segments of each system, with their texts."
    sort = (
        "Metric that ranks the segments. Default: the first. Without --worst or --best, show all."
    )
    found = options.wide(called)
    found = option("--sort", sort, metavar="METRIC", heading=OUTPUT)(found)
    found = option("--best", told.format("best"), whole(1), heading=OUTPUT)(found)
    return option("--worst", told.format("worst"), whole(1))(found)
