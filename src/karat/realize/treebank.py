"""Treebanks: CoNLL-U with words, lemmas, tags and relations, all sentences in flat columns."""

from __future__ import annotations

import mmap
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.storage.digests import data_digest
from karat.storage.output import as_path
from karat.text.trees import columns_in, map_conllu

MISSING = "_"
"""CoNLL-U's mark for what is not given."""
NOTATIONS = "CoNLL-U, brackets or JSON"
"""Formats of trees, for messages."""
SNIFFED_BYTES = 1 << 16
"""Bytes that tell a format."""
FEATURES = "expected features such as Number=Sing|Person=3"
_UNWRITABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
_BEFORE = re.compile(r"(?:\s+|#[^\n]*)*")  # blank lines and comments


def first_character(text: str) -> str:
    """Return the first character after blank lines and comments; empty if there is none."""
    match = _BEFORE.match(text)
    return text[match.end() :][:1] if match else ""


def is_notation(text: bytes) -> bool:
    """Return whether a file begins like trees in brackets or JSON, and not like CoNLL-U."""
    return first_character(text.decode("utf-8-sig", "replace")) in ("(", "{", "[")


def text_problem(value: str) -> str:
    """Return what is wrong with a field, as sentences are written a line each; else nothing."""
    if _UNWRITABLE.search(value):
        return "expected no control characters, line ends or halves of characters"
    return "expected more than spaces" if value and not value.strip() else ""


def features_problem(features: str) -> str:
    """Return what is wrong with features, if some are given; else nothing.

    Names in lower case are none of Universal Dependencies. The Surface Realization tasks have them,
    some of them twice, and some beside the mark for no features.
    """
    parts = [] if features in ("", MISSING) else features.split("|")
    if any(part[:1].islower() for part in parts):
        parts = [part for part in parts if part != MISSING]
    names = list[str]()
    for part in parts:
        name, _, value = part.partition("=")
        if not name or not value or "=" in value or any(c.isspace() for c in part):
            return FEATURES
        if name in names and not name[0].islower():
            return f"expected {quoted(name)} once"
        names.append(name)
    return ""


def complete_problem(features: str) -> str:
    """Return what is wrong with the feature that says that nothing is inserted; else nothing."""
    for part in features.split("|"):
        if part.partition("=")[0].lower() == "complete" and part != "Complete=No":
            return "expected Complete=No, or no feature of this name"
    return ""


COLUMNS, FEATS = 10, 5
"""Columns of CoNLL-U, and the place of the features."""

WORD_COLUMNS = (
    "words",
    "lemmas",
    "upos",
    "xpos",
    "relations",
    "features",
    "surfaces",
    "word_lines",
)
"""Columns of a treebank that have an entry for each word."""


class Surface(NamedTuple):
    """The text of a word: as written, and whether a space follows it.

    A multiword token (`du`) is the text of its first word, and the others have none.
    """

    text: str
    space_after: bool


