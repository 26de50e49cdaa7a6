"""`karat judge`, and the options of all commands that use a language model."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli import options
from karat.cli.command import Command, command_group
from karat.cli.inputs import SetInput
from karat.cli.options import command_line, report_format, spreadsheet_safe
from karat.cli.parameters import (
    CommandFunction,
    Numbers,
    bundle,
    choice,
    flag,
    integer,
    option,
    path,
)
from karat.cli.show import check_output, note, say, show
from karat.errors import InputError, Interrupted, OutputError, quoted
from karat.headings import INPUT, MODEL, OUTPUT
from karat.meta.settings import JudgeCheckSettings, SpanSettings
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar
from karat.report.render.renderers import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from karat.llm.interview import ModelTask
    from karat.llm.requests import Limits


class ModelOptions(NamedTuple):
    """Options of a command that uses a language model."""

    setup: Any
    judge: str
    dry_run: bool
    output: str
    format: str
    report: str | None
    prompt: str | None

    def check(self, inputs: Sequence[str]) -> None:
        """Raise an error for outputs that are inputs or cannot be written, before reading."""
        read = (*inputs, *([self.prompt] if self.prompt else []))
        cache = str(self.setup.cache)
        for written in (self.output, self.report, cache):
            check_output(written, read)
        names = [os.path.realpath(name) for name in (self.output, self.report, cache) if name]
        if len(set(names)) < len(names):
            raise OutputError("--output, --report and --cache must be different files")


def run_task(model_task: ModelTask, asking: ModelOptions) -> None:
    """Ask a model, write its answers and show the report; or show the plan of a dry run."""
    from karat.llm.interview import plan_task

    if asking.dry_run:
        plan = plan_task(model_task, asking.setup)
        show(plan.document(command_line()), asking.format, asking.report)
        return
    advice = f"answers so far are in {asking.setup.cache}: run the same command again to continue"
    try:
        with Bar() as progress:
            result = model_task.run(asking.setup, asking.judge, progress)
    except (Interrupted, KeyboardInterrupt) as stop:
        click.echo(f"karat: interrupted; {advice}", err=True)
        raise click.exceptions.Exit(130) from stop
    result.save_log(asking.output)
    show(result.document(command_line()), asking.format, asking.report)
    if count := sum(getattr(row, "missing", 1) for row in result.missing):
        missing = f"{count:,} {'is' if count == 1 else 'are'} missing"
        note(f"{missing} in {asking.output}; {advice}")


DEMO, DEMO_MODEL = "demo", "word overlap"
CACHE = ".cache.sqlite"
"""Suffix of the default cache, next to the output."""
_PARAMETERS: dict[str, dict[str, Any]] = {
    "temperature": {"temperature": None},
    "max_tokens": {"max_tokens": None},
    "seed": {"seed": None},
    "response_format": {"json_object": False},
}
"""Optional parameter -> endpoint settings that omit it."""
_BUDGETS = {"requests": "budget_requests", "tokens": "budget_tokens", "cost": "budget_money"}
"""Names of budgets -> limits of a run."""


def _limits(budget: tuple[str, ...], price: tuple[float, ...] | None, **settings: Any) -> Limits:
    from karat.llm.requests import Limits, Prices

    if price is not None and len(price) != 2:
        raise click.UsageError("--price: expected two numbers, IN,OUT for a million tokens each")
    for text in budget:
        name, equals, value = text.rpartition("=")
        name = name if equals else "requests"
        if name not in _BUDGETS or _BUDGETS[name] in settings:
            expected = "expected requests=N, tokens=N or cost=X, each once"
            raise click.UsageError(f"--budget {text}: {expected}")
        try:
            amount = float(value) if name == "cost" else int(value)
        except ValueError:
            amount = 0
        if not (math.isfinite(amount) and amount > 0):
            kind = "a number" if name == "cost" else "a whole number"
            raise click.UsageError(f"--budget {text}: expected {kind} above 0")
        settings[_BUDGETS[name]] = amount
    if "budget_money" in settings and price is None:
        raise click.UsageError("--budget cost=X needs --price IN,OUT: add it")
    return Limits(**settings, prices=None if price is None else Prices(*price))


def _asking(
    endpoint: str, model: str | None, cache: str | None, output: str, **values: Any
) -> ModelOptions:
    """Make `ModelOptions` from the values of the command line."""
    from karat.llm.endpoint import Endpoint
    from karat.llm.interview import Setup

    if model is None and endpoint != DEMO:
        raise click.UsageError("--model is missing: name the model of the endpoint")
    keys = ("key_variable", "temperature", "max_tokens", "timeout")
    parameters = {key: values.pop(key) for key in keys}
    for name in values.pop("omit"):
        parameters |= _PARAMETERS[name]
    model_endpoint = Endpoint(endpoint, model or DEMO_MODEL, **parameters)
    bounds = ("budget", "price", "concurrency", "rate", "attempts")
    limits = _limits(**{key: values.pop(key) for key in bounds})
    setup = Setup(model_endpoint, cache or output + CACHE, limits, values.pop("replicates", 1))
    judge = values.pop("judge", None) or ""
    if judge and not judge.isprintable():
        raise InputError(f"--judge {quoted(judge)}: expected a name without line ends and tabs")
    return ModelOptions(setup, judge, output=output, **values)


def _ending(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Return the requested format, by default that of the report's suffix."""
    return report_format(ctx, ctx.params.get("report"), value)


