"""Everything Karat raises on purpose.

KaratError                the root; its text is one clear sentence, fit to be shown to a user
├── InputError            what was given cannot be scored (file, line, found, expected, what to do)
│   ├── MetricError       an unknown metric or parameter, or a value out of range
│   └── MissingExtra      an optional package is needed and not installed
├── OutputError           the result cannot be written where it was asked for
└── Interrupted           the work was stopped on request; nothing was written
"""

from __future__ import annotations


class KaratError(Exception):
    """The root of all errors that Karat raises on purpose."""


class InputError(KaratError, ValueError):
    """What was given cannot be scored."""


class MetricError(InputError):
    """An unknown metric or parameter, or a value out of range."""


class MissingExtra(InputError):
    """An optional package is needed and not installed."""


class OutputError(KaratError):
    """The result cannot be written where it was asked for."""


class Interrupted(KaratError):
    """The work was stopped on request."""
