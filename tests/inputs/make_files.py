"""Write the sample input files and the expectations of what they are read as.

Run it from anywhere: `python tests/inputs/make_files.py`. It needs pyarrow and openpyxl. The output
depends on nothing else: no date, no randomness.
"""

from __future__ import annotations

import json_tables
import platform_exports
import rating_tables
import spreadsheets
import text_tables
import tool_exports
from case_format import HERE, Cases

MODULES = (
    tool_exports,
    platform_exports,
    rating_tables,
    text_tables,
    json_tables,
    spreadsheets,
)


def main() -> None:
    """Replace all files and expectations."""
    folder = HERE / "files"
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    cases = Cases(folder)
    for module in MODULES:
        module.add_cases(cases)
    cases.finish(HERE / "expected.json")
    total = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{len(cases.cases)} cases, {sum(1 for _ in folder.iterdir())} files, {total:,} bytes")


if __name__ == "__main__":
    main()
