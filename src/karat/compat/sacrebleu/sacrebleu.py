"""sacreBLEU's command: its options, and what it prints byte by byte, with Karat's kernel behind it.

    python -m karat.compat.sacrebleu ref.txt -i hyp.txt -m bleu chrf ter

Explanations of tests, help texts and errors are Karat's own. Errors end with exit code 1 and one
sentence, lines with a wrong number of tabs with 17, and unknown options with 2.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from karat.compat.sacrebleu.dataset import (
    DATASETS,
    download_test_set,
    get_available_testsets_for_langpair,
    get_langpairs_for_testset,
    print_subset_results,
    smart_open,
)
from karat.compat.sacrebleu.metrics import METRICS
from karat.compat.sacrebleu.metrics.base import SacreMetric
from karat.compat.sacrebleu.printing import (
    Color,
    args_to_dict,
    print_results_table,
    print_single_results,
    sanity_check_lengths,
)
from karat.compat.sacrebleu.version import __version__ as VERSION  # noqa: N812
from karat.errors import InputError, short

sacrelogger = logging.getLogger("sacrebleu")

FORMATS = ("json", "text", "latex")
WRONG_FIELDS = 17
"""The exit code for lines with a wrong number of tabs."""

Systems = list[tuple[str, Sequence[str]]]


class CommandError(InputError):
    """A combination of options or inputs that the command refuses, with its exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


# ------------------------------------------------------------------------------------- options


class _Option(NamedTuple):
    """An option of the command."""

    flags: str
    help: str
    settings: dict[str, Any]


def _flag(flags: str, help: str, **more: Any) -> _Option:
    return _Option(flags, help, {"action": "store_true", "default": False, **more})


def _number(flags: str, help: str, default: int, **more: Any) -> _Option:
    return _Option(flags, f"{help} (default {default})", {"type": int, "default": default, **more})


def _text(flags: str, help: str, **more: Any) -> _Option:
    return _Option(flags, help, {"default": None, **more})


_BLEU, _CHRF = METRICS["BLEU"], METRICS["CHRF"]
_GROUPS: dict[str, list[_Option]] = {
    "inputs": [
        _text("refs", "files of references, before -i", nargs="*", default=[]),
        _text("--input -i", "files of systems; without it, standard input is read", nargs="*"),
        _number("--num-refs -nr", "references in each line of one file, between tabs", 1),
        _text("--encoding -e", "encoding of the files (default utf-8)", default="utf-8"),
    ],
    "test sets (Karat downloads none)": [
        _flag("--list", "print the names and language pairs of the test sets"),
        _text("--test-set -t", "refused: give references as files"),
        _text("--language-pair -l", "such as en-zh: sets the tokenizer of BLEU", dest="langpair"),
        _text("--origlang -ol", "refused: a part of a test set by original language"),
        _text("--subset", "refused: a part of a test set by document"),
        _text("--download", "refused: download a test set"),
        _text("--echo", "refused: print a test set", nargs="+"),
        _flag("--citation --cite", "refused: print the paper of a test set"),
    ],
    "metrics": [
        _text(
            "--metrics -m",
            "metrics to compute (default bleu)",
            choices=[name.lower() for name in METRICS],
            nargs="+",
            default=["bleu"],
        ),
        _flag("--sentence-level -sl", "print a score for each line"),
    ],
    "BLEU": [
        _text(
            "--smooth-method -s",
            "what replaces zero matches (default exp)",
            choices=[*_BLEU.SMOOTH_DEFAULTS],
            default="exp",
            dest="bleu_smooth_method",
        ),
        _text(
            "--smooth-value -sv",
            "the amount of floor (default 0.1) or add-k (default 1)",
            type=float,
            dest="bleu_smooth_value",
        ),
        _text(
            "--tokenize -tok",
            "tokenizer (default by the target language, else 13a)",
            choices=[*_BLEU.TOKENIZERS],
            dest="bleu_tokenize",
        ),
        _flag("--lowercase -lc", "ignore case", dest="bleu_lowercase"),
        _flag("--force", "accepted, without effect", dest="bleu_force"),
    ],
    "chrF": [
        _number("--chrf-char-order -cc", "longest n-grams of characters", _CHRF.CHAR_ORDER),
        _number("--chrf-word-order -cw", "longest n-grams of words", _CHRF.WORD_ORDER),
        _number("--chrf-beta", "weight of recall", _CHRF.BETA),
        _flag("--chrf-whitespace", "count white space"),
        _flag("--chrf-lowercase", "ignore case"),
        _flag("--chrf-eps-smoothing", "the mean of the orders' F-scores"),
    ],
    "TER": [
        _flag("--ter-case-sensitive", "respect case"),
        _flag("--ter-asian-support", "split Asian characters"),
        _flag("--ter-no-punct", "remove punctuation"),
        _flag("--ter-normalized", "set punctuation apart"),
    ],
    "intervals of one system": [
        _flag("--confidence -ci", "bootstrap intervals"),
        _number("--confidence-n -cin", "bootstrap resamples", 1000),
    ],
    "tests of several systems": [
        _flag("--paired-ar -par", "approximate randomization against the first system"),
        _flag("--paired-bs -pbs", "paired bootstrap resampling against the first system"),
        _number("--paired-ar-n -parn", "trials", 10000),
        _number("--paired-bs-n -pbsn", "resamples", 1000),
        _number("--paired-jobs -j", "accepted, without effect", 1),
    ],
    "output": [
        _flag("--quiet -q", "no messages on standard error but errors"),
        _flag("--short -sh", "short names in signatures"),
        _flag("--score-only -b", "only the scores"),
        _number("--width -w", "digits after the point", 1),
        _flag("--detail -d", "scores of parts of test sets"),
        _flag("--no-color -nc", "no colors"),
        _text(
            "--format -f",
            "format, also in SACREBLEU_FORMAT; latex is for several systems (default json)",
            choices=FORMATS,
            default="json",
        ),
    ],
}


