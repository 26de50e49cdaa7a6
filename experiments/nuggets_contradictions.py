"""Planted contradictions: does a nugget classifier notice that an answer now denies a fact?

    KARAT_DATA=… python experiments/nuggets_contradictions.py --half development
        [--classifier calibrated] [--save decisions.json] [--against decisions.json]

`nuggets_contradictions.tsv` lists pairs of nugget and answer from TREC RAG 2024 that people labeled
as supported, with edits of the answer that contradict the nugget: a changed number, a changed name,
or an added or removed negation. Edits are spans of characters and their replacements. They were
written nugget by nugget from the sentences that state the fact, to cover every such sentence,
without looking at decisions of the classifier or at the rules of the metric `facts`.

The halves are the first 11 topics in sorted order (development) and the other 10 (reported). Each
topic is predicted by a classifier trained on the judgements of the 20 other topics, whose answers
are untouched. A wave replaces answers by altered ones: each answer at most once, and at most
`--per-nugget` answers for each nugget, because answers to one question are evidence for each other.

Prints Markdown: the share of the planted pairs that count as carried while untouched (a), the share
of these that no longer count after planting (b), and with `--against` the share of pairs that
people and the saved classifier call carried, and this classifier does not (c). Intervals are
Wilson's for independent pairs; pairs of one topic are alike, so they are somewhat too narrow.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from nugget_sets import rag24

from karat.errors import InputError
from karat.nuggets.prediction.predictions import Predictions, parse_classifier, predict_support
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Response, Run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.settings import NamedSettings

TABLE = Path(__file__).with_suffix(".tsv")
COLUMNS = ["question", "nugget", "run", "kind", "answer_crc32", "edits"]
KINDS = ("number", "name", "negation")
DEVELOPMENT_TOPICS = 11
Z = 1.959964  # 97.5% quantile of the normal distribution

Pair = tuple[str, str, str]  # question, nugget, run


class Edit(NamedTuple):
    """Characters from `start` to `end` are replaced."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True)
class Plant:
    """A contradiction of a nugget in the answer of a run."""

    question: str
    nugget: str
    run: str
    kind: str
    answer_crc32: str
    edits: tuple[Edit, ...]

    @property
    def pair(self) -> Pair:
        return self.question, self.nugget, self.run

    def alter(self, answer: str) -> str:
        """Return the answer with the edits; refuse another answer than the one that was read."""
        if f"{zlib.crc32(answer.encode()):08x}" != self.answer_crc32:
            raise InputError(
                f"{TABLE.name}: the answer of {self.run} to {self.question} is not the one that "
                "was edited; expected nugget_assignment.20241108.jl of TREC RAG 2024"
            )
        for start, end, replacement in reversed(self.edits):
            answer = answer[:start] + replacement + answer[end:]
        return answer


def read_plants(path: Path = TABLE) -> list[Plant]:
    """Read the table of plants."""
    header, *lines = path.read_text("utf-8").splitlines()
    if header.split("\t") != COLUMNS:
        raise InputError(f"{path}, line 1: expected the columns {', '.join(COLUMNS)}")
    plants = []
    for line in lines:
        *fields, edits = line.split("\t")
        plants.append(Plant(*fields, tuple(Edit(*edit) for edit in json.loads(edits))))
    return plants


def topics_of(half: str, questions: Iterable[str]) -> list[str]:
    """Return the topics of a half: the first 11 in sorted order, or the others."""
    topics = sorted(questions)
    return topics[:DEVELOPMENT_TOPICS] if half == "development" else topics[DEVELOPMENT_TOPICS:]


def make_waves(plants: Iterable[Plant], per_nugget: int) -> list[list[Plant]]:
    """Distribute the plants of a topic: a wave has each run once, each nugget `per_nugget` times.

    The most frequent nuggets go first, which keeps the number of waves small.
    """
    plants = list(plants)
    frequency = Counter(plant.nugget for plant in plants)
    waves: list[list[Plant]] = []
    for plant in sorted(plants, key=lambda plant: -frequency[plant.nugget]):
        for wave in waves:
            same_nugget = sum(other.nugget == plant.nugget for other in wave)
            if same_nugget < per_nugget and all(other.run != plant.run for other in wave):
                wave.append(plant)
                break
        else:
            waves.append([plant])
    return waves


def alter_runs(runs: Mapping[str, Run], wave: Iterable[Plant]) -> dict[str, Run]:
    """Return the runs with the altered answers of a wave."""
    altered = dict(runs)
    for plant in wave:
        run = altered[plant.run]
        (response,) = run.responses(plant.question)
        answers = dict(run.answers)
        answers[plant.question] = (Response(plant.alter(response.text)),)
        altered[plant.run] = replace(run, answers=MappingProxyType(answers))
    return altered


@dataclass(frozen=True)
class Decisions:
    """Which pairs a classifier counts as carried: all untouched ones, and the planted ones."""

    classifier: str
    half: str
    untouched: dict[Pair, bool]
    planted: dict[Pair, bool]

    def save(self, path: Path) -> None:
        """Write the decisions as JSON, at once or not at all."""
        untouched, planted = (
            [[*pair, carried] for pair, carried in decisions.items()]
            for decisions in (self.untouched, self.planted)
        )
        header = {"classifier": self.classifier, "half": self.half}
        part = path.with_name(path.name + ".part")
        part.write_text(json.dumps(header | {"untouched": untouched, "planted": planted}) + "\n")
        part.replace(path)