@dataclass(frozen=True, eq=False)
class Treebank:
    """Sentence i has the words `offsets[i]` to `offsets[i + 1]` of every column.

    `heads` count from 1 within the sentence, 0 is the root's; `documents[i]` tells which document
    sentence i belongs to; `lines[i]` is where it begins in the file. `features` (FEATS),
    `surfaces` and `word_lines` (the line of each word) are empty lists if they were not read.
    `has_word_order` is False for trees in brackets or JSON, whose words have no order.
    """

    name: str
    words: list[str]
    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    relations: list[str]
    heads: NDArray[np.int32]
    offsets: Ints
    ids: list[str]
    documents: NDArray[np.int32]
    lines: Ints
    features: list[str] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    word_lines: list[int] = field(default_factory=list)
    has_word_order: bool = True

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Treebank {self.name}: {len(self):,} sentences, {len(self.words):,} words>"

    @cached_property
    def digest(self) -> str:
        """Eight characters that change when a word, label or head does."""
        columns = self.words, self.lemmas, self.upos, self.xpos, self.relations, self.features
        return data_digest(columns, self.surfaces, self.heads, self.offsets)

    def keep(self, is_kept: Flags) -> Treebank:
        """Return the sentences with some of their words; those left out head no others."""
        number = np.append(0, np.cumsum(is_kept))
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        heads = np.where(self.heads > 0, number[starts + self.heads] - number[starts], 0)
        columns: dict[str, Any] = {name: getattr(self, name) for name in WORD_COLUMNS}
        columns_kept: dict[str, Any] = {
            name: [
                value
                for value, keep_value in zip(column, is_kept.tolist(), strict=True)
                if keep_value
            ]
            for name, column in columns.items()
            if column
        }
        offsets, kept_heads = number[self.offsets].astype(np.int64), heads[is_kept].astype(np.int32)
        return replace(self, heads=kept_heads, offsets=offsets, **columns_kept)

    @classmethod
    def of_rows(
        cls,
        name: str,
        rows: Iterable[tuple[str, str, str, str, str, str]],
        heads: Sequence[int],
        offsets: Sequence[int],
        ids: list[str],
        lines: Sequence[int] | None = None,
    ) -> Treebank:
        """Make a treebank of one document.

        Args:
            name: name in messages.
            rows: word, lemma, UPOS, XPOS, relation and features of every word.
            heads, offsets, ids: as the treebank has them.
            lines: lines where sentences begin; 1 if they are not from a file.
        """
        words, lemmas, upos, xpos, relations, features = map(list, zip(*rows, strict=True))
        return cls(
            name=name,
            words=words,
            lemmas=lemmas,
            upos=upos,
            xpos=xpos,
            relations=relations,
            heads=np.array(heads, dtype=np.int32),
            offsets=np.array(offsets, dtype=np.int64),
            ids=ids,
            documents=np.zeros(len(ids), dtype=np.int32),
            lines=np.array(lines or [1] * len(ids), dtype=np.int64),
            features=features,
        )

    def place(self, sentence: int) -> str:
        """Return the place of a sentence, for messages."""
        identifier = f", sentence {self.ids[sentence]}" if self.ids[sentence] else ""
        return f"{self.name}, line {self.lines[sentence]:,}{identifier}"

    def word_place(self, j: int) -> str:
        """Return the place of word j of the columns, for messages."""
        sentence = int(np.searchsorted(self.offsets, j, side="right")) - 1
        identifier = f", sentence {self.ids[sentence]}" if self.ids[sentence] else ""
        line = self.word_lines[j] if self.word_lines else self.lines[sentence]
        return f"{self.name}, line {line:,}{identifier}, word {j - self.offsets[sentence] + 1:,}"


def read_treebank(path: str | os.PathLike[str]) -> Treebank:
    """Read sentences from a CoNLL-U file, checked: one root, no cycle, words numbered.

    The format of the Surface Realization tasks is read, too: its words are scrambled, and FEATS or
    MISC has the original place (`original_id=7`).

    Args:
        path: the file; `.gz` is fine.
    """
    buffer, name = map_conllu(as_path("path", path))
    if is_notation(buffer[:SNIFFED_BYTES]):
        raise InputError(f"{name}: found trees in brackets or JSON: a treebank needs CoNLL-U")
    treebank = parse_treebank(buffer, name)
    check_forms(treebank)
    return treebank


def check_forms(treebank: Treebank) -> None:
    """Refuse words without a form; an underscore has itself as its lemma."""
    if MISSING not in treebank.words:
        return
    for j, (word, lemma) in enumerate(zip(treebank.words, treebank.lemmas, strict=True)):
        if word == MISSING != lemma:
            raise InputError(f"{treebank.word_place(j)}: no form: give it in the second column")


