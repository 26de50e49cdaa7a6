"""Base classes of sacreBLEU's metrics: references, scores and signatures."""

from __future__ import annotations

import json
import logging
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from karat.compat.sacrebleu.version import INTERFACE_VERSION
from karat.errors import InputError, quoted

sacrelogger = logging.getLogger("sacrebleu")

if TYPE_CHECKING:
    from karat.arrays import NDArray
    from karat.text.references import References


_SHORT = {"version": "v", "nrefs": "#", "test": "t", "lang": "l", "subset": "S", "origlang": "o"}
_SHORT |= {"seed": "rs", "case": "c"}
"""The short names of fields that are not the names themselves."""


class WrongType(InputError, TypeError):
    """An argument of the wrong type, also a TypeError as in sacreBLEU."""


class WrongChoice(InputError, AssertionError):
    """An unknown value of a setting, also an AssertionError as in sacreBLEU."""


class WithoutReferences(InputError, RuntimeError):
    """Scoring without references, also a RuntimeError as in sacreBLEU."""


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
        self.set_interval([score.score for score in scores])

    def set_interval(self, values: Sequence[float]) -> None:
        """Set the mean and half the width of the central 95% of resampled values."""
        ordered = sorted(values)
        cut = len(ordered) // 40
        self._ci = 0.5 * (ordered[-1 - cut] - ordered[cut])
        mean = statistics.mean(map(float, ordered))
        kinds = {*map(type, ordered)}
        self._mean = kinds.pop()(mean) if len(kinds) == 1 else mean  # single precision stays single

    def __repr__(self) -> str:
        return self.format()


