"""Options that several commands of `karat nuggets` share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypedDict

import click

from karat.cli.options import F
from karat.nuggets.sets.voting import HALF, TIES

if TYPE_CHECKING:
    from karat.settings import Named


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """An empty name is a slip (a variable of the shell that is not set), and not the default."""
    if value == "" or (isinstance(value, tuple) and "" in value):
        option = next(name for name in param.opts if name.startswith("--"))
        instead = "" if param.required else ", or leave it out"
        raise click.UsageError(f"{option} is empty: give a {param.metavar}{instead}")
    return value


def complete_nuggets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """The names of known sets; where none fits, files."""
    from click.shell_completion import CompletionItem

    from karat.nuggets.formats.loading import KNOWN

    names = [CompletionItem(name) for name in KNOWN if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


def places(function: F) -> F:
    """`--run`, `--judgements` and `--skip-unknown`: what stands beside the key."""
    for names, what in ((("--run", "runs"), "Runs"), (("-j", "--judgements"), "Judgements")):
        function = click.option(
            *names,
            multiple=True,
            metavar="PLACE",
            callback=not_empty,
            type=click.Path(),
            help=f"{what} from here, not those that come with SET; repeat for several.",
        )(function)
    return skip_unknown(function)


def skip_unknown(function: F) -> F:
    """`--skip-unknown`: a run may answer more questions than the key has."""
    return click.option(
        "--skip-unknown",
        is_flag=True,
        help="Leave out responses to questions that the key does not have.",
    )(function)


def key(function: F) -> F:
    """`--key`: the answer key."""
    return click.option(
        "-k",
        "--key",
        required=True,
        metavar="KEY",
        callback=not_empty,
        shell_complete=complete_nuggets,
        help="The key: a file or folder in any format, or the name of a known set.",
    )(function)


def judgements(function: F) -> F:
    """`--judgements`: what assessors said."""
    return click.option(
        "-j",
        "--judgements",
        multiple=True,
        metavar="FILE",
        callback=not_empty,
        type=click.Path(),
        help="Judged responses, in any format; repeat for several (default: those with KEY).",
    )(function)


class JudgeOptions(TypedDict):
    """Arguments of `load_nuggets` that say who the judges are and how they vote."""

    model_judges: tuple[str, ...]
    ties: str


def judges(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--model-judge` and `--ties`, together as `judges`."""

    @wraps(function)
    def called(*args: Any, model_judges: tuple[str, ...], ties: str, **given: Any) -> Any:
        return function(*args, judges=JudgeOptions(model_judges=model_judges, ties=ties), **given)

    called = click.option(
        "--ties",
        type=click.Choice(TIES),
        default=HALF,
        show_default=True,
        help="Value of a tie between people: 0.5, or the higher or lower of the two values.",
    )(called)
    return click.option(
        "--model-judge",
        "model_judges",
        multiple=True,
        metavar="NAME",
        callback=not_empty,
        help="This judge is a model: its labels are evidence for guesses, not judgements. Repeat "
        "for several; - is the judge without a name.",
    )(called)


def scoring(function: F) -> F:
    """`--beta`, `--weights` and `--strict`: how answers are scored."""
    function = click.option("--strict", is_flag=True, help="In F, partial support does not count.")(
        function
    )
    function = click.option(
        "--weights",
        type=click.Choice(["vital", "pyramid"]),
        default="vital",
        show_default=True,
        help="Recall of vital nuggets, or weighted by assessors' votes.",
    )(function)
    return click.option(
        "--beta", type=float, default=3.0, show_default=True, help="How much recall counts in F."
    )(function)


def strictly(function: F) -> F:
    """`--strict` where classifiers are tried."""
    return click.option("--strict", is_flag=True, help="Count partial support as no support.")(
        function
    )


def corrected(default: bool) -> Callable[[F], F]:
    """`--corrected`: whether a judgement speaks for identical responses of all runs."""

    def add(function: F) -> F:
        return click.option(
            "--corrected/--as-judged",
            default=default,
            show_default=True,
            help="A response carries a nugget if an identical one, of any run, was judged to; or "
            "what was judged in a run stands as it is.",
        )(function)

    return add


def guessing(function: F) -> F:
    """`--guess`: whether a classifier decides what nobody has judged; `--general` intervals."""
    function = click.option(
        "--general",
        is_flag=True,
        help="Intervals of scores on questions like these, not on these alone.",
    )(function)
    return click.option(
        "--guess/--no-guess",
        default=True,
        show_default=True,
        help="Let a classifier decide what nobody has judged; judgements always win.",
    )(function)


