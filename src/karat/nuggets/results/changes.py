"""`diff_nuggets`: nuggets that a new version of a system gained, lost and kept, with a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.nuggets.formats.loading import as_nuggets
from karat.nuggets.prediction.intervals import Significance, paired_significance
from karat.nuggets.results.scoring import NuggetScoring, ScoredRun, about_skipped, score_nuggets
from karat.nuggets.scores.decisions import GUESS, JUDGEMENT, LABEL, NO_RESPONSE, NOTHING
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.sets.judgements import EVIDENCE
from karat.nuggets.sets.nugget_set import NuggetSet, first_names, remarks
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import NamedSettings

GAINED, LOST, KEPT, MISSED = "gained", "lost", "kept", "missed"
KINDS = (GAINED, LOST, KEPT, MISSED)
_KINDS = {(False, True): GAINED, (True, False): LOST, (True, True): KEPT, (False, False): MISSED}


class ChangeRow(NamedTuple):
    """A nugget in both versions: the responses that get the credit, and the sources."""

    change: str
    question: str
    nugget: str
    importance: str
    description: str
    old_response: str  # empty if no response carries the nugget
    new_response: str
    old_by: str  # source: a judgement, a guess, or nothing
    new_by: str
    old_p: float | None = None
    """If guesses decide: the highest probability of any unjudged response to carry it."""
    new_p: float | None = None
    old_contradiction: str | None = None
    """If no response carries it: the fact that lowered a guess, `numbers: nugget 17, output 71`."""
    new_contradiction: str | None = None

    @property
    def by(self) -> str:
        """The weaker of the two sources."""
        sources = self.old_by, self.new_by
        return next(by for by in (NOTHING, LABEL, GUESS, JUDGEMENT, NO_RESPONSE) if by in sources)


class CountRow(NamedTuple):
    """Numbers of nuggets that were gained, lost, kept or missed."""

    change: str
    vital: int
    okay: int


class QuestionChange(NamedTuple):
    """F and A of one question; a question without weight has no F."""

    question: str
    old_A: float  # noqa: N815
    new_A: float  # noqa: N815
    delta_A: float  # noqa: N815
    old: float | None = None
    new: float | None = None
    delta: float | None = None


_UNSURE = {
    NOTHING: "rest on responses that nobody judged for the nugget, which count as not carrying "
    'it ("nothing" decides)',
    GUESS: "rest on guesses, which may be wrong",
    LABEL: "rest on labels of a model, which may be wrong",
}


@dataclass(frozen=True, eq=False, repr=False)
class NuggetChanges(Result):
    """Nuggets gained and lost between two versions, and the scores of both."""

    scoring: NuggetScoring  # the old version, and the new one
    everything: bool = False  # True if `rows` includes nuggets that were kept and missed
    remarks: tuple[str, ...] = ()

    @cached_property
    def all(self) -> tuple[ChangeRow, ...]:
        """Every nugget, in the order of the key."""
        rows = []
        for id, question in self.scoring.nuggets.key.questions.items():
            versions = [self._nuggets(version, id) for version in self.scoring.scored]
            for nugget, old, new in zip(question.nuggets, *versions, strict=True):
                _, texts, sources, chances, contradictions = zip(old, new, strict=True)
                rows.append(
                    ChangeRow(
                        change=_KINDS[old[0], new[0]],
                        question=id,
                        nugget=nugget.id,
                        importance=nugget.importance,
                        description=nugget.descriptions[0],
                        old_response=texts[0],
                        new_response=texts[1],
                        old_by=sources[0],
                        new_by=sources[1],
                        old_p=chances[0],
                        new_p=chances[1],
                        old_contradiction=contradictions[0],
                        new_contradiction=contradictions[1],
                    )
                )
        return tuple(rows)

    def _nuggets(
        self, version: ScoredRun, question: str
    ) -> Iterator[tuple[bool, str, str, float | None, str | None]]:
        """Yield for each nugget whether it is carried, by which response, the source, and p.

        The last value is the fact in which the version contradicts the nugget.
        """
        answer, responses = version.decisions[question], version.run.responses(question)
        for j, credit in enumerate(answer.credit(self.scoring.official_settings.strict)):
            text, by = "" if credit is None else responses[credit].text, answer.by(j, credit)
            p = self.scoring.guess_probability(version, question, j) if by == GUESS else None
            contradiction = self.scoring.contradiction(version, question, j, credit)
            yield credit is not None, text, by, p, contradiction

    @property
    def rows(self) -> tuple[ChangeRow, ...]:
        """Nuggets gained, then those lost; with `everything` also those kept and missed."""
        kinds = KINDS if self.everything else (GAINED, LOST)
        return tuple(row for kind in kinds for row in self.all if row.change == kind)

    @property
    def counts(self) -> tuple[CountRow, ...]:
        """Numbers of nuggets gained, lost, kept and missed."""
        kinds = [(row.change, row.importance) for row in self.all]
        return tuple(
            CountRow(kind, *(kinds.count((kind, importance)) for importance in ("vital", "okay")))
            for kind in KINDS
        )

    def differences(self, score: str = "F") -> dict[str, tuple[float, float]]:
        """Return the old and the new score (F, A, V or W) of each question that has it."""
        before, after = (version.by_question(score) for version in self.scoring.scored)
        return {id: (old, after[id]) for id, old in before.items()}

    @property
    def questions(self) -> tuple[QuestionChange, ...]:
        """F, where there is one, and A of each question."""
        f = {id: (old, new, new - old) for id, (old, new) in self.differences().items()}
        return tuple(
            QuestionChange(id, old, new, new - old, *f.get(id, ()))
            for id, (old, new) in self.differences("A").items()
        )

    def significance(self, score: str = "F") -> Significance:
        """Test whether the mean score differs, with an interval of the difference."""
        margins = self.scoring.margins(score)
        margins_of_versions = margins[0], margins[1]
        pairs = [*self.differences(score).values()]
        return paired_significance(score, pairs, margins_of_versions, self.scoring.untested_reason)

    @cached_property
    def tests(self) -> tuple[Significance, ...]:
        """Tests of F and of A."""
        return self.significance("F"), self.significance("A")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the scores."""
        return self.scoring.settings

    @property
    def signature(self) -> str:
        """The signature of the scores."""
        return self.scoring.signature

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """The tests in words, the basis of the changes, and remarks on both versions."""
        changed = [row for row in self.all if row.change in (GAINED, LOST)]
        counts = {by: sum(row.by == by for row in changed) for by in _UNSURE}
        changes = f"of {len(changed):,} changes"
        unsure = [f"{count:,} {changes} {_UNSURE[by]}." for by, count in counts.items() if count]
        skipped = about_skipped(self.scoring.scored[1].official_score.skipped)
        remarks = dict.fromkeys([*self.remarks, *self.scoring.about_guesses])
        return (*map(str, self.tests), *unsure, *skipped, *remarks)


