"""Arguments of commands, with the value of an option replaced."""

from __future__ import annotations


def with_option(arguments: tuple[str, ...], *option: str) -> tuple[str, ...]:
    """Return arguments with an option added, in place of an earlier one of that name."""
    name = option[0]
    if not name.startswith("-") or name not in arguments:
        return (*arguments, *option)
    place = arguments.index(name)
    return (*arguments[:place], *arguments[place + 2 :], *option)
