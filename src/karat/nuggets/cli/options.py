"""Options that several commands of `karat nuggets` share, and those of `karat data judges`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from karat.cli.parameters import Listing, choice, flag, option, path
from karat.errors import InputError
from karat.nuggets.sets.voting import HALF, TIES
from karat.progress import Progress

if TYPE_CHECKING:
    from karat.nuggets.sets.nugget_set import NuggetSet

Command = Callable[..., Any]


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse an empty name: it is a slip (a variable of the shell that is not set)."""
    if value == "" or (isinstance(value, tuple) and "" in value):
        option = next(name for name in param.opts if name.startswith("--"))
        instead = "" if param.required else ", or leave it out"
        raise click.UsageError(f"{option} is empty: give a {param.metavar}{instead}")
    return value


named = partial(option, callback=not_empty)
"""An option whose value is a name, which must not be empty."""


def complete_nuggets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Return the names of known sets; where none fits, files."""
    from click.shell_completion import CompletionItem

    from karat.nuggets.formats.loading import KNOWN

    names = [CompletionItem(name) for name in KNOWN if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


def bundle(name: str, *options: Any, make: Command = dict) -> Callable[[Command], Command]:
    """Return options whose values a command gets together, as `name`: what `make` makes of them."""

    def add(function: Command) -> Command:
        @wraps(function)
        def called(**given: Any) -> Any:
            mine = {param.name: given.pop(param.name) for param in added}
            return function(**given, **{name: make(**mine)})

        known = len(getattr(called, "__click_params__", ()))
        for each in reversed(options):
            called = each(called)
        added = called.__click_params__[known:][::-1]  # type: ignore[attr-defined]
        return called

    return add


# ------------------------------------------------------------------------------------ inputs

nugget_set = click.argument("name", metavar="SET", shell_complete=complete_nuggets)
_skip = flag("--skip-unknown", "Leave out responses to questions that the key does not have.")
_JUDGES = (
    named(
        "--model-judge model_judges",
        "This judge is a model: its labels are evidence for guesses, not judgements. Repeat "
        "for several; - is the judge without a name.",
        multiple=True,
        metavar="NAME",
    ),
    option(
        "--ties",
        "Value of a tie between people: 0.5, or the higher or lower of the two values.",
        choice(*TIES),
        HALF,
    ),
)
judges = bundle("judges", *_JUDGES)
"""Arguments of `load_nuggets` that say who the judges are and how they vote."""
judgements = named(
    "-j --judgements",
    "Judged responses, in any format; repeat for several (default: those with KEY).",
    path,
    multiple=True,
    metavar="FILE",
)


def _beside(names: str) -> Any:
    what = names.rsplit(maxsplit=1)[-1].strip("-").capitalize()
    told = f"{what} from here, not those that come with SET; repeat for several."
    return named(names, told, path, multiple=True, metavar="PLACE")


places = bundle("given", _skip, _beside("-j --judgements"), _beside("--run runs"), *_JUDGES)
"""Arguments of `load_nuggets` beside SET."""

keyed = bundle(
    "given",
    named(
        "-k --key",
        "The key: a file or folder in any format, or the name of a known set.",
        required=True,
        metavar="KEY",
        shell_complete=complete_nuggets,
    ),
    judgements,
    *_JUDGES,
    _skip,
)
"""Arguments of `open_runs` beside the runs."""

# ------------------------------------------------------------------------ karat data judges


def judge_options(function: Command) -> Command:
    """`--judgements`, `--model-judge` and `--ties`."""
    return judgements(judges(function))


def read_judged(
    name: str, dimensions: Sequence[str], progress: Progress, judgements: Sequence[str], judges: Any
) -> NuggetSet | None:
    """Return a nugget set with its judgements; None if the place has a set of ratings."""
    from karat.nuggets.formats.loading import is_nuggets, load_nuggets

    if not judgements and not is_nuggets(name):
        if judges["model_judges"]:
            raise InputError(f"--model-judge is for nugget sets, and {name} has ratings")
        return None
    if dimensions:
        raise InputError(f"{name} is a nugget set, which has no dimensions: leave them out")
    return load_nuggets(name, (), judgements, **judges, progress=progress)


# ------------------------------------------------------------------------------- classifiers

_OLD_NAMES = {"n": "--ngrams", "responses": "--train-on-responses"}
"""Options that had another name than the setting has."""
_VARIED = ("n", "weight", "threshold", "threshold_model")
"""Settings that `tune` and `evaluate` try themselves."""

_old = partial(click.option, hidden=True, callback=not_empty)
_OLD = (
    _old("--ngrams", "n", type=int, metavar="N"),
    _old("--weight", "weight", metavar="WEIGHT"),
    _old("--threshold", "threshold", type=float, metavar="T"),
    _old("--threshold-model", "threshold_model", metavar="MODEL"),
)
_OLD_FORM = (
    _old("--stem", "stem", metavar="NAME"),
    _old("--stop", "stop", metavar="LIST"),
    _old("--normalised", "normalised", is_flag=True),
    _old("--once", "once", is_flag=True),
    _old("--train-on-responses", "responses", is_flag=True),
    _old("--idf", "idf", metavar="SOURCE"),
    _old("--idf-language", "idf_language", metavar="LANGUAGE"),
)


def _only_one(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Any:
    """Return the one value of an option that must not be repeated."""
    if len(value) > 1:
        raise click.UsageError(f"{param.opts[0]} is given {len(value)} times: give it once")
    return not_empty(ctx, param, value)[0]


_classifier = partial(
    option,
    "--classifier",
    metavar="NAME:SETTING=VALUE,…",
    multiple=True,
    callback=_only_one,
    cls=Listing,
    registry="classifiers",
)


class WithClassifiers(click.Command):
    """A command whose help ends with the settings of classifiers."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the settings of each classifier, with their defaults."""
        from karat.nuggets.guess.classifiers import classifiers
        from karat.settings import to_text

        (option,) = (one for one in self.params if one.name == "classifier")
        broken: list[str] = []
        for name, one in classifiers.usable(broken):
            if option.default == ("paper",) and name != "paper":
                continue
            told, varied = [], _VARIED if option.default == ("paper",) else ()
            for f in one.settings() if name != "auto" else []:
                choices = f.metadata["choices"]
                among = f": {', '.join(choices)}" if isinstance(choices, dict) else ""
                if f.name not in varied:
                    told.append((f"{f.name}={to_text(f.default)}", f"{f.metadata['help']}{among}"))
            for preset, means in one.presets.items() if name != "auto" else []:
                kept = {key: value for key, value in means.items() if key not in varied}
                same = ", ".join(f"{key}={to_text(value)}" for key, value in kept.items())
                told.append((f"preset={preset}", same))
            with formatter.section(f"Settings of --classifier {name}"):
                formatter.write_dl(told or [("", "those of paper" if name == "auto" else "none")])
        for sentence in broken:
            formatter.write_text(sentence)


