"""The base class of metrics: statistics are rows, and scores come from sums of rows.

`stats` returns one numeric row per segment; `score` is pure and takes any sum of rows. Corpus,
document and segment scores, resampling and shards are all "sum rows, score".
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from karat import __version__
from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, MetricError, quoted
from karat.progress import Progress, silent
from karat.registry import call, origin
from karat.settings import NamedSettings
from karat.text.references import GivenReferences, NoReferences, References, as_references
from karat.text.segments import Texts, as_segments
from karat.text.tokens import Recipe, stemmer_origin, stop_digest, tokenizer_origin

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet
    from karat.metrics.pairs import Pairs, SegmentNames


def _wrap_check(function: Callable[..., Any], problem: Callable[..., str]) -> Callable[..., Any]:
    @wraps(function)
    def checked(self: Metric, argument: Any) -> Any:
        subject = f"{self}: its {function.__name__}()"
        run, find_problem = partial(function, self, argument), partial(problem, self, argument)
        return call(subject, type(self), run, find_problem, MetricError)

    return checked


def _rows_problem(metric: Metric, pairs: Pairs, rows: Any) -> str:
    expected = (len(pairs.starts) - 1, len(metric.columns()))
    if not isinstance(rows, np.ndarray) or rows.shape != expected:
        shape = getattr(rows, "shape", type(rows).__name__)
        return f"{shape}, expected an array of {expected} (segments, columns)"
    return _number_problem(rows)


def _number_problem(numbers: NDArray[Any]) -> str:
    if numbers.dtype.kind not in "biuf":
        return f"an array of {numbers.dtype}, expected numbers"
    return "" if np.isfinite(numbers).all() else "a number that is not finite"


def _measure_problem(metric: Metric, rows: Any, scores: Any) -> str:
    if not isinstance(scores, dict) or "value" not in scores:
        return "no `value`: expected a dictionary of arrays"
    for name, values in scores.items():
        if not isinstance(values, np.ndarray) or values.shape != rows.shape[:1]:
            return f"{name!r} that is no array with one number per row"
        if problem := _number_problem(values):
            return f"for {name!r} {problem}"
    return ""


_SETTING_HINTS = {
    "nrefs": "give the references that the signature is of",
    "bootstrap": "intervals of scores are not bootstrapped",
    "seed": "use that seed (compare --seed)",
    "test": "use that test (compare --test)",
    "trials": "use as many trials (compare --trials)",
    "correction": "use that correction (compare --correction)",
    "ci": "add intervals (--intervals)",
    "unit": "use that unit (--unit)",
    "buckets": "use as many buckets (--buckets)",
}
"""Claim of a signature -> what the user can do to make it true."""


@dataclass(frozen=True)
class Claims:
    """Claims of a signature about a run: its references, intervals and tests."""

    values: tuple[tuple[str, str], ...] = ()

    def check(self, metric: object, facts: Mapping[str, object], only: str = "") -> None:
        """Raise if a claim differs from the facts; with `only`, check only that claim."""
        for name, value in self.values:
            if value == "unknown" or (only and name != only):
                continue
            actual = facts.get(name)
            if str(actual) != value:
                fact, hint = _describe_fact(name, actual), _SETTING_HINTS[name]
                raise MetricError(
                    f"{metric}: its signature says {name}={value}, but {fact}: {hint}, or leave "
                    f"{name} out of the signature"
                )

    def join(self, metric: object, other: Claims) -> Claims:
        """Return the claims of two signatures of one metric, which must agree."""
        claims = dict(self.values)
        for name, value in other.values:
            if claims.setdefault(name, value) != value:
                both = f"{name}={claims[name]} and {name}={value}"
                raise MetricError(f"{metric} is given twice, with {both}: leave one of them out")
        return Claims(tuple(claims.items()))


def references_fact(number: int | str | None) -> dict[str, object]:
    """Return the number of references as a field of signatures."""
    return {"nrefs": "var" if number is None else number}


def _describe_fact(name: str, value: object) -> str:
    if name == "nrefs":
        count_text = "the number of references varies" if value == "var" else f"there are {value}"
        return "every segment has 1 reference" if value == 1 else count_text
    return f"no {name} was requested" if value is None else f"{name}={value} was requested"


def is_count(value: str) -> bool:
    """Return whether a text is a whole number as signatures print it."""
    return value.isascii() and value.isdigit() and (value == "0" or not value.startswith("0"))


def check_version(signature: str, version: str) -> None:
    """Raise if a signature has another version of Karat, whose numbers may differ."""
    if version != __version__:
        raise MetricError(
            f"{signature}: a signature of Karat {version}, and this is {__version__}, whose "
            f"numbers may differ: install that version, or leave karat={version} out to score "
            f"with this one"
        )


def check_plugin(signature: str, claimed: str, installed: str) -> None:
    """Raise if a signature has another plugin, or another version of it, than the one installed."""
    if claimed and claimed != installed:
        package = f"this is {installed}" if installed else "the installed metric is Karat's own"
        raise MetricError(
            f"{signature}: a signature of {claimed}, and {package}: install that version, or leave "
            f"plugin={claimed} out to score with the installed one"
        )


MetricT = TypeVar("MetricT", bound="Metric")

FORMS = ("karat", "sacrebleu")
"""Forms of signatures."""


@dataclass(frozen=True)
class Score:
    """A score: its value, its parts and its signature."""

    value: float
    parts: Mapping[str, float] = field(hash=False)
    signature: str
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f}  {self.signature}"


def check_form(form: str) -> None:
    """Raise if the signature form is unknown."""
    if form not in FORMS:
        raise InputError(f"signature {quoted(form)}: expected one of {', '.join(FORMS)}")


def format_signature(
    full_name: str,
    references: int | str | None,
    resampling: Mapping[str, object] = MappingProxyType({}),
    package: str = "",
) -> str:
    """Return the signature in Karat's form; `package` is the plugin of the metric, with version."""
    plugin = {"plugin": package} if package else {}
    fields = {**references_fact(references), "karat": __version__, **plugin, **resampling}
    return full_name + "".join(f"|{name}={value}" for name, value in fields.items())


