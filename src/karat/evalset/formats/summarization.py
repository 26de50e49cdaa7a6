"""Sets of summaries and answers: SummEval, RealSumm, TREC RAG 2024."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import (
    FileLocation,
    Reading,
    check_member,
    output_columns,
    read_lines,
    read_records,
)
from karat.evalset.sets import EvalSet

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
EXPERTS = "experts"


def read_summeval(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a file of JSON lines, one per document.

        {"id": …, "source": …, "references": […], "systems": {"M0": {"summary": …, "scores": {…}}}}

    The scores are means over the experts, from 1 to 5; the only judge is `experts`.
    """
    kinds = {"id": str, "source": str, "references": list, "systems": dict}
    documents = list(read_records(path, kinds, reading))
    outputs: dict[tuple[str, str], str] = {}
    for location, document in documents:
        for system, summary in document["systems"].items():
            if not isinstance(summary, dict):
                problem = f"{quoted(summary)} for system {short(system)}"
                reading.problem(location, f"found {problem}, expected an object")
                continue
            text = check_member(summary, "summary", str, location, reading)
            check_member(summary, "scores", dict, location, reading)
            outputs[system, document["id"]] = text
    reading.check()
    segments = [document["id"] for _, document in documents]
    draft = EvalSetDraft(
        name or path.name.removesuffix(".jsonl"),
        segments,
        output_columns(path, outputs, segments),
        reading=reading,
        location=path,
        references=[document["references"] for _, document in documents],
        sources=[document["source"] for _, document in documents],
        dimensions=[Dimension(key, low=1.0, high=5.0) for key in DIMENSIONS],
        description="Summaries with the mean ratings of experts",
        licence="MIT",
    )
    for location, document in documents:
        for system, summary in document["systems"].items():
            for key, value in summary["scores"].items():
                draft.judge(system, document["id"], EXPERTS, key, value, location)
    return draft.finish()


KINDS = {"experts": ("expert",), "turkers": ("turker",), "all": ("expert", "turker")}


def read_summeval_annotations(
    path: Path, reading: Reading, *, judges: str = "experts", name: str | None = None
) -> EvalSet:
    """Return the set in the authors' own file, with the ratings of `experts`, `turkers` or `all`.

        {"id": …, "model_id": "M0", "decoded": …, "references": […], "text": …,
         "expert_annotations": [{"coherence": 1, …}, …], "turker_annotations": […]}

    Annotators are identified only by position: judges are `expert-1`, `turker-1` and so on.
    """
    if judges not in KINDS:
        raise InputError(f"judges={quoted(judges)}: expected {', '.join(KINDS)}")
    lists = [f"{kind}_annotations" for kind in KINDS["all"]]
    kinds = {"id": str, "model_id": str, "decoded": str, **dict.fromkeys(lists, list)}
    optional = {"text": str, "references": list}
    summaries: list[tuple[FileLocation, dict[str, Any]]] = []
    for location, record in read_records(path, kinds, reading, optional):
        if all(isinstance(ratings, dict) for key in lists for ratings in record[key]):
            summaries.append((location, {"text": "", "references": [], **record}))
        else:
            reading.problem(location, "found an annotation that is not an object of ratings")
    reading.check()
    documents: dict[str, tuple[FileLocation, dict[str, Any]]] = {}
    outputs: dict[tuple[str, str], str] = {}
    for location, summary in summaries:
        id, system = summary["id"], summary["model_id"]
        first_location, first = documents.setdefault(id, (location, summary))
        if first["references"] != summary["references"]:
            problem = f"{quoted(id)} has other references than in {first_location}"
            reading.problem(location, problem)
        if (system, id) in outputs:
            reading.problem(location, f"a second summary of {quoted(id)} by {short(system)}")
        outputs[system, id] = summary["decoded"]
    draft = EvalSetDraft(
        name or path.name.split(".")[0],
        list(documents),
        output_columns(path, outputs, documents),
        reading=reading,
        location=path,
        references=[document["references"] for _, document in documents.values()],
        sources=[document["text"] for _, document in documents.values()],
        dimensions=[Dimension(key, low=1.0, high=5.0) for key in DIMENSIONS],
        description="Summaries with the ratings of each annotator",
        licence="MIT",
    )
    for location, summary in summaries:
        for kind in KINDS[judges]:
            for number, ratings in enumerate(summary[f"{kind}_annotations"], 1):
                at = summary["model_id"], summary["id"], f"{kind}-{number}"
                for key in DIMENSIONS:
                    draft.judge(*at, key, ratings.get(key), location)
    return draft.finish()


ANNOTATORS = "annotators"
_MARKS = re.compile(r"\s*</?t>\s*")
_COVERAGE = Dimension(
    "coverage", low=0.0, high=1.0, guideline="Share of the reference's content units present."
)


