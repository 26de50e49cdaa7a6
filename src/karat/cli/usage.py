"""Sentences for slips on the command line that say the right form.

Options that are missing or unknown, options of sacreBLEU, and a number after an option that takes
none. The examples are those of the command's help.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise

import click

_SACREBLEU = {
    "-t": "the test set, has no counterpart: give its references as files with -r",
    "-l": "the language pair, is not needed: set the tokeniser of the metric, as in -m bleu:tok=zh",
    "-b": "the score alone, is --format tsv or --format json",
    "-i": "the candidate, is an argument: karat score out.txt -r ref.txt",
    "-tok": "the tokeniser, is a setting of the metric, as in -m bleu:tok=zh",
    "-lc": "lower case, is a setting of the metric, as in -m bleu:case=lower",
    "-w": "the number of decimals, is not needed: --format json has all of them",
    "-n": "the number of resamples, is --resamples N",
    "--metrics": "several metrics, is -m bleu -m chrf",
    "--confidence": "intervals, is --resamples 1000",
    "--paired-bs": "a paired test, is karat compare --test bootstrap",
    "--paired-ar": "a paired test, is karat compare --test randomization",
    "--sentence-level": "segment scores, is --segments",
}
"""Options of sacreBLEU that people type from habit."""

_SAME = {
    "--test-set": "-t",
    "--language-pair": "-l",
    "--score-only": "-b",
    "--input": "-i",
    "--tokenize": "-tok",
    "--lowercase": "-lc",
    "--width": "-w",
    "--confidence-n": "-n",
    "-sl": "--sentence-level",
}


def usage_sentence(
    error: click.ClickException, command: click.Command, typed: Sequence[str]
) -> str:
    """Return the sentence for a slip: click's words, and the right form."""
    if isinstance(error, click.NoSuchOption):
        return _unknown_option(error, command, typed)
    if isinstance(error, click.MissingParameter | click.BadOptionUsage):
        return error.format_message() + _example(error, command) + _standard_input(error)
    return error.format_message()


def _unknown_option(error: click.NoSuchOption, command: click.Command, typed: Sequence[str]) -> str:
    # `-tok` where click found the unknown letter `-t`
    habits = (word for word in typed if word in {**_SACREBLEU, **_SAME})
    name = next((word for word in habits if word.startswith(error.option_name)), error.option_name)
    known = [opt for param in command.params for opt in param.opts if opt.startswith("--")]
    close = list(error.possibilities or [])
    if not close and len(name) == 2:  # for `-b`, the long options that begin with b
        close = [option for option in known if option.startswith(f"--{name[1]}")]
    text = f"No such option '{name}'."
    habit = _SACREBLEU.get(_SAME.get(name, name)) if "--reference" in known else None
    if close and not (habit and len(name) > 2):  # a letter may be meant for either, a word is not
        text += f" Did you mean {' or '.join(sorted(close))}?"
    if habit:
        text += f" sacreBLEU's {name}, {habit}."
    return text + ("" if close or habit else _example(error, command))


def _example(error: click.UsageError, command: click.Command) -> str:
    """An example of the command's help; one with the option that is missing, if there is."""
    lines = re.findall(r"^ *(karat .*)$", command.help or "", re.M)
    param = getattr(error, "param", None)
    names = {*(param.opts if param else ()), getattr(error, "option_name", "")}
    fitting = [line for line in lines if names & {*line.split()}] or lines
    return f" For example: {fitting[0]}" if fitting else ""


def _standard_input(error: click.UsageError) -> str:
    """The way to standard input, which sacreBLEU reads where no candidate is named."""
    missing = getattr(error, "param", None)
    return "; use - for standard input" if getattr(missing, "name", "") == "candidates" else ""


def refuse_numbers_after_flags(command: click.Command, typed: Sequence[str]) -> None:
    """`--segments 5` makes a file of the 5: say that the option takes no number."""
    options = (param for param in command.params if isinstance(param, click.Option))
    flags = {name for param in options if param.is_flag for name in param.opts}
    for option, word in pairwise(typed):
        if option in flags and re.fullmatch(r"\d+", word) and not os.path.exists(word):
            hint = "; for one segment, use karat grid --segment N" if option == "--segments" else ""
            raise click.UsageError(f"{option} takes no number: leave out {word}{hint}")
