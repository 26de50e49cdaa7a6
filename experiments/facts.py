"""Facts: share of planted errors flagged, and share of correct pairs flagged.

    KARAT_DATA=... python experiments/facts.py [--half chosen|reported] [--speed]

Prints Markdown. Rules were chosen on the `chosen` half of every corpus: items of DEMETR at even
positions, and the first half of the lines of parallel texts. The other half was looked at for the
figures only. Correct pairs of DEMETR are `mt_sent` against `eng_sent`; those of parallel texts are
a translation against its English text. Intervals are Wilson's, 95%.

Planted errors in parallel texts: a number in digits or words is exchanged; a negation is added to a
translation of a text without one, or removed from the only negated place of another.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from pathlib import Path

from karat.facts.comparing import CHECKS, fact_changes
from karat.facts.languages import has_other_language
from karat.facts.texts import text_facts

DATA = Path(os.environ.get("KARAT_DATA", "data"))
SEED, PLANTS = 2026, 500
HALVES = ("chosen", "reported")

Pair = tuple[str, str]

DEMETR = {
    "numbers": ("critical_id10_numbers_replaced", "numbers replaced"),
    "negation": ("critical_id8_negation", "negation"),
    "names": ("critical_id9_ne_replaced", "names replaced"),
    "names removed": ("critical_id25_ne_removed", "names removed"),
}
CORPORA = {
    "debian en-de": ("de", "parallel-debian/en-de.tsv.gz"),
    "multi30k en-de": ("de", "parallel-multi30k/train.en.gz", "parallel-multi30k/train.de.gz"),
    "debian en-fr": ("fr", "parallel-debian/en-fr.tsv.gz"),
    "multi30k en-fr": ("fr", "parallel-multi30k/train.en.gz", "parallel-multi30k/train.fr.gz"),
    "debian en-it": ("it", "parallel-debian/en-it.tsv.gz"),
    "align-gold en-es": ("es", "align-gold/enes/train.full.en", "align-gold/enes/train.full.es"),
    "tatoeba en-zh": ("zh", "parallel-tatoeba-enzh/en-zh.tsv.gz"),
    "tanaka en-ja": ("ja", "parallel-tanaka-enja/train.en.gz", "parallel-tanaka-enja/train.ja.gz"),
}
"""Corpus -> language and files: one with both texts, or the English one and the other."""

NUMBER_WORDS = {
    "de": "zwei drei vier fünf sechs sieben zehn zwanzig",
    "fr": "deux trois quatre cinq six sept dix vingt",
    "it": "due tre quattro cinque sette dieci venti",
    "es": "dos tres cuatro cinco seis siete diez veinte",
    "zh": "两个 三个 四个 五个 六个 七个 兩個 三個 四個 五個",
    "ja": "二つ 三つ 四つ 五つ 六つ 二人 三人 四人 二年 三年",
}
ADDED = {
    "de": "ist/ist nicht|wird/wird nicht|sind/sind nicht|hat/hat nicht|enthält/enthält nicht",
    "fr": "est/n'est pas|sont/ne sont pas|fournit/ne fournit pas|contient/ne contient pas",
    "it": "è/non è|sono/non sono|contiene/non contiene|fornisce/non fornisce",
    "es": "es/no es|ha/no ha|son/no son|tiene/no tiene|está/no está",
    "zh": "是/不是|会/不会|會/不會|有/没有|喜欢/不喜欢|想/不想",
    "ja": "で す/で は あ り ま せ ん|ま す/ま せ ん|ま し た/ま せ ん で し た|だ 。/で な い 。",
}
REMOVED = {
    "de": [(r"\bnicht ", ""), (r"\bkein(e[nmrs]?)? ", "ein "), (r"\bohne\b", "mit")],
    "fr": [(r"\b(?:ne |n['’] ?)(\w+) pas\b", r"\1"), (r"\bsans\b", "avec")],
    "it": [(r"\bnon ", ""), (r"\bsenza\b", "con")],
    "es": [(r"\bno ", ""), (r"\bsin\b", "con")],
    "zh": [("不", ""), ("没有", "有"), ("沒有", "有")],
    "ja": [("ま せ ん", "ま す"), ("な い 。", "る 。"), ("な かっ た", "た")],
}
NEGATED = re.compile(r"\b(?:not|no|never|without|nothing|nobody|none|cannot)\b|n ?['’]t\b")


def wilson(hits: int, count: int) -> str:
    """A share with its interval."""
    if not count:
        return "–"
    share, z2 = hits / count, 1.96**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = 1.96 * sqrt(share * (1 - share) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return f"{share:.3f} [{max(centre - half, 0):.3f}, {min(centre + half, 1):.3f}]"


def share(flags: Iterable[bool]) -> str:
    """The share of flags that are set, with its interval."""
    listed = list(flags)
    return wilson(sum(listed), len(listed))


def demetr(name: str, half: str) -> list[dict[str, str]]:
    """The items of a perturbation in one half."""
    path = DATA / "challenge-demetr" / f"{name}.json"
    items: list[dict[str, str]] = json.loads(path.read_text("utf-8"))
    return items[HALVES.index(half) :: 2]


def lines(path: str) -> list[str]:
    """The lines of a text file, compressed or not."""
    full = DATA / path
    with gzip.open(full, "rt", encoding="utf-8") if path.endswith("gz") else full.open() as file:
        return [line.rstrip("\n") for line in file]


def parallel(files: Sequence[str], half: str) -> list[Pair]:
    """The pairs of English and other texts in one half of a corpus."""
    if len(files) == 1:
        split = (line.split("\t") for line in lines(files[0]))
        pairs = [(cells[0], cells[1]) for cells in split if len(cells) > 1]
    else:
        pairs = list(zip(*map(lines, files), strict=True))
    middle = len(pairs) // 2
    chosen = pairs[:middle] if half == HALVES[0] else pairs[middle:]
    return [(a, b) for a, b in chosen if a.strip() and b.strip()]


def plant_number(text: str, lang: str, rng: random.Random) -> str | None:
    """The text with another number, or None if it has none."""
    words, spaced = NUMBER_WORDS[lang].split(), lang not in ("zh", "ja")
    patterns = [rf"\b{word}\b" if spaced else word for word in words]
    places = [*re.finditer("|".join([r"\d+", *patterns]), text)]
    if not places:
        return None
    place = rng.choice(places)
    if place[0].isdecimal():
        number = str(int(place[0]) + rng.choice([2, 3, 5, 7, 11]))
    else:
        number = rng.choice([word for word in words if word[0] != place[0][0]])
    return text[: place.start()] + number + text[place.end() :]


def plant_negation(text: str, lang: str) -> str | None:
    """The text with a negation, or None if there is no place for it."""
    space = "" if lang in ("zh", "ja") else " "
    for item in ADDED[lang].split("|"):
        plain, negated = (f"{space}{part}{space}" for part in item.split("/"))
        if plain in text:
            return text.replace(plain, negated, 1)
    return None


def remove_negation(text: str, lang: str) -> str | None:
    """The text without its negation, or None if it has none or several."""
    for pattern, replacement in REMOVED[lang]:
        if len(re.findall(pattern, text)) == 1:
            return re.sub(pattern, replacement, text, count=1)
    return None


def planted(pairs: Sequence[Pair], lang: str) -> Iterator[tuple[str, str, list[Pair]]]:
    """The kinds of planted errors, what must flag them, and the pairs with one."""
    rng = random.Random(SEED)
    shuffled = rng.sample(list(pairs), len(pairs))
    plain = [pair for pair in shuffled if not NEGATED.search(pair[0])]
    negated = [pair for pair in shuffled if NEGATED.search(pair[0])]
    for kind, check, chosen, plant in (
        ("number", "numbers", shuffled, lambda text: plant_number(text, lang, rng)),
        ("added", "negation", plain, lambda text: plant_negation(text, lang)),
        ("removed", "negation", negated, lambda text: remove_negation(text, lang)),
    ):
        made: list[Pair] = []
        for english, text in chosen:
            changed = plant(text) if len(made) < PLANTS else None
            made += [] if changed is None else [(english, changed)]
        yield kind, check, made


def is_flagged(pair: Pair, lang: str, check: str) -> bool:
    """Whether a translation is flagged against its English text."""
    return bool(fact_changes(pair[1], [pair[0]], lang, check=[check], reference_lang="en"))


def print_demetr(half: str) -> None:
    """Print the table of DEMETR."""
    print(f"\n**DEMETR, {half} half**\n")
    print("| error | planted | flagged | correct | flagged |\n|---|---:|---:|---:|---:|")
    for name, (file, title) in DEMETR.items():
        check, items = name.split()[0], demetr(file, half)
        bad = [item for item in items if item["pert_check"]]
        hits = share(
            bool(fact_changes(i["pert_sent"], [i["eng_sent"]], check=[check])) for i in bad
        )
        alarms = share(
            bool(fact_changes(i["mt_sent"], [i["eng_sent"]], check=[check])) for i in items
        )
        print(f"| {title} | {len(bad)} | {hits} | {len(items)} | {alarms} |")


def print_parallel(half: str) -> None:
    """Print the table of parallel texts."""
    print(f"\n**Parallel texts, {half} half**\n")
    print(
        "| corpus | pairs | correct: numbers | correct: negation | number exchanged | "
        "negation added | negation removed |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    for name, (lang, *files) in CORPORA.items():
        pairs = parallel(files, half)
        cells = [share(is_flagged(p, lang, check) for p in pairs) for check in CHECKS[:2]]
        for _, check, made in planted(pairs, lang):
            cells.append(f"{share(is_flagged(p, lang, check) for p in made)}, n={len(made)}")
        print(f"| {name} | {len(pairs):,} | {' | '.join(cells)} |")


def print_languages(half: str) -> None:
    """Print the share of texts that seem to be in another language than declared."""
    print(f"\n**Texts in another language, {half} half**\n")
    print("| corpus | own language declared | English declared |\n|---|---:|---:|")
    for name, (lang, *files) in CORPORA.items():
        texts = [text for _, text in parallel(files, half)]
        cells = [share(has_other_language(text, x) for text in texts) for x in (lang, "en")]
        print(f"| {name} | {' | '.join(cells)} |")
    for name, (_, *files) in CORPORA.items():
        texts = [text for text, _ in parallel(files, half)]
        print(f"| {name}: English | {share(has_other_language(t, 'en') for t in texts)} | |")


def print_speed(repeats: int = 20) -> None:
    """Print segments per second of DEMETR's translations against their references."""
    items = demetr(DEMETR["negation"][0], HALVES[0])
    pairs = [(item["mt_sent"], item["eng_sent"]) for item in items]
    words = sum(len(a.split()) for a, _ in pairs) / len(pairs)
    print(f"\n**Speed**, one thread, {words:.1f} words per output, no text cached\n")
    print("| check | segments/s |\n|---|---:|")
    for checks in (*((check,) for check in CHECKS), CHECKS):
        best = 0.0
        for _ in range(repeats):
            text_facts.cache_clear()
            start = time.process_time()
            for candidate, reference in pairs:
                fact_changes(candidate, [reference], check=checks)
            best = max(best, len(pairs) / (time.process_time() - start))
        print(f"| {'+'.join(checks)} | {best:,.0f} |")


def main() -> None:
    """Print the tables of one half, or of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=HALVES, action="append")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    for half in options.half or HALVES:
        print_demetr(half)
        print_parallel(half)
        print_languages(half)
    if options.speed:
        print_speed()


if __name__ == "__main__":
    main()
