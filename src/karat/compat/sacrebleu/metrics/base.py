"""Base classes of sacreBLEU's metrics: references, scores and signatures."""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from karat import __version__
from karat.errors import InputError, quoted, short

if TYPE_CHECKING:
    from karat.arrays import Floats, NDArray
    from karat.text.references import References


_SHARED = ("version", "nrefs", "bs", "ar", "seed", "test", "lang", "origlang", "subset")
"""The fields of every signature, most of them empty."""

_SHORT = {"version": "v", "nrefs": "#", "test": "t", "lang": "l", "subset": "S", "origlang": "o"}
_SHORT |= {"seed": "rs", "case": "c"}


ClassT = TypeVar("ClassT", bound=type)


def drop_in_name(name: str) -> Callable[[ClassT], ClassT]:
    """Rename a class to sacreBLEU's name; for pickles, its module must have that name, too."""

    def rename(cls: ClassT) -> ClassT:
        cls.__name__ = cls.__qualname__ = name
        return cls

    return rename


@drop_in_name("Score")
class SacreScore:
    """A name, a value, and its bootstrap mean and interval."""

    def __init__(self, name: str, score: float) -> None:
        self.name, self.score = name, score
        self._mean = self._ci = -1.0
        self._verbose = ""

    def format(
        self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False
    ) -> str:
        """Return the score as text, or as JSON with the fields of the signature."""
        score, mean, width_95 = (f"{v:.{width}f}" for v in (self.score, self._mean, self._ci))
        confidence = f"μ = {mean} ± {width_95}" if self._mean > 0 else ""
        text = f"{score} ({confidence})" if confidence else score
        if score_only:
            return text
        if not is_json:
            name = f"{self.name}|{signature}" if signature else self.name
            return f"{name} = {text} {self._verbose}".rstrip()
        fields: dict[str, Any] = {"name": self.name, "score": float(score), "signature": signature}
        if confidence:
            fields |= {"confidence_mean": float(mean), "confidence_var": float(width_95)}
            fields["confidence"] = confidence
        if self._verbose:
            fields["verbose_score"] = self._verbose
        fields |= dict(field.partition(":")[::2] for field in signature.split("|") if signature)
        return json.dumps(fields, indent=1, ensure_ascii=False)

    def estimate_ci(self, scores: Sequence[SacreScore]) -> None:
        """Set the mean and half the width of the central 95% of resampled scores."""
        from karat.arrays import np

        self.take_resamples(np.array([score.score for score in scores], dtype=float))

    def take_resamples(self, values: Floats) -> None:
        """Set the mean and half the width of the central 95% of resampled values."""
        from karat.stats.resampling import interval

        low, high = interval(values)
        self._mean, self._ci = float(values.mean()), (high - low) / 2

    def __repr__(self) -> str:
        return self.format()


class Signature:
    """The settings of a metric by name, formatted as `nrefs:1|case:mixed|…`."""

    def __init__(self, info: Mapping[str, Any], short: Mapping[str, str]) -> None:
        self.info: dict[str, Any] = {**dict.fromkeys(_SHARED), **info}
        self._abbr = {**_SHORT, **short}

    def format(self, short: bool = False) -> str:
        """Return all fields with a value, the version last."""
        names = [*(name for name in self.info if name != "version"), "version"]
        fields = {name: self.info[name] for name in names if self.info[name] is not None}
        written = {True: "yes", False: "no"}
        return "|".join(
            f"{self._abbr.get(name, name) if short else name}"
            f":{written[value] if isinstance(value, bool) else value}"
            for name, value in fields.items()
        )

    def update(self, key: str, value: Any) -> None:
        """Set a field."""
        self.info[key] = value

    def __repr__(self) -> str:
        return self.format()


Streams: TypeAlias = "Sequence[Sequence[str | None]]"
"""References as sacreBLEU takes them: `references[k][i]` is reference k of segment i, or None."""

ScoreT = TypeVar("ScoreT", bound=SacreScore)

_ORIENTATION = "give a list of streams, each with a reference for every hypothesis"