def diff_nuggets(
    old: NuggetSet | GivenPath,
    new: NuggetSet | GivenPath,
    official_settings: OfficialSettings | None = None,
    *,
    names: Sequence[str] = ("old", "new"),
    guess: bool = True,
    classifier: NamedSettings | str | None = None,
    corrected: bool = True,
    general: bool = False,
    labels: str = EVIDENCE,
    everything: bool = False,
    progress: Progress = silent,
) -> NuggetChanges:
    """Compare two versions of a system, nugget by nugget.

    Args:
        old, new: sets with the same key and one run each; the judgements of `old` are used.
        names: names of the versions if their runs have the same tag.
        everything: also list nuggets that both or neither version has.
        official_settings, guess, classifier, corrected, general, labels: as for `score_nuggets`.
        progress: function that is called with the progress.
    """
    old, new = as_nuggets(old, progress), as_nuggets(new, progress)
    for name, nuggets in zip(names, (old, new), strict=True):
        if len(nuggets.runs) != 1:
            tags = f" ({first_names(nuggets.runs, 5)})" if nuggets.runs else ""
            raise InputError(
                f"{name} holds {len(nuggets.runs)} runs{tags}, "
                "expected one: give each its own file, or name tags of runs that come with the key"
            )
    versions = [*old.runs.values(), *new.runs.values()]
    if names[0] == names[1]:
        names = f"{names[0]} (old)", f"{names[1]} (new)"
    runs = versions
    if versions[0].tag == versions[1].tag:
        runs = [replace(run, tag=name) for run, name in zip(versions, names, strict=True)]
    done = score_nuggets(
        replace(old, runs={run.tag: run for run in runs}),
        official_settings,
        guess=guess,
        classifier=classifier,
        corrected=corrected,
        general=general,
        labels=labels,
        judged_as={run.tag: judged.tag for run, judged in zip(runs, versions, strict=True)},
        progress=progress,
    )
    all_remarks = tuple(
        note
        for nuggets in (old, new)
        for note in remarks(nuggets, corrected=corrected, labels=labels)
    )
    return NuggetChanges(done, everything, all_remarks)
