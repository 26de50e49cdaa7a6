"""Options that commands on nuggets share: of `karat nuggets`, `data judges`, `judge` and `gate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from karat.cli.command import Command as HelpCommand
from karat.cli.parameters import bundle, choice, flag, named, not_empty, option, path
from karat.errors import InputError
from karat.headings import COMMON, INPUT, NUGGETS, SCORES
from karat.nuggets.sets.judgements import EVIDENCE, HALF, LABEL_USES, MODEL_LABELS, TIES
from karat.progress import Progress
from karat.settings import split_unquoted

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

nugget_set = click.argument("set_or_path", metavar="SET", shell_complete=complete_nuggets)
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
    text = "Value of a tie between assessors: 0.5 (half), or the higher (yes) or lower (no) value."
    return model, option("--ties", text, choice(*TIES), HALF, heading=heading)


def _judgements(heading: str) -> Any:
    """Return `--judgements` of a key."""
    text = "Judged responses, in any format. Repeat for several. Default: those of KEY."
    return named("-j --judgements", text, path, multiple=True, heading=heading)


def _replacement(names: str, subject: str) -> Any:
    text = f"{subject} to use instead of those of SET. Repeat for several."
    return named(names, text, path, multiple=True)


set_files = bundle(
    "load_options",
    _replacement("-j --judgements", "Judgements"),
    _replacement("--run runs", "Runs"),
    *_judges(INPUT),
    _skip,
)
"""Arguments of `load_nuggets` beside SET."""

keyed = bundle(
    "load_options",
    named(
        "-k --key",
        "Answer key: a file or folder in any format, or the name of a known set.",
        required=True,
        metavar="KEY",
        shell_complete=complete_nuggets,
    ),
    _judgements(COMMON),
    *_judges(INPUT),
    _skip,
)
"""Arguments of `open_runs` beside the runs."""

# ------------------------------------------------------------------------ karat data judges


def judge_options(function: Command) -> Command:
    """Add `--ties` to the options that sets of ratings have too."""
    _, ties = _judges(INPUT)
    command: Command = ties(function)
    return command


def read_judged(
    name: str, dimensions: Sequence[str], progress: Progress, **load_options: Any
) -> NuggetSet | None:
    """Return a nugget set with its judgements; None if the place has a set of ratings."""
    from karat.evalset.additions import has_ratings
    from karat.nuggets.formats.loading import is_nuggets, load_nuggets

    if not is_nuggets(name) and all(map(has_ratings, load_options["judgements"])):
        return None
    if dimensions:
        raise InputError(f"{name} is a nugget set and has no dimensions: leave out --dimension")
    return load_nuggets(name, (), **load_options, progress=progress)


# ------------------------------------------------------------------------------- classifiers

_VARIED = ("n", "weight", "threshold", "threshold_model")
"""Settings that `tune` and `evaluate` try themselves."""


def _single_value(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Any:
    """Return the value of an option that must not be repeated."""
    if len(value) > 1:
        raise click.UsageError(f"{param.opts[0]} is given {len(value)} times: give it once")
    return not_empty(ctx, param, value)[0]


_guess = partial(
    option,
    "--guess/--no-guess",
    "Let a classifier decide unjudged pairs of response and nugget.",
    default=True,
    show_default=True,
)
_classifier = partial(
    option,
    "--classifier",
    metavar="NAME:SETTING=VALUE,…",
    multiple=True,
    callback=_single_value,
    registry="classifiers",
)


class WithClassifiers(HelpCommand):
    """A command whose help has the settings of classifiers after the options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and, with all of them, the settings of classifiers with defaults."""
        super().format_options(ctx, formatter)
        if not self.shows_all(ctx):
            return
        from karat.nuggets.prediction.predictions import classifiers
        from karat.settings import to_text

        (option,) = (param for param in self.params if param.name == "classifier")
        only_paper = option.default == ("paper",)
        varied = _VARIED if only_paper else ()
        errors: list[str] = []
        for name, classifier in classifiers.usable(errors):
            if only_paper and name != "paper":
                continue
            rows = []
            for field in classifier.settings():
                choices = field.metadata["choices"]
                choices_text = f": {', '.join(choices)}" if isinstance(choices, dict) else ""
                if field.name not in varied:
                    text = f"{field.metadata['help']}{choices_text}"
                    rows.append((f"{field.name}={to_text(field.default)}", text))
            for preset, settings in classifier.presets.items():
                items = [(key, value) for key, value in settings.items() if key not in varied]
                text = ", ".join(f"{key}={to_text(value)}" for key, value in items)
                rows.append((f"preset={preset}", text))
            with formatter.section(f"Settings of --classifier {name}"):
                formatter.write_dl(rows or [("", "None.")])
        for error in errors:
            formatter.write_text(error)


def _parse_classifier(text: str) -> Any:
    """Return the classifier that `--classifier` describes."""
    from karat.nuggets.prediction.predictions import parse_classifier

    classifier: Any = parse_classifier(text)
    if getattr(classifier, "threshold", None) is not None and classifier.threshold_model != "auto":
        raise click.UsageError("threshold and threshold_model exclude each other: give one")
    if source := getattr(classifier, "source", None):
        source.check()
    return classifier


def input_files(load_options: dict[str, Any], classifier: Any) -> tuple[str, ...]:
    """Return the files that a command reads, with those of the classifier.

    No output may overwrite them.
    """
    files = [load_options["key"]] if "key" in load_options else load_options["runs"]
    idf = getattr(classifier, "idf", "pooled")
    idf_files = [] if idf == "pooled" else [idf]
    of_models = getattr(classifier, "input_files", list[str])()
    return (*files, *load_options["judgements"], *idf_files, *of_models)


# ------------------------------------------------------------------------------------ scores


def corrected(default: bool) -> Callable[[Command], Command]:
    """Return `--corrected`: whether a judgement applies to identical responses of all runs."""
    return option(
        "--corrected/--as-judged",
        "Apply each judgement to identical responses of all runs, or use the judgements as they "
        "are.",
        default=default,
        show_default=True,
        heading=SCORES,
    )


beta = option("--beta", "Weight of recall in F.", float, 3.0, metavar="X", heading=SCORES)


def _make_scoring(classifier: str, **options: Any) -> dict[str, Any]:
    """Return the arguments of `score_nuggets` and `diff_nuggets`."""
    from karat.nuggets.scores.official import OfficialSettings

    official_settings = OfficialSettings(
        **{key: options.pop(key) for key in ("beta", "weights", "strict")}
    )
    excluded = {"--classifier": classifier != "calibrated", "--general": options["general"]}
    for name, is_set in excluded.items():
        if is_set and not options["guess"]:
            raise click.UsageError(f"--no-guess and {name} exclude each other: give one")
    excluded = {"--no-guess": not options["guess"], "--classifier": classifier != "calibrated"}
    for name, is_set in excluded.items():
        if is_set and options["labels"] == MODEL_LABELS:
            raise click.UsageError(f"--labels model and {name} exclude each other: give one")
    return {
        **options,
        "official_settings": official_settings,
        "classifier": _parse_classifier(classifier),
    }


strict = flag("--strict", "Count partial support as no support.", heading=SCORES)

scoring = bundle(
    "scoring",
    _guess(),
    _classifier(
        default=("calibrated",),
        show_default="calibrated",
        help="Classifier for unjudged pairs: {names}. --help-all lists the settings.",
    ),
    option(
        "--labels",
        "Labels of a model: evidence for the classifier, as far as people bear them out, or "
        "decisions on all pairs that no person judged, without a classifier (model).",
        choice(*LABEL_USES),
        EVIDENCE,
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
    make=_make_scoring,
)
"""Arguments of `score_nuggets` and `diff_nuggets`."""


def _make_gate_options(key: str | None, classifier: str, **options: Any) -> dict[str, Any] | None:
    """Return the settings of the source `nuggets`; None without a key."""
    if key is not None:
        return {**options, "against": key, "classifier": _parse_classifier(classifier)}
    if not options["guess"]:
        raise click.UsageError("--no-guess needs --key KEY: add it")
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
    _judges(NUGGETS)[1],
    _guess(heading=NUGGETS),
    _classifier(
        default=("calibrated",),
        show_default="calibrated",
        help="Classifier for unjudged pairs: {names} (see `karat nuggets score --help-all`).",
        heading=NUGGETS,
    ),
    make=_make_gate_options,
)
"""Options of `karat gate` for nuggets, beside `-j` and `--model-judge` of all gates."""


def _make_trials(classifier: str, **options: Any) -> dict[str, Any]:
    """Return the arguments that `tune_nuggets` and `evaluate_nuggets` share."""
    if options["institution"] is not None and options["by"] != "institution":
        raise click.UsageError(
            "--institution needs --leave-out institution: add it, or leave out --institution"
        )
    paper = _parse_classifier(classifier)
    items = split_unquoted(classifier.partition(":")[2], ",")
    names = {item.partition("=")[0] for item in items}
    if paper.name != "paper" or names & set(_VARIED):
        expected = f"paper, with settings other than {', '.join(_VARIED)}, which are tried here"
        raise click.UsageError(f"--classifier {classifier}: expected {expected}")
    return {**options, "classifier": paper}


trials = bundle(
    "trials",
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
    make=_make_trials,
)
"""Arguments of `tune_nuggets` and `evaluate_nuggets`."""
