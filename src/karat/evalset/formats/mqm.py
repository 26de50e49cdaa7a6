"""WMT's MQM files: a row for every error that a rater marked in an output.

    system  doc  doc_id  seg_id  rater  source  target  category  severity

The span in question stands between `<v>` and `</v>`, which are taken out; a row `No-error` says
that the rater found none. The penalty of an output is the sum of the weights of its errors: stored
as it is, so less is better. A weight belongs to `severity[/category[/subcategory]]`, and the most
specific one counts. References are among the systems: those named as such become references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from karat.errors import quoted
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Place, Reading, as_names, check_filled, read_lines, tab_rows
from karat.evalset.sets import EvalSet, check_known

WEIGHTS: Mapping[str, float] = {
    "Critical": 25.0,
    "Major": 5.0,
    "Minor": 1.0,
    "Neutral": 0.0,
    "No-error": 0.0,
    "Major/Non-translation": 25.0,
    "Major/Non-translation!": 25.0,
    "Minor/Fluency/Punctuation": 0.1,
}
DIMENSIONS: Mapping[str, str] = {"mqm": "", "accuracy": "Accuracy", "fluency": "Fluency"}
"""Category whose errors are summed under each dimension; "" is all of them."""

_COLUMNS = ("system", "doc", "rater", "source", "target", "category", "severity")
_SEGMENT_COLUMNS = ("globalSegId", "seg_id")  # the newer name, and that of 2020 and 2021
_GUIDELINE = "Sum of the weights of {} errors."
_MARKS = re.compile(r"</?v>")

_Item = tuple[str, str]  # system, segment


def read_mqm(
    path: Path,
    reading: Reading,
    *,
    references: str | Sequence[str] | None = None,
    leave_out: str | Sequence[str] = (),
    weights: Mapping[str, float] = WEIGHTS,
    dimensions: Mapping[str, str] = DIMENSIONS,
    name: str | None = None,
    licence: str = "",
) -> EvalSet:
    """Return the set in a file; `references` are by default the systems called `ref…`."""
    rows = _Spans(path, reading, {key.lower(): value for key, value in weights.items()}, dimensions)
    names = dict.fromkeys(system for system, _ in rows.outputs)
    found = [name for name in names if name.lower().startswith("ref")]
    refs = as_names(found if references is None else references)
    check_known("system", (*refs, *as_names(leave_out)), names, str(path))
    aside = {*refs, *as_names(leave_out)}
    systems = [system for system in names if system not in aside]
    check_filled(path, len(rows.outputs), len(names), len(rows.sources))
    draft = EvalSetDraft(
        name or path.name.removesuffix(".tsv"),
        list(rows.sources),
        {system: [rows.outputs.get((system, s)) for s in rows.sources] for system in systems},
        reading=reading,
        where=path,
        references=[
            [rows.outputs[ref, s] for ref in refs if (ref, s) in rows.outputs] for s in rows.sources
        ],
        groups=list(rows.documents.values()),
        sources=list(rows.sources.values()),
        dimensions=[
            Dimension(key, "lower", 0.0, guideline=_GUIDELINE.format(below or "all"))
            for key, below in dimensions.items()
        ],
        description=f"MQM errors; references: {', '.join(refs) or 'none'}",
        licence=licence,
    )
    for (system, segment, rater), penalties in rows.penalties.items():
        if system not in aside:
            for key, penalty in penalties.items():
                draft.judge(system, segment, rater, key, penalty, rows.places[system, segment])
    return draft.finish()


class _Spans:
    """The error spans of a file, their penalties added up."""

    def __init__(
        self, path: Path, reading: Reading, weights: dict[str, float], dimensions: Mapping[str, str]
    ) -> None:
        self.reading, self.weights, self.dimensions = reading, weights, dimensions
        self.sources: dict[str, str] = {}
        self.documents: dict[str, str] = {}
        self.outputs: dict[_Item, str] = {}
        self.places: dict[_Item, Place] = {}
        self.penalties: dict[tuple[str, str, str], dict[str, float]] = {}
        header = (read_lines(path) or [""])[0].split("\t")
        number = next((name for name in _SEGMENT_COLUMNS if name in header), _SEGMENT_COLUMNS[1])
        for place, row in tab_rows(path, (*_COLUMNS, number), reading):
            self._add(row, place)

    def _add(self, row: list[str], place: Place) -> None:
        system, document, rater, source, target, category, severity, segment = row
        self._note(self.sources, segment, _MARKS.sub("", source), "source", place)
        self._note(self.documents, segment, document, "document", place)
        self._note(self.outputs, (system, segment), _MARKS.sub("", target), "target", place)
        self.places.setdefault((system, segment), place)
        weight = weight_of(severity, category, self.weights)
        if weight is None:
            self.reading.problem(place, f"no weight for severity {quoted(severity)}: give one")
            return
        key = system, segment, rater
        sums = self.penalties.setdefault(key, dict.fromkeys(self.dimensions, 0.0))
        for name, below in self.dimensions.items():
            if f"{category}/".lower().startswith(f"{below}/".lower() if below else ""):
                sums[name] += weight

    def _note(self, known: dict, key: object, text: str, what: str, place: Place) -> None:  # type: ignore[type-arg]
        if known.setdefault(key, text) != text:
            self.reading.problem(place, f"found another {what} than before for this segment")


def weight_of(severity: str, category: str, weights: Mapping[str, float]) -> float | None:
    """Return the weight of the most specific name there is; names are in lower case."""
    deepest = max((name.count("/") for name in weights), default=0)
    parts = [severity, *category.split("/", deepest)][: deepest + 1]
    for length in range(len(parts), 0, -1):
        weight = weights.get("/".join(parts[:length]).lower())
        if weight is not None:
            return weight
    return None
