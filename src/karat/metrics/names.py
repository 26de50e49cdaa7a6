"""Names of metrics: `name` or `name:setting=value,setting=value`.

`metric(str(m)) == m`. Aliases (`ps`, `rs`, `rouge3`, `chrf++`) and presets are parsed to the metric
that they stand for and printed under its own name. Metric classes are imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from karat.errors import MetricError, UnknownMetric, quoted
from karat.metrics.base import Metric
from karat.registry import Registry
from karat.results import Result
from karat.settings import nearest, parse_settings, split_unquoted, to_text

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _check_plugin(name: str, plugin: object) -> None:
    """Raise if a plugin is no metric, or has another name than it is registered under."""
    if not (isinstance(plugin, type) and issubclass(plugin, Metric)):
        raise MetricError(f"metric {name}: {quoted(plugin)} is no subclass of karat.Metric")
    if not re.fullmatch(r"[\w+.-]+", name):
        raise MetricError(f"metric {quoted(name)}: a name has letters, digits, _, -, + and . only")
    if _fold(str(getattr(plugin, "name", ""))) != _fold(name):
        class_name = quoted(getattr(plugin, "name", None))
        raise MetricError(
            f"metric {name}: its class says name = {class_name}; expected {quoted(name)}"
        )
    for f in fields(plugin):
        if "kind" not in f.metadata:
            example = f'{f.name}: … = karat.setting(default, "what it means")'
            raise MetricError(f"metric {name}: its field {f.name} is no setting: write {example}")


METRICS: Registry[type[Metric]] = Registry(
    "metrics",
    "metric",
    {
        "aev": "karat.metrics.ngram:AEv",
        "bertscore": "karat.metrics.bertscore:BERTScore",
        "bleu": "karat.metrics.ngram:BLEU",
        "chrf": "karat.metrics.chrf:ChrF",
        "contains": "karat.metrics.answers:Contains",
        "cosine": "karat.metrics.cosine:Cosine",
        "em": "karat.metrics.answers:ExactMatch",
        "entail": "karat.metrics.entailment:Entailment",
        "estimate": "karat.estimation.estimate_metric:HumanEstimate",
        "f1": "karat.metrics.answers:AnswerF1",
        "facts": "karat.metrics.facts:FactAgreement",
        "given": "karat.metrics.given:ExternalScores",
        "gtm": "karat.metrics.gtm:GTM",
        "generation_accuracy": "karat.metrics.accuracy:GenerationAccuracy",
        "generation_tree_accuracy": "karat.metrics.tree:GenerationTreeAccuracy",
        "json": "karat.metrics.answers:ValidJSON",
        "length": "karat.metrics.length:Length",
        "number": "karat.metrics.answers:NumberMatch",
        "pass@1": "karat.metrics.pass_k:PassAtK",
        "pass^1": "karat.metrics.pass_k:PassAllK",
        "quality_accuracy": "karat.metrics.tree:QualityAccuracy",
        "regex": "karat.metrics.answers:RegexMatch",
        "rouge1": "karat.metrics.rouge:RougeN",
        "rougeL": "karat.metrics.rouge:RougeL",
        "rougeLsum": "karat.metrics.rouge:RougeLsum",
        "simple_accuracy": "karat.metrics.accuracy:SimpleAccuracy",
        "simple_tree_accuracy": "karat.metrics.tree:SimpleTreeAccuracy",
        "support": "karat.metrics.entailment:Support",
        "ter": "karat.metrics.ter:TER",
        "understandability_accuracy": "karat.metrics.tree:UnderstandabilityAccuracy",
        "wer": "karat.metrics.ter:WER",
    },
    folded=_fold,
    check=_check_plugin,
)

ALIASES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "ps": ("aev", {"alpha": 1.0}),
    "rs": ("aev", {"alpha": 0.0}),
    "chrf++": ("chrf", {"words": 2}),
    "rouge2": ("rouge1", {"n": 2}),
}
"""Alias -> name and settings."""


def metric(name: str | Metric) -> Metric:
    """Return the metric with a name or signature (Karat's or sacreBLEU's); pass metrics through."""
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        kind = getattr(name, "__name__", type(name).__name__)
        raise MetricError(f"{kind} is no metric: give its name, such as bleu, or a metric")
    if len(split_unquoted(name, "|")) == 1:
        return parse_name(name)
    from karat.metrics.signatures import parse_signature

    return parse_signature(name)


def parse_name(text: str) -> Metric:
    """Return the metric of `name` or `name:setting=value,setting=value`."""
    head = text.partition(":")[0].strip()
    name, fixed = _resolve(head) or ("", {})
    cls = METRICS.find(name)
    if cls is None:
        raise UnknownMetric(_describe_unknown(head), head)
    return parse_settings(cls, text, fixed, _other_metric_hint)


def _resolve(head: str) -> tuple[str, dict[str, Any]] | None:
    """Return the canonical name of a metric, and the settings that an alias implies."""
    written = _fold(head)
    if written in ALIASES:
        return ALIASES[written]
    if order := re.fullmatch(r"rouge(\d{1,3})", written):
        return "rouge1", {} if order[1] == "1" else {"n": int(order[1])}
    if re.match(r"pass[@^]", written):
        order = re.fullmatch(r"(pass[@^])(\d{1,9})", head.lower())
        return order and (f"{order[1]}1", {} if order[2] == "1" else {"k": int(order[2])})
    name = METRICS.name(head)
    return None if name is None else (name, {})


def _describe_unknown(head: str) -> str:
    """Return the error message for an unknown metric."""
    several = re.split(r"[\s,;]+", head)
    if len(several) > 1 and all(map(_resolve, several)):
        options = " ".join(f"-m {name}" for name in several)
        advice = f"give them one by one, {options} (in Python, a list)"
        return f"{quoted(head)} is several metrics: {advice}"
    if re.search(r"\+numrefs\.\d|\+version\.1\.", head):
        return (
            f"{quoted(head)} is a signature of sacreBLEU 1: write it in the form of sacreBLEU 2, "
            f"as in BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
        )
    hint = nearest(head, [*METRICS, *ALIASES])
    try:
        column = f"; a column of scores is {scores_metric(column=head)}" if head else ""
    except MetricError:  # it has characters that a setting cannot have
        column = ""
    return f"unknown metric {quoted(head)}{hint} (karat metrics lists them all{column})"


def scores_metric(**settings: str) -> str:
    """Return the name of the metric `given` with these settings."""
    from karat.metrics.given import ExternalScores

    values: dict[str, Any] = dict(settings)
    return str(ExternalScores(**values))


def explain_unknown(error: UnknownMetric, evalset: EvalSet) -> UnknownMetric:
    """Return the error for an unknown metric that says if a set has scores of that name."""
    advice = []
    if error.name in evalset.offered:
        advice.append(
            f"{evalset.name} has a column of that name: {scores_metric(column=error.name)}"
        )
    if error.name in evalset.dimensions:
        judged = scores_metric(metric=error.name)
        advice.append(f"{evalset.name} has judgements of that dimension: {judged}")
    if not advice:
        return error
    message = f"unknown metric {quoted(error.name)}; {'; '.join(advice)}"
    return UnknownMetric(message, error.name)


def _other_metric_hint(item: str) -> str:
    """Return a hint if a setting looks like the name of another metric."""
    key = item.partition("=")[0].strip()
    return f" (another metric is another option: -m {item.strip()})" if _resolve(key) else ""


class MetricSetting(NamedTuple):
    """One setting of one metric; a metric without settings has one row without a setting."""

    metric: str
    title: str
    range: str
    summary: str
    scale: float
    setting: str | None = None
    default: str | None = None
    meaning: str | None = None
    values: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MetricCatalogue(Result):
    """Metrics with their settings."""

    rows: tuple[MetricSetting, ...]
    notes: tuple[str, ...]
    signature: ClassVar[str] = ""

    @property
    def settings(self) -> dict[str, object]:
        """The metrics that are listed."""
        return {"metrics": tuple(dict.fromkeys(row.metric for row in self.rows))}


def list_metrics(*names: str) -> MetricCatalogue:
    """List metrics with their settings.

    Args:
        names: metrics to list; by default all.
    """
    broken: list[str] = []
    chosen = [type(metric(name)) for name in names]
    if not names:  # families as listed
        listed = sorted(METRICS.usable(broken), key=lambda entry: entry[0][:1])
        chosen += [cls for _, cls in listed]
    rows = tuple(row for cls in dict.fromkeys(chosen) for row in _rows(cls))
    other = ", ".join(f"{a} = {metric(a)}" for a in ALIASES if str(metric(a)) != a)
    notes = (
        "Write a metric as name or name:setting=value,setting=value.",
        f"Other names: {other}; rouge3, rouge4, … for other orders.",
    )
    return MetricCatalogue(rows, (*notes, *broken))


def _rows(cls: type[Metric]) -> Iterator[MetricSetting]:
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    if cls.score_range or cls.bounded:
        scores = cls.score_range or f"0 to {cls.full_scale:.0f}"
    elif cls().sign > 0:
        scores = f"up to {cls.full_scale:.0f}, may be negative"
    else:
        scores = "from 0, lower is better"
    about = cls.name, cls.title or cls.name, scores, summary, cls.full_scale
    for f in cls.settings():
        default = f.metadata["unset"] if f.default is None else to_text(f.default)
        yield MetricSetting(*about, f.name, default, f.metadata["help"], _values(f))
    for preset, settings in cls.presets.items():
        means = ", ".join(f"{key}={to_text(value)}" for key, value in settings.items())
        yield MetricSetting(*about, "preset", "none", means, preset)
    if not (cls.settings() or cls.presets):
        yield MetricSetting(*about)


def _values(f: Field[Any]) -> str:
    choices, kind = f.metadata["choices"], f.metadata["kind"]
    if isinstance(choices, Mapping):
        return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items())
    if choices is not None:
        return ", ".join(choices() if callable(choices) else choices)
    if kind is bool:
        return "yes, no" if f.default is not None else f"{f.metadata['unset']}, yes, no"
    if kind not in (int, float):
        return ""
    low, high, above = (f.metadata[key] for key in ("low", "high", "above"))
    if above > low:
        return f"> {to_text(above)}"
    return f"{to_text(low)} to {to_text(high)}" if high < 1e6 else f"{to_text(low)} or more"