def parse_args() -> argparse.Namespace:
    """Return the options of the command line and of the environment."""
    about = "BLEU, chrF and TER as sacreBLEU computes and prints them, by Karat."
    parser = argparse.ArgumentParser("sacrebleu", description=about)
    for title, options in _GROUPS.items():
        group = parser.add_argument_group(title)
        exclusive = group.add_mutually_exclusive_group() if "tests" in title else group
        for flags, help_text, settings in options:
            is_test = flags.startswith(("--paired-ar ", "--paired-bs "))
            place = exclusive if is_test else group
            place.add_argument(*flags.split(), help=help_text, **settings)
    parser.add_argument("--version", "-V", action="version", version=f"%(prog)s {VERSION}")
    args = parser.parse_args()
    wish = os.environ.get("SACREBLEU_FORMAT", "").lower()
    args.format = wish if wish in FORMATS else args.format
    return args


def _check(args: argparse.Namespace) -> None:
    """Raise an error if options cannot be used together or need a test set."""
    for name in (args.download or args.test_set or "").split(","):
        if name or args.test_set is not None:
            download_test_set(name, args.langpair)
    if args.citation or args.echo:
        raise CommandError("--citation and --echo need a test set: Karat downloads none")
    if args.sentence_level and len(args.metrics) > 1:
        raise CommandError("--sentence-level takes one metric: give one after -m")
    if args.num_refs != 1 and len(args.refs) > 1:
        raise CommandError("--num-refs takes one file of references, with tabs between them")
    if not args.refs:
        raise CommandError("no references: give their files first, before -i")
    if args.langpair and "-" not in args.langpair:
        raise CommandError(f"--language-pair {short(args.langpair)}: expected a pair, as en-de")
    if args.origlang is not None or args.subset is not None:
        raise CommandError("--origlang and --subset need a test set: Karat downloads none")


# -------------------------------------------------------------------------------------- inputs


def _read_references(args: argparse.Namespace) -> list[list[str]]:
    """Return the streams of references, from one file each or between tabs."""
    if args.num_refs == 1:
        return [_read_lines(file, args.encoding) for file in args.refs]
    streams: list[list[str]] = [[] for _ in range(max(1, args.num_refs))]
    for number, line in enumerate(_read_lines(args.refs[0], args.encoding), 1):
        fields = line.split("\t", args.num_refs - 1)
        if len(fields) != args.num_refs:
            counts = f"{len(fields)} references, expected {args.num_refs} between tabs"
            raise CommandError(f"{args.refs[0]}, line {number:,}: {counts}", WRONG_FIELDS)
        for stream, field in zip(streams, fields, strict=True):
            stream.append(field)
    return streams


def _read_lines(file: str, encoding: str) -> list[str]:
    """Return the lines of a file without white space at their ends."""
    with smart_open(file, encoding=encoding) as lines:
        return [line.rstrip() for line in lines]


def _read_systems(args: argparse.Namespace) -> Systems:
    """Return the systems with their names, the first as the baseline of tests."""
    is_test = args.paired_bs or args.paired_ar
    if args.input is None:
        systems = _read_standard_input(args.encoding)
        if is_test:
            names = ["Baseline", *(f"System {k}" for k in range(1, len(systems)))]
            return [(name, lines) for name, (_, lines) in zip(names, systems, strict=True)]
        return systems
    texts: dict[str, list[str]] = {}
    for file in args.input:
        if file not in texts:
            texts[file] = _read_lines(file, args.encoding)
        elif not is_test or file != args.input[0]:
            raise CommandError(f"{file} is there twice: systems need different names")
    systems = [*texts.items()]
    if is_test and systems:
        systems[0] = f"Baseline: {systems[0][0]}", systems[0][1]
    return systems


def _read_standard_input(encoding: str) -> Systems:
    """Return the systems of standard input, which has tabs between them."""
    lines = [line.rstrip() for line in io.TextIOWrapper(sys.stdin.buffer, encoding=encoding)]
    rows = [line.split("\t") for line in lines or [""]]
    n = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) != n:
            counts = f"{len(row)} systems between tabs, line 1 has {n}"
            raise CommandError(f"standard input, line {number:,}: {counts}", WRONG_FIELDS)
    return [(f"System {k + 1}", [row[k].rstrip() for row in rows]) for k in range(n)]


