"""The script for Slurm in the documents, run as its tasks would be, but as plain processes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "large-tables.md"


def script() -> str:
    (matches,) = re.findall(
        r"```bash\n(#!/bin/bash\n#SBATCH.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    return matches


def test_every_task_of_the_array_does_its_part(
    folder: Path, clean_environment: Callable[..., dict[str, str]], output: Callable[..., str]
) -> None:
    texts = (folder / "a.txt").read_text().splitlines() + (
        folder / "b.txt"
    ).read_text().splitlines()
    references = (folder / "ref1.txt").read_text().splitlines() * 2
    columns = {
        "output": texts,
        "reference": references,
        "system": list("AAAABBBB"),
        "segment": [0, 1, 2, 3] * 2,
    }
    for i in range(5):
        ids = {**columns, "segment": [4 * i + n for n in columns["segment"]]}
        (folder / "data").mkdir(exist_ok=True)
        pq.write_table(pa.table(ids), folder / "data" / f"{i}.parquet")
    bin = folder / "bin"
    bin.mkdir()
    karat = bin / "karat"
    karat.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from karat.cli.main import run; run()" "$@"\n'
    )
    karat.chmod(0o755)
    (folder / "score.sh").write_text(script().replace("data.parquet", "data"))
    tasks = []
    for number in (1, 2, 3):
        env = clean_environment(SLURM_ARRAY_TASK_ID=str(number), SLURM_ARRAY_TASK_COUNT="3")
        env["PATH"] = f"{bin}:{env['PATH']}"
        tasks.append(
            subprocess.Popen(["bash", "score.sh"], cwd=folder, env=env, stdout=subprocess.DEVNULL)
        )
    assert [task.wait(120) for task in tasks] == [0, 0, 0]
    arguments = (
        "data",
        "--by",
        "system",
        "--id",
        "segment",
        "-m",
        "bleu",
        "-m",
        "chrf",
        "-f",
        "tsv",
    )
    assert output("merge", "parts", "-f", "tsv") == output("score", *arguments)
    merged = output("merge", "parts", "--compare", "-f", "tsv")
    assert merged == output("compare", *arguments, "--examples", "0")
