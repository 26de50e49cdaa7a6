"""Token evidence: how much of a nugget's description a response says in any words, by an encoder.

Each token x of a description is matched with the token y of a sentence whose vector, in context,
has the highest cosine (as in `karat.metrics.bertscore`). With w(x) the idf of x among sentences:

    recall(S)  = sum over x of  w(x) max over y in S of cos(x, y)  /  sum over x of w(x)

where S is a sentence, two neighboring sentences, or the whole response. Tokens that only mark the
beginning and the end of a text are not matched. The weakest token is the smallest max over y of
cos(x, y) among content tokens, which have at least half of the mean weight of their description.
With several descriptions, the best one counts, column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from karat.arithmetic import product
from karat.arrays import Flags, Floats, Ints, np
from karat.metrics.bertscore import TokenWeights, idf_weights
from karat.metrics.encoders import Encoder, check_text, load_encoder
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.scores.words import BATCH, IdfTexts
from karat.progress import Progress, silent
from karat.text.segments import as_segments, batches
from karat.text.sentences import sentences

_RECALLS = ("token-sentence", "token-pair", "token-whole", "token-weakest")
_ABOVE_MEAN = (1, 2)  # columns that also appear as differences from the mean of the question
TOKEN_COLUMNS = (*_RECALLS, *(f"{_RECALLS[k]}-above" for k in _ABOVE_MEAN))
"""Recall in the best sentence, in the best two neighboring ones and in the response; the weakest
content token; recall in two sentences and in the response minus the mean of the question's nuggets.
"""
_SMOOTHING = 0.5
"""Added to the number of sentences with a token, as for the idf of words."""
_CONTENT = 0.5
"""Share of the mean weight of a description's tokens from which a token is one of content."""
_RESPONSES = 32
"""Responses whose vectors are in memory at once."""


class _DescriptionTokens(NamedTuple):
    """The tokens of the descriptions of a question, one after another."""

    vectors: Floats  # of length 1
    weights: Floats  # descriptions x tokens: shares that sum to 1
    is_content: Flags
    starts: Ints  # first token of each description


