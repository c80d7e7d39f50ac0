"""The material for an upstream issue: a small cassette that fails, the request, versions, a text.

Everything is redacted before it is judged again, so that the written files are the judged ones.
"""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance import __version__
from conformance.cassette import Cassette, redact, write
from conformance.cassette.redaction.redact import REDACTED
from conformance.core.errors import Place, UsageError
from conformance.core.events import Exchange, Request
from conformance.core.excerpts import redacted
from conformance.dialects import ENDPOINTS, Endpoint, get
from conformance.dialects.recognition import recognised_dialect
from conformance.judging.rulebook import Rulebook
from conformance.report.escaping import code_block, code_span, escape_markdown
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.report.reduction import SECONDS, ReducedRecording, reduce_recording
from conformance.report.selection import SelectedFinding
from conformance.report.wording import authority_lines, count, finding_sentence, slice_of

CASSETTE: Final = "finding.cassette.jsonl"
ISSUE: Final = "issue.md"
REQUEST: Final = "request.sh"
BODY: Final = "request.json"
_LONGEST_STREAM: Final = 12_000  # characters of the stream that are in the issue
_LINE: Final = 400  # characters of one of its lines
_LONGEST_BODY: Final = 1500  # bytes of a request's body that are on the line itself
_LEFT_OUT: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "user-agent"}
)
_SERVER: Final = ("server", "via", "openai-version", "date")


class UpstreamIssue(Struct, frozen=True):
    """The files of one issue, not written yet; `summary` is a line for the terminal."""

    cassette: Cassette
    texts: Mapping[str, bytes]
    summary: str


def prepare_issue(
    selected: SelectedFinding, rulebook: Rulebook, *, seconds: float = SECONDS
) -> UpstreamIssue:
    """Redact, reduce and describe a finding.

    Raises UsageError where the finding does not survive the redaction, and CassetteError for a
    body that cannot be redacted.
    """
    clean = redact(_expecting_failure(selected))
    small = reduce_recording(selected, clean, rulebook, seconds=seconds)
    if small is None:
        message = "the finding does not survive the redaction of secrets"
        raise UsageError(message, place=Place(str(selected.recording.path)))
    left = small.cassette.exchanges
    exchange = next((e for e in left if e.number == selected.stream.exchange), left[0])
    texts = {ISSUE: _issue_text(selected, small, exchange).encode("utf-8", "backslashreplace")}
    if (sent := _sent_message(exchange, selected.stream.dialect)) is not None:
        texts[BODY] = sent.encode()
    elif exchange.request is not None:
        line, body = curl_line(exchange.request, selected.stream.dialect)
        texts[REQUEST] = f"{line}\n".encode("utf-8", "backslashreplace")
        texts |= {BODY: body} if body is not None else {}
    own = _own_profile(selected)
    texts |= {own.name: own.read_bytes()} if own else {}
    limit = "" if small.is_complete else ", not fully reduced in the time given (--seconds)"
    events = f"{small.events} of {count(small.events_before, 'event')}{limit}"
    return UpstreamIssue(small.cassette, texts, f"{selected.finding.rule}: {events}")


def save_issue(issue: UpstreamIssue, folder: Path) -> list[Path]:
    """Write the files. Raises UsageError or CassetteError where that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot be made: {error.strerror or error}"
        raise UsageError(message, place=Place(str(folder))) from error
    write(folder / CASSETTE, issue.cassette, seal=True)
    for name, data in issue.texts.items():
        write_whole(folder / name, data)
    return [folder / CASSETTE, *(folder / name for name in issue.texts)]


def _expecting_failure(selected: SelectedFinding) -> Cassette:
    """The recording with the profile it was judged by and the failure it shows; no more clocks.

    A raw body does not state what it speaks: what it shows is written down.
    """
    cassette, stream = selected.recording.cassette, selected.stream
    header = replace(
        cassette.header,
        # A cassette names no file: the profile is shipped along with it.
        profile=None if _own_profile(selected) else stream.profile,
        dialect=cassette.header.dialect or stream.dialect,
        expect={selected.finding.rule: "FAIL"},
    )
    spoken = tuple(
        replace(each, dialect=each.dialect or cassette.header.dialect or recognised_dialect(each))
        for each in cassette.exchanges
    )
    of_stream = tuple(replace(each, dialect=each.dialect or stream.dialect) for each in spoken)
    return replace(
        cassette, header=header, exchanges=of_stream, clocks={}, sealed=False, torn=False
    )


def _own_profile(selected: SelectedFinding) -> Path | None:
    """The user's own profile, where the finding was judged by one."""
    named = selected.choices.profile
    return Path(named) if named is not None and named.endswith((".yaml", ".yml")) else None


def _issue_text(selected: SelectedFinding, small: ReducedRecording, exchange: Exchange) -> str:
    finding = small.finding
    why = [*authority_lines(finding.source), *filter(None, (finding.hint, finding.fix))]
    parts = {
        "The stream": _stream_excerpt(exchange),
        "Why it matters": [f"- {escape_markdown(line)}" for line in why],
        "To reproduce": _reproduction_lines(selected, exchange),
        "Versions": _version_lines(selected, exchange),
    }
    lines = [f"# {escape_markdown(finding.says)}", "", *_finding_lines(selected, small)]
    for heading, part in parts.items():
        lines += ["", f"## {heading}", "", *part]
    return "\n".join(lines) + "\n"


