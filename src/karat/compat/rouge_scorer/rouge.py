"""rouge-score's command: scores of the records of files, written as CSV.

    python -m karat.compat.rouge_scorer.rouge --target_filepattern='*.targets' \\
        --prediction_filepattern='*.decodes' --output_filename=scores.csv --use_stemmer

Flags are those of rouge-score, with one dash or two, as `--flag=value`, `--flag value`, and
`--noflag` for switches. The package absl is not needed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from karat.compat.rouge_scorer import RougeScorer
from karat.compat.rouge_scorer.io import compute_scores_and_write_to_csv
from karat.compat.rouge_scorer.scoring import BootstrapAggregator
from karat.errors import InputError

_SWITCHES = {
    "use_stemmer": (False, "stem words by Porter's rules"),
    "aggregate": (True, "write low, mid and high of all records; without it, a row per record"),
    "split_summaries": (False, "find the sentences for rougeLsum (needs nltk)"),
}
_TRUE, _FALSE = ("true", "t", "1", "yes", "y"), ("false", "f", "0", "no", "n")


class _FlagParser(argparse.ArgumentParser):
    """A parser that ends with exit code 1 for wrong flags, as absl does."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"rouge: {message}\n")


def _switch(text: str) -> bool:
    """Return the value of a switch."""
    if text.lower() not in (*_TRUE, *_FALSE):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text.lower() in _TRUE


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the flags of the command line."""
    parser = _FlagParser("rouge", description="ROUGE of text files, by Karat.", allow_abbrev=False)

    def add(name: str, description: str, **settings: object) -> None:
        parser.add_argument(f"--{name}", f"-{name}", help=description, **settings)  # type: ignore[arg-type]

    add("target_filepattern", "files of targets (references)", required=True)
    add("prediction_filepattern", "files of predictions", required=True)
    add("output_filename", "the CSV file to write", required=True)
    add("delimiter", "the end of a record (default: line feed)", default="\n")
    types = ["rouge1", "rouge2", "rougeL"]
    add("rouge_types", "types between commas", default=types, type=lambda x: x.split(","))
    for name, (default, description) in _SWITCHES.items():
        add(name, description, nargs="?", const=True, default=default, type=_switch)
        add(f"no{name}", argparse.SUPPRESS, dest=name, action="store_false")
    return parser.parse_args(arguments)


def main(argv: Sequence[str]) -> None:
    """Run the command; `argv` begins with the name of the program."""
    flags = _parse(argv[1:])
    scorer = RougeScorer(flags.rouge_types, flags.use_stemmer, flags.split_summaries)
    aggregator = BootstrapAggregator() if flags.aggregate else None
    files = flags.target_filepattern, flags.prediction_filepattern, flags.output_filename
    try:
        compute_scores_and_write_to_csv(*files, scorer, aggregator, flags.delimiter)
    except InputError as error:
        sys.exit(f"rouge: {error}")
    except (OSError, UnicodeError) as error:
        sys.exit(f"rouge: {getattr(error, 'filename', None) or 'input'}: {error}")


if __name__ == "__main__":
    main(sys.argv)
