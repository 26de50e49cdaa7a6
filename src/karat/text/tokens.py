"""Tokenisation: recipes as values, and batches of text tokenised by them.

Text is lower-cased before it is split into tokens, because that is where the tools that
defined the tokenisers do it (`<SKIPPED>` and the final sigma depend on it). Stemming and stop words
are maps over the vocabulary: they are applied to each distinct word once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError, MissingExtra, quoted
from karat.installation import install_command
from karat.progress import Progress, map_in_order, n_threads, silent
from karat.registry import Registry, call, expect_type, load, make_check, origin
from karat.storage.digests import text_digest
from karat.storage.store import file_stamp
from karat.text.segments import Strings, Texts, as_segments, batches

PORTER_NLTK = "porter-nltk"
"""Porter as rouge-score applies it: NLTK's variant, words of more than three characters only."""


def _identity(word: str) -> str:
    """Placeholder of a built-in stemmer, which `stem_words` calls by name."""
    return word


@cache
def stemmers() -> Registry[Callable[[str], str]]:
    """Return the stemmers by name: `none`, `porter-nltk`, Snowball's, and plugins."""
    import Stemmer

    names = ("none", PORTER_NLTK, *sorted(Stemmer.algorithms()))
    check = make_check(callable, "stemmer", "a function from str to str")
    return Registry("stemmers", "stemmer", dict.fromkeys(names, _identity), check=check)


def stemmer_origin(name: str) -> str:
    """Return package and version of a stemmer that is not Karat's, for signatures; else ""."""
    return origin(stemmers()[name]).replace("@", "-") if name != "none" else ""


def _stemmer_problem(stems: list[str]) -> str:
    return next(filter(None, map(expect_type(str, "a str"), stems)), "")


def stem_words(
    stemmer: str, words: _kernel.Vocab, start: int, target: _kernel.Vocab
) -> NDArray[np.int32]:
    """Stem the words with ids from `start`; return the ids of the stems in `target`."""
    if stemmer == PORTER_NLTK:
        return _kernel.porter_nltk(words, start, target)
    import Stemmer

    new, function = words.words(start, len(words)), stemmers()[stemmer]
    if function is not _identity:
        return target.add(
            call(f"stemmer {stemmer}", function, lambda: [*map(function, new)], _stemmer_problem)
        )
    # Stemmers have state, so every call (and thread) creates one, which is cheap. It caches no
    # stems, because each word comes once.
    stem = Stemmer.Stemmer(stemmer, 0)
    try:
        return target.add(stem.stemWords(new))
    except UnicodeEncodeError:  # words with lone surrogates stay as they are
        odd = {word for word in new if any("\ud800" <= c <= "\udfff" for c in word)}
        return target.add([word if word in odd else stem.stemWord(word) for word in new])


class StopList(frozenset[str]):
    """Lower-case words; `word in stops` also accepts the typographic apostrophe."""

    def __contains__(self, word: object) -> bool:
        return super().__contains__(_straight(word) if isinstance(word, str) else word)

    def lacks(self, words: Iterable[str]) -> list[bool]:
        """Return `word not in stops` for each of many words."""
        listed = super().__contains__
        return [not listed(_straight(word)) for word in words]


def _straight(word: str) -> str:
    return word.replace("\u2019", "'")


def stop_words(name: str) -> StopList:
    """Return the stop list of that name; a file is read again if it has changed."""
    is_file = name not in ("none", "en") and not name.startswith("iso-")
    return _stop_words(name, file_stamp(name) if is_file else None)


@lru_cache(maxsize=64)
def _stop_words(name: str, _stamp: tuple[int, int] | None) -> StopList:
    if name == "none":
        return StopList()
    words = _iso_words(name) if name.startswith("iso-") else _listed_words(name)
    return StopList(_straight(word.lower()) for word in words)


def _iso_words(name: str) -> Iterable[str]:
    """Return the stop words of a language, from the package stopwordsiso."""
    try:
        import stopwordsiso
    except ImportError as error:
        needs = f"needs the package stopwordsiso: {install_command('stopwords')}"
        raise MissingExtra(f"stop list {name} {needs}") from error
    language = name.removeprefix("iso-")
    if not stopwordsiso.has_lang(language):
        languages = ", ".join(sorted(stopwordsiso.langs()))
        raise InputError(f"stop list {name}: no such language; there are {languages}")
    words: Iterable[str] = stopwordsiso.stopwords(language)
    return words


