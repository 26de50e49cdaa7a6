"""A gate as JUnit XML: a test case for each metric and guard."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from karat.errors import visible
from karat.gating.decisions import FAIL, UNDECIDED
from karat.gating.gates import GateResult


def junit_xml(result: GateResult, undecided_fails: bool = False) -> str:
    """Return the test suite; an undecided metric is skipped, unless it is to fail."""
    names = [str(row.metric) for row in result.rows]
    names += [f"{row.guard} {row.metric or ''}".strip() for row in result.guards]
    failing = {FAIL, UNDECIDED} if undecided_fails else {FAIL}
    suite = Element("testsuite", name=visible(f"karat gate {result.system}"), tests=str(len(names)))
    suite.set("failures", str(sum(verdict in failing for verdict in result.verdicts)))
    suite.set("errors", "0")
    skipped = sum(verdict == UNDECIDED and verdict not in failing for verdict in result.verdicts)
    suite.set("skipped", str(skipped))
    for name, verdict, sentence in zip(names, result.verdicts, result.sentences, strict=True):
        case = SubElement(suite, "testcase", classname="karat.gate", name=visible(name), time="0")
        told = visible(f"{verdict}: {sentence}")
        if verdict in failing:
            SubElement(case, "failure", message=told, type=verdict).text = told
        elif verdict == UNDECIDED:
            SubElement(case, "skipped", message=told)
        else:
            SubElement(case, "system-out").text = told
    suites = Element("testsuites")
    suites.append(suite)
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'
