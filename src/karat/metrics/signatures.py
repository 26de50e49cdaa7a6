"""sacreBLEU's signatures of BLEU, chrF and TER, read and written.

    BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0
    chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0
    TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0

Also in the short form (`#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0`). A field that is left out has
sacreBLEU's default. Karat's version is written as `version:karat-0.2.0`.

sacreBLEU does not sign all settings: not BLEU's order, and only two decimals of a
smoothing value. Metrics with such settings have no signature in this form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from karat import __version__
from karat.errors import MetricError, quoted
from karat.metrics.base import Claims, Metric, check_plugin, check_version, is_count
from karat.metrics.names import METRICS, parse_name
from karat.registry import origin
from karat.score_settings import CORRECTIONS, JACKKNIFE, PAIRED_TESTS
from karat.settings import nearest, split_unquoted, to_text
from karat.text.tokens import tokenizer_origin

FIRST, LAST = (2, 0), (2, 6)
"""Versions of sacreBLEU with this form of signatures and the same numbers as Karat."""

TOKENIZERS = ("13a", "intl", "zh", "char", "none", "flores101", "flores200", "spBLEU-1K")
"""sacreBLEU's tokenisers that are signed without a version."""

MECAB = ("ja-mecab", "ko-mecab")
"""sacreBLEU's tokenisers that are signed with their version."""

_SHORT = {"#": "nrefs", "rs": "seed", "t": "test", "l": "lang", "o": "origlang", "S": "subset"}
_SHORT |= {"v": "version", "c": "case"}
_SHORT_OF = {
    "bleu": _SHORT | {"e": "eff", "s": "smooth"},
    "chrf": _SHORT | {"e": "eff", "s": "space"},
    "ter": _SHORT | {"t": "tok", "nr": "norm", "pn": "punct", "as": "asian"},
}
_SHARED = ("nrefs", "bs", "ar", "seed", "test", "lang", "origlang", "subset", "version")
_TEST_SETS = ("test", "lang", "origlang", "subset")

Settings = dict[str, Any]
Reader = Callable[[str], Settings | None]
"""Parses the value of a field into settings; None if the value is invalid."""


def _switch(setting: str, inverted: bool = False) -> Reader:
    return lambda value: {setting: (value == "yes") ^ inverted} if value in ("yes", "no") else None


def _order(setting: str) -> Reader:
    return lambda value: {setting: int(value)} if re.fullmatch(r"\d{1,3}", value, re.A) else None


def _smooth(value: str) -> Settings | None:
    if value in ("exp", "none"):
        return {"smooth": value}
    match = re.fullmatch(r"(floor|add-k)\[(\d+\.\d\d)\]", value, re.A)
    return {"smooth": match[1], "smooth_value": float(match[2])} if match else None


def _case(value: str) -> Settings | None:
    return {"case": {"mixed": "mixed", "lc": "lower"}[value]} if value in ("mixed", "lc") else None


def _tok(value: str) -> Settings | None:
    """Parse a tokeniser; a version must be the installed one."""
    if value in (*TOKENIZERS, *MECAB):
        return {"tok": value}
    name = next((name for name in MECAB if value.startswith(f"{name}-")), None)
    if name is not None and value != (installed := written_tokenizer(name)):
        raise MetricError(
            f"tok:{value}: {installed} is installed here; install the other, or write tok:{name}"
        )
    return None if name is None else {"tok": name}


def written_tokenizer(tok: str) -> str | None:
    """Return a tokeniser as sacreBLEU signs it; None if sacreBLEU does not have it."""
    if tok in MECAB:
        return f"{tok}-{tokenizer_origin(tok)}"
    return tok if tok in TOKENIZERS else None


_FIELDS: dict[str, dict[str, tuple[Reader, str]]] = {
    "bleu": {
        "case": (_case, "mixed or lc"),
        "eff": (_switch("eff"), "yes or no"),
        "tok": (_tok, f"a tokeniser that Karat has too: {', '.join((*TOKENIZERS, *MECAB))}"),
        "smooth": (_smooth, "exp, none, floor[0.10] or add-k[1.00]"),
    },
    "chrf": {
        "case": (_case, "mixed or lc"),
        "eff": (_switch("eps", inverted=True), "yes or no"),
        "nc": (_order("n"), "a whole number"),
        "nw": (_order("words"), "a whole number"),
        "space": (_switch("space"), "yes or no"),
    },
    "ter": {
        "case": (_case, "mixed or lc"),
        "tok": (lambda value: {} if value == "tercom" else None, "tercom"),
        "norm": (_switch("norm"), "yes or no"),
        "punct": (_switch("nopunct", inverted=True), "yes or no"),
        "asian": (_switch("asian"), "yes or no"),
    },
}
"""Metric -> its fields in sacreBLEU's order, each with its parser and the expected values."""