def _parsed(text: str, **old: Any) -> Any:
    """Return the classifier that `--classifier` and options of earlier versions describe."""
    from karat.nuggets.guess.classifiers import parse_classifier
    from karat.settings import to_text

    name, _, settings = text.partition(":")
    given = {key: value for key, value in old.items() if value is not None and value is not False}
    names = {key: _OLD_NAMES.get(key, f"--{key.replace('_', '-')}") for key in given}
    items = [item for item in settings.split(",") if item]
    said = {item.partition("=")[0].strip() for item in items}
    found: Any = parse_classifier(text)
    for key, written in names.items():
        if key in said:
            raise click.UsageError(f"{written} and --classifier {text} both say {key}: give one")
        if not hasattr(found, key):
            raise click.UsageError(
                f"{written} is for the paper's classifier: add --classifier paper, or auto"
            )
    found = replace(found, **given)
    if getattr(found, "threshold", None) is not None and found.threshold_model != "auto":
        raise click.UsageError("threshold and threshold_model exclude each other: give one")
    if source := getattr(found, "source", None):
        if found.idf_language != "en" and found.idf != "wordfreq":
            raise click.UsageError("idf_language is for wordfreq: add idf=wordfreq")
        source.check()
    if given:
        spelled = [names[k] if v is True else f"{names[k]} {v}" for k, v in given.items()]
        items += [f"{key}={to_text(value)}" for key, value in given.items()]
        new = f"{' '.join(spelled)} is now --classifier {name}:{','.join(items)}"
        click.echo(f"{new}; the old form will go in a later version", err=True)
    return found


def files_of(classifier: Any) -> tuple[str, ...]:
    """Return the file that idf is counted in, if it is one: no output may overwrite it."""
    from karat.nuggets.scores.idf_sources import NAMED

    idf = getattr(classifier, "idf", "pooled")
    return () if idf in NAMED else (idf,)


