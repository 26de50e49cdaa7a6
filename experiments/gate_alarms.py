"""Gates on TED talks: false alarms where nothing changed, and regressions that are caught.

    KARAT_DATA=… python experiments/gate_alarms.py [--alarms | --power] [--trials N]

Prints Markdown. The 13 systems of `ted-zhen` have 529 segments each; all random choices are of
numpy's default generator, seed 2006. Every decision is made by the code of `karat gate`.

--alarms: two systems are drawn, and every segment's outputs are exchanged between them with
probability a half, so that neither side is better: the difference has the mean 0. The tolerated
drop is 0. Also with 20 and 50 segments drawn from the 529.

--power: in a share of the segments of a system, drawn at random, 10% of the words (at least one)
are dropped. The undamaged system is the baseline.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

import karat as kt
from karat.gating.decisions import FAIL, PASS, GateRow, PairedItems, decide
from karat.gating.items import MeasuredItems
from karat.progress import silent
from karat.scoring import Keep, compute_statistics, load_metrics, make_inputs

SEED, METRICS = 2006, ("chrf", "bleu")
SIZES, SHARES, TOLERANCES = (20, 50, 529), (0.02, 0.05, 0.1, 0.2, 0.3, 0.5), (0.0, 0.5, 1.0)
Rows = dict[str, list[NDArray[np.int64]]]


def statistics(systems: dict[str, Sequence[str]], references: Sequence[Sequence[str]]) -> Rows:
    """Rows of every system by every metric."""
    inputs = make_inputs(systems, references, METRICS)
    stats = compute_statistics(inputs, Keep(rows=True), 1, silent)
    return {
        name: [np.concatenate(stats[name, m].row_blocks).astype(np.int64) for m in inputs.metrics]
        for name in systems
    }


def decide_metrics(
    after: Sequence[NDArray[np.int64]], before: Sequence[NDArray[np.int64]], tolerated: float = 0.0
) -> dict[str, GateRow]:
    """The decision by each metric alone, and under `both` the worse of both together."""
    pairs = [
        PairedItems(MeasuredItems(m, str(m), new), old)
        for m, new, old in zip(load_metrics(METRICS), after, before, strict=True)
    ]
    limits = dict.fromkeys(METRICS, tolerated)
    alone = [decide([pair], limits, "none")[0] for pair in pairs]
    both = decide(pairs, limits, "simultaneous")
    order = {FAIL: 0, PASS: 2}
    worst = min(both, key=lambda row: order.get(row.verdict, 1))
    return dict(zip((*METRICS, "both"), (*alone, worst), strict=True))


def exchanges(rows: Rows, size: int, trials: int, seed: int = SEED) -> Iterator[dict[str, GateRow]]:
    """Decisions on changes that change nothing."""
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        first, second = (rows[name] for name in rng.choice(sorted(rows), 2, replace=False))
        places = rng.choice(len(first[0]), size, replace=False)
        swapped = rng.random(size)[:, None] < 0.5
        sides = [
            (np.where(swapped, b[places], a[places]), np.where(swapped, a[places], b[places]))
            for a, b in zip(first, second, strict=True)
        ]
        yield decide_metrics([side[0] for side in sides], [side[1] for side in sides])


def dropped(text: str, rng: np.random.Generator) -> str:
    """A text without a tenth of its words, at least one."""
    words = text.split()
    if not words:
        return text
    gone = set(rng.choice(len(words), max(1, round(len(words) / 10)), replace=False).tolist())
    return " ".join(word for at, word in enumerate(words) if at not in gone)


def damages(
    rows: Rows, evalset: kt.EvalSet, share: float, trials: int, seed: int = SEED
) -> Iterator[tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]]:
    """Rows of damaged systems and of themselves before."""
    rng = np.random.default_rng(seed)
    outputs, references = evalset.texts()
    names = sorted(outputs)
    for trial in range(trials):
        name = names[trial % len(names)]
        places = rng.choice(len(evalset), round(share * len(evalset)), replace=False).tolist()
        texts = [dropped(outputs[name][at], rng) for at in places]
        damaged_stats = statistics({name: texts}, [references[at] for at in places])[name]
        after = [table.copy() for table in rows[name]]
        for table, damaged_rows in zip(after, damaged_stats, strict=True):
            table[places] = damaged_rows
        yield after, rows[name]


def report_alarms(rows: Rows, trials: int) -> None:
    print(f"\n| segments | changes | {' | '.join(METRICS)} | both, simultaneous |")
    print("|---:|---:|" + "---:|" * (len(METRICS) + 1))
    for size in SIZES:
        decisions = list(exchanges(rows, size, trials))
        shares = [
            np.mean([decision[name].verdict == FAIL for decision in decisions])
            for name in decisions[0]
        ]
        cells = " | ".join(f"{share:.2%}" for share in shares)
        print(f"| {size} | {trials:,} | {cells} |", flush=True)


def report_power(rows: Rows, evalset: kt.EvalSet, trials: int) -> None:
    print("\n| damaged segments | mean loss | " + " | ".join(METRICS) + " | both | pass, both |")
    print("|---:|---:|" + "---:|" * (len(METRICS) + 2))
    for tolerated in TOLERANCES:
        print(f"| **max drop {tolerated:g}** |" + " |" * (len(METRICS) + 3))
        for share in SHARES:
            pairs = damages(rows, evalset, share, trials)
            decisions = [decide_metrics(*pair, tolerated) for pair in pairs]
            cells = [
                np.mean([decision[name].verdict == FAIL for decision in decisions])
                for name in decisions[0]
            ]
            cells.append(np.mean([decision["both"].verdict == PASS for decision in decisions]))
            losses = [
                -np.mean([decision[name].delta for decision in decisions]) for name in METRICS
            ]
            lost = " and ".join(f"{loss:.2f}" for loss in losses)
            row_text = " | ".join(f"{cell:.1%}" for cell in cells)
            print(f"| {share:.0%} | {lost} | {row_text} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alarms", action="store_true")
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--trials", type=int)
    options = parser.parse_args()
    evalset = kt.load_evalset("ted-zhen")
    outputs, references = evalset.texts()
    rows = statistics(outputs, references)
    if options.alarms or not options.power:
        report_alarms(rows, options.trials or 2000)
    if options.power or not options.alarms:
        report_power(rows, evalset, options.trials or 260)


if __name__ == "__main__":
    main()
