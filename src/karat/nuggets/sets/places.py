"""Places of judgements as people read them: files without the folders in front."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEPARATOR = re.compile(r"[/\\]")


def short_places(places: Sequence[str]) -> list[str]:
    """Return `FILE, line N` of each place, with as many folders as tell different files apart."""
    split = [place.rpartition(", line ") for place in places]
    files = {file: _SEPARATOR.split(file) for file, _, _ in split}
    longest, kept = max(map(len, files.values()), default=1), 1
    while kept < longest and len({tuple(parts[-kept:]) for parts in files.values()}) < len(files):
        kept += 1
    return [
        f"{'/'.join(files[file][-kept:])}, line {line}" if file else line for file, _, line in split
    ]
