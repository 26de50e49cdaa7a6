"""Pictures in the documents are those that the commands beside them draw.

`KARAT_GOLDEN=write pytest tests/docs/test_pictures.py` draws them anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from karat.cli.main import main
from tools.docs.stage import ROOT

PICTURES = ROOT / "docs" / "pictures"
README = re.sub(r" \\\n\s+", " ", (ROOT / "README.md").read_text("utf-8"))  # one command a line
COMMANDS = re.findall(r"^\$ karat (.* -o (\w+\.svg))$", README, re.M)


def test_every_picture_has_a_command_in_the_readme() -> None:
    assert sorted(path.name for path in PICTURES.iterdir()) == sorted(name for _, name in COMMANDS)


@pytest.mark.parametrize(("command", "name"), COMMANDS, ids=[name for _, name in COMMANDS])
def test_a_picture_is_up_to_date(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--texts", "."]) == 0
    assert main(command.split()) == 0
    picture = (tmp_path / name).read_text("utf-8")
    if os.environ.get("KARAT_GOLDEN") == "write":
        (PICTURES / name).write_text(picture, "utf-8")
    assert picture == (PICTURES / name).read_text("utf-8")