def _finding_lines(selected: SelectedFinding, small: ReducedRecording) -> Iterator[str]:
    finding, stream = small.finding, selected.stream
    where = f", {slice_of(finding)}" if finding.slice else ""
    spoken = code_span(stream.dialect)
    yield f"At event {finding.event} of a {spoken} stream{escape_markdown(where)}:"
    yield ""
    yield f"> {escape_markdown(finding_sentence(finding), 4000)}"
    yield ""
    yield f"Rule {code_span(finding.rule)} ({finding.level}), profile {code_span(stream.profile)}."
    if selected.others:
        yield f"The same finding is in {count(selected.others, 'more recorded stream')}."
    if small.events < small.events_before:
        yield (
            f"The attached `{CASSETTE}` holds {small.events} of the {small.events_before} recorded"
            " events and still shows it."
        )


def _stream_excerpt(exchange: Exchange) -> list[str]:
    body = exchange.body.decode("utf-8", "replace")
    lines = body[:_LONGEST_STREAM].splitlines() or ["(empty)"]
    shown = [line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in lines]
    rest = len(body) - _LONGEST_STREAM
    shown += [f"… ({rest} more characters in {CASSETTE})"] if rest > 0 else []
    return code_block([*shown, f"(end: {exchange.end})"])


def _reproduction_lines(selected: SelectedFinding, exchange: Exchange) -> Iterator[str]:
    stream, finding = selected.stream, selected.finding
    message = _sent_message(exchange, stream.dialect)
    if message is not None and exchange.request is not None:
        where = code_span(visible(exchange.request.path) or "/")
        yield f"The request is a message of a WebSocket at {where}: `{BODY}` is next to it."
        yield ""
    elif exchange.request is not None:
        line, body = curl_line(exchange.request, stream.dialect)
        yield from code_block([line] if len(line) < 600 else [f"sh {REQUEST}"], "sh")
        body_note = f", `{BODY}` is next to it" if body is not None else ""
        yield f"`$BASE_URL` is the server without a path, `$API_KEY` the key{body_note}."
        yield ""
    yield "Offline, with the attached cassette:"
    yield ""
    install = f"pip install reasoning-conformance=={__version__}"
    own = _own_profile(selected)
    profile = f" --profile {shlex.quote(own.name)}" if own else ""
    check = f"conformance check {CASSETTE} --rule {shlex.quote(finding.rule)}{profile}"
    yield from code_block([install, check], "sh")


def _version_lines(selected: SelectedFinding, exchange: Exchange) -> Iterator[str]:
    header = selected.recording.header
    for name, values in (("target", header.target), ("model", header.model)):
        if values:
            versions = ", ".join(f"{key} {value}" for key, value in values.items())
            yield f"- {name}: {code_span(redacted(versions))}"
    response = exchange.response
    for name in _SERVER:
        value = response.header(name) if response else None
        if value:
            yield f"- header {name}: {code_span(value)}"
    if header.recorded_at:
        yield f"- recorded at: {code_span(header.recorded_at)}"
    yield f"- reasoning-conformance {__version__}, Python {platform.python_version()}"


def _sent_message(exchange: Exchange, dialect: str) -> str | None:
    """The request message on a WebSocket; None if there is none."""
    request, response = exchange.request, exchange.response
    socket = get(dialect).socket
    if request is None or response is None or not response.is_upgrade or socket is None:
        return None
    return _compact_json(socket.message(request.json))


def curl_line(request: Request, dialect: str) -> tuple[str, bytes | None]:
    """The line, and the body where it is too long for it and belongs into `request.json`.

    The server and the key are `$BASE_URL` and `$API_KEY`; header values that redaction does not
    know are left out.
    """
    parts = ["curl", "-sN"]
    if request.method != "POST" or request.json is None:
        parts += ["-X", shlex.quote(visible(request.method))]
    # Outside the quotes of the path: the shell has to fill it in.
    endpoint = ENDPOINTS.get(dialect, Endpoint("", ""))
    keys = [f'-H "{name}: {key}"' for name, key in endpoint.key_headers("$API_KEY").items()]
    parts += [f'"$BASE_URL"{shlex.quote(visible(request.path))}', *keys]
    for name, value in request.headers:
        if value != REDACTED and name.lower() not in _LEFT_OUT:
            parts += ["-H", shlex.quote(visible(f"{name}: {value}"))]
    if request.json is None:
        return " ".join(parts), None
    if all(name.lower() != "content-type" for name, _ in request.headers):
        parts += ["-H", "'content-type: application/json'"]
    body = _compact_json(request.json)
    if len(body) > _LONGEST_BODY:
        return " ".join([*parts, "-d", f"@{BODY}"]), body.encode()
    return " ".join([*parts, "-d", shlex.quote(body)]), None


def _compact_json(value: Any) -> str:
    """Compact, and ASCII where it holds what would move or hide text on a terminal."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else json.dumps(value, separators=(",", ":"))
