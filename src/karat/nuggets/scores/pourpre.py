"""Pourpre (Lin and Demner-Fushman 2005): nuggets matched by the words of their descriptions.

    match(nugget, response) = weight of the description's words that the response has
                              / weight of all its words
    match(nugget) = the best of any response, and of any description

A word weighs 1 (count) or its idf; words of one stem are the same. Then recall = sum of the matches
of vital nuggets / number of vital nuggets; the allowance is 100 characters for every nugget with a
match above 0; precision and F are the official ones (see `official`). As Nuggeteer's authors
describe it, a match may have to reach a threshold, and allow 100 * match characters only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from karat import __version__
from karat.arithmetic import product
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.metrics.names import metric
from karat.nuggets.scores import official
from karat.nuggets.scores.official import NuggetStats, OfficialSettings, RunScore
from karat.nuggets.scores.words import IdfSource, RaggedWords, Weigh, count_weights, cut_words
from karat.nuggets.sets.keys_and_runs import NuggetKey, Question, Response, Run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.settings import to_text
from karat.text.tokens import stop_digest


@dataclass(frozen=True)
class Pourpre:
    """Settings of Pourpre; `weigh` returns the weights of words (see `corpus_idf`)."""

    beta: float = 3.0
    weigh: Weigh = count_weights
    stem: str = "porter"
    stop: str = "none"
    threshold: float = 0.0  # a match below this counts 0
    partial_allowance: bool = False
    weights: str = "vital"

    def __post_init__(self) -> None:
        OfficialSettings(self.beta, self.weights)  # the same rules
        if not 0 <= self.threshold <= 1:
            raise InputError(f"threshold={self.threshold}: expected a number from 0 to 1")

    @property
    def signature(self) -> str:
        """Every setting, and Karat's version; a custom `weigh` appears by its name."""
        settings = {f.name: to_text(getattr(self, f.name)) for f in fields(self)}
        names = (getattr(self.weigh, name, "") for name in ("signature", "__name__"))
        weigh_name = next(filter(None, names), type(self.weigh).__name__)
        settings["weigh"] = "count" if self.weigh is count_weights else str(weigh_name)
        if self.stop != "none":
            settings["stop"] += f"@{stop_digest(self.stop)}"
        settings_text = ",".join(f"{name}={value}" for name, value in settings.items())
        return f"pourpre:{settings_text}|karat={__version__}"

    def match(self, question: Question, responses: Sequence[Response]) -> Floats:
        """Return the best match of each nugget; all 0 without a response."""
        best = self.matches(question, responses).max(axis=0, initial=0.0)
        return np.where(best < self.threshold, 0.0, best)

    def matches(self, question: Question, responses: Sequence[Response]) -> Floats:
        """Return the matches, responses by nuggets; the threshold is not applied."""
        texts = [text for nugget in question.nuggets for text in nugget.descriptions]
        answers = [response.text for response in responses]
        words = cut_words([*texts, *answers], self.stem, self.stop)
        starts = np.cumsum([0, *(len(nugget.descriptions) for nugget in question.nuggets[:-1])])
        return np.maximum.reduceat(_overlap(words, len(texts), self.weigh), starts, axis=1)

    def score(self, run: Run, key: NuggetKey, progress: Progress = silent) -> RunScore:
        """Score a run; `vital_returned` and `okay_returned` count matches above 0."""
        matches = []
        for done, question in enumerate(key.questions.values(), 1):
            progress(done, len(key), f"matching {run.tag}")
            matches.append(self.match(question, run.responses(question.id)))
        return self.score_matches(run, key, matches)

    def score_matches(self, run: Run, key: NuggetKey, matches: Sequence[Floats]) -> RunScore:
        """Score a run from the matches of each question's nuggets."""
        questions, rows = list(key.questions.values()), []
        for question, match in zip(questions, matches, strict=True):
            weight = official.nugget_weights(question, self.weights)
            allowed = match if self.partial_allowance else match > 0
            allowance = official.ALLOWANCE * math.fsum(allowed.tolist())
            rows.append((math.fsum((weight * match).tolist()), float(weight.sum()), allowance))
        weights, totals, allowances = np.array(rows, dtype=np.float64).reshape(-1, 3).T
        lengths = official.run_lengths(run, questions)
        stats = NuggetStats(weights, totals, allowances, lengths)
        is_returned = np.concatenate([np.zeros(0), *matches]) > 0
        pairs = [(0, 0)] * len(questions)
        return official.score_run(run, key, stats, is_returned, pairs, self.beta)


def score_pourpre(
    nuggets: NuggetSet,
    official_settings: OfficialSettings,
    idf: IdfSource,
    progress: Progress = silent,
) -> tuple[tuple[Pourpre, list[RunScore]], ...]:
    """Score all runs by counts and by idf, with beta and weights of the official score."""
    plain = Pourpre(beta=official_settings.beta, weights=official_settings.weights)
    runs = nuggets.runs.values()
    variants = plain, replace(plain, weigh=idf.of_words(runs, plain.stem))
    return tuple(
        (pourpre, [pourpre.score(run, nuggets.key, progress) for run in runs])
        for pourpre in variants
    )


def _overlap(words: RaggedWords, descriptions: int, weigh: Weigh) -> Floats:
    """Return matches, responses by descriptions; the first texts are the descriptions."""
    end = words.offsets[descriptions]
    row = np.repeat(np.arange(descriptions), np.diff(words.offsets[: descriptions + 1]))
    described = words.classes[words.ids[:end]]
    used = np.unique(described)
    weight = np.zeros((descriptions, len(used)))
    word_weights = weigh([words.words[k] for k in words.ids[:end].tolist()])
    # A word that occurs twice in a description counts twice.
    np.add.at(weight, (row, np.searchsorted(used, described)), word_weights)
    shared = product(_has(words, descriptions, used), weight.T)
    totals = weight.sum(axis=1)
    out: Floats = np.divide(shared, totals, out=np.zeros_like(shared), where=totals > 0)
    return out


def _has(words: RaggedWords, start: int, used: NDArray[np.int32]) -> Floats:
    """Return texts from `start` on by word classes: 1 if the text has a word of the class."""
    column = np.full(int(words.classes.max(initial=0)) + 1, -1)
    column[used] = np.arange(len(used))
    lengths = np.diff(words.offsets[start:])
    rows = np.repeat(np.arange(len(lengths)), lengths)
    columns = column[words.classes[words.ids[words.offsets[start] :]]]
    presence = np.zeros((len(lengths), len(used)))
    presence[rows[columns >= 0], columns[columns >= 0]] = 1.0
    return presence


DEFAULT = "rouge1:stem=porter-nltk"
WITHOUT_STOP_WORDS = "rouge1:stem=porter-nltk,stop=en"
"""The paper's two variants, `default` and `stop`."""


class RougeScore(NamedTuple):
    """Mean of a run over questions, and the score of each question."""

    run: str
    value: float
    questions: dict[str, float]


def score_rouge(run: Run, key: NuggetKey, name: str = DEFAULT) -> RougeScore:
    """Score answers by any metric against all descriptions of all nuggets as one text.

    No response is an empty answer.
    """
    answers = ["\n".join(response.text for response in run.responses(id)) for id in key.questions]
    nuggets = (question.nuggets for question in key.questions.values())
    references = ["\n".join(text for n in group for text in n.descriptions) for group in nuggets]
    values = metric(name).segments(answers, references, threads=1).tolist()
    by_question = dict(zip(key.questions, values, strict=True))
    return RougeScore(run.tag, math.fsum(values) / len(values), by_question)
