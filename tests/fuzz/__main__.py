"""`python -m tests.fuzz --minutes 10`: damaged input for every reader, for as long as is wished.

Prints how many cases each reader was given, read and refused, and every failure with its seed;
`--reader NAME --seed N` works on that case alone, and `--keep FOLDER` writes its files there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.cases import Case, Outcome, files_of, outcomes, read_case
from fuzz.readers import READERS


def main() -> int:
    """Run what was asked for; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--reader", choices=READERS)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    names = [options.reader] if options.reader else list(READERS)
    if options.keep:
        options.keep.mkdir(parents=True)
        print(read_case(Case(names[0], options.seed), options.keep))
        print(*sorted(files_of(Case(names[0], options.seed))), sep="\n")
        return 0
    seeds = count(options.first) if options.seed is None else [options.seed]
    cases = (Case(name, seed) for seed in seeds for name in names)
    return report(names, _until(time.monotonic() + 60 * options.minutes, outcomes(cases)))


def _until(end: float, case_outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    for outcome in case_outcomes:
        yield outcome
        if time.monotonic() > end:
            return


def report(names: list[str], case_outcomes: Iterator[Outcome]) -> int:
    """Print failures as they come, then a table."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for (reader, seed), verdict in case_outcomes:
        outcome = Outcome(Case(reader, seed), verdict)
        counts[reader]["failed" if outcome.failed else verdict] += 1
        if outcome.failed:
            print(f"{reader}, seed {seed}: {verdict}", flush=True)
    print(f"{'reader':28}{'cases':>8}{'read':>8}{'refused':>9}{'failed':>8}")
    for name, tally in counts.items():
        print(f"{name:28}{tally.total():8}{tally['read']:8}{tally['refused']:9}{tally['failed']:8}")
    return int(any(tally["failed"] for tally in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
