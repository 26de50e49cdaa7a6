"""Which letters matplotlib can show here, and what stands for the others."""

from __future__ import annotations

from functools import cache

from karat.visible import visible

FAMILY = "DejaVu Sans"  # comes with matplotlib
OTHERS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "IPAexGothic", "Hiragino Sans"),
    *("PingFang SC", "Yu Gothic", "Microsoft YaHei", "WenQuanYi Micro Hei", "Arial Unicode MS"),
)
"""Where letters are looked up that the first family lacks, if they are installed."""


@cache
def families() -> tuple[str, ...]:
    """The fonts in use: matplotlib's own, and what is installed for letters that it lacks."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return (FAMILY, *(name for name in OTHERS if name in installed))


@cache
def _letters() -> frozenset[int]:
    """The code points that the fonts in use have."""
    from matplotlib.font_manager import findfont, get_font

    fonts = [get_font(findfont(name)) for name in families()]
    return frozenset(code for font in fonts for code in font.get_charmap())


def printable(text: str) -> str:
    """The text with what no font in use can show as an escape, never as an empty box."""
    return "".join(c if ord(c) in _letters() else _escape(c) for c in visible(text))


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