_SERVER_OPTIONS = (
    option(
        "--endpoint",
        "Base URL of an OpenAI-compatible server, such as http://localhost:8000/v1, or demo for "
        "the offline stand-in (word overlap, no model).",
        required=True,
        metavar="URL",
    ),
    option("--model", "Name of the model, as the server knows it.", metavar="NAME"),
)
_REQUEST_OPTIONS = (
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
    option("--concurrency", "Requests at the same time.", integer(1), 4, heading=MODEL),
    option("--rate", "Most requests a minute.", float, metavar="X", heading=MODEL),
    option("--attempts", "Attempts for an answer.", integer(1), 5, heading=MODEL),
    option("--timeout", "Seconds for an attempt.", float, 120.0, metavar="X", heading=MODEL),
)
_JUDGE_OPTIONS = (
    option(
        "--judge",
        "Name of the judge in the log. Default: the model.",
        metavar="NAME",
        heading=MODEL,
    ),
    option(
        "--replicates",
        "Answers to each request. Their mean counts; of labels, the median.",
        integer(1, 1000),
        1,
        heading=MODEL,
    ),
)
_REPORT_OPTIONS = (
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
        registry="renderers",
        heading=OUTPUT,
    ),
)


def model_options(
    output_contents: str, *, max_tokens: int = 1024, with_judge_options: bool = True
) -> Callable[[CommandFunction], CommandFunction]:
    """Add the options of a command that uses a model, as the parameter `asking`.

    The help of -o says that it writes `output_contents`.
    """
    output = option(
        "-o --output", f"Write {output_contents} to FILE (atomic).", path, required=True
    )
    max_tokens_option = option(
        "--max-tokens", "Most tokens of an answer.", integer(1), max_tokens, heading=MODEL
    )
    options = bundle(
        "asking",
        *_SERVER_OPTIONS,
        output,
        *_REQUEST_OPTIONS,
        max_tokens_option,
        *(_JUDGE_OPTIONS if with_judge_options else ()),
        *_REPORT_OPTIONS,
        make=_asking,
    )
    return lambda function: options(spreadsheet_safe(function))


def sample(unit: str) -> Callable[[CommandFunction], CommandFunction]:
    """Return `--sample`: the number of segments or questions to judge."""
    return option("--sample", f"Ask about N random {unit}s only.", integer(1))


seed = option(
    "--seed", "Seed of the sample and of random orders.", integer(min=0), 12345, heading=INPUT
)


_ENDS = re.compile(r"(-?[0-9.]+)-(-?[0-9.]+)")


