"""Record/replay conformance toolkit for LLM reasoning streams.

report = conformance.check_chunks(chunks, dialect="openai.responses", profile="openai")
report = conformance.check_cassette("stream.sse", profile="openrouter")
for finding in report.findings:
    print(finding.rule, finding.event, finding.message)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.check import check_cassette, check_chunks, load_suites
    from conformance.check.result import Finding, Report, StreamResult
    from conformance.pytest_plugin.conforming import ConformanceFailure, assert_conforms
    from conformance.pytest_plugin.trace import Trace
    from conformance.rules.verdicts import Level, Verdict

__version__ = "0.1.0"

__all__ = [
    "ConformanceFailure",
    "Finding",
    "Level",
    "Report",
    "StreamResult",
    "Trace",
    "Verdict",
    "__version__",
    "assert_conforms",
    "check_cassette",
    "check_chunks",
    "load_suites",
]

_HOMES = {
    "ConformanceFailure": "conformance.pytest_plugin.conforming",
    "Finding": "conformance.check.result",
    "Level": "conformance.rules.verdicts",
    "Report": "conformance.check.result",
    "StreamResult": "conformance.check.result",
    "Trace": "conformance.pytest_plugin.trace",
    "Verdict": "conformance.rules.verdicts",
    "assert_conforms": "conformance.pytest_plugin.conforming",
    "check_cassette": "conformance.check",
    "check_chunks": "conformance.check",
    "load_suites": "conformance.check",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: a pytest start must not pay for YAML and JSON Schema.
    if name not in _HOMES:
        raise AttributeError(f"module 'conformance' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # as above

    return getattr(import_module(_HOMES[name]), name)
