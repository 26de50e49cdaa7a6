"""One metric on a table and on lists made of it: `python arrow_lists.py FOLDER METRIC`.

Runs in a separate process, so that strings are new, as they are for a user. Prints processor time.
"""

from __future__ import annotations

import json
import sys
import time

import pyarrow.parquet as pq

import karat as kt


def main() -> None:
    """Measure both in turns."""
    folder, metric = sys.argv[1:]
    table = pq.read_table(folder, columns=["candidate", "reference"]).combine_chunks()
    start = time.process_time()
    candidates, references = (table[name].to_pylist() for name in ("candidate", "reference"))
    conversion_time = time.process_time() - start
    best = {"arrow": float("inf"), "lists": float("inf")}
    values = set()
    for _ in range(3):
        start = time.process_time()
        arrow_result = kt.arrow.merge(kt.arrow.sums(table, metric)).score()
        between = time.process_time()
        list_result = kt.score(candidates, references, metric, threads=1)
        end = time.process_time()
        values |= {arrow_result.rows[0].score.value, list_result.rows[0].score.value}
        best["arrow"] = min(best["arrow"], between - start)
        best["lists"] = min(best["lists"], end - between)
    if len(values) != 1:
        raise RuntimeError(f"not the same score: {values}")
    print(json.dumps({**best, "made": conversion_time}))


if __name__ == "__main__":
    main()
