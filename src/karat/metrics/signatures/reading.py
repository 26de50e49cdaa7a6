"""Signatures read back: Karat's own, and those of sacreBLEU (`sacrebleu_form`).

    bleu:n=4,tok=13a,…|nrefs=2|karat=0.2.0|bootstrap=1000|seed=12345
    BLEU|nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0

Every field is read, or refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat import __version__
from karat.errors import MetricError, quoted
from karat.metrics.names import parse_name
from karat.metrics.signatures.claims import Claims, check_plugin, check_version, is_count
from karat.metrics.signatures.sacrebleu import metric_of_fields, starts_with_field
from karat.registry import origin
from karat.settings import nearest

if TYPE_CHECKING:
    from karat.metrics.base import Metric

FIELDS = ("nrefs", "karat", "plugin", "test", "trials", "bootstrap", "seed", "buckets")
"""The fields that follow the settings in Karat's signatures."""

_TESTS = ("bootstrap", "randomization")


def read_signature(text: str) -> Metric:
    """The metric of a signature, with its claims."""
    head, *fields = (part.strip() for part in text.split("|"))
    if starts_with_field(head):
        head, fields = "", [head, *fields]
    signs = {_sign(text, field) for field in fields}
    if len(signs) > 1:
        both = "fields with = (Karat's) and with : (sacreBLEU's) in one signature"
        raise MetricError(f"{text}: {both}: write all in one form")
    return (_read_karat if signs == {"="} else metric_of_fields)(text, head, fields)


def _sign(text: str, field: str) -> str:
    """The sign between a field's name and its value, = or :."""
    found = next((c for c in field if c in "=:"), "")
    if not found or field.startswith(found) or field.endswith(found):
        raise MetricError(
            f"{text}: {quoted(field)} is no field of a signature; expected Karat's form, "
            f"as in bleu|nrefs=1, or sacreBLEU's, as in BLEU|nrefs:1|case:mixed"
        )
    return found


def _read_karat(text: str, head: str, fields: list[str]) -> Metric:
    metric = parse_name(head)
    found: dict[str, str] = {}
    for field in fields:
        name, _, value = (part.strip() for part in field.partition("="))
        if name not in FIELDS:
            known = f"{nearest(name, FIELDS)} (there are {', '.join(FIELDS)})"
            raise MetricError(f"{text}: no field {quoted(name)} in signatures{known}")
        if name in found:
            raise MetricError(f"{text}: {name} is given twice")
        found[name] = _value(text, name, value)
    check_version(text, found.pop("karat", __version__))
    check_plugin(text, found.pop("plugin", ""), origin(type(metric)))
    return metric.claiming(Claims(tuple(found.items())))


def _value(text: str, name: str, value: str) -> str:
    """A field's value, checked."""
    if name in ("karat", "plugin") or (name == "nrefs" and value in ("var", "unknown")):
        return value
    if name == "test":
        good, wanted = value in _TESTS, " or ".join(_TESTS)
    else:
        good, wanted = is_count(value), "a whole number"
    if not good:
        raise MetricError(f"{text}: {name}={value}: expected {wanted}")
    return value