_ALL = {*_SHARED, *(f for fields in _FIELDS.values() for f in fields)}
_ALL |= {short for table in _SHORT_OF.values() for short in table}


def parse_sacrebleu(text: str, head: str, fields: list[str]) -> Metric:
    """Return the metric of a signature, from its name (may be empty) and `name:value` fields."""
    pairs = [(name.strip(), value.strip()) for name, _, value in (f.partition(":") for f in fields)]
    name, settings = (
        _parse_metric_name(text, head) if head else (_guess_metric(text, dict(pairs)), {})
    )
    values_by_field: dict[str, str] = {}
    for field, value in pairs:
        long = _SHORT_OF[name].get(field, field)
        if long in values_by_field:
            raise MetricError(f"{text}: {field} is given twice")
        values_by_field[long] = value
    for field, value in values_by_field.items():
        more = {} if field in _SHARED else _read_field(text, name, field, value)
        for key, setting_value in more.items():
            if settings.setdefault(key, setting_value) != setting_value:
                conflict = f"the name says {key}={to_text(settings[key])}"
                raise MetricError(f"{text}: {conflict}, its field {key}={to_text(setting_value)}")
    _check_version(text, values_by_field.pop("version", None))
    return METRICS[name](**settings).with_claims(_claims(text, values_by_field))


def _parse_metric_name(text: str, head: str) -> tuple[str, Settings]:
    """Return the metric of a name such as `chrF2++`, and the settings in the name."""
    written = head.lower()
    if written in ("bleu", "ter"):
        return written, {}
    match = re.fullmatch(r"chrf(\d+(?:\.\d+)?(?:e-?\d+)?)?(\+*)", written, re.A)
    if match is None:
        raise MetricError(
            f"{text}: fields with a colon are sacreBLEU's, whose metrics are BLEU, chrF and TER; "
            f"expected one of them before the first bar, as in BLEU|nrefs:1|case:mixed"
        )
    settings: Settings = {"words": len(match[2])} if match[2] else {}
    return "chrf", settings | ({"beta": float(match[1])} if match[1] else {})


def _guess_metric(text: str, fields: Mapping[str, str]) -> str:
    """Return the metric that has these fields."""
    if {"nc", "nw", "space"} & {*fields}:
        raise MetricError(
            f"{text}: chrF has its beta only in its name; write the name before "
            f"it, as in chrF2|{text}"
        )
    if {"norm", "punct", "asian", "nr", "pn", "as"} & {*fields} or "tercom" in fields.values():
        return "ter"
    if {"tok", "smooth"} & {*fields}:
        return "bleu"
    raise MetricError(f"{text}: no metric is named; write it first, as in BLEU|{text}")


def _read_field(text: str, name: str, field: str, value: str) -> Settings:
    fields = _FIELDS[name]
    if field not in fields:
        field_names = (*_SHARED[:4], *fields, "version")
        hint, has = nearest(field, field_names), f"it has {', '.join(field_names)}"
        raise MetricError(
            f"{text}: sacreBLEU's {_TITLES[name]} has no field {quoted(field)}{hint} ({has})"
        )
    read, expected = fields[field]
    settings = read(value)
    if settings is None:
        raise MetricError(f"{text}: {field}:{value}: expected {expected}")
    return settings


def _check_version(text: str, version: str | None) -> None:
    if version is None:
        return
    if version.startswith("karat-"):
        check_version(text, version.removeprefix("karat-"))
        return
    match = re.fullmatch(r"(\d{1,4})\.(\d{1,4})(\.\w{1,20})*", version, re.A)
    if match is None:
        raise MetricError(f"{text}: version:{version}: expected a version, such as 2.6.0")
    if not FIRST <= (int(match[1]), int(match[2])) <= LAST:
        span = " to ".join(f"{major}.{minor}" for major, minor in (FIRST, LAST))
        numbers = f"Karat's numbers are those of sacreBLEU {span}"
        leave = "leave version out to score with them"
        raise MetricError(f"{text}: version:{version}: {numbers}; {leave}")


def _claims(text: str, fields: Mapping[str, str]) -> Claims:
    """Return the claims about references, tests, trials and seed, by Karat's names."""
    for field in _TEST_SETS:
        if field in fields:
            raise MetricError(
                f"{text}: {field}:{fields[field]}: Karat has none of sacreBLEU's test sets; give "
                f"the references as files, and leave {field} out"
            )
    names = {"nrefs": "nrefs", "bs": "trials", "ar": "trials", "seed": "seed"}
    claims = {}
    for field, test in _TEST_OF.items():
        if field in fields:
            claims["test"] = test
    for field, name in names.items():
        value = fields.get(field)
        if value is None:
            continue
        if not is_count(value) and (field, value) != ("nrefs", "var"):
            raise MetricError(f"{text}: {field}:{value}: expected a whole number")
        claims[name] = value
    return Claims(tuple(claims.items()))


