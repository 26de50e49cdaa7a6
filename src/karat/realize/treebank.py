"""Treebanks: CoNLL-U with words, lemmas, tags and relations, all sentences in flat columns."""

from __future__ import annotations

import mmap
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from itertools import chain, count
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.storage.digests import data_digest
from karat.storage.output import as_path
from karat.text.trees import columns_in, map_conllu

MISSING = "_"
"""CoNLL-U's placeholder for missing values."""
NOTATIONS = "CoNLL-U, brackets or JSON"
"""Formats of trees, for messages."""
SNIFFED_BYTES = 1 << 16
"""Bytes from which the format is detected."""
FEATURES = "expected features such as Number=Sing|Person=3"
_UNWRITABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
_BEFORE = re.compile(r"(?:\s+|#[^\n]*)*")  # blank lines and comments


def first_character(text: str) -> str:
    """Return the first character after blank lines and comments, or an empty string."""
    match = _BEFORE.match(text)
    return text[match.end() :][:1] if match else ""


def is_notation(text: bytes) -> bool:
    """Return whether a file begins like brackets or JSON, not like CoNLL-U."""
    return first_character(text.decode("utf-8-sig", "replace")) in ("(", "{", "[")


def text_problem(value: str) -> str:
    """Return the problem with a field that would break a line of output, or an empty string."""
    if _UNWRITABLE.search(value):
        return "expected no control characters, line ends or halves of characters"
    return "expected more than spaces" if value and not value.strip() else ""


def features_problem(features: str) -> str:
    """Return the problem with features, or an empty string.

    Names in lower case are not part of Universal Dependencies. The Surface Realization tasks use
    them, sometimes twice, and sometimes together with the placeholder for no features.
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
    """Return the problem with the feature that forbids insertions, or an empty string."""
    parts = (part for part in features.split("|") if part != "Complete=No")
    if any(part.partition("=")[0].lower() == "complete" for part in parts):
        return "expected Complete=No, or no feature of this name"
    return ""


COLUMNS, FEATS = 10, 5
"""Number of columns of CoNLL-U, and the index of the features."""

WORD_FIELDS = ("words", "lemmas", "upos", "xpos", "relations", "features")
"""The fields of a word."""
WORD_COLUMNS = (*WORD_FIELDS, "surfaces", "word_lines")
"""Columns of a treebank with an entry for each word."""


class Surface(NamedTuple):
    """The text of a word as written, and whether a space follows.

    The text of a multiword token (`du`) belongs to its first word; the others have none.
    """

    text: str
    space_after: bool


class FlatTrees:
    """Columns of many trees: tree i has the entries `offsets[i]` to `offsets[i + 1]` of each."""

    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def starts(self) -> Ints:
        """For each entry, the start of its tree in the columns."""
        return np.repeat(self.offsets[:-1], np.diff(self.offsets))


@dataclass(frozen=True, eq=False)
class Treebank(FlatTrees):
    """Sentence i has the words `offsets[i]` to `offsets[i + 1]` of every column.

    `heads` count from 1 within the sentence, 0 for the root; `documents[i]` is the document of
    sentence i; `lines[i]` is its first line in the file. `features` (FEATS), `surfaces` and
    `word_lines` (the line of each word) are empty lists if they were not read. `has_word_order` is
    False for trees in brackets or JSON.
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

    def __repr__(self) -> str:
        return f"<Treebank {self.name}: {len(self):,} sentences, {len(self.words):,} words>"

    @cached_property
    def digest(self) -> str:
        """Digest of words, labels and heads."""
        columns = self.words, self.lemmas, self.upos, self.xpos, self.relations, self.features
        return data_digest(columns, self.surfaces, self.heads, self.offsets)

    @cached_property
    def mothers(self) -> Ints:
        """The position of each word's head in the columns, -1 for roots."""
        mothers: Ints = np.where(self.heads > 0, self.starts + self.heads - 1, -1)
        return mothers

    def columns_at(self, words: Iterable[int]) -> dict[str, Any]:
        """Return the word columns at some positions; columns that were not read stay empty."""
        places = list(words)
        columns = {name: getattr(self, name) for name in WORD_COLUMNS}
        return {name: [c[j] for j in places] if c else c for name, c in columns.items()}

    def select(self, sentences: Sequence[int] | Ints) -> Treebank:
        """Return some sentences, in the given order."""
        spans = [range(*self.offsets[i : i + 2].tolist()) for i in sentences]
        words = np.array([*chain(*spans)], dtype=np.int64)
        chosen = np.array(sentences, dtype=np.int64)
        return replace(
            self,
            heads=self.heads[words],
            offsets=np.cumsum([0, *map(len, spans)], dtype=np.int64),
            ids=[self.ids[i] for i in sentences],
            documents=self.documents[chosen],
            lines=self.lines[chosen],
            **self.columns_at(words.tolist()),
        )

    def keep(self, is_kept: Flags) -> Treebank:
        """Return the sentences with some of their words; removed words must be leaves."""
        number, starts = np.append(0, np.cumsum(is_kept)), self.starts
        heads = np.where(self.heads > 0, number[starts + self.heads] - number[starts], 0)
        columns = self.columns_at(np.flatnonzero(is_kept).tolist())
        offsets = number[self.offsets].astype(np.int64)
        return replace(self, heads=heads[is_kept].astype(np.int32), offsets=offsets, **columns)

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
        """Return a treebank of one document.

        `rows` are word, lemma, UPOS, XPOS, relation and features of every word; `lines` are the
        first lines of sentences, if they are from a file.
        """
        columns: dict[str, Any] = dict(
            zip(WORD_FIELDS, map(list, zip(*rows, strict=True)), strict=True)
        )
        return cls(
            name=name,
            heads=np.array(heads, dtype=np.int32),
            offsets=np.array(offsets, dtype=np.int64),
            ids=ids,
            documents=np.zeros(len(ids), dtype=np.int32),
            lines=np.array(lines or [1] * len(ids), dtype=np.int64),
            **columns,
        )

    def place(self, sentence: int, line: int | None = None) -> str:
        """Return the location of a sentence, or of one of its lines, for messages."""
        identifier = f", sentence {self.ids[sentence]}" if self.ids[sentence] else ""
        return f"{self.name}, line {line or self.lines[sentence]:,}{identifier}"

    def word_place(self, j: int) -> str:
        """Return the location of word j of the columns, for messages."""
        sentence = int(np.searchsorted(self.offsets, j, side="right")) - 1
        place = self.place(sentence, self.word_lines[j] if self.word_lines else None)
        return f"{place}, word {j - self.offsets[sentence] + 1:,}"


