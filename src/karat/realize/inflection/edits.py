"""Edits that turn a lemma into a form, counted from the end, so that they fit other lemmas too.

`study` -> `studies` is (0, y, ies); `5000` -> `5,000` is (3, , `,`): a comma before the last three
characters. What changes the beginning alone has the place `START` (`machen` -> `gemacht`).
"""

from __future__ import annotations

from difflib import SequenceMatcher

START = -1
SEVERAL = 3
"""Characters, changed on both sides, that may be several changes."""
Edit = tuple[tuple[int, str, str], ...]
"""Place, what is taken away and what is put there; from the first place to the last."""


def edit_between(lemma: str, form: str) -> Edit:
    """Return the edit that turns a lemma into a form."""
    if lemma == form:
        return ()
    begin = common_beginning(lemma, form)
    end = common_beginning(lemma[begin:][::-1], form[begin:][::-1])
    old, new = lemma[begin : len(lemma) - end], form[begin : len(form) - end]
    if min(len(old), len(new)) < SEVERAL:
        return (_at(lemma, begin, begin + len(old), new),)
    matcher = SequenceMatcher(None, lemma, form, autojunk=False)
    changed = [one for one in matcher.get_opcodes() if one[0] != "equal"]
    return tuple(_at(lemma, i, j, form[a:b]) for _, i, j, a, b in changed)


def common_beginning(a: str, b: str) -> int:
    """Return the number of characters that two words begin with alike."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))


def _at(lemma: str, begin: int, end: int, new: str) -> tuple[int, str, str]:
    at_start = begin == 0 and end < len(lemma)
    return START if at_start else len(lemma) - end, lemma[begin:end], new


def edited(lemma: str, edit: Edit) -> str | None:
    """Return the form that an edit makes of a lemma; nothing if it does not fit."""
    parts, done = [], 0
    for place, old, new in edit:
        begin = 0 if place == START else len(lemma) - place - len(old)
        if begin < done or lemma[begin : begin + len(old)] != old:
            return None
        parts += [lemma[done:begin], new]
        done = begin + len(old)
    return "".join([*parts, lemma[done:]]) or None