@drop_in_name("Metric")
class SacreMetric(ABC, Generic[ScoreT]):
    """A metric with sacreBLEU's methods; its attributes are its settings."""

    _SHORT: ClassVar[dict[str, str]] = {}

    def __init__(self, references: Streams | None = None) -> None:
        self.n_bootstrap: int | None = None
        self.seed: str | None = None
        self.num_refs: int | None = None  # -1: it varies
        self._karat()  # checks the settings
        self._ref_cache = None if references is None else self._read(references)

    @abstractmethod
    def _karat(self) -> Any:
        """Return Karat's metric with these settings."""

    @abstractmethod
    def _score(self, row: NDArray[Any]) -> ScoreT:
        """Return the score of a sum of rows."""

    @abstractmethod
    def _info(self) -> dict[str, Any]:
        """Return the fields of the signature specific to this metric."""

    def corpus_score(
        self, hypotheses: Sequence[str], references: Streams | None, n_bootstrap: int = 1
    ) -> ScoreT:
        """Return the score of a corpus.

        `references` are streams, or None for those of the constructor. With `n_bootstrap` above 1,
        the score has a 95% interval from that many resamples.
        """
        from karat.arithmetic import exact_sums
        from karat.text.segments import Strings

        texts = Strings(hypotheses, "hypotheses")
        reference_texts = self._ref_cache if references is None else self._read(references)
        if reference_texts is None:
            raise InputError("no references: give them here or to the constructor")
        rows = self._karat().stats(texts, reference_texts)
        score = self._score(exact_sums(rows))
        if n_bootstrap > 1:
            self._resample(score, rows, n_bootstrap)
        return score

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> ScoreT:
        """Return the score of one sentence against its references."""
        from karat.compat.one_segment import pairs_of

        texts, metric = self._take_sentence(hypothesis, references), self._karat()
        return self._score(metric.rows(pairs_of([metric], hypothesis, texts))[0])

    def _take_sentence(self, hypothesis: object, references: object) -> list[str]:
        """Return the references of one sentence, and keep their number for the signature."""
        texts = _check_sentence(hypothesis, references)
        self.num_refs = len(texts)
        return texts

    def get_signature(self) -> Signature:
        """Return the signature; the number of references is known only after scoring."""
        if self.num_refs is None:
            raise InputError("the number of references is not known yet: score something first")
        number = "var" if self.num_refs < 0 else self.num_refs
        shared = {"version": f"karat-{__version__}", "nrefs": number}
        resampling = {"bs": self.n_bootstrap, "seed": self.seed}
        return Signature({**shared, **resampling, **self._info()}, self._SHORT)

    def _read(self, streams: object) -> References:
        """Return references from streams; None means that a stream lacks this reference."""
        from karat.text.references import References, VaryingReferences
        from karat.text.segments import Strings

        if isinstance(streams, str | bytes) or not isinstance(streams, Iterable):
            raise InputError(f"references is {type(streams).__name__}: {_ORIENTATION}")
        columns: list[tuple[str | None, ...]] = []
        for k, stream in enumerate(streams):
            if isinstance(stream, str | bytes) or not isinstance(stream, Iterable):
                kind = type(stream).__name__
                raise InputError(f"references[{k}] is {kind}: {_ORIENTATION}, as in [references]")
            columns.append(tuple(stream))
        if not columns:
            raise InputError(f"references is empty: {_ORIENTATION}")
        lengths = sorted({len(column) for column in columns})
        if len(lengths) > 1:
            counts = " and ".join(map(str, lengths))
            problem = f"the streams of references have {counts} segments"
            raise InputError(f"{problem}: they must be equal")
        references: References
        if any(None in column for column in columns):
            groups = [
                [text for text in row if text is not None] for row in zip(*columns, strict=True)
            ]
            if [] in groups:
                location = f"segment {groups.index([]) + 1:,} has no reference"
                raise InputError(f"{location}: it is None in every stream")
            references = VaryingReferences(groups)
        else:
            texts: Any = columns
            names = (f"references[{k}]" for k in range(len(columns)))
            references = References([*map(Strings, texts, names)])
        self.num_refs = -1 if references.number is None else references.number
        return references

    def _resample(self, score: ScoreT, rows: NDArray[Any], resamples: int) -> None:
        """Set the interval of a score; the seed is in SACREBLEU_SEED, as for sacreBLEU."""
        from karat.stats.resampling import bootstrap_sums

        seed = os.environ.get("SACREBLEU_SEED", "12345").lower()
        if seed != "none" and not re.fullmatch("[0-9]{1,18}", seed):
            problem = f"SACREBLEU_SEED={short(os.environ['SACREBLEU_SEED'])}"
            raise InputError(f"{problem}: expected a whole number or none")
        number = int.from_bytes(os.urandom(4), "big") if seed == "none" else int(seed)
        self.n_bootstrap, self.seed = resamples, seed if seed == "none" else str(number)
        sums = bootstrap_sums(rows, resamples, number)
        score.take_resamples(self._karat().measure(sums)["value"])


def _check_sentence(hypothesis: object, references: object) -> list[str]:
    """Return the references of one sentence without None; raise InputError for wrong types."""
    if not isinstance(hypothesis, str):
        raise InputError(f"hypothesis is {type(hypothesis).__name__}, expected str")
    if isinstance(references, str | bytes) or not isinstance(references, Iterable):
        kind = type(references).__name__
        raise InputError(f"references is {kind}, expected a list of str")
    texts = [text for text in references if text is not None]
    bad = next((text for text in texts if not isinstance(text, str)), None)
    if bad is not None:
        raise InputError(f"references holds {quoted(bad)}, expected str")
    if not texts:
        raise InputError("references is empty: at least one is needed")
    return texts


@lru_cache(maxsize=32, typed=True)
def cached_metric(name: str, *settings: Any) -> Any:
    """Return Karat's metric with settings in the order of their declaration."""
    from karat.metrics.names import METRICS

    return METRICS[name](*settings)


Metric, Score = SacreMetric, SacreScore