def parse_treebank(buffer: mmap.mmap, name: str) -> Treebank:
    """Return the sentences of a mapped file."""
    columns = columns_in(buffer, name)
    lists: list[Any] = [c.strings() if isinstance(c, _kernel.Views) else c for c in columns]
    treebank = Treebank(name, *lists)
    features, lines = list[str](), list[int]()
    distinct: dict[Surface, Surface] = {}  # each is held once
    rows = _with_features(_rows(buffer), features, lines, name)
    surfaces = [distinct.setdefault(surface, surface) for surface in _surfaces(rows, name)]
    treebank = replace(treebank, features=features, surfaces=surfaces, word_lines=lines)
    places = _original_ids(buffer, name, len(treebank.words))
    return treebank if places is None else _sort_by_original(treebank, places)


_WORD = re.compile(rb"^\d+\t[^\n]*", re.MULTILINE)
_ORIGINAL = re.compile(rb"(?:^|[\t|])original_id=(\d{1,9})(?=[\t|\r]|$)")


def _original_ids(text: mmap.mmap, name: str, n: int) -> NDArray[np.int32] | None:
    """Return the original place of each word, if the file gives it for every word."""
    if text.find(b"original_id=") < 0:
        return None
    matches = (_ORIGINAL.search(match[0]) for match in _WORD.finditer(text))
    places = np.fromiter(
        (int(match_of_word[1]) if match_of_word else -1 for match_of_word in matches),
        dtype=np.int32,
    )
    if len(places) != n or (places < 0).any():
        raise InputError(f"{name}: original_id is given for some words, expected it for all")
    return places


_Row = tuple[int, list[bytes]]


def _rows(text: mmap.mmap) -> Iterator[_Row]:
    """Yield the line and the cells of every word and multiword token; none between sentences."""
    for number, line in enumerate(_lines(text), 1):
        cells = line.rstrip(b"\r").split(b"\t")
        if len(cells) == COLUMNS and b"." not in cells[0] and line[:1] != b"#":
            yield number, cells
        elif not line.strip():
            yield number, []


def _lines(text: mmap.mmap) -> Iterator[bytes]:
    """Yield the lines of a mapped file, one at a time."""
    at = len(BOM_UTF8) if text[: len(BOM_UTF8)] == BOM_UTF8 else 0
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1


def _with_features(
    rows: Iterable[_Row], features: list[str], lines: list[int], name: str
) -> Iterator[_Row]:
    """Yield rows as they are, and add the features and the line of every word to lists."""
    parsed: dict[bytes, str] = {}
    for line, cells in rows:
        if cells and b"-" not in cells[0]:
            cell = cells[FEATS]
            if cell not in parsed:
                parsed[cell] = _features(cell, f"{name}, line {line}, word {cells[0].decode()}")
            features.append(parsed[cell])
            lines.append(line)
        yield line, cells


def _features(cell: bytes, location: str) -> str:
    """Return features in the order of their names, or raise an error.

    Names begin with capitals; others, as in the Surface Realization tasks, tell of the order.
    But `complete=no` is a mistake that stays, for `read_input` to refuse.
    """
    text = cell.decode("utf-8")
    problem = features_problem(text) if text else f"{FEATURES}, or {MISSING}"
    if problem:
        raise InputError(f"{location}: features (FEATS) is {quoted(text)}, {problem}")
    parts = text.split("|")
    return "|".join(
        sorted(part for part in parts if part[:1].isupper() or _is_complete_feature(part))
    )


def _is_complete_feature(part: str) -> bool:
    return part.lower().startswith("complete=")


def _surfaces(rows: Iterable[_Row], name: str) -> Iterator[Surface]:
    """Yield the text of every word; refuse multiword tokens that do not stand before their own."""
    token, words, begun = Surface("", True), list[str](), 0
    place = end = 0  # the last word so far, and the last one of the multiword token
    for line, cells in chain(rows, [(0, [])]):
        first, _, last = cells[0].partition(b"-") if cells else (b"", b"", b"")
        if place < end and (last or not cells):
            raise _misplaced_token(name, begun)
        if not cells:
            place = end = 0
            continue
        surface = Surface(cells[1].decode("utf-8"), b"SpaceAfter=No" not in cells[-1].split(b"|"))
        if last:
            token, words, begun, end = surface, [], line, int(last)
            if int(first) != place + 1 or end <= place:
                raise _misplaced_token(name, line)
            continue
        place += 1
        if place > end:
            yield surface
            continue
        words.append(surface.text)
        yield from _surfaces_of_token(token, words) if place == end else ()