def _listed_words(name: str) -> list[str]:
    """Return the words of Karat's list `en` or of a file, one per line; `#` begins a comment."""
    bundled = resources.files("karat.text") / "stopwords_en.txt"
    try:
        text = bundled.read_text("utf-8") if name == "en" else Path(name).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"stop list {name}: not valid UTF-8; convert the file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"stop list {name}: {reason}; expected none, en, iso-LANGUAGE or the path of a file"
        ) from error
    lines = (line.split("#")[0].strip() for line in text.split("\n"))
    return [line for line in lines if line]


def stop_digest(name: str) -> str:
    """Return the digest of a stop list, for signatures."""
    return text_digest("\n".join(sorted(stop_words(name))))


CHARACTERS = {False: "characters", True: "characters-and-space"}
"""Whether white space counts -> the tokeniser of chrF, whose ids are code points."""

CASES = {"mixed": "as it is", "lower": "lower-cased before tokenising"}


def check_choice(setting: str, value: str, choices: Iterable[str]) -> None:
    """Require one of the choices."""
    if value not in choices:
        raise InputError(f"{setting}={value}: expected one of {', '.join(choices)}")


@dataclass(frozen=True)
class Recipe:
    """Tokeniser, case, stemmer and stop list."""

    tok: str = "13a"
    case: str = "mixed"
    stem: str = "none"
    stop: str = "none"


class Ragged(NamedTuple):
    """Rows of ids of unequal length: row i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.int32]
    offsets: Ints

    @property
    def lengths(self) -> Ints:
        """Number of ids in each row."""
        return np.diff(self.offsets)


class Lexicon:
    """Vocabularies, one for each tokeniser and case, and maps over them that grow with them.

    Scores depend only on which ids are equal, not on the ids; so every worker has its own
    lexicon, and clears it when it has grown large.
    """

    _ENOUGH = 1 << 17  # words; a larger table would not fit into the processor's cache

    def __init__(self) -> None:
        self._vocabs: dict[tuple[str, str], _kernel.Vocab] = {}
        self._stems: dict[Recipe, tuple[_kernel.Vocab, NDArray[np.int32]]] = {}
        self._keeps: dict[Recipe, Flags] = {}

    def vocab(self, tok: str, case: str) -> _kernel.Vocab:
        """Return the vocabulary of a tokeniser and case."""
        if (tok, case) not in self._vocabs:
            self._vocabs[tok, case] = _kernel.Vocab()
        return self._vocabs[tok, case]

    def stems(self, recipe: Recipe) -> NDArray[np.int32]:
        """Return the id of the stem of each word of the vocabulary."""
        words = self.vocab(recipe.tok, recipe.case)
        none = _kernel.Vocab(), np.empty(0, dtype=np.int32)
        target, stems = self._stems.setdefault(recipe, none)
        if len(stems) < len(words):
            stems = np.concatenate([stems, stem_words(recipe.stem, words, len(stems), target)])
            self._stems[recipe] = target, stems
        return stems

    def words(self, recipe: Recipe) -> _kernel.Vocab:
        """Return the vocabulary of a recipe's tokens; it grows with every batch."""
        if recipe.stem == "none":
            return self.vocab(recipe.tok, recipe.case)
        unstopped = Recipe(recipe.tok, recipe.case, recipe.stem)
        self.stems(unstopped)
        return self._stems[unstopped][0]

    def keeps(self, recipe: Recipe) -> Flags:
        """Return for each word of the vocabulary whether it is not a stop word, in any case."""
        vocab = self.vocab(recipe.tok, recipe.case)
        flags_so_far = self._keeps.get(recipe, np.empty(0, dtype=np.bool_))
        if len(flags_so_far) < len(vocab):
            stop = stop_words(recipe.stop)
            new = vocab.words(len(flags_so_far), len(vocab))
            flags = np.fromiter((w.lower() not in stop for w in new), np.bool_, len(new))
            flags_so_far = self._keeps[recipe] = np.concatenate([flags_so_far, flags])
        return flags_so_far

    def passage(self, texts: Sequence[str], name: str) -> Passage:
        """Return a passage of a few texts; `name` is used in messages."""
        return Passage(Strings(texts, name).views(0, len(texts)), self)

    def tidy(self) -> None:
        """Clear the vocabularies if they have grown too large."""
        if sum(len(vocab) for vocab in self._vocabs.values()) > self._ENOUGH:
            self._vocabs, self._stems, self._keeps = {}, {}, {}


