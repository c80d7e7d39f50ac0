"""The report for code scanning: SARIF 2.1.0, one result per finding.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

A result stands at the cassette's line; its partial fingerprint is the finding's id, which stays
the same when the stream is recorded again. A finding that a baseline expects is suppressed, not
left out. Files that could not be judged are notifications of the invocation.
"""

from __future__ import annotations

import json
from typing import Any, Final

from conformance import __version__
from conformance.judging.result import Finding, FindingExcuse, Report, StreamResult
from conformance.report.json import json_scalar
from conformance.report.locations import file_uri
from conformance.report.printable import visible
from conformance.report.wording import (
    authority_lines,
    finding_sentence,
    profile_warnings,
    stale_entries,
    stream_title,
)
from conformance.rules.verdicts import Level, Verdict

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT: Final = "conformanceFinding/v1"
_LEVELS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "note"}


def render(report: Report, **_: bool) -> str:
    """One object, indented, ASCII only; always whole."""
    return json.dumps(sarif_log(report), indent=2, allow_nan=False) + "\n"


def sarif_log(report: Report) -> dict[str, Any]:
    """Build the log with its one run."""
    rules = _broken_rules(report)
    places = {rule: place for place, rule in enumerate(rules)}
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
        "results": [
            _result_object(stream, finding, places[finding.rule])
            | _suppression_key(report.excuse(stream, finding))
            for stream in report.streams
            for finding in stream.findings
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _broken_rules(report: Report) -> dict[str, Finding]:
    """Every rule that was broken, with a finding that tells about it, by id."""
    found = sorted(report.findings, key=lambda finding: finding.rule)
    return {finding.rule: finding for finding in reversed(found)}


def _rule_descriptor(finding: Finding) -> dict[str, Any]:
    lines = [*authority_lines(finding.source), *filter(None, [visible(finding.hint)])]
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


def _result_object(stream: StreamResult, finding: Finding, index: int) -> dict[str, Any]:
    is_error = finding.verdict is Verdict.ERROR
    sentence = finding_sentence(finding) or visible(finding.says)
    return {
        "ruleId": visible(finding.rule),
        "ruleIndex": index,
        "level": "error" if is_error else _LEVELS[finding.level],
        "kind": "fail",
        # Without `](`, which would make a link of what a stream said.
        "message": {"text": sentence.replace("](", "] (")},
        "locations": [_location_object(stream, finding)],
        "partialFingerprints": {FINGERPRINT: visible(finding.id)},
        "properties": {
            "exchange": stream.exchange,
            "dialect": visible(stream.dialect),
            "profile": visible(stream.profile),
            "view": stream.view,
            "event": finding.event,
            "byte": finding.byte,
            "slice": {visible(k): json_scalar(value) for k, value in finding.slice.items()},
        },
    }


def _location_object(stream: StreamResult, finding: Finding) -> dict[str, Any]:
    place = f"exchange {stream.exchange}, event {finding.event}"
    logical = {"fullyQualifiedName": stream_title(stream), "name": place, "kind": "event"}
    if not stream.file:
        return {"logicalLocations": [logical]}
    reference, is_relative = file_uri(stream.file)
    artifact = {"uri": reference, **({"uriBaseId": "SRCROOT"} if is_relative else {})}
    # Viewers want a line; what stands in no line (a request head) stands in the file's first.
    region: dict[str, Any] = {"startLine": finding.line or 1}
    at = next((line for line in finding.context if line.at), None)
    if at is not None and at.text:
        region["snippet"] = {"text": visible(at.text)}
    physical = {"artifactLocation": artifact, "region": region}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


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
        *(("warning", warning) for warning in profile_warnings(report)),
        *(("note", visible(note)) for note in report.notes),
    )
    broken = bool(report.errors) or Verdict.ERROR in report.verdicts.values()
    return {
        "executionSuccessful": not broken,
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": text}} for level, text in notes
        ],
    }
