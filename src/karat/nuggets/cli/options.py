"""Options that several commands of `karat nuggets` share, and those of `karat data judges`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from karat.cli.command import Command as HelpCommand
from karat.cli.parameters import (
    COMMON,
    INPUT,
    NUGGETS,
    SCORES,
    Listing,
    bundle,
    choice,
    flag,
    named,
    not_empty,
    option,
    path,
)
from karat.errors import InputError
from karat.nuggets.sets.voting import HALF, TIES
from karat.progress import Progress

if TYPE_CHECKING:
    from karat.nuggets.sets.nugget_set import NuggetSet

Command = Callable[..., Any]


def complete_nuggets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Return the names of known sets; where none fits, files."""
    from click.shell_completion import CompletionItem

    from karat.nuggets.formats.loading import KNOWN

    names = [CompletionItem(name) for name in KNOWN if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


# ------------------------------------------------------------------------------------ inputs

nugget_set = click.argument("name", metavar="SET", shell_complete=complete_nuggets)
_skip = flag(
    "--skip-unknown", "Ignore responses to questions that are not in the key.", heading=INPUT
)


def _judges(heading: str) -> tuple[Any, Any]:
    """Return `--model-judge` and `--ties`."""
    model = named(
        "--model-judge model_judges",
        "Judge that is a model. Its labels are features of the classifier, not judgements. - is "
        "the judge without a name. Repeat for several.",
        multiple=True,
        metavar="NAME",
        heading=heading,
    )
    told = "Value of a tie between assessors: 0.5 (half), or the higher (yes) or lower (no) value."
    return model, option("--ties", told, choice(*TIES), HALF, heading=heading)


judges = bundle("judges", *_judges(INPUT))
"""Arguments of `load_nuggets` that say who the judges are and how they vote."""


def _judgements(heading: str) -> Any:
    """Return `--judgements` of a key."""
    told = "Judged responses, in any format. Repeat for several. Default: those of KEY."
    return named("-j --judgements", told, path, multiple=True, heading=heading)


judgements = _judgements(COMMON)


def _instead(names: str, what: str) -> Any:
    told = f"{what} to use instead of those of SET. Repeat for several."
    return named(names, told, path, multiple=True)


places = bundle(
    "given",
    _instead("-j --judgements", "Judgements"),
    _instead("--run runs", "Runs"),
    *_judges(INPUT),
    _skip,
)
"""Arguments of `load_nuggets` beside SET."""

keyed = bundle(
    "given",
    named(
        "-k --key",
        "Answer key: a file or folder in any format, or the name of a known set.",
        required=True,
        metavar="KEY",
        shell_complete=complete_nuggets,
    ),
    judgements,
    *_judges(INPUT),
    _skip,
)
"""Arguments of `open_runs` beside the runs."""

# ------------------------------------------------------------------------ karat data judges


def judge_options(function: Command) -> Command:
    """`--ties`, beside the options that sets of ratings have, too."""
    _, ties = _judges(INPUT)
    added: Command = ties(function)
    return added


def read_judged(
    name: str, dimensions: Sequence[str], progress: Progress, **given: Any
) -> NuggetSet | None:
    """Return a nugget set with its judgements; None if the place has a set of ratings."""
    from karat.evalset.added.judgement_files import has_ratings
    from karat.nuggets.formats.loading import is_nuggets, load_nuggets

    if not is_nuggets(name) and all(map(has_ratings, given["judgements"])):
        return None
    if dimensions:
        raise InputError(f"{name} is a nugget set and has no dimensions: leave out --dimension")
    return load_nuggets(name, (), **given, progress=progress)


# ------------------------------------------------------------------------------- classifiers

_VARIED = ("n", "weight", "threshold", "threshold_model")
"""Settings that `tune` and `evaluate` try themselves."""


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


class WithClassifiers(HelpCommand):
    """A command whose help has the settings of classifiers after the options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and, with all of them, the settings of classifiers."""
        super().format_options(ctx, formatter)
        if self.shows_all(ctx):
            self._format_settings(formatter)

    def _format_settings(self, formatter: click.HelpFormatter) -> None:
        """Write the settings of each classifier, with their defaults."""
        from karat.nuggets.guess.classifiers import classifiers
        from karat.settings import to_text

        (option,) = (one for one in self.params if one.name == "classifier")
        broken: list[str] = []
        for name, one in classifiers.usable(broken):
            if option.default == ("paper",) and name != "paper":
                continue
            told, varied = [], _VARIED if option.default == ("paper",) else ()
            for f in one.settings():
                choices = f.metadata["choices"]
                among = f": {', '.join(choices)}" if isinstance(choices, dict) else ""
                if f.name not in varied:
                    told.append((f"{f.name}={to_text(f.default)}", f"{f.metadata['help']}{among}"))
            for preset, means in one.presets.items():
                kept = {key: value for key, value in means.items() if key not in varied}
                same = ", ".join(f"{key}={to_text(value)}" for key, value in kept.items())
                told.append((f"preset={preset}", same))
            with formatter.section(f"Settings of --classifier {name}"):
                formatter.write_dl(told or [("", "None.")])
        for sentence in broken:
            formatter.write_text(sentence)


def _parsed(text: str) -> Any:
    """Return the classifier that `--classifier` describes."""
    from karat.nuggets.guess.classifiers import parse_classifier

    found: Any = parse_classifier(text)
    if getattr(found, "threshold", None) is not None and found.threshold_model != "auto":
        raise click.UsageError("threshold and threshold_model exclude each other: give one")
    if source := getattr(found, "source", None):
        source.check()
    return found


def files_of(classifier: Any) -> tuple[str, ...]:
    """Return the file of idf, if there is one: no output may overwrite it."""
    idf = getattr(classifier, "idf", "pooled")
    return () if idf == "pooled" else (idf,)


# ------------------------------------------------------------------------------------ scores


def corrected(default: bool) -> Callable[[Command], Command]:
    """Return `--corrected`: whether a judgement speaks for identical responses of all runs."""
    return option(
        "--corrected/--as-judged",
        "Apply each judgement to identical responses of all runs, or use the judgements as they "
        "are.",
        default=default,
        show_default=True,
        heading=SCORES,
    )


beta = option("--beta", "Weight of recall in F.", float, 3.0, metavar="X", heading=SCORES)


def _scored(classifier: str, **given: Any) -> dict[str, Any]:
    """Return the arguments of `score_nuggets` and `diff_nuggets`."""
    from karat.nuggets.scores.official import Official

    how = {key: given.pop(key) for key in ("beta", "weights", "strict")}
    own = {key: given.pop(key) for key in ("corrected", "guess", "general")}
    chosen = classifier != "calibrated"
    out = {"--classifier": chosen, "--general": own["general"]}
    for name in (name for name, said in out.items() if said and not own["guess"]):
        raise click.UsageError(f"--no-guess and {name} exclude each other: give one")
    return {**own, "how": Official(**how), "classifier": _parsed(classifier)}


strict = flag("--strict", "Count partial support as no support.", heading=SCORES)

scoring = bundle(
    "how",
    option(
        "--guess/--no-guess",
        "Let a classifier decide unjudged pairs of response and nugget.",
        default=True,
        show_default=True,
    ),
    _classifier(
        default=("calibrated",),
        show_default="calibrated",
        help="Classifier for unjudged pairs: {names}. --help-all lists the settings.",
    ),
    beta,
    option(
        "--weights",
        "Weights of nuggets in recall: vital nuggets only, or the votes of assessors.",
        choice("vital", "pyramid"),
        "vital",
        heading=SCORES,
    ),
    strict,
    corrected(True),
    flag(
        "--general",
        "Intervals for new questions like these, instead of these questions.",
        heading=SCORES,
    ),
    make=_scored,
)
"""Arguments of `score_nuggets` and `diff_nuggets`."""


def _gated(key: str | None, classifier: str, **given: Any) -> dict[str, Any] | None:
    """Return the settings of the source `nuggets`; None if no key is named."""
    if key is not None:
        return {**given, "against": key, "classifier": _parsed(classifier)}
    if given["judgements"] or given["model_judges"] or not given["guess"]:
        raise click.UsageError("--judgements, --model-judge and --no-guess need --key KEY: add it")
    return None


gate_options = bundle(
    "nuggets",
    named(
        "-k --key",
        "Score by nuggets. Answer key in any format, or the name of a known set.",
        metavar="KEY",
        shell_complete=complete_nuggets,
        heading=NUGGETS,
    ),
    _judgements(NUGGETS),
    *_judges(NUGGETS),
    option(
        "--guess/--no-guess",
        "Let a classifier decide unjudged pairs of response and nugget.",
        default=True,
        show_default=True,
        heading=NUGGETS,
    ),
    _classifier(
        default=("calibrated",),
        show_default="calibrated",
        help="Classifier for unjudged pairs: {names} (see `karat nuggets score --help-all`).",
        heading=NUGGETS,
    ),
    make=_gated,
)
"""Options of `karat gate` for nuggets."""


def _tried(classifier: str, **given: Any) -> dict[str, Any]:
    """Return the arguments that `tune_nuggets` and `evaluate_nuggets` share."""
    own = {key: given.pop(key) for key in ("by", "institution", "strict", "corrected")}
    if own["institution"] is not None and own["by"] != "institution":
        raise click.UsageError(
            "--institution needs --leave-out institution: add it, or leave out --institution"
        )
    paper = _parsed(classifier)
    said = {item.partition("=")[0] for item in classifier.partition(":")[2].split(",")}
    if paper.name != "paper" or said & set(_VARIED):
        wanted = "paper, with settings other than " + ", ".join(_VARIED) + ", which are tried here"
        raise click.UsageError(f"--classifier {classifier}: expected {wanted}")
    return {**own, "classifier": paper}


trying = bundle(
    "how",
    option(
        "--leave-out by",
        "Unit that cross-validation leaves out.",
        choice("system", "institution", "question"),
        "system",
    ),
    _classifier(
        default=("paper",),
        show_default="paper",
        help="The paper's classifier, with settings shared by all trials. --help-all lists them.",
    ),
    named(
        "--institution",
        "Regular expression that finds the institution in the tag of a run, if the file does not "
        "name it. Default: the text before the first digit or sign.",
        metavar="PATTERN",
        heading=INPUT,
    ),
    strict,
    corrected(False),
    make=_tried,
)
"""Arguments of `tune_nuggets` and `evaluate_nuggets`."""