class Passage:
    """A batch of segments, tokenised at most once for each recipe."""

    def __init__(self, views: _kernel.Views, lexicon: Lexicon) -> None:
        self._views, self._lexicon = views, lexicon
        self._tokens: dict[Recipe, Ragged] = {}
        self._sentences: dict[str, tuple[Passage, Ints]] = {}
        self._tercom: dict[tuple[bool, bool, bool, str, bool], Ragged] = {}

    @cached_property
    def _lowered(self) -> _kernel.Views:
        return self._views.lower()

    def with_same_words(self, views: _kernel.Views) -> Passage:
        """Return another batch of segments with the same vocabulary."""
        return Passage(views, self._lexicon)

    def views(self, case: str) -> _kernel.Views:
        """Return the text, lower-cased if `case` is lower."""
        return self._views if case == "mixed" else self._lowered

    def tokens(self, recipe: Recipe) -> Ragged:
        """Return the tokens of every segment."""
        if recipe not in self._tokens:
            self._tokens[recipe] = self._make_tokens(recipe)
        return self._tokens[recipe]

    def _make_tokens(self, recipe: Recipe) -> Ragged:
        """Cut, stem or filter the segments by a recipe; stems and stop words reuse cut tokens."""
        if recipe.stop != "none":
            stemmed = self.tokens(Recipe(recipe.tok, recipe.case, recipe.stem))
            surface = self.tokens(Recipe(recipe.tok, recipe.case))
            keep = self._lexicon.keeps(Recipe(recipe.tok, recipe.case, stop=recipe.stop))
            return select(stemmed, keep[surface.ids])
        if recipe.stem != "none":
            surface = self.tokens(Recipe(recipe.tok, recipe.case))
            return Ragged(self._lexicon.stems(recipe)[surface.ids], surface.offsets)
        views = self.views(recipe.case)
        if recipe.tok in CHARACTERS.values():
            return Ragged(*_kernel.codepoints(views, recipe.tok == CHARACTERS[True]))
        return Ragged(*cut(views, self._lexicon.vocab(recipe.tok, recipe.case), recipe.tok))

    def tercom(
        self, normalize: bool, no_punct: bool, asian: bool, case: str, *, twice: bool
    ) -> Ragged:
        """Return the tokens of Tercom's tokeniser, applied once or twice."""
        key = (normalize, no_punct, asian, case, twice)
        if key not in self._tercom:
            vocab = self._lexicon.vocab("tercom", case)
            rows = _kernel.tercom(self.views(case), vocab, normalize, no_punct, asian, twice)
            self._tercom[key] = Ragged(*rows)
        return self._tercom[key]

    def vocab(self, recipe: Recipe) -> _kernel.Vocab:
        """Return the vocabulary of `tokens`; call that first."""
        return self._lexicon.words(recipe)

    def words(self, words: _kernel.Views, recipe: Recipe) -> NDArray[np.int32]:
        """Return the ids of ready-made words in the vocabulary of a recipe."""
        lowered = words.lower() if recipe.case == "lower" else words
        return self._lexicon.vocab(recipe.tok, recipe.case).intern(lowered)

    def sentences(self, separator: str) -> tuple[Passage, Ints]:
        """Return the sentences of every segment as a passage, and the offsets of segments."""
        if separator not in self._sentences:
            views, starts = self._views.split_sentences(separator)
            self._sentences[separator] = Passage(views, self._lexicon), starts
        return self._sentences[separator]


