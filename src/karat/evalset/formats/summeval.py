"""SummEval as JSON lines: a document, its references, the summary and scores of each system.

    {"id": …, "source": …, "references": […], "systems": {"M0": {"summary": …, "scores": {…}}}}

The scores are means over the experts, from 1 to 5; the one judge is called `experts`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from karat.errors import quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Place, Reading, check_filled, json_rows, member
from karat.evalset.sets import EvalSet

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
JUDGE = "experts"


def read_summeval(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a file."""
    documents = [_document(place, found, reading) for place, found in json_rows(path, reading)]
    reading.check()
    names = dict.fromkeys(system for document in documents for system in document["systems"])
    given = sum(len(document["systems"]) for document in documents)
    check_filled(path, given, len(names), len(documents))
    draft = EvalSetDraft(
        name or path.name.removesuffix(".jsonl"),
        [document["id"] for document in documents],
        {
            system: [document["systems"].get(system, {}).get("summary") for document in documents]
            for system in names
        },
        reading=reading,
        where=path,
        references=[document["references"] for document in documents],
        sources=[document["source"] for document in documents],
        dimensions=[Dimension(key, low=1.0, high=5.0) for key in DIMENSIONS],
        description="Summaries with the mean ratings of experts",
        licence="MIT",
    )
    for document in documents:
        for system, found in document["systems"].items():
            for key, value in found["scores"].items():
                draft.judge(system, document["id"], JUDGE, key, value, document["place"])
    return draft.finish()


def _document(place: Place, found: dict[str, Any], reading: Reading) -> dict[str, Any]:
    kinds = {"id": str, "source": str, "references": list, "systems": dict}
    document = {key: member(found, key, kind, place, reading) for key, kind in kinds.items()}
    systems = document["systems"] or {}
    for name, each in systems.items():
        if not isinstance(each, dict):
            given = f"{quoted(each)} for system {short(name)}"
            reading.problem(place, f"found {given}, expected an object")
            continue
        member(each, "summary", str, place, reading)
        member(each, "scores", dict, place, reading)
    return {**document, "place": place}
