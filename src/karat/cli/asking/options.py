"""Options of all commands that ask a language model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from karat.cli.asking.running import Asking
from karat.cli.options import FORMATS, checked_format, format_of, spreadsheet_safe
from karat.cli.parameters import (
    INPUT,
    MODEL,
    OUTPUT,
    Command,
    Listing,
    Numbers,
    bundle,
    choice,
    flag,
    option,
    path,
    whole,
)
from karat.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.asking.limits import Limits

DEMO, DEMO_MODEL = "demo", "word overlap"
CACHE = ".cache.sqlite"
"""Ending of the cache beside the output."""
_PARAMETERS: dict[str, dict[str, Any]] = {
    "temperature": {"temperature": None},
    "max_tokens": {"max_tokens": None},
    "seed": {"seed": None},
    "response_format": {"json_object": False},
}
"""Parameters that need not be sent -> settings of the endpoint that leave them out."""
_BUDGETS = ("requests", "tokens", "cost")


def _limits(budget: tuple[str, ...], price: tuple[float, ...] | None, **given: Any) -> Limits:
    from karat.asking.limits import Limits, Prices

    if price is not None and len(price) != 2:
        raise click.UsageError("--price: expected two numbers, IN,OUT for a million tokens each")
    found = {}
    for text in budget:
        name, equals, value = text.rpartition("=")
        name = name if equals else "requests"
        if name not in _BUDGETS or name in found:
            told = "expected requests=N, tokens=N or cost=X, each once"
            raise click.UsageError(f"--budget {text}: {told}")
        found[name] = _amount(text, value, whole=name != "cost")
    if "cost" in found and price is None:
        raise click.UsageError("--budget cost=X needs --price IN,OUT: add it")
    return Limits(
        **given,
        budget_requests=found.get("requests"),
        budget_tokens=found.get("tokens"),
        budget_money=found.get("cost"),
        prices=None if price is None else Prices(*price),
    )


def _amount(text: str, value: str, whole: bool) -> Any:
    try:
        found = int(value) if whole else float(value)
    except ValueError:
        found = 0
    if not (math.isfinite(found) and found > 0):
        kind = "a whole number" if whole else "a number"
        raise click.UsageError(f"--budget {text}: expected {kind} above 0")
    return found


def _asking(
    endpoint: str, model: str | None, cache: str | None, output: str, **given: Any
) -> Asking:
    """Return the values of the options as a command uses them."""
    from karat.asking.endpoint import Endpoint
    from karat.asking.interview.tasks import Setup

    if model is None and endpoint != DEMO:
        raise click.UsageError("--model is missing: name the model of the endpoint")
    keys = ("key_variable", "temperature", "max_tokens", "timeout")
    how = {key: given.pop(key) for key in keys}
    for name in given.pop("omit"):
        how |= _PARAMETERS[name]
    where = Endpoint(endpoint, model or DEMO_MODEL, **how)
    bounds = ("budget", "price", "concurrency", "rate", "attempts")
    limits = _limits(**{key: given.pop(key) for key in bounds})
    setup = Setup(where, cache or output + CACHE, limits, given.pop("replicates", 1))
    judge = given.pop("judge", None) or ""
    if judge and not judge.isprintable():
        raise InputError(f"--judge {quoted(judge)}: expected a name without line ends and tabs")
    return Asking(setup, judge, output=output, **given)


def _ending(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Return the format that was asked for, or the one of the report's ending."""
    return checked_format(ctx, format_of(str(ctx.params.get("report") or ""), value))


_WHERE = (
    option(
        "--endpoint",
        "Base URL of an OpenAI-compatible server, such as http://localhost:8000/v1, or demo for "
        "the offline stand-in (word overlap, no model).",
        required=True,
        metavar="URL",
    ),
    option("--model", "Name of the model, as the server knows it.", metavar="NAME"),
)
_HOW = (
    flag("--dry-run", "Show requests, tokens and cost. Nothing is sent."),
    option(
        "--budget",
        "Most requests of this run, or tokens=N, or cost=X (needs --price). Repeat for several.",
        multiple=True,
        metavar="N",
    ),
    option(
        "--price",
        "Prices of a million tokens of prompts and of answers, in any currency.",
        Numbers(),
        metavar="IN,OUT",
        heading=MODEL,
    ),
    option(
        "--key-variable",
        "Environment variable that holds the key. The key is never stored.",
        default="OPENAI_API_KEY",
        show_default=True,
        metavar="NAME",
        heading=MODEL,
    ),
    option("--temperature", "Temperature.", float, 0.0, metavar="X", heading=MODEL),
    option(
        "--omit",
        "Parameter that the server does not know, to be left out: temperature, max_tokens, seed or "
        "response_format. Repeat for several.",
        choice(*_PARAMETERS),
        multiple=True,
        metavar="NAME",
        heading=MODEL,
    ),
    option(
        "--prompt",
        "File with another prompt (see `karat judge prompts`).",
        path,
        heading=MODEL,
    ),
    option(
        "--cache",
        f"File that keeps all answers. None is asked for twice. Default: the output with {CACHE}.",
        path,
        heading=MODEL,
    ),
    option("--concurrency", "Requests at the same time.", whole(1), 4, heading=MODEL),
    option("--rate", "Most requests a minute.", float, metavar="X", heading=MODEL),
    option("--attempts", "Attempts for an answer.", whole(1), 5, heading=MODEL),
    option("--timeout", "Seconds for an attempt.", float, 120.0, metavar="X", heading=MODEL),
)
_JUDGE = (
    option(
        "--judge",
        "Name of the judge in the log. Default: the model.",
        metavar="NAME",
        heading=MODEL,
    ),
    option(
        "--replicates",
        "Answers to each request. Their mean counts; of labels, the median.",
        whole(1, 1000),
        1,
        heading=MODEL,
    ),
)
_REPORT = (
    option(
        "--report",
        "Write the report to FILE, such as page.html (atomic). Default: print it.",
        path,
        is_eager=True,
        heading=OUTPUT,
    ),
    option(
        "-f --format format",
        "Format of the report: {names}. Default: by the ending of --report, else text.",
        choice(*FORMATS),
        callback=_ending,
        metavar="FORMAT",
        cls=Listing,
        registry="renderers",
        heading=OUTPUT,
    ),
)


def asking(
    written: str, *, max_tokens: int = 1024, judge: bool = True
) -> Callable[[Command], Command]:
    """Return the options of a command that asks a model: `asking`; `written` is what -o is."""
    output = option("-o --output", f"Write {written} to FILE (atomic).", path, required=True)
    most = option("--max-tokens", "Most tokens of an answer.", whole(1), max_tokens, heading=MODEL)
    more = (most, *(_JUDGE if judge else ()), *_REPORT)
    options = bundle("asking", *_WHERE, output, *_HOW, *more, make=_asking)
    return lambda function: options(spreadsheet_safe(function))


def sample(what: str) -> Callable[[Command], Command]:
    """Return `--sample`: how many segments or questions are asked about."""
    return option("--sample", f"Ask about N random {what}s only.", whole(1))


seed = option(
    "--seed", "Seed of the sample and of random orders.", whole(min=0), 12345, heading=INPUT
)
