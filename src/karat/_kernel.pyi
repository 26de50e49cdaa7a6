"""The names of the compiled module; see csrc/."""

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_Ids = NDArray[np.int32]
_Offsets = NDArray[np.int64]
_Symbols = NDArray[np.uint32]
_Weights = NDArray[np.float32]
_Reals = NDArray[np.float64]

# ---------------------------------------------------------------------------------------- csrc/core

class Watched:
    lost: bool
    def __init__(self, mapped: object, name: str) -> None: ...

def sum_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]: ...
def grouped_sums(rows: NDArray[np.int64], groups: _Ids, count: int) -> NDArray[np.int64]: ...
def grouped_limb_sums(rows: NDArray[np.float64], groups: _Ids, count: int) -> NDArray[np.int64]: ...
def exp(x: Any) -> Any: ...
def quick_exp(x: Any) -> Any: ...
def exp_of_float(x: Any) -> Any: ...
def log(x: Any) -> Any: ...
def quick_log(x: Any) -> Any: ...
def log10(x: Any) -> Any: ...
def log1p(x: Any) -> Any: ...
def sigmoid(x: Any) -> Any: ...
def log_gamma(x: Any) -> Any: ...
def erfc(x: Any) -> Any: ...
def power(x: Any, y: Any) -> Any: ...
def limb_sums(rows: NDArray[np.float64]) -> NDArray[np.int64]: ...
def limbs(rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
def exact_product(
    counts: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def from_limbs(
    whole: NDArray[np.int64], middle: NDArray[np.int64], low: NDArray[np.int64]
) -> NDArray[np.float64]: ...
def products(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]: ...
def symmetric_solutions(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]: ...

# ---------------------------------------------------------------------------------------- csrc/text

class Views:
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def strings(self) -> list[str]: ...
    def lower(self) -> Views: ...
    def split_sentences(self, separator: str) -> tuple[Views, _Offsets]: ...
    def slice(self, start: int, stop: int) -> Views: ...
    @staticmethod
    def from_strings(strings: Sequence[str], start: int, stop: int) -> Views: ...
    @staticmethod
    def from_lines(buffer: object, begin: int, end: int) -> Views: ...
    @staticmethod
    def interleave(parts: list[Views], skip_empty: bool) -> tuple[Views, _Offsets]: ...

class LineIndex:
    lines: int
    invalid_line: int
    invalid_column: int
    nul_line: int
    def __init__(self, stride: int) -> None: ...
    def feed(self, buffer: object, begin: int, enough: int) -> int: ...
    def starts(self) -> _Offsets: ...

class Vocab:
    def __len__(self) -> int: ...
    def bytes(self) -> int: ...
    def chosen(self, ids: _Ids) -> Vocab: ...
    def add(self, words: list[str]) -> _Ids: ...
    def find(self, words: list[str]) -> _Ids: ...
    def intern(self, views: Views) -> _Ids: ...
    def merge(self, other: Vocab) -> _Ids: ...
    def words(self, start: int, stop: int) -> list[str]: ...

def first_not_str(items: Sequence[object]) -> int: ...
def string_sizes(strings: Sequence[str], stride: int) -> _Offsets: ...
def tokenize(views: Views, vocab: Vocab, tokenizer: str) -> tuple[_Ids, _Offsets]: ...
def codepoints(views: Views, keep_space: bool) -> tuple[_Ids, _Offsets]: ...
def porter_nltk(vocab: Vocab, start: int, target: Vocab) -> _Ids: ...
def tercom(
    views: Views, vocab: Vocab, normalize: bool, no_punct: bool, asian: bool, twice: bool
) -> tuple[_Ids, _Offsets]: ...
def check_trees(heads: _Ids, offsets: _Offsets) -> tuple[int, str]: ...

class WordTable:
    def __init__(self, bytes: NDArray[np.uint8], offsets: _Offsets, slots: _Ids) -> None: ...
    def __len__(self) -> int: ...
    def find(self, vocab: Vocab, start: int = 0) -> _Ids: ...
    def words(self, ids: _Ids) -> list[str]: ...

def vocab_bytes(vocab: Vocab) -> tuple[NDArray[np.uint8], _Offsets]: ...
def word_slots(bytes: NDArray[np.uint8], offsets: _Offsets) -> _Ids: ...
def read_treebank(
    buffer: object, begin: int
) -> (
    tuple[str, int, str]
    | tuple[Views, Views, Views, Views, Views, _Ids, _Offsets, Views, _Ids, _Offsets]
): ...

# --------------------------------------------------------------------------------------- csrc/arrow

class ArrowBatch:
    @staticmethod
    def from_capsules(schema: object, array: object) -> ArrowBatch: ...
    def __len__(self) -> int: ...
    def texts(
        self, column: int, start: int, stop: int
    ) -> tuple[Views, _Offsets | None, int, str]: ...
    def integers(self, column: int, start: int, stop: int) -> tuple[_Offsets, int]: ...
    def floats(self, column: int, start: int, stop: int) -> tuple[NDArray[np.float64], int]: ...
    def integer_lists(
        self, column: int, start: int, stop: int
    ) -> tuple[_Offsets, _Offsets, int]: ...

class ArrowStream:
    def __init__(self, capsule: object) -> None: ...
    def next(self) -> ArrowBatch | None: ...
    def next_capsules(self) -> tuple[object, object] | None: ...
    def names(self) -> list[str]: ...
    def formats(self) -> list[str]: ...

class ArrowTable:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def integers(self, name: str, values: NDArray[np.int64]) -> None: ...
    def floats(self, name: str, values: NDArray[np.float64]) -> None: ...
    def strings(
        self,
        name: str,
        values: list[str] | list[str | None],
        nullable: bool = False,
        extension: str = "",
    ) -> None: ...
    def lists(self, name: str, offsets: _Offsets, values: NDArray[np.int64]) -> None: ...
    def text_lists(
        self, name: str, values: list[list[str]] | list[list[str] | None], nullable: bool = False
    ) -> None: ...
    def nullable_integers(self, name: str, values: list[int | None]) -> None: ...
    def schema(self) -> object: ...
    def array(self) -> tuple[object, object]: ...
    def stream(self) -> object: ...

class DelimitedFile:
    def __init__(
        self, delimiter: str, places: list[int], names: list[str], longest: int
    ) -> None: ...
    def read(self, data: bytes, last: bool) -> bool: ...
    def rows(self) -> int: ...
    def take(self) -> ArrowTable: ...

class JsonLinesFile:
    def __init__(self, names: list[str], formats: list[str], longest: int) -> None: ...
    def read(self, data: bytes, last: bool) -> bool: ...
    def rows(self) -> int: ...
    def take(self) -> ArrowTable: ...

def arrow_columns(schema: object) -> tuple[list[str], list[str]]: ...
def view_sizes(views: Views, stride: int) -> _Offsets: ...
def view_groups(views: Views) -> tuple[list[str], _Ids]: ...
def hash_ids(ids: NDArray[np.int64]) -> NDArray[np.int64]: ...
def hash_views(views: Views) -> NDArray[np.int64]: ...

# ------------------------------------------------------------------------------------- csrc/metrics

def overlap(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    order: int,
    check: Callable[[], None] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def lcs(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    most: int,
    check: Callable[[], None] | None,
) -> NDArray[np.int64]: ...
def summary_lcs(
    c_ids: _Ids,
    c_offsets: _Offsets,
    c_sentences: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    r_sentences: _Offsets,
    starts: _Offsets,
    check: Callable[[], None] | None,
) -> NDArray[np.int64]: ...
def gtm_sizes(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    e: float,
    exact: bool,
    budget: int,
    check: Callable[[], None] | None,
    whole_cap: bool = ...,
) -> NDArray[np.float64]: ...
def gtm_runs(
    c_ids: _Ids,
    r_ids: _Ids,
    r_offsets: _Offsets,
    e: float,
    exact: bool,
    budget: int,
    most_hits: float = ...,
    narrow: bool = ...,
    whole_cap: bool = ...,
) -> tuple[NDArray[np.int32], NDArray[np.float64], float, float, float, bool, float]: ...
def word_edits(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    check: Callable[[], None] | None,
) -> NDArray[np.int64]: ...
def accuracy_edits(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    check: Callable[[], None] | None,
) -> NDArray[np.int64]: ...
def word_scripts(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    check: Callable[[], None] | None,
) -> tuple[NDArray[np.int32], _Offsets]: ...
def accuracy_scripts(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    check: Callable[[], None] | None,
) -> tuple[NDArray[np.int32], _Offsets]: ...
def ter_edits(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    check: Callable[[], None] | None,
) -> NDArray[np.int64]: ...
def ter_script(
    c_ids: _Ids, r_ids: _Ids, check: Callable[[], None] | None
) -> tuple[NDArray[np.int64], _Ids, NDArray[np.int32]]: ...
def tree_edits(
    c_ids: _Ids,
    c_offsets: _Offsets,
    r_ids: _Ids,
    heads: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    check: Callable[[], None] | None,
) -> NDArray[np.int64]: ...
def tree_places(
    result: _Ids, words: _Ids, heads: _Ids, check: Callable[[], None] | None
) -> _Offsets: ...
def tie_nodes(result: _Ids, words: _Ids, heads: _Ids) -> NDArray[np.int64]: ...

# --------------------------------------------------------------------------------------- csrc/stats

def tally(draws: NDArray[np.int64], items: int) -> NDArray[np.float64]: ...
def chosen_sums(words: NDArray[np.uint64], rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
def average_ranks(rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
def pair_counts(
    human: NDArray[np.float64], metric: NDArray[np.float64], epsilon: float
) -> NDArray[np.int64]: ...
def drawn_pair_counts(
    human: NDArray[np.float64], metric: NDArray[np.float64], times: NDArray[np.int32]
) -> NDArray[np.int64]: ...
def drawn_pearson(
    human: NDArray[np.float64], metric: NDArray[np.float64], times: NDArray[np.int32]
) -> NDArray[np.float64]: ...
def drawn_group_pairs(
    human: NDArray[np.float64],
    metric: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    offsets: _Offsets,
    row_times: NDArray[np.int32],
    column_times: NDArray[np.int32],
) -> NDArray[np.float64]: ...
def drawn_group_pearson(
    human: NDArray[np.float64],
    metric: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    offsets: _Offsets,
    row_times: NDArray[np.int32],
    column_times: NDArray[np.int32],
) -> NDArray[np.float64]: ...
def exchanged_group_pairs(
    human: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    bits: NDArray[np.int64],
    offsets: _Offsets,
    words: NDArray[np.uint64],
) -> NDArray[np.float64]: ...
def exchanged_group_pearson(
    human: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    bits: NDArray[np.int64],
    offsets: _Offsets,
    words: NDArray[np.uint64],
) -> NDArray[np.float64]: ...
def right_pairs(
    human: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    offsets: _Offsets,
    first_epsilon: float,
    second_epsilon: float,
    check: Callable[[], None] | None,
) -> NDArray[np.int64]: ...
def reached(sums: NDArray[np.float64], real: NDArray[np.float64]) -> NDArray[np.int64]: ...
def calibrate_ties(
    human: NDArray[np.float64],
    metric: NDArray[np.float64],
    offsets: _Offsets,
    copies: NDArray[np.int64],
    band: int,
    check: Callable[[], None] | None,
) -> tuple[float, float, int, int]: ...

# ------------------------------------------------------------------------------------------ csrc/lm

MAX_ORDER: int

class LanguageModel:
    def __init__(
        self,
        p: NDArray[np.float32],
        backoff: NDArray[np.float32],
        longer: list[NDArray[np.uint64]],
    ) -> None: ...
    @property
    def finite(self) -> bool: ...
    def score(self, ids: _Ids, offsets: _Offsets) -> NDArray[np.float64]: ...
    def words(self, ids: _Ids, offsets: _Offsets) -> tuple[NDArray[np.float32], _Ids]: ...

def lm_word_hashes(words: int) -> NDArray[np.uint64]: ...
def lm_table_slots(ngrams: int) -> int: ...
def lm_table(
    suffixes: NDArray[np.uint32],
    hashes: NDArray[np.uint64],
    firsts: _Ids,
    p: NDArray[np.float32],
    backoff: NDArray[np.float32],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint64]]: ...

class NgramRows:
    def __len__(self) -> int: ...
    def next(
        self, most: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]: ...

_Check = Callable[[], None] | None

class NgramTraining:
    done: int
    total: int
    def __init__(
        self, open: Callable[[], int], order: int, bytes: int, room: int, piece: int
    ) -> None: ...
    def close(self) -> None: ...
    def limit(self, bytes: int) -> None: ...
    def add(self, ids: _Ids, offsets: _Offsets, check: _Check = None) -> None: ...
    def merge(self, words: int, check: _Check = None) -> None: ...
    def words(self) -> NDArray[np.int64]: ...
    def preceding(self) -> NDArray[np.int64]: ...
    def adjusted(self, n: int) -> NDArray[np.int64]: ...
    def counts(self, n: int) -> NDArray[np.int64]: ...
    def gather(self, n: int, p: _Reals, check: _Check = None) -> None: ...
    def batch(
        self, enough: int
    ) -> tuple[int, NDArray[np.int64], NDArray[np.int64], _Reals, _Reals]: ...
    def put(
        self,
        p: _Reals,
        logs: NDArray[np.float32],
        weights: NDArray[np.float32],
        check: _Check = None,
    ) -> None: ...
    def scatter(self, check: _Check = None) -> None: ...
    def word_backoffs(self) -> NDArray[np.float32]: ...
    def table(
        self, n: int, least: int, most: int, check: _Check = None
    ) -> NDArray[np.uint64] | None: ...
    def table_file(self, n: int) -> tuple[int, int]: ...
    def kept(self, n: int, least: int) -> int: ...
    def rows(self, n: int, least: int, check: _Check = None) -> NgramRows: ...

class ArpaReader:
    fault: str
    line: int
    order: int
    def __init__(self, vocab: Vocab) -> None: ...
    def feed(self, buffer: object, begin: int, enough: int) -> int: ...
    def finish(self) -> None: ...
    def ngrams(self, n: int) -> tuple[NDArray[np.uint32], _Ids, NDArray[np.uint32]]: ...
    def logs(self, n: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...

def arpa_lines(
    words: WordTable,
    ids: _Ids,
    p: NDArray[np.float32],
    backoff: NDArray[np.float32],
    last: bool,
) -> bytes: ...

# ------------------------------------------------------------------------------------- csrc/nuggets

def nugget_scores(
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    t_ids: _Ids,
    t_offsets: _Offsets,
    nuggets: _Offsets,
    questions: _Offsets,
    weights: NDArray[np.float64],
    order: int,
    once: bool,
    share: bool,
    check: Callable[[], None] | None,
) -> NDArray[np.float64]: ...
def nugget_windows(
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    t_ids: _Ids,
    t_offsets: _Offsets,
    questions: _Offsets,
    weights: NDArray[np.float64],
    windows: NDArray[np.int64],
    check: Callable[[], None] | None,
) -> NDArray[np.float64]: ...
def nugget_sentences(
    s_ids: _Ids,
    s_offsets: _Offsets,
    bounds: _Offsets,
    starts: _Offsets,
    t_ids: _Ids,
    t_offsets: _Offsets,
    questions: _Offsets,
    weights: NDArray[np.float64],
    together: int,
    check: Callable[[], None] | None,
) -> NDArray[np.float64]: ...
def nugget_characters(
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    t_ids: _Ids,
    t_offsets: _Offsets,
    questions: _Offsets,
    check: Callable[[], None] | None,
) -> NDArray[np.float64]: ...
def nugget_taught(
    r_ids: _Ids,
    r_offsets: _Offsets,
    starts: _Offsets,
    t_ids: _Ids,
    t_offsets: _Offsets,
    nuggets: _Offsets,
    questions: _Offsets,
    carried: NDArray[np.uint8],
    fold: NDArray[np.int64],
    without: NDArray[np.int64],
    weights: NDArray[np.float64],
    order: int,
    once: bool,
    share: bool,
    describe: bool,
    inform: bool,
    check: Callable[[], None] | None,
) -> NDArray[np.float64]: ...

class NuggetLikeness:
    def cosines(self, first: int) -> NDArray[np.float64]: ...
    def bayes(
        self,
        rows: NDArray[np.int64],
        yes: NDArray[np.float64],
        judged: NDArray[np.float64],
        fold: NDArray[np.int64],
    ) -> NDArray[np.float64]: ...

def nugget_likeness(ids: _Ids, offsets: _Offsets, start: int, end: int) -> NuggetLikeness: ...

class NuggetNearness:
    def table(self, first: int, check: Callable[[], None] | None) -> NDArray[np.float64]: ...
    def sum(
        self, values: NDArray[np.float64], check: Callable[[], None] | None
    ) -> NDArray[np.float64]: ...

def nugget_nearness(
    s_ids: _Ids,
    s_offsets: _Offsets,
    bounds: _Offsets,
    t_ids: _Ids,
    t_offsets: _Offsets,
    nuggets: _Offsets,
    relevance: NDArray[np.float64],
    order: int,
    most: int,
) -> NuggetNearness: ...

# ---------------------------------------------------------------------------------- csrc/paraphrase

class JointAligner:
    @overload
    def __init__(
        self,
        s_ids: _Ids,
        s_offsets: _Offsets,
        p_ids: _Ids,
        p_offsets: _Offsets,
        longest: int,
        most_cells: int,
        agreement: str,
    ) -> None: ...
    @overload
    def __init__(
        self,
        s_ids: _Ids,
        s_offsets: _Offsets,
        p_ids: _Ids,
        p_offsets: _Offsets,
        longest: int,
        agreement: str,
        cells: _Ids,
        entries: NDArray[np.float32],
        jumps: NDArray[np.float32],
        words: int,
    ) -> None: ...
    def counts(self, start: int, stop: int) -> NDArray[np.int64]: ...
    def jump_counts(self) -> NDArray[np.int64]: ...
    def expect(self, start: int, stop: int, hmm: bool) -> None: ...
    def update(self, hmm: bool) -> None: ...
    def decode(
        self, start: int, stop: int, hmm: bool, rule: str, threshold: float
    ) -> tuple[_Ids, _Ids, _Offsets]: ...
    def beliefs(
        self, sentence: int, hmm: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def translation(self, source: int, pivot: int) -> tuple[float, float]: ...
    def jumps(self, backward: bool) -> NDArray[np.float64]: ...
    @property
    def pairs(self) -> int: ...
    @property
    def nbytes(self) -> int: ...

class WordModel:
    def __init__(
        self,
        source: _Offsets,
        pivot: _Offsets,
        twins: _Ids,
        p0: float,
        spread: float,
        alpha: float,
        identical: float,
        jumps: float,
        fertility: float,
    ) -> None: ...
    def update(self, hmm: bool, fertility: bool) -> None: ...
    def null(self, backward: bool, word: int) -> float: ...
    def jumps(self, backward: bool, word: int) -> NDArray[np.float64]: ...
    def fertility(self, backward: bool, word: int) -> NDArray[np.float64]: ...

class FertilityAligner:
    @overload
    def __init__(
        self,
        model: WordModel,
        s_ids: _Ids,
        s_offsets: _Offsets,
        p_ids: _Ids,
        p_offsets: _Offsets,
        longest: int,
        most_cells: int,
        agreement: str,
    ) -> None: ...
    @overload
    def __init__(
        self,
        model: WordModel,
        s_ids: _Ids,
        s_offsets: _Offsets,
        p_ids: _Ids,
        p_offsets: _Offsets,
        longest: int,
        agreement: str,
        cells: _Ids,
        counts: _Offsets,
        posteriors: NDArray[np.uint16],
    ) -> None: ...
    def expect(
        self, start: int, stop: int, hmm: bool, fertility: bool, count_fertilities: bool
    ) -> None: ...
    def counts(self, start: int, stop: int) -> NDArray[np.int64]: ...
    def update(self) -> None: ...
    def decode(
        self, start: int, stop: int, hmm: bool, fertility: bool, rule: str, threshold: float
    ) -> tuple[_Ids, _Ids, _Offsets]: ...
    def beliefs(
        self, sentence: int, hmm: bool, fertility: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def count(self, source: int, pivot: int) -> int: ...
    @property
    def pairs(self) -> int: ...
    @property
    def nbytes(self) -> int: ...

class SortedUnion:
    def __init__(self, parts: list[_Ids], width: int) -> None: ...
    @property
    def done(self) -> bool: ...
    def next(self, enough: int) -> tuple[_Ids, list[_Ids]]: ...

def word_pairs(
    s_ids: _Ids, s_offsets: _Offsets, p_ids: _Ids, p_offsets: _Offsets, longest: int
) -> tuple[_Offsets, _Ids, _Ids]: ...
def first_jumps() -> NDArray[np.float32]: ...
def whole_of_jump(words: int) -> float: ...
def update_jumps(jumps: NDArray[np.float32], counts: NDArray[np.int64]) -> NDArray[np.float32]: ...
def add_at(sums: NDArray[np.int64], at: _Ids, values: NDArray[np.int64]) -> None: ...
def estimate_pairs(
    pairs: _Ids,
    counts: NDArray[np.int64],
    source: NDArray[np.int64],
    pivot: NDArray[np.int64],
    held: NDArray[np.float32],
) -> NDArray[np.float32]: ...
def symmetrize(
    s_lengths: _Offsets,
    p_lengths: _Offsets,
    s1: _Ids,
    p1: _Ids,
    offsets1: _Offsets,
    s2: _Ids,
    p2: _Ids,
    offsets2: _Offsets,
    rule: str,
) -> tuple[_Ids, _Ids, _Offsets]: ...
def extract_phrases(
    s_ids: _Ids,
    s_offsets: _Offsets,
    p_ids: _Ids,
    p_offsets: _Offsets,
    l_source: _Ids,
    l_pivot: _Ids,
    l_offsets: _Offsets,
    start: int,
    stop: int,
    longest: int,
) -> tuple[_Ids, _Offsets]: ...

class PhraseMerge:
    def __init__(self, rows: list[_Ids], counts: list[_Offsets], longest: int) -> None: ...
    @property
    def done(self) -> bool: ...
    def next(self, enough: int) -> tuple[_Ids, _Offsets]: ...

class PhraseSlots:
    def __init__(self, phrases: int) -> None: ...
    def add(self, ids: _Ids, offsets: _Offsets) -> None: ...
    def take(self) -> _Ids: ...

class BagRules:
    def __init__(self, order: int, edge: float, ngram: float, renormalise: bool) -> None: ...

class PhraseTable:
    total: float
    longest: int
    def __init__(
        self,
        ids: _Ids,
        offsets: _Offsets,
        counts: NDArray[np.float64],
        slots: _Ids,
        edge_offsets: _Offsets,
        edge_pivots: _Ids,
        probabilities: NDArray[np.float64],
        pivot_ids: _Ids,
        pivot_offsets: _Offsets,
        words: int,
        pivot_words: int,
        check: Callable[[], None] | None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def find(self, words: _Ids) -> int: ...
    def segment(
        self, ids: _Ids, offsets: _Offsets, source: _Ids
    ) -> tuple[_Ids, _Ids, _Offsets]: ...
    def overlaps(
        self,
        c_ids: _Ids,
        c_offsets: _Offsets,
        r_ids: _Ids,
        r_offsets: _Offsets,
        starts: _Offsets,
        source: _Ids,
        own: _Ids,
        rules: BagRules,
        check: Callable[[], None] | None,
    ) -> NDArray[np.float64]: ...
    def bag(
        self, ids: _Ids, offsets: _Offsets, source: _Ids, own: _Ids, rules: BagRules
    ) -> tuple[_Ids, _Offsets, NDArray[np.float64]] | None: ...

def phrase_slots(ids: _Ids, offsets: _Offsets) -> _Ids: ...

class Paraphraser:
    def __init__(
        self,
        rewrites: PhraseTable,
        model: LanguageModel,
        weight: float,
        beam: int,
        changes: int,
    ) -> None: ...
    def search(
        self,
        ids: _Ids,
        offsets: _Offsets,
        source: _Ids,
        own: _Ids,
        lm: _Ids,
        most: int,
        check: Callable[[], None] | None,
    ) -> tuple[_Offsets, NDArray[np.float64], _Ids, _Offsets, _Ids, _Ids]: ...

# ------------------------------------------------------------------------------------- csrc/realize

def canonical_order(keys: _Ids, heads: _Ids, offsets: _Offsets) -> _Ids: ...

class Grammar:
    def __init__(
        self,
        tags: int,
        relations: int,
        root: int,
        argument: _Ids,
        slot_offsets: _Offsets,
        slots: _Ids,
        frame_offsets: _Offsets,
        frames: _Ids,
        label_offsets: _Offsets,
        labels: _Ids,
    ) -> None: ...

class TreeModel:
    def __init__(
        self, grammar: Grammar, keys: NDArray[np.uint32], counts: _Ids, open: _Ids
    ) -> None: ...

def count_trees(
    grammar: Grammar,
    words: _Ids,
    labels: _Ids,
    heads: _Ids,
    suffixes: _Ids,
    offsets: _Offsets,
    frames: _Ids,
    rare: _Ids,
    places: _Ids,
) -> tuple[NDArray[np.uint32], _Ids]: ...
def count_sides(daughters: _Ids, mothers: _Ids, lefts: _Ids) -> tuple[NDArray[np.uint32], _Ids]: ...
def choose_trees(
    model: TreeModel,
    words: _Ids,
    labels: _Ids,
    heads: _Ids,
    suffixes: _Ids,
    offsets: _Offsets,
    k: int,
) -> tuple[_Ids, _Ids, _Ids, NDArray[np.float64], _Offsets]: ...
def linearize_tagged(
    model: TreeModel,
    words: _Ids,
    labels: _Ids,
    heads: _Ids,
    suffixes: _Ids,
    offsets: _Offsets,
    frames: _Ids,
    slots: _Ids,
    lm: LanguageModel,
    lm_words: _Ids,
    weights: list[float],
    k: int,
) -> tuple[_Ids, NDArray[np.float64], NDArray[np.float64], _Offsets]: ...
def linearize_left_right(
    keys: NDArray[np.uint32],
    counts: _Ids,
    words: _Ids,
    heads: _Ids,
    offsets: _Offsets,
    lm: LanguageModel,
    lm_words: _Ids,
    weights: list[float],
    k: int,
) -> tuple[_Ids, NDArray[np.float64], NDArray[np.float64], _Offsets]: ...
def tree_lattice(
    model: TreeModel,
    words: _Ids,
    labels: _Ids,
    heads: _Ids,
    suffixes: _Ids,
    frames: _Ids,
    slots: _Ids,
    weights: list[float],
) -> tuple[list[tuple[int, int, int, int, float]], list[tuple[int, int, float, bool]]]: ...

class TreeColumns:
    def __init__(
        self,
        words: _Symbols,
        endings: _Symbols,
        shapes: _Symbols,
        tags: _Symbols,
        fine: _Symbols,
        relations: _Symbols,
        others: _Symbols,
        heads: _Ids,
        offsets: _Offsets,
    ) -> None: ...
    def __len__(self) -> int: ...

class OrderingTrainer:
    def __init__(
        self,
        bits: int,
        beam: int,
        alternatives: int,
        rate: float,
        dropout: float,
        damping: float,
    ) -> None: ...
    def train(
        self, columns: TreeColumns, places: _Ids, hidden: _Weights, chosen: _Offsets, seed: int
    ) -> float: ...
    def gradient(
        self, columns: TreeColumns, places: _Ids, tree: int, weights: _Weights
    ) -> tuple[float, NDArray[np.float64]]: ...
    def remember(self) -> None: ...
    def mean(self) -> _Weights: ...

TEMPLATES: int

FREQUENCIES: int

def feature_classes(
    columns: TreeColumns, places: _Ids, chosen: _Offsets, bits: int
) -> NDArray[np.uint16]: ...

class ScaleTrainer:
    def __init__(self, weights: _Weights, classes: NDArray[np.uint16]) -> None: ...
    def __len__(self) -> int: ...
    def see(
        self,
        columns: TreeColumns,
        places: _Ids,
        chosen: _Offsets,
        k: int,
        beam: int,
        alternatives: int,
        model: LanguageModel | None,
        words: _Ids,
        weight: float,
    ) -> None: ...
    def parts(self, sentence: int) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]: ...
    def fit(
        self, epochs: int, rate: float, damping: float, decay: float, seed: int
    ) -> _Weights: ...

class RowsOfNodes:
    def __len__(self) -> int: ...
    def of(self, node: int) -> _Ids: ...

def rows_of_nodes(
    columns: TreeColumns, affixes: _Symbols, chosen: _Offsets, known: _Ids, second: bool
) -> RowsOfNodes: ...

class LabelTrainer:
    def __init__(
        self, labels: list[int], rows: int, rate: float, dropout: float, damping: float
    ) -> None: ...
    def train(
        self, rows: RowsOfNodes, gold: _Ids, columns: TreeColumns, chosen: _Offsets, seed: int
    ) -> float: ...
    def train_nodes(self, rows: RowsOfNodes, gold: _Ids, nodes: _Offsets, seed: int) -> float: ...
    def remember(self) -> None: ...
    def mean(self) -> _Weights: ...

def given_rows(rows: _Ids, offsets: _Offsets) -> RowsOfNodes: ...
def label_chances(table: _Weights, labels: int, rows: RowsOfNodes) -> _Weights: ...
def symbols(views: Views) -> _Symbols: ...
def order_trees(
    weights: _Weights,
    columns: TreeColumns,
    begin: int,
    end: int,
    k: int,
    beam: int,
    alternatives: int,
    model: LanguageModel | None,
    words: _Ids,
    weight: float,
) -> tuple[_Ids, NDArray[np.float64], _Ids]: ...
def explain_order(
    weights: _Weights, columns: TreeColumns, tree: int, places: _Ids
) -> tuple[_Ids, NDArray[np.float64]]: ...
def from_half_bytes(
    found: NDArray[np.uint8], scales: NDArray[np.float32], width: int
) -> NDArray[np.float32]: ...
def label_trees(
    tables: list[_Weights],
    labels: list[int],
    known: _Ids,
    columns: TreeColumns,
    affixes: _Symbols,
    chosen: _Offsets,
    second: bool,
    sure: float,
) -> _Ids: ...
def count_labelling(
    columns: TreeColumns, affixes: _Symbols, chosen: _Offsets, bits: int, second: bool
) -> NDArray[np.uint8]: ...
