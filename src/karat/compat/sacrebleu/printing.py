"""Output of sacreBLEU's command: scores, tables of systems, and their colors."""

from __future__ import annotations

import json
import logging
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from karat.stats.significance import SIGNIFICANCE_LEVEL

sacrelogger = logging.getLogger("sacrebleu")

_COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ESCAPES = re.compile(r"\x1b\[[0-9]+m")


class Color:
    """Colors of the terminal, unless they are turned off."""

    ENABLE_COLORS = True

    @staticmethod
    def format(msg: str, color: str) -> str:
        """Return a message with the codes of a color; without them if colors are off."""
        if not Color.ENABLE_COLORS or color.lower() not in _COLORS:
            return msg
        return f"\x1b[{30 + _COLORS.index(color.lower())}m{msg}\x1b[0m"


# --------------------------------------------------------------------------------- one system


def print_single_results(results: list[str], args: Namespace) -> None:
    """Print the scores of one system: JSON, or lines with their equals signs below each other."""
    if args.format == "json":
        print("[\n" + ",\n".join(results) + "\n]" if len(results) > 1 else results[0])
        return
    interval = re.compile(r"\(μ = [0-9.]+ ± [0-9.]+\)")
    if "μ" in results[0]:
        results[:] = [interval.sub(lambda m: Color.format(m[0], "cyan"), line) for line in results]
    if len(results) == 1:
        print(results[0])
        return
    splits = [line.index("=") - 1 for line in results if "=" in line]
    for line in results:
        if "=" not in line:
            print(line)
    for line, split in zip(results, splits, strict=False):
        print(line[:split].rjust(max(splits)) + line[split:])


# ------------------------------------------------------------------------------ several systems


def print_results_table(
    results: dict[str, list[Any]], signatures: Mapping[str, Any], args: Namespace
) -> None:
    """Print the scores of several systems as JSON or as a table with signatures below it."""
    if args.format == "json":
        print(json.dumps(_records(results), indent=4))
        return
    is_grid = args.format == "text"
    columns = _text_columns(results, args.width, "\n" if is_grid else " ")
    baseline = columns["System"][0]
    is_named = baseline.startswith("Baseline:")
    colored = {}
    for name, cells in columns.items():
        first = Color.format(cells[0], "yellow") if is_named else cells[0]
        colored[Color.format(name, "cyan")] = [first, *cells[1:]]
    layout = _GRID if is_grid else _LATEX
    print(layout.table(list(colored), list(zip(*colored.values(), strict=True))))
    print()
    if args.paired_bs or args.paired_ar:
        _print_test(baseline if is_named else "the baseline", args)
    title = "Metric signatures"
    print("-" * len(title), title, "-" * len(title), sep="\n")
    for name, signature in signatures.items():
        print(f" - {name:<10} {signature}")


