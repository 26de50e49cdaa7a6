"""SummEval as its authors publish it, with the ratings of each annotator.

    model_annotations.aligned.jsonl     a summary a line
    {"id": …, "model_id": "M0", "decoded": …, "references": […], "text": …,
     "expert_annotations": [{"coherence": 1, "consistency": 5, …}, …], "turker_annotations": […]}

Annotators are known by their place alone: judges are `expert-1` to `expert-3` and `turker-1` to
`turker-5`. Nothing in the file says that one place is one person in all lines. `text` is there
once the authors' script has paired summaries with their documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.formats.summeval import DIMENSIONS
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Place, Reading, check_filled, json_rows, member
from karat.evalset.sets import EvalSet

KINDS = {"experts": ("expert",), "turkers": ("turker",), "all": ("expert", "turker")}


def read_summeval_annotations(
    path: Path, reading: Reading, *, judges: str = "experts", name: str | None = None
) -> EvalSet:
    """Return the set in a file, with the ratings of `experts`, `turkers` or `all`."""
    if judges not in KINDS:
        raise InputError(f"judges={quoted(judges)}: expected {', '.join(KINDS)}")
    summaries = [
        row for place, found in json_rows(path, reading) for row in _row(place, found, reading)
    ]
    reading.check()
    documents: dict[str, dict[str, Any]] = {}
    outputs: dict[tuple[str, str], str] = {}
    for one in summaries:
        first = documents.setdefault(one["id"], one)
        if first["references"] != one["references"]:
            told = f"{quoted(one['id'])} has other references than in {first['place']}"
            reading.problem(one["place"], told)
        summary = one["model_id"], one["id"]
        if summary in outputs:
            told = f"a second summary of {quoted(one['id'])} by {short(one['model_id'])}"
            reading.problem(one["place"], told)
        outputs[summary] = one["decoded"]
    systems = list(dict.fromkeys(system for system, _ in outputs))
    check_filled(path, len(outputs), len(systems), len(documents))
    draft = EvalSetDraft(
        name or path.name.split(".")[0],
        list(documents),
        {system: [outputs.get((system, id)) for id in documents] for system in systems},
        reading=reading,
        where=path,
        references=[one["references"] for one in documents.values()],
        sources=[one["text"] for one in documents.values()],
        dimensions=[Dimension(key, low=1.0, high=5.0) for key in DIMENSIONS],
        description="Summaries with the ratings of each annotator",
        licence="MIT",
    )
    for one in summaries:
        for kind in KINDS[judges]:
            for number, ratings in enumerate(one[f"{kind}_annotations"], 1):
                at = one["model_id"], one["id"], f"{kind}-{number}"
                for key in DIMENSIONS:
                    draft.judge(*at, key, ratings.get(key), one["place"])
    return draft.finish()


def _row(place: Place, found: dict[str, Any], reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield a summary, if it is one."""
    lists = [f"{kind}_annotations" for kind in KINDS["all"]]
    kinds = {"id": str, "model_id": str, "decoded": str, **dict.fromkeys(lists, list)}
    optional = {"text": str, "references": list}
    kinds |= {key: kind for key, kind in optional.items() if key in found}
    row = {key: member(found, key, kind, place, reading) for key, kind in kinds.items()}
    if None in row.values():
        return
    if not all(isinstance(ratings, dict) for key in lists for ratings in row[key]):
        reading.problem(place, "found an annotation that is not an object of ratings")
        return
    yield {"text": "", "references": [], **row, "place": place}
