"""CoNLL-U read line by line, believing what it says."""

from __future__ import annotations

from pathlib import Path


def read(path: Path) -> list[tuple[str, list[str], list[int]]]:
    """Id, words and heads of every sentence."""
    sentences = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip("\n").split("\n")
        ids = [line.split("=", 1)[1].strip() for line in lines if line.startswith("# sent_id")]
        rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
        words = [row for row in rows if row[0].isdigit()]
        if words:
            name = ids[0] if ids else ""
            sentences.append((name, [row[1] for row in words], [int(row[6]) for row in words]))
    return sentences
