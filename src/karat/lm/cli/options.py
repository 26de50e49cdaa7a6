"""Options that the commands of `karat lm` share."""

from __future__ import annotations

from collections.abc import Callable

from karat.cli.options import F
from karat.cli.parameters import choice, option


def recipe_options(tok: str) -> Callable[[F], F]:
    """Add `--tok`, `--case` and `--stem`; None where nothing is said. `tok` is what help shows."""
    stem = option("--stem", "A stemmer such as english (default: none).", metavar="STEMMER")
    case = option("--case", "Default: mixed.", choice("mixed", "lower"))
    cut = option("--tok", f"The tokeniser (see karat metrics; default: {tok}).", metavar="TOK")
    return lambda function: cut(case(stem(function)))
