"""What a report for the terminal is printed on."""

from __future__ import annotations

from dataclasses import dataclass

from karat.report.render.text_width import wrap
from karat.visible import visible

BOLD, DIM, RED, GREEN, YELLOW, MAGENTA, CYAN = "1", "2", "31", "32", "33", "35", "36"


@dataclass(frozen=True)
class Paper:
    """How wide it is, and whether it takes colour."""

    width: int
    color: bool

    def ink(self, text: str, code: str) -> str:
        """The text in bold, dim or a colour, or just the text on paper without colour."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text and code else text

    def lines(self, text: str, code: str) -> list[str]:
        """Running text, wrapped to the width."""
        return [self.ink(line, code) for line in wrap(visible(text, keep="\n"), self.width)]