class TokenRecall:
    """The token evidence of one model; what it computed is cached by text."""

    def __init__(self, encoder: Encoder, background: IdfTexts) -> None:
        """Idf comes from the sentences of `background`."""
        self.encoder, self._background = encoder, as_segments(background, "responses")
        self._weights: TokenWeights | None = None
        self._cache: dict[tuple[tuple[str, ...], str], Floats] = {}

    @property
    def weights(self) -> TokenWeights:
        """The idf of tokens."""
        if self._weights is None:
            self._weights = idf_weights(self.encoder, self._sentences(), _SMOOTHING)
        return self._weights

    def _sentences(self) -> Iterator[str]:
        for start, stop in batches([self._background], BATCH, 1 << 24):
            for text in self._background.views(start, stop).strings():
                yield from sentences(text)

    def columns(self, pool: Pool, progress: Progress = silent) -> Floats:
        """Return cells x `TOKEN_COLUMNS`."""
        table, done = np.zeros((int(pool.cell_starts[-1]), len(TOKEN_COLUMNS))), 0
        for q, question in enumerate(pool.questions):
            first, last = pool.starts[q : q + 2].tolist()
            texts = pool.texts[first:last]
            if texts and question.nuggets:
                descriptions = [nugget.descriptions for nugget in question.nuggets]
                rows = self._question(descriptions, texts)
                above = rows[..., _ABOVE_MEAN] - rows[..., _ABOVE_MEAN].mean(axis=1, keepdims=True)
                cells = slice(*pool.cell_starts[q : q + 2].tolist())
                table[cells] = np.concatenate([rows, above], axis=2).reshape(-1, table.shape[1])
            done += len(texts)
            progress(done, len(pool.texts), "matching tokens")
        return table

    def _question(self, descriptions: Sequence[Sequence[str]], texts: Sequence[str]) -> Floats:
        """Return responses x nuggets x `_RECALLS`."""
        flat = tuple(text for nugget in descriptions for text in nugget)
        missing = list(dict.fromkeys(text for text in texts if (flat, text) not in self._cache))
        if missing:
            tokens = self._description_tokens(flat)
            for start in range(0, len(missing), _RESPONSES):
                batch = missing[start : start + _RESPONSES]
                for text, rows in zip(batch, self._recalls(tokens, batch), strict=True):
                    self._cache[flat, text] = rows
        table = np.stack([self._cache[flat, text] for text in texts])
        sizes = [len(nugget) for nugget in descriptions]
        if max(sizes) == 1:
            return table
        return np.asarray(np.maximum.reduceat(table, np.cumsum([0, *sizes[:-1]]), axis=1))

    def _description_tokens(self, descriptions: Sequence[str]) -> _DescriptionTokens:
        vectors, lengths, weights = self._word_vectors(descriptions)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        table, is_content = (
            np.zeros((len(descriptions), len(vectors))),
            np.zeros(len(vectors), bool),
        )
        for row, (a, b) in enumerate(pairwise(starts.tolist())):
            idf = weights[a:b] if weights[a:b].any() else np.ones(b - a)
            table[row, a:b] = idf / max(float(idf.sum()), 1e-300)
            is_content[a:b] = idf >= _CONTENT * idf.mean() if b > a else False
        return _DescriptionTokens(vectors, table, is_content, starts)

    def _word_vectors(self, texts: Sequence[str]) -> tuple[Floats, list[int], Floats]:
        """Return the vectors of the words of texts, their numbers by text, and their weights."""
        distinct = list(dict.fromkeys(text for text in texts if text.strip()))
        for text in distinct:
            check_text(self.encoder.subject, text)
        encoded = dict(zip(distinct, self.encoder.encode(distinct), strict=True))
        words, lengths, weights = [np.zeros((0, 1))], [], [np.zeros(0)]
        for text in texts:
            if text not in encoded:
                lengths.append(0)
                continue
            is_word = encoded[text].is_word
            words.append(encoded[text].vectors[is_word].astype(np.float64))
            weights.append(np.maximum(self.weights.of(encoded[text].ids[is_word]), 0.0))
            lengths.append(len(words[-1]))
        vectors = np.concatenate(words[1:]) if len(words) > 1 else words[0]
        squares = product(vectors[:, None, :], vectors[:, :, None])[:, 0]
        return (
            vectors / np.sqrt(np.where(squares > 0, squares, 1.0)),
            lengths,
            np.concatenate(weights),
        )

    def _recalls(self, tokens: _DescriptionTokens, texts: Sequence[str]) -> list[Floats]:
        """Return descriptions x `_RECALLS` of each response."""
        parts = [sentences(text) for text in texts]
        flat = list(dict.fromkeys(sentence for text in parts for sentence in text))
        vectors, lengths, _ = self._word_vectors(flat)
        best = dict(zip(flat, _best_cosines(tokens.vectors, vectors, lengths), strict=True))
        return [_recall(tokens, np.stack([best[s] for s in text])) for text in parts]


def _best_cosines(tokens: Floats, vectors: Floats, lengths: Sequence[int]) -> Floats:
    """Return sentences x tokens: the highest cosine with a word of the sentence; 0 without one."""
    best = np.zeros((len(lengths), len(tokens)))
    has_words = np.array(lengths) > 0
    if has_words.any() and len(tokens):
        cosines = product(tokens, np.ascontiguousarray(vectors.T))
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)[has_words]
        best[has_words] = np.maximum.reduceat(cosines, starts, axis=1).T
    return best


def _recall(tokens: _DescriptionTokens, best: Floats) -> Floats:
    """Return descriptions x `_RECALLS`, given sentences x tokens."""
    pairs = np.maximum(best[:-1], best[1:]) if len(best) > 1 else best
    highest = best.max(axis=0)
    weights = np.ascontiguousarray(tokens.weights.T)
    columns = [product(best, weights).max(axis=0), product(pairs, weights).max(axis=0)]
    columns.append(product(tokens.weights, highest))
    content = np.where(tokens.is_content, highest, np.inf)
    weakest = [content[a:b].min(initial=np.inf) for a, b in pairwise(tokens.starts.tolist())]
    columns.append(np.where(np.isinf(weakest), 0.0, weakest))
    return np.stack(columns, axis=1)


@lru_cache(maxsize=2)
def _shared_recall(encoder: Encoder, background: IdfTexts) -> TokenRecall:
    return TokenRecall(encoder, background)


def token_evidence(model: str, pool: Pool, background: IdfTexts, progress: Progress) -> Floats:
    """Return cells x `TOKEN_COLUMNS` by the encoder in a folder; what it computes is cached."""
    return _shared_recall(load_encoder(model), background).columns(pool, progress)