def load_decisions(path: Path) -> Decisions:
    """Read saved decisions."""
    try:
        fields = json.loads(path.read_text("utf-8"))
        untouched, planted = (
            {(question, nugget, run): carried for question, nugget, run, carried in fields[name]}
            for name in ("untouched", "planted")
        )
        return Decisions(fields["classifier"], fields["half"], untouched, planted)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: expected decisions that --save wrote ({type(error).__name__}: {error})"
        ) from None


def decide(
    half: str, classifier: NamedSettings, plants: Sequence[Plant], per_nugget: int
) -> Decisions:
    """Predict all pairs of a half, untouched and altered, topic by topic."""
    key, runs, judgements = rag24()
    nuggets = NuggetSet("rag24", key, MappingProxyType({run.tag: run for run in runs}), judgements)
    decisions = Decisions(str(classifier), half, {}, {})
    for topic in topics_of(half, key.questions):
        waves = make_waves((plant for plant in plants if plant.question == topic), per_nugget)
        untouched, planted = decide_topic(nuggets, topic, classifier, waves)
        decisions.untouched.update(untouched)
        decisions.planted.update(planted)
        print(f"{topic}: {len(waves)} waves", file=sys.stderr, flush=True)
    return decisions


def decide_topic(
    nuggets: NuggetSet, topic: str, classifier: NamedSettings, waves: Iterable[Sequence[Plant]]
) -> tuple[dict[Pair, bool], dict[Pair, bool]]:
    """Return the decisions about untouched and planted pairs, without judgements of the topic."""
    training = tuple(row for row in nuggets.judgements.rows if row.question != topic)
    nuggets = replace(nuggets, judgements=Judgements(training))
    predictions = predict_support(nuggets, classifier=classifier)
    untouched = {
        (topic, nugget.id, run.tag): is_carried(predictions, (topic, nugget.id, run.tag))
        for run in nuggets.runs.values()
        if run.responses(topic)
        for nugget in nuggets.key.questions[topic].nuggets
    }
    planted: dict[Pair, bool] = {}
    for wave in waves:
        altered = replace(nuggets, runs=MappingProxyType(alter_runs(nuggets.runs, wave)))
        predictions = predict_support(altered, classifier=classifier)
        planted |= {plant.pair: is_carried(predictions, plant.pair) for plant in wave}
    return untouched, planted


def is_carried(predictions: Predictions, pair: Pair) -> bool:
    """Return the decision about a pair."""
    question, nugget, run = pair
    pool = predictions.pool
    ids = [n.id for q in pool.questions if q.id == question for n in q.nuggets]
    return bool(pool.answer(predictions.carried, run, question)[0, ids.index(nugget)])


def wilson(count: int, total: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share.

    (p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)
    """
    if not total:
        return 0.0, 1.0
    p, square = count / total, Z * Z / total
    center, reach = p + square / 2, Z * (p * (1 - p) / total + square / (4 * total)) ** 0.5
    low, high = (center - reach) / (1 + square), (center + reach) / (1 + square)
    return max(low, 0.0), min(high, 1.0)


def share(count: int, total: int) -> str:
    """A share with its interval and counts."""
    if not total:
        return "none"
    low, high = wilson(count, total)
    return f"{count / total:.1%} [{low:.1%}, {high:.1%}] ({count} of {total})"


def print_planted(decisions: Decisions, plants: Sequence[Plant]) -> None:
    """Print (a) and (b) for each kind and for all."""
    by_kind: dict[str, list[Pair]] = defaultdict(list)
    for plant in plants:
        if plant.pair in decisions.planted:
            by_kind[plant.kind].append(plant.pair)
            by_kind["all"].append(plant.pair)
    print(f"\n## {decisions.half}, {decisions.classifier}\n")
    print(
        "| kind | plants | a: carried while untouched | b: of these, no longer carried |\n"
        "|---|---|---|---|"
    )
    for kind in (*KINDS, "all"):
        pairs = by_kind[kind]
        carried = [pair for pair in pairs if decisions.untouched[pair]]
        noticed = sum(not decisions.planted[pair] for pair in carried)
        print(
            f"| {kind} | {len(pairs)} | {share(len(carried), len(pairs))} "
            f"| {share(noticed, len(carried))} |"
        )


def print_lost(decisions: Decisions, base: Decisions) -> None:
    """Print (c), and the share of wrongly carried pairs that the classifier no longer counts."""
    if base.half != decisions.half:
        raise InputError(
            f"the saved decisions are about the {base.half} half, not {decisions.half}"
        )
    labels = {
        (row.question, row.nugget, row.run): row.value > 0 for row in rag24()[2].rows if row.run
    }
    print(f"\nAgainst {base.classifier}, untouched pairs that it counts as carried:\n")
    print("| people say | no longer counted |\n|---|---|")
    for title, is_supported in (("c: carried", True), ("not carried", False)):
        pairs = [
            pair
            for pair, carried in base.untouched.items()
            if carried and labels[pair] is is_supported
        ]
        lost = sum(not decisions.untouched[pair] for pair in pairs)
        print(f"| {title} | {share(lost, len(pairs))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--half", choices=("development", "reported"), required=True)
    parser.add_argument("--classifier", default="calibrated", help="NAME[:SETTING=VALUE,…]")
    parser.add_argument("--per-nugget", type=int, default=1, help="altered answers of a wave")
    parser.add_argument("--save", type=Path, help="write the decisions to this JSON file")
    parser.add_argument("--against", type=Path, help="decisions of a base classifier")
    options = parser.parse_args()
    try:
        base = load_decisions(options.against) if options.against else None
        plants = read_plants()
        decisions = decide(
            options.half, parse_classifier(options.classifier), plants, options.per_nugget
        )
        if options.save:
            decisions.save(options.save)
        print_planted(decisions, plants)
        if base:
            print_lost(decisions, base)
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