_TEST_OF = {"bs": "sacrebleu-bootstrap", "ar": "sacrebleu-ar"}
"""Field of sacreBLEU with the number of trials -> the test."""
_TITLES = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}


def sacrebleu_signature(
    metric: Any, references: int | str | None, resampling: Mapping[str, object]
) -> str | None:
    """Return the signature in sacreBLEU's form; None if it cannot express the settings."""
    values = _values(metric) if metric.name in _TITLES else None
    if values is None or "buckets" in resampling:
        return None
    test = resampling.get("test")
    trials = {f: resampling.get("trials") for f, name in _TEST_OF.items() if name == test}
    shared = {
        "nrefs": "var" if references is None else references,
        **trials,
        "seed": resampling.get("seed"),
    }
    fields = {**shared, **values, "version": f"karat-{__version__}"}
    written = (f"{name}:{value}" for name, value in fields.items() if value is not None)
    title = _TITLES[metric.name]
    if metric.name == "chrf":
        title += to_text(metric.beta) + "+" * int(metric.words)
    return "|".join([title, *written])


def _values(metric: Any) -> dict[str, str] | None:
    case = {"case": "lc" if metric.case == "lower" else "mixed"}
    if metric.name == "chrf":
        orders = {"nc": str(metric.n), "nw": str(metric.words)}
        return case | {"eff": to_text(not metric.eps), **orders, "space": to_text(metric.space)}
    if metric.name == "ter":
        switches = {"norm": metric.norm, "punct": not metric.nopunct, "asian": metric.asian}
        return case | {"tok": "tercom"} | {k: to_text(v) for k, v in switches.items()}
    amount = metric.smoothed_by
    smooth = metric.smooth if amount is None else f"{metric.smooth}[{amount:.2f}]"
    read = _smooth(smooth)
    lost = read is None or read.get("smooth_value") != amount
    tok = written_tokenizer(metric.tok)
    if metric.n != 4 or tok is None or lost:
        return None
    return case | {"eff": to_text(bool(metric.eff)), "tok": tok, "smooth": smooth}


_CHOICES = {"test": PAIRED_TESTS, "correction": tuple(CORRECTIONS), "ci": (JACKKNIFE,)}
_COUNTS = ("nrefs", "trials", "bootstrap", "seed", "buckets")
FIELDS = ("karat", "plugin", "unit", *_CHOICES, *_COUNTS)
"""Fields after the settings in Karat's signatures."""

_UNCOUNTED = (("nrefs", "var"), ("nrefs", "unknown"))


def parse_signature(text: str) -> Metric:
    """Return the metric of a signature, with its claims."""
    head, *fields = (part.strip() for part in split_unquoted(text, "|"))
    if head.partition(":")[0] in _ALL and ":" in head:  # the metric's name is left out
        head, fields = "", [head, *fields]
    signs = {_sign(text, field) for field in fields}
    if len(signs) > 1:
        problem = "fields with = (Karat's) and with : (sacreBLEU's) in one signature"
        raise MetricError(f"{text}: {problem}: write all in one form")
    return (_parse_karat if signs == {"="} else parse_sacrebleu)(text, head, fields)


def _sign(text: str, field: str) -> str:
    """Return the sign between a field's name and its value, = or :."""
    sign = next((c for c in field if c in "=:"), "")
    if not sign or field.startswith(sign) or field.endswith(sign):
        raise MetricError(
            f"{text}: {quoted(field)} is not a field of a signature; expected Karat's form, "
            f"as in bleu|nrefs=1, or sacreBLEU's, as in BLEU|nrefs:1|case:mixed; a value with a "
            f"bar needs quotes"
        )
    return sign


def _parse_karat(text: str, head: str, fields: list[str]) -> Metric:
    metric = parse_name(head)
    claims: dict[str, str] = {}
    for field in fields:
        name, _, value = (part.strip() for part in field.partition("="))
        if name not in FIELDS:
            hint = f"{nearest(name, FIELDS)} (there are {', '.join(FIELDS)})"
            raise MetricError(f"{text}: no field {quoted(name)} in signatures{hint}")
        if name in claims:
            raise MetricError(f"{text}: {name} is given twice")
        expected = ""
        if name in _CHOICES and value not in _CHOICES[name]:
            expected = f"expected {' or '.join(_CHOICES[name])}"
        elif name in _COUNTS and not is_count(value) and (name, value) not in _UNCOUNTED:
            expected = "expected a whole number"
        if expected:
            raise MetricError(f"{text}: {name}={value}: {expected}")
        claims[name] = value
    check_version(text, claims.pop("karat", __version__))
    check_plugin(text, claims.pop("plugin", ""), origin(type(metric)))
    return metric.with_claims(Claims(tuple(claims.items())))