def read_treebank(path: str | os.PathLike[str]) -> Treebank:
    """Read a CoNLL-U file; check that each sentence has one root, no cycle and numbered words.

    The format of the Surface Realization tasks is read too: its words are scrambled, and FEATS or
    MISC has the original position (`original_id=7`).

    Args:
        path: the file; `.gz` is fine.
    """
    buffer, name = map_conllu(as_path("path", path))
    if is_notation(buffer[:SNIFFED_BYTES]):
        raise InputError(f"{name}: found trees in brackets or JSON: a treebank needs CoNLL-U")
    treebank = parse_treebank(buffer, name)
    check_forms(treebank)
    return treebank


def bundled_treebank() -> Treebank:
    """Return the treebank that comes with Karat; its first sentence is the paper's example."""
    place = resources.files("karat") / "data" / "treebank" / "demo.conllu"
    with resources.as_file(place) as path:
        return read_treebank(path)


def check_forms(treebank: Treebank) -> None:
    """Raise if a word has no form; the word `_` has the lemma `_`."""
    if MISSING not in treebank.words:
        return
    for j, (word, lemma) in enumerate(zip(treebank.words, treebank.lemmas, strict=True)):
        if word == MISSING != lemma:
            raise InputError(f"{treebank.word_place(j)}: no form: give it in the second column")


def parse_treebank(buffer: mmap.mmap, name: str) -> Treebank:
    """Return the sentences of a mapped file."""
    columns = columns_in(buffer, name)
    lists: list[Any] = [c.strings() if isinstance(c, _kernel.Views) else c for c in columns]
    features, lines, surfaces = _word_columns(buffer, name)
    treebank = Treebank(name, *lists)
    treebank = replace(treebank, features=features, surfaces=surfaces, word_lines=lines)
    return treebank if buffer.find(b"original_id=") < 0 else _sort_by_original(treebank, buffer)


_WORD = re.compile(rb"^\d+\t[^\n]*", re.MULTILINE)
_ORIGINAL = re.compile(rb"(?:^|[\t|])original_id=(\d{1,9})(?=[\t|\r]|$)")


def _rows(text: mmap.mmap) -> Iterator[tuple[int, list[bytes]]]:
    """Yield line and cells of every word and multiword token; no cells between sentences."""
    at = len(BOM_UTF8) if text[: len(BOM_UTF8)] == BOM_UTF8 else 0
    for number in count(1):
        if at >= len(text):
            return
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        line, at = text[at:end], end + 1
        cells = line.rstrip(b"\r").split(b"\t")
        if len(cells) == COLUMNS and b"." not in cells[0] and line[:1] != b"#":
            yield number, cells
        elif not line.strip():
            yield number, []


