"""Evaluation sets: segments, references, the outputs of systems, and judgements of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import quote

from karat.arithmetic import SLACK
from karat.arrays import Floats, np
from karat.errors import InputError, quoted, short
from karat.evalset.draws import Draw, select_draws
from karat.evalset.given_scores import Offered, make_given_scores
from karat.evalset.judgements import (
    ADJUDICATED,
    MODEL,
    Dimension,
    JudgedPair,
    Judgement,
    JudgementTable,
    count_once,
    representatives,
    select_pairs,
)
from karat.storage.digests import data_digest, text_digest
from karat.text.references import References
from karat.text.trees import TextWithTrees, Tree

T = TypeVar("T")


@dataclass(frozen=True)
class EvalSet:
    """An evaluation set: outputs of systems, references and human scores; see `make_evalset`.

    A missing output is None; a missing human score is NaN.
    """

    name: str
    segments: tuple[str, ...]
    """The id of each segment."""
    groups: tuple[str, ...] | None
    """The document or question of each segment, if segments are grouped."""
    sources: tuple[str, ...] | None
    references: tuple[tuple[str, ...], ...]
    """The references of each segment."""
    systems: Mapping[str, tuple[str | None, ...]]
    """The output of each system for each segment; None if missing."""
    judgements: JudgementTable
    dimensions: Mapping[str, Dimension]
    description: str = ""
    licence: str = ""
    remarks: tuple[str, ...] = ()
    """Choices that the reader made, for the notes of reports."""
    trees: tuple[tuple[Tree, ...], ...] | None = None
    """The dependency tree of each reference; None if the set has no trees."""
    draws: tuple[Draw, ...] | None = None
    """The draws of segments or groups for judging; None if they are unknown."""
    pairs: tuple[JudgedPair, ...] = ()
    """Comparisons of two outputs; `judgements` has the share of wins of each output."""
    contexts: tuple[tuple[str, ...], ...] | None = None
    """The passages that all systems were given for each segment; None if the set has none."""
    system_contexts: Mapping[str, tuple[tuple[str, ...], ...]] | None = None
    """The passages by system, if systems were given different ones; `contexts` is then None."""
    answers_questions: bool = field(default=False, compare=False)
    """Whether the outputs are known to be answers to questions, which are the sources."""
    kind: str = field(default="", compare=False)
    """The kind of task, one of `TASK_KINDS`; empty if it is unknown."""
    offered: Offered = field(default_factory=dict, compare=False)
    """Scores of other metrics that come with the set, by name, read on demand."""
    left_out: frozenset[str] = field(default=frozenset(), compare=False)
    """Ids of segments that `select` removed."""
    _representatives: dict[str, dict[str, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cache of `representatives`: every human score needs it."""

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def has_texts(self) -> bool:
        """Whether any system has an output; a set of ratings alone has none."""
        return any(text is not None for outputs in self.systems.values() for text in outputs)

    @property
    def grouping(self) -> str:
        """`question` if the segments of each group repeat one input, else `document`."""
        inputs: dict[str, object] = {}
        for at, group in enumerate(self.groups or ()):
            source = "" if self.sources is None else self.sources[at]
            segment_input = source, self.references[at]
            if not any(segment_input) or inputs.setdefault(group, segment_input) != segment_input:
                return "document"
        return "question" if len(inputs) < len(self.groups or ()) else "document"

    @property
    def task_kind(self) -> str | None:
        """The kind of task, also where the outputs are known only to be answers to questions."""
        return self.kind or ("answer" if self.answers_questions else None)

    def passages(self, system: str) -> tuple[tuple[str, ...], ...]:
        """Return the contexts of a system for each segment; empty where there are none."""
        check_known("system", [system], self.systems, self.name)
        contexts = (self.system_contexts or {}).get(system, self.contexts)
        return contexts or ((),) * len(self)

    def segment_contexts(self, at: int) -> Sequence[str] | Mapping[str, Sequence[str]] | None:
        """Return the contexts of a segment for files: a list, or one for each system."""
        if self.system_contexts is not None:
            return {system: texts[at] for system, texts in self.system_contexts.items()}
        return None if self.contexts is None else self.contexts[at]

    def __repr__(self) -> str:
        counts = [f"{len(self.systems):,} systems", f"{len(self):,} segments"]
        if self.judgements:
            names = ", ".join(self.dimensions)
            counts.append(f"{len(self.judgements):,} judgements of {names}")
        return f"<EvalSet {self.name}: {'; '.join(counts)}>"

    @property
    def signature(self) -> str:
        """The set in signatures: its name and the digest of its contents."""
        return f"set:{quote(self.name, safe=' ')}@{self.digest}"

    @cached_property
    def digest(self) -> str:
        """Digest of outputs, judgements and draws."""
        rows = self.judgements
        trees = None if self.trees is None else text_digest(repr(self.trees))
        return data_digest(
            [self.segments, self.groups, self.sources, trees],
            *self.references,
            *self.systems.items(),
            [
                (dimension.name, dimension.better, dimension.low, dimension.high)
                for dimension in self.dimensions.values()
            ],
            [rows.systems, rows.segments, rows.judges, rows.kinds, rows.dimensions],
            *(rows.system, rows.segment, rows.judge, rows.dimension, rows.value),
            None if self.draws is None else [[*draw] for draw in self.draws],
            [[*pair] for pair in self.pairs],
            *(() if self.contexts is None else (["contexts"], *self.contexts)),
            *(
                ()
                if self.system_contexts is None
                else (["contexts"], *self.system_contexts.items())
            ),
        )

    def human(
        self, dimension: str, normalise: str = "none", judges: Iterable[str] | None = None
    ) -> Floats:
        """Return a matrix of systems by segments: the mean over judges, NaN if not judged.

        Values are signed so that higher is better. Models are left out, and adjudicated values
        replace those of people. Identical judges count as one (`identical_judges`). `judges` names
        the judges to use, of any kind.

        With `normalise="z"` the values x of each judge are first replaced by (x - m) / s, where m
        and s are the mean and the standard deviation (n - 1) of the judge's values in this
        dimension. Judges without any variation are left out. The dimension may be a difference of
        two, such as `quality - understandability`.
        """
        if pair := self.difference(dimension):
            first, second = (self.human(part, normalise, judges) for part in pair)
            return _differences(first, second)
        rows = self.ratings(dimension, normalise, judges)
        shape = len(self.systems), len(self)
        size = shape[0] * shape[1]
        cell = rows.system.astype(np.int64) * shape[1] + rows.segment
        count = np.bincount(cell, minlength=size)
        total = np.bincount(cell, weights=rows.value, minlength=size)
        mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
        turned: Floats = self.dimensions[dimension].sign * mean.reshape(shape)
        return turned + 0.0  # no negative zeros

    def ratings(
        self, dimension: str, normalise: str = "none", judges: Iterable[str] | None = None
    ) -> JudgementTable:
        """Return the judgements whose means are the values of `human`, not signed."""
        if normalise not in ("none", "z"):
            raise InputError(f"normalise={quoted(normalise)}: expected 'none' or 'z'")
        self.check_dimension(dimension)
        rows = self.judgements.select_dimension(dimension)
        if judges is None:
            rows = rows.without_models()
        else:
            chosen = list(judges)
            check_known("judge", chosen, self.judgements.judges, self.name)
            rows = rows.select_judges(chosen)
        rows = count_once(rows, self.representatives(dimension))
        if normalise == "z":
            rows = replace(rows, value=_z_by_judge(rows))
        good = np.isfinite(rows.value)
        if judges is None:  # adjudicated values replace other judgements
            cell = rows.system.astype(np.int64) * len(self) + rows.segment
            adjudicated = [i for i, kind in enumerate(rows.kinds) if kind == ADJUDICATED]
            final = np.isin(rows.judge, adjudicated)
            good &= final | ~np.isin(cell, cell[final & good])
        return rows if good.all() else rows.select_rows(good)

    def representatives(self, dimension: str) -> dict[str, str]:
        """Map each judge of a dimension to the first of the judges identical to them.

        Identical judges gave equal values to all outputs they share, and more of them than chance
        explains. They are most likely one judge, stored twice.
        """
        if dimension not in self._representatives:
            rows = self.judgements.select_dimension(dimension)
            self._representatives[dimension] = representatives(rows)
        return self._representatives[dimension]

    def identical_notes(self, dimensions: Iterable[str]) -> tuple[str, ...]:
        """Return a note for each group of identical judges in these dimensions."""
        groups: dict[tuple[str, ...], list[str]] = {}
        parts = (part for name in dimensions for part in self.difference(name) or (name,))
        for dimension in dict.fromkeys(parts):
            counted_as = self.representatives(dimension)
            for first in dict.fromkeys(counted_as.values()):
                twins = tuple(judge for judge, name in counted_as.items() if name == first)
                if len(twins) > 1:
                    groups.setdefault(twins, []).append(dimension)
        return tuple(
            f"Judges {short(', '.join(twins))} gave identical values ({short(', '.join(names))}): "
            "they count as one judge"
            for twins, names in groups.items()
        )

    @property
    def model_judges(self) -> tuple[str, ...]:
        """The names of the judges that are models."""
        return tuple(j for j, kind in self.judgements.judge_kinds.items() if kind == MODEL)

    def rated_by(self, judge: str, dimension: str) -> Floats:
        """Return the values of one judge of any kind: systems by segments, as in `human`."""
        return self.human(dimension, judges=[judge])

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the set for reports that use its human scores."""
        models = self.model_judges
        notes = (*self.remarks, *self.identical_notes(self.dimensions))
        if not models:
            return notes
        subject = "1 model judge is" if len(models) == 1 else f"{len(models):,} model judges are"
        return *notes, f"{subject} left out of the human scores: {short(', '.join(models))}"

    @property
    def human_dimensions(self) -> tuple[str, ...]:
        """The dimensions, without those judged only by models."""
        if not self.model_judges:
            return tuple(self.dimensions)
        people, rows = self.judgements.without_models(), self.judgements
        return tuple(
            d for d in self.dimensions if people.select_dimension(d) or not rows.select_dimension(d)
        )

    def chosen_dimensions(
        self, names: Sequence[str] = (), differences: bool = False
    ) -> tuple[str, ...]:
        """Return the named dimensions, checked, or all with human scores.

        With `differences`, a name may be the difference of two, such as `quality - fluency`.
        Dimensions judged only by models have no human scores and are rejected.
        """
        self.known_dimensions(names, differences)
        by_models = {*self.dimensions} - {*self.human_dimensions}
        parts = (part for name in names for part in self.difference(name) or (name,))
        part_by_models = next((part for part in parts if part in by_models), None)
        if by_models and (part_by_models is not None or not self.human_dimensions):
            of = "" if part_by_models is None else f" of {short(part_by_models)}"
            reason = f"only models judged it ({short(', '.join(self.model_judges))})"
            raise InputError(f"{self.name} has no human scores{of}: {reason}")
        return tuple(names) or self.human_dimensions

    def known_dimensions(
        self, names: Sequence[str] = (), differences: bool = False
    ) -> tuple[str, ...]:
        """Return the named dimensions, or all, including those judged only by models."""
        if not self.dimensions:
            raise InputError(f"{self.name} has no human scores")
        derived = [name for name in names if differences and self.difference(name)]
        for name in names:
            if name not in derived:
                self.check_dimension(name)
        check_known("dimension", names, (*self.dimensions, *derived), self.name)
        return tuple(names) or tuple(self.dimensions)

    def difference(self, dimension: str) -> tuple[str, str] | None:
        """Return the two dimensions of a difference such as `quality - understandability`.

        Return None for a dimension of the set, whatever its name, and for any other text.
        """
        if dimension in self.dimensions:
            return None
        parts = dimension.split(" - ")
        pairs = [(" - ".join(parts[:k]), " - ".join(parts[k:])) for k in range(1, len(parts))]
        matches = [pair for pair in pairs if {*pair} <= {*self.dimensions}]
        if len(matches) > 1:
            problem = f"it is the difference of {len(matches)} pairs of dimensions of {self.name}"
            raise InputError(f"dimension {quoted(dimension)}: {problem}; rename one of them")
        return matches[0] if matches else None

    def check_dimension(self, dimension: str) -> None:
        """Require a dimension of the set."""
        if dimension not in self.dimensions:
            names = short(", ".join(self.dimensions) or "none")
            raise InputError(f"{self.name} has no dimension {quoted(dimension)} (it has {names})")

    def select(
        self,
        *,
        systems: Iterable[str] | None = None,
        segments: Iterable[str] | None = None,
        references: Sequence[int] | None = None,
    ) -> EvalSet:
        """Return a set with these systems and segments, in this order, and some references.

        `references=[0, 2]` keeps the first and third reference of each segment that has them.
        """
        system_names = list(self.systems if systems is None else systems)
        segment_ids = list(self.segments if segments is None else segments)
        check_known("system", system_names, self.systems, self.name)
        check_known("segment", segment_ids, self.segments, self.name)
        if not system_names or not segment_ids:
            raise InputError(f"{self.name}: nothing was selected: at least one system and segment")
        if any(i < 0 for i in references or ()):
            raise InputError(f"{self.name}: references={references}: they are numbered from 0")
        index_of_segment = {name: i for i, name in enumerate(self.segments)}
        indices = [index_of_segment[name] for name in segment_ids]
        groups = None if self.groups is None else tuple(self.groups[i] for i in indices)
        places = range(max(map(len, self.references))) if references is None else references
        rows = self.judgements.select_items(system_names, segment_ids)
        rows, pairs = select_pairs(rows, self.pairs)
        return replace(
            self,
            segments=tuple(segment_ids),
            groups=groups,
            sources=None if self.sources is None else tuple(self.sources[i] for i in indices),
            references=_select_references(self.references, indices, places),
            trees=self.trees and _select_references(self.trees, indices, places),
            contexts=self.contexts and tuple(self.contexts[i] for i in indices),
            system_contexts=self.system_contexts
            and {
                name: tuple(self.system_contexts[name][i] for i in indices) for name in system_names
            },
            systems={name: tuple(self.systems[name][i] for i in indices) for name in system_names},
            judgements=rows,
            pairs=pairs,
            draws=select_draws(self.draws, segment_ids, groups),
            left_out=(self.left_out | {*self.segments}) - {*segment_ids},
        )

    def without(self, *systems: str) -> EvalSet:
        """Return the set without these systems."""
        check_known("system", systems, self.systems, self.name)
        return self.select(systems=[name for name in self.systems if name not in systems])

    def with_scores(
        self,
        name: str,
        scores: Mapping[str, object],
        systems: Mapping[str, float] | None = None,
    ) -> EvalSet:
        """Return the set with scores of another metric, `given:metric=NAME`.

        `scores` and `systems` are as for `karat.external_scores`.
        """
        make_scores = partial(make_given_scores, f"scores of {name}", scores, systems)
        make_scores()  # raises if a score is invalid
        return replace(self, offered={**self.offered, name: make_scores})

    def with_judgements(
        self,
        judgements: str | os.PathLike[str] | Iterable[Judgement | tuple[str, str, str, str, float]],
        *,
        judge_kinds: Mapping[str, str] = MappingProxyType({}),
        dimensions: Iterable[Dimension | str] = (),
    ) -> EvalSet:
        """Return the set with further judgements.

        A judgement that the set has already must have the same value. A dimension that the set does
        not have is added; higher is better unless `dimensions` has it.

        Args:
            judgements: a file of judgements (see `load_evalset`), or rows.
            judge_kinds: `person`, `model` or `adjudicated` by judge.
            dimensions: dimensions of the judgements that the set does not have.
        """
        from karat.evalset.additions import with_judgements

        return with_judgements(self, judgements, judge_kinds, dimensions)

    def texts(self) -> tuple[dict[str, list[str]], list[list[str]] | References]:
        """Return the systems and references for `score`; raise if an output is missing."""
        return self.outputs(), self.given_references()

    def check_texts(self) -> None:
        """Raise if the set has human or other scores alone, without any output."""
        if not self.has_texts:
            raise InputError(
                f"{self.name} has ratings or scores and no texts: this needs the outputs of "
                "systems; add them"
            )

    def outputs(self) -> dict[str, list[str]]:
        """Return the outputs of all systems; raise if one is missing."""
        self.check_texts()
        complete = {}
        for system, outputs in self.systems.items():
            missing = [i for i, text in enumerate(outputs) if text is None]
            if missing:
                raise InputError(
                    f"{self.name}: system {short(system)} has no output for {len(missing):,} of "
                    f"{len(self):,} segments (the first is {short(self.segments[missing[0]])}): a "
                    "score over all segments needs every output; leave the system out, select "
                    "segments, or leave out incomplete segments of a table (--skip-missing, in "
                    "Python skip_missing=True)"
                )
            complete[system] = [text for text in outputs if text is not None]
        return complete

    def filled_outputs(self) -> dict[str, list[str]]:
        """Return the outputs of all systems, with empty texts for missing ones."""
        return {name: [text or "" for text in texts] for name, texts in self.systems.items()}

    def given_ids(self) -> tuple[str, ...] | None:
        """Return the ids of the segments; None if they are numbers from 1."""
        numbers = tuple(str(i) for i in range(1, len(self) + 1))
        return None if self.segments == numbers else self.segments

    def given_references(self) -> list[list[str]] | References:
        """Return references for metrics, with their trees; raise if a segment has none."""
        self.check_texts()
        bare = [s for s, group in zip(self.segments, self.references, strict=True) if not group]
        if bare:
            number = f"{len(bare):,} of {len(self):,} segments have"
            raise InputError(
                f"{self.name}: {number} no reference, the first is {quoted(bare[0])}: metrics need "
                "at least one for each; add them, select other segments, or leave out these of a "
                "table (--skip-missing, in Python skip_missing=True)"
            )
        groups = [list(group) for group in self.references]
        return groups if self.trees is None else TextWithTrees(groups, self.trees)


def _select_references(
    by_segment: Sequence[tuple[T, ...]],
    segment_indices: Sequence[int],
    reference_indices: Sequence[int],
) -> tuple[tuple[T, ...], ...]:
    """Return these references of these segments; skip references that a segment lacks."""
    return tuple(
        tuple(by_segment[i][k] for k in reference_indices if k < len(by_segment[i]))
        for i in segment_indices
    )


def _differences(first: Floats, second: Floats) -> Floats:
    """Return first - second, with equal values for equal differences: 1.1 - 1 is 2.1 - 2."""
    differences = first - second
    sizes = np.abs(np.stack([first, second]))
    slack = SLACK * float(np.max(sizes, initial=0, where=~np.isnan(sizes)))
    values, places = np.unique(differences, return_inverse=True)  # sorted, NaN last
    starts = np.diff(values, prepend=-np.inf) > slack
    starts[np.isnan(values)] = True
    chosen = np.maximum.accumulate(np.where(starts, np.arange(len(values)), 0))
    equal: Floats = values[chosen][places].reshape(differences.shape)
    return equal


def _z_by_judge(rows: JudgementTable) -> Floats:
    """Return (x - m) / s with each judge's m and s; NaN for judges without variation."""
    value = np.full(len(rows), np.nan)
    for judge in range(len(rows.judges)):
        of_judge = rows.judge == judge
        judge_values = rows.value[of_judge]
        if len(judge_values) > 1 and judge_values.min() < judge_values.max():
            value[of_judge] = (judge_values - judge_values.mean()) / judge_values.std(ddof=1)
    return value


MAX_LISTED_NAMES = 30


def check_known(kind: str, names: Iterable[str], existing: Iterable[str], subject: str) -> None:
    """Raise unless every name exists and is given once."""
    from difflib import get_close_matches

    existing_names, names_so_far = dict.fromkeys(existing), set[str]()
    for name in names:
        if name not in existing_names:
            close = get_close_matches(str(name), existing_names, n=1)
            is_short = len(existing_names) <= MAX_LISTED_NAMES
            listing = f" (it has {', '.join(existing_names) or 'none'})" if is_short else ""
            hint = f"; did you mean {close[0]}?" if close else listing
            raise InputError(f"{subject} has no {kind} {quoted(name)}{hint}")
        if name in names_so_far:
            raise InputError(f"{subject}: {kind} {quoted(name)} is named twice")
        names_so_far.add(name)