def read_realsumm(path: Path, reading: Reading, *, name: str | None = None) -> EvalSet:
    """Return the set in a folder of line-aligned files.

        ids.txt  documents.txt  references.txt      one document per line
        SCUs.txt                                    tab-separated content units of a reference
        summaries/SYSTEM.summary                    one summary per line
        labels/SYSTEM.label                         tab-separated 1 or 0 for every unit

    Coverage is the share of the reference's units that a summary has. The marks `<t> … </t>` of
    sentences are removed from references.
    """
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
        label_file = path / "labels" / f"{file.stem}.label"
        label_lines = read_lines(label_file)
        if len(label_lines) != len(counts):
            problem = f"found {len(label_lines):,} lines, expected {len(counts):,}"
            reading.problem(label_file, problem)
        rows = zip(reading.numbered(label_lines, label_file), segments, counts, strict=False)
        for (location, line), segment, count in rows:
            labels = line.split("\t")
            if len(labels) != count or not {*labels} <= {"0", "1"}:
                problem = f"found {quoted(line)}, expected {count} labels 0 or 1"
                reading.problem(location, problem)
            else:
                coverage = labels.count("1") / count
                draft.judge(file.stem, segment, ANNOTATORS, "coverage", coverage, location)
    return draft.finish()


SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
STRICT = {"support": 1.0, "partial_support": 0.0, "not_support": 0.0}
WEIGHTS = {
    "all": {"vital": 1.0, "okay": 1.0},
    "vital": {"vital": 1.0, "okay": 0.0},
    "weighted": {"vital": 1.0, "okay": 0.5},
}
ASSIGNMENT = "assignment"
"""The judge: the labels have no names of annotators."""


def read_rag24(
    path: Path, reading: Reading, *, references: str = "joined", name: str | None = None
) -> EvalSet:
    """Return the set in a file of JSON lines, one per answer of a run.

        {"qid": …, "run_id": …, "query": …, "answer_text": …,
         "nuggets": [{"text": …, "importance": "vital", "assignment": "partial_support"}]}

    Segments are topics; their nuggets are one reference with one sentence per nugget (`joined`), or
    a reference each (`listed`). With s = 1 for support, 1/2 for partial support (0 if strict), and
    0 otherwise:

        all = mean of s over all nuggets        vital = mean of s over vital nuggets
        weighted = (sum over vital + sum over okay / 2) / (number of vital + number of okay / 2)
    """
    if references not in ("joined", "listed"):
        raise InputError(f"references={quoted(references)}: expected joined or listed")
    kinds = {"qid": str, "run_id": str, "query": str, "answer_text": str, "nuggets": list}
    answers = list(read_records(path, kinds, reading))
    nuggets: dict[str, list[tuple[str, str]]] = {}
    for location, answer in answers:
        if not all(_is_nugget(nugget) for nugget in answer["nuggets"] or [None]):
            reading.problem(location, "expected nuggets with text, importance and assignment")
            continue
        answer_nuggets = [(nugget["text"], nugget["importance"]) for nugget in answer["nuggets"]]
        if nuggets.setdefault(answer["qid"], answer_nuggets) != answer_nuggets:
            reading.problem(location, f"found other nuggets for topic {answer['qid']} than before")
    reading.check()
    topics = {answer["qid"]: answer["query"] for _, answer in answers}
    outputs = {(a["run_id"], a["qid"]): a["answer_text"] for _, a in answers}
    texts = [[text for text, _ in nuggets[topic]] for topic in topics]
    if references == "joined":
        texts = [[" ".join(f"{text.rstrip('.')}." for text in group)] for group in texts]
    dimensions = [*WEIGHTS, *(f"strict-{key}" for key in WEIGHTS)]
    draft = EvalSetDraft(
        name or path.stem,
        list(topics),
        output_columns(path, outputs, topics),
        reading=reading,
        location=path,
        references=texts,
        sources=list(topics.values()),
        dimensions=[Dimension(key, low=0.0, high=1.0) for key in dimensions],
        description="TREC RAG 2024 answers with nugget assignments",
        licence="MIT repository, NIST data",
    )
    for location, answer in answers:
        for dimension in dimensions:
            weights = WEIGHTS[dimension.removeprefix("strict-")]
            support = STRICT if dimension.startswith("strict-") else SUPPORT
            pairs = [
                (weights[n["importance"]], support[n["assignment"]]) for n in answer["nuggets"]
            ]
            if total_weight := sum(weight for weight, _ in pairs):
                value = sum(weight * s for weight, s in pairs) / total_weight
                at = answer["run_id"], answer["qid"], ASSIGNMENT
                draft.judge(*at, dimension, value, location)
    return draft.finish()


def _is_nugget(nugget: object) -> bool:
    return (
        isinstance(nugget, dict)
        and isinstance(nugget.get("text"), str)
        and nugget.get("importance") in ("vital", "okay")
        and nugget.get("assignment") in list(SUPPORT)
    )