# ------------------------------------------------------------------------------------ scores


def corrected(default: bool) -> Callable[[Command], Command]:
    """Return `--corrected`: whether a judgement speaks for identical responses of all runs."""
    return option(
        "--corrected/--as-judged",
        "A response carries a nugget if an identical one, of any run, was judged to; or "
        "what was judged in a run stands as it is.",
        default=default,
    )


beta = option("--beta", "How much recall counts in F.", float, 3.0)


def _scored(classifier: str, **given: Any) -> dict[str, Any]:
    """Return the arguments of `score_nuggets` and `diff_nuggets`."""
    from karat.nuggets.scores.official import Official

    how = {key: given.pop(key) for key in ("beta", "weights", "strict")}
    own = {key: given.pop(key) for key in ("corrected", "guess", "general")}
    chosen = classifier != "calibrated"
    out = {"--classifier": chosen, "--idf": given["idf"], "--general": own["general"]}
    for name in (name for name, said in out.items() if said and not own["guess"]):
        raise click.UsageError(f"--no-guess and {name} exclude each other: give one")
    return {**own, "how": Official(**how), "classifier": _parsed(classifier, **given)}


scoring = bundle(
    "how",
    beta,
    option(
        "--weights",
        "Recall of vital nuggets, or weighted by assessors' votes.",
        choice("vital", "pyramid"),
        "vital",
    ),
    flag("--strict", "In F, partial support does not count."),
    corrected(True),
    option(
        "--guess/--no-guess",
        "Let a classifier decide what nobody has judged; judgements always win.",
        default=True,
    ),
    flag("--general", "Intervals of scores on questions like these, not on these alone."),
    _classifier(
        default=("calibrated",),
        help="Classifier for unjudged pairs, with settings as below; auto picks the one with the "
        "higher cross-validated F.",
    ),
    *_OLD,
    *_OLD_FORM,
    make=_scored,
)
"""Arguments of `score_nuggets` and `diff_nuggets`."""


def _gated(key: str | None, classifier: str, **given: Any) -> dict[str, Any] | None:
    """Return the settings of the source `nuggets`; None if no key is named."""
    if key is not None:
        return {**given, "against": key, "classifier": _parsed(classifier)}
    if given["judgements"] or given["model_judges"] or not given["guess"]:
        raise click.UsageError("judgements and guesses are about nuggets: add --key KEY")
    return None


gate_options = bundle(
    "nuggets",
    named(
        "-k --key",
        "Score nuggets: a key in any format, or the name of a known set.",
        metavar="KEY",
        shell_complete=complete_nuggets,
    ),
    judgements,
    *_JUDGES,
    option("--guess/--no-guess", "Let a classifier decide what nobody has judged.", default=True),
    _classifier(
        default=("calibrated",),
        help="Classifier for unjudged nuggets: {names}; see karat nuggets score.",
    ),
    make=_gated,
)
"""Options of `karat gate` for nuggets."""


def _tried(classifier: str, **given: Any) -> dict[str, Any]:
    """Return the arguments that `tune_nuggets` and `evaluate_nuggets` share."""
    own = {key: given.pop(key) for key in ("by", "institution", "strict", "corrected")}
    if own["institution"] is not None and own["by"] != "institution":
        raise click.UsageError(
            "--institution is for --leave-out institution: add that, or leave it out"
        )
    paper = _parsed(classifier, **given)
    said = {item.partition("=")[0] for item in classifier.partition(":")[2].split(",")}
    if paper.name != "paper" or said & set(_VARIED):
        wanted = "paper, with settings other than " + ", ".join(_VARIED) + ", which are tried here"
        raise click.UsageError(f"--classifier {classifier}: expected {wanted}")
    return {**own, "classifier": paper}


trying = bundle(
    "how",
    option(
        "--leave-out by",
        "What is left out in cross-validation.",
        choice("system", "institution", "question"),
        "system",
    ),
    named(
        "--institution",
        "A regular expression for what in a run's tag tells its institution (default: what "
        "stands before the first digit or sign), for runs whose file does not say it.",
        metavar="PATTERN",
    ),
    flag("--strict", "Count partial support as no support."),
    corrected(False),
    _classifier(
        default=("paper",),
        help="The paper's classifier, with settings that all trials share, as below.",
    ),
    *_OLD_FORM,
    make=_tried,
)
"""Arguments of `tune_nuggets` and `evaluate_nuggets`."""
