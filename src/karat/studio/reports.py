"""The reports of a project as it is now: those of Karat's commands, on the set in memory.

What computes them is imported when a report is asked for, so that the studio starts at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from karat.errors import InputError, quoted
from karat.results import Result
from karat.studio.browsing import segment
from karat.studio.export.contents import Contents, masked, read_contents
from karat.studio.export.sets import NUGGETS, evalset_of, nuggets_of
from karat.studio.export.values import WIN, dimensions_of
from karat.studio.live.state import Version, version_in
from karat.studio.live.statistics import PAIRS, pairs_of, without_pairs
from karat.studio.store.projects import REVEALED, Project, project
from karat.studio.store.store import Store

METRICS = ("bleu", "chrf", "ter", "gtm:e=2")
_AGREEMENT = "How well assessors agree, and who stands apart."
_SCORES = "The score of each system with its interval, and which systems differ."
_COMPARED = "Whether the systems differ in metrics, with examples."
_TRUSTED = "Which metric agrees best with the assessors."
_PLANE = "Which settings of AEv agree best with the assessors."
_METRIC = (_COMPARED, _TRUSTED, _PLANE)
_RUNS = "How many nuggets each run covers, and which it misses."


class Report(NamedTuple):
    """A page that can be asked for."""

    name: str
    """The last part of its address."""
    title: str
    answers: str
    """Sentence that says what its reader learns."""
    tells: bool
    """Whether it tells which systems lead, under pseudonyms before the reveal."""
    make: Callable[[Contents], Result]


def reports(store: Store) -> list[Report]:
    """Return the reports that a project has; metrics need a reference of every segment."""
    found = project(store)
    every = [*_of_ratings(found), *_of_nuggets(found)]
    return every if has_references(store) else [one for one in every if one.answers not in _METRIC]


def has_references(store: Store) -> bool:
    """Return whether every segment has a reference."""
    lacking = "SELECT 1 FROM item WHERE NOT calibration AND refs = '[]' LIMIT 1"
    with store.read() as connection:
        return connection.execute(lacking).fetchone() is None


def _of_ratings(found: Project) -> Iterator[Report]:
    dimensions = [one.name for one in dimensions_of(found.settings)]
    if not dimensions:
        return
    if dimensions != [WIN.name]:
        yield Report("agreement", "Agreement of assessors", _AGREEMENT, False, _agreement)
    if PAIRS in found.settings.tasks:
        yield Report("pair-agreement", "Agreement on pairs", _AGREEMENT, False, _pair_agreement)
    for k, name in enumerate(dimensions, 1):
        title = f"Estimated scores: {name}"
        yield Report(f"estimate-{k}", title, _SCORES, True, partial(_estimate, dimension=name))
    yield Report("compare", "Comparison of systems by metrics", _COMPARED, True, _compare)
    yield Report("meta", "Metrics against assessors", _TRUSTED, True, _meta)
    for k, name in enumerate(dimensions, 1):
        title, make = f"Plane of AEv: {name}", partial(_plane, dimension=name)
        yield Report(f"plane-{k}", title, _PLANE, True, make)


def _of_nuggets(found: Project) -> Iterator[Report]:
    if NUGGETS in found.settings.tasks:
        yield Report(
            "nugget-agreement", "Agreement on nuggets", _AGREEMENT, False, _nugget_agreement
        )
        yield Report("nugget-scores", "Nugget scores of runs", _RUNS, True, _nugget_scores)


def _agreement(contents: Contents) -> Result:
    from karat.meta.judge_agreement import judge_agreement

    return judge_agreement(evalset_of(without_pairs(contents)))


def _pair_agreement(contents: Contents) -> Result:
    from karat.meta.judge_agreement import judge_agreement

    return judge_agreement(pairs_of(contents))


def _estimate(contents: Contents, dimension: str) -> Result:
    from karat.estimation.estimates import estimate

    return estimate(evalset_of(contents), dimension)


def _compare(contents: Contents) -> Result:
    from karat.api import compare

    return compare(evalset_of(contents), metrics=METRICS, examples=3)


def _meta(contents: Contents) -> Result:
    from karat.meta.evaluation import meta_evaluate
    from karat.meta.experiment import Experiment

    return meta_evaluate(Experiment(contents.project.name, METRICS), evalset_of(contents))


def _plane(contents: Contents, dimension: str) -> Result:
    from karat.meta.plane import fit_plane

    return fit_plane(evalset_of(contents), dimension)


def _nugget_agreement(contents: Contents) -> Result:
    from karat.meta.judge_agreement import judge_agreement

    return judge_agreement(nuggets_of(contents))


def _nugget_scores(contents: Contents) -> Result:
    from karat.nuggets.results.scoring import score_nuggets

    return score_nuggets(nuggets_of(contents), details=True)


def find_report(store: Store, name: str) -> Report:
    """Return a report by its name."""
    for one in reports(store):
        if one.name == name:
            return one
    raise InputError(f"there is no report {quoted(name)}")


_KEPT: WeakKeyDictionary[Store, dict[str, tuple[Version, str]]] = WeakKeyDictionary()
_ONE_AT_A_TIME = threading.Lock()


def report_page(store: Store, report: Report) -> str:
    """Return the page of a report, made once for each version of the store."""
    with store.read() as connection:
        version = version_in(connection)
    with _ONE_AT_A_TIME:  # two cores judge and compute: reports wait for each other
        kept = _KEPT.setdefault(store, {})
        known = kept.get(report.name)
        if known is None or known[0] != version:
            known = version, report.make(_contents(store)).render("html")
            kept[report.name] = known
        return known[1]


def _contents(store: Store) -> Contents:
    """Return all contents, with pseudonyms of systems before the reveal."""
    found = read_contents(store, anonymous=True)
    if found.project.state == REVEALED:
        return found
    return replace(found, outputs=masked(found.outputs, found.project))


def explanation_page(store: Store, item: int, output: int) -> str:
    """Return the page that explains an output: its grid and edits against the references."""
    from karat.explanation import explain_segments

    found = segment(store, item)
    texts: dict[int, Any] = {one.id: one.text for one in found.outputs}
    if output not in texts:
        raise InputError(f"segment {item} has no output {output}")
    if not found.references:
        raise InputError("the segment has no references to compare with")
    system = next(one.system for one in found.outputs if one.id == output)
    named = system or f"output {output}"
    made = explain_segments([texts[output]], [list(found.references)], system=named)
    rows = tuple(row._replace(segment=found.segment) for row in made.rows)
    return replace(made, rows=rows).render("html")
