"""Reports of the current state of a project: Karat's commands on the set in memory.

What computes them is imported when a report is asked for, so that the studio starts at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from karat.errors import InputError, quoted
from karat.results import Result
from karat.studio.browsing import segment
from karat.studio.contents import Contents, Version, mask_systems, read_contents, read_version
from karat.studio.export.sets import make_evalset, make_nugget_set
from karat.studio.live import make_pair_set, make_rated_set
from karat.studio.store.projects import project
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS
from karat.studio.tasks.pairs import WIN

METRICS = ("bleu", "chrf", "ter", "gtm:e=2")


class Report(NamedTuple):
    """A page that can be asked for."""

    name: str
    """The last part of its address."""
    title: str
    answers: str
    """Sentence that says what its reader learns."""
    make: Callable[[Contents], Result]
    tells: bool = True
    """Whether it tells which systems lead, under pseudonyms before the reveal."""
    needs_references: bool = False


_AGREEMENT = "How well assessors agree, and who stands apart."
_SCORES = "The score of each system with its interval, and which systems differ."
_COMPARED = "Whether the systems differ in metrics, with examples."
_TRUSTED = "Which metric agrees best with the assessors."
_PLANE = "Which settings of AEv agree best with the assessors."
_RUNS = "How many nuggets each run covers, and which it misses."


def reports(store: Store) -> list[Report]:
    """Return the reports that a project has; metrics need a reference of every segment."""
    settings = project(store).settings
    dimensions = [dimension.name for dimension in settings.dimensions]
    compare = Report(
        "compare", "Comparison of systems by metrics", _COMPARED, _make_comparison, True, True
    )
    meta = Report("meta", "Metrics against assessors", _TRUSTED, _make_meta, True, True)

    def agreement(name: str, title: str, make_set: Callable[[Contents], Any]) -> Report:
        return Report(name, title, _AGREEMENT, partial(_make_agreement, make_set=make_set), False)

    available = []
    if dimensions and dimensions != [WIN.name]:
        available.append(agreement("agreement", "Agreement of assessors", make_rated_set))
    if settings.has(PAIRS):
        available.append(agreement("pair-agreement", "Agreement on pairs", make_pair_set))
    for k, name in enumerate(dimensions, 1):
        make = partial(_make_estimate, dimension=name)
        available.append(Report(f"estimate-{k}", f"Estimated scores: {name}", _SCORES, make))
    available += [compare, meta] if dimensions else []
    for k, name in enumerate(dimensions, 1):
        make = partial(_make_plane, dimension=name)
        title = f"Plane of AEv: {name}"
        available.append(Report(f"plane-{k}", title, _PLANE, make, needs_references=True))
    if settings.has(NUGGETS):
        available.append(agreement("nugget-agreement", "Agreement on nuggets", make_nugget_set))
        available.append(
            Report("nugget-scores", "Nugget scores of runs", _RUNS, _make_nugget_scores)
        )
    complete = has_references(store)
    return [report for report in available if complete or not report.needs_references]


def has_references(store: Store) -> bool:
    """Return whether every segment has a reference."""
    lacking = "SELECT 1 FROM item WHERE NOT calibration AND refs = '[]' LIMIT 1"
    with store.read() as connection:
        return connection.row(lacking) is None


def _make_agreement(contents: Contents, make_set: Callable[[Contents], Any]) -> Result:
    from karat.meta.judge_agreement import judge_agreement

    return judge_agreement(make_set(contents))


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
            contents = read_contents(store, anonymous=True)
            outputs = mask_systems(contents.outputs, contents.project)
            page = report.make(replace(contents, outputs=outputs)).render("html")
            cached = pages[report.name] = version, page
        return cached[1]


def render_explanation(store: Store, item: int, output: int) -> str:
    """Return the page that explains an output: its grid and edits against the references."""
    from karat.explanation import explain_segments

    view = segment(store, item)
    row = next((candidate for candidate in view.outputs if candidate.id == output), None)
    if row is None:
        raise InputError(f"segment {item} has no output {output}")
    if not view.references:
        raise InputError("the segment has no references to compare with")
    system = row.system or f"output {output}"
    explanation = explain_segments([row.text], [list(view.references)], system=system)
    rows = tuple(part._replace(segment=view.segment) for part in explanation.rows)
    return replace(explanation, rows=rows).render("html")