class ScaleEnds(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """Ends of a scale, such as 1-5; whole numbers become integers."""

    name = "low-high"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        if isinstance(value, tuple):
            return value[0], value[1]
        match = _ENDS.fullmatch(str(value))
        try:
            low, high = (float(end) for end in match.groups()) if match else (math.nan, math.nan)
        except ValueError:
            low = high = math.nan
        if not low < high:
            self.fail(f"found {value!r}, expected a lower and a higher end such as 1-5", param, ctx)
        low, high = (int(end) if end.is_integer() else end for end in (low, high))
        return low, high


guideline = option(
    "--guideline",
    "Question to answer. Default: that of SET.",
    default="",
    show_default=False,
    metavar="TEXT",
)


COMMANDS = {
    "ratings": ("karat.llm.cli:judge_ratings", "Rate outputs on the scale of a dimension."),
    "pairs": ("karat.llm.cli:judge_pairs", "Compare outputs of two systems, in both orders."),
    "nuggets": ("karat.llm.cli:judge_nuggets", "Decide which responses contain which nuggets."),
    "check": ("karat.llm.cli:judge_check", "Test whether a judge may replace people."),
    "spans": ("karat.llm.cli:judge_spans", "Compare the errors that judges marked in outputs."),
    "prompts": ("karat.llm.cli:judge_prompts", "List, print or copy the prompts."),
}
"""Name -> function and its line in `karat judge --help`."""

judge = command_group(
    "judge",
    COMMANDS,
    """Let a language model judge outputs, over any OpenAI-compatible endpoint.

    \b
    karat judge ratings demo -d fluency --endpoint demo -o log.jsonl
    karat judge pairs demo --baseline atlas --endpoint demo -o pairs.jsonl
    karat judge nuggets demo-nuggets --endpoint demo -o labels.jsonl
    karat judge check SET -j log.jsonl
    """,
)


@click.command(name="ratings", cls=Command)
@options.set_argument
@option("-d --dimension", "Quality to rate, such as fluency.", required=True, metavar="NAME")
@option("--scale", "Ends of the scale, such as 1-5. Default: those of SET.", ScaleEnds())
@guideline
@option("--batch", "Outputs of a segment in one request, in random order.", integer(1), 1)
@sample("segment")
@model_options("the ratings as JSON lines")
@options.outputs_reader
@seed
def judge_ratings(source: SetInput, asking: ModelOptions, **values: Any) -> None:
    """Let a language model rate the outputs of an evaluation set.

    The model sees texts without the names of systems, and quotes the words that decide a rating. An
    answer that is not valid is asked for again, and is missing in the end. To compare the log with
    people: `karat data judges SET -j log.jsonl`.

    \b
    karat judge ratings demo -d fluency --endpoint demo -o log.jsonl
    karat judge ratings demo -d style --scale 1-7 --endpoint demo -o log.jsonl
    karat judge ratings SET -d x --endpoint URL --model M -o log.jsonl --dry-run
    """
    from karat.llm.ratings import rating_task

    asking.check([source.name])
    with Bar() as progress:
        evalset = source.load(progress)
    run_task(rating_task(evalset, **values, prompt=asking.prompt), asking)


@click.command(name="pairs", cls=Command)
@options.set_argument
@option(
    "--baseline", "Compare every other system with this one. Default: all pairs.", metavar="SYSTEM"
)
@option("-d --dimension", "Quality to compare. Default: overall quality.", metavar="NAME")
@guideline
@sample("segment")
@model_options("the preferences as JSON lines")
@options.outputs_reader
@seed
def judge_pairs(source: SetInput, asking: ModelOptions, **values: Any) -> None:
    """Let a language model say which of two outputs is better.

    Every pair is asked about in both orders. A preference that changes with the order is a tie, and
    the report shows how often that happened.

    \b
    karat judge pairs demo --baseline atlas --endpoint demo -o log.jsonl
    karat judge pairs SET --endpoint URL --model M -o log.jsonl --budget 500
    """
    from karat.llm.pairs import pair_task

    asking.check([source.name])
    with Bar() as progress:
        evalset = source.load(progress)
    run_task(pair_task(evalset, **values, prompt=asking.prompt), asking)


@click.command(name="nuggets", cls=Command)
@nuggets_options.nugget_set
@nuggets_options.set_files
@option("--batch", "Nuggets in one request.", integer(1), 10)
@sample("question")
@model_options("the labels as JSON lines", max_tokens=2048)
@seed
def judge_nuggets(
    set_or_path: str, load_options: Any, asking: ModelOptions, **settings: Any
) -> None:
    """Let a language model decide which responses contain which nuggets.

    SET is a set with runs, or a key with --run. Labels are support, partial_support and
    not_support, the first two with a quote of the response. `karat nuggets score --judgements`
    reads the log: labels of a model are evidence for the classifier, not judgements.

    \b
    karat judge nuggets demo-nuggets --endpoint demo -o labels.jsonl
    karat judge nuggets key.txt --run my.run --endpoint URL --model M -o log.jsonl
    """
    from karat.llm.supports import ModelSupportTask
    from karat.nuggets.formats.loading import load_nuggets

    asking.check([set_or_path, *load_options["runs"], *load_options["judgements"]])
    with Bar() as progress:
        nugget_set = load_nuggets(set_or_path, **load_options, progress=progress)
    run_task(ModelSupportTask(nugget_set, asking.prompt, **settings), asking)


@click.command(name="check", cls=Command)
@options.set_argument
@options.settings_options(JudgeCheckSettings)
@option(
    "--anchor",
    "File with earlier judgements of the judge, to measure its drift.",
    path,
    metavar="FILE",
)
@options.output
@options.human_reader
def judge_check(
    source: SetInput, anchor: str | None, format: str, output: str | None, **settings: Any
) -> None:
    """Test whether a judge may replace people, and show how it errs.

    The alternative annotator test asks for each person: is the judge at least as close to the other
    people as this person is? It needs three people who rated the same outputs. The same test runs
    for judges that see no output; if one of them passes, the verdict is that the test cannot tell.
    Also shows agreement with people and the judge's errors by system, length, position and time.

    \b
    karat judge check my-set -j log.jsonl
    karat judge check my-set -j log.jsonl --annotators expert -o page.html
    karat judge check my-set -J gpt -d fluency --anchor last-month.jsonl
    """
    from karat.meta.judge_check import check_judge

    source.check_output(output, [anchor] if anchor else [])
    with Bar() as progress:
        check = check_judge(source.load(progress), anchor=anchor, **settings)
    show(check, format, output)


@click.command(name="spans", cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@option(
    "--model-judge model_judges",
    "Judge that is a model. Repeat for several.",
    multiple=True,
    metavar="NAME",
)
@options.settings_options(SpanSettings)
@options.output
def judge_spans(files: tuple[str, ...], format: str, output: str | None, **settings: Any) -> None:
    """Compare the errors that judges marked in outputs: precision, recall and F by characters.

    FILEs are JSON lines, tables of WMT's MQM, or exports of Appraise. Each judge is compared with
    the other people. A line of JSON has the spans of one judge in one output:
    {"system": "A", "segment": "1", "judge": "ann",
    "spans": [{"start": 0, "end": 4, "severity": "major"}]}

    \b
    karat judge spans my-spans.jsonl
    karat judge spans my-people.tsv my-model.jsonl --model-judge gpt -o page.html
    """
    from karat.meta.span_agreement import compare_spans

    check_output(output, files)
    show(compare_spans(files, **settings), format, output)


TASKS = ("ratings", "pairs", "nuggets", "draft")


@click.command(name="prompts", cls=Command)
@click.argument("task", required=False, type=choice(*TASKS), metavar="[TASK]")
@option("-o --output", "Write the prompt, or the list, to FILE (atomic).", path)
def judge_prompts(task: str | None, output: str | None) -> None:
    """List the prompts, or print the prompt of TASK: ratings, pairs, nuggets or draft.

    To change a prompt, copy it with -o and name the copy with --prompt. A line [system] or [user]
    begins a message. Words in braces are placeholders. Signatures have the hash of the text.

    \b
    karat judge prompts
    karat judge prompts ratings
    karat judge prompts ratings -o mine.md
    """
    from karat.llm.task_prompts import PromptList, bundled_prompts

    check_output(output)
    prompts = bundled_prompts()
    if task is None:
        show(PromptList(tuple(prompts.values())).document(options.command_line()), "text", output)
    else:
        say([prompts[task].prompt.text], output)