def select(tokens: Ragged, keep: Flags) -> Ragged:
    """Return the tokens for which `keep` is true, row by row."""
    before = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    return Ragged(tokens.ids[keep], before[tokens.offsets])


class KernelTokenizer(NamedTuple):
    """A tokeniser of the kernel, called by its name."""

    meaning: str


class ModelTokenizers(NamedTuple):
    """A family of tokenisers with a model file, which the user gives after a colon."""

    meaning: str
    place: str
    """The function from a path to a tokeniser, as `module:attribute`."""


Tokenizer = KernelTokenizer | ModelTokenizers | Callable[[str], list[str]]
_PACKAGES = "karat.text.tokenizer_packages"

_KERNEL_TOKENIZERS = {
    "13a": "mteval-v13a, the default of WMT and sacreBLEU",
    "intl": "mteval-v14 international: splits at Unicode punctuation and symbols",
    "zh": "Chinese characters one by one, the rest as 13a",
    "char": "every character but white space",
    "none": "white space only",
    "gtm": "GTM 1.4's white space: space, tab, line feed, carriage return and form feed",
    "rouge": "rouge-score's: lower-cased runs of a-z and 0-9",
}
REGISTRY: Registry[Tokenizer] = Registry(
    "tokenizers",
    "tokeniser",
    {
        **{name: KernelTokenizer(meaning) for name, meaning in _KERNEL_TOKENIZERS.items()},
        "ja-mecab": f"{_PACKAGES}:JAPANESE",
        "ko-mecab": f"{_PACKAGES}:KOREAN",
        "flores101": f"{_PACKAGES}:FLORES101",
        "flores200": f"{_PACKAGES}:FLORES200",
        "spBLEU-1K": f"{_PACKAGES}:SPBLEU_1K",
        "spm:FILE": ModelTokenizers(
            "pieces of the SentencePiece model in FILE (karat-eval[spm])",
            f"{_PACKAGES}:model_tokenizer",
        ),
    },
    check=make_check(callable, "tokeniser", "a function from str to a list of str"),
)


class _Meanings(Mapping[str, str]):
    """Name -> meaning; entry points are read only for unknown names and for listings."""

    def __getitem__(self, name: str) -> str:
        try:
            tokenizer = REGISTRY[name]
        except InputError as error:  # another package's; the others can still be listed
            if name not in self:
                raise
            return str(error)
        if meaning := getattr(tokenizer, "meaning", ""):
            return str(meaning)
        first_line = (tokenizer.__doc__ or "").strip().partition("\n")[0]
        return first_line or "a tokeniser of another package"

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return name in REGISTRY or (":" in name and find_tokenizer(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(REGISTRY)

    def __len__(self) -> int:
        return len(REGISTRY.names())


TOKENIZERS: Mapping[str, str] = _Meanings()
"""Tokeniser -> description."""


def tokenizers() -> Mapping[str, str]:
    """Return the tokenisers by name, with their descriptions."""
    return TOKENIZERS


def find_tokenizer(name: str) -> Tokenizer | None:
    """Return the tokeniser of `name` or `name:file`; None if it is unknown."""
    head, colon, file = name.partition(":")
    family = REGISTRY.find(f"{head}:FILE") if file else None
    if isinstance(family, ModelTokenizers):
        if any(c in ",|\0" or c.isspace() for c in file):
            problem = "holds a comma, a bar or white space, which a metric's name cannot carry"
            raise InputError(f"tok={name} {problem}: rename the file")
        tokenizer: Tokenizer = load(family.place)(file)
        return tokenizer
    return None if colon else REGISTRY.find(name)


def tokenizer_origin(name: str) -> str:
    """Return package and version, or the model's digest, of a tokeniser; "" for the kernel's."""
    tokenizer = find_tokenizer(name)
    if tokenizer is None or isinstance(tokenizer, KernelTokenizer):
        return ""
    package, version = origin(tokenizer), getattr(tokenizer, "version", None)
    return str(version()) if version and not package else package.replace("@", "-")


def cut(views: _kernel.Views, vocab: _kernel.Vocab, name: str) -> tuple[NDArray[np.int32], Ints]:
    """Split a batch of segments into tokens; return their ids and the offsets of segments."""
    function = find_tokenizer(name)
    if function is None or isinstance(function, KernelTokenizer | ModelTokenizers):
        return _kernel.tokenize(views, vocab, name)
    texts = views.strings()
    rows = call(
        f"tokeniser {name}", function, lambda: [function(t) for t in texts], _tokenizer_problem
    )
    ids = vocab.add([token for row in rows for token in row])
    return ids, np.cumsum([0, *map(len, rows)], dtype=np.int64)


def _tokenizer_problem(rows: list[list[str]]) -> str:
    """Describe invalid tokens of a plugin; "" if all are valid."""
    for row in rows:
        if not isinstance(row, list | tuple) or not all(isinstance(token, str) for token in row):
            return f"{quoted(row)}, expected a list of str"
    return ""


Vocab = _kernel.Vocab
"""Words and ids, numbered by first occurrence; may be shared by several texts."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Token ids: segment i is `ids[offsets[i]:offsets[i + 1]]`; the words are in `vocab`."""

    ids: NDArray[np.int32]
    offsets: Ints
    vocab: Vocab

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, segment: int) -> list[str]:
        if not 0 <= segment < len(self):
            raise IndexError(f"segment {segment} of {len(self)}")
        ids = self.ids[self.offsets[segment] : self.offsets[segment + 1]]
        return [self.vocab.words(i, i + 1)[0] for i in ids.tolist()]

    def part(self, start: int, stop: int) -> Tokens:
        """Return the segments from `start` to `stop`."""
        offsets = self.offsets[start : stop + 1]
        return Tokens(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0], self.vocab)

    def map(self, function: Callable[[str], str]) -> Tokens:
        """Apply a function to the words; it is called once for each distinct word."""
        target = Vocab()
        mapped = target.add([function(word) for word in self.vocab.words(0, len(self.vocab))])
        return Tokens(mapped[self.ids], self.offsets, target)


