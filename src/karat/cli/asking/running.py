"""The way that commands go which ask a language model: plan or ask, write, report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from karat.cli.bar import Bar
from karat.cli.old_names import note
from karat.cli.options import command_line
from karat.cli.show import check_output, show
from karat.errors import Interrupted, OutputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.asking.interview.tasks import Asks


class Answered(Protocol):
    """A result whose judgements or nuggets go to a file."""

    @property
    def missing(self) -> Sequence[Any]: ...
    def save_log(self, path: str) -> None: ...
    def document(self, command: str = "") -> Any: ...


class Asking(NamedTuple):
    """Values of the options."""

    setup: Any
    judge: str
    dry_run: bool
    output: str
    format: str
    report: str | None
    prompt: str | None

    def check(self, inputs: Sequence[str]) -> None:
        """Refuse outputs that cannot be written or are inputs, before anything is read."""
        read = (*inputs, *([self.prompt] if self.prompt else []))
        cache = str(self.setup.cache)
        for written in (self.output, self.report, cache):
            check_output(written, read)
        names = [os.path.realpath(name) for name in (self.output, self.report, cache) if name]
        if len(set(names)) < len(names):
            raise OutputError("--output, --report and --cache must be different files")


def answer(asks: Asks, asking: Asking) -> None:
    """Ask a model, write its answers and show the report; or show the plan of a dry run."""
    from karat.asking.interview.plans import plan_task

    if asking.dry_run:
        plan = plan_task(asks, asking.setup)
        show(plan.document(command_line()), asking.format, asking.report)
        return
    kept = f"answers so far are in {asking.setup.cache}: run the same command again to continue"
    try:
        with Bar() as progress:
            found: Answered = asks.run(asking.setup, asking.judge, progress)
    except (Interrupted, KeyboardInterrupt) as stop:
        click.echo(f"karat: interrupted; {kept}", err=True)
        raise click.exceptions.Exit(130) from stop
    found.save_log(asking.output)
    show(found.document(command_line()), asking.format, asking.report)
    if count := sum(getattr(row, "missing", 1) for row in found.missing):
        missing = f"{count:,} {'is' if count == 1 else 'are'} missing"
        note(f"{missing} in {asking.output}; {kept}")
