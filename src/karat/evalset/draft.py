"""Drafts of evaluation sets: every set is checked here, whatever its format."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.draws import Draw, check_set_draws
from karat.evalset.judgements import (
    Dimension,
    GivenJudgement,
    Judgement,
    JudgementTable,
    check_pairs,
    kind_problem,
    win_shares,
)
from karat.evalset.reading import Location, Reading, is_name, parse_number
from karat.evalset.sets import EvalSet, check_known
from karat.score_settings import TASK_KINDS
from karat.text.trees import Tree


class EvalSetDraft:
    """Collects the contents of a set, records problems, and builds an `EvalSet`."""

    def __init__(
        self,
        name: str,
        segments: Sequence[str],
        systems: Mapping[str, Sequence[str | None]],
        *,
        reading: Reading,
        location: Location,
        references: Sequence[Sequence[str]] | None = None,
        groups: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        dimensions: Iterable[Dimension | str] = (),
        description: str = "",
        licence: str = "",
        remarks: Sequence[str] = (),
        trees: Sequence[Sequence[Tree]] | None = None,
        contexts: Contexts | None = None,
        without_texts: bool = False,
        kind: str = "",
    ) -> None:
        self.without_texts = without_texts
        """True for judgements of outputs whose texts are unknown."""
        self.contexts, self.system_contexts = _parse_contexts(contexts, systems, len(segments))
        self.name, self.description, self.licence = name, description, licence
        self.remarks = tuple(remarks)
        self.reading, self.location = reading, location
        self.task_kind = kind
        if kind and kind not in TASK_KINDS:
            expected = ", ".join(TASK_KINDS)
            self._problem(f"found the kind of task {quoted(kind)}, expected one of {expected}")
        self.segments = tuple(segments)
        self.groups = None if groups is None else tuple(groups)
        self.sources = None if sources is None else tuple(sources)
        parsed = tuple(tuple(group) for group in trees or ())
        self.trees = parsed if any(parsed) else None
        words = [[str(tree) for tree in group] for group in self.trees or ()]
        texts = (words or [[]] * len(self.segments)) if references is None else references
        self.references = tuple(tuple(group) for group in texts)
        self.systems = {name: tuple(outputs) for name, outputs in systems.items()}
        self.dimensions: dict[str, Dimension] = {}
        for item in dimensions:
            dimension = Dimension(item) if isinstance(item, str) else item
            if dimension.name in self.dimensions:
                self._problem(f"dimension {quoted(dimension.name)} is given twice")
            self.reading.check_name("dimension", dimension.name, location)
            self.dimensions[dimension.name] = dimension
        self._check_texts()
        if self.trees is not None:
            self._check_trees(self.trees)
        self._system, self._segment, self._dimension = (
            {name: i for i, name in enumerate(names)}
            for names in (self.systems, self.segments, self.dimensions)
        )
        self.draws: Sequence[tuple[Location, Draw]] | None = None
        self._judge: dict[str, int] = {}
        self._kinds: dict[str, str] = {}
        self._rows = tuple(array("i") for _ in range(4))
        self._values = array("d")
        self._places: list[Location] = []
        self._compared: list[GivenJudgement] = []

    def _problem(self, sentence: str) -> None:
        self.reading.problem(self.location, sentence)

    def _check_texts(self) -> None:
        if not self.segments:
            self._problem("no segments: expected at least one")
        if not self.systems:
            self._problem("no systems: expected at least one")
        first: dict[str, int] = {}
        for i, segment in enumerate(self.segments, 1):
            self.reading.check_name("segment", segment, self.location)
            if (earlier := first.setdefault(segment, i)) != i:
                self._problem(f"segments {earlier} and {i} have the same id {quoted(segment)}")
        for system, outputs in self.systems.items():
            self.reading.check_name("system", system, self.location)
            self._check_column(f"system {short(system)}", outputs, missing=True)
        for title, column in (("groups", self.groups), ("sources", self.sources)):
            if column is not None:
                self._check_column(title, column)
        for group in dict.fromkeys(self.groups or ()):
            self.reading.check_name("group", group, self.location)
        if len(self.references) != len(self.segments):
            count, expected = len(self.references), len(self.segments)
            self._problem(f"references: found {count:,} segments, expected {expected:,}")
        self._check_lists("references", self.references)
        self._check_contexts()

    def _check_contexts(self) -> None:
        contexts_by_title = {} if self.contexts is None else {"contexts": self.contexts}
        for name, contexts in (self.system_contexts or {}).items():
            contexts_by_title[f"contexts of {short(name)}"] = contexts
            if name not in self.systems:
                self._problem(f"contexts of system {quoted(name)}, which is not in the set")
        for title, contexts in contexts_by_title.items():
            if len(contexts) != len(self.segments):
                count, expected = len(contexts), len(self.segments)
                self._problem(f"{title}: found {count:,} segments, expected {expected:,}")
            self._check_lists(title, contexts)

    def _check_lists(self, title: str, texts_by_segment: Sequence[Sequence[object]]) -> None:
        for i, texts in enumerate(texts_by_segment, 1):
            for text in texts:
                if not isinstance(text, str):
                    kind = type(text).__name__
                    self._problem(f"{title} of segment {i}: found {kind}, expected str")

    def _check_trees(self, trees: Sequence[Sequence[object]]) -> None:
        """Record trees that do not match the references or cannot be written as CoNLL-U."""
        if len(trees) != len(self.segments):
            count, expected = len(trees), len(self.segments)
            self._problem(f"trees: found {count:,} segments, expected {expected:,}")
        for i, (group, texts) in enumerate(zip(trees, self.references, strict=False), 1):
            if len(group) != len(texts):
                problem = f"found {len(group)}, expected {len(texts)}, one for each reference"
                self._problem(f"trees of segment {i}: {problem}")
            for tree in group:
                problem = ""
                if not isinstance(tree, Tree):
                    problem = f"found {type(tree).__name__}, expected a Tree"
                elif bad := [word for word in tree.words if not is_name(word)]:
                    expected_words = "words of at least one character, without tabs and line ends"
                    problem = f"found the word {quoted(bad[0])}, expected {expected_words}"
                elif tree.id != tree.id.strip() or (tree.id and not is_name(tree.id)):
                    problem = f"found the id {quoted(tree.id)}, expected no tabs, line ends and "
                    problem += "outer spaces"
                if problem:
                    self._problem(f"trees of segment {i}: {problem}")

    def _check_column(self, title: str, column: Sequence[object], missing: bool = False) -> None:
        if len(column) != len(self.segments):
            expected = f"{len(self.segments):,}, one per segment"
            self._problem(f"{title}: found {len(column):,}, expected {expected}")
        allowed = (str, type(None)) if missing else (str,)
        bad = next((i for i, text in enumerate(column) if not isinstance(text, allowed)), None)
        if bad is not None:
            kind = type(column[bad]).__name__
            self._problem(f"{title}, segment {bad + 1}: found {kind}, expected str")

    def judge(
        self,
        system: str,
        segment: str,
        judge: str,
        dimension: str,
        value: object,
        location: Location | None = None,
        kind: str = "",
        other: str = "",
    ) -> None:
        """Add a judgement; record an invalid one as a problem and skip it.

        With `other`, the judgement compares the output with that of another system.
        """
        row_location = self.location if location is None else location
        item = system, segment, judge, dimension
        number, problem = parse_number(value), self._item_problem(*item)
        if other:
            problem = problem or self._item_problem(other, segment, judge, dimension)
        if number is None or problem:
            no_number = f"found the value {quoted(value)}, expected a finite number"
            self.reading.problem(row_location, problem or no_number)
            return
        if kind:
            self.kind(judge, kind, row_location)
        if other:
            row = GivenJudgement(*item, value, row_location, other=other)
            self._compared.append(row)
            return
        by = self._judge.setdefault(judge, len(self._judge))
        at = self._system[system], self._segment[segment], by, self._dimension[dimension]
        for column, index in zip(self._rows, at, strict=True):
            column.append(index)
        self._values.append(number)
        self._places.append(row_location)

    def kind(self, judge: str, kind: str, location: Location) -> None:
        """Set the kind of a judge; each judge has one kind."""
        problem, first = kind_problem(kind), self._kinds.setdefault(judge, kind)
        if not problem and first != kind:
            conflict = f"judge {quoted(judge)} is of the kind {kind} here and {first} before"
            problem = f"{conflict}: expected one kind for each judge"
        if problem:
            self.reading.problem(location, problem)

    def _item_problem(self, system: str, segment: str, judge: str, dimension: str) -> str:
        """Describe why a judgement of an output is invalid; "" if it is valid."""
        if system not in self._system:
            return f"a judgement of system {quoted(system)}, which is not in the set"
        if segment not in self._segment:
            return f"a judgement of segment {quoted(segment)}, which is not in the set"
        if dimension not in self._dimension:
            advice = f"which is not declared ({short(', '.join(self.dimensions) or 'none')})"
            return f"a judgement of dimension {quoted(dimension)}, {advice}"
        outputs, index = self.systems[system], self._segment[segment]
        if not self.without_texts and index < len(outputs) and outputs[index] is None:
            output = f"system {quoted(system)} on segment {quoted(segment)}"
            return f"a judgement of {output}, which has no output"
        if not is_name(judge):
            return f"found the judge {quoted(judge)}, expected a name without tabs and line ends"
        return ""

    def finish(self) -> EvalSet:
        """Build the set; raise the first problem, if any."""
        pairs = [*check_pairs(self._compared, self.dimensions, self.reading)]
        for row in win_shares(pairs):
            self.judge(*row)
        names = tuple(self.systems), self.segments, tuple(self._judge), tuple(self.dimensions)
        system, segment, judge, dimension = (np.array(c, dtype=np.int32) for c in self._rows)
        values = np.array(self._values, dtype=np.float64)
        kinds = tuple(self._kinds.get(name, "") for name in self._judge)
        judgements = JudgementTable(*names, system, segment, judge, dimension, values, kinds)
        self._check_twice(judgements)
        draws = None
        if self.draws is not None:
            draws = check_set_draws(self.draws, self.segments, self.groups, self.reading) or None
        self.reading.check()
        return EvalSet(
            self.name,
            *(self.segments, self.groups, self.sources, self.references, self.systems),
            *(judgements, self.dimensions, self.description, self.licence, self.remarks),
            self.trees,
            draws=draws,
            pairs=tuple(pair for _, pair in pairs),
            contexts=self.contexts,
            kind=self.task_kind,
            system_contexts=self.system_contexts,
        )

    def _check_twice(self, rows: JudgementTable) -> None:
        """Record repeated judgements of an output by the same judge and dimension."""
        columns = rows.dimension, rows.judge, rows.segment, rows.system
        order = np.lexsort(columns)  # stable: of two equal rows, the earlier comes first
        is_repeated = np.ones(max(len(order) - 1, 0), dtype=bool)
        for column in columns:
            ordered = column[order]
            is_repeated &= ordered[1:] == ordered[:-1]
        for i in np.flatnonzero(is_repeated).tolist():
            first, again = int(order[i]), int(order[i + 1])
            row = rows[again]
            self.reading.problem(
                self._places[again],
                f"judge {quoted(row.judge)} has judged {short(row.dimension)} of system "
                f"{quoted(row.system)} on segment {quoted(row.segment)} already "
                f"({self._places[first]})",
            )


Passages = Sequence[str | Sequence[str]]
"""For each segment the passages that a system was given, or a single one."""
Contexts = Passages | Mapping[str, Passages]
"""The passages of all systems, or those of each system by its name."""


def _parse_contexts(
    contexts: Contexts | None, systems: Iterable[str], count: int
) -> tuple[tuple[tuple[str, ...], ...] | None, dict[str, tuple[tuple[str, ...], ...]] | None]:
    """Return the contexts of all systems, or else those by system; a missing system has none."""
    if contexts is None:
        return None, None
    if not isinstance(contexts, Mapping):
        return _passages(contexts), None
    names = dict.fromkeys([*systems, *contexts])
    by_system = {name: _passages(contexts.get(name, [()] * count)) for name in names}
    return None, by_system


def contexts_by_system(rows: Iterable[tuple[Location, Any]], reading: Reading) -> Contexts:
    """Return the contexts of segments in a file: a list each, or an object with one by system."""
    values: list[Any] = []
    for location, value in rows:
        lists = value.values() if isinstance(value, dict) else [value]
        wrong = next((x for x in lists if not isinstance(x, list)), None)
        if wrong is not None:
            expected = "expected a JSON array of texts, or an object with one for each system"
            reading.problem(location, f"found the contexts {quoted(str(wrong))}, {expected}")
        values.append([] if wrong is not None else value)
    systems = dict.fromkeys(chain.from_iterable(v for v in values if isinstance(v, dict)))
    if not systems:
        return [value or [] for value in values]
    return {
        system: [v.get(system, []) if isinstance(v, dict) else v for v in values]
        for system in systems
    }


def _passages(contexts: Passages) -> tuple[tuple[str, ...], ...]:
    return tuple((group,) if isinstance(group, str) else tuple(group) for group in contexts)


def make_evalset(
    name: str,
    systems: Mapping[str, Sequence[str | None]],
    *,
    references: Sequence[str | Sequence[str]] | None = None,
    trees: Sequence[Tree | Sequence[Tree]] | None = None,
    segments: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    judgements: Iterable[Judgement | tuple[str, str, str, str, float]] = (),
    dimensions: Iterable[Dimension | str] = (),
    judge_kinds: Mapping[str, str] = MappingProxyType({}),
    draws: Iterable[Draw] | None = None,
    contexts: Contexts | None = None,
    description: str = "",
    licence: str = "",
    kind: str = "",
) -> EvalSet:
    """Return an evaluation set from Python lists, checked.

    Args:
        name: name of the set.
        systems: outputs by system.
        references: for each segment a string or several strings.
        trees: for each segment a tree or several, one for each reference. Without `references`, the
            words of the trees are the references.
        segments: ids; by default `1`, `2` and so on.
        groups, sources: group and source text of each segment.
        judgements: human scores.
        dimensions: dimensions, or their names if higher is better.
        judge_kinds: `person`, `model` or `adjudicated` by judge; others count as people.
        draws: how segments or groups were drawn for judging.
        contexts: for each segment the passages that systems were given, or a single one; or such
            lists by system, if systems were given different ones.
        description, licence: texts about the set.
        kind: kind of task: `translation`, `summary`, `answer` or `data-to-text`.
    """
    for system, texts in systems.items():
        if isinstance(texts, str | bytes):
            problem = f"system {short(system)} is one {type(texts).__name__}"
            raise InputError(f"{problem}: give a list with one string per segment")
    outputs = {system: tuple(texts) for system, texts in systems.items()}
    count = len(next(iter(outputs.values()), ()))
    ids = [str(i) for i in range(1, count + 1)]
    draft = EvalSetDraft(
        *(name, ids if segments is None else segments, outputs),
        reading=Reading(),
        location=name,
        references=None
        if references is None
        else [[group] if isinstance(group, str) else group for group in references],
        groups=groups,
        sources=sources,
        dimensions=dimensions,
        description=description,
        licence=licence,
        kind=kind,
        trees=None
        if trees is None
        else [[group] if isinstance(group, Tree) else group for group in trees],
        contexts=contexts,
    )
    for row in number_rows(judgements, f"{name}, judgements"):
        draft.judge(*row)
    if draws is not None:
        draft.draws = [(f"{name}, draws[{i}]", draw) for i, draw in enumerate(draws)]
    for judge, judge_kind in judge_kinds.items():
        draft.kind(judge, judge_kind, f"{name}, judge_kinds")
    evalset = draft.finish()
    check_known("judge", judge_kinds, evalset.judgements.judges, name)
    return evalset


def number_rows(rows: Iterable[Any], subject: str) -> Iterator[GivenJudgement]:
    """Yield judgements from rows, each with its location; reject other values."""
    for i, row in enumerate(rows):
        location = f"{subject}[{i}]"
        if not isinstance(row, tuple | list) or len(row) != len(Judgement._fields):
            expected = ", ".join(Judgement._fields)
            raise InputError(f"{location}: found {quoted(row)}, expected ({expected})")
        yield GivenJudgement(*Judgement(*row), location)
