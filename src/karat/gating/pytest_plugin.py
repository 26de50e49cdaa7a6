"""The pytest plugin: the fixture `karat_gate`, and `--karat-update`, which writes baselines.

Every run of pytest loads it if Karat is installed, so it imports nothing of Karat until the
fixture is called.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from karat.gating.gates import GateResult


class GateUndecided(UserWarning):
    """A gate without a decision."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--karat-update`."""
    group = parser.getgroup("karat")
    group.addoption(
        "--karat-update",
        action="store_true",
        help="write the baselines of karat_gate from this run; compare nothing",
    )


@pytest.fixture
def karat_gate(request: pytest.FixtureRequest) -> Callable[..., GateResult | None]:
    """Fail the test if outputs are worse than their baseline; warn if that is undecided.

    karat_gate(outputs, references, "chrf", max_drop=1.0) takes the arguments of `karat.gate`. The
    baseline is a file beside the test, named after it, unless `baseline` names another. With
    `undecided="fail"`, an undecided gate fails, too.
    """
    calls: list[str] = []

    def check(
        output: Any,
        references: Any = None,
        metrics: Any = None,
        *,
        baseline: Any = None,
        undecided: str = "warn",
        **settings: Any,
    ) -> GateResult | None:
        __tracebackhide__ = True
        if undecided not in ("warn", "fail"):
            pytest.fail(f"undecided={undecided!r}: expected 'warn' or 'fail'", pytrace=False)
        if baseline is None:
            calls.append("")
            baseline = _default_baseline(request, len(calls))
        from karat.errors import KaratError
        from karat.gating.gates import gate, write_baseline

        try:
            if request.config.getoption("--karat-update"):
                settings = {name: value for name, value in settings.items() if name not in _LIMITS}
                write_baseline(output, references, metrics, baseline=baseline, **settings)
                return None
            result = gate(output, references, metrics, baseline=baseline, **settings)
        except KaratError as error:  # fails the test with its message alone
            pytest.fail(str(error), pytrace=False)
        if result.failed or (result.undecided and undecided == "fail"):
            raise AssertionError(_failure_message(result))
        if result.undecided:
            warnings.warn(GateUndecided(_failure_message(result)), stacklevel=2)
        return result

    return check


_LIMITS = (
    *("max_drop", "min_score", "max_item_drop", "no_loss"),
    *("correction", "examples"),
)


def _default_baseline(request: pytest.FixtureRequest, call: int) -> Path:
    """Return the default path of a test's baseline; repeated calls in a test are numbered."""
    name = ".".join(request.node.nodeid.split("::")[1:])
    number = f".{call}" if call > 1 else ""
    name = f"{request.path.stem}.{quote(name, safe='[]')}{number}.gate.tsv"
    return request.path.with_name(name)


def _failure_message(result: GateResult) -> str:
    checks = zip(result.verdicts, result.sentences, strict=True)
    lines = [f"karat gate: {result.verdict} (baseline {result.baseline})"]
    lines += [f"  {verdict}: {sentence}" for verdict, sentence in checks]
    for change in result.changes[:3]:
        lines.append(f"  item {change.item} lost {-change.delta:.4g} by {result.changes_by}:")
        lines += [f"    reference: {change.reference}", f"    output:    {change.output}"]
    return "\n".join(lines)
