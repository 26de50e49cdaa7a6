"""Write the held-out input files and the expectations of what they are read as.

Run it from anywhere: `python tests/inputs/unseen/make_unseen.py`. It needs openpyxl, and the
modules of the folder above.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import unseen_sheets  # noqa: E402
import unseen_tools  # noqa: E402
from case_format import Cases  # noqa: E402


def main() -> None:
    """Replace all files and expectations."""
    folder = HERE / "files"
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    cases = Cases(folder)
    for module in (unseen_tools, unseen_sheets):
        module.add_cases(cases)
    cases.finish(HERE / "expected.json")
    total = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{len(cases.cases)} cases, {sum(1 for _ in folder.iterdir())} files, {total:,} bytes")


if __name__ == "__main__":
    main()
