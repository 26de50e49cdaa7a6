"""Training of PEM models on parallel texts and judged paraphrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.paraphrase.align.hmm import Aligner
from karat.paraphrase.align.links import Links
from karat.paraphrase.align.parallel_text import Parallel, each_line, joined_tokens
from karat.paraphrase.generate.generator import Generator, learn_casing, surface
from karat.paraphrase.generate.rewrites import PivotPhrases, rewrite_table
from karat.paraphrase.pem.features import check_feature_form
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, every_word
from karat.paraphrase.table.training import align_corpora
from karat.progress import Progress, silent
from karat.text.recipe import Recipe
from karat.text.segments import Segments

ORDER = 4
"""The order of the language model, as in the paper."""


class Trained(NamedTuple):
    """Settings by which the language model and the links of a form are made."""

    smoothing: str = "kneser-ney"
    running: bool = False
    """True to count a line as often as it stands in a text, False to count it once."""
    agreement: str = "root"


TRAINED = {"paper": Trained("katz", True, "product")}
"""Form -> how it is trained, where it differs: the paper's tools and their defaults.

SRILM's are Good-Turing with Katz's back-off, over running text. The Berkeley aligner multiplies the
expectations of both directions.
"""


@dataclass(frozen=True, eq=False)
class Pivot:
    """The parallel texts of one pivot language, and its recipe."""

    corpora: Sequence[Parallel]
    recipe: Recipe = PIVOT
    links: Links | None = None
    """From another aligner, over all texts in order; None: Karat's own."""


def train_pem(
    pivots: Mapping[str, Pivot],
    judged: JudgedPairs | None = None,
    *,
    form: str = "unigram",
    smoothing: str | None = None,
    agreement: str | None = None,
    recipe: Recipe = ENGLISH,
    generate: bool = True,
    threads: int | None = None,
    progress: Progress = silent,
) -> PEM:
    """Align, extract and count for each pivot language; then the language model and regression.

    The language model is trained on the first sides of all parallel texts, each different line
    once; for the form `paper` on running text. `smoothing` of the language model is `kneser-ney`
    or `katz`, `agreement` of the aligner `root` or `product`; by default those of the form (see
    `TRAINED`). Without judgements the model has parts, but no score; with `generate` it can also
    write paraphrases: the same links then give phrase pairs of words as they are written.
    """
    check_feature_form(form)
    how = TRAINED.get(form, Trained())
    how = how._replace(smoothing=smoothing or how.smoothing, agreement=agreement or how.agreement)
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    aligner = Aligner(agreement=how.agreement)
    words, tables, written = surface(recipe), {}, []
    for name, one in pivots.items():
        text = align_corpora(
            one.corpora, recipe, one.recipe, aligner=aligner, links=one.links, **work
        )
        tables[name] = text.table(**work)
        if generate:
            source = joined_tokens([corpus.source for corpus in one.corpora], words, **work)
            written.append(PivotPhrases(replace(text, source=source).phrases(**work), source.vocab))
    texts = [one.source for pivot in pivots.values() for one in pivot.corpora]
    language = train_language(texts, recipe, how.smoothing, running=how.running, **work)
    generator = train_generator(written, texts, words, **work) if generate else None
    about = {"running": True} if how.running else {}
    untrained = PEM.of(tables, language, form, about, generator)
    return untrained.train(judged, **work) if judged else untrained


def train_language(
    texts: Sequence[Segments],
    recipe: Recipe = ENGLISH,
    smoothing: str = "kneser-ney",
    *,
    running: bool = False,
    **work: Any,
) -> LanguageModel:
    """Train the language model of some texts, of 4-grams; each line once, or `running` text."""
    lines = _running(texts) if running else _different(texts)
    if not lines:
        raise InputError("there is no text to train a language model on")
    words: dict[str, Any] = {"tok": recipe.tok, "case": recipe.case, "stem": recipe.stem}
    return LanguageModel.train(lines, ORDER, smoothing, **words, **work)


def _different(texts: Sequence[Segments]) -> list[str]:
    """Return each line of all texts once."""
    return list(dict.fromkeys(line for text in texts for line in each_line(text)))


def _running(texts: Sequence[Segments]) -> list[str]:
    """Return all lines as they stand, but a text that stands beside two pivots only once.

    Counts that are all doubled have no n-grams of count 1, without which Good-Turing says nothing.
    """
    seen, lines = set(), []
    for text in texts:
        own = list(each_line(text))
        digest = sha256("\n".join(own).encode("utf-8", "surrogatepass")).digest()
        lines += [] if digest in seen else own
        seen.add(digest)
    return lines


def train_generator(
    languages: Sequence[PivotPhrases], texts: Sequence[Segments], recipe: Recipe, **work: Any
) -> Generator:
    """Make the rewrites of some pivot languages, and a language model of the same words."""
    rewrites = rewrite_table(languages, recipe)
    language = train_language(texts, recipe, **work)
    casing, words = learn_casing(texts, recipe), set(every_word(rewrites.pivot))
    used = {word: form for word, form in casing.items() if word in words}
    return Generator(rewrites, language, used)