class Signature:
    """The settings of a metric by name, formatted as `nrefs:1|case:mixed|…`.

    `args` are the attributes of a metric that has scored something.
    """

    _abbreviations: ClassVar[dict[str, str]] = {}

    def __init__(self, args: Mapping[str, Any]) -> None:
        number = args.get("num_refs")
        if number is None:
            raise InputError("the number of references is not known yet: score something first")
        self.info: dict[str, Any] = {
            "version": INTERFACE_VERSION,
            "nrefs": "var" if number == -1 else number,
            "bs": args.get("n_bootstrap"),
            "ar": None,
            "seed": args.get("seed"),
            "test": args.get("test_set"),
            "lang": args.get("langpair"),
            "origlang": args.get("origlang"),
            "subset": args.get("subset"),
        }
        self._abbr = {**_SHORT, **self._abbreviations}

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

    _SIGNATURE_TYPE: ClassVar[type[Signature]] = Signature
    _columns: ClassVar[int | None] = None
    """The number of columns of Karat's statistics sacreBLEU has; None for all."""

    _ref_cache: References | None

    def __init__(self) -> None:
        self.n_bootstrap: int | None = None
        self.seed: str | None = None
        self.num_refs: int | None = None  # -1: it varies
        self._ref_cache = None

    def _prepare(self, references: Streams | None) -> None:
        """Check the settings, and read the references of the constructor."""
        self._check_settings()
        if references is not None:
            self._ref_cache = self._read(references)

    @abstractmethod
    def _karat(self) -> Any:
        """Return Karat's metric with these settings."""

    @abstractmethod
    def _score(self, sums: list[Any]) -> ScoreT:
        """Return the score of summed statistics."""

    @abstractmethod
    def _value(self, sums: list[Any]) -> float:
        """Return the value of a score by sacreBLEU's operations, in its order.

        Numbers in single precision give a value in single precision.
        """

    def _exchanged_value(self, sums: list[Any]) -> float:
        """Return the value for statistics after random exchanges between two systems."""
        return self._value(sums)

    def corpus_score(
        self, hypotheses: Sequence[str], references: Streams | None, n_bootstrap: int = 1
    ) -> ScoreT:
        """Return the score of a corpus.

        `references` are streams, or None for those of the constructor. With `n_bootstrap` above 1,
        the score has a 95% interval from that many resamples.
        """
        rows = self._statistics(hypotheses, references)
        score = self._score(column_sums(rows))
        if n_bootstrap > 1:
            from karat.compat.sacrebleu.significance import bootstrap_values, environment_seed

            self.n_bootstrap, self.seed = n_bootstrap, environment_seed().text
            score.set_interval(bootstrap_values(self, rows, n_bootstrap))
        return score

    def _check_settings(self) -> None:
        """Raise an error if a setting is unknown or out of range."""
        self._karat()

    def _statistics(self, hypotheses: Sequence[str], references: Streams | None) -> NDArray[Any]:
        """Return sacreBLEU's statistics of each segment, segments x columns.

        `references` are streams, or None for those of the constructor.
        """
        from karat.text.segments import Strings

        reference_texts = self._ref_cache if references is None else self._read(references)
        if reference_texts is None:
            raise WithoutReferences("no references: give them here or to the constructor")
        try:
            rows: NDArray[Any] = self._karat().stats(
                Strings(hypotheses, "hypotheses"), reference_texts
            )
        except InputError as error:
            if is_list_of_str(hypotheses):
                raise
            raise WrongType(str(error)) from error
        return rows[:, : self._columns]

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> ScoreT:
        """Return the score of one sentence against its references."""
        from karat.compat.one_segment import pairs_of

        texts, metric = self._take_sentence(hypothesis, references), self._karat()
        rows = metric.rows(pairs_of([metric], hypothesis, texts))
        return self._score(column_sums(rows[:, : self._columns]))

    def _segment_scores(self, hypotheses: Sequence[str]) -> Iterator[ScoreT]:
        """Yield the score of each segment against the references of the constructor."""
        for row in self._statistics(hypotheses, None).tolist():
            yield self._score(row)

    def _take_sentence(self, hypothesis: object, references: object) -> list[str]:
        """Return the references of one sentence, and keep their number for the signature."""
        texts = _check_sentence(hypothesis, references)
        self.num_refs = len(texts)
        return texts

    def get_signature(self) -> Signature:
        """Return the signature; the number of references is known only after scoring."""
        return self._SIGNATURE_TYPE(
            {**vars(self), "tokenizer_signature": getattr(self, "tokenizer_signature", None)}
        )

    def _read(self, streams: object) -> References:
        """Return references from streams; None means that a stream lacks this reference."""
        from karat.text.references import References, VaryingReferences
        from karat.text.segments import Strings

        if isinstance(streams, str | bytes) or not isinstance(streams, Iterable):
            raise WrongType(f"references is {type(streams).__name__}: {_ORIENTATION}")
        columns: list[tuple[str | None, ...]] = []
        for k, stream in enumerate(streams):
            if isinstance(stream, str | bytes) or not isinstance(stream, Iterable):
                kind = type(stream).__name__
                raise WrongType(f"references[{k}] is {kind}: {_ORIENTATION}, as in [references]")
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


def is_list_of_str(texts: object) -> bool:
    """Whether texts are an iterable of strings, and not one string."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        return False
    return {*map(type, texts)} <= {str}


def column_sums(rows: NDArray[Any]) -> list[Any]:
    """Return the sums of the columns, added row by row as in sacreBLEU."""
    from karat.arrays import np

    if len(rows) == 1 or not np.issubdtype(rows.dtype, np.floating):
        sums: list[Any] = rows.sum(axis=0).tolist()
        return sums
    return [column[-1] for column in np.cumsum(rows, axis=0).T.tolist()]


def _check_sentence(hypothesis: object, references: object) -> list[str]:
    """Return the references of one sentence without None; raise InputError for wrong types."""
    if not isinstance(hypothesis, str):
        raise WrongType(f"hypothesis is {type(hypothesis).__name__}, expected str")
    if isinstance(references, str | bytes) or not isinstance(references, Iterable):
        kind = type(references).__name__
        raise WrongType(f"references is {kind}, expected a list of str")
    texts = [text for text in references if text is not None]
    bad = next((text for text in texts if not isinstance(text, str)), None)
    if bad is not None:
        raise WrongType(f"references holds {quoted(bad)}, expected str")
    if not texts:
        raise InputError("references is empty: at least one is needed")
    return texts


@lru_cache(maxsize=32, typed=True)
def cached_metric(name: str, *settings: Any) -> Any:
    """Return Karat's metric with settings in the order of their declaration."""
    from karat.metrics.names import METRICS

    return METRICS[name](*settings)


Metric, Score = SacreMetric, SacreScore
