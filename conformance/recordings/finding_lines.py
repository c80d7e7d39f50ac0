"""The lines of files that findings are on; positions are worked out only where there are any."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from conformance.cassette import Recording, locate
from conformance.judging.result import Finding, ReferencedEvent, StreamResult


def with_lines(recording: Recording, result: StreamResult) -> StreamResult:
    """The result, its findings with the lines of the file that hold them."""
    if not result.findings or result.view == "client":
        return result
    offsets = sorted({f.byte for f in result.findings if f.byte is not None})
    lines: dict[int | None, int | None] = {None: None}
    lines |= zip(
        offsets, recording.locate(result.exchange, offsets) if offsets else (), strict=True
    )
    upstream_lines = _upstream_lines(recording, result.findings)
    found = (
        replace(f, line=lines[f.byte], upstream=f.upstream and upstream_lines[f.upstream])
        for f in result.findings
    )
    return replace(result, findings=tuple(found))


def _upstream_lines(
    recording: Recording, findings: Iterable[Finding]
) -> dict[ReferencedEvent, ReferencedEvent]:
    """The events of the other hop by themselves without a line; few findings have one."""
    found: dict[ReferencedEvent, ReferencedEvent] = {}
    for event in {f.upstream for f in findings if f.upstream is not None}:
        place = event.byte
        if place is None:
            found[event] = event
            continue
        is_own = event.file == str(recording.path)
        find = recording.locate if is_own else partial(locate, event.file)
        (line,) = find(event.exchange, [place])
        found[event] = replace(event, line=line)
    return found