def left_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--leave-out` and `--institution`: what is left out in cross-validation."""

    @wraps(function)
    def called(*args: Any, by: str, institution: str | None, **given: Any) -> Any:
        if institution is not None and by != "institution":
            raise click.UsageError(
                "--institution is for --leave-out institution: add that, or leave it out"
            )
        return function(*args, by=by, institution=institution, **given)

    called = click.option(
        "--institution",
        metavar="PATTERN",
        callback=not_empty,
        help="A regular expression for what in a run's tag tells its institution (default: what "
        "stands before the first digit or sign), for runs whose file does not say it.",
    )(called)
    return click.option(
        "--leave-out",
        "by",
        type=click.Choice(["system", "institution", "question"]),
        default="system",
        show_default=True,
        help="What is left out in cross-validation.",
    )(called)


def files_of(classifier: Named) -> tuple[str, ...]:
    """The file that idf is counted in, if it is one: no output may overwrite it."""
    from karat.nuggets.scores.idf_sources import NAMED

    idf = getattr(classifier, "idf", "pooled")
    return () if idf in NAMED else (idf,)


# ------------------------------------------------------------------------ the paper's classifier

_FORM = (
    click.option(
        "--stem",
        metavar="NAME",
        callback=not_empty,
        help="A stemmer, such as english or porter.",
    ),
    click.option(
        "--stop",
        metavar="LIST",
        callback=not_empty,
        help="Stop words to leave out: en, iso-LANGUAGE or a file.",
    ),
    click.option("--normalised", is_flag=True, help="Divide by what a description would score."),
    click.option("--once", is_flag=True, help="Count an n-gram once in a response."),
    click.option(
        "--train-on-responses",
        "on_responses",
        is_flag=True,
        help="Responses that were judged to carry a nugget describe it, too; never those of a run "
        "that is left out.",
    ),
)
_IDF = (
    click.option(
        "--idf",
        default="pooled",
        show_default=True,
        metavar="SOURCE",
        callback=not_empty,
        help="Where idf comes from: pooled (the responses), wordfreq, or a file, a text a line.",
    ),
    click.option(
        "--idf-language",
        default="en",
        show_default=True,
        metavar="LANGUAGE",
        callback=not_empty,
        help="The language that wordfreq is asked for.",
    ),
)
_CHOICE = (
    click.option(
        "--classifier",
        type=click.Choice(["calibrated", "paper", "auto"]),
        default="calibrated",
        show_default=True,
        help="Classifier for unjudged pairs; auto picks the one with the higher cross-validated F.",
    ),
    click.option(
        "--threshold-model",
        type=click.Choice(["auto", "global", "question", "nugget", "nugget-errors", "best-f"]),
        default="auto",
        show_default=True,
        help="Granularity of thresholds; auto takes the likeliest, best-f one threshold by F.",
    ),
    click.option("--threshold", type=float, metavar="T", help="Use a fixed threshold."),
    click.option("--ngrams", type=int, default=2, show_default=True, help="The longest n-grams."),
    click.option(
        "--weight",
        type=click.Choice(["idf", "count"]),
        default="idf",
        show_default=True,
        help="Weight of an n-gram.",
    ),
)
_FORM_NAMES = ("stem", "stop", "normalised", "once", "on_responses")
_PLAIN = {
    "threshold_model": "auto",
    "ngrams": 2,
    "weight": "idf",
    "idf": "pooled",
    "idf_language": "en",
}
"""What options are if they are not given; the others are then None or False."""


_LONG_NAMES = {"on_responses": "train_on_responses"}
"""Options with another name than their argument's."""
_SETTINGS = {"on_responses": "responses", "ngrams": "n"}
"""Settings with another name than their option's."""


def paper_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """What `tune` and `evaluate` do not vary of the paper's classifier: `paper`."""

    @wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        form = {name: given.pop(name) for name in (*_FORM_NAMES, "idf", "idf_language")}
        return function(*args, paper=_rule("paper", form), **given)

    return _with(called, (*_FORM, *_IDF))


def classifier(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which classifier guesses, and how: `rule`."""

    @wraps(function)
    def called(*args: Any, classifier: str, **given: Any) -> Any:
        names = (*_FORM_NAMES, "threshold", *_PLAIN)
        form = {name: given.pop(name) for name in names}
        if not given["guess"] and classifier != "calibrated":
            raise click.UsageError("--no-guess and --classifier exclude each other: give one")
        if not given["guess"] and form["idf"] != "pooled":
            raise click.UsageError("--no-guess and --idf exclude each other: give one")
        if not given["guess"] and given["general"]:
            raise click.UsageError("--no-guess and --general exclude each other: give one")
        return function(*args, rule=_rule(classifier, form), **given)

    return _with(called, (*_CHOICE, *_FORM, *_IDF))


def _with(function: Callable[..., Any], options: tuple[Any, ...]) -> Callable[..., Any]:
    for option in reversed(options):
        function = option(function)
    return function


def _rule(name: str, form: dict[str, Any]) -> Any:
    """Return the classifier that old options describe."""
    from karat.nuggets.guess.classifiers import classifiers

    changed = {
        key: value
        for key, value in form.items()
        if value is not None and value is not False and value != _PLAIN.get(key)
    }
    own = [key for key in changed if not key.startswith("idf")]
    if name == "calibrated" and own:
        option = "--" + _LONG_NAMES.get(own[0], own[0]).replace("_", "-")
        raise click.UsageError(
            f"{option} is for the paper's classifier: add --classifier paper, or auto"
        )
    if "threshold" in changed and "threshold_model" in changed:
        raise click.UsageError("--threshold and --threshold-model exclude each other: give one")
    if "idf_language" in changed and changed.get("idf") != "wordfreq":
        raise click.UsageError("--idf-language is for wordfreq: add --idf wordfreq")
    settings = {_SETTINGS.get(key, key): value for key, value in changed.items()}
    found: Any = classifiers[name](**settings)
    found.source.check()
    return found