@dataclass(frozen=True)
class Metric(NamedSettings, ABC):
    """A metric; its string form is its name and its command-line argument, and parses back."""

    kind: ClassVar[str] = "metrics"
    """The registry of metrics."""
    title: ClassVar[str] = ""
    """Title in lists, if it differs from the name."""
    full_scale: ClassVar[float] = 1.0
    """The upper end of the scale, such as 1 or 100; it determines the number of decimals."""
    score_range: ClassVar[str] = ""
    """The range of scores in words, if `bounded` and `sign` do not define it."""
    bounded: ClassVar[bool] = True
    """False if scores can leave the scale: accuracies may be negative, error rates exceed 100."""
    digests: ClassVar[Mapping[str, Callable[[str], str]]] = MappingProxyType(
        {"stop": stop_digest, "tok": tokenizer_origin, "stem": stemmer_origin}
    )
    reads_texts: ClassVar[bool] = True
    """False if scores come from other programs, so that no references are needed."""
    batch_segments: ClassVar[int | None] = None
    """Most segments of a batch; None: the usual number, which is small for slow metrics."""
    uses_human_scores: ClassVar[bool] = False
    """True if scores are made from human scores, so that agreement with those is meaningless."""
    is_share: ClassVar[bool] = False
    """True if scores are shares of segments (or means of shares) that are each 0 or 1. The score
    has the part `segments`, their number."""
    by_unit: ClassVar[bool] = False
    """True if scores are means over units, such as questions, that `unit_rows` computes."""
    claims: ClassVar[Claims] = Claims()
    """Claims of the signature that the metric was parsed from; not part of its value."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Check the results of `rows` and `measure` in classes of other packages."""
        super().__init_subclass__(**kwargs)
        checks = {"rows": _rows_problem, "measure": _measure_problem}
        if cls.__module__.partition(".")[0] != "karat":
            for name in checks.keys() & vars(cls).keys():
                setattr(cls, name, _wrap_check(getattr(cls, name), checks[name]))

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better; a class may define `sign = -1`."""
        return 1

    @property
    def score_limits(self) -> tuple[float, float]:
        """The lowest and the highest score, which may be infinite."""
        return (0.0, self.full_scale) if self.bounded else (-math.inf, math.inf)

    @property
    def needs_references(self) -> bool:
        """True if segments need references; a class may define `needs_references = False`."""
        return self.reads_texts

    @property
    def slow(self) -> bool:
        """True if segments take so long that batches must be small."""
        return False

    @property
    def reads_set(self) -> bool:
        """True if it reads sources or contexts, which only evaluation sets have."""
        return False

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Return the names of the numbers in a row."""

    @abstractmethod
    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return one row per segment of a batch of candidates and their references."""

    @abstractmethod
    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the score of each row, or sum of rows, as `value`, and its parts by name."""

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Yield the recipes and orders of its n-grams, so that metrics can share matches."""
        return iter(())

    def components(self) -> Mapping[str, Metric]:
        """Return metrics of single kinds of errors by the part that counts them.

        They are measured from the rows of this metric.
        """
        return {}

    def of_segments(self) -> Metric:
        """Return the metric that scores single segments; by default this one."""
        return self

    def of_documents(self) -> Metric:
        """Return the metric that scores documents; by default this one."""
        return self

    def evidence(
        self, candidate: str, references: Sequence[str], system: str, segment: str
    ) -> Iterator[tuple[str, str]]:
        """Yield lines for the readers of one output, each a label and a text.

        `system` and `segment` are the name and the id of the output.
        """
        return iter(())

    def input_files(self) -> list[str]:
        """Return the files named in its settings: models, tables, scores."""
        values = (getattr(self, f.name) for f in self.settings() if f.metadata.get("place"))
        return [value for value in values if isinstance(value, str)]

    def has_score(self, rows: NDArray[Any]) -> Flags:
        """Return whether each segment has a score; given scores may be missing."""
        return np.ones(len(rows), bool)

    def without_scores(self, rows: NDArray[Any], left_out: Flags) -> NDArray[Any]:
        """Return the rows as if some segments had no score."""
        return rows

    def unit_rows(self, rows: NDArray[Any], labels: Sequence[str] | None) -> NDArray[Any]:
        """Return the rows of units, from the sums of their segments' rows; `labels` name units."""
        return rows

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return notes for the readers of this score."""
        return ()

    def unit_notes(self, rows: NDArray[Any]) -> tuple[str, ...]:
        """Return notes on the rows of all units, if the score is `by_unit`."""
        return ()

    def remarks(self) -> tuple[str, ...]:
        """Return notes for the readers of all its scores."""
        return ()

    def for_evalset(
        self, evalset: EvalSet | None, threads: int | None = None, progress: Progress = silent
    ) -> Sequence[Metric]:
        """Return the metrics to compute for an evaluation set, with the data they need from it.

        None means that texts are scored; a metric that needs a set raises.
        """
        return (self,)

    def with_references(self: MetricT, references: References) -> MetricT:
        """Return the metric with the data that it needs from all references of a run."""
        return self

    def check_direction(self) -> None:
        """Raise if it is unknown whether higher or lower scores are better."""

    def check_independent(self, evalset: EvalSet, dimensions: Iterable[str]) -> None:
        """Raise if it has human scores that are part of the ones it is compared with."""

    def table_columns(self) -> tuple[str, ...]:
        """Return the columns of a table from which it reads scores."""
        return ()

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if systems or segments cannot be scored."""

    def check_used(self, system: str, total: NDArray[Any]) -> None:
        """Raise if a table lacks rows that have given scores; `total` is the sum of its rows."""

    def check_resampled(self, system: str, total: NDArray[Any]) -> None:
        """Raise if a score is not based on segments; `total` is the sum of the system's rows."""

    def signature(
        self,
        references: int | str | None = 1,
        form: str = "karat",
        resampling: Mapping[str, object] = MappingProxyType({}),
    ) -> str:
        """Return the signature: all settings, the number of references and the version.

        Args:
            references: number of references per segment; None if it varies.
            form: `karat`, or `sacrebleu` for sacreBLEU's form of BLEU, chrF and TER.
            resampling: settings of intervals and tests.
        """
        check_form(form)
        if form == "sacrebleu":
            from karat.metrics.signatures import sacrebleu_signature

            written = sacrebleu_signature(self, references, resampling)
            if written is not None:
                return written
        return format_signature(self.full_name(), references, resampling, origin(type(self)))

    def method(self, references: int | None) -> str:
        """Return the signature without fields that differ between two runs of one method."""
        return self.signature(references)

    def with_claims(self: MetricT, claims: Claims) -> MetricT:
        """Return this metric with the claims of a signature; they must not contradict its own."""
        if not claims.values:
            return self
        copied = copy.copy(self)
        object.__setattr__(copied, "claims", self.claims.join(self, claims))
        return copied

    def check_claims(self, references: int | None, resampling: Mapping[str, object]) -> None:
        """Raise if the claims of the signature differ from the inputs or the resampling."""
        self.claims.check(self, {**references_fact(references), **resampling})

    def stats(
        self,
        candidates: Texts,
        references: GivenReferences | None = None,
        *,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> NDArray[Any]:
        """Return one row of statistics per segment; any sum of rows can be scored."""

        def keep(m: Metric, rows: NDArray[Any], first: int) -> NDArray[Any]:
            return rows

        return np.concatenate(self._collect(candidates, references, keep, threads, progress)[0])

    def score(self, row: NDArray[Any], references: int | str | None = "unknown") -> Score:
        """Return the score of a row or a sum of rows; `references` is for the signature."""
        row = np.asarray(row)
        if row.shape != (len(self.columns()),):
            raise InputError(
                f"{self}: a row has {len(self.columns())} numbers ({', '.join(self.columns())}), "
                f"found an array of shape {row.shape}; add rows up with sum(axis=0)"
            )
        return self.scores(row[None, :], references)[0]

    def scores(self, rows: NDArray[Any], references: int | str | None = "unknown") -> list[Score]:
        """Return the scores of several rows, at little more cost than that of one."""
        columns = {name: v.tolist() for name, v in self.measure(rows).items()}
        values, signature = columns.pop("value"), self.signature(references)
        parts = ({name: float(v[i]) for name, v in columns.items()} for i in range(len(rows)))
        return [
            Score(float(value), part, signature, self.notes(row))
            for value, part, row in zip(values, parts, rows, strict=True)
        ]

    def corpus(
        self,
        candidates: Texts,
        references: GivenReferences | None = None,
        *,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> Score:
        """Return the corpus score."""
        from karat.arithmetic import joined_sums, partial_sums

        sums, number = self._collect(
            candidates, references, lambda _, rows, __: partial_sums(rows), threads, progress
        )
        return self.score(joined_sums(sums), number)

    def segments(
        self,
        candidates: Texts,
        references: GivenReferences | None = None,
        *,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> Floats:
        """Return the score of every segment, by `of_segments()`."""

        def reduce(m: Metric, rows: NDArray[Any], first: int) -> Floats:
            return m.of_segments().measure(rows)["value"]

        return np.concatenate(self._collect(candidates, references, reduce, threads, progress)[0])

    def _collect(
        self,
        candidates: Texts,
        references: GivenReferences | None,
        reduce: Callable[[Metric, NDArray[Any], int], Any],
        threads: int | None,
        progress: Progress,
    ) -> tuple[list[Any], int | None]:
        from karat.metrics.pairs import run_batches

        texts = as_segments(candidates, "candidates")
        refs: References
        if references is not None:
            refs = as_references(references, len(texts), texts.name)
        elif not self.needs_references:
            refs = NoReferences(len(texts))
        else:
            raise InputError(f"{self} needs references, and none were given")
        self.claims.check(self, references_fact(refs.number), only="nrefs")
        prepared = [self.with_references(refs)]
        batches = run_batches(
            prepared, {"candidate": texts}, refs, reduce, threads=threads, progress=progress
        )
        return [part[0][0] for part in batches], refs.number