def _check_systems(systems: Systems, references: list[list[str]], args: argparse.Namespace) -> None:
    """Raise an error if systems do not fit the references or the options."""
    is_test = args.paired_bs or args.paired_ar
    if not systems:
        raise CommandError("no systems: give their files after -i")
    if args.sentence_level and (len(systems) > 1 or args.confidence or is_test):
        raise CommandError("--sentence-level takes one system, without intervals and tests")
    if is_test and len(systems) == 1:
        raise CommandError("--paired-bs and --paired-ar need several systems after -i")
    if len(systems) > 1 and args.confidence:
        raise CommandError("--confidence takes one system: several have --paired-bs")
    for name, lines in systems:
        if not lines:
            raise CommandError(f"{name} is empty")
        sanity_check_lengths(lines, references)


# ------------------------------------------------------------------------------------- scoring


def _make_metrics(
    references: list[list[str]], args: argparse.Namespace
) -> dict[str, SacreMetric[Any]]:
    """Return the metrics by name, in the order of the command line."""
    if args.langpair:
        args.bleu_trg_lang = args.langpair.split("-")[1]
    if args.sentence_level:
        args.bleu_effective_order = True
    return {
        name.upper(): METRICS[name.upper()](
            **args_to_dict(args, name, strip_prefix=True), references=references
        )
        for name in args.metrics
    }


def _print_segments(
    metric: SacreMetric[Any], lines: Sequence[str], args: argparse.Namespace
) -> None:
    """Print the score of each line."""
    signature = metric.get_signature().format(args.short)
    for score in metric._segment_scores(lines):
        print(score.format(args.width, args.score_only, signature))


def _print_system(
    metrics: dict[str, SacreMetric[Any]], lines: Sequence[str], args: argparse.Namespace
) -> None:
    """Print the scores of one system."""
    is_json = args.format == "json" and not args.detail
    args.format = "json" if is_json else "text"
    resamples, results = args.confidence_n if args.confidence else 1, []
    for _, metric in sorted(metrics.items()):
        score = metric.corpus_score(lines, None, resamples)
        signature = metric.get_signature().format(args.short and not is_json)
        results.append(score.format(args.width, args.score_only, signature, is_json))
    print_single_results(results, args)


def _print_systems(
    metrics: dict[str, SacreMetric[Any]], systems: Systems, args: argparse.Namespace
) -> None:
    """Print the scores of several systems, with a test if there is one."""
    if args.paired_bs or args.paired_ar:
        from karat.compat.sacrebleu.significance import PairedTest

        kind, n_samples = ("bs", args.paired_bs_n) if args.paired_bs else ("ar", args.paired_ar_n)
        test = PairedTest(systems, metrics, None, kind, n_samples, n_jobs=args.paired_jobs)
        signatures, results = test()
    else:
        signatures, results = {}, {"System": [name for name, _ in systems]}
        for _, lines in systems:
            for _, metric in sorted(metrics.items()):
                score = metric.corpus_score(lines, None)
                signatures[score.name] = metric.get_signature()
                results.setdefault(score.name, []).append(score.format(args.width, True))
    if args.detail and args.format == "json":
        args.format = "text"
    texts = {name: signature.format(args.short) for name, signature in signatures.items()}
    print_results_table(results, texts, args)


# ------------------------------------------------------------------------------------- command


def _print_list(args: argparse.Namespace) -> None:
    """Print the test sets with their language pairs."""
    if args.test_set:
        download_test_set(args.test_set, args.langpair)
    names, suffix = [*DATASETS], ""
    if args.langpair:
        names, suffix = get_available_testsets_for_langpair(args.langpair), f" for {args.langpair}"
    print(f"The available test sets{suffix} are:")
    for name in sorted(names):
        print(f"{name:<30}: {' '.join(get_langpairs_for_testset(name))}")


def _run(args: argparse.Namespace) -> None:
    """Read, score and print."""
    if args.list and not args.download:
        _print_list(args)
        return
    _check(args)
    references = _read_references(args)
    systems = _read_systems(args)
    args.num_refs = len(references)
    _check_systems(systems, references, args)
    metrics = _make_metrics(references, args)
    if args.sentence_level:
        _print_segments(next(iter(metrics.values())), systems[0][1], args)
    elif len(systems) == 1:
        _print_system(metrics, systems[0][1], args)
        if args.detail:
            print_subset_results(metrics, systems[0][1], references, args)
    else:
        _print_systems(metrics, systems, args)


def main() -> None:
    """Run the command with the arguments of the process."""
    args = parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    is_plain = os.environ.get("NO_COLOR") or args.no_color or not sys.stdout.isatty()
    Color.ENABLE_COLORS = not is_plain
    if not args.quiet:
        logging.basicConfig(level=logging.INFO, format="sacreBLEU: %(message)s")
    try:
        _run(args)
    except CommandError as error:
        _fail(str(error), error.code)
    except (InputError, LookupError, UnicodeError) as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(message: str, code: int = 1) -> NoReturn:
    """Print one sentence on standard error and end with an exit code."""
    print(f"sacrebleu: {message}", file=sys.stderr)
    sys.exit(code)
