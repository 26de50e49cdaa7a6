"""Reports on the current state of a project: Karat's commands on the set in memory.

The code of a report is imported on demand, so that the studio starts quickly.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.results import Result
from karat.studio.browsing import view_segment
from karat.studio.contents import CachedResults, Contents, mask_systems, read_contents, read_version
from karat.studio.export.sets import make_evalset, make_nugget_set
from karat.studio.live import make_pair_set, make_rated_set
from karat.studio.store.projects import project
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS
from karat.studio.tasks.pairs import WIN

METRICS = ("bleu", "chrf", "ter", "gtm:e=2")


class Report(NamedTuple):
    """A report on a page of its own."""

    name: str
    """The last part of its address."""
    title: str
    command: str
    """The command that computes it, and its sentence of `_ANSWERS`."""
    dimension: str = ""
    make_set: Callable[[Contents], Any] = make_evalset

    @property
    def answers(self) -> str:
        """The questions that the report answers."""
        return _ANSWERS[self.command]

    @property
    def reveals_ranking(self) -> bool:
        """Whether the report shows which systems lead (under pseudonyms before the reveal)."""
        return self.command != "agreement"


_ANSWERS = {
    "agreement": "How well assessors agree, and who stands apart.",
    "estimate": "The score of each system with its interval, and which systems differ.",
    "compare": "Whether the systems differ in metrics, with examples.",
    "meta": "Which metric agrees best with the assessors.",
    "plane": "Which settings of AEv agree best with the assessors.",
    "nuggets score": "How many nuggets each run covers, and which it misses.",
}
_NEED_REFERENCES = ("compare", "meta", "plane")


def list_reports(store: Store) -> list[Report]:
    """Return the reports of a project; metrics need a reference for every segment."""
    settings = project(store).settings
    dimensions = [dimension.name for dimension in settings.dimensions]
    reports = []
    if dimensions and dimensions != [WIN.name]:
        title = "Agreement of assessors"
        reports.append(Report("agreement", title, "agreement", make_set=make_rated_set))
    if settings.has(PAIRS):
        title = "Agreement on pairs"
        reports.append(Report("pair-agreement", title, "agreement", make_set=make_pair_set))
    for k, name in enumerate(dimensions, 1):
        reports.append(Report(f"estimate-{k}", f"Estimated scores: {name}", "estimate", name))
    if dimensions:
        reports.append(Report("compare", "Comparison of systems by metrics", "compare"))
        reports.append(Report("meta", "Metrics against assessors", "meta"))
    for k, name in enumerate(dimensions, 1):
        reports.append(Report(f"plane-{k}", f"Plane of AEv: {name}", "plane", name))
    if settings.has(NUGGETS):
        title = "Agreement on nuggets"
        reports.append(Report("nugget-agreement", title, "agreement", make_set=make_nugget_set))
        title = "Nugget scores of runs"
        reports.append(Report("nugget-scores", title, "nuggets score", make_set=make_nugget_set))
    has_all_references = has_references(store)
    return [r for r in reports if has_all_references or r.command not in _NEED_REFERENCES]


def has_references(store: Store) -> bool:
    """Return whether every segment has a reference."""
    lacking = "SELECT 1 FROM item WHERE NOT calibration AND refs = '[]' LIMIT 1"
    with store.read() as connection:
        return connection.row(lacking) is None


def _compute_report(report: Report, contents: Contents) -> Result:
    """Run the command of a report on the set in memory."""
    judged_set = report.make_set(contents)
    match report.command:
        case "agreement":
            from karat.meta.judge_agreement import judge_agreement

            return judge_agreement(judged_set)
        case "estimate":
            from karat.estimation.estimates import estimate

            return estimate(judged_set, report.dimension)
        case "compare":
            from karat.api import compare

            return compare(judged_set, metrics=METRICS, examples=3)
        case "meta":
            from karat.meta.evaluation import meta_evaluate
            from karat.meta.experiment import Experiment

            return meta_evaluate(Experiment(contents.project.name, METRICS), judged_set)
        case "plane":
            from karat.meta.plane import fit_plane

            return fit_plane(judged_set, report.dimension)
        case _:
            from karat.nuggets.results.scoring import score_nuggets

            return score_nuggets(judged_set, details=True)


def find_report(store: Store, name: str) -> Report:
    """Return a report by its name."""
    for report in list_reports(store):
        if report.name == name:
            return report
    raise InputError(f"there is no report {quoted(name)}")


_ONE_AT_A_TIME = threading.Lock()


def render_report(store: Store, report: Report) -> str:
    """Return the page of a report, made once for each version of the store."""

    def render() -> str:
        contents = read_contents(store, anonymous=True)
        outputs = mask_systems(contents.outputs, contents.project)
        return _compute_report(report, replace(contents, outputs=outputs)).render("html")

    with store.read() as connection:
        version = read_version(connection)
    with _ONE_AT_A_TIME:  # leave processors to judging
        return store.companion(CachedResults).get(f"report {report.name}", version, render)


def render_explanation(store: Store, item: int, output: int) -> str:
    """Return a page with the grid and edits of an output against the references."""
    from karat.explanation import explain_segments

    view = view_segment(store, item)
    row = next((candidate for candidate in view["outputs"] if candidate["id"] == output), None)
    if row is None:
        raise InputError(f"segment {item} has no output {output}")
    if not view["references"]:
        raise InputError("the segment has no references to compare with")
    system = row["system"] or f"output {output}"
    explanation = explain_segments([row["text"]], [view["references"]], system=system)
    rows = tuple(part._replace(segment=view["segment"]) for part in explanation.rows)
    return replace(explanation, rows=rows).render("html")
