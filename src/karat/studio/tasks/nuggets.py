"""Nuggets: whether a response supports each nugget of its question, with the evidence marked.

{"nuggets": {"1": {"label": "support", "evidence": [{"start": 0, "end": 12}]}}}

In a draft a nugget may have evidence and no label yet.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from karat.errors import InputError, quoted, short
from karat.nuggets.sets.judgements import NOT, PARTIAL, SUPPORT
from karat.studio.tasks import checks
from karat.studio.tasks.task import (
    AssignmentView,
    CurrentAnswer,
    CurrentDecision,
    Json,
    JudgementRows,
    Task,
    Votes,
)

LABELS = {"support": SUPPORT, "partial": PARTIAL, "none": NOT}
MAX_EVIDENCE = 50


class NuggetTask(Task):
    """Label all nuggets of the question for one response."""

    name = "nuggets"
    needs_nuggets = True

    def settings(self, options: Json) -> dict[str, Any]:
        """Return no settings: the task has none."""
        checks.check_setting_names(self.name, options, ())
        return {}

    def find_error(self, value: object, view: AssignmentView) -> str:
        if error := checks.answer_error(value, (self.name,)):
            return error
        answer: Any = value
        labels = answer.get(self.name, {})
        if not isinstance(labels, dict):
            return f"found nuggets={quoted(labels)}, expected an object by nugget"
        in_key = [nugget.id for nugget in view.nuggets]
        if unknown := [id for id in labels if id not in (*in_key, *view.dropped)]:
            return f"found the nugget {quoted(unknown[0])}, expected {short(', '.join(in_key))}"
        text, is_draft = view.outputs[0].text, not checks.is_done(answer)
        errors = [_label_error(id, label, text, is_draft) for id, label in labels.items()]
        if error := checks.first_error(errors):
            return error
        missing = [id for id in in_key if id not in labels]
        return f"no label for nugget {short(missing[0])}" if missing and not is_draft else ""

    def similarity(self, value: Any, answer: Any, view: AssignmentView) -> float:
        """Return the share of nuggets with the known label."""
        labels, known_labels = value[self.name], answer[self.name]
        return fmean(labels[id]["label"] == known_labels[id]["label"] for id in known_labels)

    def to_judgements(self, value: Json, outputs: Sequence[int]) -> JudgementRows:
        """Return 1, 0.5 or 0 for each nugget."""
        labels = value[self.name].items()
        return [(outputs[0], id, LABELS[label["label"]]) for id, label in labels]

    def without_nuggets(self, value: Json, nuggets: Collection[str]) -> Json:
        labels = {id: label for id, label in value[self.name].items() if id not in nuggets}
        return {**value, self.name: labels}

    def votes(self, answer: CurrentAnswer) -> Votes:
        labels = answer.value[self.name].items()
        return [(answer.outputs[0], id, label["label"]) for id, label in labels]

    def subject(self, about: str) -> str:
        return f"nugget {about}"

    def summarize_votes(self, values: Sequence[Any]) -> str:
        return ", ".join(values)

    def disagreement(self, settings: Json, about: str, values: Sequence[Any]) -> float:
        labels = [LABELS[label] for label in values]
        return max(labels) - min(labels)

    def narrow(self, view: AssignmentView, about: str) -> AssignmentView:
        return replace(view, nuggets=tuple(nugget for nugget in view.nuggets if nugget.id == about))

    def answer_to_decision(self, answer: Json, about: str) -> dict[str, Any]:
        return dict(answer[self.name][about])

    def decision_to_answer(self, value: Any, about: str) -> dict[str, Any]:
        fields = value if isinstance(value, dict) else {}
        label = {key: fields[key] for key in ("label", "evidence") if key in fields}
        return {self.name: {about: label or {"label": value}}}

    def decided_label(self, decision: CurrentDecision) -> float:
        """Return 1, 0.5 or 0 for a decision on a nugget."""
        label = decision.field("label")
        if isinstance(label, str) and label in LABELS:
            return LABELS[label]
        if checks.is_number(label) and label in LABELS.values():
            return float(label)
        raise decision.error(", ".join(LABELS))

    def exported_decision(self, decision: CurrentDecision) -> Any:
        return self.decided_label(decision)

    def check_decision(
        self, decision: CurrentDecision, view: AssignmentView, outputs: Sequence[int]
    ) -> None:
        if decision.about not in ({nugget.id for nugget in view.nuggets} | {*view.dropped}):
            raise InputError(
                f"adjudication {decision.id}: found the nugget {quoted(decision.about)}"
            )
        self.decided_label(decision)


def _label_error(id: str, label: object, text: str, is_draft: bool) -> str:
    """Check the label and the evidence of one nugget."""
    prefix = f"nugget {short(id)}: "
    if not isinstance(label, dict):
        return f"{prefix}found {quoted(label)}, expected an object with label and evidence"
    if unknown := [key for key in label if key not in ("label", "evidence")]:
        return f"{prefix}found the key {quoted(unknown[0])}, expected label and evidence"
    evidence = label.get("evidence", [])
    may_lack_label = is_draft and "label" not in label
    error = "" if may_lack_label else checks.choice_error("label", label.get("label"), LABELS)
    error = error or checks.spans_error("evidence", evidence, text, MAX_EVIDENCE)
    if not error and any({*span} != {"start", "end"} for span in evidence):
        error = "found other keys in the evidence, expected start and end"
    return error and prefix + error
