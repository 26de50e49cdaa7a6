"""Phrases that the answers of reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from karat.metrics.base import Metric

MAX_LISTED = 6  # names that a sentence lists before it counts the others

_LABELS = {
    "bleu": "BLEU",
    "bleu:eff=yes": "sentence BLEU",
    "chrf": "chrF",
    "chrf:words=2": "chrF++",
    "ter": "TER",
    "aev": "AEv",
    "gtm": "GTM",
    "pem": "PEM",
    "words": "word overlap",
    "rougeL": "ROUGE-L",
    "rougeLsum": "ROUGE-Lsum",
    "rougeW": "ROUGE-W",
} | {f"rouge{n}": f"ROUGE-{n}" for n in range(1, 5)}


def metric_label(metric: Metric | str) -> str:
    """Return the usual name of a metric with its defaults, else its name with its settings."""
    name = str(metric)
    return _LABELS.get(name, name.removeprefix("given:metric="))


def clear_labels(metrics: Iterable[Metric | str]) -> dict[str, str]:
    """Return the label of each metric by its name; those that would share one keep their names."""
    labels = {str(m): metric_label(m) for m in metrics}
    taken = list(labels.values())
    return {m: label if taken.count(label) == 1 else m for m, label in labels.items()}


def listing(items: Sequence[str], most: int = MAX_LISTED) -> str:
    """Return `a, b and c`, or `a, b and 7 more` where there are many."""
    shown = list(items) if len(items) <= most else list(items[: most - 1])
    if len(shown) < len(items):
        shown.append(f"{len(items) - len(shown):,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def sentence_case(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def score_digits(metric: Metric) -> int:
    """Decimals of a score in running text: one on a scale of 100, three on a scale of 1."""
    return 1 if metric.full_scale > 10 else 3


def span(low: float, high: float, digits: int) -> str:
    """An interval in running text: `[1.2, 7.9]`."""
    return f"[{_plain(low, digits)}, {_plain(high, digits)}]"


def signed(value: float, digits: int) -> str:
    """A difference in running text, with its sign."""
    text = _plain(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def _plain(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text if text.strip("-0.,") else text.lstrip("-")
