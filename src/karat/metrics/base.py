"""The base of all metrics: statistics are rows, scores come from sums of rows.

`stats` gives one numeric row per segment; `score` is pure and takes any sum of rows. Corpus,
document and segment scores, resampling and shards are all "sum rows, score".
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from karat import __version__
from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.metrics.guards import guard
from karat.metrics.signatures.claims import Claims, references_fact
from karat.progress import Progress, silent
from karat.registry import origin
from karat.settings import Named
from karat.text.references import GivenReferences, as_references
from karat.text.segments import Texts, as_segments
from karat.text.tokens import Recipe, stemmer_origin, stop_digest, tokenizer_origin

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet
    from karat.metrics.outputs import SegmentNames
    from karat.metrics.pairs import Pairs

MetricT = TypeVar("MetricT", bound="Metric")

FORMS = ("karat", "sacrebleu")
"""The forms that signatures are written in."""


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
    """Refuse a form of signatures that there is not."""
    if form not in FORMS:
        raise InputError(f"signature {quoted(form)}: expected one of {', '.join(FORMS)}")


def signed(
    full_name: str,
    references: int | str | None,
    drawn: Mapping[str, object] = MappingProxyType({}),
    package: str = "",
) -> str:
    """Return Karat's form of the signature of a metric whose full name is given.

    `package` is the package of the metric and its version, if it is not Karat's.
    """
    plugin = {"plugin": package} if package else {}
    fields = {**references_fact(references), "karat": __version__, **plugin, **drawn}
    return full_name + "".join(f"|{name}={value}" for name, value in fields.items())


@dataclass(frozen=True)
class Metric(Named, ABC):
    """A metric; its string form is its name, argument, key and signature."""

    kind: ClassVar[str] = "metrics"
    """The registry that it belongs to."""
    title: ClassVar[str] = ""
    """The title in lists, if that is not its name."""
    full_scale: ClassVar[float] = 1.0
    """The end of the scale, such as 1 or 100; it decides how many decimals are shown."""
    score_range: ClassVar[str] = ""
    """The range of scores in words, where `bounded` and `sign` do not tell it."""
    bounded: ClassVar[bool] = True
    """True if scores keep to the scale; accuracies may be negative, error rates exceed 100."""
    digests: ClassVar[Mapping[str, Callable[[str], str]]] = MappingProxyType(
        {"stop": stop_digest, "tok": tokenizer_origin, "stem": stemmer_origin}
    )
    reads_texts: ClassVar[bool] = True
    """False if scores come from elsewhere: then references are not needed."""
    uses_human_scores: ClassVar[bool] = False
    """True if scores are made from human scores: then agreement with those means nothing."""
    claims: ClassVar[Claims] = Claims()
    """Other claims of the signature that the metric was read from; no part of its value."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Guard the classes of other packages."""
        super().__init_subclass__(**kwargs)
        if cls.__module__.partition(".")[0] != "karat":
            guard(cls)

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is (error rates); a class may have `sign = -1`."""
        return 1

    @property
    def slow(self) -> bool:
        """True if a segment takes so long that batches must be small, for threads and progress."""
        return False

    # ------------------------------------------------------------------ what a family defines

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers in a row."""

    @abstractmethod
    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """One row per segment of a run of candidates and their references."""

    @abstractmethod
    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """For every (sum of) row(s) the value, under `value`, and the parts it is made from."""

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """The n-gram matches it will ask for, so that metrics can share them."""
        return iter(())

    def of_segments(self) -> Metric:
        """Return the metric that scores single segments; most often this one."""
        return self

    def of_documents(self) -> Metric:
        """Return the metric that scores some segments of a system together; most often this one."""
        return self

    def input_files(self) -> list[str]:
        """Return the files that its settings name: models, tables, scores."""
        named = (getattr(self, f.name) for f in self.settings() if f.metadata.get("place"))
        return [value for value in named if isinstance(value, str)]

    def has_score(self, rows: NDArray[Any]) -> Flags:
        """Return whether each segment has a score; outside scores may be missing."""
        return np.ones(len(rows), bool)

    def without_scores(self, rows: NDArray[Any], left_out: Flags) -> NDArray[Any]:
        """Return the rows as if some segments had no score."""
        return rows

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return notes for the readers of this score."""
        return ()

    def remarks(self) -> tuple[str, ...]:
        """Return notes for the readers of all its scores."""
        return ()

    def for_evalset(
        self, evalset: EvalSet | None, threads: int | None = None, progress: Progress = silent
    ) -> Sequence[Metric]:
        """Return the metrics that it stands for, with what they take from an evaluation set.

        Without a set (None) texts are scored; a metric that needs one refuses them.
        """
        return (self,)

    def table_columns(self) -> tuple[str, ...]:
        """Return the columns of a table that it reads numbers from."""
        return ()

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Refuse systems and segments that it cannot score."""

    def check_used(self, system: str, total: NDArray[Any]) -> None:
        """Refuse a table that lacks rows it has scores for; `total` is the sum of its rows."""

    def check_resampled(self, system: str, total: NDArray[Any]) -> None:
        """Refuse a system whose score does not come from its segments; `total` is their sum."""

    # ------------------------------------------------------------------------ its signature

    def signature(
        self,
        references: int | str | None = 1,
        form: str = "karat",
        drawn: Mapping[str, object] = MappingProxyType({}),
    ) -> str:
        """Return every setting, the number of references (None: it varies) and the version.

        A metric of another package is signed with that package's version, too.

        `form="sacrebleu"` writes BLEU, chrF and TER as sacreBLEU does, others as Karat does; see
        docs/reference/metrics-guide.md. `drawn` says how intervals and tests were made.
        """
        check_form(form)
        if form == "sacrebleu":
            from karat.metrics.signatures.sacrebleu import sacrebleu_signature

            found = sacrebleu_signature(self, references, drawn)
            if found is not None:
                return found
        return signed(self.full_name(), references, drawn, origin(type(self)))

    def method(self, references: int | None) -> str:
        """Return the signature without what differs between two runs of one method."""
        return self.signature(references)

    def claiming(self: MetricT, claims: Claims) -> MetricT:
        """Return this metric with the claims of a signature; they must not contradict its own."""
        if not claims.said:
            return self
        made = copy.copy(self)
        object.__setattr__(made, "claims", self.claims.joined(self, claims))
        return made

    def check_claims(self, references: int | None, drawn: Mapping[str, object]) -> None:
        """Refuse a signature that says something else than what is given and asked for."""
        self.claims.check(self, {**references_fact(references), **drawn})

    # --------------------------------------------------------------------------- its numbers

    def stats(
        self,
        candidates: Texts,
        references: GivenReferences,
        *,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> NDArray[Any]:
        """One row of statistics per segment; any sum of rows can be scored."""
        parts = self._collect(candidates, references, lambda _, rows, __: rows, threads, progress)[
            0
        ]
        return np.concatenate(parts)

    def score(self, row: NDArray[Any], references: int | str | None = "unknown") -> Score:
        """The score of one row, or of a sum of rows; `references` is for the signature."""
        row = np.asarray(row)
        if row.shape != (len(self.columns()),):
            raise InputError(
                f"{self}: a row has {len(self.columns())} numbers ({', '.join(self.columns())}), "
                f"found an array of shape {row.shape}; add rows up with sum(axis=0)"
            )
        return self.scores(row[None, :], references)[0]

    def scores(self, rows: NDArray[Any], references: int | str | None = "unknown") -> list[Score]:
        """The score of each of several rows, at little more cost than that of one."""
        found = {name: v.tolist() for name, v in self.measure(rows).items()}
        values, signature = found.pop("value"), self.signature(references)
        parts = ({name: float(v[i]) for name, v in found.items()} for i in range(len(rows)))
        return [
            Score(float(value), part, signature, self.notes(row))
            for value, part, row in zip(values, parts, rows, strict=True)
        ]

    def corpus(
        self,
        candidates: Texts,
        references: GivenReferences,
        *,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> Score:
        """The score of all segments together."""
        from karat.arithmetic import joined_sums, partial_sums

        sums, number = self._collect(
            candidates, references, lambda _, rows, __: partial_sums(rows), threads, progress
        )
        return self.score(joined_sums(sums), number)

    def segments(
        self,
        candidates: Texts,
        references: GivenReferences,
        *,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> Floats:
        """The score of every segment, by `of_segments()`."""

        def reduce(m: Metric, rows: NDArray[Any], first: int) -> Floats:
            return m.of_segments().measure(rows)["value"]

        return np.concatenate(self._collect(candidates, references, reduce, threads, progress)[0])

    def _collect(
        self,
        candidates: Texts,
        references: GivenReferences,
        reduce: Callable[[Metric, NDArray[Any], int], Any],
        threads: int | None,
        progress: Progress,
    ) -> tuple[list[Any], int | None]:
        from karat.metrics.loop import run_batches

        texts = as_segments(candidates, "candidates")
        refs = as_references(references, len(texts), texts.name)
        self.claims.check(self, references_fact(refs.number), only="nrefs")
        found = run_batches(
            [self], {"candidate": texts}, refs, reduce, threads=threads, progress=progress
        )
        return [part[0][0] for part in found], refs.number
