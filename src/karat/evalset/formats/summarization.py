"""SummEval as JSON lines: a document, its references, the summary and scores of each system.

    {"id": …, "source": …, "references": […], "systems": {"M0": {"summary": …, "scores": {…}}}}

The scores are means over the experts, from 1 to 5; the one judge is called `experts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import (
    FileLocation,
    Reading,
    check_filled,
    check_member,
    read_json_lines,
    read_lines,
)
from karat.evalset.sets import EvalSet

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
EXPERTS = "experts"


def read_summeval(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Read the set from a file."""
    documents = [
        _document(location, summary, reading)
        for location, summary in read_json_lines(path, reading)
    ]
    reading.check()
    names = dict.fromkeys(system for document in documents for system in document["systems"])
    n_outputs = sum(len(document["systems"]) for document in documents)
    check_filled(path, n_outputs, len(names), len(documents))
    draft = EvalSetDraft(
        name or path.name.removesuffix(".jsonl"),
        [document["id"] for document in documents],
        {
            system: [document["systems"].get(system, {}).get("summary") for document in documents]
            for system in names
        },
        reading=reading,
        location=path,
        references=[document["references"] for document in documents],
        sources=[document["source"] for document in documents],
        dimensions=[Dimension(key, low=1.0, high=5.0) for key in DIMENSIONS],
        description="Summaries with the mean ratings of experts",
        licence="MIT",
    )
    for document in documents:
        for system, summary in document["systems"].items():
            for key, value in summary["scores"].items():
                draft.judge(system, document["id"], EXPERTS, key, value, document["place"])
    return draft.finish()


def _document(location: FileLocation, record: dict[str, Any], reading: Reading) -> dict[str, Any]:
    kinds = {"id": str, "source": str, "references": list, "systems": dict}
    document = {
        key: check_member(record, key, kind, location, reading) for key, kind in kinds.items()
    }
    systems = document["systems"] or {}
    for name, summary in systems.items():
        if not isinstance(summary, dict):
            problem = f"{quoted(summary)} for system {short(name)}"
            reading.problem(location, f"found {problem}, expected an object")
            continue
        check_member(summary, "summary", str, location, reading)
        check_member(summary, "scores", dict, location, reading)
    return {**document, "place": location}


KINDS = {"experts": ("expert",), "turkers": ("turker",), "all": ("expert", "turker")}


def read_summeval_annotations(
    path: Path, reading: Reading, *, judges: str = "experts", name: str | None = None
) -> EvalSet:
    """Return the set in a file, with the ratings of `experts`, `turkers` or `all`."""
    if judges not in KINDS:
        raise InputError(f"judges={quoted(judges)}: expected {', '.join(KINDS)}")
    summaries = [
        row
        for location, record in read_json_lines(path, reading)
        for row in _row(location, record, reading)
    ]
    reading.check()
    documents: dict[str, dict[str, Any]] = {}
    outputs: dict[tuple[str, str], str] = {}
    for summary_row in summaries:
        first = documents.setdefault(summary_row["id"], summary_row)
        if first["references"] != summary_row["references"]:
            problem = f"{quoted(summary_row['id'])} has other references than in {first['place']}"
            reading.problem(summary_row["place"], problem)
        summary = summary_row["model_id"], summary_row["id"]
        if summary in outputs:
            document, system = quoted(summary_row["id"]), short(summary_row["model_id"])
            reading.problem(summary_row["place"], f"a second summary of {document} by {system}")
        outputs[summary] = summary_row["decoded"]
    systems = list(dict.fromkeys(system for system, _ in outputs))
    check_filled(path, len(outputs), len(systems), len(documents))
    draft = EvalSetDraft(
        name or path.name.split(".")[0],
        list(documents),
        {system: [outputs.get((system, id)) for id in documents] for system in systems},
        reading=reading,
        location=path,
        references=[summary_row["references"] for summary_row in documents.values()],
        sources=[summary_row["text"] for summary_row in documents.values()],
        dimensions=[Dimension(key, low=1.0, high=5.0) for key in DIMENSIONS],
        description="Summaries with the ratings of each annotator",
        licence="MIT",
    )
    for summary_row in summaries:
        for kind in KINDS[judges]:
            for number, ratings in enumerate(summary_row[f"{kind}_annotations"], 1):
                at = summary_row["model_id"], summary_row["id"], f"{kind}-{number}"
                for key in DIMENSIONS:
                    draft.judge(*at, key, ratings.get(key), summary_row["place"])
    return draft.finish()


def _row(
    location: FileLocation, record: dict[str, Any], reading: Reading
) -> Iterator[dict[str, Any]]:
    """Yield a summary, if it is one."""
    lists = [f"{kind}_annotations" for kind in KINDS["all"]]
    kinds = {"id": str, "model_id": str, "decoded": str, **dict.fromkeys(lists, list)}
    optional = {"text": str, "references": list}
    kinds |= {key: kind for key, kind in optional.items() if key in record}
    row = {key: check_member(record, key, kind, location, reading) for key, kind in kinds.items()}
    if None in row.values():
        return
    if not all(isinstance(ratings, dict) for key in lists for ratings in row[key]):
        reading.problem(location, "found an annotation that is not an object of ratings")
        return
    yield {"text": "", "references": [], **row, "place": location}


ANNOTATORS = "annotators"
_MARKS = re.compile(r"\s*</?t>\s*")
_COVERAGE = Dimension(
    "coverage", low=0.0, high=1.0, guideline="Share of the reference's content units present."
)


