"""The command that shows one finding again, with the options of the call that it needs, too."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from conformance.judging.result import Finding, Report, StreamResult

_REPEATED: Final = ("--dialect", "--profile", "--suite", "--rules-as-of", "--upstream", "--trust")


def repeated_call(report: Report) -> tuple[str, ...]:
    """The beginning of such a command; empty where no call of `check` made the report."""
    if report.call is None or report.call.command[1:2] != ("check",):
        return ()
    return ("conformance", "check", *_repeated_options(report.call.command[2:]))


def _repeated_options(given: tuple[str, ...]) -> Iterator[str]:
    for at, word in enumerate(given):
        name, sign, _ = word.partition("=")
        if name in _REPEATED:
            yield word
            if not sign and at + 1 < len(given):
                yield given[at + 1]


def command_again(call: tuple[str, ...], stream: StreamResult, finding: Finding) -> str:
    """`conformance check FILE --rule RULE`; empty where no file can be checked again."""
    if not call or not stream.file or stream.file == "-" or stream.file.startswith("/dev/"):
        return ""
    verb, options = call[:2], call[2:]
    return shlex.join((*verb, stream.file, "--rule", finding.rule, *options))