def _features(cell: bytes, location: str) -> str:
    """Return features sorted by name; raise if they are malformed.

    Names in lower case, as in the Surface Realization tasks, are dropped: they describe the word
    order. A misspelt `complete=no` is kept, for `read_input` to reject.
    """
    text = cell.decode("utf-8")
    problem = features_problem(text) if text else f"{FEATURES}, or {MISSING}"
    if problem:
        raise InputError(f"{location}: features (FEATS) is {quoted(text)}, {problem}")
    parts = sorted(text.split("|"))
    return "|".join(p for p in parts if p[:1].isupper() or p.lower().startswith("complete="))


def _word_columns(text: mmap.mmap, name: str) -> tuple[list[str], list[int], list[Surface]]:
    """Return the features, the line and the text of every word.

    Multiword tokens must directly precede their words.
    """

    def check_token(is_misplaced: bool, line: int) -> None:
        if is_misplaced:
            problem = "a multiword token is separated from its words: give it directly before them"
            raise InputError(f"{name}, line {line}: {problem}, each word in one token at most")

    features, lines, surfaces = list[str](), list[int](), list[Surface]()
    parsed: dict[bytes, str] = {}
    distinct: dict[Surface, Surface] = {}  # equal surfaces share one object
    token, words, begun = Surface("", True), list[str](), 0
    place = end = 0  # number of the last word, and of the last word of the multiword token
    for line, cells in chain(_rows(text), [(0, [])]):
        first, _, last = cells[0].partition(b"-") if cells else (b"", b"", b"")
        check_token(place < end and bool(last or not cells), begun)
        if not cells:
            place = end = 0
            continue
        surface = Surface(cells[1].decode("utf-8"), b"SpaceAfter=No" not in cells[-1].split(b"|"))
        if last:
            token, words, begun, end = surface, [], line, int(last)
            check_token(int(first) != place + 1 or end <= place, line)
            continue
        cell = cells[FEATS]
        if cell not in parsed:
            parsed[cell] = _features(cell, f"{name}, line {line}, word {cells[0].decode()}")
        features.append(parsed[cell])
        lines.append(line)
        place += 1
        if place > end:
            surfaces.append(distinct.setdefault(surface, surface))
            continue
        words.append(surface.text)
        if place == end:  # the token is complete; its text may be split among its words
            in_parts = "".join(words) == token.text
            texts = words if in_parts else [token.text, *[""] * (len(words) - 1)]
            spaces = [*[False] * (len(words) - 1), token.space_after]
            written = map(Surface, texts, spaces)
            surfaces += (distinct.setdefault(part, part) for part in written)
    return features, lines, surfaces


def _sort_by_original(bank: Treebank, text: mmap.mmap) -> Treebank:
    """Return the sentences with their words in the original order (`original_id`)."""
    matches = [_ORIGINAL.search(line[0]) for line in _WORD.finditer(text)]
    if len(matches) != len(bank.words) or None in matches:
        raise InputError(f"{bank.name}: original_id is given for some words, expected it for all")
    original = np.array([int(match[1]) for match in matches if match], dtype=np.int32)
    order = np.lexsort((original, bank.starts))
    again = (np.diff(original[order]) == 0) & (np.diff(bank.starts[order]) == 0)
    if again.any():
        j = int(order[1:][again][0])
        problem = f"another word of the sentence has original_id={original[j]} too"
        raise InputError(f"{bank.word_place(j)}: {problem}: give each word its own")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    heads = np.where(bank.heads > 0, place[bank.mothers] - bank.starts + 1, 0)
    columns = bank.columns_at(order.tolist())
    return replace(bank, heads=heads[order].astype(np.int32), **columns)


MAX_BLOCK_SENTENCES, MAX_BLOCK_PAIRS = 256, 1 << 18
"""Limits of a block: sentences, and pairs of sisters. A single sentence may exceed the latter."""


def split_into_blocks(
    treebank: Treebank, max_sentences: int = MAX_BLOCK_SENTENCES
) -> Iterator[tuple[int, Treebank]]:
    """Yield blocks of sentences, with the number of the first sentence."""
    daughters = np.bincount(treebank.mothers[treebank.mothers >= 0], minlength=len(treebank.words))
    sums = np.append(0, np.cumsum(daughters.astype(np.int64) ** 2))
    pairs = np.diff(sums[treebank.offsets])  # of sisters, and of words with themselves
    first = n_held = 0
    for i, n_pairs in enumerate(pairs.tolist()):
        if i > first and (i - first >= max_sentences or n_held + n_pairs > MAX_BLOCK_PAIRS):
            yield first, treebank.select(range(first, i))
            first, n_held = i, 0
        n_held += n_pairs
    if first < len(pairs):
        yield first, treebank.select(range(first, len(pairs)))