def _misplaced_token(name: str, line: int) -> InputError:
    problem = "a multiword token stands apart from its words: give it directly before them"
    return InputError(f"{name}, line {line}: {problem}, each word in one token at most")


def _surfaces_of_token(token: Surface, words: list[str]) -> list[Surface]:
    """Return the text of the words of a multiword token."""
    texts = words if "".join(words) == token.text else [token.text, *[""] * (len(words) - 1)]
    *earlier_texts, last = texts
    return [*(Surface(text, False) for text in earlier_texts), Surface(last, token.space_after)]


def _sort_by_original(bank: Treebank, original: NDArray[np.int32]) -> Treebank:
    """Return the sentences with their words sorted by original number."""
    sentences = np.repeat(np.arange(len(bank)), np.diff(bank.offsets))
    order = np.lexsort((original, sentences))
    again = (np.diff(original[order]) == 0) & (np.diff(sentences[order]) == 0)
    if again.any():
        j = int(order[1:][again][0])
        problem = f"original_id={original[j]} stands at another word of the sentence too"
        raise InputError(f"{bank.word_place(j)}: {problem}: give each word its own")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    starts = bank.offsets[sentences]
    heads = place[starts + np.maximum(bank.heads - 1, 0)] - starts + 1
    moved: dict[str, Any] = {c: [getattr(bank, c)[j] for j in order.tolist()] for c in WORD_COLUMNS}
    return replace(bank, heads=np.where(bank.heads > 0, heads, 0)[order].astype(np.int32), **moved)


def slice_sentences(bank: Treebank, first: int, end: int) -> Treebank:
    """Return a treebank of the sentences from `first` up to `end`, which is not one of them."""
    offsets = bank.offsets[first : end + 1]
    part = slice(int(offsets[0]), int(offsets[-1]))
    chosen: dict[str, Any] = {c: getattr(bank, c)[part] for c in (*WORD_COLUMNS, "heads")}
    chosen |= {c: getattr(bank, c)[first:end] for c in ("ids", "documents", "lines")}
    return replace(bank, offsets=offsets - offsets[0], **chosen)


MAX_BLOCK_SENTENCES, MAX_BLOCK_PAIRS = 256, 1 << 18
"""Sentences of a block, and pairs of sisters, of which features are made; a block may be one
sentence that has more."""


def split_into_blocks(
    treebank: Treebank, max_sentences: int = MAX_BLOCK_SENTENCES
) -> Iterator[tuple[int, Treebank]]:
    """Yield some sentences after the other: the number of the first, and the sentences."""
    pairs = _pairs(treebank)
    first = n_held = 0
    for i, n_pairs in enumerate(pairs.tolist()):
        if i > first and (i - first >= max_sentences or n_held + n_pairs > MAX_BLOCK_PAIRS):
            yield first, slice_sentences(treebank, first, i)
            first, n_held = i, 0
        n_held += n_pairs
    if first < len(pairs):
        yield first, slice_sentences(treebank, first, len(pairs))


def _pairs(treebank: Treebank) -> Ints:
    """Return the number of pairs of sisters in every sentence, and of words with themselves."""
    starts = np.repeat(treebank.offsets[:-1], np.diff(treebank.offsets))
    mothers = (starts + treebank.heads - 1)[treebank.heads > 0]
    daughters = np.bincount(mothers, minlength=len(treebank.words))
    sums = np.append(0, np.cumsum(daughters.astype(np.int64) ** 2))
    pairs_of_sentence: Ints = np.diff(sums[treebank.offsets])
    return pairs_of_sentence
