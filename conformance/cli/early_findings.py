"""What a run has found so far, on stderr: a line for each group, once its scenario is judged.

The report at the end has everything, with places and authorities; who waits for it knows by then
whether to go on waiting.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Final

from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import Baseline
from conformance.cli.terminal import warn_above
from conformance.judging.groups import FindingGroup, finding_groups
from conformance.judging.result import Report, StreamResult
from conformance.report.printable import visible
from conformance.report.redacted import redact_report
from conformance.report.wording import count, finding_sentence, recording_name

_AT_ONCE: Final = 5  # groups of one scenario
_IN_ALL: Final = 40  # as many as the report shows
_SENTENCE: Final = 240  # characters of what one of them found


class EarlyFindings:
    """Remembers which groups were shown; it does not show those that `baseline` expects.

    Recordings of a client are judged in separate threads.
    """

    def __init__(self, format_: str, baseline: Baseline | None) -> None:
        # A program that reads another format has no use for text.
        self._has_reader = format_ == "text" or sys.stderr.isatty()
        self._baseline = baseline
        self._shown: set[str] = set()
        self._lock = Lock()

    def show(self, streams: Sequence[StreamResult]) -> None:
        """Takes the results of a scenario, and shows the findings of new groups."""
        if not self._has_reader or not any(each.findings for each in streams):
            return
        with self._lock:
            for line in self._new_lines(Report(tuple(streams))):
                warn_above(f"so far: {line}")

    def _new_lines(self, report: Report) -> Iterator[str]:
        if self._baseline is not None:
            report = apply_baseline(report, self._baseline)
        groups = finding_groups(redact_report(report))
        new = [each for each in groups if each.excuse is None and each.id not in self._shown]
        room = min(_AT_ONCE, _IN_ALL - len(self._shown))
        self._shown.update(each.id for each in new[: max(room, 0)])
        yield from map(_group_line, new[: max(room, 0)])
        if new[room:] and room > 0:
            yield f"{count(len(new) - room, 'more group')} of findings, see the report at the end"


def _group_line(group: FindingGroup) -> str:
    """`FAIL MUST hop/text in vercel.ui app-inline/inline: expected ..., got ...`."""
    found, stream = group.first, group.stream
    step = "/".join(filter(None, (stream.scenario, stream.role)))
    where = visible(f"{stream.dialect} {step or recording_name(stream.file)}")
    what = visible(finding_sentence(found), _SENTENCE)
    return f"{found.verdict} {found.level} {visible(found.rule)} in {where}: {what}"
