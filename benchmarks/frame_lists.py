"""One metric on data frames and on lists of the same texts: `python frame_lists.py FOLDER METRIC`.

Runs in a separate process. All take turns; prints the minimum processor time of each.
"""

from __future__ import annotations

import json
import sys
import time

import pandas as pd
import polars as pl
import pyarrow.parquet as pq

import karat as kt

_TURNS = 5


def main() -> None:
    """Measure frames and lists in turns, and with the scores of rows joined."""
    folder, metric = sys.argv[1:]
    table = pq.read_table(folder, columns=["candidate", "reference"]).combine_chunks()
    data = {name: table[name].to_pylist() for name in ("candidate", "reference")}
    candidates, references = data.values()
    frames = {
        "pandas": pd.DataFrame(data),
        "objects": pd.DataFrame(data, dtype=object),
        "polars": pl.DataFrame(data),
    }
    runs = {"lists": lambda: kt.score(candidates, references, metric)}
    for name, frame in frames.items():
        runs[name] = lambda frame=frame: kt.score(frame, metrics=metric)
        runs[f"{name} joined"] = lambda frame=frame: _joined(frame, metric)
    best = dict.fromkeys(runs, float("inf"))
    values = set()
    for _ in range(_TURNS):
        for name, run in runs.items():
            start = time.process_time()
            scoring = run()
            best[name] = min(best[name], time.process_time() - start)
            values.add(scoring.rows[0].score.value)
    if len(values) != 1:
        raise RuntimeError(f"not the same score: {values}")
    print(json.dumps(best))


def _joined(frame: object, metric: str) -> kt.Scoring:
    scoring = kt.score(frame, metrics=metric, segments=True)
    scoring.join()
    return scoring


if __name__ == "__main__":
    main()
