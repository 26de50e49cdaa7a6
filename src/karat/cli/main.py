"""`karat`: the group of all commands, and the place where errors become messages."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click
from click.shell_completion import shell_complete

from karat import __version__
from karat.cli.command import Commands, usage_sentence
from karat.errors import Interrupted, KaratError
from karat.installation import broken_installation, conflict
from karat.registry import declared, plugins

_CORE = "karat.cli.commands"
COMMANDS = {
    "score": (f"{_CORE}.score:score_command", "Score the output of systems against references."),
    "compare": (
        f"{_CORE}.score:compare_command",
        "Compare systems with a baseline, with paired tests.",
    ),
    "power": (f"{_CORE}.score:power_command", "Plan how many units a comparison needs."),
    "estimate": (f"{_CORE}.estimate", "Estimate human scores from few labels and a judge."),
    "gate": (f"{_CORE}.gate", "Pass or fail a run against a baseline file."),
    "merge": (f"{_CORE}.score:merge_command", "Merge the shards of a table and show its scores."),
    "grid": (
        f"{_CORE}.segments:grid_command",
        "Draw the words shared by a candidate and its references.",
    ),
    "explain": (
        f"{_CORE}.segments:explain_command",
        "Explain a tree accuracy, or show the facts that differ.",
    ),
    "meta": (f"{_CORE}.meta:meta_command", "Rank metrics by their agreement with human scores."),
    "meta challenge": (
        f"{_CORE}.meta:challenge_command",
        "Show which planted errors metrics notice.",
    ),
    "meta fit": (f"{_CORE}.meta:fit_command", "Fit human scores to metrics by least squares."),
    "meta gains": (
        f"{_CORE}.meta:gains_command",
        "Show how often people agree with gains in metrics.",
    ),
    "meta reliability": (
        f"{_CORE}.meta:reliability_command",
        "Show agreement with humans by text length.",
    ),
    "plane": (f"{_CORE}.plane", "Choose the AEv metric that fits a task."),
    "data": (f"{_CORE}.data", "Check, convert and list evaluation sets."),
    **declared("commands"),
    "reproduce": (
        f"{_CORE}.demo:reproduce_command",
        "Make a paper's main table again and compare it.",
    ),
    "metrics": (f"{_CORE}.score:metrics_command", "List the metrics and their settings."),
    "demo": (f"{_CORE}.demo:demo_command", "Run a comparison on bundled texts and write a report."),
    "completion": (f"{_CORE}.demo:completion_command", "Print the completion script for a shell."),
}
"""Name -> module (and attribute, if it is not `command`), and the line in the help."""

BUG = 70
"""Exit code of an unexpected error (`EX_SOFTWARE`): 1 would be a failed gate."""


def _print_version(context: click.Context, parameter: click.Parameter, requested: bool) -> None:
    """Print the version, and a warning if the other distribution `karat` is installed."""
    if not requested or context.resilient_parsing:
        return
    click.echo(f"karat {__version__}")
    if problem := conflict():
        _fail(problem, 2)
    context.exit()


@click.group(cls=Commands, listed=COMMANDS)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Score generated text against references, and explain the scores.

    \b
    karat score output.txt -r reference.txt
    karat compare a.txt b.txt -r reference.txt --baseline a
    karat demo
    """


def run() -> None:
    """Run `karat`; turn every error into one sentence and an exit code."""
    # Matrices are small here: a second BLAS thread would only spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller (`>&-`)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - stays open until exit
    try:
        code = main(sys.argv[1:])
    except Exception as error:
        if problem := broken_installation(error):
            sys.exit(_fail(problem, 2))
        import traceback

        traceback.print_exc()
        code = _fail("this is a bug in karat; please report it with the lines above", BUG)
    sys.exit(code)


def main(args: list[str]) -> int:
    """Run a command line and return its exit code."""
    completion_request = os.environ.get("_KARAT_COMPLETE")
    if completion_request:
        return shell_complete(cli, {}, "karat", "_KARAT_COMPLETE", completion_request)
    try:
        # Not cli.main(), which handles closed pipes and Ctrl-C differently.
        with cli.make_context("karat", args or ["--help"]) as context:
            cli.invoke(context)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except OSError as error:
        # Discard buffered output, so that flushing at exit raises no second error.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader closed the pipe (`| head`)
            return 0
        return _fail(f"cannot write the result: {error.strerror or error}", 2)
    except (Exception, KeyboardInterrupt) as error:
        return _fail(*_sentence(error, args))


_KEEPING = ("--shards", "--work")
"""Options that name a folder in which finished parts are kept."""


def _sentence(error: BaseException, words: list[str]) -> tuple[str, int]:
    """Return the message and the exit code for an error."""
    if isinstance(error, click.ClickException):
        return usage_sentence(error, cli.command_for(words), words), 2
    if isinstance(error, Interrupted | KeyboardInterrupt | click.Abort):
        if any(word.partition("=")[0] in _KEEPING for word in words):
            advice = "finished parts are kept: run the same command again to continue"
            return f"interrupted; {advice}", 130
        return "interrupted; nothing was written", 130
    if isinstance(error, MemoryError):
        return "not enough memory", 2
    if not isinstance(error, KaratError):
        if not plugins():
            raise error
        packages = f"with {', '.join(plugins())} in use"  # the error may be a plug-in's
        return f"{type(error).__name__} {packages}: {error}", 2
    return str(error), 2


def _fail(message: str, code: int) -> int:
    from karat.errors import visible

    with suppress(OSError):
        print(f"karat: {visible(message)}", file=sys.stderr, flush=True)
    return code
