"""Record/replay conformance toolkit for LLM reasoning streams.

report = conformance.check_chunks(chunks, dialect="openai.responses", profile="openai")
report = conformance.check_cassette("stream.sse", profile="openrouter")
for finding in report.findings:
    print(finding.rule, finding.event, finding.message)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.core.version import __version__

if TYPE_CHECKING:
    from conformance.core.events import Request, Response
    from conformance.judging.checker import Checker
    from conformance.judging.groups import FindingGroup, finding_groups
    from conformance.judging.result import Finding, Report, StreamResult
    from conformance.judging.stream_check import StreamCheck
    from conformance.judging.suites import load_suites
    from conformance.pytest_plugin.trace import ConformanceFailure, Trace, assert_conforms
    from conformance.recordings.api import check_cassette, check_chunks
    from conformance.rules.verdicts import Level, Verdict


__all__ = [
    "Checker",
    "ConformanceFailure",
    "Finding",
    "FindingGroup",
    "Level",
    "Report",
    "Request",
    "Response",
    "StreamCheck",
    "StreamResult",
    "Trace",
    "Verdict",
    "__version__",
    "assert_conforms",
    "check_cassette",
    "check_chunks",
    "finding_groups",
    "load_suites",
]

_HOMES = {
    "Checker": "conformance.judging.checker",
    "ConformanceFailure": "conformance.pytest_plugin.trace",
    "Finding": "conformance.judging.result",
    "FindingGroup": "conformance.judging.groups",
    "Level": "conformance.rules.verdicts",
    "Report": "conformance.judging.result",
    "Request": "conformance.core.events",
    "Response": "conformance.core.events",
    "StreamCheck": "conformance.judging.stream_check",
    "StreamResult": "conformance.judging.result",
    "Trace": "conformance.pytest_plugin.trace",
    "Verdict": "conformance.rules.verdicts",
    "assert_conforms": "conformance.pytest_plugin.trace",
    "check_cassette": "conformance.recordings.api",
    "check_chunks": "conformance.recordings.api",
    "finding_groups": "conformance.judging.groups",
    "load_suites": "conformance.judging.suites",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: a pytest start must not pay for YAML and JSON Schema.
    if name not in _HOMES:
        raise AttributeError(f"module 'conformance' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # as above

    return getattr(import_module(_HOMES[name]), name)
