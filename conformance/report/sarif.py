"""The report for code scanning: SARIF 2.1.0, one result per group of findings.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

A result points to the line of the cassette where its group came first. `occurrenceCount` is the
number of its findings, and `relatedLocations` has their other places, first the event of another
exchange or hop that the finding refers to. Its partial fingerprints are the ids of the first
finding and of the group, which stay the same when the streams are recorded again. Findings that a
baseline expects are suppressed, not left out. Files that could not be judged are notifications of
the invocation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from conformance import __version__
from conformance.judging.groups import (
    FindingGroup,
    FindingPlace,
    every_group,
    finding_groups,
)
from conformance.judging.result import Finding, FindingExcuse, ReferencedEvent, Report
from conformance.report.indented_json import indented_json
from conformance.report.json import json_scalar
from conformance.report.locations import file_uri, keeps_files
from conformance.report.printable import visible
from conformance.report.wording import (
    authority_lines,
    finding_sentence,
    group_spread,
    report_warnings,
    silenced_sentence,
    soak_lines,
    stale_entries,
    stream_title,
)
from conformance.rules.verdicts import Level, Verdict

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT: Final = "conformanceFinding/v1"
GROUP_FINGERPRINT: Final = "conformanceGroup/v1"
_PLACES: Final = 100  # related locations of a result; GitHub shows no more
_LEVELS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "note"}


def render(report: Report, *, verbose: bool = False, **_: bool) -> str:
    """One object, indented, ASCII only; with `verbose` it has every place of a group."""
    return "".join(pieces(report, verbose=verbose))


def pieces(report: Report, *, verbose: bool = False, **_: bool) -> Iterator[str]:
    """The log with its one run, place by place."""
    rules = _broken_rules(report)
    places = {rule: place for place, rule in enumerate(rules)}
    kept = keeps_files(report)
    run = {
        "tool": {
            "driver": {
                "name": "conformance",
                "fullName": "reasoning-conformance",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule_descriptor(finding) for finding in rules.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            "SRCROOT": {"description": {"text": "The folder that the tool was called in."}}
        },
        "invocations": [_invocation_object(report)],
        "results": (
            _result_object(group, places[group.first.rule], None if verbose else _PLACES, kept=kept)
            | _properties_key(group, None if head is group else head)
            | _suppression_key(group.excuse)
            for head in finding_groups(report)
            for group in every_group([head])
        ),
    }
    return indented_json({"$schema": SCHEMA, "version": "2.1.0", "runs": iter((run,))})


def _broken_rules(report: Report) -> dict[str, Finding]:
    found = sorted(report.findings, key=lambda finding: finding.rule)
    return {finding.rule: finding for finding in reversed(found)}


def _rule_descriptor(finding: Finding) -> dict[str, Any]:
    lines = [
        *authority_lines(finding.source),
        *filter(None, map(visible, (finding.hint, finding.fix))),
    ]
    text = "\n".join([visible(finding.says), *lines])
    return {
        "id": visible(finding.rule),
        "name": "".join(
            part.title() for part in visible(finding.rule).replace("-", "/").split("/")
        ),
        "shortDescription": {"text": visible(finding.says)},
        "fullDescription": {"text": text},
        "help": {"text": f"{text}\nconformance explain {visible(finding.rule)}"},
        "defaultConfiguration": {"level": _LEVELS[finding.level]},
        "properties": {"tags": ["conformance", str(finding.level)]},
    }


def _result_object(
    group: FindingGroup, index: int, most: int | None, *, kept: bool
) -> dict[str, Any]:
    finding = group.first
    is_error = finding.verdict is Verdict.ERROR
    sentence = finding_sentence(finding) or visible(finding.says)
    spread = group_spread(group)
    text = f"{sentence} (in {spread})" if spread else sentence
    return {
        "ruleId": visible(finding.rule),
        "ruleIndex": index,
        "level": "error" if is_error else _LEVELS[finding.level],
        "kind": "fail",
        # Without `](`, which would turn text of a stream into a link.
        "message": {"text": text.replace("](", "] (")},
        "locations": [_location_object(group.places[0], kept=kept)],
        "relatedLocations": chain(
            _related_location(finding.upstream, kept=kept),
            _other_locations(group, most, kept=kept),
        ),
        "occurrenceCount": len(group.places),
        "partialFingerprints": {
            FINGERPRINT: visible(finding.id),
            GROUP_FINGERPRINT: group.id,
        },
    }


def _related_location(other: ReferencedEvent | None, *, kept: bool) -> Iterator[dict[str, Any]]:
    """The place of the event of another exchange or hop, with its type and data."""
    if other is None:
        return
    what = visible(f"{other.side}: {other.type}  {other.text}".rstrip())
    message = {"text": what.replace("](", "] (")}
    logical = {"name": f"exchange {other.exchange}, event {other.event}", "kind": "event"}
    if other.file and kept:
        yield {
            "physicalLocation": _physical_location(other.file, other.line),
            "logicalLocations": [logical],
            "message": message,
        }
    else:
        yield {"logicalLocations": [logical], "message": message}


def _other_locations(
    group: FindingGroup, most: int | None, *, kept: bool
) -> Iterator[dict[str, Any]]:
    """Each place once: an event may break a rule in several slices."""
    known = {(group.stream.file, group.stream.exchange, group.first.event)}
    for place in group.places[1:]:
        at = (place.stream.file, place.stream.exchange, place.finding.event)
        if at not in known and (most is None or len(known) <= most):
            known.add(at)
            yield _location_object(place, kept=kept)


def _properties_key(group: FindingGroup, head: FindingGroup | None) -> dict[str, Any]:
    """What SARIF has no key for; `head` is the group that this one follows."""
    stream, finding = group.stream, group.first
    properties = {
        "exchange": stream.exchange,
        "dialect": visible(stream.dialect),
        "profile": visible(stream.profile),
        "view": stream.view,
        "event": finding.event,
        "byte": finding.byte,
        "slice": {visible(k): json_scalar(value) for k, value in finding.slice.items()},
        "streams": group.streams,
        "judged": group.judged,
        "circumstances": [visible(each) for each in group.circumstances],
        "follows": head.id if head else None,
    }
    return {"properties": properties}


def _location_object(found: FindingPlace, *, kept: bool) -> dict[str, Any]:
    """Where a finding stands; in a file only if that stays."""
    stream, finding = found.stream, found.finding
    place = f"exchange {stream.exchange}, event {finding.event}"
    logical = {"fullyQualifiedName": stream_title(stream), "name": place, "kind": "event"}
    if not (stream.file and kept):
        return {"logicalLocations": [logical]}
    physical = _physical_location(stream.file, finding.line)
    at = next((line for line in finding.context if line.at), None)
    if at is not None and at.text:
        physical["region"]["snippet"] = {"text": visible(at.text)}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _physical_location(file: str, line: int | None) -> dict[str, Any]:
    reference, is_relative = file_uri(file)
    artifact = {"uri": reference, **({"uriBaseId": "SRCROOT"} if is_relative else {})}
    # Viewers need a line; content without one (a request head) gets the file's first.
    return {"artifactLocation": artifact, "region": {"startLine": line or 1}}


def _suppression_key(excuse: FindingExcuse | None) -> dict[str, Any]:
    if excuse is None:
        return {}
    justification = f"{visible(excuse.reason)} ({visible(excuse.entry)})"
    accepted = {"kind": "external", "status": "accepted", "justification": justification}
    return {"suppressions": [accepted]}


def _invocation_object(report: Report) -> dict[str, Any]:
    notes = (
        *(("error", visible(error)) for error in report.errors),
        *(("error", f"stale: {visible(each)}") for each in stale_entries(report)),
        *(("warning", warning) for warning in report_warnings(report)),
        *((("warning", silenced_sentence(report)),) if report.silenced else ()),
        *(("note", f"soak: {line}") for line in soak_lines(report)),
        *(("note", visible(note)) for note in report.notes),
    )
    broken = bool(report.errors) or Verdict.ERROR in report.verdicts.values()
    return {
        "executionSuccessful": not broken,
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": text}} for level, text in notes
        ],
    }
