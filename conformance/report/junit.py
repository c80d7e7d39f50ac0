"""The report for build servers: a test suite per stream, a test case per rule and exchange.

The name of a case is its rule, its class the step or the file, and the exchange; no two cases share
both. What does not apply has no case.
PASS is a plain case, FAIL a `failure` whose `type` is the rule's level, ERROR an `error`, and
every other verdict `skipped` with its reason: a rule that was not exercised never looks green.
A FAIL that a baseline expects is `skipped`, too, and so is a rule that something else than its own
evidence silenced; a stale entry is a `failure`.
A rule that failed in many streams has as many failed cases; each says in how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from tempfile import SpooledTemporaryFile
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.judging.groups import FindingGroup, groups_by_finding
from conformance.judging.result import (
    Finding,
    FindingKey,
    Report,
    StreamResult,
    finding_key,
    silenced_rules,
)
from conformance.report.locations import keeps_files
from conformance.report.printable import Paint, visible
from conformance.report.text import TextPage, finding_block
from conformance.report.wording import (
    finding_sentence,
    report_warnings,
    stale_entries,
    stream_title,
)
from conformance.rules.verdicts import Verdict

_TAGS: Final = {Verdict.FAIL: "failure", Verdict.ERROR: "error"}
_COUNTED: Final = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
_IN_MEMORY: Final = 1 << 24  # bytes of suites before they go to disk
_AT_ONCE: Final = 1 << 20


def render(report: Report, **_: bool) -> str:
    """One XML document, always whole."""
    return "".join(pieces(report))


def pieces(report: Report, **_: bool) -> Iterator[str]:
    """The document in pieces that end with a line; the suites of 10,000 streams take a gigabyte.

    Its first line counts what comes below it, so that is written to a file until it is known.
    """
    root = Element("testsuites", name="conformance")
    counts: Counter[str] = Counter()
    with SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as below:
        for suite in _test_suites(report):
            counts += _count_cases(suite)
            indent(suite, level=1)
            below.write(f"  {tostring(suite, encoding='unicode')}\n")
        _set_counts(root, counts)
        if report.call is not None:
            root.set("timestamp", report.call.started)
            root.set("time", f"{report.call.seconds:.3f}")
        opening = tostring(root, encoding="unicode")
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        if not below.tell():
            yield f"{opening}\n"
            return
        yield f"{opening.removesuffix(' />')}>\n"
        below.seek(0)
        while lines := below.readlines(_AT_ONCE):
            yield "".join(lines)
        yield f"</{root.tag}>\n"


def _test_suites(report: Report) -> Iterator[Element]:
    """The suites one by one; earlier ones are not kept."""
    warnings = report_warnings(report)
    for suite in _bare_suites(report):
        _set_counts(suite, _count_cases(suite))
        if report.call is not None:
            suite.set("timestamp", report.call.started)
        for timed in (suite, *suite.iter("testcase")):
            # How long a rule takes by itself is not known.
            timed.set("time", "0.000")
        for warning in warnings:
            # Only a suite may carry output; the warning concerns them all.
            SubElement(suite, "system-err").text = warning
        warnings = ()
        yield suite


def _bare_suites(report: Report) -> Iterator[Element]:
    groups = groups_by_finding(report)
    named: Counter[str] = Counter()
    for stream in report.streams:
        name = _class_name(stream)
        named[name] += 1
        unique = name if named[name] == 1 else f"{name} ({named[name]})"
        yield _stream_suite(report, stream, groups, unique)
    yield from _message_suite("files", "error", "CassetteError", report.errors)
    yield from _message_suite("baseline", "failure", "stale", stale_entries(report))


def _stream_suite(
    report: Report,
    stream: StreamResult,
    groups: Mapping[FindingKey, FindingGroup],
    class_name: str,
) -> Element:
    suite = Element("testsuite", name=stream_title(stream))
    properties = SubElement(suite, "properties")
    for name in ("dialect", "profile", "view"):
        SubElement(properties, "property", name=name, value=visible(getattr(stream, name)))
    silenced = silenced_rules(stream)
    for rule, verdict in stream.verdicts.items():
        if verdict is Verdict.NOT_APPLICABLE and rule not in silenced:
            continue
        case = SubElement(suite, "testcase", classname=class_name, name=visible(rule))
        if stream.file and keeps_files(report):
            case.set("file", visible(stream.file))
        found = [finding for finding in stream.findings if finding.rule == rule]
        excuses = [report.excuse(stream, finding) for finding in found]
        if verdict is Verdict.FAIL and excuses and all(excuses):
            reason = visible(excuses[0].reason) if excuses[0] else ""
            SubElement(case, "skipped", message=f"expected failure: {reason}")
            continue
        unexpected = [
            (each, groups[finding_key(stream, each)])
            for each, excuse in zip(found, excuses, strict=True)
            if excuse is None
        ]
        reason = visible(stream.reasons.get(rule, ""))
        if rule in silenced and verdict not in _TAGS:
            silence = f"silenced by {visible(silenced[rule])}"
            SubElement(case, "skipped", message=f"{silence}: {reason}" if reason else silence)
            continue
        _add_outcome(case, stream, verdict, unexpected, reason)
    return suite


def _class_name(stream: StreamResult) -> str:
    """What a run that is repeated calls the same: a step, or the file and the exchange."""
    step = "/".join(filter(None, (stream.scenario, stream.role, stream.hop)))
    place = f"{stream.dialect} {step}" if step else f"{stream.file} exchange {stream.exchange}"
    return visible(place if stream.view == "wire" else f"{place} ({stream.view})")


def _add_outcome(
    case: Element,
    stream: StreamResult,
    verdict: Verdict,
    found: Sequence[tuple[Finding, FindingGroup]],
    reason: str,
) -> None:
    if verdict is Verdict.PASS:
        return
    first = found[0][0] if found else None
    message = finding_sentence(first) if first else reason
    if verdict not in _TAGS:
        SubElement(case, "skipped", message=f"{verdict}: {reason}" if reason else str(verdict))
        return
    kind = str(first.level) if first else str(verdict)
    outcome = SubElement(case, _TAGS[verdict], type=kind, message=message)
    page = TextPage(Paint())
    blocks = (finding_block(page, stream, each, group=group) for each, group in found)
    outcome.text = "\n".join(line for block in blocks for line in block)


def _message_suite(name: str, tag: str, kind: str, messages: tuple[str, ...]) -> Iterator[Element]:
    """A suite for what concerns no stream, a case each; none without messages."""
    if not messages:
        return
    suite = Element("testsuite", name=name)
    for message in map(visible, messages):
        case = SubElement(suite, "testcase", classname=name, name=message)
        SubElement(case, tag, type=kind, message=message)
    yield suite


def _count_cases(suite: Element) -> Counter[str]:
    counts = Counter(tests=len(list(suite.iter("testcase"))))
    for attribute, tag in _COUNTED:
        counts[attribute] = len(list(suite.iter(tag)))
    return counts


def _set_counts(element: Element, counts: Counter[str]) -> None:
    for attribute in ("tests", *(each for each, _ in _COUNTED)):
        element.set(attribute, str(counts[attribute]))