def tokenize(
    texts: Texts,
    tok: str = "13a",
    case: str = "mixed",
    stem: str = "none",
    stop: str = "none",
    *,
    vocab: Vocab | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Tokens:
    """Tokenise texts as metrics do.

    Args:
        texts: strings, or the path of a file.
        tok, case, stem, stop: tokeniser, case, stemmer and stop list.
        vocab: vocabulary of another text, to share its ids. Ids are in the order of first
            occurrence.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    vocab = Vocab() if vocab is None else vocab
    ids, offsets, held = [np.empty(0, np.int32)], [np.zeros(1, np.int64)], 0
    recipe = Recipe(tok, case, stem, stop)
    for part in token_parts(texts, recipe, vocab, threads=threads, progress=progress):
        ids.append(part.ids)
        offsets.append(part.offsets[1:] + held)
        held += len(part.ids)
    return Tokens(np.concatenate(ids), np.concatenate(offsets), vocab)


def token_parts(
    texts: Texts,
    recipe: Recipe,
    vocab: Vocab,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Iterator[Tokens]:
    """Yield the tokens of texts batch by batch; `vocab` grows with them."""
    tok, case, stem = recipe.tok, recipe.case, recipe.stem
    check_choice("tok", tok, TOKENIZERS)
    check_choice("case", case, CASES)
    check_choice("stem", stem, stemmers())
    segments = as_segments(texts, "texts")
    words_as_cut, done = Recipe(tok, case, stop=recipe.stop), 0

    def cut(bounds: tuple[int, int]) -> tuple[Ragged, Vocab]:
        lexicon = Lexicon()  # every batch has its own vocabulary
        tokens = Passage(segments.views(*bounds), lexicon).tokens(words_as_cut)
        return tokens, lexicon.vocab(tok, case)

    parts = map_in_order(cut, batches([segments], 1 << 14, 1 << 24), n_threads(threads))
    for batch_tokens, words in parts:
        target = vocab.merge(words) if stem == "none" else stem_words(stem, words, 0, vocab)
        done += len(batch_tokens.offsets) - 1
        yield Tokens(target[batch_tokens.ids], batch_tokens.offsets, vocab)
        progress(done, len(segments), "tokenising")