def read_realsumm(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Read the set from a folder."""
    segments = read_lines(path / "ids.txt")
    units = read_lines(path / "SCUs.txt")
    references = read_lines(path / "references.txt")
    files = sorted((path / "summaries").glob("*.summary"))
    if len(units) != len(segments):
        lines = f"found {len(units):,} lines, expected {len(segments):,}"
        raise InputError(f"{path / 'SCUs.txt'}: {lines}")
    draft = EvalSetDraft(
        name or path.name,
        segments,
        {file.stem: read_lines(file) for file in files},
        reading=reading,
        location=path,
        references=[(" ".join(filter(None, _MARKS.split(text))),) for text in references],
        sources=read_lines(path / "documents.txt"),
        dimensions=[_COVERAGE],
        description="Summaries with labels of summary content units",
        licence="CC-BY 4.0",
    )
    counts = [len(line.split("\t")) for line in units]
    for file in files:
        _read_labels(path / "labels" / f"{file.stem}.label", file.stem, counts, draft)
    return draft.finish()


def _read_labels(path: Path, system: str, counts: list[int], draft: EvalSetDraft) -> None:
    lines = read_lines(path)
    if len(lines) != len(counts):
        draft.reading.problem(path, f"found {len(lines):,} lines, expected {len(counts):,}")
    rows = zip(draft.reading.numbered(lines, path), draft.segments, counts, strict=False)
    for (location, line), segment, count in rows:
        labels = line.split("\t")
        if len(labels) != count or not {*labels} <= {"0", "1"}:
            draft.reading.problem(location, f"found {quoted(line)}, expected {count} labels 0 or 1")
        else:
            draft.judge(
                system, segment, ANNOTATORS, "coverage", labels.count("1") / count, location
            )


SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
STRICT = {"support": 1.0, "partial_support": 0.0, "not_support": 0.0}
WEIGHTS = {
    "all": {"vital": 1.0, "okay": 1.0},
    "vital": {"vital": 1.0, "okay": 0.0},
    "weighted": {"vital": 1.0, "okay": 0.5},
}
ASSIGNMENT = "assignment"
"""The labels come without the name of who gave them."""


def read_rag24(
    path: Path, reading: Reading, *, references: str = "joined", name: str | None = None
) -> EvalSet:
    """Read the set from a file."""
    if references not in ("joined", "listed"):
        raise InputError(f"references={quoted(references)}: expected joined or listed")
    answers = list(_answers(path, reading))
    reading.check()
    topics = {answer["qid"]: answer for answer in answers}
    outputs = {(a["run_id"], a["qid"]): a["answer_text"] for a in answers}
    runs = dict.fromkeys(answer["run_id"] for answer in answers)
    dimensions = [*WEIGHTS, *(f"strict-{key}" for key in WEIGHTS)]
    texts = [[nugget["text"] for nugget in topic["nuggets"]] for topic in topics.values()]
    if references == "joined":
        texts = [
            [" ".join(f"{text.rstrip('.')}." for text in nugget_texts)] for nugget_texts in texts
        ]
    check_filled(path, len(outputs), len(runs), len(topics))
    draft = EvalSetDraft(
        name or path.stem,
        list(topics),
        {run: [outputs.get((run, topic)) for topic in topics] for run in runs},
        reading=reading,
        location=path,
        references=texts,
        sources=[topic["query"] for topic in topics.values()],
        dimensions=[Dimension(key, low=0.0, high=1.0) for key in dimensions],
        description="TREC RAG 2024 answers with nugget assignments",
        licence="MIT repository, NIST data",
    )
    for answer in answers:
        _judge(answer, draft)
    return draft.finish()


def _answers(path: Path, reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield all answers, checked; the nuggets of a topic must be the same in all of its."""
    nuggets: dict[str, list[tuple[str, str]]] = {}
    kinds = {"qid": str, "run_id": str, "query": str, "answer_text": str, "nuggets": list}
    for location, record in read_json_lines(path, reading):
        answer = {
            key: check_member(record, key, kind, location, reading) for key, kind in kinds.items()
        }
        if None in answer.values():
            continue
        if not all(_is_nugget(nugget) for nugget in answer["nuggets"] or [None]):
            reading.problem(location, "expected nuggets with text, importance and assignment")
            continue
        answer_nuggets = [(nugget["text"], nugget["importance"]) for nugget in answer["nuggets"]]
        if nuggets.setdefault(answer["qid"], answer_nuggets) != answer_nuggets:
            reading.problem(location, f"found other nuggets for topic {answer['qid']} than before")
        yield {**answer, "place": location}


def _is_nugget(nugget: object) -> bool:
    return (
        isinstance(nugget, dict)
        and isinstance(nugget.get("text"), str)
        and nugget.get("importance") in ("vital", "okay")
        and nugget.get("assignment") in list(SUPPORT)
    )


def _judge(answer: dict[str, Any], draft: EvalSetDraft) -> None:
    item = answer["run_id"], answer["qid"], ASSIGNMENT
    for prefix, support in (("", SUPPORT), ("strict-", STRICT)):
        for key, weights in WEIGHTS.items():
            pairs = [
                (weights[n["importance"]], support[n["assignment"]]) for n in answer["nuggets"]
            ]
            total_weight = sum(weight for weight, _ in pairs)
            if total_weight:
                value = sum(weight * s for weight, s in pairs) / total_weight
                draft.judge(*item, prefix + key, value, answer["place"])