def _records(results: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return a record per system; results of tests become objects of plain numbers."""
    metrics = [name for name in results if name != "System"]
    return [
        {"system": system} | {name: _plain(results[name][i]) for name in metrics}
        for i, system in enumerate(results["System"])
    ]


def _plain(result: Any) -> Any:
    """Return a result as JSON has it."""
    if isinstance(result, str):
        return result
    return {name: None if x is None else float(x) for name, x in vars(result).items()}


def _text_columns(
    results: Mapping[str, Sequence[Any]], width: int, separator: str
) -> dict[str, list[str]]:
    """Return the columns of a table; titles say what intervals are."""
    columns, has_means = {"System": [*results["System"]]}, False
    for name, scores in results.items():
        if name != "System":
            cells = [_cell(score, width, separator) for score in scores]
            has_means |= any(getattr(score, "mean", None) is not None for score in scores)
            columns[f"{name} (μ ± 95% CI)" if has_means else name] = cells
    return columns


def _cell(score: Any, width: int, separator: str) -> str:
    """Return a score with its interval and its p-value, as far as it has them."""
    if isinstance(score, str):
        return score
    text = f"{score.score:.{width}f}"
    if score.mean is not None:
        text += f" ({score.mean:.{width}f} ± {score.ci:.{width}f})"
    if score.p_value is None:
        return text
    p_value = f"(p = {score.p_value:.4f})"
    mark = Color.format(p_value, "red") if score.p_value > SIGNIFICANCE_LEVEL else f"{p_value}*"
    return text + separator + mark


def _print_test(baseline: str, args: Namespace) -> None:
    """Print the name of the paired test and how to read its numbers."""
    name, trials = "approximate randomization", f"{args.paired_ar_n} trials"
    if args.paired_bs:
        name, trials = "bootstrap resampling", f"{args.paired_bs_n} resampling trials"
    title = f"Paired {name} test with {trials}"
    print("-" * len(title), title, "-" * len(title), sep="\n")
    print(f" - Every other system is compared with {Color.format(baseline, 'yellow')}.")
    if args.paired_bs:
        print(" - Cells show the score, and the mean and 95% interval of the resamples.")
    print(" - p is the probability of a difference at least this large between equal systems.")
    print(" - p of at most 0.05 is marked with *; larger values are red in a terminal.")
    print(" - A small p shows that two systems differ; their scores show which is better.")
    print()


# -------------------------------------------------------------------------------------- tables


class _Layout(NamedTuple):
    """The lines of a table: the first column is on the right, others are centered."""

    top: Callable[[Sequence[int]], str]
    below_header: Callable[[Sequence[int]], str]
    between: Callable[[Sequence[int]], str] | None
    bottom: Callable[[Sequence[int]], str]
    row: Callable[[Iterable[str]], str]

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Return the table as text; cells may have several lines."""
        split_rows = [[cell.split("\n") for cell in row] for row in rows]
        widths = [
            max(_width(title) + 2, *(_width(line) for row in split_rows for line in row[column]))
            for column, title in enumerate(header)
        ]
        blocks = ["\n".join(self._lines([[title] for title in header], widths))]
        blocks += ["\n".join(self._lines(row, widths)) for row in split_rows]
        between = f"\n{self.between(widths)}\n" if self.between else "\n"
        body = between.join(blocks[1:])
        lines = self.top(widths), blocks[0], self.below_header(widths), body, self.bottom(widths)
        return "\n".join(lines)

    def _lines(self, cells: Sequence[list[str]], widths: Sequence[int]) -> Iterable[str]:
        """Yield the lines of a row; short cells are filled below."""
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            aligned = [
                _aligned(part.strip(), width, is_right=not column)
                for column, (part, width) in enumerate(zip(parts, widths, strict=True))
            ]
            yield self.row(f" {part} " for part in aligned)


def _width(text: str) -> int:
    """Return the number of characters that a terminal shows."""
    return len(_ESCAPES.sub("", text))


def _aligned(text: str, width: int, *, is_right: bool) -> str:
    """Return text on the right or in the middle of a width; of an odd space, more is right."""
    space = max(width - _width(text), 0)
    left = space if is_right else space // 2
    return " " * left + text + " " * (space - left)


def _line(left: str, fill: str, crossing: str, right: str) -> Callable[[Sequence[int]], str]:
    """Return the function that draws a line of a grid for the widths of columns."""
    return lambda widths: left + crossing.join(fill * (width + 2) for width in widths) + right


_TEX = {char: f"\\{char}" for char in "&%$#_{}"}
_TEX |= {"^": r"\^{}", "~": r"\textasciitilde{}", "\\": r"\textbackslash{}"}
_TEX |= {"<": r"\ensuremath{<}", ">": r"\ensuremath{>}"}

_GRID = _Layout(
    _line("╒", "═", "╤", "╕"),
    _line("╞", "═", "╪", "╡"),
    _line("├", "─", "┼", "┤"),
    _line("╘", "═", "╧", "╛"),
    lambda cells: "│" + "│".join(cells) + "│",
)
_LATEX = _Layout(
    lambda widths: "\\begin{tabular}{r" + "c" * (len(widths) - 1) + "}\n\\toprule",
    lambda widths: "\\midrule",
    None,
    lambda widths: "\\bottomrule\n\\end{tabular}",
    lambda cells: "&".join("".join(_TEX.get(c, c) for c in cell) for cell in cells) + r"\\",
)


# -------------------------------------------------------------------------------------- checks


def sanity_check_lengths(
    system: Sequence[str], refs: Sequence[Sequence[str]], test_set: str | None = None
) -> None:
    """Log an error and exit if a system and its references differ in length."""
    lengths = {len(stream) for stream in refs}
    if lengths - {len(system)}:
        counts = " and ".join(f"{length:,}" for length in sorted(lengths))
        test_set_name = f" of {test_set}" if test_set else ""
        sacrelogger.error(
            f"the system has {len(system):,} segments, the references{test_set_name} "
            f"have {counts}: they must be equal"
        )
        sys.exit(1)


def args_to_dict(args: Namespace, prefix: str, strip_prefix: bool = False) -> dict[str, Any]:
    """Return the arguments whose names begin with a prefix and an underscore."""
    prefix = f"{prefix}_"
    arguments = {name: value for name, value in vars(args).items() if name.startswith(prefix)}
    if strip_prefix:
        return {name.replace(prefix, ""): value for name, value in arguments.items()}
    return arguments


def sum_of_lists(lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Return the sums of the columns of several rows; of one row, the row."""
    if len(lists) == 1:
        return lists[0]
    sums = [type(lists[0][0])(0.0)] * len(lists[0])
    for row in lists:
        sums = [total + number for total, number in zip(sums, row, strict=False)]
    return sums
