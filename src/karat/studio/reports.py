"""Reports of the current state of a project: Karat's commands on the set in memory.

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
from karat.studio.contents import Contents, Version, mask_systems, read_contents, read_version
from karat.studio.export.sets import make_evalset, make_nugget_set
from karat.studio.live import drop_pairs, make_pair_set
from karat.studio.store.projects import REVEALED, Project, project
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS
from karat.studio.tasks.pairs import WIN

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
    current_project = project(store)
    available = [*_rating_reports(current_project), *_nugget_reports(current_project)]
    return (
        available
        if has_references(store)
        else [report for report in available if report.answers not in _METRIC]
    )


def has_references(store: Store) -> bool:
    """Return whether every segment has a reference."""
    lacking = "SELECT 1 FROM item WHERE NOT calibration AND refs = '[]' LIMIT 1"
    with store.read() as connection:
        return connection.row(lacking) is None


def _rating_reports(current_project: Project) -> Iterator[Report]:
    dimensions = [dimension.name for dimension in current_project.settings.dimensions]
    if not dimensions:
        return
    if dimensions != [WIN.name]:
        yield Report("agreement", "Agreement of assessors", _AGREEMENT, False, _make_agreement)
    if current_project.settings.has(PAIRS):
        yield Report(
            "pair-agreement", "Agreement on pairs", _AGREEMENT, False, _make_pair_agreement
        )
    for k, name in enumerate(dimensions, 1):
        title = f"Estimated scores: {name}"
        yield Report(f"estimate-{k}", title, _SCORES, True, partial(_make_estimate, dimension=name))
    yield Report("compare", "Comparison of systems by metrics", _COMPARED, True, _make_comparison)
    yield Report("meta", "Metrics against assessors", _TRUSTED, True, _make_meta)
    for k, name in enumerate(dimensions, 1):
        title, make = f"Plane of AEv: {name}", partial(_make_plane, dimension=name)
        yield Report(f"plane-{k}", title, _PLANE, True, make)


def _nugget_reports(current_project: Project) -> Iterator[Report]:
    if current_project.settings.has(NUGGETS):
        yield Report(
            "nugget-agreement", "Agreement on nuggets", _AGREEMENT, False, _make_nugget_agreement
        )
        yield Report("nugget-scores", "Nugget scores of runs", _RUNS, True, _make_nugget_scores)


def _make_agreement(contents: Contents) -> Result:
    from karat.meta.judge_agreement import judge_agreement

    return judge_agreement(make_evalset(drop_pairs(contents)))


def _make_pair_agreement(contents: Contents) -> Result:
    from karat.meta.judge_agreement import judge_agreement

    return judge_agreement(make_pair_set(contents))


def _make_estimate(contents: Contents, dimension: str) -> Result:
    from karat.estimation.estimates import estimate

    return estimate(make_evalset(contents), dimension)


def _make_comparison(contents: Contents) -> Result:
    from karat.api import compare

    return compare(make_evalset(contents), metrics=METRICS, examples=3)


def _make_meta(contents: Contents) -> Result:
    from karat.meta.evaluation import meta_evaluate
    from karat.meta.experiment import Experiment

    return meta_evaluate(Experiment(contents.project.name, METRICS), make_evalset(contents))


def _make_plane(contents: Contents, dimension: str) -> Result:
    from karat.meta.plane import fit_plane

    return fit_plane(make_evalset(contents), dimension)


def _make_nugget_agreement(contents: Contents) -> Result:
    from karat.meta.judge_agreement import judge_agreement

    return judge_agreement(make_nugget_set(contents))


def _make_nugget_scores(contents: Contents) -> Result:
    from karat.nuggets.results.scoring import score_nuggets

    return score_nuggets(make_nugget_set(contents), details=True)


def find_report(store: Store, name: str) -> Report:
    """Return a report by its name."""
    for report in reports(store):
        if report.name == name:
            return report
    raise InputError(f"there is no report {quoted(name)}")


_KEPT: WeakKeyDictionary[Store, dict[str, tuple[Version, str]]] = WeakKeyDictionary()
_ONE_AT_A_TIME = threading.Lock()


def render_report(store: Store, report: Report) -> str:
    """Return the page of a report, made once for each version of the store."""
    with store.read() as connection:
        version = read_version(connection)
    with _ONE_AT_A_TIME:  # two cores judge and compute: reports wait for each other
        pages = _KEPT.setdefault(store, {})
        cached = pages.get(report.name)
        if cached is None or cached[0] != version:
            cached = version, report.make(_read_visible_contents(store)).render("html")
            pages[report.name] = cached
        return cached[1]


def _read_visible_contents(store: Store) -> Contents:
    """Return all contents, with pseudonyms of systems before the reveal."""
    contents = read_contents(store, anonymous=True)
    if contents.project.state == REVEALED:
        return contents
    return replace(contents, outputs=mask_systems(contents.outputs, contents.project))


def render_explanation(store: Store, item: int, output: int) -> str:
    """Return the page that explains an output: its grid and edits against the references."""
    from karat.explanation import explain_segments

    view = segment(store, item)
    texts: dict[int, Any] = {candidate.id: candidate.text for candidate in view.outputs}
    if output not in texts:
        raise InputError(f"segment {item} has no output {output}")
    if not view.references:
        raise InputError("the segment has no references to compare with")
    system = next(candidate.system for candidate in view.outputs if candidate.id == output)
    system_name = system or f"output {output}"
    explanation = explain_segments([texts[output]], [list(view.references)], system=system_name)
    rows = tuple(row._replace(segment=view.segment) for row in explanation.rows)
    return replace(explanation, rows=rows).render("html")
